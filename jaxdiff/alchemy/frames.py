"""Which rotations and stone maps a set of seen stones leaves over, by table look-up.

A stone is perceived; under a hypothetical rotation r' what is perceived must be a corner of the cube, and some stone map must give all
the values shown. Both depend only on which corners were seen (a bit set of aligned corners), the true rotation and the true stone map.
Stone maps are sets too: bit s: stone map s is possible.
"""

from __future__ import annotations

import numpy as np

from jaxdiff.alchemy import chemistry
from jaxdiff.alchemy.chemistry import STONE_MAPS
from jaxdiff.alchemy.graphs import AXES, CORNERS, table


@table
def corner_under() -> np.ndarray:
    """The aligned corner that a stone at aligned corner a of rotation r would be at under rotation r', or -1, int32 [4 r, 4 r', 8 a]."""
    looks = chemistry.perceived_features()
    sides = np.einsum("hij,raj->rhai", chemistry.rotation_matrices(), looks)
    number = ((sides > 0) << np.arange(AXES)).sum(-1)
    return np.where((np.abs(sides) == 1).all(-1), number, -1).astype(np.int32)


@table
def stone_maps_left() -> np.ndarray:
    """Possible stone maps under a hypothetical rotation, int32 [4 true r, 4 r', 8 true maps, 256 sets of seen aligned corners].

    0: that rotation is impossible.
    """
    level = chemistry.value_level()[chemistry.aligned_corner()]  # [map, aligned corner]: the table is its own inverse
    there = corner_under()
    fits = (there[..., None, None, :] >= 0) & (
        level[:, np.maximum(there, 0)].transpose(1, 2, 0, 3)[:, :, None] == level[None, None, :, None, :]
    )  # [r, r', true map, map, corner]
    seen = np.arange(1 << CORNERS)[:, None] >> np.arange(CORNERS) & 1
    violated = np.einsum("rhtma,sa->rhtsm", ~fits, seen)
    return ((violated == 0) << np.arange(STONE_MAPS)).sum(-1).astype(np.int32)


@table
def rotations_left() -> np.ndarray:
    """How many rotations are possible, int32 [4 true r, 8 true maps, 256 sets of seen aligned corners]."""
    return (stone_maps_left() > 0).sum(1, dtype=np.int32)


@table
def axes_agreed() -> np.ndarray:
    """On which axes all stone maps of a set agree, as bits, int32 [256]; no axis for the empty set."""
    maps = np.arange(1 << STONE_MAPS)[:, None] >> np.arange(STONE_MAPS) & 1
    sides = np.arange(STONE_MAPS)[:, None] >> np.arange(AXES) & 1
    up, size = maps @ sides, maps.sum(-1, keepdims=True)
    return ((((up == 0) | (up == size)) & (size > 0)) << np.arange(AXES)).sum(-1).astype(np.int32)
