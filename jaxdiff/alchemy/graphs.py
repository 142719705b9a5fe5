"""The 109 graphs on which Alchemy's stones move, derived from the rule for preconditions, and everything looked up about them.

A graph is a set of edges of the cube. Each axis i may be given a precondition on each other axis j: a stone moves along i only where
its coordinate on j is the required one. Of the 3^6 assignments those are kept that leave the cube connected (paper, section 2 and
Appendix A). Corners are numbered sum of 2^k [coordinate k = +1]; potion types 2 x axis + [direction = +1]; edges by their sorted
endpoints. Tables are NumPy, made once when first asked for, read-only. Axes: G = 109 graphs, 8 corners, 12 edges, 6 potion types.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from itertools import combinations, permutations, product
from typing import Any

import numpy as np

from jaxdiff.core.errors import InputError, as_array, require

AXES, CORNERS, EDGES, POTION_TYPES = 3, 8, 12, 6
COUNT = 109
BOTTLENECKS: tuple[str | int, ...] = ("none", "random", 1, 2, 3)
COMPLETE = 108  # the graph without preconditions comes last
AXIS_ORDERS = tuple(permutations(range(AXES)))  # in the order of their lexicographic rank
URN = 192  # tickets from which a graph is drawn; each prior is a whole number of them


def table(make: Callable[[], Any]) -> Callable[[], Any]:
    """A function without arguments whose arrays are made once and then read-only."""

    @cache
    @wraps(make)
    def once() -> Any:
        result = make()
        for array in result if isinstance(result, tuple) else (result,):
            array.flags.writeable = False
        return result

    return once


@table
def edge_endpoints() -> np.ndarray:
    """The two corners of every edge, lower number first, int32 [12, 2]."""
    return np.array([(a, b) for a, b in combinations(range(CORNERS), 2) if (a ^ b).bit_count() == 1], np.int32)


@table
def edge_axis() -> np.ndarray:
    """The axis along which every edge runs, int32 [12]."""
    return np.array([int(a ^ b).bit_length() - 1 for a, b in edge_endpoints()], np.int32)


@table
def edge_at() -> np.ndarray:
    """The edge that leaves a corner along an axis, int32 [8, 3]."""
    numbers = {(int(a), int(b)): e for e, (a, b) in enumerate(edge_endpoints())}
    return np.array([[numbers[c & ~(1 << k), c | 1 << k] for k in range(AXES)] for c in range(CORNERS)], np.int32)


def _edges_of(required: dict[tuple[int, int], int]) -> tuple[int, ...]:
    """Which edges exist when axis i requires coordinate j to be required[i, j] (0: free)."""

    def exists(edge: int) -> bool:
        corner, axis = int(edge_endpoints()[edge, 0]), int(edge_axis()[edge])
        coordinate = [1 if corner >> j & 1 else -1 for j in range(AXES)]
        return all(required[axis, j] in (0, coordinate[j]) for j in range(AXES) if j != axis)

    return tuple(int(exists(edge)) for edge in range(EDGES))


def connected(edges: Any) -> bool:
    """Whether every corner can be reached from every other.

    Args:
        edges: which edges exist, 0 or 1, [12].
    """
    reached = {0}
    for _ in range(CORNERS):
        reached |= {int(b) for pair, e in zip(edge_endpoints(), edges, strict=True) if e for b in pair if reached & set(pair.tolist())}
    return len(reached) == CORNERS


@cache
def _derived() -> tuple[np.ndarray, np.ndarray]:
    """Preconditions [G, 3, 3] and edges [G, 12]: assignments in the order in which (-1, +1, free) is counted through, first come."""
    pairs = [(i, j) for i in range(AXES) for j in range(AXES) if i != j]
    found: dict[tuple[int, ...], np.ndarray] = {}
    for values in product((-1, 1, 0), repeat=len(pairs)):
        edges = _edges_of(dict(zip(pairs, values, strict=True)))
        if edges not in found and connected(edges):
            found[edges] = np.zeros((AXES, AXES), np.int32)
            for pair, value in zip(pairs, values, strict=True):
                found[edges][pair] = value
    return np.stack(list(found.values())), np.array(list(found), np.int32)


@table
def preconditions() -> np.ndarray:
    """What moving along axis i (first) requires of coordinate j (second): -1, +1, or 0 for nothing, int32 [G, 3, 3]."""
    return _derived()[0].copy()


@table
def edges() -> np.ndarray:
    """Which edges every graph has, 0 or 1, int32 [G, 12]."""
    return _derived()[1].copy()


@table
def edge_bits() -> np.ndarray:
    """The same as a number, sum of 2^e over the edges e, int32 [G]."""
    return (edges() << np.arange(EDGES, dtype=np.int32)).sum(-1, dtype=np.int32)


@table
def constraints() -> np.ndarray:
    """How many preconditions every graph has, 0..3, int32 [G]."""
    return (preconditions() != 0).sum((1, 2), dtype=np.int32)


@table
def weights() -> np.ndarray:
    """The prior of a random bottleneck in units of 1/192: 48, 4, 1, 1 for 0 to 3 preconditions, int32 [G].

    The number of preconditions is uniform on 0..3, the graph uniform among those with that number (1, 12, 48, 48).
    """
    return np.array([48, 4, 1, 1], np.int32)[constraints()]


@table
def prior() -> np.ndarray:
    """The prior of a random bottleneck, float64 [G]."""
    return weights() / URN


def urn(bottlenecks: str | int) -> np.ndarray:
    """Graphs to draw from uniformly, each as often as its prior says, int32 [192].

    Args:
        bottlenecks: "none": always the complete cube; "random": 0 to 3 preconditions; 1, 2 or 3: exactly that many.

    Raises:
        InputError: unknown kind of bottlenecks.
    """
    require(not isinstance(bottlenecks, bool) and bottlenecks in BOTTLENECKS, "bottlenecks", bottlenecks, "'none', 'random', 1, 2 or 3")
    if bottlenecks == "random":
        return np.repeat(np.arange(COUNT, dtype=np.int32), weights())
    chosen = np.flatnonzero(constraints() == (0 if bottlenecks == "none" else bottlenecks)).astype(np.int32)
    return np.repeat(chosen, URN // chosen.size)


@table
def transitions() -> np.ndarray:
    """Where a potion takes a stone: corner after potion type t at corner c in graph g, int32 [G, 8, 6]."""
    corner = np.arange(CORNERS, dtype=np.int32)[:, None]
    axis, up = np.divmod(np.arange(POTION_TYPES, dtype=np.int32), 2)
    movable = (corner >> axis & 1) != up
    exists = edges()[:, edge_at()[corner, axis]] == 1
    return np.where(movable & exists, corner ^ (1 << axis), corner).astype(np.int32)


def _images(corner_map: np.ndarray) -> np.ndarray:
    """Graphs after every corner c is moved to corner_map[c], int32 [G]."""
    numbers = {bits: g for g, bits in enumerate(edge_bits().tolist())}
    ends = corner_map[edge_endpoints()]
    target = edge_at()[ends.min(-1), edge_axis_between(ends)]
    return np.array([numbers[int((row << target).sum())] for row in edges()], np.int32)


def edge_axis_between(ends: np.ndarray) -> np.ndarray:
    """The axis along which two adjacent corners differ: corners [..., 2] -> int32 [...]."""
    return np.array([0, 0, 1, 0, 2], np.int32)[ends[..., 0] ^ ends[..., 1]]


@table
def reflections() -> np.ndarray:
    """Every graph mirrored on the axes in a bit set f (corner c goes to c XOR f), int32 [8, G]; its own inverse."""
    return np.stack([_images(np.arange(CORNERS, dtype=np.int32) ^ f) for f in range(CORNERS)])


@table
def axis_permutations() -> np.ndarray:
    """Every graph with axis k renamed to order[k], for the orders in `AXIS_ORDERS`, int32 [6, G]."""

    def moved(order: tuple[int, ...]) -> np.ndarray:
        return np.array([sum((c >> k & 1) << order[k] for k in range(AXES)) for c in range(CORNERS)], np.int32)

    return np.stack([_images(moved(order)) for order in AXIS_ORDERS])


def index_of(edges_present: Any) -> int:
    """Number of the graph with these edges.

    Args:
        edges_present: which edges exist, 0 or 1, [12].

    Raises:
        InputError: not twelve zeros and ones, not connected, or not a graph that preconditions can give.
    """
    allowed = "twelve zeros and ones"
    row = as_array("edges", edges_present, allowed)
    require(row.shape == (EDGES,) and bool(np.isin(row, (0, 1)).all()), "edges", row, allowed)
    require(connected(row), "edges", row.astype(int).tolist(), "a connected graph: every corner must be reachable")
    (found,) = np.nonzero((edges() == row).all(-1))
    if found.size == 0:
        raise InputError("edges", row.astype(int).tolist(), "one of the 109 graphs that preconditions can give")
    return int(found[0])
