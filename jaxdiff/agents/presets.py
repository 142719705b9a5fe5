"""Named configurations. The published ones follow the paper's Tables 2 and 3; what the paper leaves out is ours and says so.

Out of scope of the published ones: population-based training, pixel control, kickstarting and everything three-dimensional, and their
2e10 steps.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from jaxdiff.agents.config import AlgorithmConfig, TrainConfig, WorldConfig
from jaxdiff.agents.networks.agent import NetworkConfig
from jaxdiff.core.errors import require

INPUTS = {"none": "none", "truth": "ground_truth", "belief": "belief", "marginals": "marginals"}
INTERFACES = ("benchmark", "types")
# The paper's weights belong to its algorithm. Beside PPO's small gradients they are all that is left of a clipped one: with them the
# chemistry loss costs 14 points in ten minutes.
LIGHT = 0.1

_SLOTS = NetworkConfig("slots", units=48, encoder_units=48, scorer_units=64)
_PPO = AlgorithmConfig()
PRESETS: dict[str, TrainConfig] = {
    # Seconds: does everything work?
    "smoke": TrainConfig(
        network=NetworkConfig("slots", units=8, encoder_units=8, scorer_units=8),
        environments=8,
        seconds=None,
        environment_steps=3 * 8 * 200,
    ),
    # Ten minutes on two cores.
    "cpu": TrainConfig(network=_SLOTS, algorithm=_PPO, seconds=600.0),
    # An hour on two cores: wider.
    "hour": TrainConfig(
        network=dataclasses.replace(_SLOTS, units=64, encoder_units=64),
        algorithm=dataclasses.replace(_PPO, last_learning_rate=6e-5),
        seconds=3600.0,
    ),
    # A quarter of an hour on one accelerator. Not measured: no accelerator was at hand.
    "gpu": TrainConfig(
        network=dataclasses.replace(_SLOTS, units=128, encoder_units=128, scorer_units=128),
        algorithm=dataclasses.replace(_PPO, last_learning_rate=6e-5),
        environments=1024,
        seconds=900.0,
    ),
    # Table 2: layers, heads, units of heads and perceptrons, discount, ε_η, ε_α, T_target, weights of policy and value.
    # Ours: learning rate, memory, n-step returns' λ, batch, reward scale, duals at the start.
    "paper-vmpo": TrainConfig(
        network=NetworkConfig(
            "gtrxl", units=256, encoder_units=256, layers=6, heads=8, head_units=32, mlp_units=256, memory=64, clock=False, mask=False
        ),
        algorithm=AlgorithmConfig(
            "vmpo", epochs=1, minibatches=1, discount=0.99, trace=0.95, learning_rate=1e-4, last_learning_rate=1e-4,
            entropy=0.0, last_entropy=0.0, value=1.0, epsilon_temperature=0.5, epsilon_alpha=0.001, target_period=100,
        ),
        seconds=600.0,
    ),
    # Table 3: LSTM, discount, learning rate, weights of value and entropy. Ours: batch, reward scale, Adam, the gradient's norm.
    "paper-impala": TrainConfig(
        network=NetworkConfig("lstm", units=256, encoder_units=256, clock=False, mask=False),
        algorithm=AlgorithmConfig(
            "impala", epochs=1, minibatches=1, discount=0.99, learning_rate=3.3e-4, last_learning_rate=3.3e-4,
            entropy=1e-3, last_entropy=1e-3, value=0.5,
        ),
        seconds=600.0,
    ),
}  # fmt: skip


def alchemy(
    preset: str,
    *,
    core: str | None = None,
    algorithm: str | None = None,
    auxiliary: tuple[str, ...] = (),
    auxiliary_weight: float | None = None,
    extra_input: str = "none",
    interface: str = "benchmark",
    rotation: bool = False,
    seconds: float | None = None,
    steps: int | None = None,
    environments: int | None = None,
) -> TrainConfig:
    """A preset with changes.

    Args:
        preset: one of `PRESETS`.
        core, algorithm, environments: another one.
        auxiliary: what is predicted besides.
        auxiliary_weight: see `TrainConfig`; if None, `LIGHT`, and 1 (the paper's) in the published configurations.
        extra_input: privileged input, one of `INPUTS`.
        interface: `benchmark` (39 numbers, 40 actions) or `types` (22 actions, by colour).
        rotation: whether chemistries are rotated.
        seconds, steps: another budget.

    Raises:
        InputError: an unknown name, two budgets, or what configurations refuse.
    """
    require(preset in PRESETS, "preset", preset, f"one of {', '.join(PRESETS)}")
    require(extra_input in INPUTS, "input", extra_input, f"one of {', '.join(INPUTS)}")
    require(interface in INTERFACES, "interface", interface, f"one of {', '.join(INTERFACES)}")
    require(seconds is None or steps is None, "seconds", seconds, "a budget in seconds or in steps, not both")
    config = PRESETS[preset]
    options: dict[str, Any] = {}
    if extra_input != "none":
        options["see"] = INPUTS[extra_input]
    if interface == "types":
        options["typed_actions"] = True
    if rotation:
        options["rotation"] = True
    changes: dict[str, Any] = {"world": WorldConfig.of("Alchemy-v0", **options), "auxiliary": tuple(auxiliary)}
    if auxiliary or auxiliary_weight is not None:
        changes["auxiliary_weight"] = (1.0 if preset.startswith("paper-") else LIGHT) if auxiliary_weight is None else auxiliary_weight
    if core is not None and core != config.network.core:
        flat = {} if core == "slots" else {"units": 128, "encoder_units": 128}
        changes["network"] = dataclasses.replace(config.network, core=core, **(flat if preset != "smoke" else {}))
    if algorithm is not None:
        changes["algorithm"] = dataclasses.replace(config.algorithm, name=algorithm)
    if environments is not None:
        changes["environments"] = environments
    if seconds is not None or steps is not None:
        changes |= {"seconds": seconds, "environment_steps": steps}
    return dataclasses.replace(config, **changes)
