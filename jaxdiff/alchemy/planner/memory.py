"""What a planner keeps from one question to the next, and where it works: tables in huge pages, and their sizes."""

from __future__ import annotations

import contextlib
import mmap
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from jaxdiff.alchemy import items
from jaxdiff.core.errors import InputError

FILLED_ONE, FILLED_TWO, BELIEFS, TRANSITIONS, SYMMETRIES, PUBLISHED = range(6)  # counters; the last is the published rule's switch
FULL = 0.8  # of a hash table's slots may be filled
MAPS = items.MAPS


class Memory(NamedTuple):
    """What a planner keeps; all of it grows. B beliefs.

    Attributes:
        one: states of level 1, a hash table int32 [slots, 4].
        two: states of level 2, a hash table int64 [slots, 4].
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
        """What a memory of these sizes takes at most."""
        return 16 * self.one + 32 * self.two + self.beliefs * (96 + 32 + 16 + 64 + 192) + 32 * self.transitions


SMALL = Sizes(1 << 20, 1 << 18, 1 << 15, 1 << 17)
SMALLER = (
    f"smaller ones, for example Planner(sizes=SMALL) ({SMALL.bytes / 2**30:.1f} GiB; they grow where a trial needs more), or fewer workers"
)


def memory(sizes: Sizes) -> Memory:
    """An empty memory."""
    room = sizes.beliefs
    shapes = {
        "one": ((sizes.one, 4), np.int32), "two": ((sizes.two, 4), np.int64), "beliefs": ((room, MAPS), np.int16),
        "about": ((room, 4), np.int64), "slots": ((4 * room,), np.int32), "symmetries": ((32 * room,), np.int16),
        "transition": ((room, 48), np.int32), "rows": ((sizes.transitions, 8), np.int32),
    }  # fmt: skip
    return Memory(**{name: _zeros(shape, dtype) for name, (shape, dtype) in shapes.items()})


def _zeros(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """Zeros, in huge pages where the system has them: tables are read at random, which is slow in small ones."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    if not hasattr(mmap, "MADV_HUGEPAGE"):
        return np.zeros(shape, dtype)
    try:
        room = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except OSError as error:
        raise InputError("sizes", f"a table of {size / 2**30:.1f} GiB, more than the system gives", SMALLER) from error
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
    # The file's own pages are not needed any more; who asks for them gets them again.
    if isinstance(mapped, np.memmap) and hasattr(mmap, "MADV_DONTNEED"):
        mapped._mmap.madvise(mmap.MADV_DONTNEED)  # pyright: ignore[reportAttributeAccessIssue]
    return copy


def work() -> np.ndarray:
    """A planner's work space, a record: counters, colours' order of appearance, the stacks of both levels, keys and beliefs."""
    depth = items.POTIONS + 2
    stack = [
        ("frames", np.int64, (depth, 14)),  # where each search stands, columns as named in `search`
        ("kids", np.int64, (depth, 18, 7)),  # slots of children, by action and outcome
        ("count", np.int64, (depth, 18)),  # how many outcomes an action has
        ("seen", np.int64, (depth, 7)),  # children's bounds as they were summed
        ("bounds", np.int64, (depth, 18)),  # actions' bounds as they were summed last
    ]
    record = [
        ("counters", np.int64, (6,)), ("order", np.int64, (6,)), ("keys", np.int64, (384,)), ("places", np.int64, (384,)),
        ("vectors", np.int16, (6, MAPS)), ("touched", np.int64), ("asked", np.int64), ("stamp", np.int64),
        ("stack_one", stack), ("stack_two", stack),
    ]  # fmt: skip
    return np.zeros(1, record)
