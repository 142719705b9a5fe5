"""Knobs on worlds made by others: rewards paid late, actions that slip, irrelevant features; and an Alchemy small enough for a table.

Axes: K irrelevant features.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxdiff.alchemy import layout
from jaxdiff.alchemy.world import Alchemy
from jaxdiff.core.environment import Environment, Transition
from jaxdiff.core.errors import InputError, require_integer
from jaxdiff.core.spaces import Box, Discrete, MultiDiscrete, Space


class Held(NamedTuple):
    """State of the world, rewards that have not been paid float32 [], steps int32 []."""

    inner: Any
    owed: jax.Array
    time: jax.Array


@dataclass(frozen=True)
class Harder(Environment[Held, Any]):
    """A world with real observations, made harder; all else equal, and so are the returns that can be had.

    Attributes:
        env: the world.
        hold: rewards are paid every so many steps, and at the end of the episode.
        irrelevant: K, standard normal numbers that are seen behind the observation.
    """

    env: Environment[Any, Any]
    hold: int = 1
    irrelevant: int = 0

    def __post_init__(self) -> None:
        require_integer("hold", self.hold, 1)
        require_integer("irrelevant", self.irrelevant, 0)

    @property
    def name(self) -> str:
        """The world's name and the knobs."""
        held = f", paid every {self.hold} steps" * (self.hold > 1)
        return f"{self.env.name}{held}{f', {self.irrelevant} irrelevant features' * (self.irrelevant > 0)}"

    @property
    def default_params(self) -> tuple[Any, np.float32]:
        """The world's, and how often an action is replaced by a random one."""
        return self.env.default_params, np.float32(0)

    def reset_env(self, key: jax.Array, params: Any) -> tuple[jax.Array, Held]:
        """The world's."""
        key_world, key_seen = jax.random.split(key)
        obs, state = self.env.reset_env(key_world, params[0])
        return self._seen(obs, key_seen), Held(state, jnp.zeros((), jnp.float32), jnp.zeros((), jnp.int32))

    def step_env(self, key: jax.Array, state: Held, action: jax.Array, params: Any) -> Transition[Held]:
        """One step; the reward is what is paid now."""
        key_world, key_seen, key_slip, key_action = jax.random.split(key, 4)
        inner, slip = params
        other = self.action_space(params).sample(key_action)
        action = jnp.where(jax.random.uniform(key_slip, (), jnp.float32) < slip, other, jnp.asarray(action).astype(other.dtype))
        obs, after, reward, terminated, truncated, _ = self.env.step_env(key_world, state.inner, action, inner)
        owed, time = state.owed + reward.astype(jnp.float32), state.time + 1
        pays = (time % self.hold == 0) | terminated | truncated
        zero = jnp.zeros((), jnp.float32)
        return (
            self._seen(obs, key_seen),
            Held(after, jnp.where(pays, zero, owed), time),
            jnp.where(pays, owed, zero),
            terminated,
            truncated,
            {},
        )

    def observation_space(self, params: Any) -> Box:
        """Entries of the world, and K more."""
        space = self.env.observation_space(params[0])
        if not isinstance(space, Box):
            raise InputError("env", f"{self.env.name}, with observations {space}", "a world with real observations")
        low, high = (space.low, space.high) if not self.irrelevant else (-np.inf, np.inf)
        return Box(low, high, (int(np.prod(space.shape)) + self.irrelevant,))

    def action_space(self, params: Any) -> Space:
        """The world's."""
        return self.env.action_space(params[0])

    def _seen(self, obs: Any, key: jax.Array) -> jax.Array:
        noise = jax.random.normal(key, (self.irrelevant,), jnp.float32)
        return jnp.concatenate([jnp.asarray(obs, jnp.float32).reshape(-1), noise])


@dataclass(frozen=True)
class TableAlchemy(Environment[Any, Any]):
    """One trial of Alchemy with one stone, for tables: looks are known, and only the graph is hidden and new in every episode.

    Attributes:
        preconditions: of the graph, 0 to 3: a move along one axis waits for a coordinate on another.
        steps: of the episode.
    """

    preconditions: int = 0
    steps: int = 12

    def __post_init__(self) -> None:
        require_integer("preconditions", self.preconditions, 0, 3)
        require_integer("steps", self.steps, 1)

    @property
    def _world(self) -> Alchemy:
        return Alchemy(
            bottlenecks=self.preconditions or "none", random_maps=False, trials=1, steps=self.steps, stones=1, typed_actions=True
        )

    @property
    def name(self) -> str:
        """With its preconditions."""
        return f"Alchemy of one trial, {self.preconditions} preconditions"

    @property
    def default_params(self) -> Any:
        """Alchemy's."""
        return self._world.default_params

    def reset_env(self, key: jax.Array, params: Any) -> tuple[jax.Array, Any]:
        """A new graph, stone and potions."""
        state = self._world.reset_env(key, params)[1]
        return self._seen(state), state

    def step_env(self, key: jax.Array, state: Any, action: jax.Array, params: Any) -> Transition[Any]:
        """One step: nothing, the stone into the cauldron, or into the first potion of a colour."""
        _, state, *rest = self._world.step_env(key, state, action, params)
        return self._seen(state), state, *rest  # pyright: ignore[reportReturnType]

    def observation_space(self, params: Any) -> MultiDiscrete:
        """The stone's corner (8: gone), and of which colours there are potions."""
        return MultiDiscrete((layout.NO_STONE + 1, *(2,) * layout.NO_POTION))

    def action_space(self, params: Any) -> Discrete:
        """Nothing, cauldron, six colours; Alchemy's actions on its first stone."""
        return Discrete(2 + layout.NO_POTION)

    def _seen(self, state: Any) -> jax.Array:
        left = layout.colour_counts(state.potions) > 0
        return jnp.concatenate([layout.unpack_stones(state.stones)[:1], left.astype(jnp.int32)])
