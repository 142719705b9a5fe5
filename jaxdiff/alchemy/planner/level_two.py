"""Level 2: neither maps nor graph are known. A state is a canonical belief, a set of stone maps, stones and potions as they are seen.

Values are not normalised: V = sum over possible worlds of prior weight x (`SCALE` x reward - potions used). A chance node is then the plain
sum of its children, nothing is divided or rounded, and one integer carries both objectives. The upper bound of a state is level 1's.
"""

# Numba gives every integer 64 bits; to a type checker NumPy's integers are no `int`.
# pyright: reportReturnType=false, reportAssignmentType=false, reportArgumentType=false, reportCallIssue=false

from __future__ import annotations

from typing import Any

import numpy as np

from jaxdiff.alchemy.planner import bounds, search
from jaxdiff.alchemy.planner.beliefs import COUNT, RECORD, SEEN, START, WEIGHT, intern, intern_outcomes, transition
from jaxdiff.alchemy.planner.bounds import SCALE
from jaxdiff.alchemy.planner.compiled import STAMP, entry, jit
from jaxdiff.alchemy.planner.memory import FILLED_TWO, FULL, MAPS, PUBLISHED, Memory
from jaxdiff.alchemy.planner.search import (
    BEST,
    BOUND,
    CHOSEN,
    COST,
    DESCEND,
    DONE,
    FAILED,
    FINISHED,
    HASH,
    HIGH,
    KEY,
    KID,
    LOW,
    LOWEST,
    NEED,
    PICK,
    TOTAL,
)


@jit
def _key(rules: np.ndarray, mem: Memory, number: int, by: int, maps: int, stones: int, counts: int) -> int:
    """A state's number, the same for all that symmetries make equal; given in the frame before element `by` made its belief canonical."""
    r = rules[0]
    p, q = by % 6, (by // 6) ^ 7
    maps, stones, counts = np.int64(r.stone_map_axes[p, maps]), np.int64(r.stone_axes[stones, p]), np.int64(r.mapped[counts, q])
    least, start, count = (1 << 31) - 1, mem.about[number, START], mem.about[number, COUNT]
    for i in range(start, start + count):
        g = np.int64(mem.symmetries[i])
        p, q = g % 6, (g // 6) ^ 7
        image = np.int64(r.stone_map_axes[p, maps]) << 23 | np.int64(r.stone_axes[stones, p]) << 15 | np.int64(r.mapped[counts, q])
        least = min(least, image)
    return (number << 31 | least) + 1


@jit
def _place(states: np.ndarray, key: int) -> int:
    """The slot at which the search for a key begins."""
    mixed = key * HASH
    return (mixed ^ (mixed >> 32)) & (len(states) - 1)


@jit
def _find(rules: np.ndarray, work: np.ndarray, best: np.ndarray, mem: Memory, key: int) -> int:
    """Slot of a state; a new one is bounded by ending now and by level 1 as far as it is known."""
    mask, slot = len(mem.two) - 1, _place(mem.two, key)
    while mem.two[slot, KEY] != key and mem.two[slot, KEY] != 0:
        slot = (slot + 1) & mask
    if mem.two[slot, KEY] != key:
        w = work[0]
        if w.counters[FILLED_TWO] >= FULL * len(mem.two):
            raise MemoryError
        high = bounds.revealed(rules, work, best, mem, key)
        w.counters[FILLED_TWO] += 1
        state = mem.two[slot]
        state[KEY], state[HIGH], state[DONE] = key, high, 0
        state[LOW] = SCALE * mem.about[(key - 1) >> 31, WEIGHT] * rules[0].worth[(key - 1) >> 23 & 0xFF, (key - 1) >> 15 & 0xFF]
    return slot


@jit
def _refine(rules: np.ndarray, work: np.ndarray, best: np.ndarray, mem: Memory, slot: int, limit: int) -> None:
    """Sharpen a state's upper bound by solving level 1 until it is not above the limit; with only the graph unknown it is the value."""
    state = mem.two[slot]
    bound, whole = bounds.refined(rules, work, best, mem, state[KEY], limit)
    state[HIGH] = min(state[HIGH], bound)
    if whole:
        state[DONE] = 1
        belief, possible = mem.beliefs[(state[KEY] - 1) >> 31], 0
        for m in range(MAPS):
            possible += belief[m] >= 0
        if possible * rules[0].stone_maps[(state[KEY] - 1) >> 23 & 0xFF] == 1:
            state[LOW] = state[HIGH]


@jit
def _outcome_keys(rules: np.ndarray, mem: Memory, row: np.ndarray, maps: int, stones: int, left: int, stone: int, keys: np.ndarray) -> int:
    """Write the states of an action's outcomes, given the beliefs after them and their group elements [8]; returns how many there are."""
    r = rules[0]
    n = 0
    for o in range(4):
        if row[o] < 0:
            continue
        after, by = np.int64(row[o]), np.int64(row[4 + o])
        if o == 0:
            keys[n] = _key(rules, mem, after, by, maps, stones, left)
            n += 1
            continue
        # The change of value shows on which side of the axis the better stones are.
        corner = np.int64(r.corners[stones, stone])
        up = r.upper[o - 1] ^ (255 if corner >> (o - 1) & 1 else 0)
        moved = np.int64(r.moved[stones, stone, o - 1])
        for side in range(2):
            then = maps & (up if side == 0 else 255 ^ up)
            if then:
                keys[n] = _key(rules, mem, after, by, then, moved, left)
                n += 1
    return n


@jit
def _find_children(rules: np.ndarray, work: np.ndarray, best: np.ndarray, mem: Memory, depth: int, actions: int) -> None:
    """Turn the keys of all actions' outcomes into slots."""
    w, stack = work[0], work[0].stack_two
    # Touch all slots first: the loads do not wait for one another.
    touched = 0
    for a in range(actions):
        for j in range(stack.count[depth, a]):
            touched ^= mem.two[_place(mem.two, stack.kids[depth, a, j]), KEY]
    w.touched = touched  # so that the compiler cannot leave the loads out
    for a in range(actions):
        for j in range(stack.count[depth, a]):
            stack.kids[depth, a, j] = _find(rules, work, best, mem, stack.kids[depth, a, j])


@jit
def _represented(rules: np.ndarray, work: np.ndarray, record: int, counts: int, colour: int) -> bool:
    """Whether the published rule leaves a colour out: one that it holds to be interchangeable comes earlier in the trial.

    Both pairs unidentified, equal own and partner's count, equal own record of no effect. It ignores the partner's record, which makes the
    published observer inexact.
    """
    have, order = rules[0].counts[counts], work[0].order
    if record >> (SEEN + (colour >> 1)) & 1:
        return False
    for other in range(6):
        if order[other] >= order[colour] or record >> (SEEN + (other >> 1)) & 1:
            continue
        same = have[other] == have[colour] and have[other ^ 1] == have[colour ^ 1]
        for corner in range(8):
            same &= (record >> (corner * 6 + other) & 1) == (record >> (corner * 6 + colour) & 1)
        if same:
            return True
    return False


@jit
def _expand(rules: np.ndarray, work: np.ndarray, best: np.ndarray, mem: Memory, slot: int, depth: int, threshold: int) -> None:
    """Write the children of a state's actions that can move a stone, and begin its search."""
    r, w, stack = rules[0], work[0], work[0].stack_two
    key = mem.two[slot, KEY] - 1
    number, maps, stones, counts = key >> 31, key >> 23 & 0xFF, key >> 15 & 0xFF, key & 0x7FFF
    actions = 0
    for stone in range(3):
        corner = np.int64(r.corners[stones, stone])
        if corner == 8 or (stone > 0 and r.corners[stones, stone - 1] == corner):
            continue
        for colour in range(6):
            left = np.int64(r.less[counts, colour])
            if left < 0 or (w.counters[PUBLISHED] and _represented(rules, work, mem.about[number, RECORD], counts, colour)):
                continue
            row = mem.rows[transition(rules, work, mem, number, corner, colour)]
            if row[1] < 0 and row[2] < 0 and row[3] < 0:
                continue
            stack.count[depth, actions] = _outcome_keys(rules, mem, row, maps, stones, left, stone, stack.kids[depth, actions])
            actions += 1
    _find_children(rules, work, best, mem, depth, actions)
    search.enter(mem.two, stack, depth, slot, threshold, actions, r.stone_maps[maps] * mem.about[number, WEIGHT])


@jit
def _is_open(rules: np.ndarray, work: np.ndarray, best: np.ndarray, mem: Memory, slot: int, threshold: int) -> bool:
    """Whether a state must be searched to tell its value from the threshold; its upper bound is refined first."""
    state = mem.two[slot]
    if state[LOW] != state[HIGH] and state[HIGH] > threshold and not state[DONE]:
        _refine(rules, work, best, mem, slot, threshold)
    return state[LOW] != state[HIGH] and state[HIGH] > threshold


@jit
def _refine_children(rules: np.ndarray, work: np.ndarray, best: np.ndarray, mem: Memory, depth: int) -> bool:
    """Refine the chosen action's children until it falls behind; whether there was anything to do."""
    stack = work[0].stack_two
    frame = stack.frames[depth]
    refined, pick, total = False, frame[PICK], -frame[COST]
    for j in range(stack.count[depth, pick]):
        total += mem.two[stack.kids[depth, pick, j], HIGH]
    for j in range(stack.count[depth, pick]):
        state = mem.two[stack.kids[depth, pick, j]]
        if total > frame[NEED] and state[LOW] != state[HIGH] and not state[DONE]:
            rest = total - state[HIGH]
            _refine(rules, work, best, mem, stack.kids[depth, pick, j], frame[NEED] - rest)
            total = rest + state[HIGH]
            refined = True
    return refined


@jit
def _solve(rules: np.ndarray, work: np.ndarray, best: np.ndarray, mem: Memory) -> None:
    """Finish the search that was begun at depth 0."""
    stack, depth = work[0].stack_two, 0
    while depth >= 0:
        what = search.advance(mem.two, stack, depth)
        if what == FINISHED:
            depth -= 1
        elif what == CHOSEN:
            # With sharper bounds another action may be the best.
            if not _refine_children(rules, work, best, mem, depth):
                search.visit(mem.two, stack, depth)
        elif what == DESCEND:
            frame = stack.frames[depth]
            kid, limit = frame[KID], frame[NEED] - (frame[TOTAL] - frame[BOUND])
            if _is_open(rules, work, best, mem, kid, limit):
                depth += 1
                _expand(rules, work, best, mem, kid, depth, limit)


def _entries(stamp: int) -> tuple[Any, Any]:
    """What Python calls; the stamp makes them of these very sources, see `compiled`."""

    @entry
    def value(
        rules: np.ndarray, work: np.ndarray, best: np.ndarray, mem: Memory,
        belief: np.ndarray, record: int, maps: int, stones: int, counts: int,
    ) -> int:  # fmt: skip
        """Value of any situation: a belief [48] and its record, stone maps, stones and potions as they are seen."""
        work[0].stamp = stamp
        number, by = intern(rules, work, mem, belief, record)
        slot = _find(rules, work, best, mem, _key(rules, mem, number, by, maps, stones, counts))
        if _is_open(rules, work, best, mem, slot, LOWEST):
            _expand(rules, work, best, mem, slot, 0, LOWEST)
            _solve(rules, work, best, mem)
        return mem.two[slot, HIGH]

    @entry
    def action_value(
        rules: np.ndarray, work: np.ndarray, best: np.ndarray, mem: Memory,
        belief: np.ndarray, record: int, maps: int, stones: int, counts: int, stone: int, colour: int, threshold: int,
    ) -> int:  # fmt: skip
        """Value of using a colour on a stone of the multiset if it is more than the threshold, else an upper bound that is not."""
        work[0].stamp = stamp
        r, stack = rules[0], work[0].stack_two
        row = np.empty(8, np.int32)
        intern_outcomes(rules, work, mem, belief, record, np.int64(r.corners[stones, stone]), colour, row)
        left = np.int64(r.less[counts, colour])
        stack.count[0, 0] = _outcome_keys(rules, mem, row, maps, stones, left, stone, stack.kids[0, 0])
        _find_children(rules, work, best, mem, 0, 1)
        weight = 0
        for m in range(MAPS):
            if belief[m] >= 0:
                weight += r.weight[belief[m]]
        search.enter(mem.two, stack, 0, -1, threshold, 1, r.stone_maps[maps] * weight)
        _solve(rules, work, best, mem)
        frame = stack.frames[0]
        return frame[BEST] if frame[BEST] > threshold else frame[FAILED]

    return value, action_value


value, action_value = _entries(STAMP)
