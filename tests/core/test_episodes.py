from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxdiff
from jaxdiff.core import episodes
from jaxdiff.core.environment import Environment
from jaxdiff.core.errors import InputError
from jaxdiff.core.seat import OneSeat
from jaxdiff.core.spaces import Discrete
from jaxdiff.populations import actions


class State(NamedTuple):
    goal: Any
    time: Any


@dataclass(frozen=True)
class Walk(Environment):
    """Ends after a random number of steps 1..40 that the instance has; a step gives the action, or NaN at the step `nan_at`."""

    nan_at: int = -1
    endless: bool = False

    @property
    def name(self):
        return "Walk"

    @property
    def default_params(self):
        return np.float32(1)

    def reset_env(self, key, params):
        return jnp.int32(0), State(jax.random.randint(key, (), 1, 41, dtype=jnp.int32), jnp.int32(0))

    def step_env(self, key, state, action, params):
        time = state.time + 1
        noise = jax.random.bernoulli(key).astype(jnp.float32)
        reward = jnp.where(state.time == self.nan_at, jnp.float32(jnp.nan), action.astype(jnp.float32) * params + 100 * noise)
        over = jnp.bool_(False) if self.endless else time >= state.goal
        return time, State(state.goal, time), reward, over & (state.goal % 2 == 0), over & (state.goal % 2 == 1), {}

    def observation_space(self, params):
        return Discrete(100)

    def action_space(self, params):
        return Discrete(3)


ENV, PARAMS = Walk(), np.float32(1)


def play(population, env=ENV, **options):
    options = {"episodes": 24, "steps": 15, "lanes": 20, **options}
    out = episodes.play(env, PARAMS, population.act, population.params, jax.random.key(5), **options)
    return episodes.Episodes(*map(np.asarray, out))


@pytest.fixture(scope="module")
def constants():
    return actions.constant_actions(Discrete(3))


@pytest.fixture(scope="module")
def played(constants):
    return play(constants)


def test_instances_are_the_same_for_all_policies_and_returns_are_sums(played):
    assert (played.lengths == played.lengths[0]).all(), "episode e is the same instance for all"
    assert len(set(played.lengths[0])) > 2, "of unequal lengths"
    # Luck of the world is the same too: returns differ by what the policies did.
    assert np.array_equal(played.returns[2] - played.returns[0], 2.0 * played.lengths[0])
    assert (played.returns[0] % 100 == 0).all()
    assert played.returns[0].max() > 0


def test_endings(played):
    bounded = played.lengths == 15
    assert bounded.any()
    odd = played.lengths % 2 == 1
    assert odd.any()
    assert (played.endings[~bounded & odd] == episodes.TRUNCATED).all()
    assert (played.endings[~bounded & ~odd] == episodes.TERMINATED).all()
    assert set(played.endings[bounded]) <= {episodes.BOUNDED, episodes.TRUNCATED}


@pytest.mark.slow
def test_neither_lanes_nor_chunks_matter(constants, played):
    again = play(constants, lanes=5)
    assert all(np.array_equal(a, b) for a, b in zip(again, played, strict=True))
    random = actions.random_actions(Discrete(3), 4)
    whole = play(random)
    parts = [play(random.take(slice(i, i + 2)), first=i) for i in (0, 2)]
    assert np.array_equal(np.concatenate([p.returns for p in parts]), whole.returns)
    assert len({tuple(row) for row in whole.returns.tolist()}) == 4, "each has its own luck"


def test_filled_up_policies_are_not_played(constants, played):
    some = play(constants, count=2)
    assert np.array_equal(some.returns[:2], played.returns[:2])
    assert not some.lengths[2].any()


def test_an_endless_world_is_bounded_and_a_nan_is_found(constants):
    endless = play(constants, Walk(endless=True))
    assert (endless.lengths == 15).all()
    assert (endless.endings == episodes.BOUNDED).all()
    broken = play(constants, Walk(nan_at=3))
    assert (broken.broken[broken.lengths > 3] == 3).all()
    assert (broken.broken[broken.lengths <= 3] == -1).all()


@pytest.mark.slow
def test_one_seat_of_a_social_world():
    env, params = jaxdiff.make("Lambda-v0", agents=2, steps=7)
    with pytest.raises(InputError, match="one reward a step"):
        episodes.check_reward(env, params)
    seat = OneSeat(env)
    constant = actions.constant_actions(seat.action_space(params))
    out = episodes.play(seat, params, constant.act, constant.params, jax.random.key(0), episodes=2, steps=20)
    assert (np.asarray(out.lengths) == 7).all()
    assert (np.asarray(out.endings) == episodes.TRUNCATED).all()
    with pytest.raises(InputError, match="several agents"):
        OneSeat(ENV).action_space(PARAMS)


def test_bad_input(constants):
    for options, words in (({"episodes": 0}, "episodes is 0"), ({"steps": 0}, "steps is 0"), ({"lanes": 0}, "lanes is 0")):
        with pytest.raises(InputError, match=words):
            play(constants, **options)
    with pytest.raises(InputError, match="a object without reset_env, step_env"):
        episodes.check_reward(object(), None)
