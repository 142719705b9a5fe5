import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import jaxdiff
from jaxdiff.automata import apl, strategies, world
from jaxdiff.core.errors import InputError
from tests import oracles


def rollout(env, params, programs, **options):
    memory = apl.empty_memory(env.steps * len(env.observation))
    return jaxdiff.rollout(
        env, apl.act, jax.random.key(0), policies=jnp.asarray(programs), memory=memory, steps=env.steps, params=params, **options
    )


@pytest.mark.parametrize("observation", ["clr", "rlc", "lr"])
def test_interpreter_in_the_protocol_equals_the_kernels(observation):
    """World, interpreter and rollout against the compiled form in the packed kernel: the definition against the fast version."""
    env, _ = jaxdiff.make("SAECA-v0", width=21, steps=40, observation=observation)
    programs = oracles.random_programs(np.random.default_rng(0), 50)
    params = world.paper_world(110)
    slow = rollout(env, params, programs, mode="disabled")
    fast = strategies.fresh(programs, params, 40, observation=observation)
    np.testing.assert_array_equal(np.asarray(slow.state.total)[:, 0, 0], fast.numerator)
    np.testing.assert_array_equal(np.asarray(slow.state.cells)[:, 0], fast.cells)
    np.testing.assert_array_equal(np.asarray(slow.state.position)[:, 0], fast.position)
    np.testing.assert_allclose(np.asarray(slow.total)[:, 0], fast.reward * 40, rtol=1e-5)


@pytest.mark.parametrize("width", [3, 4, 16, 47, 70])
def test_one_step_equals_the_oracle(width):
    env = world.SAECA(width=width, steps=7)
    rng = np.random.default_rng(width)
    step = jax.jit(env.step_env)
    for _ in range(10):
        params = world.Params(rng.integers(256), rng.integers(0, 2, width).astype(np.uint8), rng.integers(width))
        obs, state = env.reset(jax.random.key(0), params)
        position = int(params.position)
        assert obs.tolist() == [params.cells[position], params.cells[position - 1], params.cells[(position + 1) % width]]
        actions = [(int(rng.integers(3)), int(rng.integers(4))) for _ in range(7)]
        for t, action in enumerate(actions):
            obs, state, reward, terminated, truncated, info = step(jax.random.key(1), state, jnp.asarray(action), params)
            total, cells, place = oracles.rollout([], int(params.rule), params.cells, position, t + 1, actions=actions)
            numerator = oracles.numerator(oracles.reward(cells, place), width)
            assert (state.cells.tolist(), int(state.position)) == (cells, place)
            assert sum(int(x) << (32 * i) for i, x in enumerate(info["numerator"])) == numerator
            assert float(reward) == pytest.approx(numerator / env.scale, rel=1e-6)
            assert not terminated
            assert bool(truncated) == (t == 6)
        assert sum(int(x) << (32 * i) for i, x in enumerate(state.total)) == oracles.numerator(total, width)


@given(st.integers(0, 255), st.integers(0, 20), st.integers(0, 20))
def test_mirrored_worlds_mirror(rule, position, seed):
    """Left and right may be exchanged in the rule, the seed and the observation; the reward is symmetric."""
    cells = np.random.default_rng(seed).integers(0, 2, 21).astype(np.uint8)
    mirrored_rule = sum((rule >> (4 * left + 2 * c + r) & 1) << (4 * r + 2 * c + left) for left in (0, 1) for c in (0, 1) for r in (0, 1))
    program = apl.parse("Uaddm back Uaddm back Uadd1")[None]  # never moves: a move would have to be mirrored too
    here = strategies.fresh(program, world.Params(rule, cells, position), 20, observation="clr")
    there = strategies.fresh(program, world.Params(mirrored_rule, cells[::-1].copy(), 20 - position), 20, observation="crl")
    assert here.numerator.tolist() == there.numerator.tolist()


def test_shapes_and_dtypes_do_not_change():
    env, params = jaxdiff.make("SAECA-v0", width=21)
    key = jax.random.key(0)
    obs, state = jax.eval_shape(env.reset, key, params)
    action = jax.ShapeDtypeStruct((2,), jnp.int32)
    new_obs, new_state, reward, terminated, truncated, info = jax.eval_shape(env.step, key, state, action, params)
    assert (obs, state) == (new_obs, new_state)
    assert info["final_observation"] == obs
    assert (reward.dtype, terminated.dtype, truncated.dtype) == (jnp.float32, jnp.bool_, jnp.bool_)
    assert bool(env.observation_space(params).contains(env.reset(key, params)[0]))


def test_the_observation_is_explained_and_the_state_drawn():
    env, params = jaxdiff.make("SAECA-v0", width=21, observation="rl")
    assert env.observation_entries(params) == ("cell to its right", "cell to its left")
    _, state = env.reset(jax.random.key(0), params)
    image = env.render(state, params)
    assert (image.shape, image.dtype) == ((16, 21 * 16, 3), np.uint8)
    dark = image[1, ::16, 0] < 100
    assert dark.tolist() == (np.asarray(state.cells) == 1).tolist()
    assert image[8, 10 * 16 + 8].tolist() == [230, 70, 50], "the agent stands on a 0 in the centre"


def test_auto_reset_keeps_the_last_observation():
    env = world.SAECA(width=9, steps=3)
    params = world.paper_world(30, 9)
    step = jax.jit(env.step)
    first, state = env.reset(jax.random.key(0), params)
    for episode in range(2):
        for t in range(3):
            before = state
            obs, state, *_, truncated, info = step(jax.random.key(t), state, jnp.array([1, 1]), params)
            plain = env.step_env(jax.random.key(t), before, jnp.array([1, 1]), params)
            assert info["final_observation"].tolist() == plain[0].tolist(), episode
            assert bool(truncated) == (t == 2)
        assert obs.tolist() == first.tolist()
        assert int(state.time) == 0


def test_equal_worlds_share_one_compilation():
    traces = []

    def play(env, params):
        traces.append(1)
        return env.reset(jax.random.key(0), params)[0]

    jitted = jax.jit(play, static_argnums=0)
    for rule in (30, 110, 184):
        env, _ = jaxdiff.make("SAECA-v0", width=11)
        jitted(env, world.paper_world(rule, 11))
    assert len(traces) == 1


def test_batches_of_worlds():
    params = world.paper_world((184, 110))
    rule, cells, position, has_worlds = world.batched(params)
    assert (rule.tolist(), cells.shape, position.tolist(), has_worlds) == ([184, 110], (2, 21), [10, 10], True)
    assert world.batched(world.paper_world(184))[3] is False
    assert "".join(map(str, world.paper_world(184).cells)) == "010101010101010101010"


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: world.SAECA(width=2), "width is 2"),
        (lambda: world.SAECA(width=21).reset(jax.random.key(0), world.paper_world(1, 20)), "width is 20"),
        (lambda: world.SAECA(steps=0), "steps is 0"),
        (lambda: world.SAECA(start=21), "start is 21"),
        (lambda: world.SAECA(observation="cc"), "observation is 'cc'"),
        (lambda: world.SAECA(observation="c"), "two or three different letters"),
        (lambda: world.SAECA(width=201), "63 bits"),
        (lambda: world.paper_world(256), "rule is 256"),
        (lambda: world.paper_world(-1), "rule is -1"),
        (lambda: world.paper_world(1, width=2), "width is 2"),
        (lambda: world.paper_world(1, position=21), "position is 21"),
        (lambda: world.Params(1, [0, 1, 2], 0), "with a 2"),
        (lambda: world.Params(1, [0, 1, 0], -1), "position is -1"),
        (lambda: world.batched(world.Params([1, 2], np.zeros((3, 5), int), 0)), "shapes that broadcast"),
        (lambda: jaxdiff.make("SAECA-v1"), "did you mean SAECA-v0"),
        (lambda: jaxdiff.make("SAECA-v0", wide=3), "wide is 3"),
    ],
)
def test_bad_input(call, words):
    with pytest.raises(InputError, match=words):
        call()
