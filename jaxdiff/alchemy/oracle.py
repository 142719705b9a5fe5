"""The search oracle: the best that a trial allows to one who knows the chemistry (appendix, Algorithm 2), exactly.

Everything an oracle can meet is one table: vector of potion counts x stone multiset x graph -> best reward and fewest potions for it, made
by dynamic programming over the number of potions. Only a use that moves a stone is ever worth making, and cashing waits till the end.
Everything is in latent coordinates, where the maps of potions and stones play no part. Renaming axes is a symmetry: 54 of the 165
multisets suffice.

Axes: E episodes (any leading shape), R trials, T = 20 steps. Source: Wang et al., Alchemy (2021), section 3.4 and Algorithm 2.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import TYPE_CHECKING, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from jaxdiff.alchemy import items, store
from jaxdiff.alchemy.played import STEPS, Play, checked
from jaxdiff.alchemy.played import action as action_of
from jaxdiff.alchemy.set_tables import PADDED, set_tables

if TYPE_CHECKING:
    from jaxdiff.alchemy.chemistry import Chemistry

_VERSION = 1
SHIFT = 16  # a table entry is SHIFT x reward - potions used; potions are at most 12


@lru_cache
def table() -> np.ndarray:
    """`SHIFT` x best reward - fewest potions, int16 [C, classes, 112], mapped from the cache folder (225 MB); made in seconds when missing.

    Axes: vectors of potion counts by type, classes of stone multisets under renaming of axes, graphs (padded).
    """
    shape = (len(items.potions().counts), len(items.stones().representative), PADDED)
    return store.kept("alchemy-oracle", _VERSION, shape, "int16", _build)


def _build() -> np.ndarray:
    potions, stones = items.potions(), items.stones()
    best = np.zeros((len(potions.counts), len(stones.representative), PADDED), np.int16)
    for low, high in zip(potions.first[:-1], potions.first[1:], strict=True):
        for number, multiset in enumerate(stones.representative):
            best[low:high, number] = SHIFT * stones.worth[multiset]
            for stone in _distinct(stones.corners[multiset]):
                for axis in range(items.AXES):
                    _improve(best, slice(low, high), number, int(multiset), stone, axis)
    return best


def _distinct(corners: np.ndarray) -> list[int]:
    return [i for i, c in enumerate(corners) if c != items.ABSENT and c not in corners[:i]]


def _improve(best: np.ndarray, rows: slice, number: int, multiset: int, stone: int, axis: int) -> None:
    """Let the entries of some counts and one multiset use a potion that moves a stone along an axis, where that is possible."""
    potions, stones, sets = items.potions(), items.stones(), set_tables()
    corner = stones.corners[multiset, stone]
    left = potions.less[rows, 2 * axis + (1 - (corner >> axis & 1))]
    there = np.flatnonzero(left >= 0)
    if not len(there):
        return
    after = stones.moved[multiset, stone, axis]
    rename = stones.to_least[after, 0]
    graphs = np.flatnonzero(sets.graph_edges[:, sets.edge[corner, axis]])
    row = potions.axes[left[there], rename].astype(np.int64) * best.shape[1] + stones.least[after]
    then = best.reshape(-1).take(row[:, None] * PADDED + sets.graph_axes[rename][graphs]) - np.int16(1)
    place = np.ix_(rows.start + there, graphs)
    best[:, number][place] = np.maximum(best[:, number][place], then)


class Lookups(NamedTuple):
    """The tables as arrays on the device: as in `items` and `graph_sets`, and the oracle's own, flat."""

    best: jax.Array
    less: jax.Array
    axes: jax.Array
    number: jax.Array
    least: jax.Array
    to_least: jax.Array
    graph_axes: jax.Array
    edges: jax.Array
    edge: jax.Array
    codes: jax.Array
    order: jax.Array


def lookups() -> Lookups:
    """Put the tables on the default device (225 MB)."""
    potions, stones, sets = items.potions(), items.stones(), set_tables()
    codes, order = items.codes()
    whole = {"less": potions.less, "axes": potions.axes, "number": stones.number, "least": stones.least, "to_least": stones.to_least[:, 0]}
    whole |= {"graph_axes": sets.graph_axes, "edge": sets.edge, "codes": codes, "order": order}
    tables = {name: jnp.asarray(array, jnp.int32) for name, array in whole.items()}
    return Lookups(best=jnp.asarray(table().reshape(-1)), edges=jnp.asarray(sets.graph_edges), **tables)


def _best(look: Lookups, counts: jax.Array, corners: jax.Array, graph: jax.Array) -> jax.Array:
    """The table's entry for a vector's number, three corners in any order and a graph."""
    multiset = look.number[corners[0], corners[1], corners[2]]
    rename = look.to_least[multiset]
    classes = look.best.shape[0] // (look.less.shape[0] * PADDED)
    row = look.axes[counts, rename] * classes + look.least[multiset]
    return look.best[row * PADDED + look.graph_axes[rename, graph]].astype(jnp.int32)


class _Table(NamedTuple):
    """What lies on the table: corners int32 [3], potions' types int32 [12], which are used bool [12], number of their counts int32 []."""

    corners: jax.Array
    types: jax.Array
    used: jax.Array
    counts: jax.Array


def _act(look: Lookups, graph: jax.Array, state: _Table, _: None) -> tuple[_Table, tuple[jax.Array, jax.Array]]:
    """One step: the first move that loses nothing, else the first stone of positive value, else nothing."""
    values = jnp.asarray(items.VALUES, jnp.int32)
    stone, axis = jnp.divmod(jnp.arange(items.STONES * items.AXES, dtype=jnp.int32), items.AXES)
    corner = state.corners[stone]
    kind = 2 * axis + (1 - (corner >> axis & 1))
    left = look.less[state.counts, kind]
    edge = look.edges[graph, look.edge[corner % items.CORNERS, axis]]
    can = (left >= 0) & (corner != items.ABSENT) & edge
    moved = jnp.where(jnp.arange(items.STONES)[None] == stone[:, None], (corner ^ (1 << axis))[:, None], state.corners[None])
    moved = jnp.where(can[:, None], moved, state.corners[None])
    then = jax.vmap(partial(_best, look), (0, 0, None))(jnp.where(can, left, 0), moved, graph) - 1
    now = _best(look, state.counts, state.corners, graph)
    good = can & (then == now)
    choice = jnp.argmax(good).astype(jnp.int32)
    slot = jnp.argmax((state.types == kind[choice]) & ~state.used).astype(jnp.int32)
    # What is in hand is worth as much as anything that could be made: cash it.
    cash = values[state.corners] > 0
    first = jnp.argmax(cash).astype(jnp.int32)
    use, end = good.any(), ~good.any() & cash.any()
    action = jnp.where(use, action_of(stone[choice], slot), jnp.where(end, action_of(first, -1), 0))
    reward = jnp.where(end, values[state.corners[first]], 0)
    corners = jnp.where(use, moved[choice], state.corners.at[first].set(jnp.where(end, items.ABSENT, state.corners[first])))
    used = state.used.at[slot].set(state.used[slot] | use)
    after = _Table(corners, state.types, used, jnp.where(use, left[choice], state.counts))
    return after, (action, reward)


@jax.jit
def _play(look: Lookups, graph: jax.Array, stones: jax.Array, potions: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Trials graph int32 [N], stones [N, 3], potions [N, 12] -> actions int32 [N, T], scores int32 [N]."""

    def trial(graph: jax.Array, stones: jax.Array, potions: jax.Array) -> tuple[jax.Array, jax.Array]:
        code = (13 ** jnp.arange(items.TYPES, dtype=jnp.int32))[potions].sum(dtype=jnp.int32)
        counts = look.order[jnp.searchsorted(look.codes, code)]
        start = _Table(stones, potions, jnp.zeros(potions.shape, bool), counts)
        _, (actions, rewards) = jax.lax.scan(partial(_act, look, graph), start, None, length=STEPS)
        return actions, rewards.sum(dtype=jnp.int32)

    return jax.vmap(trial)(graph, stones, potions)


def play(chemistry: Chemistry, stones: ArrayLike, potions: ArrayLike) -> Play:
    """Play trials with full knowledge of the chemistry, with the fewest potions that reach the best score.

    Args:
        chemistry: fields int [E].
        stones: latent corners, int [E, R, 3].
        potions: latent types, int [E, R, 12].

    Returns:
        actions as the world takes them, int32 [E, R, 20] (0 is nothing), and scores, int32 [E, R].

    Raises:
        InputError: wrong shapes, numbers out of range, or a number of potions or stones other than 12 and 3.
    """
    given = checked(chemistry, stones, potions)
    trials = given.stones.shape[:-1]
    graph = np.broadcast_to(given.graph[..., None], trials)
    arrays = (graph.reshape(-1), given.stones.reshape(-1, items.STONES), given.potions.reshape(-1, items.POTIONS))
    actions, scores = _play(lookups(), *(jnp.asarray(a, jnp.int32) for a in arrays))
    return Play(actions.reshape(*trials, STEPS), scores.reshape(trials))
