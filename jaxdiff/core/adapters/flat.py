"""Actions as one integer, for protocols or learners that know nothing else."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np

from jaxdiff.core.spaces import Discrete, MultiDiscrete, Space


def number_of_actions(space: Space) -> int | None:
    """How many actions a space of integers has; None where actions are real."""
    if isinstance(space, Discrete):
        return space.n
    return math.prod(space.sizes) if isinstance(space, MultiDiscrete) else None


def action(space: Space, number: jax.Array) -> jax.Array:
    """The element of an action space with a number: of MultiDiscrete in mixed radix, the last entry fastest; other spaces' own."""
    if not isinstance(space, MultiDiscrete):
        return number
    strides = np.cumprod([1, *space.sizes[:0:-1]])[::-1].astype(np.int32)
    entries = (jnp.asarray(number, jnp.int32)[..., None] // strides) % np.array(space.sizes, np.int32)
    return entries.astype(space.dtype)
