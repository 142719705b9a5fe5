import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxdiff.core.errors import InputError
from jaxdiff.core.spaces import Box, Discrete, MultiDiscrete
from jaxdiff.populations import actions, description, networks, perturbations
from jaxdiff.populations.population import Population, features

OBS = Box(-1.0, 1.0, (3,))


@pytest.mark.slow
def test_the_published_architectures_have_their_numbers_of_weights():
    counts = []
    for population in networks.published(jax.random.key(0), Box(-5.0, 5.0, (4,)), Discrete(2), 3):
        counts.append(sum(leaf[0].size for leaf in population.params))
        assert population.count == 3
    assert counts == [8, 10, 24, 30, 40, 50]


@pytest.mark.parametrize("architecture", [*networks.PUBLISHED, networks.Architecture((5, 3), True)], ids=lambda a: a.name)
def test_a_network_is_what_numpy_says(architecture):
    act = networks.draw(jax.random.key(1), OBS, Discrete(4), 6, architecture)
    obs = np.array([0.3, -0.7, 0.1], np.float32)
    for p in range(6):
        x = obs.astype(np.float64)
        weights = [np.asarray(w[p], np.float64) for w in act.params]
        for layer, w in enumerate(weights):
            x = w @ (np.append(x, 1.0) if architecture.bias else x)
            x = np.tanh(x) if layer < len(weights) - 1 else x
        assert int(act.act(jax.tree.map(lambda a, p=p: a[p], act.params), obs, jax.random.key(0))) == np.argmax(x)


@pytest.mark.parametrize("space", [Discrete(3), MultiDiscrete((3, 4)), Box(-2.0, 4.0, (2,)), Box(-np.inf, np.inf, (2,))], ids=str)
def test_actions_are_in_their_space(space):
    population = networks.draw(jax.random.key(2), OBS, space, 50, networks.PUBLISHED[3])
    obs = jax.random.uniform(jax.random.key(3), (50, 3), jnp.float32)
    out = jax.vmap(population.act, in_axes=(0, 0, None))(population.params, obs, jax.random.key(0))
    assert out.shape == (50, *space.shape)
    assert out.dtype == space.dtype
    assert bool(space.contains(out))


def test_real_actions_cover_their_range():
    out = networks.chosen(Box(-2.0, 4.0, (3,)), jnp.array([-50.0, 0.0, 50.0], jnp.float32))
    assert out.tolist() == [-2.0, 1.0, 4.0]


def test_integers_are_one_hot():
    assert features(MultiDiscrete((2, 3)), jnp.array([1, 0])).tolist() == [0, 1, 1, 0, 0]
    assert features(Discrete(3), jnp.int32(2)).tolist() == [0, 0, 1]


def test_equal_populations_share_a_compilation():
    a, b = (networks.draw(jax.random.key(k), OBS, Discrete(2), 2).act for k in range(2))
    assert a == b
    assert hash(a) == hash(b)


def test_constants_and_random_actions():
    constant = actions.constant_actions(MultiDiscrete((2, 3)))
    played = jax.vmap(constant.act, in_axes=(0, None, None))(constant.params, OBS, jax.random.key(0))
    assert sorted(map(tuple, played.tolist())) == [(i, j) for i in range(2) for j in range(3)]
    assert constant.bits == pytest.approx(np.full(6, np.log2(6)))
    drawn = actions.random_actions(Discrete(5), 2)
    keys = jax.random.split(jax.random.key(0), 500)
    seen = np.bincount(np.asarray(jax.vmap(lambda k: drawn.act(0, 0, k))(keys)), minlength=5)
    assert seen.min() > 60
    assert drawn.bits.tolist() == [0, 0]


def test_perturbations_stay_near_and_keep_their_order():
    base = networks.draw(jax.random.key(0), OBS, Discrete(2), 4)
    near = perturbations.perturb(jax.random.key(1), base, 0.01, each=3)
    assert near.count == 12
    for before, after in zip(base.params, near.params, strict=True):
        difference = np.abs(np.asarray(after) - np.repeat(np.asarray(before), 3, axis=0))
        assert 0 < difference.max() < 0.06
    assert near.act == base.act


def test_quantised_bits_are_the_least_that_keep_the_behaviour():
    population = networks.draw(jax.random.key(4), OBS, Discrete(3), 40, networks.PUBLISHED[2])
    obs = jax.random.uniform(jax.random.key(5), (40, 30, 3), jnp.float32, -1, 1)
    bits = description.quantised_bits(population.act, Discrete(3), population.params, obs, batch=16)
    weights = 3 * 4 + 4 * 3
    a_weight = (bits - np.log2(description.MOST_BITS)) / weights
    play = jax.jit(jax.vmap(jax.vmap(lambda p, o: population.act(p, o, jax.random.key(0)), in_axes=(None, 0))))
    wanted = np.asarray(play(population.params, obs))
    for b in range(1, description.MOST_BITS + 1):
        kept = (np.asarray(play(description.quantise(population.params, jnp.int32(b)), obs)) == wanted).all(1)
        assert not kept[a_weight > b].any()
        assert kept[a_weight == b].all()
    assert len(np.unique(a_weight)) > 3


def test_one_bit_is_the_sign():
    x = jnp.array([-3.0, -0.1, 0.1, 9.0], jnp.float32)
    assert description.quantise(x, jnp.int32(1)).tolist() == [-2, -2, 2, 2]
    assert np.abs(np.asarray(description.quantise(x[:3], jnp.int32(12)) - x[:3])).max() <= 8 / 2**13 + 1e-6


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: networks.draw(jax.random.key(0), OBS, Discrete(2), 0), "policies is 0"),
        (lambda: networks.draw(jax.random.key(0), OBS, Discrete(2), 1, scale=0), "scale is 0"),
        (lambda: networks.draw(jax.random.key(0), "dict", Discrete(2), 1), "observation_space is 'dict'"),
        (lambda: networks.draw(jax.random.key(0), OBS, "dict", 1), "action_space is 'dict'"),
        (lambda: networks.Architecture((0,)), "hidden is 0"),
        (lambda: actions.constant_actions(Box(0.0, 1.0, (1,))), "cannot be listed"),
        (lambda: actions.random_actions(Box(-np.inf, np.inf, (1,))), "with bounds"),
        (lambda: perturbations.perturb(jax.random.key(0), actions.constant_actions(Discrete(2)), 1.0), "real parameters"),
        (lambda: Population("none", networks.chosen, jnp.zeros((0, 2))), "at least one policy"),
        (lambda: dataclasses.replace(actions.constant_actions(Discrete(2)), bits=np.zeros(3)), "bits is"),
    ],
)
def test_bad_input(call, words):
    with pytest.raises(InputError, match=words.replace("(", r"\(")):
        call()
