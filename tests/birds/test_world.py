"""Birds-v0 in the protocol, whole episodes against its steps, and novelties."""

import itertools
from dataclasses import replace

import chex
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxdiff
from jaxdiff.birds import levels, novelties, physics, picture
from jaxdiff.birds.film import film
from jaxdiff.birds.play import play, play_levels
from jaxdiff.birds.world import Birds, Params
from jaxdiff.core import autoreset
from jaxdiff.core.errors import InputError

SMALL = {"blocks": 6, "pigs": 3, "platforms": 1, "tnt": 1, "birds": 3}


@pytest.fixture(scope="module")
def world():
    return jaxdiff.make("Birds-v0", **SMALL)


@pytest.fixture(scope="module")
def actions():
    return np.random.default_rng(0).uniform(size=(200, 3, 3)).astype(np.float32)


def test_observations_say_what_there_is(world):
    env, params = world
    obs, state = env.reset(jax.random.key(0), params)
    entries = env.observation_entries(params)
    assert obs.shape == env.observation_space(params).shape == (len(entries),)
    assert bool(env.observation_space(params).contains(obs))
    assert env.action_space(params).shape == (3,)
    named = dict(zip(entries, np.asarray(obs).tolist(), strict=True))
    assert named["pig 0: 1 if it is there, else 0"] == 1
    assert named["pig 0: part of its life that is left"] == 1
    assert named["block 5: 1 if it is there, else 0"] == 0
    assert named["platform 0: half width"] == pytest.approx(0.62)
    assert (named["birds left"], named["x of the slingshot"], named["1 if the next bird is a BirdRed"]) == (3, -8, 1)
    stepped = jax.eval_shape(env.step, jax.random.key(1), state, jnp.zeros((3,), jnp.float32), params)
    assert jax.tree.map(lambda v: (v.shape, v.dtype), stepped[:2]) == jax.tree.map(lambda v: (v.shape, v.dtype), (obs, state))
    assert jaxdiff.make("Birds-v0", **SMALL)[0] == env
    assert hash(jaxdiff.make("Birds-v0", **SMALL)[0]) == hash(env)


@pytest.mark.slow
def test_episodes_are_the_steps(world, actions):
    """`play` gives what stepping with auto-reset gives: passed, birds used, pigs left, and the rewards add up."""
    env, params = world
    outcome = jax.tree.map(np.asarray, play(env, params, actions))
    count = len(actions)
    fresh, batch = autoreset.reset_batch(env, jax.random.split(jax.random.key(0), count), params)
    keys = jax.random.split(jax.random.key(1), 3)
    step = jax.jit(lambda key, state, action: autoreset.step_batch(env, key, state, action, params))
    total, used, left, done = np.zeros(count), np.zeros(count, int), np.zeros(count, int), np.zeros(count, bool)
    for k in range(3):
        obs, batch, reward, terminated, truncated, info = step(keys[k], batch, actions[:, k])
        total, used = total + np.where(done, 0, reward), used + ~done
        left = np.where(done, left, info["pigs_left"])
        done |= np.asarray(terminated)
        assert not np.asarray(truncated).any()
        np.testing.assert_array_equal(obs[terminated], fresh[terminated])
    assert done.all()
    np.testing.assert_array_equal(outcome.pigs_left, left)
    np.testing.assert_array_equal(outcome.passed, left == 0)
    np.testing.assert_array_equal(outcome.birds, used)
    np.testing.assert_allclose(total, (3 - outcome.pigs_left) / 3, atol=1e-6)
    assert 0 < outcome.passed.mean() < 1


@pytest.mark.slow
def test_batches_chunks_and_levels_agree(world, actions):
    env, params = world
    one = play(env, params, actions)
    both = np.stack([actions, actions[::-1]])
    two = jax.tree.map(lambda v: np.stack([v, v]), params)
    many = play_levels(env, two, both)
    shared = play_levels(env, Params(two.level, params.physics), both, threads=1)
    long = jax.vmap(lambda p, a: play(env, p, a))(two, jnp.concatenate([both] * 3, axis=1))  # more than a chunk
    for name in ("passed", "birds", "pigs_left"):
        want = np.asarray(getattr(one, name))
        want = np.stack([want, want[::-1]])
        np.testing.assert_array_equal(getattr(many, name), want)
        np.testing.assert_array_equal(getattr(shared, name), want)
        np.testing.assert_array_equal(getattr(long, name), np.concatenate([want] * 3, axis=1))


def test_novelties_change_what_they_say_under_one_compilation(world, actions):
    env, params = world
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


@pytest.mark.slow
def test_films_end_as_episodes_do(world, actions, tmp_path):
    env, params = world
    outcome = play(env, params, actions)
    for lane in (0, 1, int(np.argmax(outcome.passed))):
        _, state = env.reset(jax.random.key(0), params)
        for action in actions[lane, : int(outcome.birds[lane])]:
            before, shot = state, film(env, params, state, action)
            np.testing.assert_allclose(shot.bird[0], params.level.sling)
            assert (np.diff(shot.bird[: shot.landed, 0]) > 0).all()
            assert shot.bird.shape == (*shot.x.shape[:1], 2)
            assert shot.x.shape == shot.y.shape == shot.life.shape
            state = shot.after
        assert int(env.pigs_left(state)) == int(outcome.pigs_left[lane])
        assert int(state.shot) == int(outcome.birds[lane])
    # Nothing rubs: many birds still move when the steps are over.
    slippery = Params(params.level, replace(params.physics, friction=np.float32(0.001), restitution=np.float32(0.95)))
    _, state = env.reset(jax.random.key(0), params)
    assert any(np.isfinite(film(env, slippery, state, action).bird[-1]).all() for action in actions[:20, 0])
    pictures = picture.shown(env, params, before, shot)
    assert len(pictures) == len(range(0, len(shot.bird), 2)) + 8
    assert not np.array_equal(pictures[0], pictures[-1])
    assert picture.write_gif(pictures[::8], tmp_path / "shot.gif").read_bytes()[:6] == b"GIF89a"
    assert picture.write_png(pictures[-1], tmp_path / "last.png").read_bytes()[1:4] == b"PNG"
    for wrong in (np.zeros((0, 3)), np.zeros(3), "up"):
        with pytest.raises(InputError, match="actions is"):
            picture.episode(env, params, wrong)
    with pytest.raises(InputError, match="pictures is"):
        picture.write_gif([], tmp_path / "none.gif")


def test_fewer_pigs_die_the_more_they_bear(world, actions):
    env, params = world
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


LEDGE = b"""<?xml version="1.0"?><Level width="2"><Camera x="0" y="2" minWidth="20" maxWidth="30"/><Score highScore="0"/>
<Birds><Bird type="BirdRed"/><Bird type="BirdRed"/></Birds><Slingshot x="-8" y="-1.5"/><GameObjects>
<Platform type="Platform" material="" x="3" y="-1" scaleX="3" scaleY="0.5"/>
<Pig type="BasicSmall" material="" x="3.3" y="-0.595" rotation="0"/>
</GameObjects></Level>"""


@pytest.mark.long
@pytest.mark.slow
def test_empty_slots_change_nothing():
    """A level without blocks is the same level however many slots for blocks there are."""
    level = levels.parse(LEDGE)
    shots = np.random.default_rng(1).uniform(size=(400, 3, 3)).astype(np.float32)
    found = []
    for blocks in (0, 6):
        env = Birds(**{**SMALL, "blocks": blocks})
        found.append(play(env, Params(levels.padded(level, env.slots), physics.default()), shots))
    chex.assert_trees_all_equal(*found)
    assert 0 < float(found[0].passed.mean()) < 1


def test_slots_must_fit(world, actions):
    with pytest.raises(InputError, match=r"see levels\.padded"):
        play(Birds(2, 1, 1, 1, 3), world[1], actions)
    many = jax.tree.map(lambda leaf: np.asarray(leaf)[None], world[1])
    with pytest.raises(InputError, match="threads"):
        play_levels(world[0], many, actions[None], threads=-1)
    with pytest.raises(InputError, match="not finite"):
        play_levels(world[0], many, np.full_like(actions, np.nan)[None])
