"""Playing plans: sequences of actions that take no notice of what is seen. Axes: M plans, T actions."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from jaxdiff.core.environment import Environment


def returns_of_plans(env: Environment[Any, Any], params: Any, key: jax.Array, actions: jax.Array) -> jax.Array:
    """Return of every plan after each of its steps, float32 [M, T]; it stays as it is when the episode is over.

    Args:
        env: the world.
        params: its parameters.
        key: of the start and of the world's own chance, the same for every plan; consumed.
        actions: elements of the action space, [M, T, ...].
    """
    start, chance = jax.random.split(key)
    _, first = env.reset_env(start, params)
    keys = jax.random.split(chance, actions.shape[1])

    def one(plan: jax.Array) -> jax.Array:
        def body(carry: tuple[Any, jax.Array, jax.Array], now: tuple[jax.Array, jax.Array]) -> tuple[Any, jax.Array]:
            state, total, over = carry
            action, step_key = now
            _, state, reward, terminated, truncated, _ = env.step_env(step_key, state, action, params)
            total = total + jnp.where(over, 0, reward).astype(jnp.float32)
            return (state, total, over | terminated | truncated), total

        return jax.lax.scan(body, (first, jnp.float32(0), jnp.bool_(False)), (plan, keys))[1]

    return jax.vmap(one)(actions)
