"""Beliefs of level 2: one graph set (or none) for each of the 48 maps of potions, numbered in the form that symmetries make canonical.

Beliefs that are equal under renaming of colours and axes are one. What an action can lead to is worked out once for every belief, corner
and colour. In the frame in which stones are seen, the stone map is independent of all this for ever, so it is no part of a belief.
"""

# Numba gives every integer 64 bits; to a type checker NumPy's integers are no `int`.
# pyright: reportReturnType=false, reportAssignmentType=false, reportArgumentType=false, reportCallIssue=false

from __future__ import annotations

import numpy as np

from jaxdiff.alchemy.planner.compiled import jit
from jaxdiff.alchemy.planner.memory import BELIEFS, MAPS, PUBLISHED, SYMMETRIES, TRANSITIONS, Memory
from jaxdiff.alchemy.planner.rules import GROUP, NONE
from jaxdiff.alchemy.planner.search import HASH

RECORD, WEIGHT, START, COUNT = range(4)  # columns of what is noted about a belief; the last two say where its own symmetries are
SEEN = 48  # bits below: corner x 6 + colour seen to do nothing; from here on: pairs seen to move a stone


@jit
def _canonical(rules: np.ndarray, work: np.ndarray, belief: np.ndarray) -> int:
    """Write a belief's canonical form into the work space; returns a group element that leads to it.

    Canonical is the lexicographically greatest of the images under the group: few entries are possible late in a trial, so that most images
    fall behind at the first one. Under the published rule the group is the identity.
    """
    r, w = rules[0], work[0]
    greatest = w.vectors[5]
    for j in range(MAPS):
        greatest[j] = belief[j]
    by = 0
    for g in range(1, 1 if w.counters[PUBLISHED] else GROUP):
        p = g % 6
        for j in range(MAPS):
            image = r.set_axes[p, belief[r.source[g, j]]]
            if image < greatest[j]:
                break
            if image > greatest[j]:
                by = g
                for i in range(j, MAPS):
                    greatest[i] = r.set_axes[p, belief[r.source[g, i]]]
                break
    return by


@jit
def intern(rules: np.ndarray, work: np.ndarray, mem: Memory, belief: np.ndarray, record: int) -> tuple[int, int]:
    """Number of a belief's canonical form, which is stored if it is new, and a group element that leads to it."""
    w = work[0]
    by = _canonical(rules, work, belief)
    form = w.vectors[5]
    mask, mixed = len(mem.slots) - 1, record
    for j in range(MAPS):
        mixed = (mixed ^ np.int64(form[j] + 1)) * HASH
        mixed ^= mixed >> 29
    slot = mixed & mask
    while mem.slots[slot] != 0:
        number = np.int64(mem.slots[slot]) - 1
        same = mem.about[number, RECORD] == record
        for j in range(MAPS):
            same &= mem.beliefs[number, j] == form[j]
        if same:
            return number, by
        slot = (slot + 1) & mask
    _store(rules, work, mem, slot, record)
    return np.int64(mem.slots[slot]) - 1, by


@jit
def _store(rules: np.ndarray, work: np.ndarray, mem: Memory, slot: int, record: int) -> None:
    """Store the belief in the work space, with its own symmetries."""
    r, w = rules[0], work[0]
    form, number, start = w.vectors[5], w.counters[BELIEFS], w.counters[SYMMETRIES]
    if number >= len(mem.beliefs) or start + GROUP > len(mem.symmetries):
        raise MemoryError
    weight = 0
    for j in range(MAPS):
        mem.beliefs[number, j] = form[j]
        if form[j] >= 0:
            weight += r.weight[form[j]]
    count = 0
    for g in range(1 if w.counters[PUBLISHED] else GROUP):
        same = True
        for j in range(MAPS):
            if r.set_axes[g % 6, form[r.source[g, j]]] != form[j]:
                same = False
                break
        if same:
            mem.symmetries[start + count] = g
            count += 1
    about = mem.about[number]
    about[RECORD], about[WEIGHT], about[START], about[COUNT] = record, weight, start, count
    w.counters[BELIEFS] += 1
    w.counters[SYMMETRIES] += count
    mem.slots[slot] = number + 1


@jit
def outcomes(rules: np.ndarray, belief: np.ndarray, corner: int, colour: int, after: np.ndarray) -> None:
    """Beliefs after a colour met a stone at an aligned corner, into `after` [4, 48]: it did not move, it moved along axis 0, 1, 2."""
    r = rules[0]
    for m in range(MAPS):
        known = belief[m]
        for o in range(4):
            after[o, m] = NONE
        if known < 0:
            continue
        k = r.axis_of[m, colour]
        if (corner >> k & 1) == r.target_of[m, colour]:
            after[0, m] = known
        else:
            e = r.edge[corner, k]
            after[1 + k, m] = r.present[known, e]
            after[0, m] = r.absent[known, e]


@jit
def record_after(record: int, corner: int, colour: int, moved: bool, uncertain: bool) -> int:
    """What the published rule remembers beside the belief."""
    if moved:
        return record | (1 << (SEEN + (colour >> 1)))
    return record | (1 << (corner * 6 + colour)) if uncertain else record


@jit
def intern_outcomes(
    rules: np.ndarray, work: np.ndarray, mem: Memory, belief: np.ndarray, record: int, corner: int, colour: int, row: np.ndarray
) -> None:
    """Write the beliefs after an action and the group elements that make them canonical, int32 [8]."""
    w = work[0]
    outcomes(rules, belief, corner, colour, w.vectors)
    possible = 0
    for o in range(4):
        for m in range(MAPS):
            if w.vectors[o, m] >= 0:
                possible |= 1 << o
                break
    for o in range(4):
        row[o] = NONE
        if possible >> o & 1:
            after = record
            if w.counters[PUBLISHED]:
                after = record_after(record, corner, colour, o > 0, possible > 1)
            number, by = intern(rules, work, mem, w.vectors[o], after)
            row[o], row[4 + o] = number, by


@jit
def transition(rules: np.ndarray, work: np.ndarray, mem: Memory, number: int, corner: int, colour: int) -> int:
    """Row of a canonical belief's outcomes, made when first asked for."""
    row = np.int64(mem.transition[number, corner * 6 + colour])
    if row == 0:
        w = work[0]
        row = w.counters[TRANSITIONS] + 1
        if row >= len(mem.rows):
            raise MemoryError
        intern_outcomes(rules, work, mem, mem.beliefs[number], mem.about[number, RECORD], corner, colour, mem.rows[row])
        w.counters[TRANSITIONS] = row
        mem.transition[number, corner * 6 + colour] = row
    return row
