"""The numbers of a measurement, each with a bootstrap interval: returns [P, E] of a population in, one table out.

Intervals are percentiles of `scipy.stats.bootstrap`. Policies are resampled; for the mean return episodes are as well, since they are
the same instances for all policies. Other numbers are those of these instances. The share that solves is a binomial one: its interval is
Clopper and Pearson's, since no resampling of policies that all fail finds one that does not. Axes: P policies, E episodes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from jaxdiff.core.errors import as_array, require, require_integer
from jaxdiff.difficulty import information, verification

GAMMAS = (0.0, 0.05, 0.25)
WAY = 0.25  # discrimination is taken between this share of the way from mean to best, and so much before the best
SHARE, FRACTION = 0.01, 0.95  # of robust hardness: so many policies reach so much of the best
_OF_DIFFICULTY = ("tries", "bits", "ls", "hbar", "discrimination", "pic", "poic", "correlation")  # no values where it is undetermined
_MANY = 1e100  # stands for infinity where a quantile is taken
WHAT = {
    "mean": "mean return of all policies",
    "variance_within": "variance of a policy's returns, mean over policies",
    "variance_between": "variance of the policies' mean returns",
    "percentile_99.9": "99.9th percentile of the policies' mean returns",
    "best": "highest mean return (its interval cannot reach above it)",
    "best_fresh": "what the policy that is best in half of the episodes gets in the others",
    "share_solving": "share of policies whose mean return reaches what counts as solved",
    "instance_share": "share of the variance within policies that is the instance's",
    "pic": "policy information capacity, plug-in as published [bits]",
    "pic_corrected": "the same with Miller and Madow's correction for few episodes [bits]",
    "poic": "policy-optimality information capacity at its best temperature [bits]",
    "worst": "lowest mean return",
    "interquartile_range": "interquartile range of the policies' mean returns",
    "kurtosis": "excess kurtosis of the policies' mean returns",
    "correlation": "Spearman correlation of bits of a description and mean return",
    "correlation_max": "the same of lengths and the best mean return up to each (resamples have fewer lengths: its interval may miss it)",
    "hbar_robust": "least length up to which 1 % of the policies come within 5 % of the best [bits]",
    "discrimination": "share of the way from mean to best that a bit of search gains, halfway between them [1/bit]",
    **{f"tries_{g:g}": f"log2 of policies tried until one is within {g:g} of the best, from the mean (median)" for g in GAMMAS},
    **{f"bits_{g:g}": f"shortest description of a policy within {g:g} of the best [bits]" for g in GAMMAS},
    **{f"ls_{g:g}": f"LS: bits to find and verify a policy within {g:g} of the best" for g in GAMMAS},
    "tries_solved": "log2 of policies tried until one solves the world (median)",
    "bits_solved": "shortest description of a policy that solves the world [bits]",
    "ls_solved": "LS: bits to find and verify a policy that solves the world",
}


@dataclass(frozen=True)
class Number:
    """A number with its interval; NaN where undefined, infinite where no policy of the population does it.

    Attributes:
        value, low, high: estimate and 95 % interval.
    """

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Numbers:
    """All numbers of one population in one world.

    Attributes:
        by_name: see `WHAT`.
        acceptable: at the thresholds of `GAMMAS` and, last, of what counts as solved, if known.
        thresholds: their names.
        temperature: of POIC.
        undetermined: why difficulty is undetermined; empty where it is not.
    """

    by_name: dict[str, Number]
    acceptable: verification.Acceptable
    thresholds: tuple[str, ...]
    temperature: float
    undetermined: str


def numbers(
    returns: Any,
    lengths: Any,
    bits: Any,
    *,
    solved: float | None = None,
    seed: int = 0,
    resamples: int = 500,
    delta: float = 0.05,
) -> Numbers:
    """All numbers of one population.

    Args:
        returns: finite, [P, E].
        lengths: steps of every episode, [P, E].
        bits: length of every policy's description, [P].
        solved: the mean return that counts as solved.
        seed: of the bootstrap.
        resamples: of the bootstrap; 0 for no intervals.
        delta: confidence of verification, see `verification.trials_to_verify`.

    Raises:
        InputError: shapes that do not fit, values that are not finite.
    """
    r = information.checked(returns)
    require_integer("resamples", resamples, 0)
    b = as_array("bits", bits, "numbers [policies]", np.float64)
    mean = r.mean(1)
    width = mean.max() - mean.mean()
    undetermined = _undetermined(r, mean)
    # Thresholds ascend with falling gamma; that of "solved" stands last, wherever it lies.
    names = tuple(f"{g:g}" for g in GAMMAS) + (() if solved is None else ("solved",))
    levels = np.array([*(mean.max() - g * width for g in GAMMAS), *(() if solved is None else (solved,))])
    single = [verification.acceptable(returns, lengths, b, level, delta) for level in levels]
    acceptable = verification.Acceptable(
        *(np.concatenate([getattr(s, f) for s in single]) for f in verification.Acceptable.__dataclass_fields__)
    )
    temperature = information.best_temperature(r)
    rounding = information.slack(returns)
    statistic = _Statistic(r, np.asarray(lengths, np.float64), b, levels, names, solved, temperature, delta, rounding)
    everything = np.arange(len(r))
    value = statistic(everything)
    low, high = _interval(statistic, len(r), seed, resamples)
    found = {name: Number(*map(float, row)) for name, *row in zip(statistic.names, value, low, high, strict=True)}
    found["mean"] = _mean(r, seed, resamples)
    if solved is not None and resamples:
        found |= _solving(found, int((mean >= solved - rounding).sum()), len(r))
    if undetermined:
        for name in found:
            if name.startswith(_OF_DIFFICULTY) and not name.endswith("solved"):
                found[name] = Number(np.nan, np.nan, np.nan)
    return Numbers({name: found[name] for name in WHAT if name in found}, acceptable, names, temperature, undetermined)


def _undetermined(r: np.ndarray, mean: np.ndarray) -> str:
    if len(r) == 1:
        return "one policy only: there is nothing to compare it with"
    if r.min() == r.max():
        return f"all returns are equal ({r.min():g}): no policy of this population tells anything about how hard the world is"
    if mean.min() == mean.max():
        return "all policies have the same mean return"
    return ""


class _Statistic:
    """Everything that depends on which policies there are, as a function of their numbers."""

    def __init__(
        self,
        r: np.ndarray,
        lengths: np.ndarray,
        bits: np.ndarray,
        levels: np.ndarray,
        names: tuple[str, ...],
        solved: float | None,
        temperature: float,
        delta: float,
        rounding: float,
    ) -> None:
        self.r, self.mean, self.bits = r, r.mean(1), bits
        self.episodes = r.shape[1]
        self.within = r.var(1, ddof=1) if self.episodes > 1 else np.full(len(r), np.nan)
        self.centred = r - self.mean[:, None]
        half = self.episodes // 2
        self.halves = (r[:, :half].mean(1), r[:, half:].mean(1)) if half else None
        self.least = None if solved is None else solved - rounding
        self.reach = self.mean >= levels[:, None] - rounding
        top, middle = self.mean.max(), self.mean.mean()
        self.way = self.mean >= np.array([[top - g * (top - middle)] for g in (1 - WAY, WAY)]) - rounding
        deviation = np.sqrt(self.within) if self.episodes > 1 else np.zeros(len(r))
        trials = np.where(self.reach, verification.trials_to_verify(self.mean, deviation, levels[:, None], delta, rounding), np.inf)
        self.ls = bits + np.log2(np.maximum(lengths.mean(1), 1.0)) + np.log2(trials)
        bins = information.binned(r)
        kinds = int(bins.max()) + 1
        place = (np.arange(len(r))[:, None] * kinds + bins).reshape(-1)
        self.counts = np.bincount(place, minlength=len(r) * kinds).reshape(len(r), kinds).astype(np.float64)
        self.entropy = np.stack([information.entropy(self.counts, c) for c in (False, True)])
        with np.errstate(invalid="ignore"):
            self.optimal = np.exp((r - r.max()) / temperature).mean(1)
        self.optimal_entropy = information.binary_entropy(self.optimal)
        self.rank_bits, self.rank_mean = stats.rankdata(bits), stats.rankdata(self.mean)
        self.order = np.argsort(bits, kind="stable")
        self.lengths, self.first = np.unique(bits[self.order], return_index=True)
        self.names = ("variance_within", "variance_between", "percentile_99.9", "best", "best_fresh", "share_solving", "instance_share")
        self.names += ("pic", "pic_corrected", "poic", "worst", "interquartile_range", "kurtosis", "correlation", "correlation_max")
        self.names += ("hbar_robust", "discrimination")
        self.names += tuple(f"{kind}_{name}" for kind in ("tries", "bits", "ls") for name in names)

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        rows = rows.astype(np.int64)
        count = len(rows)
        mean = self.mean[rows]
        weight = np.bincount(rows, minlength=len(self.r)).astype(np.float64)
        there = weight > 0
        total = (weight @ self.counts)[None]
        pic = [float(information.entropy(total, c)[0] - weight @ e / count) for c, e in zip((False, True), self.entropy, strict=True)]
        poic = float(information.binary_entropy(weight @ self.optimal / count) - weight @ self.optimal_entropy / count)
        successes = (self.reach @ weight).astype(np.int64)
        best_fresh = np.nan
        if self.halves is not None:
            a, b = (side[rows] for side in self.halves)
            best_fresh = (b[np.argmax(a)] + a[np.argmax(b)]) / 2
        found = [
            weight @ self.within / count,
            mean.var(),
            np.percentile(mean, information.PERCENTILE),
            mean.max(),
            best_fresh,
            np.nan if self.least is None else float((mean >= self.least).mean()),
            self._instance_share(weight, count),
            pic[0],
            max(pic[1], 0.0),
            poic,
            mean.min(),
            np.subtract(*np.percentile(mean, (75, 25), method="inverted_cdf")),
            _kurtosis(mean),
            _correlation(self.rank_bits, self.rank_mean, weight),
            *self._by_length(weight),
            self._discrimination(weight, count),
            *verification.blind_tries(successes, count),
            *np.where(self.reach & there, self.bits, np.inf).min(1),
            *np.where(self.reach & there, self.ls, np.inf).min(1),
        ]
        return np.array(found, np.float64)

    def _instance_share(self, weight: np.ndarray, count: int) -> float:
        """`information.instance_share` of resampled policies, from their returns less their means."""
        if count < 2 or self.episodes < 2:
            return float("nan")
        column = weight @ self.centred / count
        between = count * float(column @ column)
        residual = max(float(weight @ self.within) * (self.episodes - 1) - between, 0.0) / (count - 1)
        instance = max(between - residual, 0.0) / count
        return instance / (instance + residual) if instance + residual > 0 else float("nan")

    def _discrimination(self, weight: np.ndarray, count: int) -> float:
        """Slope of the response curve between `WAY` and 1 - `WAY`; infinite where it jumps from one to the other."""
        near, far = verification.blind_tries((self.way @ weight).astype(np.int64), count)
        if np.isinf(far):
            return 0.0  # nobody of these gets there, however long one searches
        return (1 - 2 * WAY) / (far - near) if far > near else float("inf")

    def _by_length(self, weight: np.ndarray) -> tuple[float, float]:
        """Cor-max and robust best-policy hardness, as in `indicators.summarise`, over the lengths that occur instead of all integers."""
        weight, mean = weight[self.order], self.mean[self.order]
        there = np.add.reduceat(weight, self.first) > 0
        upto = np.maximum.accumulate(np.maximum.reduceat(np.where(weight > 0, mean, -np.inf), self.first))
        best, ends = upto[-1], np.append(self.first[1:], len(weight)) - 1
        good = np.cumsum(weight * (mean >= best - (1 - FRACTION) * abs(best)))[ends]
        enough = there & (good >= SHARE * np.cumsum(weight)[ends] * (1 - 1e-12)) & (good > 0)
        hardness = float(self.lengths[np.argmax(enough)]) if enough.any() else np.inf
        y = stats.rankdata(upto[there])
        return _correlation(np.arange(len(y), dtype=np.float64), y, np.ones(len(y))), hardness


def _correlation(x: np.ndarray, y: np.ndarray, weight: np.ndarray) -> float:
    """Correlation of ranks, policies counted so often; NaN where a side is constant."""
    a, b = x - np.average(x, weights=weight), y - np.average(y, weights=weight)
    norm = np.sqrt((weight @ (a * a)) * (weight @ (b * b)))
    return float(weight @ (a * b) / norm) if norm > 1e-9 * len(x) else float("nan")


def _kurtosis(mean: np.ndarray) -> float:
    """Excess kurtosis; NaN where all are equal."""
    square = np.square(mean - mean.mean())
    return float(np.square(square).mean() / square.mean() ** 2 - 3) if np.ptp(mean) > 0 else float("nan")


def _interval(statistic: Callable[[np.ndarray], np.ndarray], count: int, seed: int, resamples: int) -> tuple[np.ndarray, np.ndarray]:
    """95 % intervals of all numbers at once, resampling policies."""
    undefined = np.isnan(statistic(np.arange(count)))
    if count < 2 or resamples == 0:
        return np.full(undefined.shape, np.nan), np.full(undefined.shape, np.nan)

    def finite(rows: np.ndarray) -> np.ndarray:
        return np.nan_to_num(statistic(rows), nan=0.0, posinf=_MANY)

    low, high = _bounds(
        stats.bootstrap((np.arange(count),), finite, vectorized=False, n_resamples=resamples, method="percentile", rng=seed)
    )
    return np.where(undefined, np.nan, low), np.where(undefined, np.nan, high)


def _mean(r: np.ndarray, seed: int, resamples: int) -> Number:
    """Mean return, resampling policies and episodes."""
    if min(r.shape) < 2 or resamples == 0:
        return Number(float(r.mean()), np.nan, np.nan)

    def mean(rows: np.ndarray, columns: np.ndarray) -> float:
        weight = np.bincount(columns.astype(np.int64), minlength=r.shape[1]) / len(columns)
        return float((r @ weight)[rows.astype(np.int64)].mean())

    data = (np.arange(r.shape[0]), np.arange(r.shape[1]))
    low, high = _bounds(stats.bootstrap(data, mean, vectorized=False, n_resamples=resamples, method="percentile", rng=seed))
    return Number(float(r.mean()), float(low), float(high))


def _solving(found: dict[str, Number], successes: int, count: int) -> dict[str, Number]:
    """The share that solves with its exact interval; and how many tries it takes at least, where none of the policies does."""
    ends = stats.binomtest(successes, count).proportion_ci(0.95, "exact")
    exact = {"share_solving": Number(found["share_solving"].value, float(ends.low), float(ends.high))}
    if np.isinf(found["tries_solved"].value):
        least = np.ceil(np.log(0.5) / np.log1p(-ends.high)) if ends.high < 1 else 1.0
        exact["tries_solved"] = Number(np.inf, float(np.log2(least)), np.inf)
    return exact


def _bounds(result: Any) -> tuple[np.ndarray, np.ndarray]:
    ends = (np.asarray(result.confidence_interval.low), np.asarray(result.confidence_interval.high))
    low, high = (np.where(end > _MANY / 1e9, np.inf, end) for end in ends)
    return low, high


def difference(first: np.ndarray, second: np.ndarray) -> tuple[float, float]:
    """Difference of the middles of two sets of resampled values, and the two-sided probability that it has the other sign.

    Args:
        first, second: bootstrap values of one number in two worlds, [n] each; infinite ones count as larger than all others.
    """
    require(first.size > 0 and second.size > 0, "values", "empty", "bootstrap values")
    a, b = (np.nan_to_num(x, posinf=_MANY) for x in (first, second))
    above = (a[:, None] > b).mean() + 0.5 * (a[:, None] == b).mean()
    # No probability is 0: at least one in so many resamples.
    p = 2 * min(above, 1 - above)
    return float(np.median(a) - np.median(b)), float(min(1.0, max(p, 1 / min(first.size, second.size))))


def resampled(numbers_of: Callable[[np.ndarray], float], count: int, seed: int, resamples: int) -> np.ndarray:
    """Bootstrap values of one number over policies, float64 [resamples]."""
    rng = np.random.default_rng(seed)
    return np.array([numbers_of(rng.integers(0, count, count)) for _ in range(resamples)])
