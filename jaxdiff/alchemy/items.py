"""What lies on the table, counted: potions as a vector of six numbers, stones as a multiset of corners, and how symmetries move both.

Planning never needs to know which slot a potion lies in. There are 18,564 vectors of at most 12 potions and 165 multisets of three
stones, a used one included; both are numbered, and everything that can happen to them is looked up in small tables.

Conventions: a corner of the cube is a number 0..7, bit k its coordinate on axis k (1 is +1); `ABSENT` = 8 is a stone that is used.
A type of potion is 2 x axis + (1 if it moves stones to +1). A colour is 2 x pair + (0 or 1). A map of potions is 8 x rank of the
permutation "pair -> axis" + direction bits; bit k is 1 where the pair's second colour moves stones to +1 on axis k.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations_with_replacement, permutations
from typing import Any, NamedTuple

import numpy as np

POTIONS, STONES, TYPES, CORNERS, AXES = 12, 3, 6, 8, 3
ABSENT = 8
MAPS = 48  # of potions
PERMUTATIONS = tuple(permutations(range(AXES)))  # in lexicographic order, as ranks are counted
VALUES = np.array([-3, -1, -1, 1, -1, 1, 1, 15, 0], np.int64)  # of latent corners 0..7, and of an absent stone
_CODE = (POTIONS + 1) ** np.arange(TYPES, dtype=np.int64)


class Potions(NamedTuple):
    """Vectors of potion counts, by rising total; C = 18,564.

    Attributes:
        counts: int8 [C, 6].
        less: the vector with one potion of a type less, int16 [C, 6], -1 where there is none.
        mapped: what a vector of colours is as a vector of types under each map of potions, int16 [C, 48].
        axes: the vector after axes were renamed by each permutation, int16 [C, 6].
        first: number of the first vector of each total 0..13, int64 [14].
    """

    counts: np.ndarray
    less: np.ndarray
    mapped: np.ndarray
    axes: np.ndarray
    first: np.ndarray


class Stones(NamedTuple):
    """Multisets of three stones; M = 165.

    Attributes:
        corners: ascending, int8 [M, 3].
        worth: sum of the positive values in latent coordinates, int64 [M].
        moved: the multiset after stone i moved along axis k, int16 [M, 3, 3]; -1 for an absent stone.
        without: the multiset after stone i was used, int16 [M, 3].
        axes: the multiset after axes were renamed by each permutation, int16 [M, 6].
        flipped: the multiset after the axes in a bit set were reflected, int16 [M, 8].
        number: of three corners in any order, int16 [9, 9, 9].
        least: number of the class under renaming of axes, int16 [M].
        to_least: permutations that take the multiset to its class's representative, int8 [M, 6], padded with -1.
        representative: of each class, int16 [classes].
    """

    corners: np.ndarray
    worth: np.ndarray
    moved: np.ndarray
    without: np.ndarray
    axes: np.ndarray
    flipped: np.ndarray
    number: np.ndarray
    least: np.ndarray
    to_least: np.ndarray
    representative: np.ndarray


def move_bits(values: np.ndarray, permutation: tuple[int, ...]) -> np.ndarray:
    """Bit sets over axes after axis k was renamed permutation[k]."""
    return sum((values >> k & 1) << p for k, p in enumerate(permutation)) + np.zeros_like(values)


def target(potion_map: Any, colour: Any) -> Any:
    """The type of a colour under a map of potions; both broadcast."""
    perms = np.array(PERMUTATIONS)
    axis = perms[potion_map >> 3, colour >> 1]
    return 2 * axis + (1 ^ (potion_map >> axis & 1) ^ (colour & 1))


def rank(counts: np.ndarray) -> np.ndarray:
    """Numbers of vectors of potion counts, int64 [...] from [..., 6] with totals of at most 12."""
    sorted_codes, order = codes()
    return order[np.searchsorted(sorted_codes, np.asarray(counts, np.int64) @ _CODE)]


@lru_cache
def _counts() -> np.ndarray:
    grid = np.indices((POTIONS + 1,) * TYPES, np.int8).reshape(TYPES, -1).T
    total = grid.sum(1)
    grid, total = grid[total <= POTIONS], total[total <= POTIONS]
    return grid[np.argsort(total, kind="stable")]


@lru_cache
def codes() -> tuple[np.ndarray, np.ndarray]:
    """Vectors of counts read as numbers in base 13, ascending, and the number of the vector each belongs to; int64 [C] each."""
    code = _counts().astype(np.int64) @ _CODE
    order = np.argsort(code)
    return code[order], order


@lru_cache
def potions() -> Potions:
    """The tables of potion counts."""
    counts = _counts()
    wide = counts.astype(np.int64)
    less = np.full(counts.shape, -1, np.int16)
    for t in range(TYPES):
        has = counts[:, t] > 0
        less[has, t] = rank(wide[has] - np.eye(TYPES, dtype=np.int64)[t])
    colours, types = np.arange(TYPES), np.arange(TYPES)
    mapped = np.stack([rank(_scatter(wide, target(np.int64(m), colours))) for m in range(MAPS)], 1)
    axes = np.stack([rank(_scatter(wide, 2 * np.array(p)[types >> 1] + (types & 1))) for p in PERMUTATIONS], 1)
    first = np.searchsorted(counts.sum(1), np.arange(POTIONS + 2))
    return Potions(counts, less, mapped.astype(np.int16), axes.astype(np.int16), first)


def _scatter(counts: np.ndarray, where: np.ndarray) -> np.ndarray:
    moved = np.empty_like(counts)
    moved[:, where] = counts
    return moved


@lru_cache
def stones() -> Stones:
    """The tables of stone multisets."""
    corners = np.array(list(combinations_with_replacement(range(CORNERS + 1), STONES)), np.int64)
    number = np.empty((CORNERS + 1,) * STONES, np.int16)
    for order in permutations(range(STONES)):
        number[tuple(corners[:, order].T)] = np.arange(len(corners))
    moved = np.full((len(corners), STONES, AXES), -1, np.int16)
    without = np.empty((len(corners), STONES), np.int16)
    for i in range(STONES):
        there = corners[:, i] != ABSENT
        for k in range(AXES):
            after = corners.copy()
            after[:, i] ^= 1 << k
            moved[there, i, k] = number[tuple(np.where(there[:, None], after, 0).T)][there]
        after = corners.copy()
        after[:, i] = ABSENT
        without[:, i] = number[tuple(after.T)]
    axes = np.stack([_numbers(number, corners, move_bits(np.arange(CORNERS), p)) for p in PERMUTATIONS], 1)
    flipped = np.stack([_numbers(number, corners, np.arange(CORNERS) ^ f) for f in range(CORNERS)], 1)
    representative, least = np.unique(axes.min(1), return_inverse=True)
    to_least = np.full(axes.shape, -1, np.int8)
    for m, images in enumerate(axes):
        best = np.flatnonzero(images == images.min())
        to_least[m, : len(best)] = best
    worth = np.maximum(VALUES[corners], 0).sum(1)
    return Stones(
        corners.astype(np.int8),
        worth,
        moved,
        without,
        axes,
        flipped,
        number,
        least.astype(np.int16),
        to_least,
        representative.astype(np.int16),
    )


def _numbers(number: np.ndarray, corners: np.ndarray, image: np.ndarray) -> np.ndarray:
    image = np.append(image, ABSENT)
    return number[tuple(image[corners].T)]
