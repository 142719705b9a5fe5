"""Encoders: any world's observation, last action, last reward and clock as one vector.

Worlds with integer observations are shown one-hot, boxes as they are. Axes: leading axes [...] are free.
"""

from __future__ import annotations

from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np

from jaxdiff.agents.inputs import Inputs
from jaxdiff.agents.networks.dense import Dense
from jaxdiff.core.episodes import check_reward
from jaxdiff.core.errors import require
from jaxdiff.core.spaces import Box, Discrete, MultiDiscrete, Space

LARGEST = 512  # of a one-hot code


def sizes_of(space: Space, argument: str) -> tuple[int, ...]:
    """Choices of every part of an integer space.

    Raises:
        InputError: a space of reals, or one whose one-hot code is too long.
    """
    require(isinstance(space, Discrete | MultiDiscrete), argument, space, "a Discrete or MultiDiscrete space")
    sizes = (space.n,) if isinstance(space, Discrete) else space.sizes if isinstance(space, MultiDiscrete) else ()
    require(sum(sizes) <= LARGEST, argument, space, f"one of at most {LARGEST} choices in all")
    return sizes


def one_hot(parts: jax.Array, sizes: tuple[int, ...]) -> jax.Array:
    """One-hot codes one after another: int [..., len(sizes)] -> float32 [..., sum(sizes)]."""
    codes = [(parts[..., i, None] == np.arange(n)).astype(jnp.float32) for i, n in enumerate(sizes)]
    return jnp.concatenate(codes, axis=-1)


class FlatEncoder(nn.Module):
    """Observation, last action, last reward and clock through one layer of U units.

    Attributes:
        observation: space of observations: a vector of reals, or integers.
        actions: choices of every part of the action.
        units: U.
        episode: steps over which the clock runs from 0 to 1; 0 shows none.
        trial: steps of a trial, whose clock is shown too; 0 for none.
    """

    observation: Space
    actions: tuple[int, ...]
    units: int
    episode: int
    trial: int

    @nn.compact
    def __call__(self, inputs: Inputs) -> jax.Array:
        """Inputs [...] -> float32 [..., U]."""
        seen = inputs.observation
        if isinstance(self.observation, Box):
            seen = seen.astype(jnp.float32)
        else:
            parts = seen[..., None] if isinstance(self.observation, Discrete) else seen
            seen = one_hot(parts, sizes_of(self.observation, "observation"))
        action = inputs.action[..., None] if len(self.actions) == 1 and inputs.action.ndim == inputs.clock.ndim else inputs.action
        done = one_hot(action, self.actions) * (~inputs.is_first)[..., None].astype(jnp.float32)
        parts = [seen, done, inputs.reward[..., None], inputs.is_first[..., None].astype(jnp.float32)]
        for length in (self.episode, self.trial):
            if length:
                parts.append((inputs.clock % np.int32(length)).astype(jnp.float32)[..., None] * np.float32(1 / length))
        return jax.nn.relu(Dense(self.units, name="encode")(jnp.concatenate(parts, axis=-1)))


def check_world(env: Any, params: Any) -> tuple[Space, tuple[int, ...]]:
    """Observation space and choices of the action's parts of a world that the flat encoder knows.

    Raises:
        InputError: an observation that is no vector, reals as actions, or several agents at once.
    """
    space = env.observation_space(params)
    flat = len(space.shape) == 1 if isinstance(space, Box) else True
    require(flat, "world", f"{env.name} with observations {space}", "one whose observation is a vector of reals, or integers")
    if not isinstance(space, Box):
        sizes_of(space, "observation")
    actions = sizes_of(env.action_space(params), "action")
    check_reward(env, params)
    return space, actions
