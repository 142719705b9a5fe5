"""What the distribution of rewards by complexity says in single numbers (paper, sections 4.1 and 5.3).

Items are policies with a complexity K and a reward R; R[k] are the rewards at K = k, R[<=k] those at K <= k ("accumulated").
`multiplicity` lets an item stand for that many equal policies. Axes: n items, k = 0..k_max.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import numpy as np
from scipy import stats

from jaxdiff.core.errors import as_array, require


@partial(
    jax.tree_util.register_dataclass,
    data_fields=[
        *(
            "generated",
            "distinct",
            "r_max",
            "r_mean",
            "r_min",
            "hbar",
            "hbar_robust",
            "hbar_robust_sliced",
            "correlation",
            "correlation_max",
        ),
        *("correlation_max_sliced", "sd", "interquartile_range", "kurtosis", "random_walk_mean", "random_walk_sd", "stabilises_at"),
        *(
            "k",
            "generated_k",
            "distinct_k",
            "r_max_k",
            "r_mean_k",
            "r_min_k",
            "r_high_k",
            "r_low_k",
            "r_max_upto",
            "r_mean_upto",
            "r_min_upto",
        ),
        *("r_high_upto", "r_low_upto", "slice_distance"),
    ],
    meta_fields=[],
)
@dataclass(frozen=True)
class Indicators:
    """Indicators of one environment.

    Attributes:
        generated: policies generated.
        distinct: different ones among them (as told by `identity`; else different pairs of complexity and reward).
        r_max, r_mean, r_min: Equations 3 to 5.
        hbar: best-policy hardness, Equation 6: least K with the highest reward.
        hbar_robust: least k such that a share (1 %) of R[<=k] reaches a fraction (95 %) of R_max (for a negative R_max: is within 5 % of
            it); NaN where none does.
        hbar_robust_sliced: the same with R[k].
        correlation: Spearman correlation of K and R over all policies.
        correlation_max: Spearman correlation of i = 1..k_max and R_max[<=i] (the paper's Table 1).
        correlation_max_sliced: the same with R_max[i], over the slices that hold a policy.
        sd, interquartile_range, kurtosis: dispersion of R; excess kurtosis, NaN where all rewards are equal.
        random_walk_mean, random_walk_sd: of the random-walk policies; NaN without any.
        stabilises_at: least k after which consecutive slices differ by less than the tolerance; NaN where they never settle.
        k: 0..k_max.
        generated_k, distinct_k: policies generated and different ones at each k.
        r_max_k, r_mean_k, r_min_k, r_high_k, r_low_k: envelopes of R[k] and its 99 % and 1 % quantiles; NaN where no policy is.
        r_max_upto, r_mean_upto, r_min_upto, r_high_upto, r_low_upto: the same of R[<=k].
        slice_distance: Wasserstein distance of R[k] and the slice before it, as a fraction of R_max - R_min; NaN where undefined.
    """

    generated: Any
    distinct: Any
    r_max: Any
    r_mean: Any
    r_min: Any
    hbar: Any
    hbar_robust: Any
    hbar_robust_sliced: Any
    correlation: Any
    correlation_max: Any
    correlation_max_sliced: Any
    sd: Any
    interquartile_range: Any
    kurtosis: Any
    random_walk_mean: Any
    random_walk_sd: Any
    stabilises_at: Any
    k: Any
    generated_k: Any
    distinct_k: Any
    r_max_k: Any
    r_mean_k: Any
    r_min_k: Any
    r_high_k: Any
    r_low_k: Any
    r_max_upto: Any
    r_mean_upto: Any
    r_min_upto: Any
    r_high_upto: Any
    r_low_upto: Any
    slice_distance: Any


def summarise(
    complexity: Any,
    reward: Any,
    multiplicity: Any = None,
    *,
    identity: Any = None,
    random_walk: Any = None,
    share: float = 0.01,
    fraction: float = 0.95,
    tolerance: float = 0.05,
) -> Indicators:
    """All indicators of one environment.

    Args:
        complexity: K, integers of at least 0, [n].
        reward: R, finite, [n].
        multiplicity: how many equal policies each item stands for, [n]; 1 when None.
        identity: labels [n]; equal ones are the same policy (for the counts of different policies).
        random_walk: rewards of random-walk policies [W], or None.
        share, fraction: of the robust hardness; the quantiles are 1 - share and share.
        tolerance: distance of slices below which the distribution counts as stable.

    Raises:
        InputError: empty or unequal arrays, a reward that is not finite, a negative complexity or multiplicity.
    """
    k, r, m = checked_items(complexity, reward, multiplicity)
    identity = np.unique(np.stack([k, r], 1), axis=0, return_inverse=True)[1].reshape(-1) if identity is None else np.asarray(identity)
    require(identity.shape == k.shape, "identity", f"of shape {identity.shape}", f"one label an item, {k.shape}")
    order = np.argsort(r, kind="stable")
    k, r, m, identity = k[order], r[order], m[order], identity[order]
    ks = np.arange(k.max() + 1)
    slices = [_envelope(r[k == i], m[k == i], share) for i in ks]
    upto = [_envelope(r[k <= i], m[k <= i], share) for i in ks]
    r_max, r_min, r_mean = r.max(), r.min(), float(np.average(r, weights=m))
    reaches = r >= r_max - (1 - fraction) * abs(r_max)
    distance = _slice_distances(k, r, m, ks, r_max - r_min)
    spread = _moments(r, m)
    walk = np.asarray([] if random_walk is None else random_walk, np.float64).reshape(-1)
    max_k, max_upto = np.array([s[0] for s in slices]), np.array([s[0] for s in upto])
    return Indicators(
        generated=m.sum(),
        distinct=len(np.unique(identity)),
        r_max=r_max,
        r_mean=r_mean,
        r_min=r_min,
        hbar=int(k[r == r_max].min()),
        hbar_robust=_first(ks, [_has_share(m[k <= i], reaches[k <= i], share) for i in ks]),
        hbar_robust_sliced=_first(ks, [_has_share(m[k == i], reaches[k == i], share) for i in ks]),
        correlation=spearman(k, r, m),
        correlation_max=spearman(ks[1:], max_upto[1:]),
        correlation_max_sliced=spearman(ks[1:], max_k[1:]),
        **spread,
        random_walk_mean=walk.mean() if walk.size else np.nan,
        random_walk_sd=walk.std() if walk.size else np.nan,
        stabilises_at=_stable_from(ks, np.unique(k), distance, tolerance),
        k=ks,
        generated_k=np.bincount(k, m, len(ks)).astype(m.dtype),
        distinct_k=np.array([len(np.unique(identity[k == i])) for i in ks]),
        **{f"r_{name}_k": np.array([s[j] for s in slices]) for j, name in enumerate(_ENVELOPES)},
        **{f"r_{name}_upto": np.array([s[j] for s in upto]) for j, name in enumerate(_ENVELOPES)},
        slice_distance=distance,
    )


def spearman(x: Any, y: Any, multiplicity: Any = None) -> float:
    """Spearman's rank correlation, ties at mid-rank, items counted `multiplicity` times; NaN where a side is constant.

    Args:
        x, y: numbers [n]; pairs with a NaN are left out.
        multiplicity: [n], or None.
    """
    x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)
    m = np.ones_like(x) if multiplicity is None else np.asarray(multiplicity, np.float64)
    keep = np.isfinite(x) & np.isfinite(y) & (m > 0)
    x, y, m = x[keep], y[keep], m[keep]
    if not m.size or x.min() == x.max() or y.min() == y.max():
        return float("nan")
    a, b = _ranks(x, m), _ranks(y, m)
    a, b = a - np.average(a, weights=m), b - np.average(b, weights=m)
    norm = np.sqrt((m * a * a).sum() * (m * b * b).sum())
    return float((m * a * b).sum() / norm) if norm > 0 else float("nan")


def quantile(reward: Any, q: float, multiplicity: Any = None) -> float:
    """Smallest reward with at least a share q of the items at or below it (inverse of the empirical distribution)."""
    r = np.asarray(reward, np.float64)
    m = np.ones_like(r) if multiplicity is None else np.asarray(multiplicity, np.float64)
    order = np.argsort(r, kind="stable")
    below = np.cumsum(m[order])
    place = np.searchsorted(below, q * below[-1] * (1 - 1e-12))
    return float(r[order][min(place, len(r) - 1)])


def normalise(reward: Any, centre: float, low: float, high: float) -> np.ndarray:
    """Rewards on a scale with `low` at -1, `centre` at 0 and `high` at 1, linear on either side (paper, sections 4.1 and 5.3).

    With the mean of a population of policies as the centre a *random policy* scores 0, with the mean of random walks *random
    actions* do. Where low or high equals the centre that side is 0.
    """
    r = np.asarray(reward, np.float64)
    up, down = max(high - centre, 0.0), max(centre - low, 0.0)
    return np.where(r >= centre, (r - centre) / up if up else 0.0 * r, (r - centre) / down if down else 0.0 * r)


def checked_items(complexity: Any, reward: Any, multiplicity: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Complexity int64, reward float64, multiplicity (int64 or float64), each [n], or a refusal."""
    k, r = as_array("complexity", complexity, "integers [n]"), as_array("reward", reward, "numbers [n]", np.float64)
    require(k.dtype.kind in "iu" or k.size == 0, "complexity", f"of {k.dtype}", "integers of at least 0")
    require(k.ndim == 1 and k.shape == r.shape, "complexity", f"of shape {k.shape}", f"the shape of reward, {r.shape}, one axis")
    require(k.size > 0, "reward", "empty", "at least one policy")
    require(bool(np.isfinite(r).all()), "reward", "not finite at item " + str(int(np.argmin(np.isfinite(r)))), "finite numbers")
    require(int(k.min()) >= 0, "complexity", k.min(), "integers of at least 0")
    m = np.ones(k.shape, np.int64) if multiplicity is None else np.asarray(multiplicity)
    require(
        m.shape == k.shape and bool((m >= 0).all()) and float(m.sum()) > 0,
        "multiplicity",
        f"of shape {m.shape}",
        "one number of at least 0 an item",
    )
    keep = m > 0
    return k.astype(np.int64)[keep], r[keep], m[keep]


_ENVELOPES = ("max", "mean", "min", "high", "low")


def _envelope(r: np.ndarray, m: np.ndarray, share: float) -> tuple[float, ...]:
    if not r.size:
        return (np.nan,) * len(_ENVELOPES)
    return (r.max(), float(np.average(r, weights=m)), r.min(), quantile(r, 1 - share, m), quantile(r, share, m))


def _ranks(x: np.ndarray, m: np.ndarray) -> np.ndarray:
    """Mid-ranks of items that count m times each."""
    _, inverse = np.unique(x, return_inverse=True)
    inverse = inverse.reshape(-1)
    size = np.bincount(inverse, m)
    return (np.cumsum(size) - (size - 1) / 2)[inverse]


def _has_share(m: np.ndarray, reaches: np.ndarray, share: float) -> bool:
    """Whether at least a share of the items reaches; a share that is exact but for rounding counts."""
    return bool(m[reaches].sum() >= share * m.sum() * (1 - 1e-12) > 0)


def _moments(r: np.ndarray, m: np.ndarray) -> dict[str, float]:
    centred = r - np.average(r, weights=m)
    variance = float(np.average(centred**2, weights=m))
    constant = r.max() == r.min()
    return {
        "sd": 0.0 if constant else variance**0.5,
        "interquartile_range": quantile(r, 0.75, m) - quantile(r, 0.25, m),
        "kurtosis": float("nan") if constant else float(np.average(centred**4, weights=m)) / variance**2 - 3.0,
    }


def _slice_distances(k: np.ndarray, r: np.ndarray, m: np.ndarray, ks: np.ndarray, width: float) -> np.ndarray:
    out = np.full(len(ks), np.nan)
    last = None
    for i in ks:
        here = k == i
        if not here.any():
            continue
        if last is not None and width > 0:
            out[i] = stats.wasserstein_distance(r[here], r[last], m[here], m[last]) / width
        last = here
    return out


def _stable_from(ks: np.ndarray, occupied: np.ndarray, distance: np.ndarray, tolerance: float) -> float:
    """Least k such that every later slice differs from the one before it by less than `tolerance`."""
    defined = np.isfinite(distance)
    unstable = ks[defined & ~(np.nan_to_num(distance, nan=np.inf) < tolerance)]
    if not defined.any() or (unstable.size and unstable[-1] == ks[defined][-1]):
        return float("nan")
    return float(unstable[-1]) if unstable.size else float(occupied[0])


def _first(ks: np.ndarray, holds: list[bool]) -> float:
    return float(ks[int(np.argmax(holds))]) if any(holds) else float("nan")
