"""Where environments come from: random labelled graphs and patterns, strongly connected by construction (paper, section 3).

A space is a directed graph whose arrows are actions; Good and Evil walk it by one shared pattern of actions. To make every graph strongly
connected without rejection, a random cycle through all cells is laid first: in each cell one random action leads to the next cell of the
cycle; all other entries are uniform over the cells and "no effect". Axes: N cells, A actions, L pattern elements (all padded), B
environments.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxdiff.core.errors import require, require_integer

if TYPE_CHECKING:
    from jaxdiff.society.world import Params

NO_EFFECT, ABSENT = -1, -2  # entries of a table: the action does nothing; the action or the cell does not exist
PAPER_CELLS = 9
MOST_CELLS = 100


@dataclass(frozen=True)
class Distribution:
    """A distribution over environments; hashes by value, since it decides shapes.

    Attributes:
        cells: n_c, or a pair (least, most): then uniform between them. Arrays are padded to the most.
        more_actions: p of the geometric distribution: n_a is 1 + geometric(p), truncated to 2..n_c.
        stay: whether action 0 is "stay". Otherwise it is drawn as the others are.
        no_effect: whether "no effect" is one of the values of an entry, beside the cells.
        stop: probability with which the pattern ends after each element.
        longest_pattern: L; the geometric distribution of lengths is truncated there.
    """

    cells: int | tuple[int, int] = PAPER_CELLS
    more_actions: float = 0.1
    stay: bool = True
    no_effect: bool = True
    stop: float = 0.01
    longest_pattern: int = 1024

    def __post_init__(self) -> None:
        pair = self.cells if isinstance(self.cells, tuple) else (self.cells, self.cells)
        require(len(pair) == 2, "cells", self.cells, "a number of cells, or a pair (least, most)")
        for number in pair:
            require_integer("cells", number, 2, MOST_CELLS)
        require(pair[0] <= pair[1], "cells", self.cells, "a pair (least, most) in ascending order")
        for name in ("more_actions", "stop"):
            value = getattr(self, name)
            require(isinstance(value, int | float) and 0 < value < 1, name, value, "a probability above 0 and below 1")
        require_integer("longest_pattern", self.longest_pattern, 1, 2**15)

    @property
    def range(self) -> tuple[int, int]:
        """Least and most number of cells."""
        return self.cells if isinstance(self.cells, tuple) else (self.cells, self.cells)


@partial(jax.jit, static_argnums=1)
def sample(keys: jax.Array, distribution: Distribution) -> Params:
    """A batch of environments, one a key.

    Args:
        keys: PRNG keys [B]; consumed.
        distribution: what to draw from.

    Returns:
        parameters with a leading axis B.
    """
    return jax.vmap(partial(sample_one, distribution=distribution))(keys)


def sample_one(key: jax.Array, distribution: Distribution) -> Params:
    """One environment. The key is consumed."""
    from jaxdiff.society.world import Params

    least, most = distribution.range
    longest = distribution.longest_pattern
    # One call of the generator for everything: compiling several costs more than everything else here.
    sizes = np.cumsum([3, most, most, most * most])
    some, order, on_cycle, entries, elements = jnp.split(jax.random.uniform(key, (int(sizes[-1]) + longest,), jnp.float32), sizes)
    cells = least + _below(some[0], jnp.int32(most + 1 - least))
    actions = 1 + _geometric(some[1], distribution.more_actions, cells - 1)
    length = _geometric(some[2], distribution.stop, jnp.int32(longest))
    inside = jnp.arange(longest, dtype=jnp.int32) < length
    return Params(
        table=_table(order, on_cycle, entries.reshape(most, most), cells, actions, distribution),
        cells_n=cells,
        actions_n=actions,
        pattern=jnp.where(inside, _below(elements, actions), NO_EFFECT).astype(jnp.int8),
        pattern_n=length,
    )


def _table(
    order: jax.Array, on_cycle: jax.Array, entries: jax.Array, cells: jax.Array, actions: jax.Array, distribution: Distribution
) -> jax.Array:
    """Targets int8 [N, A] from random numbers in [0, 1): which cells follow each other, by which action, and all other targets."""
    most = distribution.range[1]
    number = jnp.arange(most, dtype=jnp.int32)
    cell, other = number[:, None], number
    # A cell's place on the cycle is its rank among the cells that exist; equal numbers, which do occur, are ranked by cell.
    before = (order < order[:, None]) | ((order == order[:, None]) & (other < cell))
    rank = jnp.sum(before & (other < cells), axis=1, dtype=jnp.int32)
    follows = (rank == ((rank + 1) % cells)[:, None]) & (other < cells)
    following = jnp.sum(jnp.where(follows, other, 0), axis=1, dtype=jnp.int32)
    first = int(distribution.stay)
    chosen = first + _below(on_cycle, actions - first)
    lowest = NO_EFFECT if distribution.no_effect else 0
    targets = jnp.where(chosen[:, None] == other, following[:, None], lowest + _below(entries, cells - lowest))
    if distribution.stay:
        targets = jnp.where(other == 0, cell, targets)
    return jnp.where((cell < cells) & (other < actions), targets, ABSENT).astype(jnp.int8)


def _below(u: jax.Array, count: jax.Array) -> jax.Array:
    """Integers 0..count-1 from numbers in [0, 1), int32."""
    return jnp.minimum((u * count.astype(jnp.float32)).astype(jnp.int32), count - 1)


def _geometric(u: jax.Array, p: float, most: jax.Array) -> jax.Array:
    """Number of trials up to the first success, given that it is at most `most`: int32 [], by the inverse of its distribution at u."""
    log_fail = math.log1p(-p)
    within = -jnp.expm1(most.astype(jnp.float32) * jnp.float32(log_fail))
    drawn = jnp.floor(jnp.log1p(-u * within) / jnp.float32(log_fail)).astype(jnp.int32) + 1
    return jnp.clip(drawn, 1, most)


def strongly_connected(table: Any, cells_n: Any) -> np.ndarray:
    """Whether every cell can be reached from every other.

    Args:
        table: targets, int [B, N, A]; negative entries lead nowhere.
        cells_n: number of cells, int [B].

    Returns:
        bool [B], on the host.
    """
    table, count = np.asarray(table), np.asarray(cells_n)
    batch, most, _ = table.shape
    reach = np.broadcast_to(np.eye(most, dtype=bool), (batch, most, most)).copy()
    environment, cell, action = np.nonzero(table >= 0)
    reach[environment, cell, table[environment, cell, action]] = True
    for _ in range(max(1, math.ceil(math.log2(most)))):
        reach = np.matmul(reach.astype(np.float32), reach.astype(np.float32)) > 0
    exists = np.arange(most) < count[:, None]
    return (reach | ~exists[:, :, None] | ~exists[:, None, :]).all((1, 2))


def texts(params: Params) -> list[bytes]:
    """Descriptions (space, pattern) of a batch of environments, whose compressed length estimates K (paper, section 8).

    A cell is one character (0-9, a-z, ...), "-" is no effect; a line a cell, then the pattern.
    """
    signs = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" + "".join(chr(c) for c in range(0xC0, 0xC0 + 64))
    table, pattern = np.asarray(params.table), np.asarray(params.pattern)
    cells, actions, length = (np.asarray(x) for x in (params.cells_n, params.actions_n, params.pattern_n))
    out = []
    for b in range(len(cells)):
        lines = ["".join("-" if t < 0 else signs[t] for t in row) for row in table[b, : cells[b], : actions[b]]]
        lines.append("".join(signs[a] for a in pattern[b, : length[b]]))
        out.append("\n".join(lines).encode("latin-1"))
    return out
