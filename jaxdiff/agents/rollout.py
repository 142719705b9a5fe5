"""T steps of B environments with one network acting: what a learner learns from. Axes: T steps, B environments, A logits."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp

from jaxdiff.agents import auxiliary, distributions, inputs
from jaxdiff.agents.inputs import Inputs
from jaxdiff.core.autoreset import BatchState, step_batch


@partial(
    jax.tree_util.register_dataclass,
    data_fields=["inputs", "action", "logits", "value", "reward", "raw_reward", "ended", "labels", "memory", "last_value"],
    meta_fields=[],
)
@dataclass(frozen=True)
class Trajectory:
    """A rollout.

    Attributes:
        inputs: [T, B, ...].
        action: int32 [T, B] or [T, B, parts].
        logits: of the policy that acted, float32 [T, B, A].
        value: its value, float32 [T, B].
        reward: scaled, float32 [T, B]; `raw_reward` as the world gives it.
        ended: whether the episode ended with the step, bool [T, B].
        labels: of auxiliary losses, [T, B, ...].
        memory: before the first step, [B, ...].
        last_value: of the state after the last step, float32 [B].
    """

    inputs: Inputs
    action: Any
    logits: Any
    value: Any
    reward: Any
    raw_reward: Any
    ended: Any
    labels: Any
    memory: Any
    last_value: Any


@partial(jax.tree_util.register_dataclass, data_fields=["memory", "inputs", "world"], meta_fields=[])
@dataclass(frozen=True)
class Running:
    """What goes on from step to step: memory, inputs of the next step, the environments' states; [B, ...] each."""

    memory: Any
    inputs: Inputs
    world: BatchState


def collect(
    network: Any,
    env: Any,
    env_params: Any,
    sizes: tuple[int, ...],
    parameters: Any,
    running: Running,
    key: jax.Array,
    steps: int,
    reward_scale: float,
    names: tuple[str, ...] = (),
) -> tuple[Running, Trajectory]:
    """Act for T steps.

    A time limit counts as an end: worlds here have episodes of a fixed length, and the clock is shown.

    Args:
        network: see `networks.agent`.
        env: the world.
        env_params: its numbers.
        sizes: choices of every part of an action.
        parameters: of the network.
        running: where to go on.
        key: consumed.
        steps: T.
        reward_scale: what rewards are multiplied with.
        names: auxiliary labels that are kept.
    """

    def step(running: Running, key: jax.Array) -> tuple[Running, dict[str, Any]]:
        key_act, key_world = jax.random.split(key)
        memory, out = network.apply(parameters, running.memory, running.inputs, method="step")
        action = distributions.sample(key_act, out.logits, sizes)
        labels = jax.vmap(partial(auxiliary.labels, names))(running.world.env) if names else {}
        observation, world, raw, terminated, truncated, _ = step_batch(env, key_world, running.world, action, env_params)
        ended = terminated | truncated
        raw = raw.astype(jnp.float32)
        reward = raw * jnp.float32(reward_scale)
        following = inputs.following(running.inputs, observation, action, reward, ended)
        kept = {
            "inputs": running.inputs,
            "action": action,
            "logits": out.logits,
            "value": out.value,
            "reward": reward,
            "raw_reward": raw,
            "ended": ended,
            "labels": labels,
        }
        return Running(memory, following, world), kept

    after, kept = jax.lax.scan(step, running, jax.random.split(key, steps))
    _, out = network.apply(parameters, after.memory, after.inputs, method="step")
    return after, Trajectory(**kept, memory=running.memory, last_value=out.value)
