import chex
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxdiff
from jaxdiff.core import autoreset
from jaxdiff.core.errors import InputError
from jaxdiff.society import graphs, world

RING = [[0, 1], [1, 2], [2, 0]]
TRANSITION = jax.jit(world.transition, static_argnums=5)


@pytest.mark.parametrize(
    ("cells", "stay", "no_effect"),
    [((2, 20), True, True), ((2, 20), False, True), (9, True, False)],
    ids=["default", "no-stay", "all-lead"],
)
def test_graphs_are_strongly_connected(cells, stay, no_effect):
    distribution = graphs.Distribution(cells, stay=stay, no_effect=no_effect)
    params = jax.tree.map(np.asarray, graphs.sample(jax.random.split(jax.random.key(0), 2000), distribution))
    world.check(params)
    assert graphs.strongly_connected(params.table, params.cells_n).all()
    assert (params.actions_n >= 2).all()
    assert (params.actions_n <= params.cells_n).all()
    if stay:
        cells = np.arange(params.table.shape[1])
        assert ((params.table[:, :, 0] == cells) | (cells >= params.cells_n[:, None])).all()
    if not no_effect:
        assert not (params.table == graphs.NO_EFFECT).any()


def test_distribution_of_sizes():
    """Pattern lengths are geometric with mean 100, numbers of actions 1 + geometric(.1) within 2..9, to four standard errors."""
    params = jax.tree.map(np.asarray, graphs.sample(jax.random.split(jax.random.key(0), 20_000), graphs.Distribution()))
    length = params.pattern_n
    assert abs(length.mean() - 100) < 4 * 99.5 / np.sqrt(20_000)
    expected = 0.9 ** np.arange(8)
    share = np.bincount(params.actions_n, minlength=10)[2:] / 20_000
    np.testing.assert_allclose(share, expected / expected.sum(), atol=4 * 0.5 / np.sqrt(20_000))
    assert len(set(graphs.texts(params))) > 19_900


def test_strong_connection_is_noticed():
    one_way = np.array([[[0, 1], [1, 2], [2, 2]], [[0, 1], [1, 2], [2, 0]]])
    assert graphs.strongly_connected(one_way, [3, 3]).tolist() == [False, True]


def test_protocol_with_an_agent_axis():
    env, params = jaxdiff.make("Lambda-v0", agents=3, steps=4)
    obs, state = jax.jit(env.reset)(jax.random.key(0), params)
    assert obs.shape == (3, 5) == (3, len(env.observation_entries(params)))
    assert all(bool(env.observation_space(params).contains(o)) for o in obs)
    assert int(obs[0, 0]) != int(obs[0, 1]), "Good and Evil start apart"
    np.testing.assert_array_equal(obs[:, 2], state.agents)
    np.testing.assert_array_equal(obs[1, 3:], [state.agents[2], state.agents[0]])
    step = jax.jit(env.step)
    for k in range(4):
        action = env.action_space(params).sample(jax.random.key(10 + k))
        obs, new, reward, terminated, truncated, _info = step(jax.random.key(20 + k), state, action, params)
        chex.assert_trees_all_equal_shapes_and_dtypes(new, state)
        assert reward.shape == (3,)
        assert (bool(terminated), bool(truncated)) == (False, k == 3)
        state = new
    assert int(state.time) == 0, "reset in the same step"


def test_batches_of_many_agents():
    env, params = jaxdiff.make("Lambda-v0", agents=2, cells=4, steps=3)

    @jax.jit
    def start_and_step(key):
        keys = jax.random.split(key, (1 + len(autoreset.MODES), 5))
        _, batch = autoreset.reset_batch(env, keys[0], params)
        actions = jnp.zeros((5, 2), jnp.int32)
        return [autoreset.step_batch(env, k, batch, actions, params, mode=m) for m, k in zip(autoreset.MODES, keys[1:], strict=True)]

    for _, _, reward, _, truncated, _ in start_and_step(jax.random.key(0)):
        assert reward.shape == (5, 2)
        assert truncated.shape == (5,)


def test_a_rollout_keeps_the_agent_axis():
    env, _ = jaxdiff.make("Lambda-v0", agents=2, cells=4, steps=3)
    out = jaxdiff.rollout(
        env, stand, jax.random.key(2), policies=jnp.zeros((1,)), memory=jnp.zeros(()), steps=7, environments=4, collect=True
    )
    assert out.total.shape == (1, 4, 2)
    np.testing.assert_allclose(out.trajectory["reward"].sum(0), out.total, atol=1e-6)


def stand(policy, memory, obs, is_first, key):
    return memory, jnp.zeros((obs.shape[0],), jnp.int32)


def test_environments_of_all_sizes_share_a_compilation():
    env = world.Lambda(agents=2, cells=20)
    params = graphs.sample(jax.random.split(jax.random.key(0), 50), graphs.Distribution((3, 20)))
    assert set(np.asarray(params.cells_n).tolist()) >= {3, 20}
    traces = []

    @jax.jit
    def go(key, params):
        traces.append(1)
        _, state = env.reset_env(key, params)
        return env.step_env(jax.random.fold_in(key, 1), state, jnp.zeros(2, jnp.int32), params)[1]

    for i in range(3):
        one = jax.tree.map(lambda x, i=i: x[i], params)
        assert int(go(jax.random.key(i), one).agents.max()) < int(one.cells_n)
    assert len(traces) == 1
    assert hash(world.Lambda(agents=2)) == hash(world.Lambda(agents=2))


def test_what_a_step_does_by_hand():
    """Good wants the agent's cell and stays; both want one cell and the coin decides; rewards fade, are shared and vanish."""
    table = np.array([[0, 1], [1, 2], [2, 3], [3, 0]])
    lying, good, evil, _, rewards = world.step_exact(table, [1], 0, np.zeros(4), 0, 2, [1, 1], [0, 0], 0)
    assert (int(good), int(evil)) == (0, 3), "an agent is in Good's way"
    assert rewards.tolist() == [0, 0]
    assert lying.tolist() == [1, 0, 0, -1]
    lying, good, evil, _, rewards = world.step_exact(table, [0], 0, lying, good, evil, [3, 3], [1, 1], 0)
    assert rewards.tolist() == [0.5, 0.5], "two agents share Good's new reward"
    assert lying.tolist() == [0, 0, 0, -1]
    both = np.array([[0, 2], [1, 2], [2, 0], [3, 1]])
    for coin, wanted in ((0, (2, 1)), (1, (0, 2))):
        _, good, evil, *_ = world.step_exact(both, [1], 0, np.zeros(4), 0, 1, [3], [0], coin)
        assert (int(good), int(evil)) == wanted
    _, good, evil, *_ = world.step_exact(np.array([[0, 1], [1, -1]]), [1], 0, np.zeros(2), 0, 1, [1], [0], 0)
    assert (int(good), int(evil)) == (0, 1), "who stands there keeps it"


@pytest.mark.parametrize(
    ("rules", "reward", "left"),
    [(world.Rules(order="eat_first"), 0.5, 1.0), (world.Rules(sharing="full"), 1.0, 0.0), (world.Rules(avoid_agents=False), 0.5, 0.0)],
)
def test_options(rules, reward, left):
    state = world.State(jnp.array([1.0, 0, 0], jnp.float32), jnp.int32(2), jnp.int32(1), jnp.array([0, 0], jnp.int32), jnp.int32(0))
    table = jnp.array([[0, 1], [1, 2], [2, 0]], jnp.int8)
    if rules.avoid_agents:
        state = world.State(state.cell_reward, jnp.int32(0), state.evil, state.agents, state.time)
        new, rewards = TRANSITION(table, jnp.int32(0), state, jnp.zeros(2, jnp.int32), jnp.int32(0), rules)
    else:
        new, rewards = TRANSITION(table, jnp.int32(1), state, jnp.zeros(2, jnp.int32), jnp.int32(0), rules)
        assert int(new.good) == 0
    assert rewards.tolist() == [reward, reward]
    assert float(new.cell_reward[0]) == left


def test_render_needs_no_display():
    env, params = jaxdiff.make("Lambda-v0", agents=2)
    _, state = jax.jit(env.reset)(jax.random.key(0), params)
    image = env.render(state, params)
    assert image.dtype == np.uint8
    assert image.ndim == 3
    assert len(np.unique(image.reshape(-1, 3), axis=0)) > 5


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: world.params([[0, 3], [1, 0], [2, 0]], [0]), "table is 3"),
        (lambda: world.params([[0, -3], [1, 0]], [0]), "table is -3"),
        (lambda: world.params([[0, 1], [1, 1]], [0]), "not strongly connected"),
        (lambda: world.params([[0, 0]], [0]), "cells is 1"),
        (lambda: world.params(RING, [2]), "pattern is 2"),
        (lambda: world.params(RING, []), "pattern is"),
        (lambda: world.params([0, 1], [0]), "table is"),
        (lambda: world.Lambda(agents=0), "agents is 0"),
        (lambda: world.Lambda(cells=1), "cells is 1"),
        (lambda: jaxdiff.make("Lambda-v0", agents=0), "agents is 0"),
        (lambda: jaxdiff.make("Lambda-v0", cells=1), "cells is 1"),
        (lambda: world.Params(np.array([[0, 2], [1, 0]]), np.int32(2), np.int32(2), np.array([0]), np.int32(1)), "table is 2"),
        (lambda: world.Params(np.array([[0, 0], [1, 0]]), np.int32(2), np.int32(2), np.array([0]), np.int32(1)), "not strongly connected"),
        (lambda: world.Params(np.array([[0, 0]]), np.int32(1), np.int32(2), np.array([0]), np.int32(1)), "cells is 1"),
        (lambda: world.Lambda(order="sideways"), "order is 'sideways'"),
        (lambda: world.Lambda(decay=2.0), "decay is 2.0"),
        (lambda: world.Lambda(cells=3).start(world.params(RING, [1]), 1, 1, [0]), "evil is 1"),
        (lambda: world.Lambda(cells=3).start(world.params(RING, [1]), 1, 3, [0]), "evil is 3"),
        (lambda: world.Lambda(cells=3).start(world.params(RING, [1]), 1, 2, [0, 1]), "agents is"),
        (lambda: graphs.Distribution(cells=1), "cells is 1"),
        (lambda: graphs.Distribution(cells=(9, 3)), "cells is"),
        (lambda: graphs.Distribution(stop=0.0), "stop is 0.0"),
    ],
)
def test_bad_input(call, words):
    with pytest.raises(InputError, match=words):
        call()


def test_a_given_start():
    env = world.Lambda(cells=3, agents=2)
    obs, state = env.start(world.params(RING, [1]), 0, 2, [1, 1])
    assert obs.tolist() == [[0, 2, 1, 1], [0, 2, 1, 1]]
    chex.assert_trees_all_equal_shapes_and_dtypes(state, env.reset(jax.random.key(0), world.params(RING, [1]))[1])
