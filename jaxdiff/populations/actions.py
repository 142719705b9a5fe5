"""The least that a policy can be: the same action always, or a random one. Reference points for everything else. Axis: P policies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxdiff.core.adapters import flat
from jaxdiff.core.errors import InputError, require, require_integer
from jaxdiff.core.spaces import Box, Space
from jaxdiff.populations.population import Population

MOST = 4096


@dataclass(frozen=True)
class Uniform:
    """A uniform action, whatever is seen."""

    action: Space

    def __call__(self, policy: Any, obs: Any, key: jax.Array) -> jax.Array:
        """An action; the key is consumed."""
        del policy, obs
        return self.action.sample(key)


@dataclass(frozen=True)
class Constant:
    """Always the action that the policy is, as a number, see `core.adapters.flat`."""

    action: Space

    def __call__(self, policy: jax.Array, obs: Any, key: jax.Array) -> jax.Array:
        """The action; the key is not used."""
        del obs, key
        return flat.action(self.action, policy)


def random_actions(action: Space, count: int = 1) -> Population:
    """Policies that act at random: all alike, but for their luck. Their description is taken to be empty: 0 bits.

    Args:
        action: the world's space of actions.
        count: P, at least 1.

    Raises:
        InputError: no policies, or real actions without bounds.
    """
    require_integer("policies", count, 1)
    bounded = not isinstance(action, Box) or bool(np.isfinite([action.low, action.high]).all())
    require(bounded, "action_space", action, "one with bounds, from which an action can be drawn")
    return Population("random actions", Uniform(action), jnp.zeros((count,), jnp.int32), np.zeros(count))


def constant_actions(action: Space) -> Population:
    """All policies that always take the same action, log2 of the number of actions bits each.

    Raises:
        InputError: real actions, or more than `MOST` of them.
    """
    number = flat.number_of_actions(action)
    if number is None:
        raise InputError("action_space", action, "a space of integers: real actions cannot be listed")
    require(number <= MOST, "action_space", f"one of {number} actions", f"at most {MOST} actions")
    return Population("constant actions", Constant(action), jnp.arange(number, dtype=jnp.int32), np.full(number, np.log2(number)))
