"""Plans: sequences of actions that are played whatever is seen. All of them up to a length, or a sample.

Actions are numbers, see `core.adapters.flat`; axes: M plans, T actions.
"""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxdiff.core.adapters import flat
from jaxdiff.core.errors import InputError, require, require_integer
from jaxdiff.core.spaces import Space

MOST = 1 << 24  # plans that are listed at most


def every(space: Space, steps: int) -> np.ndarray:
    """All plans of a number of steps, in lexicographic order, int32 [actions^T, T].

    Args:
        space: action space, of integers.
        steps: T, at least 1.

    Raises:
        InputError: real actions, or more than `MOST` plans.
    """
    actions = _number(space)
    require_integer("steps", steps, 1)
    count = actions**steps
    require(count <= MOST, "steps", f"{steps}, which makes {count:.3g} plans of {actions} actions", f"so few that there are at most {MOST}")
    return (np.arange(count)[:, None] // actions ** np.arange(steps - 1, -1, -1) % actions).astype(np.int32)


def draw(key: jax.Array, space: Space, count: int, steps: int) -> jax.Array:
    """Uniform plans, with replacement, int32 [M, T].

    Args:
        key: PRNG key; consumed.
        space: action space, of integers.
        count: M, at least 1.
        steps: T, at least 1.
    """
    require_integer("count", count, 1)
    require_integer("steps", steps, 1)
    return jax.random.randint(key, (count, steps), 0, _number(space), jnp.int32)


def coordinates(space: Space, plan: Any) -> np.ndarray:
    """The plans' actions as vectors, which metrics compare, float32 [M, T, k]."""
    elements = np.asarray(flat.action(space, jnp.asarray(plan)), np.float32)
    return elements.reshape(*np.shape(plan), math.prod(space.shape))


def _number(space: Space) -> int:
    actions = flat.number_of_actions(space)
    if actions is None:
        raise InputError("space", space, "a space of integers: real actions cannot be listed")
    return actions
