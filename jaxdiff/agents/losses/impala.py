"""IMPALA's losses (Espeholt et al. 2018): policy gradient with V-trace advantages, value regression to V-trace targets. Arrays [T, B]."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from jaxdiff.agents.losses.ppo import value_loss
from jaxdiff.agents.losses.returns import v_trace


def losses(
    log_probability: jax.Array,
    actor_log_probability: jax.Array,
    reward: jax.Array,
    discount: jax.Array,
    value: jax.Array,
    last_value: jax.Array,
) -> tuple[jax.Array, jax.Array]:
    """Policy and value loss, float32 [] each.

    Args:
        log_probability: of the actions taken, under the policy that learns, [T, B].
        actor_log_probability: under the policy that acted, [T, B].
        reward, discount: [T, B].
        value: [T, B].
        last_value: of the state after the last step, [B].
    """
    fixed = jax.lax.stop_gradient
    values = fixed(jnp.concatenate([value, last_value[None]], axis=0))
    targets = v_trace(reward, discount, values, fixed(log_probability - actor_log_probability))
    return -(log_probability * fixed(targets.advantages)).mean(), value_loss(value, targets.values)
