"""The exact planner of a trial: lexicographic expectimax (expected reward, then fewest potions) over beliefs, in integers.

Values are not normalised: V = sum over possible worlds of prior weight x (SCALE x reward - potions used). A chance node is then the plain
sum of its children, nothing is divided or rounded, and one integer carries both objectives.

Two levels. Level 1 knows the maps of potions and stones but not the graph: its beliefs are the 6,544 graph sets. Level 2 knows neither:
a belief is one graph set (or none) for each of the 48 potion maps, and a bit set of stone maps; in the frame in which stones are
seen these two are independent for ever. Both keep lower and upper bounds in hash tables and are searched best-first with a threshold
that is handed down; the upper bounds are the oracle's at level 1 and level 1's at level 2. States equal under renaming of colours and
axes are one.

Belief and state tables hold for any episode, so they are kept until they are full. Numba on the host: the search is deep, narrow and
irregular, so that a lock-step device would mostly wait.
"""

# Numba gives every integer 64 bits; to a type checker NumPy's integers are no `int`.
# pyright: reportReturnType=false, reportAssignmentType=false, reportArgumentType=false, reportCallIssue=false

from __future__ import annotations

import contextlib
import mmap
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from jaxdiff.alchemy import items
from jaxdiff.alchemy.set_tables import set_tables

SCALE = 1 << 21  # more than 12 potions x 48 x 192 x 8, the largest total weight of uses
LOWEST = -(1 << 60)
NONE = -1  # no graph is possible under this potion map
_MAPS, _GROUP = items.MAPS, items.MAPS * len(items.PERMUTATIONS)
_LIMIT = 0.8  # of a hash table's slots may be filled
_HASH = 0x9E3779B97F4A7C15 - (1 << 64)
KEY, LOW, HIGH, DONE = range(4)  # columns of the state tables; DONE of level 2: its upper bound was refined
FILLED_ONE, FILLED_TWO, BELIEFS, TRANSITIONS, SYMMETRIES, PUBLISHED = range(6)  # counters; the last is the published rule's switch
RECORD, WEIGHT, START, COUNT = range(4)  # columns of what is noted about a belief; the last two say where its own symmetries are
LEVEL_ONE, LEVEL_TWO = range(2)  # stacks
# Columns of a search's frames, its stages, and what it asks for.
SLOT, THRESHOLD, BEST, FAILED, CLOSED, ACTIONS, COST, PICK, NEED, TOTAL, VISITED, STAGE, KID, BOUND = range(14)
CHOOSE, VISIT, BACK = range(3)
FINISHED, CHOSEN, DESCEND, AGAIN = range(4)
_SEEN = 48  # bits below: corner x 6 + colour seen to do nothing; from here on: pairs seen to move a stone


def _compiler() -> Callable[..., Any]:
    """Numba's decorator with its cache on disk, or without where nothing can be written."""

    def probe() -> None: ...

    try:
        njit(cache=True)(probe)
    except RuntimeError:
        return njit(nogil=True)
    return njit(cache=True, nogil=True)


_jit = _compiler()


class Memory(NamedTuple):
    """What a planner keeps; all of it grows. B beliefs.

    Attributes:
        one, two: states of the two levels, hash tables int64 [slots, 4].
        beliefs: graph sets by potion map, int16 [B, 48].
        about: of beliefs, int64 [B, 4]: what the published rule remembers beside, total weight, start and number of symmetries.
        slots: hash table of beliefs, int32; 0 is free, else 1 + number.
        symmetries: group elements, int16.
        transition: of belief, corner x 6 + colour: 0 unknown, else its row, int32 [B, 48].
        rows: beliefs after "no move" and "moved along axis k" (-1 impossible), and group elements that led to their canonical forms,
            int32 [rows, 8].
    """

    one: np.ndarray
    two: np.ndarray
    beliefs: np.ndarray
    about: np.ndarray
    slots: np.ndarray
    symmetries: np.ndarray
    transition: np.ndarray
    rows: np.ndarray


class Sizes(NamedTuple):
    """Room in a memory. Hash tables are powers of two."""

    one: int = 1 << 23
    two: int = 1 << 22
    beliefs: int = 1 << 18
    transitions: int = 1 << 21

    @property
    def bytes(self) -> int:
        """What a memory of these sizes takes."""
        return 32 * (self.one + self.two) + self.beliefs * (96 + 32 + 16 + 64 + 192) + 32 * self.transitions


SMALL = Sizes(1 << 20, 1 << 18, 1 << 15, 1 << 17)


def memory(sizes: Sizes) -> Memory:
    """An empty memory."""
    room = sizes.beliefs
    shapes = {
        "one": ((sizes.one, 4), np.int64), "two": ((sizes.two, 4), np.int64), "beliefs": ((room, _MAPS), np.int16),
        "about": ((room, 4), np.int64), "slots": ((4 * room,), np.int32), "symmetries": ((32 * room,), np.int16),
        "transition": ((room, 48), np.int32), "rows": ((sizes.transitions, 8), np.int32),
    }  # fmt: skip
    return Memory(**{name: _zeros(shape, dtype) for name, (shape, dtype) in shapes.items()})


def _zeros(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """Zeros, in huge pages where the system has them: tables are read at random, which is slow in small ones."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    if not hasattr(mmap, "MADV_HUGEPAGE"):
        return np.zeros(shape, dtype)
    room = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    # A kernel without them refuses, and that is all right.
    with contextlib.suppress(OSError):
        room.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(room, dtype).reshape(shape)


@lru_cache
def best() -> np.ndarray:
    """The oracle's table in huge pages, shared by all planners of this process."""
    from jaxdiff.alchemy import oracle

    mapped = oracle.table()
    copy = _zeros(mapped.shape, mapped.dtype)
    copy[:] = mapped
    return copy


def work() -> np.ndarray:
    """A planner's work space, a record: counters, colours' order of appearance, the stacks of both levels, keys and beliefs."""
    depth = items.POTIONS + 2
    stack = [
        ("frames", np.int64, (depth, 14)),  # where each search stands, columns as named above
        ("kids", np.int64, (depth, 18, 7)),  # slots of children, by action and outcome
        ("count", np.int64, (depth, 18)),  # how many outcomes an action has
        ("seen", np.int64, (depth, 7)),  # children's bounds as they were summed
    ]
    record = [
        ("counters", np.int64, (6,)), ("order", np.int64, (6,)), ("keys", np.int64, (384,)), ("vectors", np.int16, (6, _MAPS)),
        ("stack_one", stack), ("stack_two", stack),
    ]  # fmt: skip
    return np.zeros(1, record)


@lru_cache
def rules() -> np.ndarray:
    """All look-up tables, a record whose shapes are constants of compilation.

    Beside those of `items` and `graph_sets`: `set_axes` has a last column for `NONE`; `set_image` and `map_image` [8 x 6, ...] are graph
    sets and potion maps after reflection f, then renaming p; `worth` [256, M] is summed over a set of stone maps; `source` [288, 48] is
    where entry j of a belief's image under a group element comes from; `stone_map_axes` [6, 256] renames axes in sets of stone maps;
    `axis_of`, `target_of` [48, 6] are what colours do under each potion map; `upper` [3] are the stone maps under which +1 is worth more.
    """
    potions, stones, sets = items.potions(), items.stones(), set_tables()
    members = np.arange(256)[:, None] >> np.arange(8) & 1
    maps, corners = np.arange(_MAPS), np.arange(items.CORNERS)
    types = items.target(maps[:, None], np.arange(items.TYPES))
    reflected = (maps & ~7) | ((maps & 7) ^ corners[:, None])  # [f, map]
    tables = {
        "present": sets.present, "absent": sets.absent, "size": sets.size.astype(np.int16), "weight": sets.weight.astype(np.int16),
        "graph_weight": sets.graph_weight, "edge": sets.edge, "set_axes": np.append(sets.axes.T, np.full((6, 1), NONE, np.int16), 1),
        "less": potions.less, "count_axes": potions.axes, "mapped": potions.mapped, "counts": potions.counts,
        "corners": stones.corners, "moved": stones.moved, "flipped": stones.flipped, "stone_axes": stones.axes, "least": stones.least,
        "to_least": stones.to_least, "representative": stones.representative, "single_worth": stones.worth,
        "worth": members @ np.stack([stones.worth[stones.flipped[:, f]] for f in corners]),
        "set_image": np.stack([sets.axes[sets.flipped.T, p] for p in range(6)], 1).reshape(48, -1),
        "map_image": np.stack([_rename_map(reflected, p) for p in items.PERMUTATIONS], 1).reshape(48, -1).astype(np.int16),
        "source": _sources(), "stone_maps": members.sum(1),
        "stone_map_axes": np.stack([(members << items.move_bits(corners, p)).sum(1) for p in items.PERMUTATIONS]).astype(np.int16),
        "axis_of": (types >> 1).astype(np.int8), "target_of": (types & 1).astype(np.int8),
        "upper": np.array([sum(1 << f for f in range(8) if not f >> k & 1) for k in range(items.AXES)]),
    }  # fmt: skip
    record = np.zeros(1, [(name, table.dtype, table.shape) for name, table in tables.items()])
    for name, table in tables.items():
        record[name][0] = table
    return record


def _rename_map(maps: np.ndarray, permutation: tuple[int, ...]) -> np.ndarray:
    """Potion maps after axis k was renamed permutation[k]."""
    after = np.array(permutation)[np.array(items.PERMUTATIONS)[maps >> 3]]
    return 8 * _rank(after) + items.move_bits(maps & 7, permutation)


def _rank(perms: np.ndarray) -> np.ndarray:
    return (perms[..., None, :] == np.array(items.PERMUTATIONS)).all(-1).argmax(-1)


def _sources() -> np.ndarray:
    """The group that changes nothing: element 6 r + p renames axes by permutation p and colours as potion map r ^ 7 does."""
    perms, maps = np.array(items.PERMUTATIONS), np.arange(_MAPS)
    axis = perms[maps >> 3]  # [map, pair]
    source = np.empty((_GROUP, _MAPS), np.int16)
    for relabel in range(_MAPS):
        pairs = perms[relabel >> 3]
        flips = relabel >> pairs & 1  # of old pairs
        after = np.empty_like(axis)
        after[:, pairs] = axis
        relabelled = 8 * _rank(after) + ((maps & 7) ^ (flips << axis).sum(1))
        for number, p in enumerate(items.PERMUTATIONS):
            source[6 * relabel + number, _rename_map(relabelled, p)] = maps
    return source


@_jit
def _slot(states: np.ndarray, key: int) -> int:
    """Where a key is in a hash table, or the free slot where it belongs."""
    mask = len(states) - 1
    mixed = key * _HASH
    slot = (mixed ^ (mixed >> 32)) & mask
    while states[slot, KEY] != key and states[slot, KEY] != 0:
        slot = (slot + 1) & mask
    return slot


# ---- the search of both levels: best-first over actions, a threshold for each child


@_jit
def _choose(states: np.ndarray, stack: Any, depth: int) -> tuple[int, int]:
    """The open action with the largest upper bound, and that bound."""
    frame, top, pick = stack.frames[depth], LOWEST, -1
    for a in range(frame[ACTIONS]):
        if not frame[CLOSED] >> a & 1:
            bound = -frame[COST]
            for j in range(stack.count[depth, a]):
                bound += states[stack.kids[depth, a, j], HIGH]
            if bound > top:
                top, pick = bound, a
    return top, pick


@_jit
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


@_jit
def _enter(states: np.ndarray, stack: Any, depth: int, slot: int, threshold: int, actions: int, cost: int) -> None:
    """Begin a state's search; its actions' children are written already. Slot -1 is a question about one action, without a state."""
    frame = stack.frames[depth]
    frame[SLOT], frame[THRESHOLD], frame[FAILED], frame[CLOSED], frame[STAGE] = slot, threshold, LOWEST, 0, CHOOSE
    frame[BEST] = states[slot, LOW] if slot >= 0 else LOWEST
    frame[ACTIONS], frame[COST] = actions, cost


@_jit
def _visit(states: np.ndarray, stack: Any, depth: int) -> None:
    """Begin the children of the chosen action."""
    frame = stack.frames[depth]
    frame[VISITED], frame[STAGE], frame[TOTAL] = 0, VISIT, -frame[COST]
    for j in range(stack.count[depth, frame[PICK]]):
        stack.seen[depth, j] = states[stack.kids[depth, frame[PICK], j], HIGH]
        frame[TOTAL] += stack.seen[depth, j]


@_jit
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


@_jit
def _advance(states: np.ndarray, stack: Any, depth: int) -> int:
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


# ---- level 1: potion map and stone map known


@_jit
def _key_one(rules: np.ndarray, known: int, stones: int, counts: int) -> int:
    """The state's number, the same for all renamings of axes."""
    r = rules[0]
    least = (1 << 28) - 1
    for i in range(6):
        p = r.to_least[stones, i]
        if p < 0:
            break
        least = min(least, (np.int64(r.set_axes[p, known]) << 15) | np.int64(r.count_axes[counts, p]))
    return ((np.int64(r.least[stones]) << 28) | least) + 1


@_jit
def _bound_one(rules: np.ndarray, best: np.ndarray, key: int) -> int:
    """A friend reveals the graph: the oracle's values, weighted."""
    r = rules[0]
    known, stones, counts = ((key - 1) >> 15) & 0x1FFF, (key - 1) >> 28, (key - 1) & 0x7FFF
    row, weight = best[counts, stones], r.graph_weight[known]
    reward = uses = np.int32(0)
    for g in range(112):
        rewarded = np.int32(np.int32(row[g]) + np.int32(15)) >> np.int32(4)
        reward += np.int32(weight[g]) * rewarded
        uses += np.int32(weight[g]) * np.int32(np.int32(16) * rewarded - np.int32(row[g]))
    return SCALE * np.int64(reward) - np.int64(uses)


@_jit
def _find_one(rules: np.ndarray, work: np.ndarray, best: np.ndarray, one: np.ndarray, key: int) -> int:
    """Slot of a state; a new one is bounded by ending now and by the oracle."""
    slot = _slot(one, key)
    if one[slot, KEY] == key:
        return slot
    r, w = rules[0], work[0]
    if w.counters[FILLED_ONE] >= _LIMIT * len(one):
        raise MemoryError
    w.counters[FILLED_ONE] += 1
    known = ((key - 1) >> 15) & 0x1FFF
    one[slot, KEY] = key
    one[slot, HIGH] = _bound_one(rules, best, key)
    one[slot, LOW] = SCALE * np.int64(r.weight[known]) * r.single_worth[r.representative[(key - 1) >> 28]]
    if r.size[known] == 1:
        one[slot, LOW] = one[slot, HIGH]
    return slot


@_jit
def _expand_one(rules: np.ndarray, work: np.ndarray, best: np.ndarray, one: np.ndarray, slot: int, depth: int, threshold: int) -> None:
    """Write the children of a state's actions, and begin its search."""
    r, stack = rules[0], work[0].stack_one
    key = one[slot, KEY] - 1
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
            kids[0] = _find_one(rules, work, best, one, _key_one(rules, yes, np.int64(r.moved[stones, i, k]), left))
            stack.count[depth, actions] = 1
            if no >= 0:
                kids[1] = _find_one(rules, work, best, one, _key_one(rules, no, stones, left))
                stack.count[depth, actions] = 2
            actions += 1
    _enter(one, stack, depth, slot, threshold, actions, np.int64(r.weight[known]))


@_jit
def solve_one(rules: np.ndarray, work: np.ndarray, best: np.ndarray, one: np.ndarray, root: int) -> None:
    """Make a state's bounds equal: its value."""
    stack, depth = work[0].stack_one, 0
    if one[root, LOW] == one[root, HIGH]:
        return
    _expand_one(rules, work, best, one, root, depth, LOWEST)
    while depth >= 0:
        what = _advance(one, stack, depth)
        if what == FINISHED:
            depth -= 1
        elif what == CHOSEN:
            _visit(one, stack, depth)
        elif what == DESCEND:
            frame = stack.frames[depth]
            kid, limit = frame[KID], frame[NEED] - (frame[TOTAL] - frame[BOUND])
            if one[kid, LOW] != one[kid, HIGH] and one[kid, HIGH] > limit:
                depth += 1
                _expand_one(rules, work, best, one, kid, depth, limit)


# ---- level 2: beliefs


@_jit
def _canonical(rules: np.ndarray, work: np.ndarray, belief: np.ndarray) -> int:
    """Write a belief's canonical form into the work space; returns a group element that leads to it.

    Canonical is the lexicographically greatest of the images under the group: few entries are possible late in a trial, so that most images
    fall behind at the first one. Under the published rule the group is the identity.
    """
    r, w = rules[0], work[0]
    greatest = w.vectors[5]
    for j in range(_MAPS):
        greatest[j] = belief[j]
    by = 0
    for g in range(1, 1 if w.counters[PUBLISHED] else _GROUP):
        p = g % 6
        for j in range(_MAPS):
            image = r.set_axes[p, belief[r.source[g, j]]]
            if image < greatest[j]:
                break
            if image > greatest[j]:
                by = g
                for i in range(j, _MAPS):
                    greatest[i] = r.set_axes[p, belief[r.source[g, i]]]
                break
    return by


@_jit
def _intern(rules: np.ndarray, work: np.ndarray, mem: Memory, belief: np.ndarray, record: int) -> tuple[int, int]:
    """Number of a belief's canonical form, which is stored if it is new, and a group element that leads to it."""
    w = work[0]
    by = _canonical(rules, work, belief)
    form = w.vectors[5]
    mask, mixed = len(mem.slots) - 1, record
    for j in range(_MAPS):
        mixed = (mixed ^ np.int64(form[j] + 1)) * _HASH
        mixed ^= mixed >> 29
    slot = mixed & mask
    while mem.slots[slot] != 0:
        number = np.int64(mem.slots[slot]) - 1
        same = mem.about[number, RECORD] == record
        for j in range(_MAPS):
            same &= mem.beliefs[number, j] == form[j]
        if same:
            return number, by
        slot = (slot + 1) & mask
    _store(rules, work, mem, slot, record)
    return np.int64(mem.slots[slot]) - 1, by


@_jit
def _store(rules: np.ndarray, work: np.ndarray, mem: Memory, slot: int, record: int) -> None:
    """Store the belief in the work space, with its own symmetries."""
    r, w = rules[0], work[0]
    form, number, start = w.vectors[5], w.counters[BELIEFS], w.counters[SYMMETRIES]
    if number >= len(mem.beliefs) or start + _GROUP > len(mem.symmetries):
        raise MemoryError
    weight = 0
    for j in range(_MAPS):
        mem.beliefs[number, j] = form[j]
        if form[j] >= 0:
            weight += r.weight[form[j]]
    count = 0
    for g in range(1 if w.counters[PUBLISHED] else _GROUP):
        same = True
        for j in range(_MAPS):
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


@_jit
def outcomes(rules: np.ndarray, belief: np.ndarray, corner: int, colour: int, after: np.ndarray) -> None:
    """Beliefs after a colour met a stone at an aligned corner, into `after` [4, 48]: it did not move, it moved along axis 0, 1, 2."""
    r = rules[0]
    for m in range(_MAPS):
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


@_jit
def record_after(record: int, corner: int, colour: int, moved: bool, uncertain: bool) -> int:
    """What the published rule remembers beside the belief."""
    if moved:
        return record | (1 << (_SEEN + (colour >> 1)))
    return record | (1 << (corner * 6 + colour)) if uncertain else record


@_jit
def _intern_outcomes(
    rules: np.ndarray, work: np.ndarray, mem: Memory, belief: np.ndarray, record: int, corner: int, colour: int, row: np.ndarray
) -> None:
    """Write the beliefs after an action and the group elements that make them canonical, int32 [8]."""
    w = work[0]
    outcomes(rules, belief, corner, colour, w.vectors)
    possible = 0
    for o in range(4):
        for m in range(_MAPS):
            if w.vectors[o, m] >= 0:
                possible |= 1 << o
                break
    for o in range(4):
        row[o] = NONE
        if possible >> o & 1:
            after = record
            if w.counters[PUBLISHED]:
                after = record_after(record, corner, colour, o > 0, possible > 1)
            number, by = _intern(rules, work, mem, w.vectors[o], after)
            row[o], row[4 + o] = number, by


@_jit
def _transition(rules: np.ndarray, work: np.ndarray, mem: Memory, number: int, corner: int, colour: int) -> int:
    """Row of a canonical belief's outcomes, made when first asked for."""
    row = np.int64(mem.transition[number, corner * 6 + colour])
    if row == 0:
        w = work[0]
        row = w.counters[TRANSITIONS] + 1
        if row >= len(mem.rows):
            raise MemoryError
        _intern_outcomes(rules, work, mem, mem.beliefs[number], mem.about[number, RECORD], corner, colour, mem.rows[row])
        w.counters[TRANSITIONS] = row
        mem.transition[number, corner * 6 + colour] = row
    return row


# ---- level 2: states


@_jit
def _key_two(rules: np.ndarray, mem: Memory, number: int, by: int, maps: int, stones: int, counts: int) -> int:
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


@_jit
def _find_two(
    rules: np.ndarray, work: np.ndarray, best: np.ndarray, mem: Memory, number: int, by: int, maps: int, stones: int, counts: int
) -> int:
    """Slot of a state; a new one is bounded by ending now and by level 1 as far as it is known."""
    key = _key_two(rules, mem, number, by, maps, stones, counts)
    slot = _slot(mem.two, key)
    if mem.two[slot, KEY] != key:
        w = work[0]
        if w.counters[FILLED_TWO] >= _LIMIT * len(mem.two):
            raise MemoryError
        high = _level_one(rules, work, best, mem, key, np.int64(0))
        w.counters[FILLED_TWO] += 1
        state = mem.two[slot]
        state[KEY], state[HIGH], state[DONE] = key, high, 0
        state[LOW] = SCALE * mem.about[number, WEIGHT] * rules[0].worth[(key - 1) >> 23 & 0xFF, (key - 1) >> 15 & 0xFF]
    return slot


@_jit
def _keys_one(rules: np.ndarray, work: np.ndarray, belief: np.ndarray, key: int) -> int:
    """Write the level-1 states of all maps still possible; returns how many there are."""
    r, keys = rules[0], work[0].keys
    maps, stones, counts = (key - 1) >> 23 & 0xFF, (key - 1) >> 15 & 0xFF, (key - 1) & 0x7FFF
    n = 0
    for f in range(8):
        if not maps >> f & 1:
            continue
        latent = r.flipped[stones, f]
        kind = np.int64(r.least[latent]) << 28
        for m in range(_MAPS):
            if belief[m] < 0:
                continue
            least = (1 << 28) - 1
            for i in range(6):
                p = r.to_least[latent, i]
                if p < 0:
                    break
                image = 6 * f + p
                least = min(least, np.int64(r.set_image[image, belief[m]]) << 15 | np.int64(r.mapped[counts, r.map_image[image, m]]))
            keys[n] = (kind | least) + 1
            n += 1
    return n


@_jit
def _level_one(rules: np.ndarray, work: np.ndarray, best: np.ndarray, mem: Memory, key: int, solve: int) -> int:
    """Sum of level-1 upper bounds (or solved values) over the maps still possible: the value if a friend revealed both maps."""
    one, keys = mem.one, work[0].keys
    n = _keys_one(rules, work, mem.beliefs[(key - 1) >> 31], key)
    # Touch all slots first: the loads do not wait for one another.
    mask, touched = len(one) - 1, 0
    for i in range(n):
        mixed = keys[i] * _HASH
        touched ^= one[(mixed ^ (mixed >> 32)) & mask, KEY]
    total = touched & 0
    for i in range(n):
        slot = _find_one(rules, work, best, one, keys[i])
        if solve and one[slot, LOW] != one[slot, HIGH]:
            solve_one(rules, work, best, one, slot)
        total += one[slot, HIGH]
    return total


@_jit
def _refine(rules: np.ndarray, work: np.ndarray, best: np.ndarray, mem: Memory, slot: int) -> None:
    """Sharpen a state's upper bound by solving level 1; with nothing but the graph unknown that is its value."""
    state = mem.two[slot]
    state[HIGH] = min(state[HIGH], _level_one(rules, work, best, mem, state[KEY], np.int64(1)))
    state[DONE] = 1
    belief, possible = mem.beliefs[(state[KEY] - 1) >> 31], 0
    for m in range(_MAPS):
        possible += belief[m] >= 0
    if possible * rules[0].stone_maps[(state[KEY] - 1) >> 23 & 0xFF] == 1:
        state[LOW] = state[HIGH]


@_jit
def _children(
    rules: np.ndarray, work: np.ndarray, best: np.ndarray, mem: Memory,
    row: np.ndarray, maps: int, stones: int, left: int, stone: int, kids: np.ndarray,
) -> int:  # fmt: skip
    """Write the slots of an action's outcomes, given the beliefs after them and their group elements [8]; returns how many there are."""
    r = rules[0]
    n = 0
    for o in range(4):
        if row[o] < 0:
            continue
        after, by = np.int64(row[o]), np.int64(row[4 + o])
        if o == 0:
            kids[n] = _find_two(rules, work, best, mem, after, by, maps, stones, left)
            n += 1
            continue
        # The change of value shows on which side of the axis the better stones are.
        corner = np.int64(r.corners[stones, stone])
        up = r.upper[o - 1] ^ (255 if corner >> (o - 1) & 1 else 0)
        moved = np.int64(r.moved[stones, stone, o - 1])
        for side in range(2):
            then = maps & (up if side == 0 else 255 ^ up)
            if then:
                kids[n] = _find_two(rules, work, best, mem, after, by, then, moved, left)
                n += 1
    return n


@_jit
def _represented(rules: np.ndarray, work: np.ndarray, record: int, counts: int, colour: int) -> bool:
    """Whether the published rule leaves a colour out: one that it holds to be interchangeable comes earlier in the trial.

    Both pairs unidentified, equal own and partner's count, equal own record of no effect. It ignores the partner's record, which makes the
    published observer inexact.
    """
    have, order = rules[0].counts[counts], work[0].order
    if record >> (_SEEN + (colour >> 1)) & 1:
        return False
    for other in range(6):
        if order[other] >= order[colour] or record >> (_SEEN + (other >> 1)) & 1:
            continue
        same = have[other] == have[colour] and have[other ^ 1] == have[colour ^ 1]
        for corner in range(8):
            same &= (record >> (corner * 6 + other) & 1) == (record >> (corner * 6 + colour) & 1)
        if same:
            return True
    return False


@_jit
def _expand_two(rules: np.ndarray, work: np.ndarray, best: np.ndarray, mem: Memory, slot: int, depth: int, threshold: int) -> None:
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
            row = mem.rows[_transition(rules, work, mem, number, corner, colour)]
            if row[1] < 0 and row[2] < 0 and row[3] < 0:
                continue
            n = _children(rules, work, best, mem, row, maps, stones, left, stone, stack.kids[depth, actions])
            stack.count[depth, actions] = n
            actions += 1
    _enter(mem.two, stack, depth, slot, threshold, actions, r.stone_maps[maps] * mem.about[number, WEIGHT])


@_jit
def _is_open(rules: np.ndarray, work: np.ndarray, best: np.ndarray, mem: Memory, slot: int, threshold: int) -> bool:
    """Whether a state must be searched to tell its value from the threshold; its upper bound is refined first."""
    state = mem.two[slot]
    if state[LOW] != state[HIGH] and state[HIGH] > threshold and not state[DONE]:
        _refine(rules, work, best, mem, slot)
    return state[LOW] != state[HIGH] and state[HIGH] > threshold


@_jit
def _refine_children(rules: np.ndarray, work: np.ndarray, best: np.ndarray, mem: Memory, depth: int) -> bool:
    """Refine the chosen action's children; whether there was anything to do."""
    stack = work[0].stack_two
    refined, pick = False, stack.frames[depth, PICK]
    for j in range(stack.count[depth, pick]):
        state = mem.two[stack.kids[depth, pick, j]]
        if state[LOW] != state[HIGH] and not state[DONE]:
            _refine(rules, work, best, mem, stack.kids[depth, pick, j])
            refined = True
    return refined


@_jit
def _solve(rules: np.ndarray, work: np.ndarray, best: np.ndarray, mem: Memory) -> None:
    """Finish the search that was begun at depth 0."""
    stack, depth = work[0].stack_two, 0
    while depth >= 0:
        what = _advance(mem.two, stack, depth)
        if what == FINISHED:
            depth -= 1
        elif what == CHOSEN:
            # With sharper bounds another action may be the best.
            if not _refine_children(rules, work, best, mem, depth):
                _visit(mem.two, stack, depth)
        elif what == DESCEND:
            frame = stack.frames[depth]
            kid, limit = frame[KID], frame[NEED] - (frame[TOTAL] - frame[BOUND])
            if _is_open(rules, work, best, mem, kid, limit):
                depth += 1
                _expand_two(rules, work, best, mem, kid, depth, limit)


@_jit
def value(
    rules: np.ndarray, work: np.ndarray, best: np.ndarray, mem: Memory, belief: np.ndarray, record: int, maps: int, stones: int, counts: int
) -> int:
    """Value of any situation: a belief [48] and its record, stone maps, stones and potions as they are seen."""
    number, by = _intern(rules, work, mem, belief, record)
    slot = _find_two(rules, work, best, mem, number, by, maps, stones, counts)
    if _is_open(rules, work, best, mem, slot, LOWEST):
        _expand_two(rules, work, best, mem, slot, 0, LOWEST)
        _solve(rules, work, best, mem)
    return mem.two[slot, HIGH]


@_jit
def action_value(
    rules: np.ndarray, work: np.ndarray, best: np.ndarray, mem: Memory,
    belief: np.ndarray, record: int, maps: int, stones: int, counts: int, stone: int, colour: int, threshold: int,
) -> int:  # fmt: skip
    """Value of using a colour on a stone of the multiset if it is more than the threshold, else an upper bound that is not."""
    r, stack = rules[0], work[0].stack_two
    row = np.empty(8, np.int32)
    _intern_outcomes(rules, work, mem, belief, record, np.int64(r.corners[stones, stone]), colour, row)
    left = np.int64(r.less[counts, colour])
    stack.count[0, 0] = _children(rules, work, best, mem, row, maps, stones, left, stone, stack.kids[0, 0])
    weight = 0
    for m in range(_MAPS):
        if belief[m] >= 0:
            weight += r.weight[belief[m]]
    _enter(mem.two, stack, 0, -1, threshold, 1, r.stone_maps[maps] * weight)
    _solve(rules, work, best, mem)
    frame = stack.frames[0]
    return frame[BEST] if frame[BEST] > threshold else frame[FAILED]
