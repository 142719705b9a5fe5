"""Multi-agent worlds in JaxMARL's dictionary form, without importing JaxMARL.

`reset(key) -> obs, state` and `step(key, state, actions) -> obs, state, rewards, dones, infos`, where all but the state are dictionaries
by the names of the agents, and `dones["__all__"]` says that the episode has ended; `step` resets in the same step, as JaxMARL's does.
Pure functions: they can be jitted and vmapped.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp

from jaxdiff.core.environment import Environment
from jaxdiff.core.errors import require
from jaxdiff.core.spaces import Discrete, MultiDiscrete

Named = dict[str, jax.Array]


@dataclass(frozen=True)
class DictForm:
    """A world whose action space has one entry an agent, by the names of its agents.

    Attributes:
        env: the world.
        params: its parameters, with no batch axis.
    """

    env: Environment[Any, Any]
    params: Any

    def __post_init__(self) -> None:
        space = self.env.action_space(self.params)
        key = jax.eval_shape(lambda: jax.random.key(0))
        obs, state = jax.eval_shape(self.env.reset_env, key, self.params)
        action = jax.ShapeDtypeStruct(space.shape, space.dtype)
        reward = jax.eval_shape(self.env.step_env, key, state, action, self.params)[2]
        many = isinstance(space, MultiDiscrete) and reward.shape == space.shape == obs.shape[:1]
        require(many, "env", self.env.name, "a world with an axis of agents and one discrete action each")

    @property
    def agents(self) -> tuple[str, ...]:
        """Names of the agents."""
        return tuple(f"agent_{i}" for i in range(self.env.action_space(self.params).shape[0]))

    def action_space(self, agent: str) -> Discrete:
        """Actions of one agent."""
        space = self.env.action_space(self.params)
        assert isinstance(space, MultiDiscrete)
        return Discrete(space.sizes[self.agents.index(agent)])

    def observation_space(self, agent: str) -> Any:
        """Observations of one agent; all have the same."""
        require(agent in self.agents, "agent", agent, f"one of {', '.join(self.agents)}")
        return self.env.observation_space(self.params)

    def reset(self, key: jax.Array) -> tuple[Named, Any]:
        """First observations and state. The key is consumed."""
        obs, state = self.env.reset_env(key, self.params)
        return self._named(obs), state

    def step(self, key: jax.Array, state: Any, actions: Named) -> tuple[Named, Any, Named, Named, dict[str, Any]]:
        """One step; where the episode ended, observations and state are those of a fresh one. The key is consumed."""
        return self._returned(self.env.step(key, state, self._joint(actions), self.params))

    def step_env(self, key: jax.Array, state: Any, actions: Named) -> tuple[Named, Any, Named, Named, dict[str, Any]]:
        """The same without auto-reset."""
        return self._returned(self.env.step_env(key, state, self._joint(actions), self.params))

    def _joint(self, actions: Named) -> jax.Array:
        return jnp.stack([jnp.asarray(actions[agent]).astype(jnp.int32) for agent in self.agents])

    def _named(self, values: jax.Array) -> Named:
        return {agent: values[i] for i, agent in enumerate(self.agents)}

    def _returned(self, transition: Any) -> tuple[Named, Any, Named, Named, dict[str, Any]]:
        obs, state, reward, terminated, truncated, info = transition
        done = terminated | truncated
        dones: Any = dict.fromkeys((*self.agents, "__all__"), done)
        return self._named(obs), state, self._named(reward), dones, info
