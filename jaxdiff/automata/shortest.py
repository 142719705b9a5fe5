"""Shortest APL programs: the fewest instructions that behave the same for ever.

The pointer never looks at data, so a program is a walk with reads along it and computes one linear
form mod 3 (V) and one mod 4 (U) for each history length; a best-first search finds the best walk.

The language (paper, Definition 6).  Opcodes 0..5 are back, fwd, Vaddm, Vadd1, Uaddm, Uadd1; -1 pads
at the end.  The history has n = 3, 6, 9, ... bits h_j, three more each step
(two where the observation has two bits), where j counts from the
end; the pointer starts at j = 0 and is clamped to 0..n-1.  So V = v0 + sum_j a[n, j] h_j (mod 3) and
U = u0 + sum_j b[n, j] h_j (mod 4), and two programs behave the same for ever iff v0, u0 and all
a[n, :], b[n, :] agree.  A program of at most L instructions never meets the clamp when n >= L: the
histories n = 3, 6, ... < L and one unclamped history are all there is to compare.

The search.  A *state* is the vector of offsets that the pointer has in all those histories at once.
Reads commute, so a program is a walk over states, x[s] Vaddm and y[s] Uaddm in each visited state s,
v0 Vadd1 and u0 Uadd1.  With the minimal 0 <= x <= 2 and 0 <= y <= 3 its length is
moves + sum x + sum y + v0 + u0, and it behaves as asked iff for every *cell* (n, j)

    sum of x[s] over the states s with s[n] = j  is  a[n, j] (mod 3),  likewise y and b (mod 4).

Why the result is exact:

- For each n the reads of V add up to sum_j a[n, j] plus a multiple of 3, so their number is
  A + 3i with A = max_n sum_j a[n, j] and i >= 0; likewise B + 4k for U.  The lengths v0 + u0 + A + B +
  (moves + 3i + 4k) are tried in increasing order, each with every (i, k): the first hit is shortest.
- Given i, a read in a cell with a[n, j] = 0 takes 3 reads there in all; where history n has no
  such surplus the state is not *readable*, and only readable states matter in a walk.
- A walk must read in each cell with a nonzero coefficient, and must tell apart any two cells with
  different coefficients (visit a readable state that lies in exactly one of them).  These are
  *demands*, sets of states of which one must be visited; the distance to the farthest unmet
  demand never overestimates the moves to come, and falls by at most 1 a move.
- A walk is dropped only for another one that ends in the same state after no more moves and
  has visited every readable state that it has: each continuation of the former serves the latter.
- Once all demands are met the reads are found by a complete search (propagation, then branching
  over all residues), so no property of the 0/1 matrix is assumed, in Z_3 or in Z_4.

Everything depends on the forms alone, in a fixed order, with the histories of MAX_LENGTH: equal
behaviour gives equal programs, whatever the padding of the input.

Axis letters: P programs, L instructions, C cells (n, j), S states, F columns of a form.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jaxdiff.automata import opcodes, pointer
from jaxdiff.automata.opcodes import BACK, FWD, U_MODULUS, UADD1, UADDM, V_MODULUS, VADD1, VADDM
from jaxdiff.core.errors import InputError

__all__ = ("MAX_LENGTH", "forms", "same_behaviour", "shortest")

MAX_LENGTH = 30  # instructions; a walk then has at most 29 moves before its last read


# --- public functions ---------------------------------------------------------------------------


def forms(programs: ArrayLike, length: int | None = None, observed: int = 3) -> NDArray[np.int8]:
    """Return one canonical row per program: equal rows iff the same behaviour for ever.

    Args:
        programs: int [P, L], opcodes 0..5, padded at the end with -1.
        length: rows are comparable between calls with the same `length`, which must be at least
            the number of instructions of the longest program and at most 30. Default: L, at most 30.
        observed: bits appended to the history at each step, 2 or 3; the paper's 3 by default.

    Returns:
        int8 [P, F]: v0, u0, then a[n, j] for the histories n = 3, 6, ... < length and for the
        unclamped history (offsets j < length), then b[n, j] likewise.

    Raises:
        InputError: programs is not an int [P, L] array of padded opcodes with at most 30
            instructions a row, or length is too small or too large.
    """
    checked = _checked(programs, "programs")
    longest = checked.shape[1]
    common = min(np.shape(programs)[1], MAX_LENGTH) if length is None else length
    if not longest <= common <= MAX_LENGTH:
        raise InputError("length", length, f"{longest} (the longest program) to {MAX_LENGTH}")
    return _forms(checked, common, _checked_bits(observed))


def same_behaviour(a: ArrayLike, b: ArrayLike, observed: int = 3) -> NDArray[np.bool_]:
    """Tell for each pair of programs whether they behave the same for ever.

    Args:
        a: int [P, L], opcodes 0..5, padded at the end with -1.
        b: int [P, L'], likewise; L' may differ from L.
        observed: bits appended to the history at each step, 2 or 3.

    Returns:
        bool [P].

    Raises:
        InputError: a or b is not a padded program array of at most 30 instructions a row, or they
            differ in P.
    """
    left, right = _checked(a, "a"), _checked(b, "b")
    if len(left) != len(right):
        raise InputError("b", f"{len(right)} programs", f"as many programs as in a, {len(left)}")
    length = max(left.shape[1], right.shape[1])
    observed = _checked_bits(observed)
    return (_forms(left, length, observed) == _forms(right, length, observed)).all(axis=1)


def shortest(programs: ArrayLike, observed: int = 3) -> NDArray[np.int8]:
    """Return for each program a shortest program that behaves the same for ever.

    Two rows of equal behaviour give the same row, whatever their lengths: the result is canonical.
    This is the exact form of the simplifier in section 5.2 of the paper. Each behaviour is solved
    once; most take a fraction of a millisecond, but the search is exponential in the worst case
    and a few programs of 30 instructions take seconds.

    Args:
        programs: int [P, L], opcodes 0..5, padded at the end with -1.
        observed: bits appended to the history at each step, 2 or 3.

    Returns:
        int8 [P, L], opcodes 0..5, padded at the end with -1.

    Raises:
        InputError: programs is not a padded program array of at most 30 instructions a row.
    """
    checked = _checked(programs, "programs")
    observed = _checked_bits(observed)
    rows = _forms(checked, checked.shape[1], observed)
    # One opaque item a row: np.unique then compares bytes, many times faster than axis=0.
    keys = rows.view(f"V{rows.shape[1]}").ravel()
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    solved = np.full((len(first), np.shape(programs)[1]), -1, np.int8)
    for row, form in zip(solved, _forms(checked[first], MAX_LENGTH, observed), strict=True):
        program = _solve(form, observed)
        row[: len(program)] = program
    return solved[inverse]


# --- programs as linear forms -------------------------------------------------------------------


def _checked(programs: ArrayLike, argument: str) -> NDArray[np.int8]:
    """Return programs as int8 [P, longest], without columns of padding only; refuse bad input."""
    array = np.asarray(programs)
    if array.ndim != 2:
        raise InputError(argument, f"an array of shape {array.shape}", "an integer array [P, L]")
    return opcodes.checked(array, MAX_LENGTH, argument)


def _checked_bits(observed: int) -> int:
    """Return the bits of an observation; refuse what no world shows."""
    if observed not in (2, 3):
        raise InputError("observed", observed, "2 or 3 bits a step")
    return int(observed)


def _forms(programs: NDArray[np.int8], length: int, observed: int) -> NDArray[np.int8]:
    """Interpret checked programs in all histories at once: `forms` without the checks."""
    sizes, first_cell = (np.array(x) for x in pointer.histories(length, observed))
    rows = np.arange(len(programs))[:, None]
    offset = np.zeros((len(programs), len(sizes)), np.int64)
    constant = np.zeros((len(programs), 2), np.int8)
    v, u = np.zeros((2, len(programs), sizes.sum()), np.int8)
    for opcode in programs.T[:, :, None]:
        offset = np.clip(offset + (opcode == BACK) - (opcode == FWD), 0, sizes - 1)
        v[rows, first_cell + offset] += opcode == VADDM
        u[rows, first_cell + offset] += opcode == UADDM
        constant += opcode == (VADD1, UADD1)
    constant %= (V_MODULUS, U_MODULUS)
    return np.concatenate([constant, v % V_MODULUS, u % U_MODULUS], axis=1)


# --- the graph of pointer states ----------------------------------------------------------------


class _Graph(NamedTuple):
    """All states within 29 moves of the start (state 0). Sets of states are Python ints, bit s."""

    cells: NDArray[np.int64]  # [S, histories]: the cell of each state in each history
    next: list[tuple[int, int]]  # [S]: the states after back and after fwd
    distance: NDArray[np.uint8]  # [S, S]: moves to the row's state from the column's
    visitors: list[int]  # [C]: the set of states that lie in a cell


@cache
def _graph(observed: int) -> _Graph:
    graph = pointer.graph(MAX_LENGTH, observed)
    visitors = [0] * graph.size
    for state, row in enumerate(graph.cells.tolist()):
        for cell in row:
            visitors[cell] |= 1 << state
    return _Graph(graph.cells, graph.next, _distances(np.array(graph.next)), visitors)


def _distances(edges: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Return the moves to each state (row) from each state (column), by relaxation; 99 where too far."""
    distance = np.full((len(edges), len(edges)), 99, np.uint8)
    np.fill_diagonal(distance, 0)
    while True:
        step = np.minimum(distance[:, edges[:, 0]], distance[:, edges[:, 1]]) + np.uint8(1)
        relaxed = np.minimum(distance, step)
        if np.array_equal(relaxed, distance):
            return distance
        distance = relaxed


class _Demand(NamedTuple):
    """A set of states of which a walk must visit at least one."""

    states: int
    distance: bytes  # [S]: moves from each state to the nearest of them, or fewer


class _Separators(NamedTuple):
    """The demands of telling cell (n, j) from (n', j), for neighbouring histories n < n'."""

    left: NDArray[np.int64]
    right: NDArray[np.int64]
    demands: list[_Demand]


@cache
def _separators(observed: int) -> _Separators:
    graph = _graph(observed)
    sizes, first_cell = pointer.histories(MAX_LENGTH, observed)
    pairs, demands = [], []
    for size, here, after in zip(sizes[:-1], first_cell[:-1], first_cell[1:], strict=True):
        for j in range(size):
            states = graph.visitors[here + j] ^ graph.visitors[after + j]
            pairs.append((here + j, after + j))
            demands.append(_Demand(states, _nearest(states, observed)))
    left, right = np.array(pairs).T
    return _Separators(left, right, demands)


@lru_cache(maxsize=1 << 14)
def _nearest(states: int, observed: int) -> bytes:
    """Return for every state the number of moves to the nearest member of a set of states."""
    return _graph(observed).distance[list(_members(states))].min(axis=0, initial=99).tobytes()


def _members(states: int) -> Iterator[int]:
    """Iterate over a set of states in increasing order."""
    while states:
        lowest = states & -states
        yield lowest.bit_length() - 1
        states ^= lowest


# --- one register: how many reads, where, and which ---------------------------------------------


class _Register(NamedTuple):
    """What V or U must compute with a given number of reads."""

    modulus: int
    coefficients: NDArray[np.int8]  # [C]
    reads: int
    readable: int  # set of states
    observed: int

    @classmethod
    def make(cls, modulus: int, coefficients: NDArray[np.int8], surplus: int, observed: int) -> _Register:
        """Ask for the fewest conceivable reads plus `surplus` times the modulus."""
        _, first_cell = pointer.histories(MAX_LENGTH, observed)
        least = np.add.reduceat(coefficients, first_cell, dtype=np.int64)
        reads = int(least.max()) + surplus * modulus
        # Reads in a cell of coefficient 0 come in multiples of the modulus: is there room for them?
        fits = (coefficients[_graph(observed).cells] != 0) | (reads - least >= modulus)
        bits = np.packbits(fits.all(axis=1) & (reads > 0), bitorder="little")
        return cls(modulus, coefficients, reads, int.from_bytes(bits.tobytes(), "little"), observed)

    def needs(self) -> set[int]:
        """Return the sets of states of which one must be read: one a nonzero coefficient."""
        visitors = _graph(self.observed).visitors
        return {self.readable & visitors[cell] for cell in np.flatnonzero(self.coefficients)}

    def assign(self, visited: int) -> dict[int, int] | None:
        """Return reads per visited state that give the coefficients, or None if there are none."""
        visited &= self.readable
        sums: dict[int, int] = {}  # set of states -> what their reads must sum to
        for visitors, coefficient in zip(_graph(self.observed).visitors, self.coefficients.tolist(), strict=True):
            states = visitors & visited
            if sums.setdefault(states, coefficient) != coefficient:
                return None
        return _reads(sums, self.modulus, self.reads) if not sums.pop(0, 0) else None


def _reads(sums: dict[int, int], modulus: int, budget: int) -> dict[int, int] | None:
    """Solve: for every set in `sums` its reads sum to the given residue; at most `budget` reads.

    Complete: sets of one state are read off and substituted; then the least state of a
    smallest set takes every residue in turn. Returns the first solution in that order.
    """
    known = {states: value for states, value in sums.items() if states.bit_count() == 1}
    budget -= sum(known.values())
    if budget < 0:
        return None
    if not known:
        if not sums:
            return {}
        smallest = min(sums, key=lambda states: (states.bit_count(), states))
        guesses = ({**sums, smallest & -smallest: value} for value in range(modulus))
        solutions = (_reads(guess, modulus, budget) for guess in guesses)
        return next((solution for solution in solutions if solution is not None), None)
    fixed = sum(known)
    rest: dict[int, int] = {}
    for states, value in sums.items():
        taken = sum(known[1 << state] for state in _members(states & fixed))
        value = (value - taken) % modulus
        if rest.setdefault(states & ~fixed, value) != value:
            return None
    if rest.pop(0, 0):
        return None
    solution = _reads(rest, modulus, budget)
    if solution is None:
        return None
    return solution | {states.bit_length() - 1: value for states, value in known.items()}


# --- the search over walks ----------------------------------------------------------------------


class _Walk(NamedTuple):
    """A walk from the start, as a linked list."""

    moves: int
    state: int
    visited: int  # readable states only
    unmet: list[_Demand]
    before: _Walk | None


class _Search:
    """Best-first search for the walks that serve both registers, by increasing number of moves."""

    def __init__(self, v: _Register, u: _Register) -> None:
        self.v, self.u = v, u
        self.observed = v.observed
        self.readable = v.readable | u.readable
        self.queue: dict[int, list[_Walk]] = {}  # by the least number of moves of the whole walk
        self.seen: dict[int, list[tuple[int, int]]] = {}  # state -> (moves, visited)
        demands = self._demands()
        if all(demand.states for demand in demands):
            self._push(None, 0, demands, 0)

    def _demands(self) -> list[_Demand]:
        """Return what a walk must visit, without the demands that others imply."""
        needs: list[int] = []
        for states in sorted(self.v.needs() | self.u.needs(), key=lambda s: (s.bit_count(), s)):
            if not any(other & ~states == 0 for other in needs):
                needs.append(states)
        left, right, separators = _separators(self.observed)
        apart = np.zeros(len(left), bool)
        for coefficients in (self.v.coefficients, self.u.coefficients):
            apart |= coefficients[left] != coefficients[right]
        return [_Demand(states, _nearest(states, self.observed)) for states in needs] + [
            _Demand(separators[i].states & self.readable, separators[i].distance) for i in np.flatnonzero(apart)
        ]

    def _push(self, before: _Walk | None, state: int, unmet: list[_Demand], least: int) -> None:
        moves = before.moves + 1 if before else 0
        visited = (before.visited if before else 0) | (1 << state & self.readable)
        unmet = [demand for demand in unmet if not demand.states & visited]
        to_come = max((demand.distance[state] for demand in unmet), default=0)
        walk = _Walk(moves, state, visited, unmet, before)
        self.queue.setdefault(max(least, moves + to_come), []).append(walk)

    def _dominated(self, walk: _Walk) -> bool:
        seen = self.seen.setdefault(walk.state, [])
        for moves, visited in seen:
            if moves <= walk.moves and not walk.visited & ~visited:
                return True
        seen.append((walk.moves, walk.visited))
        return False

    def with_moves(self, moves: int) -> list[int] | None:
        """Return a program of exactly `moves` moves without its constants, or None.

        To be called with moves = 0, 1, 2, ...; the first program found has the fewest moves.
        """
        for walk in self.queue.setdefault(moves, []):  # grows while it runs
            if self._dominated(walk):
                continue
            if not walk.unmet:
                x = self.v.assign(walk.visited)
                y = None if x is None else self.u.assign(walk.visited)
                if x is not None and y is not None:
                    return _program(walk, x, y, _graph(self.observed))
            for state in _graph(self.observed).next[walk.state]:
                if state != walk.state:
                    self._push(walk, state, walk.unmet, moves)
        del self.queue[moves]
        return None


def _program(walk: _Walk, x: dict[int, int], y: dict[int, int], graph: _Graph) -> list[int]:
    """Write a walk with its reads as opcodes: each state is read when it is first visited."""
    states = [walk.state]
    while walk.before is not None:
        walk = walk.before
        states.append(walk.state)
    states.reverse()
    program: list[int] = []
    for i, state in enumerate(states):
        if i:
            program.append(graph.next[states[i - 1]].index(state))
        program += [VADDM] * x.pop(state, 0) + [UADDM] * y.pop(state, 0)
    return program


def _solve(form: NDArray[np.int8], observed: int) -> list[int]:
    """Return the canonical shortest program of one row of `forms` at MAX_LENGTH."""
    v0, u0 = form[:2].tolist()
    a, b = form[2:].reshape(2, -1)
    searches: dict[tuple[int, int], _Search] = {}
    excess = 0  # instructions beyond the constants and the fewest conceivable reads
    while True:  # ends: the form comes from a program, whose walk the search would reach
        for i, k in _surpluses(excess, bool(a.any()), bool(b.any())):
            if (i, k) not in searches:
                searches[i, k] = _Search(_Register.make(V_MODULUS, a, i, observed), _Register.make(U_MODULUS, b, k, observed))
            found = searches[i, k].with_moves(excess - V_MODULUS * i - U_MODULUS * k)
            if found is not None:
                return [VADD1] * v0 + [UADD1] * u0 + found
        excess += 1


def _surpluses(excess: int, v_reads: bool, u_reads: bool) -> Iterator[tuple[int, int]]:
    """Iterate over the surpluses with 3i + 4k <= excess; a register that reads nothing has none."""
    for i in range(excess // V_MODULUS + 1 if v_reads else 1):
        for k in range((excess - V_MODULUS * i) // U_MODULUS + 1 if u_reads else 1):
            yield i, k
