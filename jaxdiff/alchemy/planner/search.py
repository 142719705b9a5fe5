"""The search of both levels: best-first over actions, with a threshold for each child.

States have lower and upper bounds in hash tables; an action's upper bound is the sum of its children's less the potion it uses. A child
is searched only as far as is needed to tell whether its action beats the threshold, and what a search finds sharpens the table for all.
"""

# Numba gives every integer 64 bits; to a type checker NumPy's integers are no `int`.
# pyright: reportReturnType=false, reportAssignmentType=false, reportArgumentType=false, reportCallIssue=false

from __future__ import annotations

from typing import Any

import numpy as np

from jaxdiff.alchemy.planner.compiled import jit

LOWEST = -(1 << 60)
HASH = 0x9E3779B97F4A7C15 - (1 << 64)
KEY, LOW, HIGH, DONE = range(4)  # columns of the state tables; DONE of level 2: its upper bound was refined
# Columns of a search's frames, its stages, and what it asks for.
SLOT, THRESHOLD, BEST, FAILED, CLOSED, ACTIONS, COST, PICK, NEED, TOTAL, VISITED, STAGE, KID, BOUND = range(14)
CHOOSE, VISIT, BACK = range(3)
FINISHED, CHOSEN, DESCEND, AGAIN = range(4)


@jit
def _sum(states: np.ndarray, stack: Any, depth: int, action: int) -> int:
    """An action's upper bound now."""
    bound = -stack.frames[depth, COST]
    for j in range(stack.count[depth, action]):
        bound += states[stack.kids[depth, action, j], HIGH]
    return bound


@jit
def _choose(states: np.ndarray, stack: Any, depth: int) -> tuple[int, int]:
    """The open action with the largest upper bound, and that bound.

    Bounds only fall, so that one as it was summed last is enough to pass an action over.
    """
    frame, bounds = stack.frames[depth], stack.bounds[depth]
    while True:
        top, pick = LOWEST, -1
        for a in range(frame[ACTIONS]):
            if not frame[CLOSED] >> a & 1 and bounds[a] > top:
                top, pick = bounds[a], a
        if pick < 0:
            return top, pick
        bounds[pick] = _sum(states, stack, depth, pick)
        if bounds[pick] == top:
            return top, pick


@jit
def _settle(states: np.ndarray, stack: Any, depth: int) -> None:
    """Keep what a search found: the value if it is above the threshold, else bounds."""
    frame = stack.frames[depth]
    slot, best = frame[SLOT], frame[BEST]
    if slot < 0:
        return
    if best > frame[THRESHOLD]:
        states[slot, LOW] = states[slot, HIGH] = best
    else:
        states[slot, HIGH] = min(states[slot, HIGH], max(best, frame[FAILED]))
        states[slot, LOW] = max(states[slot, LOW], best)


@jit
def enter(states: np.ndarray, stack: Any, depth: int, slot: int, threshold: int, actions: int, cost: int) -> None:
    """Begin a state's search; its actions' children are written already. Slot -1 is a question about one action, without a state."""
    frame = stack.frames[depth]
    frame[SLOT], frame[THRESHOLD], frame[FAILED], frame[CLOSED], frame[STAGE] = slot, threshold, LOWEST, 0, CHOOSE
    frame[BEST] = states[slot, LOW] if slot >= 0 else LOWEST
    frame[ACTIONS], frame[COST] = actions, cost
    for a in range(actions):
        stack.bounds[depth, a] = _sum(states, stack, depth, a)


@jit
def visit(states: np.ndarray, stack: Any, depth: int) -> None:
    """Begin the children of the chosen action."""
    frame = stack.frames[depth]
    frame[VISITED], frame[STAGE], frame[TOTAL] = 0, VISIT, -frame[COST]
    for j in range(stack.count[depth, frame[PICK]]):
        stack.seen[depth, j] = states[stack.kids[depth, frame[PICK], j], HIGH]
        frame[TOTAL] += stack.seen[depth, j]


@jit
def _next_child(states: np.ndarray, stack: Any, depth: int) -> bool:
    """Turn to the least known child that was not visited; False where none is left or the total has fallen too low."""
    frame = stack.frames[depth]
    gap, widest = -1, 0
    for j in range(stack.count[depth, frame[PICK]]):
        kid = stack.kids[depth, frame[PICK], j]
        if not frame[VISITED] >> j & 1 and states[kid, HIGH] - states[kid, LOW] > gap:
            gap, widest = states[kid, HIGH] - states[kid, LOW], j
    if gap < 0 or frame[TOTAL] <= frame[NEED]:
        return False
    kid = stack.kids[depth, frame[PICK], widest]
    # The search of a sibling may have lowered this one's bound since it was summed.
    frame[KID], frame[BOUND] = kid, states[kid, HIGH]
    frame[TOTAL] += frame[BOUND] - stack.seen[depth, widest]
    frame[VISITED] |= 1 << widest
    return frame[TOTAL] > frame[NEED]


@jit
def advance(states: np.ndarray, stack: Any, depth: int) -> int:
    """Go on until a state is settled (FINISHED), an action CHOSEN or done with (AGAIN), or a child must be known better (DESCEND)."""
    frame = stack.frames[depth]
    if frame[STAGE] == CHOOSE:
        top, pick = _choose(states, stack, depth)
        frame[NEED], frame[PICK] = max(frame[THRESHOLD], frame[BEST]), pick
        if top > frame[NEED]:
            return CHOSEN
        frame[FAILED] = max(frame[FAILED], top)
        _settle(states, stack, depth)
        return FINISHED
    if frame[STAGE] == BACK:
        frame[TOTAL] += states[frame[KID], HIGH] - frame[BOUND]
    if _next_child(states, stack, depth):
        frame[STAGE] = BACK
        return DESCEND
    frame[CLOSED] |= 1 << frame[PICK]
    frame[STAGE] = CHOOSE
    if frame[TOTAL] > frame[NEED]:
        frame[BEST] = frame[TOTAL]
    else:
        frame[FAILED] = max(frame[FAILED], frame[TOTAL])
    return AGAIN
