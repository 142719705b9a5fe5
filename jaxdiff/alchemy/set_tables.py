"""What can be known about the graph once the potions are known: which edges are there and which are not.

Every use of a known potion tells about one edge. The sets of graphs that such knowledge leaves, closed over the 109 of the family, are
only 6,544; they are numbered here, with what each becomes when an edge is seen or missed, and under renaming and reflection of axes.
Set 0 is all graphs. Weights are the prior in integers: 48, 4, 1 and 1 for a graph of 0, 1, 2 and 3 constraints, 192 in all.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from jaxdiff.alchemy import graphs

PADDED = 112  # graphs, rounded up to whole vector registers


class GraphSets(NamedTuple):
    """The 6,544 sets; I of them.

    Attributes:
        members: bool [I, 109].
        present, absent: the set after an edge was seen or found missing, int16 [I, 12], -1 where that cannot happen.
        weight: sum of the members' prior weights, int64 [I].
        size: number of members, int64 [I].
        axes: the set after axes were renamed by each permutation, int16 [I, 6].
        flipped: the set after the axes in a bit set were reflected, int16 [I, 8].
        graph_weight: each member's weight, int16 [I, 112], 0 elsewhere.
        edge: number of the edge at a corner along an axis, int8 [8, 3].
        graph_axes: a graph's number after renaming of axes, int16 [6, 109].
        graph_flipped: a graph's number after reflection, int16 [8, 109].
        graph_edges: bool [109, 12].
    """

    members: np.ndarray
    present: np.ndarray
    absent: np.ndarray
    weight: np.ndarray
    size: np.ndarray
    axes: np.ndarray
    flipped: np.ndarray
    graph_weight: np.ndarray
    edge: np.ndarray
    graph_axes: np.ndarray
    graph_flipped: np.ndarray
    graph_edges: np.ndarray


@lru_cache
def graph_sets() -> GraphSets:
    """The tables, made by breadth-first search from the set of all graphs."""
    edges, weights = graphs.edges().astype(bool), graphs.weights().astype(np.int64)
    members, present, absent = _reachable(edges)
    number = {row.tobytes(): i for i, row in enumerate(members)}
    by_axes, by_flip = graphs.axis_permutations(), graphs.reflections()
    padded = np.zeros((len(members), PADDED), np.int16)
    padded[:, : graphs.COUNT] = members * weights
    return GraphSets(
        members, present, absent, members @ weights, members.sum(1), _set_images(members, by_axes, number), _set_images(members, by_flip, number),
        padded, graphs.edge_at().astype(np.int8), by_axes.astype(np.int16), by_flip.astype(np.int16), edges,
    )  # fmt: skip


def _reachable(edges: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sets as rows of booleans, and their successors. Python's integers are the bit sets: there are 109 bits."""
    has = [sum(1 << g for g in np.flatnonzero(column).tolist()) for column in edges.T]
    sets = [(1 << len(edges)) - 1]
    number = {sets[0]: 0}
    after: list[list[int]] = []
    for one in sets:  # grows while it is walked
        row = []
        for bits in (*(one & h for h in has), *(one & ~h for h in has)):
            if bits and bits not in number:
                number[bits] = len(sets)
                sets.append(bits)
            row.append(number[bits] if bits else -1)
        after.append(row)
    members = np.array([[bits >> g & 1 for g in range(len(edges))] for bits in sets], bool)
    table = np.array(after, np.int16)
    return members, table[:, : edges.shape[1]].copy(), table[:, edges.shape[1] :].copy()


def _set_images(members: np.ndarray, graph_images: np.ndarray, number: dict[bytes, int]) -> np.ndarray:
    columns = []
    for image in graph_images:
        moved = np.empty_like(members)
        moved[:, image] = members
        columns.append([number[row.tobytes()] for row in moved])
    return np.array(columns, np.int16).T.copy()
