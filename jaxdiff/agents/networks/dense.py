"""A dense layer whose gradient is written by hand.

What reverse-mode differentiation makes of `x @ w + b` has XLA's CPU compiler transpose the large gradient for the weights, and add up the
bias's row by row: half of the time of such a layer. Written as products over all rows at once it is neither.
"""

from __future__ import annotations

from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
from jax.nn.initializers import Initializer

from jaxdiff.agents.networks.initial import UNIFORM

NARROW = 8  # a product with fewer rows or columns is not done by the library for matrices, but by a loop that is slower than eight of them


@jax.custom_vjp
def product(x: jax.Array, weight: jax.Array) -> jax.Array:
    """X [..., I] times weight [I, O] -> [..., O]."""
    return x @ weight


def _product(x: jax.Array, weight: jax.Array) -> tuple[jax.Array, Any]:
    return x @ weight, (x, weight)


def _product_back(kept: Any, gradient: jax.Array) -> tuple[jax.Array, jax.Array]:
    x, weight = kept
    return gradient @ weight.T, weight_gradient(x, gradient)


product.defvjp(_product, _product_back)


@jax.custom_vjp
def shifted(x: jax.Array, bias: jax.Array) -> jax.Array:
    """X [..., O] plus bias [O]."""
    return x + bias


shifted.defvjp(lambda x, bias: (x + bias, None), lambda _, gradient: (gradient, total(gradient)))


def weight_gradient(x: jax.Array, gradient: jax.Array) -> jax.Array:
    """Sum over rows of outer products: x [..., I], gradient [..., O] -> [I, O]."""
    units = gradient.shape[-1]
    rows = gradient.reshape(-1, units)
    if units < NARROW:
        rows = jnp.concatenate([rows, jnp.zeros((rows.shape[0], NARROW - units), rows.dtype)], axis=-1)
    return (x.reshape(-1, x.shape[-1]).T @ rows)[:, :units]


def total(x: jax.Array) -> jax.Array:
    """Sum over rows: [..., O] -> [O]."""
    rows = x.reshape(-1, x.shape[-1])
    return (jnp.ones((NARROW, rows.shape[0]), rows.dtype) @ rows)[0]


class Dense(nn.Module):
    """x W + b, like flax's: weights `kernel` [I, O] and `bias` [O], both float32.

    Attributes:
        units: O.
        start: how weights start.
        use_bias: whether there is a bias.
    """

    units: int
    start: Initializer = UNIFORM
    use_bias: bool = True

    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        """[..., I] -> [..., O]."""
        x = product(x, self.param("kernel", self.start, (x.shape[-1], self.units), jnp.float32))
        return shifted(x, self.param("bias", nn.initializers.zeros, (self.units,), jnp.float32)) if self.use_bias else x
