"""A novelty: a function from a world to the same world with something changed, with a name and a kind.

Worlds keep their own (`automata.novelties`); what can be changed in every world, its reward, is here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxdiff.core.environment import Environment, Transition
from jaxdiff.core.errors import require
from jaxdiff.core.spaces import Space

KINDS = ("dynamics", "start", "reward", "topology", "agents", "appearance")


@dataclass(frozen=True)
class Novelty:
    """What is changed in a world.

    Attributes:
        name: a few words.
        kind: one of `KINDS`; "appearance" changes nothing that matters, and serves as the null.
        change: takes a world and its parameters and gives both back, changed.
    """

    name: str
    kind: str
    change: Callable[[Any, Any], tuple[Any, Any]]

    def __post_init__(self) -> None:
        require(self.kind in KINDS, "kind", self.kind, f"one of {', '.join(KINDS)}")

    def __call__(self, env: Any, params: Any) -> tuple[Any, Any]:
        """The changed world and its parameters."""
        return self.change(env, params)


@partial(jax.tree_util.register_dataclass, data_fields=["world", "factor", "offset"], meta_fields=[])
@dataclass(frozen=True)
class RewardParams:
    """Parameters of a world whose reward is factor x reward + offset.

    Attributes:
        world: the world's own.
        factor, offset: float32 [].
    """

    world: Any
    factor: Any
    offset: Any


@dataclass(frozen=True)
class OtherReward(Environment[Any, RewardParams]):
    """A world with factor x reward + offset for its reward.

    Attributes:
        env: the world.
    """

    env: Environment[Any, Any]

    @property
    def name(self) -> str:
        """The world's name, marked."""
        return f"{self.env.name} (other reward)"

    @property
    def default_params(self) -> RewardParams:
        """The world's own, and its reward as it is."""
        return RewardParams(self.env.default_params, np.float32(1), np.float32(0))

    def reset_env(self, key: jax.Array, params: RewardParams) -> tuple[Any, Any]:
        """The world's."""
        return self.env.reset_env(key, params.world)

    def step_env(self, key: jax.Array, state: Any, action: jax.Array, params: RewardParams) -> Transition[Any]:
        """The world's, but for the reward."""
        obs, state, reward, *rest = self.env.step_env(key, state, action, params.world)
        return obs, state, (reward * jnp.asarray(params.factor) + jnp.asarray(params.offset)).astype(reward.dtype), *rest  # pyright: ignore[reportReturnType]

    def observation_space(self, params: RewardParams) -> Space:
        """The world's."""
        return self.env.observation_space(params.world)

    def action_space(self, params: RewardParams) -> Space:
        """The world's."""
        return self.env.action_space(params.world)

    def observation_entries(self, params: RewardParams) -> tuple[str, ...]:
        """The world's."""
        return self.env.observation_entries(params.world)

    def render(self, state: Any, params: RewardParams) -> np.ndarray:
        """The world's."""
        return self.env.render(state, params.world)


def reward(factor: float, offset: float, name: str | None = None) -> Novelty:
    """The reward becomes factor x reward + offset.

    Args:
        factor, offset: finite numbers.
        name: what it is called; says the numbers when None.
    """
    for argument, value in (("factor", factor), ("offset", offset)):
        require(bool(np.isfinite(value)), argument, value, "a finite number")

    def change(env: Environment[Any, Any], params: Any) -> tuple[OtherReward, RewardParams]:
        return OtherReward(env), RewardParams(params, np.float32(factor), np.float32(offset))

    return Novelty(name or f"reward x {factor:g} + {offset:g}", "reward", change)
