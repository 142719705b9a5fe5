"""Birds-v0 in the protocol, whole episodes against its steps, and novelties."""

import itertools

import chex
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxdiff
from jaxdiff.birds import levels, novelties, physics
from jaxdiff.birds.play import play, play_levels
from jaxdiff.birds.world import Birds, Params
from jaxdiff.core import autoreset
from jaxdiff.core.errors import InputError

SMALL = {"blocks": 6, "pigs": 3, "platforms": 1, "tnt": 1, "birds": 3}


@pytest.fixture(scope="module")
def world():
    env, params = jaxdiff.make("Birds-v0", **SMALL)
    return env, params, jax.jit(env.reset), jax.jit(env.step)


@pytest.fixture(scope="module")
def actions():
    return np.random.default_rng(0).uniform(size=(200, 3, 3)).astype(np.float32)


def test_protocol(world, actions):
    env, params, reset, step = world
    obs, state = reset(jax.random.key(0), params)
    entries = env.observation_entries(params)
    assert obs.shape == env.observation_space(params).shape == (len(entries),)
    assert bool(env.observation_space(params).contains(obs))
    assert env.action_space(params).shape == (3,)
    named = dict(zip(entries, np.asarray(obs).tolist(), strict=True))
    assert named["pig 0: 1 if it is there, else 0"] == 1
    assert named["block 5: 1 if it is there, else 0"] == 0
    assert (named["birds left"], named["x of the slingshot"]) == (3, -8)
    total, done = 0.0, False
    for k in range(3):
        assert not done
        after = step(jax.random.key(k), state, actions[0, k], params)
        chex.assert_trees_all_equal_shapes_and_dtypes((obs, state), after[:2])
        obs, state, reward, terminated, truncated, info = after
        total, done = total + float(reward), bool(terminated)
        assert not bool(truncated)
        assert info["final_observation"].shape == obs.shape
        if done:
            break
    assert done
    assert 0 <= total <= 1
    assert int(state.shot) == 0, "a new episode has begun"
    assert jaxdiff.make("Birds-v0", **SMALL)[0] == env
    assert hash(jaxdiff.make("Birds-v0", **SMALL)[0]) == hash(env)


def test_episodes_are_the_steps(world, actions):
    """`play` gives what stepping gives: passed, birds used, pigs left, and the rewards add up."""
    env, params, _, _ = world
    outcome = jax.tree.map(np.asarray, play(env, params, actions))
    keys = jax.random.split(jax.random.key(0), 200)
    _, batch = autoreset.reset_batch(env, keys, params)
    step = jax.jit(
        lambda state, action: autoreset.step_batch(env, jax.random.split(jax.random.key(1), 200), state, action, params, mode="disabled")
    )
    total, used = np.zeros(200), np.full(200, 3)
    for k in range(3):
        _, batch, reward, terminated, _, info = step(batch, actions[:, k])
        total += np.asarray(reward)
        used = np.where(np.asarray(terminated), np.minimum(used, k + 1), used)
    np.testing.assert_array_equal(outcome.pigs_left, info["pigs_left"])
    np.testing.assert_array_equal(outcome.passed, info["passed"])
    np.testing.assert_array_equal(outcome.birds, used)
    np.testing.assert_allclose(total, (3 - outcome.pigs_left) / 3, atol=1e-6)
    assert 0 < outcome.passed.mean() < 1


def test_batches_chunks_and_levels_agree(world, actions):
    env, params, _, _ = world
    one = play(env, params, actions)
    many = play_levels(env, jax.tree.map(lambda v: np.stack([v, v]), params), np.stack([actions, actions[::-1]]))
    vmapped = jax.vmap(lambda a: play(env, params, a))(jnp.stack([actions, actions[::-1]]))
    long = play(env, params, np.concatenate([actions] * 6))
    for name in ("passed", "birds", "pigs_left"):
        want = np.asarray(getattr(one, name))
        np.testing.assert_array_equal(getattr(many, name), np.stack([want, want[::-1]]))
        np.testing.assert_array_equal(getattr(vmapped, name), np.stack([want, want[::-1]]))
        np.testing.assert_array_equal(getattr(long, name), np.concatenate([want] * 6))


def test_novelties_change_what_they_say_under_one_compilation(world, actions):
    env, params, _, _ = world
    before = jax.tree.map(np.asarray, play(env, params, actions))
    traces = play._cache_size()
    found = {}
    for novelty in (*novelties.ours(), novelties.appearance_only()):
        other, changed = novelty(env, params)
        assert other == env
        chex.assert_trees_all_equal_shapes_and_dtypes(changed, params)
        found[novelty.name] = jax.tree.map(np.asarray, play(other, changed, actions))
    assert play._cache_size() == traces
    assert len(novelties.ours()) == 12 == len(found) - 1
    null = found.pop("appearance only")
    chex.assert_trees_all_equal(null, before)
    for name, outcome in found.items():
        assert (outcome.pigs_left != before.pigs_left).any(), name
    for name in ("pig life x 2", "pig life x 0.5"):
        assert name in found
    batch = jax.tree.map(lambda v: np.stack([v, v]), params)
    for novelty in novelties.ours():
        chex.assert_trees_all_equal(jax.tree.map(lambda v: v[1], novelty(env, batch)[1]), novelty(env, params)[1])


def test_fewer_pigs_die_the_more_they_bear(world, actions):
    env, params, _, _ = world
    rate = [play(env, novelties.pig_life(f)(env, params)[1], actions).passed.mean() for f in (0.1, 0.5, 1.0, 2.0, 10.0)]
    assert all(a >= b for a, b in itertools.pairwise(rate))
    assert rate[0] > rate[2] > rate[4]


def test_the_mirrored_slingshot_mirrors(world, actions):
    """A world whose things stand symmetrically plays the same from the other side."""
    from jaxdiff.birds.level import Thing, assembled, padded

    env = world[0]
    things = [Thing("RectFat", "wood", x, -3.285) for x in (1.0, 3.0)] + [Thing("BasicSmall", "", 2.0, -3.25)]
    params = Params(padded(assembled(things, [0, 2, 3], (-8.0, -1.5)), env.slots), physics.default())
    _, mirrored = novelties.mirrored_slingshot()(env, params)
    assert float(mirrored.level.sling[0]) == 12
    one, other = (play(env, p, actions) for p in (params, mirrored))
    assert np.mean(np.asarray(one.passed) == np.asarray(other.passed)) > 0.99  # but for rounding at the rim of a contact
    assert 0 < float(one.passed.mean()) < 1


@pytest.mark.host
@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda env, params: Birds(pigs=0), "pigs is 0"),
        (lambda env, params: Birds(birds=6), "birds is 6"),
        (lambda env, params: Birds(blocks=2.5), "blocks is 2.5"),
        (lambda env, params: Birds().reset(None, params), "level is with 11 slots"),
        (lambda env, params: play(env, params, np.zeros((4, 2, 3))), "actions is of shape"),
        (lambda env, params: play_levels(env, params, np.zeros((4, 2, 3))), "params is with kinds"),
        (lambda env, params: novelties.gravity(0), "factor is 0"),
        (lambda env, params: novelties.wind(np.nan), "acceleration is nan"),
        (lambda env, params: novelties.fan(1.0, (2.0, 1.0)), "band is"),
        (lambda env, params: novelties.new_bird(mass=-1), "mass is -1"),
        (lambda env, params: levels.generate(0, 0), "count is 0"),
    ],
)
def test_bad_input(call, words):
    env, params = jaxdiff.make("Birds-v0", **SMALL)
    with pytest.raises(InputError, match=words):
        call(env, params)
