"""Solutions of worlds by plans: against playing one by one, and sampled distances against exact ones."""

from dataclasses import replace
from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxdiff
from jaxdiff.automata import novelties
from jaxdiff.core import novelties as any_novelty
from jaxdiff.core.adapters import flat
from jaxdiff.core.errors import InputError
from jaxdiff.difficulty import novelty
from jaxdiff.difficulty.action_metrics import Hamming
from jaxdiff.populations import plans
from jaxdiff.studies import plan_solutions

STEPS, KEY = 3, jax.random.key(0)


@pytest.fixture(scope="module")
def world():
    return jaxdiff.make("SAECA-v0", width=9, steps=STEPS)


@pytest.fixture(scope="module")
def every(world):
    env, params = world
    return plans.every(env.action_space(params), STEPS)


@pytest.fixture(scope="module")
def returned(world, every):
    return plan_solutions.returns(*world, every, KEY)


def test_all_plans_in_order(every):
    assert every.shape == (12**STEPS, STEPS)
    assert len(np.unique(every, axis=0)) == len(every)
    assert (np.diff(every @ (12 ** np.arange(STEPS - 1, -1, -1))) == 1).all()


def test_returns_are_those_of_playing(world, every, returned):
    env, params = world
    step = jax.jit(env.step_env)
    for number in (0, 77, 1001, 1727):
        _, state = env.reset(KEY, params)
        total = 0.0
        for t in range(STEPS):
            _, state, reward, *_ = step(KEY, state, flat.action(env.action_space(params), jnp.int32(every[number, t])), params)
            total += float(reward)
            assert returned[number, t] == pytest.approx(total, abs=1e-6)


def test_rewards_stop_when_the_episode_is_over(world):
    env, params = world
    long = np.zeros((1, 2 * STEPS), np.int32)
    returned = plan_solutions.returns(env, params, long, KEY)[0]
    assert (returned[STEPS:] == returned[STEPS - 1]).all()
    assert (np.diff(returned[:STEPS]) > 0).all()


def test_solutions_are_shortest_beginnings(world, every, returned):
    env, params = world
    target = plan_solutions.target_of(returned, 0.2)
    assert 0.15 < (returned.max(1) >= target).mean() < 0.35
    exact = plan_solutions.every_solution(env, params, STEPS, target, KEY)
    rows = {tuple(a[:n].reshape(-1)) for a, n in zip(exact.actions, exact.length, strict=True)}
    assert len(rows) == len(exact.length), "each once"
    assert not any(tuple(row[:-2]) in rows for row in rows), "no solution goes on from another"


@pytest.mark.long
@pytest.mark.slow
def test_sampled_distances_converge_to_the_exact_one(world, returned):
    env, params = world
    target = plan_solutions.target_of(returned, 0.8)
    changed, after = novelties.other_rule(122)(env, params)
    a, b = (plan_solutions.every_solution(*w, STEPS, target, KEY) for w in ((env, params), (changed, after)))
    exact = novelty.difficulty(a, b, Hamming())
    assert len(exact.by_length) == 2
    assert all(p.before and p.after for p in exact.by_length)
    errors = []
    for count in (100, 1000, 30_000):
        each = []
        for seed in range(3):
            # Sides are sampled independently, with one budget.
            one, other = (plans.draw(jax.random.key(10 * seed + i), env.action_space(params), count, STEPS) for i in range(2))
            sampled = [plan_solutions.solutions(*w, p, target, KEY) for w, p in (((env, params), one), ((changed, after), other))]
            each.append(abs(novelty.difficulty(*sampled, Hamming(), duplicates="drop").d - exact.d))
        errors.append(np.mean(each))
    # Of 1,728 plans, 30,000 draws miss one with probability 3e-8 each: the sample is then the whole.
    assert errors[-1] < 1e-6
    assert all(later <= earlier for earlier, later in pairwise(errors))


@pytest.mark.parametrize(
    "change", [novelties.other_rule(90), novelties.other_start([0] * 8 + [1]), novelties.inverted_reward(), novelties.cut_ring()]
)
def test_every_novelty_changes_returns_and_keeps_the_spaces(world, every, returned, change):
    env, params = change(*world)
    assert env.action_space(params) == world[0].action_space(world[1])
    assert env.observation_space(params) == world[0].observation_space(world[1])
    other = plan_solutions.returns(env, params, every[::7], KEY)
    assert not np.array_equal(other, returned[::7])
    if change.kind == "reward":
        np.testing.assert_allclose(other, np.arange(1, STEPS + 1) - returned[::7], atol=1e-5)


def test_a_cut_ring_is_a_row_between_dead_cells():
    """By hand: rule 90 (left xor right) on a row, with an agent that does nothing."""
    env, params = novelties.cut_ring()(*jaxdiff.make("SAECA-v0", width=9, steps=STEPS))
    bits = np.array([1, 0, 1, 1, 0, 0, 0, 1, 1], np.uint8)
    env, params = novelties.other_start(bits)(*novelties.other_rule(90)(env, params))
    _, state = env.reset(KEY, params)
    state = env.step_env(KEY, state, jnp.array([0, 0]), params)[1]
    padded = np.pad(bits, 1)
    assert (np.asarray(state.cells) == padded[:-2] ^ padded[2:]).all()
    # At the last cell, going right is staying.
    at_end = env.step_env(KEY, replace(state, position=jnp.int32(8)), jnp.array([1, 0]), params)[1]
    assert int(at_end.position) == 8
    assert int(env.step_env(KEY, replace(state, position=jnp.int32(0)), jnp.array([2, 0]), params)[1].position) == 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda e, p: plans.every(e.action_space(p), 9), "at most 16777216"),
        (lambda e, p: plans.draw(KEY, e.action_space(p), 0, 3), "count is 0"),
        (lambda e, p: plan_solutions.returns(e, p, np.zeros(3, int), KEY), "plans, steps"),
        (lambda e, p: plan_solutions.target_of(np.zeros((3, 2)), 1.0), "between 0 and 1"),
        (lambda e, p: novelties.other_rule(256), "256"),
        (lambda e, p: novelties.other_start([0, 1, 0])(e, p), "9 bits"),
        (lambda e, p: any_novelty.reward(np.inf, 0), "finite"),
        (lambda e, p: any_novelty.Novelty("a", "colour", lambda e, p: (e, p)), "one of dynamics"),
    ],
)
def test_bad_input(world, call, message):
    with pytest.raises(InputError, match=message):
        call(*world)
