"""Upper bounds of level-2 states from level 1: what a state would be worth if a friend revealed the maps of potions and stones.

Level 1 is asked for each map that is still possible, 384 at most; this is where the planner spends its time.
"""

# Numba gives every integer 64 bits; to a type checker NumPy's integers are no `int`.
# pyright: reportReturnType=false, reportAssignmentType=false, reportArgumentType=false, reportCallIssue=false

from __future__ import annotations

import numpy as np

from jaxdiff.alchemy.planner import level_one
from jaxdiff.alchemy.planner.compiled import jit
from jaxdiff.alchemy.planner.memory import MAPS, Memory
from jaxdiff.alchemy.planner.search import HIGH, LOW

SCALE = 1 << 21  # more than 12 potions x 48 x 192 x 8, the largest total weight of uses


@jit
def _keys(rules: np.ndarray, work: np.ndarray, belief: np.ndarray, key: int) -> int:
    """Write the level-1 states of all maps still possible; returns how many there are."""
    r, keys = rules[0], work[0].keys
    maps, stones, counts = (key - 1) >> 23 & 0xFF, (key - 1) >> 15 & 0xFF, (key - 1) & 0x7FFF
    n = 0
    for f in range(8):
        if not maps >> f & 1:
            continue
        latent = r.flipped[stones, f]
        kind = np.int64(r.least[latent]) << 28
        for m in range(MAPS):
            if belief[m] < 0:
                continue
            least = (1 << 28) - 1
            for i in range(6):
                p = r.to_least[latent, i]
                if p < 0:
                    break
                image = 6 * f + p
                least = min(least, np.int64(r.set_image[image, belief[m]]) << 15 | np.int64(r.mapped[counts, r.map_image[image, m]]))
            keys[n] = kind | least
            n += 1
    return n


@jit
def _units(value: int) -> int:
    """A level-1 value in the units of level 2."""
    reward = (np.int64(value) + (level_one.SCALE - 1)) // level_one.SCALE
    return np.int64(value) + reward * (SCALE - level_one.SCALE)


@jit
def revealed(rules: np.ndarray, work: np.ndarray, best: np.ndarray, mem: Memory, key: int) -> int:
    """The bound as far as level 1 is known; leaves its states' slots in the work space."""
    one, w = mem.one, work[0]
    n = _keys(rules, work, mem.beliefs[(key - 1) >> 31], key)
    # Touch all slots first: the loads do not wait for one another.
    touched = 0
    for i in range(n):
        w.places[i] = level_one.place(one, w.keys[i])
        touched ^= np.int64(one[w.places[i], HIGH])
    w.touched = touched  # so that the compiler cannot leave the loads out
    total = 0
    for i in range(n):
        slot = level_one.find(rules, work, best, one, w.keys[i], w.places[i])
        w.places[i] = slot
        total += _units(one[slot, HIGH])
    w.asked = n
    return total


@jit
def refined(rules: np.ndarray, work: np.ndarray, best: np.ndarray, mem: Memory, key: int, limit: int) -> tuple[int, bool]:
    """The bound with level 1 solved, or a bound that is not above the limit as soon as there is one; and whether all was solved."""
    one, w = mem.one, work[0]
    total = revealed(rules, work, best, mem, key)
    for i in range(w.asked):
        if total <= limit:
            return total, False
        slot = w.places[i]
        if one[slot, LOW] != one[slot, HIGH]:
            had = one[slot, HIGH]
            level_one.solve(rules, work, best, one, slot)
            total += _units(one[slot, HIGH]) - _units(had)
    return total, True
