"""What each algorithm minimises on a minibatch of whole environments: network outputs and a rollout in, loss and numbers out.

Axes: T steps, B environments of the minibatch.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp

from jaxdiff.agents import distributions
from jaxdiff.agents.config import AlgorithmConfig
from jaxdiff.agents.losses import impala, ppo, returns, vmpo
from jaxdiff.agents.networks.heads import Output
from jaxdiff.agents.rollout import Trajectory


@partial(jax.tree_util.register_dataclass, data_fields=["advantage", "target"], meta_fields=[])
@dataclass(frozen=True)
class Targets:
    """Advantages as the policy's loss wants them, and targets of the values, float32 [T, B] each."""

    advantage: Any
    target: Any


def discounts(algorithm: AlgorithmConfig, ended: jax.Array) -> jax.Array:
    """γ, and 0 where the episode ended, float32 [T, B]."""
    return jnp.where(ended, 0, jnp.float32(algorithm.discount))


def targets(algorithm: AlgorithmConfig, rollout: Trajectory, axis: str | None) -> Targets:
    """Advantages and λ-returns under the values of the network that acted; for PPO normalised over the batch on all devices."""
    values = jnp.concatenate([rollout.value, rollout.last_value[None]], axis=0)
    advantage = returns.advantages(rollout.reward, discounts(algorithm, rollout.ended), values, algorithm.trace)
    target = advantage + rollout.value
    if algorithm.name == "ppo":
        mean, square = advantage.mean(), jnp.square(advantage).mean()
        if axis is not None:
            mean, square = jax.lax.pmean((mean, square), axis)
        advantage = ppo.normalised(advantage, mean, jnp.maximum(square - jnp.square(mean), 0))
    return Targets(advantage, target)


def start_duals(algorithm: AlgorithmConfig) -> dict[str, jax.Array]:
    """Parameters of V-MPO's duals; none for the others."""
    if algorithm.name != "vmpo":
        return {}
    return {name: jnp.float32(vmpo.raw_of(getattr(algorithm, name))) for name in ("temperature", "alpha")}


def loss(
    algorithm: AlgorithmConfig,
    sizes: tuple[int, ...],
    out: Output,
    rollout: Trajectory,
    goal: Targets,
    duals: dict[str, jax.Array],
    entropy_weight: jax.Array,
) -> tuple[jax.Array, dict[str, jax.Array]]:
    """Loss and numbers of a minibatch, float32 [] each.

    Args:
        algorithm: which.
        sizes: choices of every part of an action.
        out: of the network that learns, [T, B].
        rollout: of the network that acted.
        goal: its targets.
        duals: V-MPO's.
        entropy_weight: now.
    """
    taken = distributions.log_probability(out.logits, rollout.action, sizes)
    entropy = distributions.entropy(out.logits, sizes).mean()
    numbers: dict[str, jax.Array] = {}
    if algorithm.name == "ppo":
        old = distributions.log_probability(rollout.logits, rollout.action, sizes)
        policy = ppo.policy_loss(taken, old, goal.advantage, algorithm.clip)
        value = ppo.value_loss(out.value, goal.target)
        numbers["divergence"] = ((jnp.exp(taken - old) - 1) - (taken - old)).mean()
    elif algorithm.name == "impala":
        old = distributions.log_probability(rollout.logits, rollout.action, sizes)
        discount = discounts(algorithm, rollout.ended)
        policy, value = impala.losses(taken, old, rollout.reward, discount, out.value, rollout.last_value)
    else:
        apart = distributions.divergence(rollout.logits, out.logits, sizes)
        temperature, alpha = vmpo.positive(duals["temperature"]), vmpo.positive(duals["alpha"])
        found = vmpo.losses(
            taken,
            goal.advantage,
            apart,
            temperature,
            alpha,
            epsilon_temperature=algorithm.epsilon_temperature,
            epsilon_alpha=algorithm.epsilon_alpha,
        )
        policy, value = found.total, ppo.value_loss(out.value, goal.target)
        numbers |= {"divergence": apart.mean(), "temperature": temperature, "alpha": alpha}
    total = policy + algorithm.value * value - entropy_weight * entropy
    return total, {**numbers, "policy_loss": policy, "value_loss": value, "entropy": entropy}
