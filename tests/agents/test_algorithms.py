"""Each algorithm learns to use memory: on a bandit whose best arm changes from episode to episode."""

import pytest

import jaxdiff
from jaxdiff.agents import learner
from jaxdiff.agents.config import AlgorithmConfig, TrainConfig, WorldConfig
from jaxdiff.agents.networks.agent import NetworkConfig

jaxdiff.register("TestBandit-v0", "tests.agents.worlds:Bandit")
RATE = {"learning_rate": 1e-2, "last_learning_rate": 1e-3, "reward_scale": 1.0, "discount": 0.9}
ALGORITHMS = {
    "ppo": AlgorithmConfig("ppo", minibatches=2, **RATE),
    "impala": AlgorithmConfig("impala", minibatches=2, epochs=1, entropy=1e-2, **RATE),
    "vmpo": AlgorithmConfig(
        "vmpo", minibatches=2, epochs=1, target_period=4, epsilon_temperature=0.1, epsilon_alpha=0.01, alpha=0.5, entropy=0.0,
        last_entropy=0.0, **RATE,
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ppo", *(pytest.param(name, marks=pytest.mark.long) for name in ("vmpo", "impala"))])
def test_a_bandit_is_solved(name):
    config = TrainConfig(
        world=WorldConfig("TestBandit-v0"),
        network=NetworkConfig("gru", units=16, encoder_units=16),
        algorithm=ALGORITHMS[name],
        environments=64,
        steps=8,
        seconds=None,
        environment_steps=300 * 64 * 8,
    )
    for seed in range(3):
        done = learner.train(config, learner.Run(seed=seed, report_seconds=0))
        score = sum(line["score"] for line in done.lines[-20:]) / 20
        # 7.5 with memory, 4 without.
        assert score > 4 + 0.9 * 3.5, (name, seed, score)
