"""Every array of the reference data."""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxdiff.society import learners, world

DATA = np.load(Path(__file__).parents[1] / "data" / "society" / "lambda_vectors.npz")
EXACT = jax.config.read("jax_enable_x64")


def environments(agents):
    """Numbers of the environments with so many agents, and their inputs padded to one shape."""
    numbers = np.flatnonzero(DATA["agents_n"] == agents)
    table = DATA["table"][numbers]
    states = world.State(
        jnp.zeros((len(numbers), 9), jnp.float64 if EXACT else jnp.float32),
        *(jnp.asarray(DATA["start"][numbers][:, i], jnp.int32) for i in (0, 1)),
        jnp.asarray(DATA["start"][numbers][:, 2 : 2 + agents], jnp.int32),
        jnp.zeros(len(numbers), jnp.int32),
    )
    return numbers, table, states


@pytest.mark.parametrize("agents", sorted(set(DATA["agents_n"].tolist())))
def test_steps(agents):
    numbers, table, states = environments(agents)
    step = jax.jit(jax.vmap(world.transition))
    for k in range(80):
        element = DATA["pattern"][numbers, k % DATA["pattern_n"][numbers]].astype(np.int32)
        actions = DATA["actions"][numbers, k, :agents].astype(np.int32)
        states, rewards = step(table.astype(np.int32), element, states, actions, DATA["coins"][numbers, k].astype(np.int32))
        np.testing.assert_array_equal(states.good, DATA["good"][numbers, k])
        np.testing.assert_array_equal(states.evil, DATA["evil"][numbers, k])
        np.testing.assert_array_equal(states.agents, DATA["agents"][numbers, k, :agents])
        lying, wanted = np.asarray(states.cell_reward), DATA["cell_reward"][numbers, k]
        there = ~np.isnan(wanted)
        np.testing.assert_array_equal(lying[there], wanted[there].astype(lying.dtype))  # halvings of +1 and -1 are exact
        wanted = DATA["rewards"][numbers, k, :agents]
        np.testing.assert_array_equal(rewards, wanted.astype(lying.dtype))  # thirds and fifths too: one rounding each


def test_step_exact_is_the_same_step():
    number = int(np.flatnonzero((DATA["agents_n"] == 3) & (DATA["cells_n"] == 5))[0])
    cells, actions, length = (int(DATA[name][number]) for name in ("cells_n", "actions_n", "pattern_n"))
    table, pattern = DATA["table"][number, :cells, :actions], DATA["pattern"][number, :length]
    good, evil, *places = DATA["start"][number, :5].tolist()
    lying, step = np.zeros(cells, np.float32), world.step_exact
    for k in range(20):
        action, coin = DATA["actions"][number, k, :3], DATA["coins"][number, k]
        lying, good, evil, places, rewards = step(table, pattern, k, lying, good, evil, places, action, coin)
        assert (int(good), int(evil)) == (DATA["good"][number, k], DATA["evil"][number, k])
        np.testing.assert_array_equal(places, DATA["agents"][number, k, :3])
        np.testing.assert_allclose(rewards, DATA["rewards"][number, k, :3], atol=1e-7)
        np.testing.assert_array_equal(lying, DATA["cell_reward"][number, k, :cells].astype(np.float32))
    traced = jax.jit(step)(
        table, pattern, 0, np.zeros(cells, np.float32), *DATA["start"][number, :2], *[DATA["start"][number, 2:5]], action, 0
    )
    assert traced[0].shape == (cells,)


@pytest.mark.parametrize("name", learners.LEARNERS)
def test_updates(name):
    """300 updates from one start: the value written by each, and the table in the end."""
    alpha, gamma, beta, start = DATA["learner_parameters"].tolist()
    states, actions, rewards = (DATA[f"learner_{x}"] for x in ("states", "actions", "rewards"))
    dtype = jnp.float64 if EXACT else jnp.float32
    table = jnp.full((12, 3), start, dtype)
    table = learners.QVTables(table, table[:, 0]) if name == "qv" else table

    @jax.jit
    def play(table):
        def one(table, x):
            s, a, r, s2, a2 = x
            table = learners.ALGORITHMS[name].update(table, s, a, r, s2, a2, alpha, gamma, beta)
            return table, (table.q if name == "qv" else table)[s, a]

        steps = (states[:-1], actions[:-1], rewards.astype(dtype), states[1:], actions[1:])
        return jax.lax.scan(one, table, steps)

    table, written = play(table)
    short = "q" if name == "q_learning" else name
    tolerance = 1e-12 if EXACT else 1e-6
    np.testing.assert_allclose(written, DATA[f"learner_{short}_updated_value"], rtol=0, atol=tolerance)
    np.testing.assert_allclose(table.q if name == "qv" else table, DATA[f"learner_{short}_final"], rtol=0, atol=tolerance)
