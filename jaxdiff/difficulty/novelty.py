"""How hard is it to react to a novelty? The distance between the solutions before and after it.

From "Measuring Difficulty of Novelty Reaction", Equations 1 to 3. A solution is a sequence of actions that solves the task. Solutions are
parted by length; in each part the difference in number (size) and the distances of the old solutions to the nearest new ones (shift) add
up. D = size + shift, in [-1, 1]: 1 when nothing works any more, 0 when nothing changed, below 0 when more works than before. The paper
leaves open over which solutions the distances are summed and by what the sum is divided: both are named options here. Axes: M solutions,
L the longest of them, k coordinates of an action.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import optimize

from jaxdiff.core.errors import as_array, require, require_integer
from jaxdiff.difficulty.action_metrics import Metric, as_metric
from jaxdiff.difficulty.nearest import distances, nearest

Reading = Literal["partition_mean", "pooled", "literal_total", "partition_then_total"]
Matching = Literal["mean", "first", "smallest", "assignment"]
READINGS: dict[str, str] = {
    "partition_mean": "each length divided by the larger number of its solutions, then the mean over the larger number of lengths",
    "pooled": "the sum over lengths divided by the larger number of all solutions",
    "literal_total": "the sum over lengths divided twice by the larger number of all solutions",
    "partition_then_total": "each length divided by the larger number of its solutions, the sum by the larger number of all solutions",
}
MATCHINGS: dict[str, str] = {
    "mean": "the smaller number times the mean of all nearest distances; whatever the order of solutions",
    "first": "the first as many of the list as the other side has; hangs on the order",
    "smallest": "the smallest as many",
    "assignment": "one to one, at the least total distance",
}
MATCHED = 4000  # of a side, at most, where solutions are matched one to one: cubic time, and all distances in memory


@dataclass(frozen=True)
class Solutions:
    """Action sequences that solve a task, as found or as there are.

    Attributes:
        actions: float32 [M, L, k]; what lies beyond a solution's length is ignored.
        length: number of actions of each, at least 1, int32 [M].
        tried: how many sequences were tried to find these, if known: two sides can only be compared when it is the same.
    """

    actions: np.ndarray
    length: np.ndarray
    tried: int | None = None

    def __post_init__(self) -> None:
        allowed = "numbers of shape [solutions, longest, coordinates]"
        actions = as_array("actions", self.actions, allowed, np.float32)
        require(actions.ndim == 3, "actions", f"of shape {actions.shape}", allowed)
        longest = actions.shape[1]
        allowed = f"integers of shape {actions.shape[:1]}, from 1 to {longest}"
        length = as_array("length", self.length, allowed)
        require(length.shape == actions.shape[:1], "length", f"of shape {length.shape}", allowed)
        require(length.size == 0 or np.issubdtype(length.dtype, np.integer), "length", f"of type {length.dtype}", allowed)
        wrong = length[(length < 1) | (length > longest)]
        require(wrong.size == 0, "length", wrong[0] if wrong.size else None, allowed)
        there = np.arange(longest) < length[:, None]
        require(bool(np.isfinite(actions[there]).all()), "actions", "not finite everywhere", "finite numbers")
        if self.tried is not None:
            require_integer("tried", self.tried, len(length))
        object.__setattr__(self, "actions", actions)
        object.__setattr__(self, "length", length.astype(np.int32))

    def of_length(self, n: int) -> np.ndarray:
        """Those of n actions in their order, float32 [m, n, k]."""
        return self.actions[self.length == n, :n]

    def thinned(self, like: Solutions) -> Solutions:
        """The first ones of each length, at most as many as another side has: what is left of a sample where fewer things work."""
        wanted = np.bincount(like.length, minlength=self.actions.shape[1] + 1)
        place = np.zeros(len(self.length), np.int64)
        for n in range(1, self.actions.shape[1] + 1):
            mine = self.length == n
            place[mine] = np.arange(mine.sum())
        kept = place < wanted[self.length]
        return Solutions(self.actions[kept], self.length[kept], self.tried)

    def distinct(self) -> Solutions:
        """Each once, the first occurrence."""
        if not len(self.length):
            return self
        cut = np.where(np.arange(self.actions.shape[1])[None, :, None] < self.length[:, None, None], self.actions, 0)
        rows = np.concatenate([cut.reshape(len(cut), -1), self.length[:, None]], axis=1)
        kept = np.sort(np.unique(rows, axis=0, return_index=True)[1])
        return Solutions(self.actions[kept], self.length[kept], self.tried)


@dataclass(frozen=True)
class Part:
    """Solutions of one length.

    Attributes:
        length: number of actions.
        before, after: how many solutions.
        size: before - after.
        shift: the sum of distances to the nearest solution after.
        d: (size + shift) / the larger number.
    """

    length: int
    before: int
    after: int
    size: int
    shift: float
    d: float


@dataclass(frozen=True)
class ReactionDifficulty:
    """Difficulty of reacting to a novelty.

    Attributes:
        d: Equation 3, size + shift; 0 where undetermined.
        size: what the change in number adds.
        shift: what the distances add.
        reverse: D the other way round: of going back. It is not -D.
        undetermined: neither side has a solution.
        by_length: a row a length.
    """

    d: float
    size: float
    shift: float
    reverse: float
    undetermined: bool
    by_length: tuple[Part, ...]


def difficulty(
    a: Solutions,
    b: Solutions,
    max_action_distance: float | Metric,
    reading: Reading = "partition_mean",
    matching: Matching = "mean",
    *,
    duplicates: Literal["keep", "drop"] = "keep",
) -> ReactionDifficulty:
    """Difficulty of reacting to the change from world A to world B.

    Args:
        a, b: solutions before and after.
        max_action_distance: the largest Euclidean distance between two actions; or another metric of `action_metrics`.
        reading: what Equations 2 and 3 divide by, see `READINGS`.
        matching: over which solutions Equation 2 sums, see `MATCHINGS`.
        duplicates: "keep": a solution found twice counts twice; "drop": once.

    Raises:
        InputError: unknown options, actions of different size, unequal numbers of tried sequences, actions farther apart than the
            declared maximum, more than `MATCHED` solutions to be assigned.
    """
    require(reading in READINGS, "reading", reading, f"one of {', '.join(READINGS)}")
    require(matching in MATCHINGS, "matching", matching, f"one of {', '.join(MATCHINGS)}")
    require(duplicates in ("keep", "drop"), "duplicates", duplicates, "keep or drop")
    metric = as_metric(max_action_distance)
    sizes = a.actions.shape[2], b.actions.shape[2]
    require(sizes[0] == sizes[1] or not (len(a.length) and len(b.length)), "b", f"with {sizes[1]} coordinates", f"as many as a, {sizes[0]}")
    budgets = a.tried, b.tried
    require(None in budgets or budgets[0] == budgets[1], "b", f"found in {b.tried} trials", f"the same number as a, {a.tried}")
    if duplicates == "drop":
        a, b = a.distinct(), b.distinct()
    forth, back = [], []
    for n in sorted({*a.length.tolist(), *b.length.tolist()}):
        one, other = a.of_length(n), b.of_length(n)
        shifts = _shifts(one, other, metric, matching)
        forth.append(_part(n, len(one), len(other), shifts[0]))
        back.append(_part(n, len(other), len(one), shifts[1]))
    size, shift = _divided(forth, reading)
    return ReactionDifficulty(size + shift, size, shift, sum(_divided(back, reading)), not forth, tuple(forth))


def _part(n: int, before: int, after: int, shift: float) -> Part:
    return Part(n, before, after, before - after, shift, (before - after + shift) / max(before, after))


def _shifts(a: np.ndarray, b: np.ndarray, metric: Metric, matching: str) -> tuple[float, float]:
    """Sums of distances from a to b and from b to a."""
    fewer = min(len(a), len(b))
    if not fewer:
        return 0.0, 0.0
    near = nearest(a, b, metric)
    if matching == "assignment":
        require(max(len(a), len(b)) <= MATCHED, "matching", f"assignment of {len(a)} and {len(b)} solutions", f"at most {MATCHED}, or mean")
        matrix = distances(a, b, metric)
        total = float(matrix[optimize.linear_sum_assignment(matrix)].sum())
        return total, total
    over: dict[str, Callable[[np.ndarray], Any]] = {
        "mean": lambda d: fewer * d.mean(),
        "first": lambda d: d[:fewer].sum(),
        "smallest": lambda d: np.sort(d)[:fewer].sum(),
    }
    one, other = (float(over[matching](side.astype(np.float64))) for side in near)
    return one, other


def _divided(parts: list[Part], reading: str) -> tuple[float, float]:
    """Size and shift of all lengths, as the reading divides them."""
    larger = np.array([max(p.before, p.after) for p in parts], np.float64)
    each = larger if reading in ("partition_mean", "partition_then_total") else np.ones(len(parts))
    totals = [sum(getattr(p, side) for p in parts) for side in ("before", "after")]
    lengths = [sum(getattr(p, side) > 0 for p in parts) for side in ("before", "after")]
    whole = {"partition_mean": max(lengths), "literal_total": max(totals) ** 2}.get(reading, max(totals))
    size, shift = (float((np.array([getattr(p, of) for p in parts]) / each).sum() / max(whole, 1)) for of in ("size", "shift"))
    return size, shift
