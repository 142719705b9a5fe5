"""Neighbours of given policies: their real parameters with Gaussian noise added. How far from a good policy are good ones?

Axes: P policies, Q given ones.
"""

from __future__ import annotations

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np

from jaxdiff.core.errors import require, require_integer
from jaxdiff.populations.population import Population


def perturb(key: jax.Array, population: Population, scale: float, each: int = 1) -> Population:
    """Every policy of a population `each` times, with noise from N(0, scale^2) on its real parameters.

    Args:
        key: PRNG key; consumed.
        population: Q given policies.
        scale: standard deviation of the noise; 0 repeats the policies.
        each: neighbours of every policy, which stand together: P = Q x each.

    Raises:
        InputError: policies without real parameters, a negative scale, no neighbours.
    """
    require(bool(np.isfinite(scale)) and scale >= 0, "scale", scale, "a number of at least 0")
    require_integer("each", each, 1)
    leaves, structure = jax.tree.flatten(population.params)
    real = [bool(jnp.issubdtype(jnp.asarray(leaf).dtype, jnp.floating)) for leaf in leaves]
    require(any(real), "population", population.name, "policies with real parameters, such as networks")
    keys = jax.random.split(key, len(leaves))
    moved = []
    for leaf, is_real, its_key in zip(leaves, real, keys, strict=True):
        x = jnp.repeat(jnp.asarray(leaf), each, axis=0)
        moved.append(x + jax.random.normal(its_key, x.shape, x.dtype) * jnp.asarray(scale, x.dtype) if is_real else x)
    name = f"{population.name}, perturbed by {scale:g}"
    return replace(population, name=name, params=jax.tree.unflatten(structure, moved), bits=None)
