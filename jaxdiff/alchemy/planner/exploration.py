"""Fewest expected worlds after a few potions: a plain search a few uses deep, over the beliefs of level 2, without tables.

A belief's cost is its total prior weight x the number of its worlds, which sums over outcomes to the expected number of worlds times the
weight at the root; potions used break ties. All in integers. (A stack and no recursion: numba loses recursive functions that it keeps
on disk.)
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
HUGE = 1 << 60
# Columns of a frame: the situation; what is known of it; the action and the outcome that are looked at.
MAPS_LEFT, STONES, COUNTS, WEIGHT, BEST, ACTION, OUTCOME, TOTAL, REST = range(9)
ALL_ACTIONS, ALL_OUTCOMES = 18, 7


@jit
def _begin(rules: np.ndarray, beliefs: np.ndarray, frames: np.ndarray, depth: int, left: int) -> None:
    """Begin with the belief in beliefs [depth, 4]; maps, stones and counts are in its frame already."""
    r, frame = rules[0], frames[depth]
    weight, size = np.int64(0), np.int64(0)
    for m in range(MAPS):
        known = beliefs[depth, 4, m]
        if known >= 0:
            weight += r.weight[known]
            size += r.size[known]
    reflections = r.stone_maps[frame[MAPS_LEFT]]
    weight, size = weight * reflections, size * reflections
    frame[WEIGHT], frame[BEST], frame[TOTAL], frame[OUTCOME] = weight, WORLDS_SCALE * weight * size, HUGE, ALL_OUTCOMES
    frame[ACTION] = ALL_ACTIONS if left == 0 or size == 1 else -1


@jit
def _next_action(rules: np.ndarray, beliefs: np.ndarray, frame: np.ndarray, depth: int) -> None:
    """Turn to a frame's next action; beliefs after it are written to beliefs [depth, :4] if it is possible."""
    r = rules[0]
    frame[BEST] = min(frame[BEST], frame[TOTAL])
    frame[ACTION] += 1
    frame[TOTAL] = HUGE
    if frame[ACTION] >= ALL_ACTIONS:
        return
    stone, colour, stones = frame[ACTION] // 6, frame[ACTION] % 6, frame[STONES]
    corner, rest = np.int64(r.corners[stones, stone]), np.int64(r.less[frame[COUNTS], colour])
    if rest < 0 or corner == 8 or (stone > 0 and r.corners[stones, stone - 1] == corner):
        return
    outcomes(rules, beliefs[depth, 4], corner, colour, beliefs[depth])
    frame[TOTAL], frame[OUTCOME], frame[REST] = frame[WEIGHT], 0, rest


@jit
def _next_outcome(rules: np.ndarray, beliefs: np.ndarray, frames: np.ndarray, depth: int) -> bool:
    """Write the situation after an action's next outcome into the frame below; False where it has no chance."""
    r, frame, below = rules[0], frames[depth], frames[depth + 1]
    number = frame[OUTCOME]
    frame[OUTCOME] += 1
    o, side = (number + 1) // 2, (number + 1) % 2  # no move; and along each axis, up or down in value
    stone, stones, maps = frame[ACTION] // 6, frame[STONES], frame[MAPS_LEFT]
    possible = False
    for m in range(MAPS):
        possible |= beliefs[depth, o, m] >= 0
        beliefs[depth + 1, 4, m] = beliefs[depth, o, m]
    if o > 0:
        corner = np.int64(r.corners[stones, stone])
        up = r.upper[o - 1] ^ (255 if corner >> (o - 1) & 1 else 0)
        maps &= up if side == 0 else 255 ^ up
        stones = np.int64(r.moved[stones, stone, o - 1])
    below[MAPS_LEFT], below[STONES], below[COUNTS] = maps, stones, frame[REST]
    return possible and maps != 0


@jit
def _cost(rules: np.ndarray, beliefs: np.ndarray, frames: np.ndarray, left: int) -> int:
    """Least cost with at most `left` uses of the situation in the first frame."""
    depth = 0
    _begin(rules, beliefs, frames, 0, left)
    while True:
        frame = frames[depth]
        if frame[OUTCOME] < ALL_OUTCOMES:
            if _next_outcome(rules, beliefs, frames, depth):
                depth += 1
                _begin(rules, beliefs, frames, depth, left - depth)
            continue
        if frame[ACTION] < ALL_ACTIONS:
            _next_action(rules, beliefs, frame, depth)
            continue
        if depth == 0:
            return frame[BEST]
        depth -= 1
        above = frames[depth]
        above[TOTAL] += frame[BEST]
        if above[TOTAL] >= above[BEST]:
            above[OUTCOME] = ALL_OUTCOMES


def _entries(stamp: int) -> Any:
    """What Python calls; the stamp makes it of these very sources, see `compiled`."""

    @entry
    def worlds_cost(rules: np.ndarray, beliefs: np.ndarray, left: int, maps: int, stones: int, counts: int) -> int:
        """Least cost with at most `left` uses of the belief in beliefs [0, 4]; work space int16 [left + 1, 5, 48]."""
        if stamp < 0:  # it is not: naming it is what counts
            return 0
        frames = np.empty((left + 1, 9), np.int64)
        frames[0, MAPS_LEFT], frames[0, STONES], frames[0, COUNTS] = maps, stones, counts
        return _cost(rules, beliefs, frames, left)

    return worlds_cost


worlds_cost = _entries(STAMP)
