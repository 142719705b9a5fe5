"""What happens when an episode ends: `same_step`, `next_step` or `disabled`.

`same_step`: the step that ends an episode already returns the first observation of the next (`info["final_observation"]` keeps the
last one). `next_step`: it returns the last observation, and the following step ignores its action, gives reward 0 and resets.
`disabled`: nothing resets.

`step_batch` is the form for many environments at once. A reset under a plain vmap is computed in every step for every environment
and thrown away; here it stands behind one `any(done)` condition.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxdiff.core.environment import Environment, Transition, select
from jaxdiff.core.errors import require

Mode = Literal["same_step", "next_step", "disabled"]
MODES: tuple[Mode, ...] = ("same_step", "next_step", "disabled")


class BatchState(NamedTuple):
    """State of a batch under auto-reset: the environments' states [B, ...] and which episodes have just ended, bool [B]."""

    env: Any
    ended: jax.Array


def reset_batch(env: Environment[Any, Any], keys: jax.Array, params: Any) -> tuple[Any, BatchState]:
    """Reset B environments that share `params`.

    Args:
        env: the environment.
        keys: PRNG keys [B]; consumed.
        params: parameters without a batch axis.

    Returns:
        observations [B, ...], state.
    """
    obs, state = jax.vmap(env.reset_env, in_axes=(0, None))(keys, params)
    return obs, BatchState(state, jnp.zeros(keys.shape[:1], jnp.bool_))


def step_batch(
    env: Environment[Any, Any], keys: jax.Array, state: BatchState, actions: Any, params: Any, *, mode: Mode = "same_step"
) -> Transition[BatchState]:
    """Step B environments that share `params`, resetting as `mode` says.

    Args:
        env: the environment.
        keys: PRNG keys [B], or one key for the whole batch (cheaper: keys for resets are then only made where one is due); consumed.
        state: as returned by `reset_batch` or `step_batch`.
        actions: actions [B, ...].
        params: parameters without a batch axis.
        mode: one of `MODES`.

    Returns:
        obs [B, ...], state, reward [B], terminated [B], truncated [B], info; `info["final_observation"]` [B, ...].

    Raises:
        InputError: unknown mode.
    """
    require(mode in MODES, "mode", mode, f"one of {', '.join(MODES)}")
    count = state.ended.shape[0]
    step_keys, reset_keys = _two_batches(keys, count)
    obs, stepped, reward, terminated, truncated, info = jax.vmap(env.step_env, in_axes=(0, 0, 0, None))(
        step_keys, state.env, actions, params
    )
    if mode == "next_step":
        # An environment whose episode ended last time does not step now: it resets, whatever the action.
        fresh = state.ended
        reward = select(fresh, jnp.zeros_like(reward), reward)
        terminated, truncated = terminated & ~fresh, truncated & ~fresh
    done = terminated | truncated
    info = {**info, "final_observation": obs}
    resetting = {"same_step": done, "next_step": state.ended, "disabled": jnp.zeros_like(done)}[mode]

    def with_resets(_: None) -> Any:
        return select(resetting, jax.vmap(env.reset_env, in_axes=(0, None))(reset_keys(), params), (obs, stepped))

    if mode != "disabled":
        obs, stepped = jax.lax.cond(jnp.any(resetting), with_resets, lambda _: (obs, stepped), None)
    return obs, BatchState(stepped, done), reward, terminated, truncated, info


def _two_batches(keys: jax.Array, count: int) -> tuple[jax.Array, Callable[[], jax.Array]]:
    """Keys [B] for steps, and a function that gives keys [B] for resets (from a single key they are made when it is called)."""
    if jnp.ndim(keys) == (0 if jnp.issubdtype(keys.dtype, jax.dtypes.prng_key) else 1):
        step_key = jax.random.fold_in(keys, np.uint32(0))
        return jax.random.split(step_key, count), lambda: jax.random.split(jax.random.fold_in(keys, np.uint32(1)), count)
    split = jax.vmap(jax.random.split)(keys)
    return split[:, 0], lambda: split[:, 1]
