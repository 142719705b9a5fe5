"""A policy plays given episodes: the same through both interfaces, and what it says it did is what the log does."""

import dataclasses

import jax
import numpy as np
import pytest

from jaxdiff.agents import presets, update
from jaxdiff.agents.config import TrainConfig, WorldConfig
from jaxdiff.agents.networks.agent import NetworkConfig
from jaxdiff.agents.policy import Policy
from jaxdiff.core.errors import InputError
from jaxdiff.studies import reference_agents, trained_agents

EPISODES = 6


@pytest.fixture(scope="module")
def episodes():
    return reference_agents.drawn(EPISODES, 0, False)


@pytest.fixture(scope="module")
def policies():
    """One network behind the benchmark's interface and behind actions by colour."""
    network = NetworkConfig("slots", units=4, encoder_units=4, scorer_units=4)
    benchmark = TrainConfig(network=network)
    typed = dataclasses.replace(benchmark, world=WorldConfig.of("Alchemy-v0", typed_actions=True))
    parameters = jax.jit(update.start, static_argnums=(0, 2))(update.Program(benchmark), jax.random.key(0), 1).learned["network"]
    return Policy(benchmark, parameters), Policy(typed, parameters)


@pytest.mark.slow
def test_both_interfaces_play_the_same(policies, episodes):
    one, other = (p.play(episodes.chemistry, episodes.stones, episodes.potions, greedy=True) for p in policies)
    np.testing.assert_array_equal(one.actions, other.actions)
    np.testing.assert_array_equal(one.scores, other.scores)


@pytest.mark.long
@pytest.mark.slow
def test_what_is_measured_is_what_was_played(policies, episodes):
    found = trained_agents.evaluate(policies[1], episodes, seed=1)
    numbers = found.numbers
    assert numbers["episode score"].mean == pytest.approx(found.dataset["score"].values.sum(1).mean())
    assert found.nothing == 0, "masked"
    assert found.policy_entropy > 0.5
    again = trained_agents.evaluate(policies[1], episodes, seed=1)
    np.testing.assert_array_equal(found.log.stone, again.log.stone)
    other = trained_agents.log_of(policies[1], episodes, seed=2)[0]
    assert other.stone.shape != found.log.stone.shape or (other.stone != found.log.stone).any()


@pytest.mark.host
def test_presets():
    for name in presets.PRESETS:
        assert presets.alchemy(name).algorithm == presets.PRESETS[name].algorithm
    paper = presets.PRESETS["paper-vmpo"]
    shape = paper.network
    assert (shape.layers, shape.heads, shape.head_units, shape.mlp_units) == (6, 8, 32, 256)
    assert (paper.algorithm.discount, paper.algorithm.epsilon_temperature, paper.algorithm.epsilon_alpha) == (0.99, 0.5, 0.001)
    impala = presets.PRESETS["paper-impala"]
    assert (impala.network.units, impala.algorithm.learning_rate, impala.algorithm.value) == (256, 3.3e-4, 0.5)
    changed = presets.alchemy("cpu", core="gru", auxiliary=("features",), extra_input="truth", interface="types", steps=1000)
    assert dict(changed.world.options) == {"see": "ground_truth", "typed_actions": True}
    assert (changed.network.core, changed.network.units, changed.seconds, changed.environment_steps) == ("gru", 128, None, 1000)
    wrong_ones = ({"preset": "tiny"}, {"preset": "cpu", "core": "rnn"}, {"preset": "cpu", "extra_input": "all"})
    for wrong in (*wrong_ones, {"preset": "cpu", "seconds": 1, "steps": 1}):
        with pytest.raises(InputError):
            presets.alchemy(**wrong)


def test_refusals(policies, episodes):
    short = reference_agents.drawn(2, 0, False, trials=3)
    with pytest.raises(InputError, match="stones"):
        policies[0].play(short.chemistry, short.stones, short.potions)
    with pytest.raises(InputError, match="as jaxdiff train writes it"):
        Policy.load("/nowhere")
