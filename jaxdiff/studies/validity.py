"""How well does a measure order worlds by how long learners take? Rank correlations that know what censoring hides, with intervals.

A learner's time in a world is the median of its seeds; where half of them never learn it is censored: longer than they were given.
Worlds whose order is hidden by that are no pair. Axes: W worlds, S seeds, L levels of a knob.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from jaxdiff.core.errors import require


@dataclass(frozen=True)
class Times:
    """Times to learn, float64 [W], and which are censored there, bool [W]."""

    value: np.ndarray
    censored: np.ndarray

    def take(self, which: np.ndarray) -> Times:
        """Some of the worlds."""
        return Times(self.value[which], self.censored[which])


def medians(spent: Sequence[np.ndarray], censored: Sequence[np.ndarray]) -> Times:
    """Median times of worlds.

    Args:
        spent: steps, W arrays [S]; of censored runs, what they were given.
        censored: which they are, W arrays [S].
    """
    values, hidden = [], []
    for steps, never in zip(spent, censored, strict=True):
        middle = float(np.median(np.where(never, np.inf, steps)))
        hidden.append(not np.isfinite(middle))
        values.append(float(np.max(steps)) if hidden[-1] else middle)
    return Times(np.array(values), np.array(hidden, bool))


def concordance(measure: np.ndarray, times: Times, groups: np.ndarray | None = None) -> float:
    """Somers' D of a measure: concordant less discordant pairs, of all pairs of worlds whose order in time is known.

    A pair that ties in the measure counts as half right; two censored worlds are no pair, nor is one that was censored earlier than
    the other one learned. This is 2 C - 1 of Harrell's concordance index C (1982); without censoring and ties it is Kendall's tau.

    Args:
        measure: larger should be slower, [W]; infinite is allowed, NaN is not.
        times: of W worlds.
        groups: only pairs of equal labels count, [W]; all when None.

    Returns:
        from -1 to 1; NaN without a pair.
    """
    require(not np.isnan(measure).any(), "measure", "NaN", "numbers; undefined worlds are left out before")
    later = (times.value[None] > times.value[:, None]) | (times.censored[None] & (times.value[None] >= times.value[:, None]))
    known = ~times.censored[:, None] & later  # the first is known to be the faster one
    if groups is not None:
        known &= groups[:, None] == groups[None]
    x = np.nan_to_num(measure, posinf=1e300)
    direction = np.sign(x[None] - x[:, None])
    return float(direction[known].mean()) if known.any() else float("nan")


def spearman(measure: np.ndarray, times: Times) -> float:
    """Spearman's correlation, censored worlds tied at the top; NaN where a side is constant."""
    x = np.nan_to_num(measure, posinf=1e300)
    y = np.where(times.censored, np.inf, times.value)
    x, y = (stats.rankdata(v) for v in (x, y))
    return float(np.corrcoef(x, y)[0, 1]) if len(x) > 1 and np.ptp(x) > 0 and np.ptp(y) > 0 else float("nan")


Score = Callable[[np.ndarray, Times], float]


@dataclass(frozen=True)
class Estimate:
    """A number with its 95 % bootstrap interval over worlds, and the number of worlds where the measure is defined."""

    value: float
    low: float
    high: float
    worlds: int

    def __str__(self) -> str:
        return f"{self.value:.2f} [{self.low:.2f}, {self.high:.2f}]"


def draws(worlds: int, resamples: int, seed: int = 0) -> np.ndarray:
    """Worlds that a bootstrap takes, int64 [resamples, W]; the same for all measures, so that differences are those of pairs."""
    return np.random.default_rng(seed).integers(0, worlds, (resamples, worlds))


def resampled(score: Score, measure: np.ndarray, times: Times, drawn: np.ndarray) -> np.ndarray:
    """A score in every resample, float64 [resamples]; worlds where the measure is NaN are left out."""
    out = []
    for row in drawn:
        kept = row[~np.isnan(measure[row])]
        out.append(score(measure[kept], times.take(kept)) if len(kept) > 1 else np.nan)
    return np.array(out)


def estimate(score: Score, measure: np.ndarray, times: Times, drawn: np.ndarray) -> Estimate:
    """A score of a measure with its interval."""
    there = np.flatnonzero(~np.isnan(measure))
    value = score(measure[there], times.take(there)) if len(there) > 1 else float("nan")
    values = resampled(score, measure, times, drawn)
    values = values[~np.isnan(values)]
    low, high = np.quantile(values, [0.025, 0.975]) if len(values) else (np.nan, np.nan)
    return Estimate(value, float(low), float(high), len(there))


@dataclass(frozen=True)
class Steps:
    """What a number does from level to level of a knob, over all pairs of levels: how many rise, tie and fall."""

    rise: int
    tie: int
    fall: int

    @property
    def monotone(self) -> bool:
        """It rises somewhere and falls nowhere."""
        return self.rise > 0 and self.fall == 0

    @property
    def word(self) -> str:
        """In a word."""
        if not self.rise + self.fall + self.tie:
            return "undefined"
        return "rises" if self.monotone else "flat" if not self.fall else "falls" if not self.rise else "mixed"


def along(levels: Sequence[str], measure: Mapping[str, float]) -> Steps:
    """A measure along a knob.

    Args:
        levels: names of worlds, in the order in which they should be ever harder.
        measure: larger is harder; worlds where it is NaN are left out.
    """
    values = np.nan_to_num([measure[name] for name in levels if not np.isnan(measure[name])], posinf=1e300)
    pairs = [np.sign(b - a) for i, a in enumerate(values) for b in values[i + 1 :]]
    return Steps(pairs.count(1), pairs.count(0), pairs.count(-1))


def along_times(levels: Sequence[str], times: Mapping[str, tuple[float, bool]]) -> Steps:
    """The same of a learner's times (steps, whether censored); two censored worlds tie."""
    return along(levels, {name: np.inf if hidden else steps for name, (steps, hidden) in times.items()})


def sentences(
    learner: str, scores: Mapping[str, Estimate], chance: Mapping[str, float], walks: Mapping[str, Mapping[str, Steps]], own: Sequence[str]
) -> list[str]:
    """What the tables say of one learner, in words.

    Args:
        learner: its name.
        scores: of every measure that is defined in all worlds.
        chance: probability that a measure orders worlds no worse than the best one, from the same resamples.
        walks: by knob, along it, of every measure and of the learner (by its name).
        own: measures of this library.
    """
    order = sorted(scores, key=lambda name: -np.nan_to_num(scores[name].value, nan=-2))
    best = order[0]
    close = [f"{name} ({scores[name].value:.2f})" for name in order[1:] if chance[name] >= 0.05]
    said = [f"{learner}: {best} orders worlds best, {scores[best]}."]
    said.append(
        f"{learner}: that is more than chance against all others."
        if not close
        else f"{learner}: no worse, as far as these worlds can tell: {', '.join(close)}."
    )
    wrong = [f"{name} ({scores[name]})" for name in order if scores[name].high < 0]
    if wrong:
        said.append(f"{learner}: these order worlds the wrong way round: {', '.join(wrong)}.")
    useless = [name for name in order if scores[name].low <= 0 <= scores[name].high]
    if useless:
        said.append(f"{learner}: these cannot be told from no relation: {', '.join(useless)}.")
    mine = next(name for name in order if name in own)
    theirs = next((name for name in order if name not in own), None)
    if theirs is not None:
        said.append(f"{learner}: the best of ours is {mine} ({scores[mine]}), the best of the others {theirs} ({scores[theirs]}).")
    harder = [knob for knob, walk in walks.items() if walk[learner].monotone]
    not_harder = [f"{knob} ({walk[learner].word})" for knob, walk in walks.items() if not walk[learner].monotone]
    said.append(f"{learner}: learning takes ever longer along {len(harder)} of {len(walks)} knobs.")
    if not_harder:
        said.append(f"{learner}: knobs along which it does not: {'; '.join(not_harder)}.")
    for name in [n for n in own if n in scores]:
        misses = [f"{knob} ({walks[knob][name].word})" for knob in harder if not walks[knob][name].monotone]
        if misses:
            said.append(f"{learner}: {name} fails along {len(misses)} of those {len(harder)}: {'; '.join(misses)}.")
    return said
