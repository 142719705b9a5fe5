"""DeepMind's level names as presets: what a name says about maps, rotation and bottlenecks decides, as there."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING, Any, cast

from jaxdiff.core.errors import InputError
from jaxdiff.core.registry import make

if TYPE_CHECKING:
    from jaxdiff.alchemy.world import Alchemy

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
_PARTS = "|".join(("rotation", *BOTTLENECKS))
_FORM = re.compile(rf"(?:alchemy/)?({'|'.join(BASES)})((?:(?:_with_|_and_|_)(?:{_PARTS}))*)")


def level(name: str, **options: Any) -> Alchemy:
    """The environment of a level of dm_alchemy.

    Args:
        name: a base in `BASES`, then any of `rotation` and one of `BOTTLENECKS`, joined by `_`, `_with_`, `_and_`; a leading
            `alchemy/` is ignored. No bottleneck in the name: the complete graph.
        **options: further fields of `Alchemy`.

    Raises:
        InputError: the name has parts that mean nothing or contradict one another, or an option is no field of `Alchemy`.
    """
    match = _FORM.fullmatch(name) if isinstance(name, str) else None
    parts = re.findall(_PARTS, match[2]) if match else []
    bottlenecks = [BOTTLENECKS[part] for part in parts if part in BOTTLENECKS]
    if match is None or len(bottlenecks) > 1 or parts.count("rotation") > 1:
        close = difflib.get_close_matches(str(name).removeprefix("alchemy/"), LEVELS, n=1, cutoff=0.4)
        hint = f" (did you mean {close[0]}?)" if close else ""
        raise InputError("level", name, f"a name such as {', '.join(LEVELS)}{hint}")
    fields = {"rotation": "rotation" in parts, "bottlenecks": bottlenecks[0] if bottlenecks else "none", "random_maps": BASES[match[1]]}
    return cast("Alchemy", make("Alchemy-v0", **{**fields, **options})[0])
