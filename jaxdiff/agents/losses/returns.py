"""Targets for values: generalised advantage estimation, λ-returns, n-step returns and V-trace.

Arrays are [T, B], time first. `value` has T + 1 rows: the last is that of the state after the last step. `discount` [T, B] is γ, and 0
where the episode ended with that step.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp


def _backwards(start: jax.Array, additions: jax.Array, factors: jax.Array) -> jax.Array:
    """x_t = addition_t + factor_t x_{t+1}, from the end, [T, B]."""

    def step(later: jax.Array, now: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        addition, factor = now
        here = addition + factor * later
        return here, here

    return jax.lax.scan(step, start, (additions, factors), reverse=True)[1]


def advantages(reward: jax.Array, discount: jax.Array, value: jax.Array, trace: float | jax.Array) -> jax.Array:
    """Generalised advantage estimation (Schulman et al. 2016, equation 16), float32 [T, B].

    Args:
        reward: [T, B].
        discount: [T, B].
        value: [T + 1, B].
        trace: λ.
    """
    errors = reward + discount * value[1:] - value[:-1]
    return _backwards(jnp.zeros_like(reward[0]), errors, discount * trace)


def discounted(reward: jax.Array, discount: jax.Array, last: jax.Array) -> jax.Array:
    """Sums of discounted rewards until the end of the segment, then `last` [B]; float32 [T, B]."""
    return _backwards(last, reward, discount)


@partial(jax.tree_util.register_dataclass, data_fields=["values", "advantages"], meta_fields=[])
@dataclass(frozen=True)
class VTrace:
    """Targets of V-trace, float32 [T, B] each: of the values, and the policy gradient's advantages."""

    values: Any
    advantages: Any


def v_trace(
    reward: jax.Array, discount: jax.Array, value: jax.Array, log_ratio: jax.Array, *, clip: float = 1.0, trace: float = 1.0
) -> VTrace:
    """V-trace (Espeholt et al. 2018, equation 1 and the policy gradient below it).

    Args:
        reward, discount: [T, B].
        value: [T + 1, B].
        log_ratio: logarithm of π / μ, the learner's over the actor's probability of the action, [T, B].
        clip: the largest importance weight, of ρ and of c.
        trace: λ on the c.
    """
    ratio = jnp.minimum(jnp.exp(log_ratio), clip)
    errors = ratio * (reward + discount * value[1:] - value[:-1])
    corrections = _backwards(jnp.zeros_like(reward[0]), errors, discount * trace * jnp.minimum(ratio, 1.0))
    targets = value[:-1] + corrections
    following = jnp.concatenate([targets[1:], value[-1:]], axis=0)
    return VTrace(targets, ratio * (reward + discount * following - value[:-1]))
