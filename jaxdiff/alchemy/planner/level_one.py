"""Level 1: the maps of potions and stones are known, the graph is not; its beliefs are the 6,544 graph sets.

A state is a graph set, a class of stone multisets and a vector of potion counts, in latent coordinates; renaming axes makes states one.
Values are `SCALE` x reward - potions, times the prior weight (192 in all) of the graphs that are possible: 32 bits hold them. The upper
bound of a new state is the oracle's value, as if a friend revealed the graph.
"""

# Numba gives every integer 64 bits; to a type checker NumPy's integers are no `int`.
# pyright: reportReturnType=false, reportAssignmentType=false, reportArgumentType=false, reportCallIssue=false

from __future__ import annotations

import numpy as np

from jaxdiff.alchemy.planner import search
from jaxdiff.alchemy.planner.compiled import jit
from jaxdiff.alchemy.planner.memory import FILLED_ONE, FULL
from jaxdiff.alchemy.planner.search import BOUND, CHOSEN, DESCEND, FINISHED, HASH, HIGH, KEY, KID, LOW, LOWEST, NEED, TOTAL

SCALE = 1 << 12  # more than 12 potions x 192, the largest weight of uses
REST = 3  # column with the key's upper bits, plus one: 0 is a free slot


@jit
def key_of(rules: np.ndarray, known: int, stones: int, counts: int) -> int:
    """The state's number, the same for all renamings of axes."""
    r = rules[0]
    least = (1 << 28) - 1
    for i in range(6):
        p = r.to_least[stones, i]
        if p < 0:
            break
        least = min(least, (np.int64(r.set_axes[p, known]) << 15) | np.int64(r.count_axes[counts, p]))
    return (np.int64(r.least[stones]) << 28) | least


@jit
def place(one: np.ndarray, key: int) -> int:
    """The slot at which the search for a key begins."""
    mixed = (key + 1) * HASH
    return (mixed ^ (mixed >> 32)) & (len(one) - 1)


@jit
def _bound(rules: np.ndarray, best: np.ndarray, key: int) -> int:
    """A friend reveals the graph: the oracle's values, weighted."""
    r = rules[0]
    row, weight = best[key & 0x7FFF, key >> 28], r.graph_weight[(key >> 15) & 0x1FFF]
    reward = uses = np.int32(0)
    for g in range(112):
        rewarded = np.int32(np.int32(row[g]) + np.int32(15)) >> np.int32(4)
        reward += np.int32(weight[g]) * rewarded
        uses += np.int32(weight[g]) * np.int32(np.int32(16) * rewarded - np.int32(row[g]))
    return SCALE * np.int64(reward) - np.int64(uses)


@jit
def find(rules: np.ndarray, work: np.ndarray, best: np.ndarray, one: np.ndarray, key: int, slot: int) -> int:
    """Slot of a state, looked for from its `place` on; a new one is bounded by ending now and by the oracle."""
    mask, low, rest = len(one) - 1, np.int32(key & 0xFFFFFFFF), np.int32((key >> 32) + 1)
    while one[slot, REST] != 0:
        if one[slot, KEY] == low and one[slot, REST] == rest:
            return slot
        slot = (slot + 1) & mask
    r, w = rules[0], work[0]
    if w.counters[FILLED_ONE] >= FULL * len(one):
        raise MemoryError
    w.counters[FILLED_ONE] += 1
    known = (key >> 15) & 0x1FFF
    one[slot, KEY], one[slot, REST] = low, rest
    one[slot, HIGH] = _bound(rules, best, key)
    one[slot, LOW] = SCALE * np.int64(r.weight[known]) * r.single_worth[r.representative[key >> 28]]
    if r.size[known] == 1:
        one[slot, LOW] = one[slot, HIGH]
    return slot


@jit
def _child(rules: np.ndarray, work: np.ndarray, best: np.ndarray, one: np.ndarray, known: int, stones: int, counts: int) -> int:
    key = key_of(rules, known, stones, counts)
    return find(rules, work, best, one, key, place(one, key))


@jit
def _expand(rules: np.ndarray, work: np.ndarray, best: np.ndarray, one: np.ndarray, slot: int, depth: int, threshold: int) -> None:
    """Write the children of a state's actions, and begin its search."""
    r, stack = rules[0], work[0].stack_one
    key = (np.int64(one[slot, REST]) - 1) << 32 | (np.int64(one[slot, KEY]) & 0xFFFFFFFF)
    known, stones, counts = (key >> 15) & 0x1FFF, np.int64(r.representative[key >> 28]), key & 0x7FFF
    actions = 0
    for i in range(3):
        corner = np.int64(r.corners[stones, i])
        if corner == 8 or (i > 0 and r.corners[stones, i - 1] == corner):
            continue
        for k in range(3):
            left = np.int64(r.less[counts, 2 * k + 1 - (corner >> k & 1)])
            e = r.edge[corner, k]
            yes, no = np.int64(r.present[known, e]), np.int64(r.absent[known, e])
            if left < 0 or yes < 0:
                continue
            kids = stack.kids[depth, actions]
            kids[0] = _child(rules, work, best, one, yes, np.int64(r.moved[stones, i, k]), left)
            stack.count[depth, actions] = 1
            if no >= 0:
                kids[1] = _child(rules, work, best, one, no, stones, left)
                stack.count[depth, actions] = 2
            actions += 1
    search.enter(one, stack, depth, slot, threshold, actions, np.int64(r.weight[known]))


@jit
def solve(rules: np.ndarray, work: np.ndarray, best: np.ndarray, one: np.ndarray, root: int) -> None:
    """Make a state's bounds equal: its value."""
    stack, depth = work[0].stack_one, 0
    if one[root, LOW] == one[root, HIGH]:
        return
    _expand(rules, work, best, one, root, depth, LOWEST)
    while depth >= 0:
        what = search.advance(one, stack, depth)
        if what == FINISHED:
            depth -= 1
        elif what == CHOSEN:
            search.visit(one, stack, depth)
        elif what == DESCEND:
            frame = stack.frames[depth]
            kid, limit = frame[KID], frame[NEED] - (frame[TOTAL] - frame[BOUND])
            if one[kid, LOW] != one[kid, HIGH] and one[kid, HIGH] > limit:
                depth += 1
                _expand(rules, work, best, one, kid, depth, limit)
