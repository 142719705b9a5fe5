"""The census: every behaviour of programs up to a length, with a shortest program of it and how many programs behave so.

Programs are linear (see `compiled`), so behaviours are counted instead of programs, length by length. What a program computes so far
is four bit masks over the cells of `pointer`, where its pointer stands is one of few states, and one more instruction changes
these by table look-up; programs that agree in both have the same future, so they are merged and only their number is kept.
The two constants commute with everything: they are left out of the count and put back by binomial coefficients.

Everything is exact: merging sorts by a hash, but rows are merged only after their masks have been compared.
Axes: C behaviours, L instructions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import comb
from typing import NamedTuple

import jax
import numpy as np

from jaxdiff.automata import pointer
from jaxdiff.automata.opcodes import BACK, FWD, U_MODULUS, UADD1, UADDM, V_MODULUS, VADD1, VADDM
from jaxdiff.core.errors import require

# Longer programs have more cells than one word has bits; they would not fit in any memory either.
LONGEST = 18
CORE = (BACK, FWD, VADDM, UADDM)
Progress = Callable[[int, int], None]


@partial(jax.tree_util.register_dataclass, data_fields=["programs", "length", "counts"], meta_fields=[])
@dataclass(frozen=True)
class Census:
    """All behaviours of programs of at most `longest` instructions, by ascending length of their shortest program.

    Attributes:
        programs: a shortest program of each behaviour, int8 [C, longest], padded with -1.
        length: its length, int64 [C].
        counts: how many programs of each length 0..longest behave so, int64 [C, longest + 1].
    """

    programs: np.ndarray
    length: np.ndarray
    counts: np.ndarray

    @property
    def count(self) -> np.ndarray:
        """How many programs behave so, int64 [C]."""
        return self.counts.sum(1)

    def by_uniform_length(self, first: int = 1) -> np.ndarray:
        """Probability of each behaviour when a program's length is uniform in first..longest and its instructions are uniform, [C].

        This is the paper's population (section 5.2).
        """
        lengths = np.arange(first, self.counts.shape[1])
        require(first >= 0 and len(lengths) > 0, "first", first, f"0..{self.counts.shape[1] - 1}")
        return (self.counts[:, first:] / 6.0**lengths).mean(1)

    def by_coding_theorem(self) -> np.ndarray:
        """Probability of each behaviour when after every instruction the program ends with probability 1/2, given that it fits, [C].

        A behaviour that many short programs have is likely: the coding-theorem estimate of 2^-K.
        """
        weight = (self.counts / 6.0 ** np.arange(self.counts.shape[1]) * 0.5 ** np.arange(1, self.counts.shape[1] + 1)).sum(1)
        return weight / weight.sum()


def census(longest: int, observed: int = 3, progress: Progress | None = None) -> Census:
    """Count the behaviours of all programs of at most `longest` instructions.

    Args:
        longest: 0..18. 467,132 behaviours at 12, 3,752,670 at 14, 2.8 times as many for each instruction more.
        observed: bits appended to the history at each step, 2 or 3 (the paper's).
        progress: called with (lengths done, lengths in all).

    Raises:
        InputError: a length out of range (with the size it would have), or another number of observed bits.
    """
    allowed = f"0..{LONGEST} instructions"
    if isinstance(longest, int | np.integer) and longest > LONGEST:
        allowed += f"; {longest} would have about {expected(int(longest)):.0e} behaviours"
    require(isinstance(longest, int | np.integer) and 0 <= longest <= LONGEST, "longest", longest, allowed)
    require(observed in (2, 3), "observed", observed, "2 or 3 bits a step")
    levels = [_start()]
    for length in range(1, longest + 1):
        levels.append(_extend(levels[-1], longest, observed))
        if progress is not None:
            progress(length, longest)
    return _with_constants(*_cores(levels), longest)


def expected(longest: int) -> float:
    """Behaviours of programs of at most `longest` instructions, extrapolated from 3,752,670 at 14: 2.8 times for each one more."""
    return 3_752_670 * 2.8 ** (longest - 14)


class _Masks(NamedTuple):
    """Coefficients of V (a = 1, a = 2) and of U (low and high bit of b), a bit a cell, uint64 [rows]."""

    a1: np.ndarray
    a2: np.ndarray
    b1: np.ndarray
    b2: np.ndarray


class _Level(NamedTuple):
    """Programs of one length without constants, merged: masks, state of the pointer int32, number of programs int64, [rows].

    The first program of each row came from row `parent` of the level before by instruction `op`.
    """

    masks: _Masks
    state: np.ndarray
    number: np.ndarray
    parent: np.ndarray
    op: np.ndarray


def _start() -> _Level:
    zero = np.zeros(1, np.uint64)
    return _Level(_Masks(zero, zero, zero, zero), np.zeros(1, np.int32), np.ones(1, np.int64), np.zeros(1, np.int32), np.zeros(1, np.int8))


def _extend(level: _Level, longest: int, observed: int) -> _Level:
    """All programs of one more instruction, merged."""
    graph = pointer.graph(max(longest, 1), observed)
    cells = np.zeros(len(graph.cells), np.uint64)
    for column in graph.cells.T:
        cells |= np.uint64(1) << column.astype(np.uint64)
    after = np.array(graph.next, np.int32)
    a1, a2, b1, b2 = level.masks
    here = cells[level.state]
    added_v = _Masks((a1 & ~here) | (here & ~a1 & ~a2), (a2 & ~here) | (here & a1), b1, b2)
    added_u = _Masks(a1, a2, b1 ^ here, b2 ^ (here & b1))
    children = (level.masks, level.masks, added_v, added_u)
    masks = _Masks(*(np.concatenate(columns) for columns in zip(*children, strict=True)))
    state = np.concatenate([after[level.state, 0], after[level.state, 1], level.state, level.state])
    rows = len(level.state)
    order, starts = _groups(masks, state)
    first = order[starts]
    return _Level(
        _Masks(*(m[first] for m in masks)),
        state[first],
        np.add.reduceat(np.tile(level.number, 4)[order], starts),
        (first % rows).astype(np.int32),
        np.array(CORE, np.int8)[first // rows],
    )


def _groups(masks: _Masks, state: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """An order that brings equal rows together (the earlier one first), and where each group of equal rows starts in it."""
    for seed in range(16):
        key = _hash(masks, state, seed)
        order = np.argsort(key, kind="stable")
        key = key[order]
        same = key[1:] == key[:-1]
        equal = np.ones_like(same)
        for column in (*masks, state):
            sorted_column = column[order]
            equal &= sorted_column[1:] == sorted_column[:-1]
        if (equal == same).all():  # no two different rows share a hash
            return order, np.flatnonzero(np.concatenate([[True], ~same]))
    raise AssertionError("sixteen hash functions in a row collided")


def _hash(masks: _Masks, state: np.ndarray, seed: int) -> np.ndarray:
    """A 64-bit hash of rows (multiply, xor and shift); two seeds are two functions."""
    key = np.full(len(state), 0x9E3779B97F4A7C15 + seed, np.uint64)
    for number, column in enumerate((*masks, state.astype(np.uint64))):
        key = (key ^ column) * np.uint64(0xBF58476D1CE4E5B9 + 2 * (seed * 8 + number))
        key ^= key >> np.uint64(29)
        key *= np.uint64(0x94D049BB133111EB)
        key ^= key >> np.uint64(32)
    return key


def _cores(levels: list[_Level]) -> tuple[np.ndarray, np.ndarray]:
    """Behaviours without constants: a shortest program of each, int8 [C, L], and how many programs of each length have it [C, L + 1]."""
    masks = _Masks(*(np.concatenate(columns) for columns in zip(*(level.masks for level in levels), strict=True)))
    length = np.repeat(np.arange(len(levels)), [len(level.state) for level in levels])
    row = np.concatenate([np.arange(len(level.state)) for level in levels])
    count = np.concatenate([level.number for level in levels])
    order, starts = _groups(masks, np.zeros(len(row), np.int32))
    group = np.zeros(len(order), np.int64)
    group[starts[1:]] = 1
    group = np.cumsum(group)
    counts = np.zeros((len(starts), len(levels)), np.int64)
    np.add.at(counts, (group, length[order]), count[order])
    first = order[starts]  # rows stand by ascending length, so this is a shortest program
    by_length = np.argsort(length[first], kind="stable")
    first = first[by_length]
    return _programs(levels, length[first], row[first]), counts[by_length]


def _programs(levels: list[_Level], length: np.ndarray, row: np.ndarray) -> np.ndarray:
    """The programs that first led to rows of levels, int8 [rows, L], read from the end backwards."""
    programs = np.full((len(row), max(len(levels) - 1, 1)), -1, np.int8)
    row = row.copy()
    for at in range(len(levels) - 1, 0, -1):
        mine = np.flatnonzero(length >= at)
        programs[mine, at - 1] = levels[at].op[row[mine]]
        row[mine] = levels[at].parent[row[mine]]
    return programs


def _with_constants(programs: np.ndarray, counts: np.ndarray, longest: int) -> Census:
    """Put Vadd1 and Uadd1 back: v0 and u0 of them in front of the program, and everywhere in every order in the counts."""
    core_length = (programs >= 0).sum(1)
    parts = []
    for v0 in range(V_MODULUS):
        for u0 in range(U_MODULUS):
            fits = core_length + v0 + u0 <= longest
            if not fits.any():
                continue
            spread = np.zeros((longest + 1, longest + 1), np.int64)  # programs of a length from cores of a length
            for whole in range(longest + 1):
                for i in range(v0, whole + 1, V_MODULUS):
                    for k in range(u0, whole - i + 1, U_MODULUS):
                        spread[whole, whole - i - k] += comb(whole, i) * comb(whole - i, k)
            mine = programs[fits]
            front = np.tile(np.array([VADD1] * v0 + [UADD1] * u0, np.int8), (len(mine), 1))
            whole_programs = np.concatenate([front, mine], 1)[:, : max(longest, 1)]
            parts.append((whole_programs, core_length[fits] + v0 + u0, counts[fits] @ spread.T))
    joined, length, total = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    order = np.argsort(length, kind="stable")
    return Census(joined[order], length[order], total[order])
