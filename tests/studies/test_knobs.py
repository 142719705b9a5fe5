from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxdiff.core.environment import Environment
from jaxdiff.core.errors import InputError
from jaxdiff.core.spaces import Box, Discrete, MultiDiscrete
from jaxdiff.difficulty import effective_horizon
from jaxdiff.report import tables
from jaxdiff.studies.knob_wrappers import Harder, TableAlchemy
from jaxdiff.studies.knobs import Knobs, Timeless
from jaxdiff.studies.tabular import Rows


@dataclass(frozen=True)
class Counter(Environment):
    """Shows and pays the step; ends after five."""

    @property
    def name(self):
        return "Counter"

    @property
    def default_params(self):
        return np.float32(1)

    def reset_env(self, key, params):
        return jnp.zeros((1,), jnp.float32), jnp.int32(0)

    def step_env(self, key, state, action, params):
        state = state + 1
        return state.astype(jnp.float32)[None], state, state.astype(jnp.float32), state == 5, state < 0, {"action": action}

    def observation_space(self, params):
        return Box(0.0, 5.0, (1,))

    def action_space(self, params):
        return Discrete(3)


def test_rewards_are_held_and_nothing_is_lost():
    env = Harder(Counter(), hold=2, irrelevant=3)
    params = env.default_params
    keys = jax.random.split(jax.random.key(0), 6)
    step = jax.jit(env.step_env)
    obs, state = jax.jit(env.reset_env)(keys[0], params)
    assert obs.shape == env.observation_space(params).shape == (4,)
    got = []
    for key in keys[1:]:
        obs, state, reward, terminated, _, _ = step(key, state, 0, params)
        got.append(float(reward))
    assert got == [0, 3, 0, 7, 5]
    assert terminated
    assert env.name == "Counter, paid every 2 steps, 3 irrelevant features"


def test_best_returns_are_those_of_the_best_policy():
    assert Knobs("chain", 4, horizon=3).best_return() == 1
    assert Knobs("chain", 4, horizon=3, delay=1).best_return() == 0, "too late to be paid"
    # Three moves in a row, each the right one with 1 - p / 2.
    assert Knobs("chain", 4, horizon=3).best_return(0.4) == pytest.approx(0.8**3)
    # One move of a 2 x 2 grid's two may go to the wrong side, or stay: two steps of four actions.
    assert Knobs("grid", 2, horizon=2).best_return(1.0) == pytest.approx(2 / 16)
    with pytest.raises(InputError, match=r"slip is 0\.1"):
        Knobs(dense=True).best_return(0.1)


@pytest.mark.slow
@pytest.mark.host
def test_worlds_without_a_clock_have_small_tables():
    bare = tables.tabulate(Timeless("chain", 4), np.float32(0), 7)
    clocked = tables.tabulate(Knobs("chain", 4, horizon=7), np.float32(0), 7)
    assert len(bare.next) == 3, "the goal is never left"
    assert len(clocked.next) > 10
    for k, m in ((1, 1), (1, 4), (2, 2)):
        assert effective_horizon.success(bare, k, m) == pytest.approx(effective_horizon.success(clocked, k, m))
    dense = tables.tabulate(Timeless("grid", 4, dense=True), np.float32(0), 8)
    assert dense.reward.max() == 7, "in twelfths: half for the goal, one for the last step"


def test_alchemy_for_tables():
    env = TableAlchemy(3, steps=4)
    space = env.observation_space(env.default_params)
    assert isinstance(space, MultiDiscrete)
    assert Rows(space).count == 9 * 2**6
    obs, state = jax.jit(env.reset_env)(jax.random.key(1), env.default_params)
    assert space.contains(obs)
    new, _, reward, *_ = jax.jit(env.step_env)(jax.random.key(2), state, 1, env.default_params)
    assert new[0] == 8, "the stone is gone"
    assert float(reward) in (-3, -1, 1, 15)


def test_rows_of_reals_and_integers():
    rows = Rows(Box(-1.0, 1.0, (2,)), ((0.0,), (-0.5, 0.5)))
    assert rows.count == 6
    assert [int(rows(np.array(o, np.float32))) for o in ((-1, -1), (0, -1), (-1, 0), (1, 1))] == [0, 1, 2, 5]
    pairs = Rows(MultiDiscrete((3, 2)))
    assert sorted(int(pairs(np.array([a, b]))) for a in range(3) for b in range(2)) == list(range(6))
    with pytest.raises(InputError, match="edges is None"):
        Rows(Box(-1.0, 1.0, (2,)))
