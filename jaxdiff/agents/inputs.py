"""What a policy is given at a step: the observation, the one before it, its last action and reward, and how long the episode has lasted.

Nothing here is privileged: a player could write all of it down. Axes: T steps, B environments; leading axes are free.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp

from jaxdiff.core.environment import select


@partial(jax.tree_util.register_dataclass, data_fields=["observation", "before", "action", "reward", "is_first", "clock"], meta_fields=[])
@dataclass(frozen=True)
class Inputs:
    """Inputs of a policy, arrays with leading axes [...].

    Attributes:
        observation: what the world shows, [..., entries].
        before: what it showed a step earlier; zeros where the episode starts.
        action: the last action; zeros where the episode starts, int32 [...] or [..., parts].
        reward: the last reward as the learner scales it; 0 where the episode starts, float32 [...].
        is_first: whether `observation` starts an episode, bool [...].
        clock: steps since then, int32 [...].
    """

    observation: Any
    before: Any
    action: Any
    reward: Any
    is_first: Any
    clock: Any


def start(observation: jax.Array, action_shape: tuple[int, ...] = ()) -> Inputs:
    """Inputs of the first steps of B episodes; observation [B, entries]."""
    batch = observation.shape[:1]
    return Inputs(
        observation=observation,
        before=jnp.zeros_like(observation),
        action=jnp.zeros((*batch, *action_shape), jnp.int32),
        reward=jnp.zeros(batch, jnp.float32),
        is_first=jnp.ones(batch, jnp.bool_),
        clock=jnp.zeros(batch, jnp.int32),
    )


def following(last: Inputs, observation: jax.Array, action: jax.Array, reward: jax.Array, is_first: jax.Array) -> Inputs:
    """Inputs after a step.

    Args:
        last: those the action was taken on.
        observation: what is shown now, the first of a new episode where one starts, [B, entries].
        action: int32 [B, ...].
        reward: as the learner scales it, float32 [B].
        is_first: whether a new episode starts, bool [B].
    """
    fresh = start(observation, action.shape[1:])
    going_on = Inputs(observation, last.observation, action.astype(jnp.int32), reward, is_first, last.clock + 1)
    return select(is_first, fresh, going_on)
