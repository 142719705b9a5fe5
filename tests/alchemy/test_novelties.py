from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxdiff
from jaxdiff.alchemy import chemistry as chem
from jaxdiff.alchemy import graphs, novelties
from jaxdiff.core.errors import InputError

pytestmark = pytest.mark.slow

KEYS = jax.random.split(jax.random.key(0), 64)  # one of four rotations is missed with probability 4e-8


def starts(env, params):
    return jax.jit(jax.vmap(env.reset_env, in_axes=(0, None)))(KEYS, params)[1]


@pytest.fixture(scope="module")
def before():
    return jaxdiff.make("Alchemy-v0", random_maps=False, trials=2)


@pytest.fixture(scope="module")
def state(before):
    return starts(*before)


@pytest.mark.long
def test_items_are_the_same_before_and_after(before, state):
    for change in (novelties.bottlenecks(3), novelties.rotation(), novelties.reversed_pairs(), novelties.permuted_axes()):
        after = starts(*change(*before))
        assert (after.items == state.items).all(), change.name


@pytest.mark.long
def test_what_changes_is_what_the_name_says(before, state):
    types = chem.type_of_colour()
    old = types[np.asarray(state.chemistry.potion_map)]
    new = types[np.asarray(starts(*novelties.reversed_pairs()(*before)).chemistry.potion_map)]
    assert (new == old ^ 1).all(), "the opposite type of the same axis"
    new = types[np.asarray(starts(*novelties.permuted_axes()(*before)).chemistry.potion_map)]
    assert (new // 2 != old // 2).any(1).all()
    assert (novelties.reversed_pairs()(*novelties.reversed_pairs()(*before))[1].potion_map == before[1].potion_map).all()
    missing = 12 - graphs.edges().sum(1)
    assert set(np.asarray(starts(*novelties.rotation()(*before)).chemistry.rotation).tolist()) == {0, 1, 2, 3}
    for count in (1, 2, 3):
        drawn = np.asarray(starts(*novelties.bottlenecks(count)(*before)).chemistry.graph)
        assert (missing[drawn] > 0).all(), "each has a precondition, so an edge is missing"


def test_mirrored_stones_look_like_their_opposites(before):
    obs = [jax.vmap(e.reset_env, in_axes=(0, None))(KEYS, p)[0] for e, p in (before, novelties.mirrored_stones()(*before))]
    for stone in range(3):
        features = slice(5 * stone, 5 * stone + 3)
        np.testing.assert_array_equal(obs[1][:, features], -obs[0][:, features])


def test_bad_input(before):
    drawn = jaxdiff.make("Alchemy-v0")
    with pytest.raises(InputError, match="1, 2 or 3"):
        novelties.bottlenecks(4)
    for change in (novelties.reversed_pairs(), novelties.permuted_axes(), novelties.mirrored_stones()):
        with pytest.raises(InputError, match="always the same"):
            change(*drawn)
    with pytest.raises(InputError, match="draws its graph"):
        novelties.bottlenecks(1)(before[0], replace(before[1], graph=jnp.int32(3)))
