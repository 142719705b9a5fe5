"""Does a measure predict? A predictor of a few items beside what happened to them, with everything that few items leave in doubt.

Written for novelties (items) whose difficulty was measured on some levels and whose effect on agents was seen on others, where it is
NumPy in and numbers out. Axes: N items, L levels of the predictor, M levels of the outcome.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from jaxdiff.core.errors import as_array, require, require_integer

FEWEST = 4  # items; with three every ranking is one of six
TINY = 1e-12


@dataclass(frozen=True)
class Interval:
    """A number and the ends of its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Association:
    """How a predictor goes along with an outcome over N items.

    Attributes:
        pearson: linear correlation.
        spearman, kendall: of ranks; intervals by drawing levels anew, items stay.
        p: two-sided permutation p of Spearman's, over all orders of the items, or 9,999 of them.
        without_one: least and greatest Spearman's where one item is left out.
        partial: Spearman's given the rival; NaN without one.
    """

    pearson: float
    spearman: Interval
    kendall: Interval
    p: float
    without_one: tuple[float, float]
    partial: float


def associate(predictor: Any, outcome: Any, rival: Any = None, *, resamples: int = 1000, seed: int = 0) -> Association:
    """How a predictor goes along with an outcome.

    Args:
        predictor: [N, L], NaN where a level does not count; or [N].
        outcome: [N, M], likewise.
        rival: another predictor, [N, L] or [N], held fixed in `partial`.
        resamples: bootstrap samples of the levels.
        seed: of these, and of permutations where not all can be listed.

    Raises:
        InputError: shapes that do not fit, fewer than four items, an item without any level.
    """
    require_integer("resamples", resamples, 1)
    x, y = _items("predictor", predictor), _items("outcome", outcome)
    require(len(x) == len(y), "outcome", f"of {len(y)} items", f"of {len(x)}, like the predictor")
    a, b = np.nanmean(x, 1), np.nanmean(y, 1)
    rng = np.random.default_rng(seed)
    drawn = [np.stack(side) for side in zip(*((_resampled(x, rng), _resampled(y, rng)) for _ in range(resamples)), strict=True)]
    spearman = _interval(float(_spearman(a, b)), _spearman(*drawn))
    kendall = _interval(float(_kendall(a, b)), _kendall(*drawn))
    p = np.nan
    if not np.isnan(spearman.value):
        ranks = stats.rankdata(b)
        # Ranks of items in another order are the ranks in that order.
        found: Any = stats.permutation_test(
            (stats.rankdata(a),), lambda order, axis: _pearson(order, np.broadcast_to(ranks, order.shape)), permutation_type="pairings",
            vectorized=True, n_resamples=9999, rng=np.random.default_rng(seed),
        )  # fmt: skip
        p = float(found.pvalue)
    rest = [float(_spearman(np.delete(a, i), np.delete(b, i))) for i in range(len(a))]
    partial = np.nan if rival is None else _partial(a, b, np.nanmean(_items("rival", rival), 1))
    known = [value for value in rest if not np.isnan(value)] or [float("nan")]
    return Association(float(_pearson(a, b)), spearman, kendall, p, (min(known), max(known)), partial)


@dataclass(frozen=True)
class Confusion:
    """Predicted classes against observed ones.

    Attributes:
        classes: their names, from easy to hard.
        counts: items by predicted and observed class, float [C, C]; tied items are spread over the classes that they share.
        agreement: share of items on the diagonal.
        by_chance: what it would be on average if the observed order were random.
    """

    classes: tuple[str, ...]
    counts: np.ndarray
    agreement: float
    by_chance: float


def confusion(predicted: Sequence[str], harm: Any, classes: Sequence[str] = ("easy", "medium", "hard")) -> Confusion:
    """Items sorted by the harm they did and parted into classes of the same sizes as the predicted ones.

    Args:
        predicted: a class for each of N items.
        harm: what it did, larger is worse, [N].
        classes: all classes in their order.

    Raises:
        InputError: a class that is none of them, or another number of items.
    """
    wrong = [c for c in predicted if c not in classes]
    require(not wrong, "predicted", wrong[0] if wrong else None, f"one of {', '.join(classes)}")
    harm = as_array("harm", harm, "numbers [items]", np.float64)
    require(harm.shape == (len(predicted),), "harm", f"of shape {harm.shape}", f"{len(predicted)} numbers")
    place = np.array([list(classes).index(c) for c in predicted], int)
    in_order = np.eye(len(classes))[np.sort(place)]
    _, group = np.unique(harm, return_inverse=True)
    ordered = np.sort(group)
    observed = np.stack([in_order[ordered == g].mean(0) for g in group])  # whatever the order among equals
    counts = np.zeros((len(classes),) * 2)
    np.add.at(counts, place, observed)
    share = counts.sum(1) / max(counts.sum(), 1)
    return Confusion(tuple(classes), counts, float(np.trace(counts) / max(len(place), 1)), float((share**2).sum()))


def _items(name: str, values: Any) -> np.ndarray:
    array = as_array(name, values, "numbers [items, levels]", np.float64)
    array = array[:, None] if array.ndim == 1 else array
    require(array.ndim == 2 and len(array) >= FEWEST, name, f"of shape {array.shape}", f"[items, levels] with at least {FEWEST} items")
    empty = np.flatnonzero(np.isnan(array).all(1))
    require(not len(empty), name, f"without any level for item {empty[0] if len(empty) else None}", "a number on some level of every item")
    return array


def _resampled(values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Means over levels drawn anew, the same levels for all items; an item whose levels are all missing keeps its mean."""
    drawn = values[:, rng.integers(0, values.shape[1], values.shape[1])]
    there = ~np.isnan(drawn)
    return np.where(there.any(1), np.nansum(drawn, 1) / np.maximum(there.sum(1), 1), np.nanmean(values, 1))


def _interval(value: float, drawn: np.ndarray) -> Interval:
    known = drawn[~np.isnan(drawn)]
    low, high = np.quantile(known, [0.025, 0.975]) if len(known) else (np.nan, np.nan)
    return Interval(value, float(low), float(high))


def _pearson(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Correlation over the last axis; NaN where one side is always the same."""
    a, b = (x - x.mean(-1, keepdims=True) for x in (a, b))
    spread = np.sqrt((a**2).sum(-1) * (b**2).sum(-1))
    return np.where(spread > TINY, (a * b).sum(-1) / np.where(spread > TINY, spread, 1), np.nan)


def _spearman(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return _pearson(stats.rankdata(a, axis=-1), stats.rankdata(b, axis=-1))


def _kendall(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Kendall's tau b over the last axis, for many samples at once."""
    one, other = (np.sign(x[..., :, None] - x[..., None, :]).reshape(*x.shape[:-1], -1) for x in (a, b))
    untied = np.sqrt((one != 0).sum(-1) * (other != 0).sum(-1))
    return np.where(untied > 0, (one * other).sum(-1) / np.maximum(untied, 1), np.nan)


def _partial(a: np.ndarray, b: np.ndarray, given: np.ndarray) -> float:
    """Spearman's of a and b, given a third."""
    ab, ag, bg = float(_spearman(a, b)), float(_spearman(a, given)), float(_spearman(b, given))
    left = (1 - ag**2) * (1 - bg**2)
    return float((ab - ag * bg) / np.sqrt(left)) if left > TINY else float("nan")
