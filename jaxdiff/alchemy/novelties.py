"""Novelties of symbolic Alchemy: bottlenecks or rotation appear, potions work backwards or on other axes, stones look mirrored.

Under one key the items are the same before and after: `reset_env` draws them apart from the chemistry. What changes a map needs a map
that is always the same, so it is refused where maps are drawn anew in every episode.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from jaxdiff.alchemy import chemistry as chem
from jaxdiff.alchemy.world import Alchemy, Params
from jaxdiff.core.errors import require
from jaxdiff.core.novelties import Novelty

_DIRECTIONS = 8  # potion maps of one order of axes


def bottlenecks(count: int) -> Novelty:
    """Exactly so many preconditions, 1 to 3, in a world that draws its graph."""
    require(count in (1, 2, 3), "count", count, "1, 2 or 3")

    def change(env: Alchemy, params: Params) -> tuple[Alchemy, Params]:
        require(int(np.asarray(params.graph)) < 0, "params", f"with graph {params.graph}", "a world that draws its graph (-1)")
        return replace(env, bottlenecks=count), params

    return Novelty(f"{count} bottleneck{'s' if count > 1 else ''}", "topology", change)


def rotation() -> Novelty:
    """Stones may look rotated from now on."""
    return Novelty("rotation", "appearance", lambda env, params: (replace(env, rotation=True), params))


def reversed_pairs() -> Novelty:
    """Every potion does what its opposite did."""
    return _of_map("pairs reversed", "dynamics", "potion_map", lambda number: number ^ (_DIRECTIONS - 1))


def permuted_axes() -> Novelty:
    """Every pair of potions acts on another axis: the next order of axes."""
    return _of_map("axes permuted", "dynamics", "potion_map", lambda number: (number + _DIRECTIONS) % chem.POTION_MAPS)


def mirrored_stones() -> Novelty:
    """Every stone looks like its opposite."""
    return _of_map("stones mirrored", "appearance", "stone_map", lambda number: number ^ (chem.STONE_MAPS - 1))


def _of_map(name: str, kind: str, which: str, other: Any) -> Novelty:
    def change(env: Alchemy, params: Params) -> tuple[Alchemy, Params]:
        number = int(np.asarray(getattr(params, which)))
        require(
            number >= 0, "params", f"with a {which} that is drawn", f"a world whose {which} is always the same, such as random_maps=False"
        )
        return env, replace(params, **{which: np.int32(other(number))})

    return Novelty(name, kind, change)
