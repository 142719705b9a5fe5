"""Where a program's pointer can be: its offsets in histories of every length at once.

A history has n = w, 2 w, 3 w, ... bits h_j (w bits a step, j counted from the end) and the pointer is clamped to 0..n-1. A program of
at most L instructions never meets the clamp when n >= L, so the histories shorter than L and one unclamped history are all there is. A
*state* is the vector of offsets in all of them; a *cell* is a pair (history, offset). Axes: S states, H histories, C cells.
"""

from __future__ import annotations

from functools import cache
from itertools import accumulate
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


@cache
def histories(length: int, observed: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """History lengths that matter for programs of at most `length` instructions, and the first cell of each.

    The last one stands for every n >= length: no such program is clamped there.
    """
    sizes = (*range(observed, length, observed), max(length, 1))
    return sizes, tuple(accumulate(sizes[:-1], initial=0))


class Graph(NamedTuple):
    """The states within length - 1 moves of the start (state 0).

    Attributes:
        cells: the cell of each state in each history, int64 [S, H].
        next: the states after back and after fwd, S pairs; a move beyond the horizon stays where it is.
        size: number of cells, C.
    """

    cells: NDArray[np.int64]
    next: list[tuple[int, int]]
    size: int


@cache
def graph(length: int, observed: int) -> Graph:
    """The graph of states for programs of at most `length` instructions with `observed` bits a step."""
    sizes, first_cell = histories(length, observed)
    states = [(0,) * len(sizes)]
    index, moves, edges = {states[0]: 0}, [0], []
    for here, state in enumerate(states):  # grows while it runs: breadth first
        back = tuple(min(j + 1, n - 1) for j, n in zip(state, sizes, strict=True))
        fwd = tuple(max(j - 1, 0) for j in state)
        for to in (back, fwd):
            if to not in index and moves[here] < length - 1:
                index[to] = len(states)
                states.append(to)
                moves.append(moves[here] + 1)
        edges.append((index.get(back, here), index.get(fwd, here)))
    return Graph(np.array(states) + np.array(first_cell), edges, sum(sizes))
