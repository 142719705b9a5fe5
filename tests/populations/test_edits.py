import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jaxdiff.populations import edits

LONGEST = 6


def padded(program):
    return np.array([*program, *[-1] * (LONGEST - len(program))], np.int8)


def at_distance_one(program):
    """The definition: all results of one substitution, insertion or deletion, as a set without the program itself."""
    n = len(program)
    out = {(*program[:i], op, *program[i + 1 :]) for i in range(n) for op in range(6)}
    out |= {(*program[:i], op, *program[i:]) for i in range(n + 1) for op in range(6)}
    out |= {(*program[:i], *program[i + 1 :]) for i in range(n)}
    return {p for p in out if 1 <= len(p) <= LONGEST} - {program}


@jax.jit
def enumerated(program):
    return edits.count(program), jax.vmap(edits.neighbour, (None, 0))(program, jnp.arange(11 * LONGEST + 6, dtype=jnp.int32))


@given(st.lists(st.integers(0, 5), min_size=1, max_size=LONGEST).map(tuple))
def test_neighbours_are_exactly_those_at_edit_distance_one(program):
    count, rows = enumerated(padded(program))
    found = [tuple(row[row >= 0].tolist()) for row in np.asarray(rows)[: int(count)]]
    assert len(found) == len(set(found)), "each once"
    assert set(found) == at_distance_one(program)
    for row in np.asarray(rows)[: int(count)]:
        assert (np.diff((row >= 0).astype(int)) <= 0).all(), "padding stands at the end"


def test_a_random_neighbour_is_uniform():
    program = padded((0, 0, 3))
    keys = jax.random.split(jax.random.key(0), 40_000)
    drawn = np.asarray(jax.jit(jax.vmap(edits.random_neighbour, (0, None)))(keys, program))
    _, counts = np.unique(drawn, axis=0, return_counts=True)
    expected = 40_000 / len(at_distance_one((0, 0, 3)))
    assert len(counts) == len(at_distance_one((0, 0, 3)))
    chi_square = ((counts - expected) ** 2 / expected).sum()
    assert chi_square < len(counts) + 5 * np.sqrt(2 * len(counts))


def test_a_random_program_is_one_of_the_population():
    keys = jax.random.split(jax.random.key(1), 6000)
    drawn = np.asarray(jax.jit(jax.vmap(lambda key: edits.random_program(key, LONGEST)))(keys))
    length = (drawn >= 0).sum(1)
    assert drawn.dtype == np.int8
    np.testing.assert_allclose(np.bincount(length, minlength=LONGEST + 1)[1:] / 6000, 1 / LONGEST, atol=0.02)
    used = drawn[drawn >= 0]
    np.testing.assert_allclose(np.bincount(used, minlength=6) / len(used), 1 / 6, atol=0.02)
    assert (np.arange(LONGEST) < length[:, None]).tolist() == (drawn >= 0).tolist()


@pytest.mark.parametrize("program", [(0,), (5,) * LONGEST])
def test_the_shortest_and_the_longest(program):
    count, rows = enumerated(padded(program))
    lengths = {int((row >= 0).sum()) for row in np.asarray(rows)[: int(count)]}
    assert lengths == ({1, 2} if len(program) == 1 else {LONGEST - 1, LONGEST})
