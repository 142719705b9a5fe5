"""The 6,544 sets of `graph_sets` as the planner reads them: small integers, padded rows, and what symmetries make of each set.

Weights are the prior in integers, 192 in all.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from jaxdiff.alchemy import graph_sets as sets
from jaxdiff.alchemy import graphs

PADDED = 112  # graphs, rounded up to whole vector registers


class SetTables(NamedTuple):
    """The 6,544 sets; I of them.

    Attributes:
        present, absent: the set after an edge was seen or found missing, int16 [I, 12], -1 where that cannot happen.
        weight: sum of the members' prior weights, int64 [I].
        size: number of members, int64 [I].
        axes: the set after axes were renamed by each permutation, int16 [I, 6].
        flipped: the set after the axes in a bit set were reflected, int16 [I, 8].
        graph_weight: each member's weight, int16 [I, 112], 0 elsewhere.
        edge: number of the edge at a corner along an axis, int8 [8, 3].
        graph_axes: a graph's number after renaming of axes, int16 [6, 109].
        graph_edges: bool [109, 12].
    """

    present: np.ndarray
    absent: np.ndarray
    weight: np.ndarray
    size: np.ndarray
    axes: np.ndarray
    flipped: np.ndarray
    graph_weight: np.ndarray
    edge: np.ndarray
    graph_axes: np.ndarray
    graph_edges: np.ndarray


@lru_cache
def set_tables() -> SetTables:
    """The tables."""
    members = sets.members()
    number = {row.tobytes(): i for i, row in enumerate(members)}
    by_axes, by_flip = graphs.axis_permutations(), graphs.reflections()
    padded = np.zeros((len(members), PADDED), np.int16)
    padded[:, : graphs.COUNT] = members * graphs.weights()
    return SetTables(
        sets.after_present().astype(np.int16), sets.after_absent().astype(np.int16), sets.weight().astype(np.int64), members.sum(1),
        _set_images(members, by_axes, number), _set_images(members, by_flip, number), padded, graphs.edge_at().astype(np.int8),
        by_axes.astype(np.int16), graphs.edges().astype(bool),
    )  # fmt: skip


def _set_images(members: np.ndarray, graph_images: np.ndarray, number: dict[bytes, int]) -> np.ndarray:
    columns = []
    for image in graph_images:
        moved = np.empty_like(members)
        moved[:, image] = members
        columns.append([number[row.tobytes()] for row in moved])
    return np.array(columns, np.int16).T.copy()
