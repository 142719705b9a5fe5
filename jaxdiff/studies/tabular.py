"""Tabular Q-learning, many seeds at once: one table a seed, one environment a seed, and no end but that of the budget.

Observations are integers, or reals that a grid of edges makes integers. Axes: S seeds, N steps of experience, R rows, A outputs,
P parts of an action.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxdiff.core.autoreset import reset_batch, step_batch
from jaxdiff.core.environment import Environment
from jaxdiff.core.errors import InputError, require
from jaxdiff.core.spaces import Box, Discrete, Space
from jaxdiff.populations.networks import chosen, number_of_outputs

MOST_ROWS = 1 << 16
RATE, EXPLORE, DISCOUNT = 0.2, 0.1, 0.99
Edges = tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Rows:
    """Which row of a table an observation is.

    Attributes:
        observation: the world's space.
        edges: of a space of reals, the ascending edges between the intervals of every entry.
    """

    observation: Space
    edges: Edges | None = None

    def __post_init__(self) -> None:
        if isinstance(self.observation, Box):
            entries = int(np.prod(self.observation.shape))
            given = None if self.edges is None else len(self.edges)
            require(given == entries, "edges", given, f"those of {entries} entries, for observations are real")
        require(self.count <= MOST_ROWS, "edges", f"with {self.count} rows", f"at most {MOST_ROWS} rows")

    @property
    def sizes(self) -> tuple[int, ...]:
        """Values of every entry."""
        if isinstance(self.observation, Box):
            return tuple(len(e) + 1 for e in self.edges or ())
        return sizes_of(self.observation)

    @property
    def count(self) -> int:
        """R."""
        return math.prod(self.sizes)

    def __call__(self, obs: Any) -> jax.Array:
        """The row of one observation, int32 []."""
        strides = np.cumprod([1, *self.sizes[:-1]]).astype(np.int32)
        flat = jnp.asarray(obs).reshape(-1)
        if isinstance(self.observation, Box):
            assert self.edges is not None
            longest = max(map(len, self.edges))
            table = np.array([e + (np.inf,) * (longest - len(e)) for e in self.edges], np.float32)
            flat = (flat.astype(jnp.float32)[:, None] >= table).sum(-1, dtype=jnp.int32)
        return (flat.astype(jnp.int32) * strides).sum(dtype=jnp.int32)


def sizes_of(space: Space) -> tuple[int, ...]:
    """Values of every entry of a space of integers.

    Raises:
        InputError: a space of reals.
    """
    if isinstance(space, Box):
        raise InputError("space", space, "a space of integers")
    return (space.n,) if isinstance(space, Discrete) else space.sizes


@partial(jax.jit, static_argnums=(0, 1, 4, 5))
def q_learning(env: Environment[Any, Any], rows: Rows, params: Any, key: jax.Array, seeds: int, steps: int) -> tuple[jax.Array, jax.Array]:
    """Learn with epsilon-greedy actions; every entry of an action has values of its own.

    Args:
        env: the world; its actions are integers.
        rows: of the table.
        params: of the world, without batch axes.
        key: PRNG key; consumed.
        seeds: S.
        steps: N.

    Returns:
        the return of the episode that ended with each step (0 elsewhere), float32 [S, N], and whether one did, bool [S, N].
    """
    action = env.action_space(params)
    sizes = sizes_of(action)
    ends = np.cumsum(sizes).tolist()
    outputs = number_of_outputs(action)
    offsets = (np.cumsum(sizes) - np.array(sizes)).astype(np.int32)
    seed = jnp.arange(seeds, dtype=jnp.int32)

    def values(table: jax.Array, obs: Any) -> tuple[jax.Array, jax.Array]:
        """Rows [S], and what stands in them [S, A]."""
        index = jax.vmap(rows)(obs)
        return index, table[seed, index]

    def step(carry: Any, key: jax.Array) -> tuple[Any, Any]:
        table, obs, state, gained = carry
        k_tie, k_explore, k_action, k_env = jax.random.split(key, 4)
        index, value = values(table, obs)
        noisy = value + jnp.float32(1e-4) * jax.random.uniform(k_tie, (seeds, outputs), jnp.float32)  # ties are drawn
        greedy = jax.vmap(partial(chosen, action))(noisy).reshape(seeds, -1)
        random = jax.vmap(action.sample)(jax.random.split(k_action, seeds)).reshape(seeds, -1)
        explore = jax.random.uniform(k_explore, (seeds, 1), jnp.float32) < EXPLORE
        taken = jnp.where(explore, random, greedy)
        new, state, reward, terminated, truncated, info = step_batch(
            env, k_env, state, taken.reshape(seeds, *action.shape).astype(action.dtype), params
        )
        reward = reward.astype(jnp.float32)
        _, later = values(table, info["final_observation"])
        best = jnp.stack([part.max(-1) for part in jnp.split(later, ends[:-1], axis=-1)], axis=-1)
        target = reward[:, None] + jnp.float32(DISCOUNT) * best * ~terminated[:, None]
        place = (seed[:, None], index[:, None], taken.astype(jnp.int32) + offsets)
        table = table.at[place].add(jnp.float32(RATE) * (target - table[place]))
        gained, over = gained + reward, terminated | truncated
        return (table, new, state, jnp.where(over, 0, gained)), (jnp.where(over, gained, 0), over)

    key_reset, key_steps = jax.random.split(key)
    obs, state = reset_batch(env, jax.random.split(key_reset, seeds), params)
    start = (jnp.zeros((seeds, rows.count, outputs), jnp.float32), obs, state, jnp.zeros((seeds,), jnp.float32))
    _, (scores, ended) = jax.lax.scan(step, start, jax.random.split(key_steps, steps))
    return scores.T, ended.T
