import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jaxdiff.automata import apl, compiled
from jaxdiff.core.errors import InputError
from tests import oracles

PROGRAM = st.lists(st.integers(0, 5), max_size=20)
HISTORY = st.lists(st.integers(0, 1), min_size=3 * 9, max_size=3 * 9)


def padded(programs, length=20):
    out = np.full((len(programs), length), -1, np.int8)
    for row, program in zip(out, programs, strict=True):
        row[: len(program)] = program
    return out


def run_compiled(programs, history, observation="clr"):
    """(V, U) after each step of a history of observations, from the linear form, [T][P]."""
    linear = compiled.compile_programs(programs, observation)
    masks = [np.asarray(m) for m in (linear.a1, linear.a2, linear.b1, linear.b2)]
    width, register, out = len(observation), np.uint32(0), []
    for t in range(len(history) // width):
        seen = dict(zip(observation, history[width * t : width * (t + 1)], strict=True))
        bits = sum(seen.get(letter, 0) << place for place, letter in enumerate("lcr"))
        register = np.uint32((int(register) << 3 | bits) & 0xFFFFFFFF)
        stage = tuple(m[min(t, len(m) - 1)] for m in masks)
        shift, upshot = compiled.act((*stage, linear.v0, linear.u0), np.full(len(programs), register, np.uint32))
        out.append([((int(s) + 2) % 3, int(u) & 3) for s, u in zip(shift, upshot, strict=True)])
    return out


@given(st.lists(PROGRAM, min_size=8, max_size=8), HISTORY)
def test_compiled_interpreter_and_oracle_agree(programs, history):
    rows = padded(programs)
    fast = run_compiled(rows, history)
    for t in range(9):
        size = 3 * (t + 1)
        v, u = apl.interpret(rows, np.array(history, np.uint8), size)
        wanted = [oracles.interpret(p, history[:size]) for p in programs]
        assert list(zip(np.asarray(v).tolist(), np.asarray(u).tolist(), strict=True)) == wanted
        assert fast[t] == wanted


@given(st.lists(PROGRAM, min_size=8, max_size=8), HISTORY)
def test_shortest_behaves_the_same_from_the_first_step_on(programs, history):
    rows = padded(programs)
    short = apl.shortest(rows)
    assert short.shape == rows.shape
    assert (apl.length(short) <= apl.length(rows)).all()
    assert apl.same_behaviour(rows, short).all()
    for program, other in zip(rows, short, strict=True):
        for t in range(9):
            memory = history[: 3 * (t + 1)]
            assert oracles.interpret(program, memory) == oracles.interpret(other, memory)


@given(st.lists(PROGRAM, min_size=4, max_size=4), st.lists(st.integers(0, 1), min_size=27, max_size=27))
def test_simplify_keeps_what_a_program_does_on_a_long_memory(programs, history):
    rows = padded(programs)
    simple = apl.simplify(rows)
    assert (apl.length(simple) <= apl.length(rows)).all()
    np.testing.assert_array_equal(apl.simplify(simple), simple)
    assert (apl.length(apl.shortest(rows)) <= apl.length(rows)).all()
    for program, other in zip(rows, simple, strict=True):
        assert oracles.interpret(program, history) == oracles.interpret(other, history)


@pytest.mark.parametrize(
    ("text", "simple"),
    [
        ("back fwd", ""),
        ("fwd Vaddm", "Vaddm"),
        ("back Vaddm back fwd back", "back Vaddm"),
        ("back fwd Vaddm", "Vaddm"),
        ("back back Vaddm fwd back Uaddm", "back back Vaddm Uaddm"),
        ("Vadd1 Vadd1 Vadd1", ""),
        ("Uadd1 Uadd1 Uadd1 Uadd1 Vadd1", "Vadd1"),
        ("Vaddm Uadd1 Vaddm Vaddm", "Uadd1"),
        ("back Vaddm Vaddm Vaddm fwd Vaddm", "Vaddm"),
        ("Vaddm back back fwd fwd", "Vaddm"),
    ],
)
def test_simplify_cancels_trims_and_merges(text, simple):
    assert apl.format(apl.simplify(apl.parse(text))) == simple


@given(
    st.lists(st.lists(st.integers(0, 5), max_size=20), min_size=8, max_size=8),
    st.sampled_from(["clr", "lrc", "rlc", "lr", "rl", "cr"]),
    st.data(),
)
def test_every_observation_order(programs, observation, data):
    width = len(observation)
    history = data.draw(st.lists(st.integers(0, 1), min_size=width * 12, max_size=width * 12))
    rows = padded(programs)
    fast = run_compiled(rows, history, observation)
    for t in range(12):
        assert fast[t] == [oracles.interpret(p, history[: width * (t + 1)]) for p in programs]


def test_programs_of_thirty_instructions_and_no_more():
    reads_the_end = [0] * 29 + [2]
    fast = run_compiled(padded([reads_the_end], 30), [1] + [0] * 29)
    assert fast[-1] == [(1, 0)]
    with pytest.raises(InputError, match="one of 31 instructions"):
        compiled.check_programs(np.zeros((1, 31), np.int8))
    with pytest.raises(InputError, match="at most 20"):
        compiled.check_programs(np.zeros((1, 21), np.int8), "lr")


def test_text_and_back():
    for text in ("", "back back Vaddm", "fwd Uadd1 Uaddm Vadd1"):
        assert apl.format(apl.parse(text)) == text
    np.testing.assert_array_equal(apl.parse("BACK xaddm Yadd1"), [0, 2, 5])
    assert apl.format([0, 2, -1, -1]) == "back Vaddm"
    assert apl.OPCODES == ("back", "fwd", "Vaddm", "Vadd1", "Uaddm", "Uadd1")
    np.testing.assert_array_equal(apl.length([[0, 2, -1], [0, 1, 2]]), [2, 3])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: apl.parse("back jump"), "instruction is 'jump'"),
        (lambda: apl.parse("Vadm"), "did you mean Vaddm"),
        (lambda: apl.format([6]), "opcode is"),
        (lambda: apl.format([[0]]), "one program"),
        (lambda: apl.simplify([[0, 7]]), "opcode is"),
        (lambda: apl.simplify([[-1, 0]]), "padding at the end"),
        (lambda: apl.simplify(np.zeros((0, 3), int)), "at least one program"),
        (lambda: apl.simplify([[0.5]]), "integers"),
    ],
)
def test_bad_input(call, words):
    with pytest.raises(InputError, match=words):
        call()
