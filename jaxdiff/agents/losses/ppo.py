"""Proximal policy optimisation (Schulman et al. 2017): the clipped surrogate, value regression, entropy. Arrays of one shape [...]."""

from __future__ import annotations

import jax
import jax.numpy as jnp


def policy_loss(log_probability: jax.Array, old_log_probability: jax.Array, advantage: jax.Array, clip: float | jax.Array) -> jax.Array:
    """The clipped surrogate's mean (equation 7, its negative), float32 [].

    Args:
        log_probability: of the actions taken, under the policy that learns.
        old_log_probability: under the policy that acted.
        advantage: no gradient goes through it.
        clip: ε.
    """
    ratio = jnp.exp(log_probability - old_log_probability)
    advantage = jax.lax.stop_gradient(advantage)
    return -jnp.minimum(ratio * advantage, jnp.clip(ratio, 1 - clip, 1 + clip) * advantage).mean()


def value_loss(value: jax.Array, target: jax.Array) -> jax.Array:
    """Half the mean squared error, float32 []; no gradient goes through the target."""
    return 0.5 * jnp.square(value - jax.lax.stop_gradient(target)).mean()


def normalised(advantage: jax.Array, mean: jax.Array, variance: jax.Array) -> jax.Array:
    """Advantages with mean 0 and variance 1, given those of the whole batch."""
    return (advantage - mean) * jax.lax.rsqrt(variance + 1e-8)
