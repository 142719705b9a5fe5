"""A golden trajectory of two episodes: where inputs start anew, which discount ends what, which sums become scores."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxdiff.agents import objectives, rollout, update
from jaxdiff.agents.config import AlgorithmConfig
from jaxdiff.agents.networks.heads import Output
from jaxdiff.core.autoreset import reset_batch
from jaxdiff.core.environment import Environment
from jaxdiff.core.spaces import Box, Discrete


class Clock(NamedTuple):
    time: Any


@dataclass(frozen=True)
class Counting(Environment):
    """Shows how many steps were taken, pays that number, ends after three."""

    name = "Counting"
    default_params = None

    def reset_env(self, key, params):
        return jnp.zeros((1,), jnp.float32), Clock(jnp.zeros((), jnp.int32))

    def step_env(self, key, state, action, params):
        time = state.time + 1
        ends = time >= 3
        return time[None].astype(jnp.float32), Clock(time), time.astype(jnp.float32), ends, jnp.zeros((), jnp.bool_), {}

    def observation_space(self, params):
        return Box(0.0, 3.0, (1,))

    def action_space(self, params):
        return Discrete(2)


class Fixed:
    """A network whose value is 10 x the observation and whose memory counts steps; it always takes action 1."""

    def initial(self, batch):
        return jnp.zeros((batch,), jnp.int32)

    def apply(self, parameters, memory, inputs, method):
        memory = jnp.where(inputs.is_first, 0, memory) + 1
        logits = jnp.broadcast_to(jnp.array([-1e9, 0], jnp.float32), (*memory.shape, 2))
        return memory, Output(logits, 10 * inputs.observation[..., 0], memory)


@pytest.fixture(scope="module")
def golden():
    env, network = Counting(), Fixed()
    observation, world = reset_batch(env, jax.random.split(jax.random.key(0), 2), None)
    running = rollout.Running(network.initial(2), rollout.inputs.start(observation), world)
    return rollout.collect(network, env, None, (2,), None, running, jax.random.key(1), 5, 0.5)


def test_inputs(golden):
    _, kept = golden
    given = jax.tree.map(lambda x: np.asarray(x)[:, 0].tolist(), kept.inputs)
    assert given.is_first == [True, False, False, True, False]
    assert given.clock == [0, 1, 2, 0, 1]
    assert given.observation == [[0], [1], [2], [0], [1]]
    assert given.before == [[0], [0], [1], [0], [0]]
    assert given.action == [0, 1, 1, 0, 1]
    assert given.reward == [0, 0.5, 1.0, 0, 0.5]


def test_ends_and_values(golden):
    after, kept = golden
    assert np.asarray(kept.ended)[:, 0].tolist() == [False, False, True, False, False]
    assert np.asarray(kept.raw_reward)[:, 1].tolist() == [1, 2, 3, 1, 2]
    assert np.asarray(kept.value)[:, 0].tolist() == [0, 10, 20, 0, 10]
    assert kept.last_value.tolist() == [20, 20]
    assert after.memory.tolist() == [2, 2], "memory was emptied where the second episode began"


def test_targets(golden):
    """λ = 1: discounted sums, cut at the end of the first episode, bootstrapped at the end of the rollout."""
    _, kept = golden
    found = objectives.targets(AlgorithmConfig("impala", discount=0.5, trace=1.0), kept, None)
    wanted = [0.5 + 0.5 * (1.0 + 0.5 * 1.5), 1.0 + 0.5 * 1.5, 1.5, 0.5 + 0.5 * (1.0 + 0.5 * 20), 1.0 + 0.5 * 20]
    np.testing.assert_allclose(found.target[:, 0], wanted)
    normal = objectives.targets(AlgorithmConfig(discount=0.5, trace=1.0), kept, None).advantage
    np.testing.assert_allclose([normal.mean(), normal.std()], [0, 1], atol=1e-6)


def test_scores(golden):
    _, kept = golden
    running, (total, count) = update._scores(jnp.zeros((2,), jnp.float32), kept)
    assert running.tolist() == [3, 3]
    assert (float(total), float(count)) == (12, 2)
    running, (total, count) = update._scores(running, kept)
    assert (float(total), float(count)) == (12 + 2 * 3, 2)
