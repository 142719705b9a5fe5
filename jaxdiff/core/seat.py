"""One agent's view of a world of several: it sits in the first seat, and everybody else acts at random.

For measures that ask for one policy, one observation and one reward. Axis: m agents.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxdiff.core.environment import Environment, Transition
from jaxdiff.core.errors import InputError
from jaxdiff.core.spaces import Discrete, MultiDiscrete, Space


@dataclass(frozen=True)
class OneSeat(Environment[Any, Any]):
    """A world of m agents for the one in the first seat; the other actions are uniform.

    Attributes:
        env: a world whose actions, rewards and observations have an axis of agents, actions one integer each.
        shown: how many entries of its observation it sees, so that others may come without being seen; all when None.
    """

    env: Environment[Any, Any]
    shown: int | None = None

    @property
    def name(self) -> str:
        """The world's name, marked."""
        return f"{self.env.name} (first seat)"

    @property
    def default_params(self) -> Any:
        """The world's."""
        return self.env.default_params

    def _joint(self, params: Any) -> MultiDiscrete:
        space = self.env.action_space(params)
        if not isinstance(space, MultiDiscrete):
            raise InputError("env", f"{self.env.name}, with actions {space}", "a world of several agents with one integer action each")
        return space

    def reset_env(self, key: jax.Array, params: Any) -> tuple[Any, Any]:
        """The world's, as the first agent sees it."""
        obs, state = self.env.reset_env(key, params)
        return obs[0][: self.shown], state

    def step_env(self, key: jax.Array, state: Any, action: jax.Array, params: Any) -> Transition[Any]:
        """One step: the first agent's action and reward, int32 [] and float32 []."""
        space = self._joint(params)
        key_others, key_world = jax.random.split(key)
        others = jax.random.randint(key_others, space.shape, 0, np.array(space.sizes, np.int32), dtype=jnp.int32)
        joint = others.at[0].set(jnp.asarray(action).astype(jnp.int32)).astype(space.dtype)
        obs, state, reward, *rest = self.env.step_env(key_world, state, joint, params)
        return obs[0][: self.shown], state, reward[0], *rest  # pyright: ignore[reportReturnType]

    def observation_space(self, params: Any) -> Space:
        """Of one agent."""
        space = self.env.observation_space(params)
        return replace(space, sizes=space.sizes[: self.shown]) if isinstance(space, MultiDiscrete) else space

    def action_space(self, params: Any) -> Discrete:
        """Of one agent."""
        return Discrete(self._joint(params).sizes[0])

    def observation_entries(self, params: Any) -> tuple[str, ...]:
        """The world's."""
        return self.env.observation_entries(params)[: self.shown]

    def render(self, state: Any, params: Any) -> np.ndarray:
        """The world's."""
        return self.env.render(state, params)
