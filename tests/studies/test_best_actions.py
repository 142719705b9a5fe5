import itertools
import zlib

import numpy as np
import pytest

from jaxdiff.automata import strategies, world
from jaxdiff.core.errors import InputError
from jaxdiff.studies import best_actions
from tests import oracles

pytestmark = pytest.mark.slow

WIDTH, STEPS = 5, 3
RULES = (110, 30, 0)


@pytest.fixture(autouse=True)
def few_lanes(monkeypatch):
    monkeypatch.setattr(best_actions, "LANES", 64)


def complexity_of(actions):
    """zlib of the pairs <V, U> as digits, less that of nothing: the paper's K of a sequence of actions."""
    text = "".join(f"{move}{upshot}" for move, upshot in actions)
    return len(zlib.compress(text.encode(), 6)) - len(zlib.compress(b"", 6))


@pytest.mark.parametrize("rule", RULES)
def test_equation_2_by_brute_force(rule):
    """All 12^3 sequences of actions, one by one with exact fractions."""
    every = list(itertools.product(itertools.product(range(3), range(4)), repeat=STEPS))
    cells = [i % 2 for i in range(WIDTH)]
    reward = [oracles.rollout(None, rule, cells, WIDTH // 2, STEPS, actions=actions)[0] for actions in every]
    best = max(reward)
    wanted = min(complexity_of(actions) for actions, r in zip(every, reward, strict=True) if r == best)
    highest, h = best_actions.exhaustive(world.paper_world([rule, 90], WIDTH), STEPS)
    assert highest[0] == oracles.numerator(best, WIDTH)
    assert h[0] == wanted


def test_hardness_of_a_population_by_running_its_best_programs():
    rng = np.random.default_rng(3)
    programs = oracles.random_programs(rng, 60).reshape(2, 30, 20)
    programs[0, 7] = programs[0, 3]
    params = world.paper_world(list(RULES))
    numerator = strategies.fresh(programs.reshape(60, 20), params, 12).numerator.reshape(3, 2, 30)
    h = best_actions.hardness(numerator, programs, params, 12)
    for i, j in np.ndindex(3, 2):
        best = np.flatnonzero(numerator[i, j] == numerator[i, j].max())
        assert h[i, j] == min(complexity_of(acted(programs[j, p], RULES[i], 12)) for p in best)


def acted(program, rule, steps):
    """What a program does in the paper's world, by the plain interpreter."""
    cells, position, memory, actions = [i % 2 for i in range(21)], 10, [], []
    for _ in range(steps):
        memory += [cells[position], cells[position - 1], cells[(position + 1) % 21]]
        move, upshot = oracles.interpret([op for op in program if op >= 0], memory)
        actions.append((move, upshot))
        cells[position] = [cells[position], 1 - cells[position], 0, 1][upshot]
        position = (position + [0, 1, -1][move]) % 21
        cells = oracles.eca_step(cells, rule)
    return actions


def test_hardness_does_not_depend_on_how_many_run_at_once(monkeypatch):
    programs = oracles.random_programs(np.random.default_rng(4), 40)[None]
    params = world.paper_world([0, 110])
    numerator = strategies.fresh(programs[0], params, 10).numerator[:, None]
    at_once = best_actions.hardness(numerator, programs, params, 10)
    monkeypatch.setattr(best_actions, "LANES", 16)
    seen = []
    np.testing.assert_array_equal(best_actions.hardness(numerator, programs, params, 10, lambda *x: seen.append(x)), at_once)
    assert seen[-1][0] == seen[-1][1] > 16


def test_too_many_sequences_are_refused():
    with pytest.raises(InputError, match="steps is 7"):
        best_actions.exhaustive(world.paper_world([110]), 7)
