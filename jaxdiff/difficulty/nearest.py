"""Nearest neighbours among action sequences of one length, tile by tile: the matrix of all distances never exists.

The distance is Equation 1 of the novelty paper, the mean over the n actions of their distance, divided by the largest there can be. It is
a sum of norms and no Minkowski metric, so no tree of points in a normed space serves (for one action it does, and a test uses one).
Axes: R rows of one tile, C of the other, n actions, k coordinates.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxdiff.core.errors import require
from jaxdiff.difficulty.action_metrics import TOLERANCE, Metric

ROWS, COLUMNS, BLOCK = 2048, 16384, 128  # of a tile at most, and of the inner matrix
UNROLLED = 16  # actions that are written out


class Nearest(NamedTuple):
    """Distances to the nearest of the other side, as shares of the largest possible one.

    Attributes:
        of_a: for each of a, float32 [MA].
        of_b: for each of b, float32 [MB].
    """

    of_a: np.ndarray
    of_b: np.ndarray


def nearest(a: np.ndarray, b: np.ndarray, metric: Metric) -> Nearest:
    """Both directions.

    Args:
        a, b: action sequences, float32 [MA, n, k] and [MB, n, k], neither empty.
        metric: distance of two actions.

    Raises:
        InputError: two actions are farther apart than the metric says is possible.
    """
    first, second = np.full(len(a), np.inf, np.float32), np.full(len(b), np.inf, np.float32)
    most = 0.0
    # Sizes are rounded up to a power of two, so that few are ever compiled.
    rows, columns = min(ROWS, _power(len(a))), min(COLUMNS, _power(len(b)))
    tiles_b = [(s, _tile_of(b, s, columns)) for s in range(0, len(b), columns)]
    for start in range(0, len(a), rows):
        tile = _tile_of(a, start, rows)
        for other, tile_b in tiles_b:
            of_a, of_b, largest = (np.asarray(x) for x in _between(tile, tile_b, metric=metric))
            mine, theirs = slice(start, start + rows), slice(other, other + columns)
            first[mine] = np.minimum(first[mine], of_a[: len(first[mine])])
            second[theirs] = np.minimum(second[theirs], of_b[: len(second[theirs])])
            most = max(most, float(largest))
    require(
        most <= 1 + TOLERANCE, "max_action_distance", f"{metric.maximum:.6g}, exceeded by {most:.6g} times", "the largest distance there is"
    )
    return Nearest(first, second)


def distances(a: np.ndarray, b: np.ndarray, metric: Metric) -> np.ndarray:
    """All distances, float64 [MA, MB], for a matching one to one: only for as many as fit in memory."""
    one, other = (_tile_of(side, 0, _power(len(side))) for side in (a, b))
    return np.asarray(_matrix(one, other, metric=metric), np.float64)[: len(a), : len(b)] / (a.shape[1] * metric.maximum)


def _power(size: int) -> int:
    return max(BLOCK, 1 << (size - 1).bit_length())


def _tile_of(rows: np.ndarray, start: int, size: int) -> jax.Array:
    """Rows from `start` as float32 [n, k, size]; what is missing repeats the tile's first row, which changes no minimum."""
    part = rows[start : start + size]
    index = np.arange(size)
    return jnp.asarray(np.moveaxis(part[np.where(index < len(part), index, 0)], 0, -1), jnp.float32)


@partial(jax.jit, static_argnames=("metric",))
def _between(a: jax.Array, b: jax.Array, *, metric: Metric) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Smallest distances of a tile's rows and columns, float32 [R] and [C], and the largest of all.

    Args:
        a, b: tiles [n, k, R] and [n, k, C].
        metric: distance of two actions.
    """
    length, k, columns = b.shape
    blocks = jnp.moveaxis(b.reshape(length, k, columns // BLOCK, BLOCK), 2, 0)  # [blocks, n, k, BLOCK]

    def block(carry: tuple[jax.Array, jax.Array], part: jax.Array) -> tuple[tuple[jax.Array, jax.Array], jax.Array]:
        least, most = carry

        def add(t: Any, total: jax.Array) -> jax.Array:
            one, other = (jax.lax.dynamic_index_in_dim(x, t, keepdims=False) for x in (part, a))
            return total + metric.distance(one[:, :, None], other[:, None, :])

        # Written out, everything is one fused loop over pairs; as a loop over actions, a matrix goes through memory for each.
        total = jnp.zeros((BLOCK, a.shape[-1]), jnp.float32)
        if length <= UNROLLED:
            for t in range(length):
                total = add(t, total)
        else:
            total = jax.lax.fori_loop(0, length, add, total)
        return (jnp.minimum(least, total.min(0)), jnp.maximum(most, total.max(0))), total.min(1)

    start = jnp.full(a.shape[-1:], jnp.inf, jnp.float32), jnp.zeros(a.shape[-1:], jnp.float32)
    (least, most), of_b = jax.lax.scan(block, start, blocks)
    whole = np.float32(length * metric.maximum)
    return least / whole, of_b.reshape(-1) / whole, most.max() / whole


@partial(jax.jit, static_argnames=("metric",))
def _matrix(a: jax.Array, b: jax.Array, *, metric: Metric) -> jax.Array:
    """Sums over the actions of their distances, float32 [R, C]; `a`, `b`: tiles [n, k, R] and [n, k, C]."""
    start = jnp.zeros((a.shape[-1], b.shape[-1]), jnp.float32)
    return jax.lax.scan(lambda total, x: (total + metric.distance(x[0][:, :, None], x[1][:, None, :]), None), start, (a, b))[0]
