"""Auxiliary labels are what the world says, and their losses fall."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from jaxdiff.agents import auxiliary
from jaxdiff.alchemy import chemistry as chem
from jaxdiff.alchemy import graphs, layout
from jaxdiff.alchemy.world import Alchemy
from jaxdiff.core.errors import InputError

EPISODES = 12


@pytest.fixture(scope="module")
def states():
    """States in the middle of rotated episodes, [E]."""
    env = Alchemy(rotation=True)
    keys = jax.random.split(jax.random.key(0), 17)
    _, state = jax.jit(jax.vmap(env.reset, in_axes=(0, None)))(jax.random.split(keys[0], EPISODES), env.default_params)
    step = jax.jit(jax.vmap(env.step_env, in_axes=(None, 0, 0, None)))
    for unused, key in zip(keys[1:9], keys[9:], strict=True):
        action = jax.random.randint(key, (EPISODES,), 0, env.actions, jnp.int32)
        _, state, *_ = step(unused, state, action, env.default_params)
    return state


@pytest.fixture(scope="module")
def labels(states):
    return jax.device_get(jax.jit(jax.vmap(lambda s: auxiliary.labels(auxiliary.NAMES, s)))(states))


def test_features_count_what_is_seen(states, labels):
    shown = jax.vmap(Alchemy(rotation=True)._observe)(states)
    for row, counts in zip(np.asarray(shown), labels["features"], strict=True):
        stones = row[:15].reshape(3, 5)
        stones = np.rint(3 * stones[stones[:, 4] == 0, :4]).astype(int)
        wanted = [(stones[:, k] == 3 * v).sum() for k in range(3) for v in (-1, 0, 1)] + [(stones[:, 3] == v).sum() for v in (-3, -1, 1, 3)]
        colours = np.rint(3 * row[15::2] + 3)[row[16::2] == 0]
        assert counts.tolist() == wanted + [(colours == c).sum() for c in range(6)]


def test_chemistry_is_the_truth(states, labels):
    np.testing.assert_array_equal(labels["chemistry"], chem.to_vector(states.chemistry))


def test_corners_are_where_colours_move_stones(states, labels):
    c = jax.tree.map(np.asarray, states.chemistry)
    for e in range(EPISODES):
        for colour in range(6):
            kind = chem.type_of_colour()[c.potion_map[e], colour]
            for latent in range(8):
                aligned = chem.aligned_corner()[c.stone_map[e], latent]
                assert labels["corners"][e, colour, aligned] == (graphs.transitions()[c.graph[e], latent, kind] != latent)
    assert 0 < labels["corners"].mean() < 1


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("slots", [False, True])
def test_losses_fall(labels, slots):
    """Heads learn to say what differs between a few states from inputs that tell them apart."""
    heads = auxiliary.Heads(auxiliary.NAMES, slots)
    hidden = jax.random.normal(jax.random.key(1), (EPISODES, 6, 8) if slots else (EPISODES, 32), jnp.float32)
    learned = heads.init(jax.random.key(2), hidden)
    optimiser = optax.adam(3e-3)

    def loss(learned):
        found = auxiliary.losses(heads.apply(learned, hidden), labels)
        return sum(found.values()), found

    @jax.jit
    def step(learned, state):
        gradients, found = jax.grad(loss, has_aux=True)(learned)
        steps, state = optimiser.update(gradients, state)
        return optax.apply_updates(learned, steps), state, found

    state = optimiser.init(learned)
    learned, state, first = step(learned, state)
    for _ in range(200):
        learned, state, last = step(learned, state)
    for name in auxiliary.NAMES:
        assert last[name] < 0.5 * first[name], name


def test_weights_are_the_papers():
    zero = {"features": jnp.zeros((1, 19)), "chemistry": jnp.zeros((1, 28)), "corners": jnp.zeros((1, 6, 8))}
    ones = jax.tree.map(jnp.ones_like, zero)
    found = auxiliary.losses(zero, ones)
    assert float(found["features"]) == pytest.approx(0.5 * (13 * 2.4 + 6 * 0.6), rel=1e-6)
    assert float(found["chemistry"]) == pytest.approx(10 * np.log(2), rel=1e-6)


@pytest.mark.host
def test_refusals():
    with pytest.raises(InputError, match="auxiliary"):
        auxiliary.check(("corners", "corners"))
    assert layout.NO_STONE == 8
