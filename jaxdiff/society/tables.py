"""Where learners keep their values: a dense table, or a hashed one of fixed size whose collisions are counted.

Where all learners of a session see the same state (who is where), a row holds the values of all of them side by side, and a step reads
one row and writes one; otherwise each has a table of its own. A dense table has a row for every state. A hashed one has 2^k rows in
buckets of eight with a tag each: a state takes the first free row of its bucket; where all eight are taken, one is given up, its values
are forgotten and a collision is counted. Rows are read before and written after an update inside the carry of a scan, in place.
Axes: B tables, H rows, W values of a row.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxdiff.core.errors import InputError, require

WAYS = 8
MOST_STATES = 2**32 - 1  # tags are 32-bit numbers, 0 is free
MOST_DENSE = 2**17
MOST_COLLISION_RATE = 0.01


def states_of(cells: int, agents: int) -> int:
    """Number of states: places of all agents, and of Good and Evil in two different cells (648 for one agent on 9 cells)."""
    return cells**agents * cells * (cells - 1)


def state_index(good: jax.Array, evil: jax.Array, agents: jax.Array, cells: int) -> jax.Array:
    """Number of a state.

    Args:
        good, evil: their cells, int32 [].
        agents: the agents' cells, int32 [m].
        cells: N, padded number of cells.

    Returns:
        uint32 [].
    """
    index = good.astype(jnp.uint32) * np.uint32(cells - 1) + (evil - (evil > good)).astype(jnp.uint32)
    for seat in range(agents.shape[-1]):
        index = index * np.uint32(cells) + agents[..., seat].astype(jnp.uint32)
    return index


@dataclass(frozen=True)
class Layout:
    """What tables look like; hashes by value.

    Attributes:
        rows: H.
        hashed: whether rows are found by hashing.
        width: W.
    """

    rows: int
    hashed: bool
    width: int

    @property
    def bytes(self) -> int:
        """Of one session."""
        return self.rows * (4 * self.width + (4 if self.hashed else 0))


class Tables(NamedTuple):
    """B tables.

    Attributes:
        values: float32 [B, H, W].
        tags: number of the state plus one, or 0 where the row is free, uint32 [B, H / 8, 8]; [B, 0, 8] for a dense table.
        collisions: states given up so far, int32 [B].
    """

    values: jax.Array
    tags: jax.Array
    collisions: jax.Array


def layout_for(states: int, steps: int, width: int, rows: int | None = None) -> Layout:
    """A dense layout where that is small, else a hashed one that the states of a session fit into.

    Args:
        states: number of states.
        steps: of a session; it visits at most that many states.
        width: W.
        rows: H; chosen when None: 2^k, at least three times the states that can be visited.

    Raises:
        InputError: more states than tags can tell apart; rows that are no power of two from 8 on; a table so small that more than one
            visit in a hundred may have to give up another state.
    """
    require(states <= MOST_STATES, "states", states, f"at most {MOST_STATES:,} (fewer agents or cells)")
    if rows is None:
        visited = min(states, steps + 1)
        hashed = 1 << max(3, (3 * visited - 1).bit_length())
        dense = states <= MOST_DENSE or states <= hashed
        return Layout(states, False, width) if dense else Layout(hashed, True, width)
    require(isinstance(rows, int) and rows >= WAYS and rows & (rows - 1) == 0, "rows", rows, "a power of two, at least 8")
    rate = collision_rate(rows, min(states, steps + 1))
    if rate > MOST_COLLISION_RATE:
        raise InputError(
            "rows", rows, f"enough for {min(states, steps + 1):,} states; with so few, up to {100 * rate:.0f} % of them collide"
        )
    return Layout(rows, True, width)


def collision_rate(rows: int, visited: int) -> float:
    """Share of the visited states that do not fit into their bucket, if every step visits a new one: a Poisson tail."""
    from math import exp

    mean = visited / (rows / WAYS)
    # E[max(X - 8, 0)] / mean for X ~ Poisson(mean), summed from the small side.
    term, below, weighted = exp(-mean), 0.0, 0.0
    for k in range(WAYS + 1):
        below += term
        weighted += k * term
        term *= mean / (k + 1)
    return max(0.0, (mean - weighted - WAYS * (1.0 - below)) / mean)


def empty(layout: Layout, initial_row: jax.Array) -> Tables:
    """Tables at the start.

    Args:
        layout: of the tables.
        initial_row: what a state starts with, float32 [B, W].
    """
    batch = initial_row.shape[0]
    buckets = layout.rows // WAYS if layout.hashed else 0
    return Tables(
        jnp.broadcast_to(initial_row[:, None], (batch, layout.rows, layout.width)),
        jnp.zeros((batch, buckets, WAYS), jnp.uint32),
        jnp.zeros((batch,), jnp.int32),
    )


def find(tables: Tables, state: jax.Array, layout: Layout, initial_row: jax.Array) -> tuple[Tables, jax.Array, jax.Array]:
    """Rows of the sessions' states, made where there is none.

    Args:
        tables: of B sessions.
        state: uint32 [B].
        layout: of the tables.
        initial_row: what a new state starts with, float32 [B, W].

    Returns:
        the tables, where the rows are, int32 [B], and their values, float32 [B, W].
    """
    session = jnp.arange(state.shape[0], dtype=jnp.int32)
    if not layout.hashed:
        place = state.astype(jnp.int32)
        return tables, place, tables.values.at[session, place].get(mode="promise_in_bounds")
    mixed = _mix(state)
    bucket = (mixed >> np.uint32(32 - (layout.rows // WAYS).bit_length() + 1)).astype(jnp.int32) if layout.rows > WAYS else session * 0
    tags = tables.tags.at[session, bucket].get(mode="promise_in_bounds")
    tag = state + np.uint32(1)
    way, known, full = _way(tags, tag, mixed)
    place = bucket * WAYS + way
    values = tables.values.at[session, place].get(mode="promise_in_bounds")
    written = tables.tags.at[session, bucket, way].set(tag, mode="promise_in_bounds", unique_indices=True)
    found = Tables(tables.values, written, tables.collisions + full.astype(jnp.int32))
    return found, place, jnp.where(known[:, None], values, initial_row)


def _way(tags: jax.Array, tag: jax.Array, mixed: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Which of the eight rows, int32 [B]; whether it was there; whether another state had to be given up."""
    way = (mixed & np.uint32(WAYS - 1)).astype(jnp.int32)
    free = jnp.zeros(tag.shape, jnp.bool_)
    known = jnp.zeros(tag.shape, jnp.bool_)
    for number in reversed(range(WAYS)):
        is_free, is_it = tags[:, number] == 0, tags[:, number] == tag
        way = jnp.where(is_it | (is_free & ~known), jnp.int32(number), way)
        free, known = free | is_free, known | is_it
    return way, known, ~known & ~free


def _mix(state: jax.Array) -> jax.Array:
    """A 32-bit mixing function (the finaliser of MurmurHash3)."""
    x = state ^ (state >> np.uint32(16))
    x = x * np.uint32(0x85EBCA6B)
    x = x ^ (x >> np.uint32(13))
    x = x * np.uint32(0xC2B2AE35)
    return x ^ (x >> np.uint32(16))


@partial(jax.jit, static_argnums=2)
def occupancy(tables: Tables, initial_row: jax.Array, layout: Layout) -> jax.Array:
    """Share of rows in use, float32 [B]; of a dense table the rows whose values have changed."""
    used = (tables.tags > 0).reshape(tables.tags.shape[0], -1) if layout.hashed else jnp.any(tables.values != initial_row[:, None], axis=-1)
    return jnp.mean(used, axis=1, dtype=jnp.float32)


def put(tables: Tables, place: jax.Array, values: jax.Array) -> Tables:
    """Write rows [B, W] at `place` [B]."""
    session = jnp.arange(place.shape[0], dtype=jnp.int32)
    return tables._replace(values=tables.values.at[session, place].set(values, mode="promise_in_bounds", unique_indices=True))
