"""DeepMind's level names as presets: what a name says about maps, rotation and bottlenecks decides, as there."""

from __future__ import annotations

from typing import Any

from jaxdiff.alchemy.world import Alchemy
from jaxdiff.core.errors import InputError, require

BASES = {"all_fixed": False, "perceptual_mapping_randomized": True}
BOTTLENECKS = {"random_bottleneck": "random", "bottleneck1": 1, "bottleneck2": 2, "bottleneck3": 3}
LEVELS = (
    "all_fixed",
    "all_fixed_bottleneck1",
    "perceptual_mapping_randomized",
    "perceptual_mapping_randomized_with_rotation",
    "perceptual_mapping_randomized_with_random_bottleneck",
    "perceptual_mapping_randomized_with_rotation_and_random_bottleneck",
)
BENCHMARK = LEVELS[-1]  # the paper's Table 1 was measured on its chemistries without rotation, LEVELS[-2]


def level(name: str, **options: Any) -> Alchemy:
    """The environment of a level of dm_alchemy.

    Args:
        name: a base in `BASES`, then any of `rotation` and one of `BOTTLENECKS`, joined by `_`, `_with_`, `_and_`; a leading
            `alchemy/` is ignored. No bottleneck in the name: the complete graph.
        **options: further fields of `Alchemy`.

    Raises:
        InputError: the name has parts that mean nothing.
    """
    allowed = f"a name such as {', '.join(LEVELS)}"
    require(isinstance(name, str), "level", name, allowed)
    plain = name.removeprefix("alchemy/")
    base = next((b for b in BASES if plain.startswith(b)), None)
    if base is None:
        raise InputError("level", name, allowed)
    rest, bottlenecks, rotation = plain.removeprefix(base), "none", False
    for part, kind in BOTTLENECKS.items():
        if part in rest:
            rest, bottlenecks = rest.replace(part, "", 1), kind
            break
    if "rotation" in rest:
        rest, rotation = rest.replace("rotation", "", 1), True
    require(set(rest.split("_")) <= {"", "with", "and"}, "level", name, allowed)
    return Alchemy(**{"rotation": rotation, "bottlenecks": bottlenecks, "random_maps": BASES[base], **options})
