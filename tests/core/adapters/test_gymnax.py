"""gymnax both ways. Left out where gymnax cannot be installed: version 1.0.1 refuses the newest jax."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxdiff
from jaxdiff.core.errors import InputError

pytest.importorskip("gymnax", reason="gymnax is not installed (1.0.1 refuses jax 0.12)")
import gymnax

from jaxdiff.core.adapters.gymnax import from_gymnax, to_gymnax

pytestmark = pytest.mark.host
STEPS = 5


@pytest.fixture(scope="module")
def six():
    return to_gymnax(*jaxdiff.make("SAECA-v0", width=9, steps=STEPS))


@pytest.fixture(scope="module")
def five():
    return to_gymnax(*jaxdiff.make("SAECA-v0", width=9, steps=STEPS), values=5)


def test_six_values_are_the_worlds_own(six):
    env, params = six
    world, own = jaxdiff.make("SAECA-v0", width=9, steps=STEPS)
    key = jax.random.key(0)
    observation, state = env.reset(key, params)
    expected, inner = world.reset(key, own)
    assert (observation == expected).all()
    for t in range(STEPS):
        number = (5 * t) % 12
        # gymnax splits the key into one for the step and one for the reset, as this library does.
        observation, state, reward, terminated, truncated, info = env.step(key, state, number, params)
        expected, inner, wanted, ended, cut, _ = world.step(key, inner, jnp.array([number // 4, number % 4]), own)
        assert (observation == expected).all()
        assert (reward, terminated, truncated) == (wanted, ended, cut)
        assert "final_observation" in info
    assert bool(terminated | truncated)
    assert int(state.time) == 0, "a new episode has begun"


def test_five_values(five):
    env, params = five
    key = jax.random.key(0)
    _, state = env.reset(key, params)
    done = []
    for _ in range(2 * STEPS):
        out = env.step(key, state, 0, params)
        assert len(out) == 5
        _, state, _, ended, info = out
        done.append(bool(ended))
    assert done == ([False] * (STEPS - 1) + [True]) * 2
    assert float(info["discount"]) in (0.0, 1.0)


def test_spaces_and_actions_cover_everything(six):
    env, params = six
    assert env.num_actions == 12
    assert env.action_space(params).n == 12
    assert env.observation_space(params).shape == (3,)
    from jaxdiff.core.adapters import flat

    space = env.world.action_space(params.world)
    pairs = {tuple(np.asarray(flat.action(space, jnp.int32(i))).tolist()) for i in range(12)}
    assert pairs == {(m, u) for m in range(3) for u in range(4)}


def test_equal_adapters_share_compilations_and_vmap(five):
    env, params = five
    again, _ = to_gymnax(*jaxdiff.make("SAECA-v0", width=9, steps=STEPS), values=5)
    other, _ = to_gymnax(*jaxdiff.make("SAECA-v0", width=11, steps=STEPS), values=5)
    assert env == again
    assert hash(env) == hash(again)
    assert env != other
    keys = jax.random.split(jax.random.key(0), 4)
    _, states = jax.vmap(env.reset, in_axes=(0, None))(keys, params)
    out = jax.vmap(again.step, in_axes=(0, 0, 0, None))(keys, states, jnp.arange(4), params)
    assert out[2].shape == (4,)


@pytest.mark.parametrize("name", ["CartPole-v1", "MountainCarContinuous-v0", "Catch-bsuite"])
def test_gymnax_worlds_here(name):
    theirs, their_params = gymnax.make(name)
    env, params = from_gymnax(theirs, their_params)
    key = jax.random.key(1)
    observation, state = env.reset(key, params)
    assert (observation == theirs.reset(key, their_params)[0]).all()
    shapes = jax.eval_shape(lambda s: env.step(key, s, env.action_space(params).sample(key), params)[1], state)
    assert jax.tree.map(lambda x: (x.shape, x.dtype), shapes) == jax.tree.map(lambda x: (x.shape, x.dtype), state), "a scan accepts it"
    action = env.action_space(params).sample(key)
    mine, original = env.step(key, state, action, params), theirs.step(key, state, action, their_params)
    for a, b in zip(mine[:1] + mine[2:5], original[:1] + original[2:5], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)
    assert env == from_gymnax(*gymnax.make(name))[0]


def test_there_and_back(six):
    world, params = from_gymnax(*six)
    _, state = world.reset(jax.random.key(0), params)
    out = world.step(jax.random.key(1), state, jnp.int32(3), params)
    assert len(out) == 6
    assert world.name == "gymnax:SAECA-v0"


def test_bad_input():
    env, params = jaxdiff.make("SAECA-v0", width=9)
    with pytest.raises(InputError, match="values is 4"):
        to_gymnax(env, params, values=4)
    with pytest.raises(InputError, match="a gymnax environment"):
        from_gymnax(env)


@pytest.mark.parametrize(
    ("name", "options", "steps", "rate"),
    [
        ("SAECA-v0", {"width": 9, "steps": STEPS}, STEPS, 0.3),
        pytest.param("Alchemy-v0", {"trials": 1}, 20, 0.03, marks=pytest.mark.slow),
    ],
)
def test_a_learner_written_for_five_values_trains(name, options, steps, rate):
    """A small actor-critic in the manner of purejaxrl: vmapped reset and step, typed keys, everything in one jitted scan."""
    env, params = to_gymnax(*jaxdiff.make(name, **options), values=5)
    count, updates = 16, 10
    sizes = (int(np.prod(env.observation_space(params).shape)), env.action_space(params).n)

    def policy(weights, observation):
        hidden = jnp.tanh(observation.reshape((observation.shape[0], -1)).astype(jnp.float32) @ weights["in"])
        return hidden @ weights["out"], (hidden @ weights["value"])[:, 0]

    def update(carry, key):
        weights, observation, state = carry

        def loss(weights):
            def step(carry, key):
                observation, state, total = carry
                logits, value = policy(weights, observation)
                key_action, key_step = jax.random.split(key)
                action = jax.random.categorical(key_action, logits)
                observation, state, reward, done, _ = jax.vmap(env.step, in_axes=(0, 0, 0, None))(
                    jax.random.split(key_step, count), state, action, params
                )
                chosen = jnp.take_along_axis(jax.nn.log_softmax(logits), action[:, None], 1)[:, 0]
                advantage = jax.lax.stop_gradient(reward - value)
                return (observation, state, total - (chosen * advantage).mean() + ((reward - value) ** 2).mean()), (reward, done)

            (last, after, total), (reward, done) = jax.lax.scan(step, (observation, state, 0.0), jax.random.split(key, steps))
            return total, (last, after, reward.mean(), done)

        gradient, (observation, state, reward, done) = jax.grad(loss, has_aux=True)(weights)
        return (jax.tree.map(lambda w, g: w - rate * g, weights, gradient), observation, state), (reward, done)

    keys = jax.random.split(jax.random.key(0), 5)
    weights = {
        "in": jax.random.normal(keys[0], (sizes[0], 16)),
        "out": 0.01 * jax.random.normal(keys[1], (16, sizes[1])),
        "value": jnp.zeros((16, 1)),
    }
    observation, state = jax.vmap(env.reset, in_axes=(0, None))(jax.random.split(keys[2], count), params)
    (trained, *_), (reward, done) = jax.jit(lambda c, k: jax.lax.scan(update, c, k))(
        (weights, observation, state), jax.random.split(keys[3], updates)
    )
    assert np.isfinite(np.asarray(reward)).all()
    assert float(reward[-3:].mean()) > float(reward[:3].mean()), "it learns"
    assert any((np.asarray(trained[k]) != np.asarray(weights[k])).any() for k in weights)
    assert np.asarray(done).sum() == updates * count, "every rollout is one episode"


def test_params_replace(six):
    env, params = six
    assert dataclasses.is_dataclass(params)
    assert params.replace(max_steps_in_episode=7).max_steps_in_episode == 7
    assert env.default_params.max_steps_in_episode >= STEPS
