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

    key_cells, key_actions, key_graph, key_length, key_pattern = jax.random.split(key, 5)
    least, most = distribution.range
    cells = jax.random.randint(key_cells, (), least, most + 1, dtype=jnp.int32)
    actions = 1 + _geometric(key_actions, distribution.more_actions, cells - 1)
    length = _geometric(key_length, distribution.stop, jnp.int32(distribution.longest_pattern))
    pattern = jax.random.randint(key_pattern, (distribution.longest_pattern,), 0, actions, dtype=jnp.int32)
    inside = jnp.arange(distribution.longest_pattern, dtype=jnp.int32) < length
    return Params(
        table=_table(key_graph, cells, actions, distribution),
        cells_n=cells,
        actions_n=actions,
        pattern=jnp.where(inside, pattern, NO_EFFECT).astype(jnp.int8),
        pattern_n=length,
    )


def _table(key: jax.Array, cells: jax.Array, actions: jax.Array, distribution: Distribution) -> jax.Array:
    """Targets int8 [N, A]."""
    key_order, key_action, key_entries = jax.random.split(key, 3)
    most = distribution.range[1]
    cell, action = jnp.arange(most, dtype=jnp.int32)[:, None], jnp.arange(most, dtype=jnp.int32)
    # The first `cells` of this order are the cells that exist, in random order: the cycle.
    order = jnp.argsort(jnp.where(cell[:, 0] < cells, jax.random.uniform(key_order, (most,), jnp.float32), 2.0)).astype(jnp.int32)
    after = order[jnp.where(action + 1 < cells, action + 1, 0)]
    following = jnp.zeros((most,), jnp.int32).at[order].set(after)
    on_cycle = jax.random.randint(key_action, (most,), int(distribution.stay), actions, dtype=jnp.int32)
    lowest = NO_EFFECT if distribution.no_effect else 0
    entries = jax.random.randint(key_entries, (most, most), lowest, cells, dtype=jnp.int32)
    entries = jnp.where(on_cycle[:, None] == action, following[:, None], entries)
    if distribution.stay:
        entries = jnp.where(action == 0, cell, entries)
    return jnp.where((cell < cells) & (action < actions), entries, ABSENT).astype(jnp.int8)


def _geometric(key: jax.Array, p: float, most: jax.Array) -> jax.Array:
    """Number of trials up to the first success, given that it is at most `most`: int32 [], by the inverse of its distribution."""
    log_fail = math.log1p(-p)
    u = jax.random.uniform(key, (), jnp.float32)
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
