"""Running policies through a world: a scan over T steps, P policies x B environments at once.

A policy is data (a pytree with a leading policy axis) and one function `act(policy, memory, obs, is_first, key) -> memory, action`
for a single policy in a single environment; `is_first` says that `obs` starts an episode, which is when memory must be emptied.
Axes: P policies, B environments, T steps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp

from jaxdiff.core.autoreset import BatchState, Mode, reset_batch, step_batch
from jaxdiff.core.environment import Environment
from jaxdiff.core.errors import require

Act = Callable[[Any, Any, Any, jax.Array, jax.Array], tuple[Any, Any]]


@partial(jax.tree_util.register_dataclass, data_fields=["total", "state", "memory", "trajectory"], meta_fields=[])
@dataclass(frozen=True)
class Rollout:
    """What a rollout leaves behind.

    Attributes:
        total: sum of rewards over all steps, in the world's reward dtype, [P, B], or [P, B, m] in a world of m agents.
        state: the environments' states at the end, [P, B, ...].
        memory: the policies' memories at the end, [P, B, ...].
        trajectory: None, or a dict of `obs`, `action`, `reward`, `terminated`, `truncated`, `is_first` and `info`, [T, P, B, ...].
    """

    total: jax.Array
    state: Any
    memory: Any
    trajectory: Any


def rollout(
    env: Environment[Any, Any],
    act: Act,
    key: jax.Array,
    *,
    policies: Any,
    memory: Any,
    steps: int,
    params: Any = None,
    environments: int = 1,
    mode: Mode = "same_step",
    collect: bool = False,
) -> Rollout:
    """Run every policy in `environments` independent copies of a world.

    Args:
        env: the world; hashes by value, so equal worlds share one compilation.
        act: policy function, see the module's docstring; hashed by identity, so define it once.
        key: PRNG key, typed or legacy; consumed.
        policies: pytree with leaves [P, ...].
        memory: one policy's memory at the start, pytree with leaves [...].
        steps: T, at least 1.
        params: the world's parameters without batch axes; its defaults when None.
        environments: B, at least 1.
        mode: what happens at the end of an episode, see `core.autoreset`.
        collect: keep the trajectory; memory grows with T.

    Raises:
        InputError: no policies, no environments, no steps.
    """
    leaves = jax.tree.leaves(policies)
    require(
        len(leaves) > 0 and leaves[0].shape[:1] not in ((), (0,)),
        "policies",
        "empty",
        "a pytree with a leading axis of at least one policy",
    )
    require(environments >= 1, "environments", environments, "an integer of at least 1")
    require(steps >= 1, "steps", steps, "an integer of at least 1")
    params = env.default_params if params is None else params
    return _rollout(env, act, key, policies, memory, params, steps, environments, mode, collect)


@partial(jax.jit, static_argnums=(0, 1, 6, 7, 8, 9))
def _rollout(
    env: Environment[Any, Any],
    act: Act,
    key: jax.Array,
    policies: Any,
    memory: Any,
    params: Any,
    steps: int,
    environments: int,
    mode: Mode,
    collect: bool,
) -> Rollout:
    count = jax.tree.leaves(policies)[0].shape[0]
    batch = (count, environments)

    def flat(tree: Any) -> Any:
        return jax.tree.map(lambda x: x.reshape((count * environments, *x.shape[2:])), tree)

    def grid(tree: Any) -> Any:
        return jax.tree.map(lambda x: x.reshape((*batch, *x.shape[1:])), tree)

    act_grid = jax.vmap(jax.vmap(act, in_axes=(None, 0, 0, 0, 0)), in_axes=(0, 0, 0, 0, 0))
    key_reset, key_steps = jax.random.split(key)
    obs, state = reset_batch(env, jax.random.split(key_reset, count * environments), params)
    memories = jax.tree.map(lambda x: jnp.broadcast_to(x, (*batch, *jnp.shape(x))), memory)
    reward_of_one = jax.eval_shape(env.step_env, key_reset, jax.tree.map(lambda x: x[0], state.env), _any_action(env, params), params)[2]

    def body(carry: tuple[Any, BatchState, Any, jax.Array, jax.Array], step_key: jax.Array) -> tuple[Any, Any]:
        obs, state, memories, is_first, total = carry
        key_act, key_env = jax.random.split(step_key)
        keys = jax.random.split(key_act, count * environments)
        memories, action = act_grid(policies, memories, grid(obs), grid(is_first), grid(keys))
        new_obs, new_state, reward, terminated, truncated, info = step_batch(
            env, jax.random.split(key_env, count * environments), state, flat(action), params, mode=mode
        )
        # Under next_step the observation after an ended episode is still the old one; the reset comes a step later.
        new_first = state.ended if mode == "next_step" else terminated | truncated
        new_first = jnp.zeros_like(new_first) if mode == "disabled" else new_first
        record = {
            "obs": grid(obs),
            "action": action,
            "reward": reward,
            "terminated": terminated,
            "truncated": truncated,
            "is_first": is_first,
        }
        out = (
            {**record, **{k: grid(record[k]) for k in ("reward", "terminated", "truncated", "is_first")}, "info": grid(info)}
            if collect
            else None
        )
        return (new_obs, new_state, memories, new_first, total + reward), out

    first = jnp.ones((count * environments,), jnp.bool_)
    start = (obs, state, memories, first, jnp.zeros((count * environments, *reward_of_one.shape), reward_of_one.dtype))
    (obs, state, memories, _, total), trajectory = jax.lax.scan(body, start, jax.random.split(key_steps, steps))
    return Rollout(grid(total), grid(state.env), memories, trajectory)


def _any_action(env: Environment[Any, Any], params: Any) -> Any:
    space = env.action_space(params)
    return jax.ShapeDtypeStruct(space.shape, space.dtype)
