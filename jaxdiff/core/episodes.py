"""Whole episodes of a population: the return of every policy in every episode, however unequal the episodes' lengths.

Lanes take one episode after another from a common queue, so that a lane whose episode ends early does not wait for the longest one.
Episode e starts from the same key for every policy, so that columns are instances of the world; a policy's own luck is apart. A
result depends on the key, the policy and its number, and the episode: neither on lanes nor on how the population is cut into chunks.
Axes: P policies, E episodes, N lanes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxdiff.core.environment import Environment, select
from jaxdiff.core.errors import InputError, require, require_integer

Act = Callable[[Any, Any, jax.Array], Any]
BLOCK = 16  # steps between two looks at the queue
TERMINATED, TRUNCATED, BOUNDED = 0, 1, 2


class Episodes(NamedTuple):
    """What became of every episode.

    Attributes:
        returns: sum of rewards, float32 [P, E].
        lengths: steps, int32 [P, E].
        endings: `TERMINATED` or `TRUNCATED` by the world, or `BOUNDED`: cut after the most steps that were allowed; int8 [P, E].
        broken: first step whose reward was not finite, int32 [P, E]; -1 where there is none.
    """

    returns: Any
    lengths: Any
    endings: Any
    broken: Any


def play(
    env: Environment[Any, Any],
    params: Any,
    act: Act,
    policies: Any,
    key: jax.Array,
    *,
    episodes: int,
    steps: int,
    first: int = 0,
    count: int | None = None,
    lanes: int = 1024,
) -> Episodes:
    """Play every policy in the same episodes.

    Args:
        env: the world; one reward a step.
        params: its parameters, without batch axes.
        act: policy, observation, key -> action; hashes by value or is defined once.
        policies: pytree with leaves [P, ...].
        key: PRNG key; consumed.
        episodes: E, at least 1.
        steps: an episode that has not ended by then is cut.
        first: number of the first policy, where these are part of a population.
        count: how many of the policies are played, the first ones; all when None. What is beyond is zero.
        lanes: N.

    Returns:
        arrays on the device; not waited for.

    Raises:
        InputError: no policies, episodes or steps, or a world with several rewards a step.
    """
    require_integer("episodes", episodes, 1)
    require_integer("steps", steps, 1)
    require_integer("lanes", lanes, 1)
    leaves = jax.tree.leaves(policies)
    require(len(leaves) > 0 and np.shape(leaves[0])[:1] not in ((), (0,)), "policies", "empty", "a pytree with a leading axis of policies")
    check_reward(env, params)
    total = int(leaves[0].shape[0])
    require(total * episodes < 2**31, "episodes", episodes, "so few that policies x episodes stay below 2^31")
    number = np.int32(total if count is None else count)
    lanes = min(lanes, total * episodes)
    return Episodes(*_play(env, act, key, policies, params, np.uint32(first), number, episodes, steps, lanes))


def check_reward(env: Environment[Any, Any], params: Any) -> None:
    """Refuse a world that does not follow the protocol or gives several rewards a step.

    Raises:
        InputError: says what is missing.
    """
    missing = [name for name in ("reset_env", "step_env", "observation_space", "action_space") if not callable(getattr(env, name, None))]
    require(
        not missing, "env", f"a {type(env).__name__} without {', '.join(missing)}", "a world of this library's protocol (core.Environment)"
    )
    space = env.action_space(params)
    key = jax.eval_shape(lambda: jax.random.key(0))
    _, state = jax.eval_shape(env.reset_env, key, params)
    out = jax.eval_shape(env.step_env, key, state, jax.ShapeDtypeStruct(space.shape, space.dtype), params)
    if not isinstance(out, tuple) or len(out) != 6:
        given = f"{len(out)} values" if isinstance(out, tuple) else type(out).__name__
        raise InputError("env", f"one whose step_env gives {given}", "six: obs, state, reward, terminated, truncated, info")
    shape = out[2].shape
    require(
        shape == (), "env", f"a world with rewards of shape {shape} a step", "one reward a step; core.seat.OneSeat takes one agent's place"
    )


@partial(jax.jit, static_argnums=(0, 1, 7, 8, 9))
def _play(
    env: Environment[Any, Any],
    act: Act,
    key: jax.Array,
    policies: Any,
    params: Any,
    first: jax.Array,
    count: jax.Array,
    episodes: int,
    steps: int,
    lanes: int,
) -> tuple[jax.Array, ...]:
    key_world, key_policy = jax.random.split(key)
    total = jax.tree.leaves(policies)[0].shape[0] * episodes
    items = count * np.int32(episodes)

    def parts(item: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Policy and episode of an item of the queue, int32 []; past its end, of the last one."""
        item = jnp.minimum(item, jnp.maximum(items, 1) - 1)
        return item // episodes, item % episodes

    def keys(item: jax.Array) -> tuple[jax.Array, jax.Array]:
        """The instance's key, and that of the policy's own luck in it."""
        policy, episode = (x.astype(jnp.uint32) for x in parts(item))
        luck = jax.random.fold_in(jax.random.fold_in(key_policy, first + policy), episode)
        return jax.random.fold_in(key_world, episode), luck

    def start(item: jax.Array) -> tuple[Any, Any, Any]:
        """Policy, first observation and state."""
        policy = jax.tree.map(lambda x: x[parts(item)[0]], policies)
        return policy, *env.reset_env(jax.random.fold_in(keys(item)[0], np.uint32(0)), params)

    def step(lane: tuple[Any, Any, Any], progress: tuple[jax.Array, ...], world: jax.Array, luck: jax.Array) -> Any:
        policy, obs, state = lane
        time, gained, done, ending, broken = progress
        # A key is made only where somebody uses it: XLA drops what a deterministic world or policy does not read.
        number = time.astype(jnp.uint32)
        action = act(policy, obs, jax.random.fold_in(luck, number))
        obs, state, reward, terminated, truncated, _ = env.step_env(jax.random.fold_in(world, number + 1), state, action, params)
        live = ~done
        reward = reward.astype(jnp.float32)
        broken = jnp.where(live & (broken < 0) & ~jnp.isfinite(reward), time, broken)
        gained = gained + jnp.where(live, reward, jnp.float32(0))
        time = time + live.astype(jnp.int32)
        now = jnp.where(terminated, TERMINATED, jnp.where(truncated, TRUNCATED, BOUNDED)).astype(jnp.int8)
        ending = jnp.where(live, now, ending)
        return (policy, obs, state), (time, gained, done | terminated | truncated | (time >= steps), ending, broken)

    def body(carry: tuple[Any, ...]) -> tuple[Any, ...]:
        item, queue, lane, progress, results = carry
        done = progress[2]
        item = jnp.minimum(jnp.where(done, queue + jnp.cumsum(done, dtype=jnp.int32) - 1, item), items)
        queue = jnp.minimum(queue + done.sum(dtype=jnp.int32), items)
        lane = select(done, jax.vmap(start)(item), lane)
        zero = jnp.zeros(item.shape, jnp.int32)
        none = (zero, zero.astype(jnp.float32), item >= items, zero.astype(jnp.int8), zero - 1)
        progress = select(done, none, progress)
        world, luck = jax.vmap(keys)(item)

        def one(now: tuple[Any, Any], _: None) -> tuple[Any, None]:
            return jax.vmap(step)(*now, world, luck), None

        (lane, progress), _ = jax.lax.scan(one, (lane, progress), None, length=BLOCK)
        time, gained, done, ending, broken = progress
        place = jnp.where(done & (item < items), item, total)
        values = (gained, time, ending, broken)
        results = tuple(r.at[place].set(v, mode="drop") for r, v in zip(results, values, strict=True))
        return item, queue, lane, progress, results

    def empty(size: int) -> tuple[jax.Array, ...]:
        zero = jnp.zeros((size,), jnp.int32)
        return zero, zero.astype(jnp.float32), zero == 0, zero.astype(jnp.int8), zero - 1

    # All lanes begin as if their episodes had just ended.
    item = jnp.full((lanes,), items, jnp.int32)
    lane = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), jax.eval_shape(jax.vmap(start), item))
    time, gained, _, ending, broken = empty(total)
    carry = (item, jnp.int32(0), lane, empty(lanes), (gained, time, ending, broken))
    results = jax.lax.while_loop(lambda c: (c[1] < items) | ((c[0] < items) & ~c[3][2]).any(), body, carry)[4]
    return tuple(r.reshape(-1, episodes) for r in results)
