"""One seat in a world of the class Lambda: one agent chooses, and the others act at random.

For measures that know one agent and one action. What it sees is Good, Evil and its own cell, however many others there are.
"""

from __future__ import annotations

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np

from jaxdiff.core.environment import Environment, Transition
from jaxdiff.core.spaces import Discrete, MultiDiscrete
from jaxdiff.society.world import Lambda, Params, State

SEEN = 3


@dataclass(frozen=True)
class Seat(Environment[State, Params]):
    """The first seat of a world; the others act uniformly at random, by the key of the step.

    Attributes:
        env: the world.
    """

    env: Lambda

    @property
    def name(self) -> str:
        """The world's name, marked."""
        return f"{self.env.name} (one seat)"

    @property
    def default_params(self) -> Params:
        """The world's."""
        return self.env.default_params

    def reset_env(self, key: jax.Array, params: Params) -> tuple[jax.Array, State]:
        """The world's, as one agent sees it: int32 [3]."""
        obs, state = self.env.reset_env(key, params)
        return obs[0, :SEEN], state

    def step_env(self, key: jax.Array, state: State, action: jax.Array, params: Params) -> Transition[State]:
        """The world's; action int [], reward float32 []."""
        chance, others = jax.random.split(key)
        count = jnp.maximum(jnp.asarray(params.actions_n, jnp.int32), 1)
        drawn = jax.random.randint(others, (self.env.agents - 1,), 0, count, jnp.int32)
        actions = jnp.concatenate([jnp.asarray(action, jnp.int32)[None], drawn])
        obs, state, rewards, *rest = self.env.step_env(chance, state, actions, params)
        return obs[0, :SEEN], state, rewards[0], *rest  # pyright: ignore[reportReturnType]

    def observation_space(self, params: Params) -> MultiDiscrete:
        """Three cells."""
        return MultiDiscrete((self.env.cells,) * SEEN, "int32")

    def action_space(self, params: Params) -> Discrete:
        """Of one agent."""
        return Discrete(int(np.shape(params.table)[-1]))

    def observation_entries(self, params: Params) -> tuple[str, ...]:
        """What is seen."""
        return self.env.observation_entries(params)[:SEEN]

    def render(self, state: State, params: Params) -> np.ndarray:
        """The world's."""
        return self.env.render(state, params)
