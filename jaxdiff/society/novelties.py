"""Novelties of the class Lambda: an edge appears or goes, two actions change places, another agent enters.

What is changed is drawn with a seed among all changes that leave an environment of the class: strongly connected, with the same cells.
They take one environment, on the host, and give back one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from jaxdiff.core.errors import require, require_integer
from jaxdiff.core.novelties import Novelty
from jaxdiff.society import graphs
from jaxdiff.society.graphs import NO_EFFECT
from jaxdiff.society.world import Lambda, Params


def edge_added(seed: int = 0) -> Novelty:
    """An action that had no effect in some cell leads to another cell now."""

    def tables(table: np.ndarray, rng: np.random.Generator) -> list[np.ndarray]:
        return [_with(table, at, rng.choice(np.delete(np.arange(len(table)), at[0]))) for at in np.argwhere(table == NO_EFFECT)]

    return _of_table("edge added", "an environment with an action that has no effect somewhere", tables, seed)


def edge_removed(seed: int = 0) -> Novelty:
    """An action that led from some cell to another has no effect there any more."""

    def tables(table: np.ndarray, _: np.random.Generator) -> list[np.ndarray]:
        edges = (table != NO_EFFECT) & (table != np.arange(len(table))[:, None])
        left = [_with(table, at, NO_EFFECT) for at in np.argwhere(edges)]
        return [t for t in left if graphs.strongly_connected(t[None], np.array([len(t)]))[0]]

    return _of_table("edge removed", "an environment with an edge that it can do without", tables, seed)


def relabelled(seed: int = 0) -> Novelty:
    """Two actions change places everywhere; Good and Evil keep their pattern, and so walk other ways."""

    def tables(table: np.ndarray, _: np.random.Generator) -> list[np.ndarray]:
        pairs = [(i, j) for i in range(table.shape[1]) for j in range(i) if (table[:, i] != table[:, j]).any()]
        return [_swapped(table, *pair) for pair in pairs]

    return _of_table("relabelled", "an environment with two actions that differ", tables, seed)


def another_agent() -> Novelty:
    """One more agent; the last one is the new one."""
    return Novelty("another agent", "agents", lambda env, params: (replace(env, agents=env.agents + 1), params))


def _with(table: np.ndarray, at: np.ndarray, target: int) -> np.ndarray:
    changed = table.copy()
    changed[tuple(at)] = target
    return changed


def _swapped(table: np.ndarray, i: int, j: int) -> np.ndarray:
    changed = table.copy()
    changed[:, [i, j]] = changed[:, [j, i]]
    return changed


def _of_table(name: str, allowed: str, tables: Callable[[np.ndarray, np.random.Generator], list[np.ndarray]], seed: int) -> Novelty:
    """A novelty of what exists of a table [n_c, n_a], drawn among `tables`."""
    require_integer("seed", seed, 0)

    def change(env: Lambda, params: Params) -> tuple[Lambda, Params]:
        table = np.array(params.table)
        require(table.ndim == 2, "params", f"with a table of shape {table.shape}", "one environment, [N, A]")
        rng = np.random.default_rng(seed)
        cells, actions = int(params.cells_n), int(params.actions_n)
        possible = tables(table[:cells, :actions], rng)
        require(len(possible) > 0, "params", "without anything to change", allowed)
        table[:cells, :actions] = possible[rng.integers(len(possible))]
        return env, replace(params, table=table)

    return Novelty(name, "topology", change)
