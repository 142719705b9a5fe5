import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxdiff.core.errors import InputError
from jaxdiff.core.spaces import Box, Discrete, MultiDiscrete
from jaxdiff.populations import decision_programs as programs

WORDS = programs.language(MultiDiscrete((2, 3)), Discrete(2))


def every_program(words, rules):
    for body in itertools.product(itertools.product(range(words.conditions), range(words.actions)), repeat=rules):
        for last in range(words.actions):
            yield np.array([*itertools.chain(*body), last], np.int16)


def table(words, program):
    """What a program does in every cell, read rule by rule."""
    holds = programs.cell_conditions(words)
    out = []
    for cell in range(words.cells):
        rules = zip(program[:-1:2], program[1::2], strict=True)
        out.append(next((a for c, a in rules if c >= 0 and holds[c, cell]), program[-1]))
    return tuple(int(a) for a in out)


@pytest.mark.parametrize("longest", [0, 1, 2])
def test_the_census_is_what_listing_all_programs_says(longest):
    expected: dict = {}
    for rules in range(longest + 1):
        for program in every_program(WORDS, rules):
            expected.setdefault(table(WORDS, program), [0] * (longest + 1))[rules] += 1
    found = programs.census(WORDS, longest)
    assert {tuple(t.tolist()): c.tolist() for t, c in zip(found.tables, found.counts, strict=True)} == expected
    for program, rules, counts, its_table in zip(np.asarray(found.population.params), found.rules, found.counts, found.tables, strict=True):
        assert (program[:-1:2] >= 0).sum() == rules == np.argmax(counts > 0)
        assert table(WORDS, program) == tuple(its_table.tolist())
    assert found.population.bits == pytest.approx(WORDS.bits(found.rules))


def test_programs_act_as_their_tables_say():
    population = programs.sample(jax.random.key(0), WORDS, 40, longest=3)
    played = np.asarray(programs.tables(WORDS, population.params))
    assert [tuple(row) for row in played.tolist()] == [table(WORDS, p) for p in np.asarray(population.params)]
    assert len({tuple(row) for row in played.tolist()}) > 5


def test_real_entries_are_binned():
    words = programs.language(Box(0.0, 4.0, (2,)), Discrete(3), bins=4)
    assert words.cells == 16
    assert words.conditions == 12
    population = programs.census(words, 1).population
    program = np.array([1, 2, 0], np.int16)  # if x0 <= 2 then 2, else 0
    assert words.say(program) == "if x0 <= 2 then 2; else 0"
    acts = [int(population.act(jnp.asarray(program), jnp.array([x, 0.0]), jax.random.key(0))) for x in (1.0, 2.0, 2.5)]
    assert acts == [2, 2, 0]
    # Cells: one for each edge, which belongs below it, and one above.
    assert table(words, program) == (2,) * 8 + (0,) * 8


def test_bits_are_a_prefix_code():
    assert WORDS.bits(0) == pytest.approx(1 + 1)
    assert WORDS.bits(2) == pytest.approx(2 + 2 * (1 + np.log2(10) + 1))
    # Kraft: all programs of up to 3 rules together weigh no more than 1.
    assert sum(2 * 20**n * 2.0 ** -float(WORDS.bits(n)) for n in range(50)) == pytest.approx(1)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: programs.language(Discrete(2), Box(0.0, 1.0, (1,))), "no real actions"),
        (lambda: programs.language(Box(-np.inf, np.inf, (1,)), Discrete(2)), "with bounds"),
        (lambda: programs.language(Box(-np.inf, np.inf, (1,)), Discrete(2), bins=1), "bins is 1"),
        (lambda: programs.sample(jax.random.key(0), WORDS, 0), "policies is 0"),
        (lambda: programs.census(WORDS, 20), "longest is 20"),
        (lambda: programs.census(programs.language(Box(0.0, 1.0, (5,)), Discrete(2)), 4), "at most [0-9] rules"),
        (lambda: programs.census(programs.language(Box(0.0, 1.0, (9,)), Discrete(2)), 1), "cells"),
    ],
)
def test_bad_input(call, words):
    with pytest.raises(InputError, match=words):
        call()
