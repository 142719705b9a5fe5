"""V-MPO (Song et al. 2020): a weighted likelihood of the better half of the actions, with a temperature and a trust region as duals.

Arrays [T, B]. The behaviour is that of the target network. No gradient of the temperature reaches the critic: advantages are constants.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp

LEAST = 1e-8  # of a dual


@partial(jax.tree_util.register_dataclass, data_fields=["policy", "temperature", "trust", "weights"], meta_fields=[])
@dataclass(frozen=True)
class Losses:
    """Losses, float32 [] each, and the weights of the actions, float32 [T, B], which sum to 1."""

    policy: Any
    temperature: Any
    trust: Any
    weights: Any

    @property
    def total(self) -> jax.Array:
        """Their sum (equation 2 without the value's)."""
        return self.policy + self.temperature + self.trust


def positive(raw: jax.Array) -> jax.Array:
    """A dual from the parameter that is learned: softplus, at least `LEAST`."""
    return jnp.maximum(jax.nn.softplus(raw), LEAST)


def raw_of(dual: float) -> float:
    """The parameter of a dual, the inverse of `positive`."""
    return math.log(math.expm1(dual))


def losses(
    log_probability: jax.Array,
    advantage: jax.Array,
    divergence: jax.Array,
    temperature: jax.Array,
    alpha: jax.Array,
    *,
    epsilon_temperature: float,
    epsilon_alpha: float,
    top: float = 0.5,
) -> Losses:
    """The three losses (equations 3, 4 and 5).

    Args:
        log_probability: of the actions taken, under the policy that learns, [T, B].
        advantage: under the target network, [T, B].
        divergence: Kullback-Leibler, of the target policy from the one that learns, [T, B].
        temperature: η > 0, [].
        alpha: α > 0, [].
        epsilon_temperature, epsilon_alpha: ε_η and ε_α.
        top: share of actions that count, those of the highest advantage.
    """
    advantage = jax.lax.stop_gradient(advantage)
    count = max(1, int(advantage.size * top))
    least = jax.lax.top_k(advantage.reshape(-1), count)[0][-1]
    chosen = advantage >= least
    scaled = jnp.where(chosen, advantage / temperature, -jnp.inf)
    log_sum = jax.scipy.special.logsumexp(scaled)
    weights = jax.lax.stop_gradient(jnp.exp(scaled - log_sum))
    number = jax.lax.stop_gradient(chosen.sum().astype(advantage.dtype))
    policy = -(weights * log_probability).sum()
    dual = temperature * epsilon_temperature + temperature * (log_sum - jnp.log(number))
    fixed = jax.lax.stop_gradient
    trust = (alpha * (epsilon_alpha - fixed(divergence)) + fixed(alpha) * divergence).mean()
    return Losses(policy, dual, trust, weights)
