"""The planner's look-up tables in one record, and the symmetries that change nothing: renaming of colours and of axes."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from jaxdiff.alchemy import items
from jaxdiff.alchemy.set_tables import set_tables

NONE = -1  # no graph is possible under this potion map
_MAPS = items.MAPS
GROUP = items.MAPS * len(items.PERMUTATIONS)


@lru_cache
def rules() -> np.ndarray:
    """All look-up tables, a record whose shapes are constants of compilation.

    Beside those of `items` and `graph_sets`: `set_axes` has a last column for `NONE`; `set_image` and `map_image` [8 x 6, ...] are graph
    sets and potion maps after reflection f, then renaming p; `worth` [256, M] is summed over a set of stone maps; `source` [288, 48] is
    where entry j of a belief's image under a group element comes from; `stone_map_axes` [6, 256] renames axes in sets of stone maps;
    `axis_of`, `target_of` [48, 6] are what colours do under each potion map; `upper` [3] are the stone maps under which +1 is worth more.
    """
    potions, stones, sets = items.potions(), items.stones(), set_tables()
    members = np.arange(256)[:, None] >> np.arange(8) & 1
    maps, corners = np.arange(_MAPS), np.arange(items.CORNERS)
    types = items.target(maps[:, None], np.arange(items.TYPES))
    reflected = (maps & ~7) | ((maps & 7) ^ corners[:, None])  # [f, map]
    tables = {
        "present": sets.present, "absent": sets.absent, "size": sets.size.astype(np.int16), "weight": sets.weight.astype(np.int16),
        "graph_weight": sets.graph_weight, "edge": sets.edge, "set_axes": np.append(sets.axes.T, np.full((6, 1), NONE, np.int16), 1),
        "less": potions.less, "count_axes": potions.axes, "mapped": potions.mapped, "counts": potions.counts,
        "corners": stones.corners, "moved": stones.moved, "flipped": stones.flipped, "stone_axes": stones.axes, "least": stones.least,
        "to_least": stones.to_least, "representative": stones.representative, "single_worth": stones.worth,
        "worth": members @ np.stack([stones.worth[stones.flipped[:, f]] for f in corners]),
        "set_image": np.stack([sets.axes[sets.flipped.T, p] for p in range(6)], 1).reshape(48, -1),
        "map_image": np.stack([_rename_map(reflected, p) for p in items.PERMUTATIONS], 1).reshape(48, -1).astype(np.int16),
        "source": _sources(), "stone_maps": members.sum(1),
        "stone_map_axes": np.stack([(members << items.move_bits(corners, p)).sum(1) for p in items.PERMUTATIONS]).astype(np.int16),
        "axis_of": (types >> 1).astype(np.int8), "target_of": (types & 1).astype(np.int8),
        "upper": np.array([sum(1 << f for f in range(8) if not f >> k & 1) for k in range(items.AXES)]),
    }  # fmt: skip
    record = np.zeros(1, [(name, table.dtype, table.shape) for name, table in tables.items()])
    for name, table in tables.items():
        record[name][0] = table
    return record


def _rename_map(maps: np.ndarray, permutation: tuple[int, ...]) -> np.ndarray:
    """Potion maps after axis k was renamed permutation[k]."""
    after = np.array(permutation)[np.array(items.PERMUTATIONS)[maps >> 3]]
    return 8 * _rank(after) + items.move_bits(maps & 7, permutation)


def _rank(perms: np.ndarray) -> np.ndarray:
    return (perms[..., None, :] == np.array(items.PERMUTATIONS)).all(-1).argmax(-1)


def _sources() -> np.ndarray:
    """The group that changes nothing: element 6 r + p renames axes by permutation p and colours as potion map r ^ 7 does."""
    perms, maps = np.array(items.PERMUTATIONS), np.arange(_MAPS)
    axis = perms[maps >> 3]  # [map, pair]
    source = np.empty((GROUP, _MAPS), np.int16)
    for relabel in range(_MAPS):
        pairs = perms[relabel >> 3]
        flips = relabel >> pairs & 1  # of old pairs
        after = np.empty_like(axis)
        after[:, pairs] = axis
        relabelled = 8 * _rank(after) + ((maps & 7) ^ (flips << axis).sum(1))
        for number, p in enumerate(items.PERMUTATIONS):
            source[6 * relabel + number, _rename_map(relabelled, p)] = maps
    return source
