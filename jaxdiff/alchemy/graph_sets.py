"""What can be known of a graph: the 6,544 sets of graphs that knowing edges to be present or absent can leave over.

A set is closed: an edge on which all its graphs agree is known too. Sets are numbered in the order in which a search from the full set
(number 0) finds them, so a piece of knowledge is one small integer and learning about an edge is one look-up. Axes: 6,544 sets, 12 edges.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from jaxdiff.alchemy import graphs
from jaxdiff.alchemy.graphs import COUNT, EDGES, table

SETS = 6544
NONE = -1  # no graph is left


@cache
def _search() -> tuple[list[int], np.ndarray]:
    """Every set as a number (bit g: graph g is in it), and where each edge leads, int32 [2, SETS, 12]: absent, present."""
    has = [sum(int(row) << g for g, row in enumerate(graphs.edges()[:, e])) for e in range(EDGES)]
    everything = (1 << COUNT) - 1
    numbers, order, rows = {everything: 0}, [everything], []
    for members in order:  # grows while it is walked through
        row = []
        for kept in [everything & ~h for h in has] + has:
            left = members & kept
            if left and left not in numbers:
                numbers[left] = len(order)
                order.append(left)
            row.append(numbers.get(left, NONE))
        rows.append(row)
    return order, np.array(rows, np.int32).reshape(-1, 2, EDGES).swapaxes(0, 1)


@table
def after_absent() -> np.ndarray:
    """The set that is left when an edge turns out to be absent, or -1, int32 [SETS, 12]."""
    return _search()[1][0].copy()


@table
def after_present() -> np.ndarray:
    """The set that is left when an edge turns out to be present, or -1, int32 [SETS, 12]."""
    return _search()[1][1].copy()


@table
def members() -> np.ndarray:
    """Which graphs are in every set, bool [SETS, 109]."""
    return np.array([[number >> g & 1 for g in range(COUNT)] for number in _search()[0]], np.bool_)


@table
def edge_knowledge() -> np.ndarray:
    """Per set and edge 1 known present, 0 known absent, 0.5 open, float32 [SETS, 12]."""
    share = members() @ graphs.edges().astype(np.float64)
    size = members().sum(-1, keepdims=True)
    return np.where(share == 0, 0.0, np.where(share == size, 1.0, 0.5)).astype(np.float32)


@table
def weight() -> np.ndarray:
    """Sum of the prior weights (in 1/192) of the graphs in every set, int32 [SETS]."""
    return (members() @ graphs.weights()).astype(np.int32)
