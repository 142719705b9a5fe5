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
    require(labels.shape == a.shape[1:], "groups", f"of shape {labels.shape}", f"one label an item, {a.shape[1:]}")
    units = int(labels.max()) + 1
    rng = np.random.default_rng(seed)
    # How often each group, and so each of its items, is in each resample.
    often = np.stack([np.bincount(rng.integers(0, units, units), minlength=units) for _ in range(resamples)])[:, labels]
    of = _spearman if coefficient == "spearman" else _kendall
    means = _means(np.stack([of(p, q, often) for p, q in zip(a, b, strict=True)]))
    each = np.concatenate([of(p, q, np.ones((1, a.shape[1]))) for p, q in zip(a, b, strict=True)])
    known = means[np.isfinite(means)]
    low, high = np.quantile(known, [(1 - level) / 2, (1 + level) / 2]) if known.size else (np.nan, np.nan)
    return Correlation(float(_means(each[:, None])[0]), float(low), float(high), *_range(each), a.shape[1], units)


def stability(measure: Any) -> Stability:
    """Spearman between all pairs of times of a measure [S, n]."""
    value = as_array("measure", measure, "numbers [S, n]", np.float64)
    require(value.ndim == 2, "measure", f"of shape {value.shape}", "[S, n]")
    pairs = list(combinations(range(len(value)), 2))
    if not pairs:
        return Stability(np.nan, np.nan, np.nan, 0)
    each = np.concatenate([_spearman(value[i], value[j], np.ones((1, value.shape[1]))) for i, j in pairs])
    return Stability(float(_means(each[:, None])[0]), *_range(each), len(pairs))


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


def _means(value: np.ndarray) -> np.ndarray:
    """Mean over what is known of each column [S, B], [B]; NaN where nothing is."""
    known = np.isfinite(value)
    return np.where(known.any(0), np.where(known, value, 0.0).sum(0) / np.maximum(known.sum(0), 1), np.nan)


def _range(value: np.ndarray) -> tuple[float, float]:
    known = value[np.isfinite(value)]
    return (float(known.min()), float(known.max())) if known.size else (float("nan"), float("nan"))


def _spearman(a: np.ndarray, b: np.ndarray, often: np.ndarray) -> np.ndarray:
    """Spearman's correlation of measures [n] whose items count `often` [B, n] times, [B]; NaN where a side is constant."""
    p, q = (_centred_ranks(v, often) for v in (a, b))
    norm = np.sqrt((often * p * p).sum(1) * (often * q * q).sum(1))
    return np.where(norm > 0, (often * p * q).sum(1) / np.where(norm > 0, norm, 1.0), np.nan)


def _centred_ranks(value: np.ndarray, often: np.ndarray) -> np.ndarray:
    """Mid-ranks less their mean, [B, n]."""
    _, inverse = np.unique(value, return_inverse=True)
    order = np.argsort(inverse, kind="stable")
    starts = np.flatnonzero(np.diff(inverse[order], prepend=-1))
    size = np.add.reduceat(often[:, order], starts, axis=1)
    ranks = np.cumsum(size, 1) - (size - 1) / 2
    total = often.sum(1, keepdims=True)
    return ranks[:, inverse.reshape(-1)] - (total + 1) / 2


def _kendall(a: np.ndarray, b: np.ndarray, often: np.ndarray) -> np.ndarray:
    """Kendall's tau-b of measures [n] whose items count `often` [B, n] times, [B]; NaN where a side is constant."""
    p, q = (np.sign(v[:, None] - v) for v in (a, b))
    agree, untied_a, untied_b = (((often @ m) * often).sum(1) for m in (p * q, p * p, q * q))
    norm = np.sqrt(untied_a * untied_b)
    return np.where(norm > 0, agree / np.where(norm > 0, norm, 1.0), np.nan)
