"""Do two measures put the same items in the same order? Rank correlations over items, with bootstrap intervals.

A measure may have been taken several times (one population of policies each): then a correlation is the mean over the times, and the
interval says how much it hangs on which items there are. Items that are variants of one another (a rule and its mirror image) are no
independent evidence: `groups` resamples them together. Axes: S times, n items, B resamples.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np
from scipy import stats

from jaxdiff.core.errors import as_array, require, require_integer

Coefficient = Literal["spearman", "kendall"]
COEFFICIENTS: tuple[Coefficient, ...] = ("spearman", "kendall")
LEVEL = 0.95


@dataclass(frozen=True)
class Correlation:
    """A rank correlation.

    Attributes:
        value: mean over the S times; NaN where a side is constant.
        low, high: ends of the percentile bootstrap interval.
        least, most: smallest and largest over the S times.
        items: n.
        units: what was resampled, items or groups of them.
    """

    value: float
    low: float
    high: float
    least: float
    most: float
    items: int
    units: int


@dataclass(frozen=True)
class Stability:
    """How far repeated measurements agree on the order of items: Spearman over all pairs of times; NaN for a single one.

    Attributes:
        mean, least, most: over the pairs.
        pairs: S (S - 1) / 2.
    """

    mean: float
    least: float
    most: float
    pairs: int


def correlation(
    x: Any, y: Any, coefficient: Coefficient = "spearman", *, groups: Any = None, resamples: int = 1000, seed: int = 0, level: float = LEVEL
) -> Correlation:
    """Rank correlation of two measures over items.

    Args:
        x, y: finite numbers, [n] or [S, n]; time s of one goes with time s of the other, or with the only one.
        coefficient: "spearman" (ties at mid-rank) or "kendall" (tau-b).
        groups: labels [n]; items of one label are resampled together. Every item by itself when None.
        resamples: B.
        seed: of the resampling.
        level: of the interval.

    Raises:
        InputError: shapes that do not fit, numbers that are not finite, fewer than two items, no resamples, a level outside 0..1.
    """
    a, b = _measures(x, y)
    require(coefficient in COEFFICIENTS, "coefficient", coefficient, f"one of {', '.join(COEFFICIENTS)}")
    require_integer("resamples", resamples, 1)
    require(0 < level < 1, "level", level, "between 0 and 1")
    labels = np.arange(a.shape[1]) if groups is None else np.unique(np.asarray(groups), return_inverse=True)[1].reshape(-1)
    require(labels.shape == a.shape[1:], "groups", f"of shape {np.shape(groups)}", f"one label an item, {a.shape[1:]}")
    of = _spearman if coefficient == "spearman" else _kendall
    members = [np.flatnonzero(labels == label) for label in range(labels.max() + 1)]
    rng = np.random.default_rng(seed)
    drawn = (np.concatenate([members[u] for u in rng.integers(0, len(members), len(members))]) for _ in range(resamples))
    means = np.array([_mean(of(a[:, chosen], b[:, chosen])) for chosen in drawn])
    known, each = means[np.isfinite(means)], of(a, b)
    low, high = np.quantile(known, [(1 - level) / 2, (1 + level) / 2]) if known.size else (np.nan, np.nan)
    if not np.isfinite(each).any():
        each = np.full(1, np.nan)
    return Correlation(_mean(each), float(low), float(high), float(np.nanmin(each)), float(np.nanmax(each)), a.shape[1], len(members))


def stability(measure: Any) -> Stability:
    """Spearman between all pairs of times of a measure [S, n]."""
    value = as_array("measure", measure, "numbers [S, n]", np.float64)
    require(value.ndim == 2, "measure", f"of shape {value.shape}", "[S, n]")
    pairs = list(combinations(range(len(value)), 2))
    if not pairs:
        return Stability(np.nan, np.nan, np.nan, 0)
    first, second = (value[[pair[i] for pair in pairs]] for i in (0, 1))
    each = _spearman(first, second)
    if not np.isfinite(each).any():
        return Stability(np.nan, np.nan, np.nan, len(pairs))
    return Stability(_mean(each), float(np.nanmin(each)), float(np.nanmax(each)), len(pairs))


def _measures(x: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
    """Both as [S, n], or a refusal."""
    a, b = (np.atleast_2d(as_array(name, v, "numbers [n] or [S, n]", np.float64)) for name, v in (("x", x), ("y", y)))
    fits = a.ndim == b.ndim == 2 and a.shape[1] == b.shape[1] and (len(a) == len(b) or 1 in (len(a), len(b)))
    require(fits, "y", f"of shape {np.shape(y)}", f"a shape that goes with x, {np.shape(x)}")
    require(a.shape[1] >= 2, "x", f"of shape {np.shape(x)}", "at least two items")
    for name, value in (("x", a), ("y", b)):
        require(bool(np.isfinite(value).all()), name, "not finite everywhere", "finite numbers")
    times = max(len(a), len(b))
    return np.broadcast_to(a, (times, a.shape[1])), np.broadcast_to(b, (times, b.shape[1]))


def _mean(value: np.ndarray) -> float:
    known = value[np.isfinite(value)]
    return float(known.mean()) if known.size else float("nan")


def _spearman(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Spearman's correlation of rows [S, n] x 2, [S]."""
    p, q = (stats.rankdata(v, axis=-1) for v in (a, b))
    p, q = p - p.mean(-1, keepdims=True), q - q.mean(-1, keepdims=True)
    norm = np.sqrt((p * p).sum(-1) * (q * q).sum(-1))
    return np.where(norm > 0, (p * q).sum(-1) / np.where(norm > 0, norm, 1.0), np.nan)


def _kendall(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Kendall's tau-b of rows [S, n] x 2, [S]."""
    return np.array([stats.kendalltau(p, q).statistic for p, q in zip(a, b, strict=True)])  # pyright: ignore[reportAttributeAccessIssue]
