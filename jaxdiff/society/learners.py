"""Q-learning, SARSA and QV-learning: one update each, as pure functions of plain tables (paper, section 3).

Each of `q_learning`, `sarsa` and `qv` has `.target`, what the value of the last action moves towards, and `.update`, which does it in a
table. The sessions use the targets on single rows; the updates are the definition that they are tested against. Axes: S states, A
actions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxdiff.core.errors import require

LEARNERS = ("q_learning", "sarsa", "qv")


class QVTables(NamedTuple):
    """What QV-learning learns: Q [S, A] and V [S]."""

    q: jax.Array
    v: jax.Array


@dataclass(frozen=True)
class Algorithm:
    """A learning algorithm.

    Attributes:
        name: one of `LEARNERS`.
        target: (r, gamma, q2 [A], v2, a2, allowed [A]) -> what Q(s, a) moves towards.
        update: see the functions below.
    """

    name: str
    target: Callable[..., jax.Array]
    update: Callable[..., Any]


def _check_rates(**rates: Any) -> None:
    """Refuse rates outside 0..1. Device arrays, traced ones among them, are taken as they are.

    Raises:
        InputError: names the rate.
    """
    for name, value in rates.items():
        if isinstance(value, int | float | np.ndarray | np.generic | list | tuple):
            array = np.asarray(value, np.float64)
            wrong = array[~((array >= 0) & (array <= 1))]
            require(wrong.size == 0, name, float(wrong.flat[0]) if wrong.size else None, "0..1")


def _to_best(r: Any, gamma: Any, q2: jax.Array, v2: Any, a2: Any, allowed: jax.Array) -> jax.Array:
    return r + gamma * jnp.max(jnp.where(allowed, q2, -jnp.inf), axis=-1)


def _to_next(r: Any, gamma: Any, q2: jax.Array, v2: Any, a2: jax.Array, allowed: jax.Array) -> jax.Array:
    return r + gamma * jnp.take_along_axis(q2, a2[..., None], axis=-1)[..., 0]


def _to_v(r: Any, gamma: Any, q2: jax.Array, v2: jax.Array, a2: Any, allowed: jax.Array) -> jax.Array:
    return r + gamma * v2


def _all(row: jax.Array, actions_n: Any) -> jax.Array:
    count = row.shape[-1] if actions_n is None else actions_n
    return jnp.arange(row.shape[-1], dtype=jnp.int32) < count


def _q_learning(
    table: Any, s: Any, a: Any, r: Any, s2: Any, a2: Any, alpha: Any, gamma: Any, beta: Any = None, actions_n: Any = None
) -> jax.Array:
    """Q-learning: Q(s, a) += alpha (r + gamma max_b Q(s', b) - Q(s, a)).

    Args:
        table: Q, float [S, A].
        s, a: state and action; int [].
        r: reward that followed.
        s2: state that followed.
        a2: action chosen there; not used.
        alpha: learning rate.
        gamma: discount factor.
        beta: not used.
        actions_n: how many actions there are; A when None.

    Returns:
        the new table.

    Raises:
        InputError: a rate outside 0..1 (numbers and NumPy arrays are looked at).
    """
    _check_rates(alpha=alpha, gamma=gamma)
    table = jnp.asarray(table)
    target = _to_best(r, gamma, table[s2], None, None, _all(table[s2], actions_n))
    return table.at[s, a].add(alpha * (target - table[s, a]))


def _sarsa(
    table: Any, s: Any, a: Any, r: Any, s2: Any, a2: Any, alpha: Any, gamma: Any, beta: Any = None, actions_n: Any = None
) -> jax.Array:
    """SARSA: Q(s, a) += alpha (r + gamma Q(s', a') - Q(s, a)). Arguments as for Q-learning."""
    _check_rates(alpha=alpha, gamma=gamma)
    table = jnp.asarray(table)
    target = r + gamma * table[s2, a2]
    return table.at[s, a].add(alpha * (target - table[s, a]))


def _qv(table: Any, s: Any, a: Any, r: Any, s2: Any, a2: Any, alpha: Any, gamma: Any, beta: Any = None, actions_n: Any = None) -> QVTables:
    """QV-learning: delta = r + gamma V(s'); Q(s, a) += alpha (delta - Q(s, a)); V(s) += beta (delta - V(s)), with the old V(s') in both.

    Args:
        table: `QVTables`, or a pair (Q [S, A], V [S]).
        s, a, r, s2, a2, alpha, gamma, actions_n: as for Q-learning.
        beta: learning rate of V; alpha when None.
    """
    _check_rates(alpha=alpha, gamma=gamma, **({} if beta is None else {"beta": beta}))
    q, v = (jnp.asarray(x) for x in table)
    delta = r + gamma * v[s2]
    return QVTables(q.at[s, a].add(alpha * (delta - q[s, a])), v.at[s].add((alpha if beta is None else beta) * (delta - v[s])))


q_learning = Algorithm("q_learning", _to_best, _q_learning)
sarsa = Algorithm("sarsa", _to_next, _sarsa)
qv = Algorithm("qv", _to_v, _qv)
ALGORITHMS = {algorithm.name: algorithm for algorithm in (q_learning, sarsa, qv)}


@partial(jax.tree_util.register_dataclass, data_fields=["alpha", "gamma", "beta", "epsilon", "initial"], meta_fields=[])
@dataclass(frozen=True)
class Rates:
    """Parameters of learners; numbers, or arrays that broadcast to [B, m]: every session and seat may have its own.

    Attributes:
        alpha: learning rate of Q, in 0..1.
        gamma: discount factor, in 0..1.
        beta: learning rate of V, in 0..1.
        epsilon: probability of a random action, in 0..1.
        initial: value of Q and V at the start.
    """

    alpha: Any = 0.05
    gamma: Any = 0.35
    beta: Any = 0.05
    epsilon: Any = 0.05
    initial: Any = 2.0

    def __post_init__(self) -> None:
        _check_rates(alpha=self.alpha, gamma=self.gamma, beta=self.beta, epsilon=self.epsilon)
        if isinstance(self.initial, int | float):
            require(bool(np.isfinite(self.initial)), "initial", self.initial, "a finite number")

    def broadcast(self, sessions: int, seats: int) -> Rates:
        """float32 [B, m] each."""
        arrays = [np.asarray(getattr(self, f), np.float32) for f in self.__dataclass_fields__]
        return Rates(*(np.broadcast_to(x if x.ndim != 1 else x[None, :], (sessions, seats)) for x in arrays))
