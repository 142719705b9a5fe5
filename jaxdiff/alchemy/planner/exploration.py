"""Fewest expected worlds after a few potions: a plain search a few uses deep, over the beliefs of level 2, without tables.

A belief's cost is its total prior weight x the number of its worlds, which sums over outcomes to the expected number of worlds times the
weight at the root; potions used break ties. All in integers.
"""

# Numba gives every integer 64 bits; to a type checker NumPy's integers are no `int`.
# pyright: reportReturnType=false, reportAssignmentType=false, reportArgumentType=false, reportCallIssue=false

from __future__ import annotations

from typing import Any

import numpy as np

from jaxdiff.alchemy.planner.beliefs import outcomes
from jaxdiff.alchemy.planner.compiled import STAMP, entry, jit
from jaxdiff.alchemy.planner.memory import MAPS

WORLDS_SCALE = 1 << 20  # more than 12 potions x 48 x 192 x 8, the largest total weight of uses


@jit
def _cost(rules: np.ndarray, beliefs: np.ndarray, depth: int, left: int, maps: int, stones: int, counts: int) -> int:
    """Least cost with at most `left` uses from the belief in beliefs [depth, 4]; the rows before it are for its outcomes."""
    r = rules[0]
    weight, size = np.int64(0), np.int64(0)
    for m in range(MAPS):
        known = beliefs[depth, 4, m]
        if known >= 0:
            weight += r.weight[known]
            size += r.size[known]
    reflections = r.stone_maps[maps]
    weight, size = weight * reflections, size * reflections
    best = WORLDS_SCALE * weight * size
    if left == 0 or size == 1:
        return best
    for stone in range(3):
        corner = np.int64(r.corners[stones, stone])
        if corner == 8 or (stone > 0 and r.corners[stones, stone - 1] == corner):
            continue
        for colour in range(6):
            rest = np.int64(r.less[counts, colour])
            if rest < 0:
                continue
            outcomes(rules, beliefs[depth, 4], corner, colour, beliefs[depth])
            total = np.int64(weight)
            for o in range(4):
                possible = False
                for m in range(MAPS):
                    possible |= beliefs[depth, o, m] >= 0
                    beliefs[depth + 1, 4, m] = beliefs[depth, o, m]
                if not possible:
                    continue
                if o == 0:
                    total += _cost(rules, beliefs, depth + 1, left - 1, maps, stones, rest)
                    continue
                up = r.upper[o - 1] ^ (255 if corner >> (o - 1) & 1 else 0)
                for side in range(2):
                    then = maps & (up if side == 0 else 255 ^ up)
                    if then:
                        total += _cost(rules, beliefs, depth + 1, left - 1, then, np.int64(r.moved[stones, stone, o - 1]), rest)
                if total >= best:
                    break
            best = min(best, total)
    return best


def _entries(stamp: int) -> Any:
    """What Python calls; the stamp makes it of these very sources, see `compiled`."""

    @entry
    def worlds_cost(rules: np.ndarray, beliefs: np.ndarray, left: int, maps: int, stones: int, counts: int) -> int:
        """Least cost with at most `left` uses of the belief in beliefs [0, 4]; work space int16 [left + 1, 5, 48]."""
        if stamp < 0:  # it is not: naming it is what counts
            return 0
        return _cost(rules, beliefs, 0, left, maps, stones, counts)

    return worlds_cost


worlds_cost = _entries(STAMP)
