"""Effective horizon of a small deterministic world, exactly.

After Laidlaw, Russell and Dragan (2023), "Bridging RL Theory and Practice with the Effective Horizon". GORP(k, m) looks at every
sequence of k actions, estimates its return by m episodes that go on at random, takes the first action of the best sequence, and does so
in every step. H_k = k + log_A m_k, where m_k is the least m for which the whole episode is optimal with probability at least 1/2; the
effective horizon is the least H_k (Definition 5.2). Nothing is sampled here: returns are integers, so their distributions are exact.
Sequences that tie are taken with equal probability. Axes: S states, A actions, T steps, V sums of returns.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from jaxdiff.core.errors import as_array, require, require_integer

MOST_SAMPLES = 1 << 14
MOST_VALUES = 1 << 16  # different sums of returns
_BLOCK = 1 << 20  # numbers that are multiplied at once


@dataclass(frozen=True)
class World:
    """A deterministic world as tables.

    Attributes:
        next: state after an action, int64 [S, A].
        reward: integers, int64 [S, A]; what they are multiples of is for the caller to know.
        terminal: whether the step ends the episode, bool [S, A].
        start: the first state.
        horizon: T, steps after which an episode ends.
    """

    next: np.ndarray
    reward: np.ndarray
    terminal: np.ndarray
    start: int
    horizon: int

    @property
    def actions(self) -> int:
        """A."""
        return self.next.shape[1]


def world(next: Any, reward: Any, terminal: Any, horizon: int, start: int = 0) -> World:
    """A world from its tables.

    Args:
        next: int [S, A].
        reward: integers [S, A] (also as floats).
        terminal: bool [S, A].
        horizon: T, at least 1.
        start: the first state.

    Raises:
        InputError: shapes that do not fit, states that do not exist, rewards that are no integers, an episode without steps.
    """
    n = as_array("next", next, "integers [S, A]", np.int64)
    require(n.ndim == 2 and n.size > 0, "next", f"of shape {n.shape}", "integers [S, A]")
    require(bool(((n >= 0) & (n < len(n))).all()), "next", "a state that does not exist", f"states from 0 to {len(n) - 1}")
    exact = as_array("reward", reward, "integers [S, A]", np.float64)
    require(exact.shape == n.shape and bool((exact == np.round(exact)).all()), "reward", "not integers [S, A]", "integers [S, A]")
    ends = as_array("terminal", terminal, "truth values [S, A]", bool)
    require(ends.shape == n.shape, "terminal", f"of shape {ends.shape}", f"{n.shape}")
    require_integer("horizon", horizon, 1)
    require_integer("start", start, 0, len(n) - 1)
    return World(n, exact.astype(np.int64), ends, start, horizon)


@dataclass(frozen=True)
class EffectiveHorizon:
    """What was found.

    Attributes:
        value: the effective horizon, in steps; NaN where no k up to the largest one has an m.
        k: the least H_k's.
        m: its number of samples.
        by_k: (k, m_k, H_k) of every k that was tried; m_k is None where no m up to `MOST_SAMPLES` does.
        optimal: the highest return of an episode, of integers.
    """

    value: float
    k: int
    m: int
    by_k: tuple[tuple[int, int | None, float], ...]
    optimal: int


def effective_horizon(tables: World, longest: int | None = None, most_samples: int = MOST_SAMPLES) -> EffectiveHorizon:
    """The effective horizon.

    Args:
        tables: the world.
        longest: largest k that is tried; the horizon when None. Those that cannot beat what is known are left out.
        most_samples: largest m that is tried.

    Raises:
        InputError: returns so various that their distributions are too large.
    """
    most_k = tables.horizon if longest is None else min(longest, tables.horizon)
    random = _Random(tables)
    rows: list[tuple[int, int | None, float]] = []
    best = (math.inf, 0, 0)
    for k in range(1, most_k + 1):
        if k >= best[0] or tables.actions**k > 4096:
            break
        bound = most_samples if not math.isfinite(best[0]) else min(most_samples, math.floor(tables.actions ** (best[0] - k)) + 1)
        m = _least_samples(random, k, bound)
        h = math.inf if m is None else k + (math.log(m, tables.actions) if tables.actions > 1 else 0.0)
        rows.append((k, m, h))
        if m is not None and h < best[0]:
            best = (h, k, m)
    value = best[0] if math.isfinite(best[0]) else math.nan
    return EffectiveHorizon(value, best[1], best[2], tuple(rows), int(random.optimal[0][tables.start]))


def success(tables: World, k: int, m: int) -> float:
    """Probability that GORP(k, m) plays an optimal episode, exactly."""
    require_integer("k", k, 1)
    require_integer("m", m, 1)
    return _success(_Random(tables), k, m)


class _Random:
    """Optimal values, and distributions of what a random policy gets from every state with so many steps left, of integers."""

    def __init__(self, tables: World) -> None:
        self.tables = tables
        t = tables
        value = np.zeros(len(t.next), np.int64)
        values = [value]
        for _ in range(t.horizon):
            value = (t.reward + np.where(t.terminal, 0, value[t.next])).max(1)
            values.append(value)
        self.optimal = values[::-1]  # by time: optimal[t] with T - t steps left
        self._kept: dict[tuple[int, int], dict[int, float]] = {}
        # From the fewest steps left on, so that the recursion is never deep.
        for left in range(t.horizon + 1):
            for state in range(len(t.next)):
                self._make(state, left)

    def _make(self, state: int, left: int) -> None:
        t, out = self.tables, {}
        if left == 0:
            out = {0: 1.0}
        else:
            for a in range(t.actions):
                reward = int(t.reward[state, a])
                later = {0: 1.0} if t.terminal[state, a] else self._kept[int(t.next[state, a]), left - 1]
                for v, p in later.items():
                    out[v + reward] = out.get(v + reward, 0.0) + p / t.actions
        require(len(out) <= MOST_VALUES, "reward", f"with {len(out)} different returns", f"at most {MOST_VALUES}")
        self._kept[state, left] = out

    def after(self, state: int, left: int, sequence: tuple[int, ...]) -> dict[int, float]:
        """Distribution of the return of a sequence of actions and random ones after it."""
        t, gained = self.tables, 0
        for a in sequence[:left]:
            gained += int(t.reward[state, a])
            if t.terminal[state, a]:
                return {gained: 1.0}
            state, left = int(t.next[state, a]), left - 1
        return {v + gained: p for v, p in self._kept[state, left].items()}

    def optimal_actions(self, state: int, time: int) -> list[int]:
        """Actions that an optimal policy may take."""
        t = self.tables
        later = np.where(t.terminal[state], 0, self.optimal[time + 1][t.next[state]])
        value = t.reward[state] + later
        return np.flatnonzero(value == value.max()).tolist()


def _least_samples(random: _Random, k: int, most: int) -> int | None:
    """Least m with a success of at least 1/2, or None; every m from 1 on is tried, since success need not rise with m.

    Where there is no success up to a power of 2 the search goes on in ever larger steps, and back by bisection.
    """
    for m in range(1, min(most, 16) + 1):
        if _success(random, k, m) >= 0.5:
            return m
    low, high = 16, 32
    while low < most:
        high = min(high, most)
        if _success(random, k, high) >= 0.5:
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (low, middle) if _success(random, k, middle) >= 0.5 else (middle, high)
            return high
        low, high = high, high * 2
    return None


def _success(random: _Random, k: int, m: int) -> float:
    t = random.tables
    kept: dict[tuple[int, int], float] = {}
    reached: list[set[int]] = [{t.start}]
    for time in range(t.horizon):
        ahead = {int(t.next[s, a]) for s in reached[time] for a in random.optimal_actions(s, time) if not t.terminal[s, a]}
        reached.append(ahead)
    for time in range(t.horizon - 1, -1, -1):
        for state in reached[time]:
            optimal = random.optimal_actions(state, time)
            if not _matters(random, state):
                kept[time, state] = 1.0 if t.terminal[state, 0] or time + 1 == t.horizon else kept[time + 1, int(t.next[state, 0])]
                continue
            chance = _first_action(random, state, time, k, m)
            total = 0.0
            for a in optimal:
                ended = t.terminal[state, a] or time + 1 == t.horizon
                total += chance[a] * (1.0 if ended else kept[time + 1, int(t.next[state, a])])
            kept[time, state] = total
    return kept[0, t.start]


def _matters(random: _Random, state: int) -> bool:
    """Whether it matters which action is taken: not where all give and lead to the same."""
    t = random.tables
    same = all((t.next[state] == t.next[state, 0]) & (t.terminal[state] == t.terminal[state, 0]) & (t.reward[state] == t.reward[state, 0]))
    return not same


def _first_action(random: _Random, state: int, time: int, k: int, m: int) -> np.ndarray:
    """Probability of every action of being the first of the sequence with the highest estimate, float64 [A]."""
    t = random.tables
    left = t.horizon - time
    sequences = list(itertools.product(range(t.actions), repeat=min(k, left)))
    sums = [_sum_of(random.after(state, left, sequence), m) for sequence in sequences]
    support = np.unique(np.concatenate([v for v, _ in sums]))
    mass = np.zeros((len(sums), len(support)))
    for row, (v, p) in zip(mass, sums, strict=True):
        row[np.searchsorted(support, v)] = p
    below = np.cumsum(mass, axis=1) - mass
    block = max(1, _BLOCK // len(sums))
    wins = sum(_wins(mass[:, v : v + block], below[:, v : v + block]) for v in range(0, len(support), block))
    return np.bincount([s[0] for s in sequences], wins, t.actions)


def _wins(at: np.ndarray, below: np.ndarray) -> np.ndarray:
    """Probability of every sequence of having one of V values while none has a higher one, ties being drawn, float64 [n].

    With a fair draw the winner of c that tie is each with 1/c: the integral over u in 0..1 of the product of below + u at of all
    others, which is a polynomial in u, times the own mass.

    Args:
        at, below: probability of every value, and of all below it, [n, V].
    """
    nodes, weights = np.polynomial.legendre.leggauss(len(at) // 2 + 1)
    out, one = np.zeros(len(at)), np.ones((1, at.shape[1]))
    for point, weight in zip((nodes + 1) / 2, weights / 2, strict=True):
        factor = below + point * at
        # Products of all others, without a division, for factors may be 0.
        before = np.cumprod(np.concatenate([one, factor[:-1]]), axis=0)
        after = np.cumprod(np.concatenate([one, factor[:0:-1]]), axis=0)[::-1]
        out += weight * (at * before * after).sum(1)
    return out


def _sum_of(one: dict[int, float], m: int) -> tuple[np.ndarray, np.ndarray]:
    """Values and probabilities of the sum of m independent returns."""
    values = np.array(sorted(one))
    shift = int(values[0])
    divisor = int(np.gcd.reduce(values - shift)) or 1
    places = (values - shift) // divisor
    size = int(places[-1]) * m + 1
    require(size <= MOST_VALUES * 16, "reward", f"with sums of up to {size} values", f"at most {MOST_VALUES * 16}; use coarser rewards")
    base = np.zeros(int(places[-1]) + 1)
    base[places] = [one[int(v)] for v in values]
    power, result, left = base, np.ones(1), m
    while left:  # by squaring; convolutions of probabilities, so nothing is lost
        if left & 1:
            result = np.convolve(result, power)
        left >>= 1
        if left:
            power = np.convolve(power, power)
    keep = result > 1e-300
    return (np.arange(len(result)) * divisor + m * shift)[keep], result[keep]
