"""A small world for learners: a bandit whose best arm is another in every episode."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from jaxdiff.core.environment import Environment
from jaxdiff.core.spaces import Discrete


class State(NamedTuple):
    best: Any
    time: Any


@dataclass(frozen=True)
class Bandit(Environment):
    """Two arms, one of which pays 1; an episode has eight pulls, so a player with memory gets 7.5 and one without 4."""

    steps: int = 8

    @property
    def name(self):
        return "TestBandit-v0"

    @property
    def default_params(self):
        return None

    def reset_env(self, key, params):
        return jnp.zeros((), jnp.int32), State(jax.random.randint(key, (), 0, 2, jnp.int32), jnp.zeros((), jnp.int32))

    def step_env(self, key, state, action, params):
        time = state.time + 1
        reward = (action == state.best).astype(jnp.float32)
        return jnp.zeros((), jnp.int32), State(state.best, time), reward, time >= self.steps, jnp.zeros((), jnp.bool_), {}

    def observation_space(self, params):
        return Discrete(1)

    def action_space(self, params):
        return Discrete(2)

    def observation_entries(self, params):
        return ("nothing",)
