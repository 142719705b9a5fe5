"""Auto-reset, rollouts, spaces and names, on a small world whose episodes end at different times."""

from dataclasses import dataclass

import chex
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxdiff
from jaxdiff.core import autoreset, registry, spaces
from jaxdiff.core.environment import Environment
from jaxdiff.core.errors import InputError


@dataclass(frozen=True)
class Countdown(Environment):
    """Starts at a random number of 1..most, counts down by one, ends at 0; the reward is the number before the step."""

    most: int = 3

    @property
    def default_params(self):
        return jnp.float32(1.0)

    def reset_env(self, key, params):
        start = jax.random.randint(key, (), 1, self.most + 1, dtype=jnp.int32)
        return start, start

    def step_env(self, key, state, action, params):
        new = state - 1
        return new, new, params * state.astype(jnp.float32), new <= 0, jnp.zeros((), bool), {}

    def action_space(self, params):
        return spaces.Discrete(2)

    def observation_space(self, params):
        return spaces.Discrete(self.most + 1)


def act(policy, memory, obs, is_first, key):
    """Counts the episodes it has seen start."""
    return memory + is_first.astype(jnp.int32), policy


def play(mode, steps=30, collect=True):
    policies = jnp.zeros((2,), jnp.int32)
    return jaxdiff.rollout(
        Countdown(),
        act,
        jax.random.key(0),
        policies=policies,
        memory=jnp.zeros((), jnp.int32),
        steps=steps,
        environments=3,
        mode=mode,
        collect=collect,
    )


def test_same_step_resets_show_the_last_observation_and_start_afresh():
    t = play("same_step").trajectory
    obs, done, final = np.asarray(t["obs"]), np.asarray(t["terminated"]), np.asarray(t["info"]["final_observation"])
    assert obs.shape == (30, 2, 3)
    assert (final == obs - 1).all()
    assert (final[done] == 0).all()
    assert (obs >= 1).all()
    assert (obs[1:][~done[:-1]] == obs[:-1][~done[:-1]] - 1).all()
    np.testing.assert_array_equal(t["is_first"][1:], done[:-1])
    assert set(obs[1:][done[:-1]].tolist()) == {1, 2, 3}, "a reset must draw anew"


def test_next_step_resets_one_step_later_without_reward():
    t = play("next_step").trajectory
    obs, done, reward = np.asarray(t["obs"]), np.asarray(t["terminated"]), np.asarray(t["reward"])
    after = np.concatenate([np.zeros((1, 2, 3), bool), done[:-1]])
    assert (obs[after] == 0).all(), "the last observation is shown"
    assert (reward[after] == 0).all()
    assert not done[after].any()
    assert (obs[1:][after[:-1]] >= 1).all()
    np.testing.assert_array_equal(np.asarray(t["is_first"])[1:], after[:-1])


def test_disabled_goes_on():
    t = play("disabled").trajectory
    assert (np.diff(np.asarray(t["obs"]), axis=0) == -1).all()
    assert np.asarray(t["is_first"])[1:].sum() == 0


def test_memory_sees_every_start_and_totals_are_sums():
    out = play("same_step")
    np.testing.assert_array_equal(out.memory, np.asarray(out.trajectory["is_first"]).sum(0))
    np.testing.assert_allclose(out.total, np.asarray(out.trajectory["reward"]).sum(0))
    assert play("same_step", collect=False).trajectory is None


def test_single_step_keeps_the_final_observation():
    env = Countdown(most=1)
    obs, state = env.reset(jax.random.key(0))
    obs, state, reward, terminated, _truncated, info = jax.jit(env.step)(jax.random.key(1), state, jnp.int32(0))
    assert (int(obs), int(info["final_observation"]), bool(terminated), float(reward)) == (1, 0, True, 1.0)
    chex.assert_trees_all_equal_shapes_and_dtypes((obs, state), env.reset(jax.random.key(2)))


@pytest.mark.slow
def test_legacy_keys_are_accepted():
    env, params = jaxdiff.make("SAECA-v0", width=5)
    _obs, state = env.reset(jax.random.PRNGKey(0), params)
    env.step(jax.random.PRNGKey(1), state, jnp.array([0, 0]), params)
    keys = jax.random.split(jax.random.PRNGKey(2), 3)
    _, batch = autoreset.reset_batch(env, keys, params)
    autoreset.step_batch(env, jax.random.split(jax.random.PRNGKey(3), 3), batch, jnp.zeros((3, 2), jnp.int32), params)


def test_equal_environments_are_equal():
    assert hash(Countdown(3)) == hash(Countdown(3))
    assert jaxdiff.make("SAECA-v0", width=7)[0] == jaxdiff.make("SAECA-v0", width=7)[0]
    assert jaxdiff.make("SAECA-v0", width=7)[0] != jaxdiff.make("SAECA-v0", width=8)[0]


def test_registry():
    assert jaxdiff.registered() == tuple(sorted(jaxdiff.registered()))
    assert "SAECA-v0" in jaxdiff.registered()
    registry.register("Countdown-test", f"{__name__}:Countdown")
    try:
        assert jaxdiff.make("Countdown-test", most=5)[0] == Countdown(5)
        with pytest.raises(InputError, match="not taken"):
            registry.register("Countdown-test", "somewhere.else:Thing")
    finally:
        registry._ENTRIES.pop("Countdown-test")
    with pytest.raises(InputError, match=r"package\.module:Class"):
        registry.register("X-v0", "nonsense")


@pytest.mark.parametrize("space", [spaces.Discrete(3), spaces.MultiDiscrete((3, 4)), spaces.Box(-1.0, 2.0, (2, 2))])
def test_spaces(space):
    x = space.sample(jax.random.key(0))
    assert bool(space.contains(x))
    assert (x.shape, x.dtype) == (space.shape, space.dtype)
    assert not bool(space.contains(x + 10))
    assert len({space, type(space)(**vars(space))}) == 1


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: spaces.Discrete(0), "n is 0"),
        (lambda: spaces.MultiDiscrete(()), "sizes is ()"),
        (lambda: spaces.Box(2.0, 1.0, ()), "low is 2.0"),
        (lambda: play("sometimes"), "mode is 'sometimes'"),
        (lambda: play("same_step", steps=0), "steps is 0"),
        (lambda: jaxdiff.rollout(Countdown(), act, None, policies=jnp.zeros((0,)), memory=0, steps=1), "policies is 'empty'"),
        (lambda: jaxdiff.rollout(Countdown(), act, None, policies=jnp.zeros((1,)), memory=0, steps=1, environments=0), "environments is 0"),
        (lambda: jaxdiff.make("Nothing-v0"), "name is 'Nothing-v0'"),
    ],
)
def test_bad_input(call, words):
    with pytest.raises(InputError, match=words.replace("(", r"\(").replace(")", r"\)")):
        call()
