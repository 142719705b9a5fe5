"""Shortest programs against brute force, and against an interpreter that follows the definition word by word."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jaxdiff.automata.shortest import MAX_LENGTH, forms, same_behaviour, shortest
from jaxdiff.core.errors import InputError

pytestmark = pytest.mark.host

BACK, FWD, VADDM, VADD1, UADDM, UADD1 = range(6)
# Behaviours of programs of at most 8 instructions, by the length of the shortest program.
CENSUS = [1, 4, 12, 31, 77, 194, 508, 1409, 4103]


def padded(*programs, length=None):
    """Programs, given as lists or as strings of digits, as one int8 array."""
    lists = [[int(op) for op in program] for program in programs]
    length = max(map(len, lists)) if length is None else length
    return np.array([program + [-1] * (length - len(program)) for program in lists], np.int8).reshape(len(lists), length)


def opcodes(program):
    return [int(op) for op in program if int(op) >= 0]


def size(programs):
    return (programs >= 0).sum(axis=1)


def interpret(program, history):
    """V and U of one program on one history (oldest bit first): definition 6 of the paper."""
    b, v, u = len(history) - 1, 0, 0
    for op in opcodes(program):
        if op == BACK:
            b = max(b - 1, 0)
        elif op == FWD:
            b = min(b + 1, len(history) - 1)
        elif op == VADDM:
            v = (v + history[b]) % 3
        elif op == VADD1:
            v = (v + 1) % 3
        elif op == UADDM:
            u = (u + history[b]) % 4
        elif op == UADD1:
            u = (u + 1) % 4
    return v, u


def probes(longest):
    """Histories that tell any two linear forms apart: nothing but zeros, and a single 1 at each place."""
    for n in [*range(3, longest, 3), longest + 1]:
        for one in range(-1, n):
            yield [int(i == one) for i in range(n)]


def probed(program, longest):
    return [interpret(program, history) for history in probes(longest)]


class Brute:
    """All programs, by length, run on all probes at once; the pointer counts from the oldest bit, as in `interpret`."""

    def __init__(self, longest):
        histories = list(probes(longest))
        self.sizes = np.array([len(h) for h in histories])
        self.bits = np.zeros((len(histories), max(self.sizes)), np.int8)
        for row, history in zip(self.bits, histories, strict=True):
            row[: len(history)] = history
        zeros = np.zeros((1, len(histories)), np.int8)
        self.programs, self.pointer, self.v, self.u = np.zeros((1, 0), np.int8), (self.sizes - 1)[None], zeros, zeros

    def grow(self):
        """Append each of the six instructions to every program."""
        bit = self.bits[np.arange(len(self.sizes)), self.pointer]
        b, v, u = self.pointer, self.v, self.u
        self.programs = np.concatenate([np.column_stack([self.programs, np.full(len(self.programs), op, np.int8)]) for op in range(6)])
        self.pointer = np.concatenate([np.maximum(b - 1, 0), np.minimum(b + 1, self.sizes - 1), b, b, b, b])
        self.v = np.concatenate([v, v, (v + bit) % 3, (v + 1) % 3, v, v])
        self.u = np.concatenate([u, u, u, u, (u + bit) % 4, (u + 1) % 4])

    def keep(self, rows):
        self.programs, self.pointer, self.v, self.u = (x[rows] for x in (self.programs, self.pointer, self.v, self.u))

    def keys(self, *, pointer=False):
        """One hashable key a program: its behaviour, with or without where it leaves the pointer."""
        parts = [self.v, self.u, *([self.pointer] if pointer else [])]
        return [row.tobytes() for row in np.concatenate(parts, axis=1).astype(np.int8)]


def test_all_programs_of_up_to_six_instructions():
    brute, programs, keys = Brute(6), [], []
    for n in range(7):
        if n:
            brute.grow()
        programs.append(np.pad(brute.programs, ((0, 0), (0, 6 - n)), constant_values=-1))
        keys += brute.keys()
    programs = np.concatenate(programs)
    assert len(programs) == 55_987
    best = {}
    for key, n in zip(keys, size(programs).tolist(), strict=True):
        best.setdefault(key, n)  # shorter ones come first
    result = shortest(programs)
    assert size(result).tolist() == [best[key] for key in keys]
    assert same_behaviour(programs, result).all()
    # Equal behaviour, equal row, and the other way round; likewise for the forms.
    for rows in (result, forms(programs)):
        bytes_of = [row.tobytes() for row in rows]
        assert len(set(zip(keys, bytes_of, strict=True))) == len(set(keys)) == len(set(bytes_of)) == sum(CENSUS[:7])


def test_every_behaviour_of_up_to_eight_instructions():
    # Two programs with the same behaviour and the same pointer stay equal however they continue: the shorter one is enough.
    brute, seen, behaviours = Brute(8), set(), set()
    for n, expected in enumerate(CENSUS):
        if n:
            brute.grow()
        first = {key: i for i, key in reversed(list(enumerate(brute.keys(pointer=True)))) if key not in seen}
        seen.update(first)
        brute.keep(sorted(first.values()))
        new = {key: i for i, key in enumerate(brute.keys()) if key not in behaviours}
        behaviours.update(new)
        assert len(new) == expected
        result = shortest(brute.programs[sorted(new.values())])
        assert (size(result) == n).all()
        assert len(np.unique(result, axis=0)) == expected


programs_20 = st.lists(st.integers(0, 5), max_size=20)
# Long runs of moves make the early steps differ from the later ones.
runs = st.tuples(st.sampled_from([BACK, BACK, FWD, VADDM, UADDM]), st.integers(1, 8)).map(
    lambda run: [run[0]] * min(run[1], 8 if run[0] <= FWD else 3)
)
programs_30 = st.lists(runs, max_size=12).map(lambda parts: [op for part in parts for op in part][:MAX_LENGTH])


@settings(max_examples=150, deadline=None)
@given(programs_20, st.lists(st.lists(st.integers(0, 1), min_size=24, max_size=24), min_size=1, max_size=4))
def test_behaves_the_same_at_every_step(program, histories):
    rows = padded(program, length=20)
    result = shortest(rows)
    assert result.shape == rows.shape
    assert result.dtype == np.int8
    assert size(result) <= len(program)
    for history in histories:
        for step in range(1, 9):
            assert interpret(program, history[: 3 * step]) == interpret(result[0], history[: 3 * step])
    assert probed(program, 20) == probed(result[0], 20)
    assert np.array_equal(shortest(result), result)


@settings(max_examples=60, deadline=None)
@given(programs_30)
def test_behaves_the_same_with_thirty_instructions(program):
    result = shortest(padded(program, length=MAX_LENGTH))
    assert size(result) <= len(program)
    assert probed(program, MAX_LENGTH) == probed(result[0], MAX_LENGTH)
    assert np.array_equal(shortest(result), result)


@settings(max_examples=100, deadline=None)
@given(programs_20, st.data())
def test_is_canonical(program, data):
    disguised = list(program)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(disguised)))
        disguised[at:at] = data.draw(st.sampled_from([[VADDM] * 3, [VADD1] * 3, [UADDM] * 4, [UADD1] * 4, []]))
        swap = data.draw(st.integers(0, max(len(disguised) - 2, 0)))
        if min(disguised[swap : swap + 2], default=0) >= VADDM:  # additions commute
            disguised[swap : swap + 2] = disguised[swap : swap + 2][::-1]
    disguised = [*disguised, BACK, FWD, FWD][:MAX_LENGTH] if len(disguised) <= MAX_LENGTH else list(program)
    one, other = padded(program, length=MAX_LENGTH), padded(disguised, length=MAX_LENGTH)
    assert same_behaviour(one, other).all()
    assert np.array_equal(shortest(one), shortest(other))
    # The same program whatever else is in the batch and however wide the padding is.
    short = shortest(padded(program, "002", length=20))[0]
    assert opcodes(short) == opcodes(shortest(one)[0])


@settings(max_examples=60, deadline=None)
@given(programs_20, programs_20)
def test_forms_are_the_coefficients(a, b):
    row_a, row_b = forms(padded(a, length=20), length=20)[0], forms(padded(b, length=21), length=20)[0]
    assert np.array_equal(row_a, row_b) == (probed(a, 20) == probed(b, 20))
    v0, u0 = interpret(a, [0] * 3)
    assert row_a[:2].tolist() == [v0, u0]
    v, u = row_a[2:].reshape(2, -1)
    at = 0
    for n in (3, 6, 9, 12, 15, 18, 20):
        for j in range(n):
            # One bit is set, j before the last one; 20 instructions never meet the start of 21 bits.
            history = [0] * (n if n < 20 else 21)
            history[-1 - j] = 1
            assert interpret(a, history) == ((v0 + v[at]) % 3, (u0 + u[at]) % 4)
            at += 1
    assert at == len(v)


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("", ""),
        ("0101010", ""),  # moves alone do nothing
        ("222", ""),
        ("4444", ""),
        ("333", ""),
        ("5555", ""),
        ("12", "2"),  # fwd does nothing at the end
        ("012", "2"),  # back and fwd cancel ...
        ("00012", "00012"),  # ... but not at the start of the first step's three bits
        ("53", "35"),
        ("0" * 10 + "1" * 9 + "2", "0" * 9 + "1" * 8 + "2"),  # 9 back already tell 9 bits from 12
        ("0" * 20 + "1" * 9 + "4", "0" * 20 + "1" * 9 + "4"),  # offset 8 of 18 bits takes 9 fwd
        ("0" * 29 + "2", "0" * 29 + "2"),
        ("02020122", "02020122"),  # one read in the end, three more to get the first step right
    ],
)
def test_by_hand(program, expected):
    result = shortest(padded(program, length=MAX_LENGTH))[0]
    assert "".join(map(str, opcodes(result))) == expected
    assert probed(program, MAX_LENGTH) == probed(result, MAX_LENGTH)


def test_same_behaviour_with_different_padding():
    a, b = padded("012", "002", "00012", "3"), padded("2222", "00222201", "002", "3333", length=31)
    assert same_behaviour(a, b).tolist() == [True, True, False, True]
    assert np.array_equal(forms(a, length=12)[:2], forms(b[:2], length=12))


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64])
def test_shapes_and_dtypes(dtype):
    programs = padded("012", "222", length=40).astype(dtype)
    before = programs.copy()
    result = shortest(programs)
    assert result.shape == (2, 40)
    assert result.dtype == np.int8
    assert np.array_equal(programs, before)
    assert shortest(np.zeros((3, 0), dtype)).shape == (3, 0)
    assert forms(programs).dtype == np.int8
    assert forms(programs[:, :20]).shape == (2, 2 + 2 * (3 + 6 + 9 + 12 + 15 + 18 + 20))
    assert forms(np.zeros((2, 0), dtype)).shape == (2, 4)


@pytest.mark.parametrize(
    ("programs", "part"),
    [
        (np.array([0, 1, 2]), "integer array"),
        (np.zeros((2, 3)), "integers"),
        (np.ones((2, 3), bool), "integers"),
        (np.array([[0, 6]]), "opcode is"),
        (np.array([[0, -2]]), "opcode is"),
        (np.array([[0, 300]]), "opcode is"),
        (np.array([[2, 2], [-1, 2]]), "at the end"),
        (np.array([[0, -1, 2]]), "at the end"),
        (np.full((1, 31), 2), "30 instructions"),
    ],
)
def test_bad_programs_are_refused(programs, part):
    for function in (shortest, forms, lambda p: same_behaviour(p, p)):
        with pytest.raises(InputError, match=part):
            function(programs)


def test_bad_lengths_are_refused():
    for length in (2, 31):
        with pytest.raises(InputError, match="length"):
            forms(padded("012"), length=length)
    with pytest.raises(InputError, match="as many programs"):
        same_behaviour(padded("0"), padded("0", "1"))


def test_needs_no_jax():
    code = "import sys, jaxdiff.automata.shortest; sys.exit('jax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_two_bits_a_step():
    """With two bits a step the pointer runs into other starts of the history: other behaviours, the same exactness."""
    programs = padded("0002", "00012", "02", "00000000012", "0202", length=20)
    short = shortest(programs, 2)
    assert same_behaviour(programs, short, 2).all()
    rng = np.random.default_rng(0)
    for program, other in zip(programs, short, strict=True):
        assert len(opcodes(other)) <= len(opcodes(program))
        for t in range(1, 12):
            history = rng.integers(0, 2, 2 * t).tolist()
            assert interpret(program, history) == interpret(other, history)
    # back back back fwd Vaddm reads h_2 after three bits or more, but h_0 of two bits; back back Vaddm reads h_1 of two.
    assert not same_behaviour(programs[1:2], padded("002"), 2)[0]
    with pytest.raises(InputError, match="observed is 4"):
        shortest(programs, 4)
