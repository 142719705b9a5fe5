"""A novelty over many levels: mean difficulty with intervals, the shift that chance alone gives, and the paper's classes.

Two independent samples of the solutions of one and the same world are as large on average, but never in the same places: their shift is
chance, and it is taken off. There are the fewer to be matched the fewer there are, so chance is measured between the world before and as
many of its own solutions, sampled anew, as there are after the novelty (`novelty.Solutions.thinned`). Axes: levels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from jaxdiff.core.errors import require, require_integer
from jaxdiff.difficulty.novelty import ReactionDifficulty

HARD = 0.3  # the paper: easy up to 0, medium up to here
NO_NOVELTY = "indistinguishable from no novelty"
UNDETERMINED = "undetermined"
TOO_FEW = "too few levels to say"
FEWEST = 3  # levels: an interval over fewer says nothing


@dataclass(frozen=True)
class Mean:
    """A mean over levels.

    Attributes:
        value: the mean.
        low, high: ends of its bootstrap interval; the value itself where there is one level only, or all are equal.
    """

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Summary:
    """A novelty over levels.

    Attributes:
        levels: levels that count.
        undetermined: levels left out because nobody solved them, before or after.
        d, size, shift, reverse: see `novelty.ReactionDifficulty`; None where no level counts.
        floor: shift that chance alone gives; None where it was not measured.
        excess: D less the floor of the same level.
        verdict: "easy", "medium", "hard", by the excess where there is one, else by D; `NO_NOVELTY` where the interval of the excess
            covers 0; `TOO_FEW` where there is an excess of fewer than three levels; `UNDETERMINED` where no level counts.
    """

    levels: int
    undetermined: int
    d: Mean | None
    size: Mean | None
    shift: Mean | None
    reverse: Mean | None
    floor: Mean | None
    excess: Mean | None
    verdict: str


def over_levels(
    novelties: Sequence[ReactionDifficulty],
    floor: Sequence[ReactionDifficulty] | None = None,
    *,
    resamples: int = 2000,
    level: float = 0.95,
    seed: int = 0,
) -> Summary:
    """Means over levels, with percentile bootstrap intervals.

    Args:
        novelties: of each level.
        floor: of each level in the same order, the world before against its own solutions, independently sampled with the same budget
            and thinned to as many as there are after the novelty. Its shift is what is taken off.
        resamples: how often levels are drawn anew.
        level: of the intervals.
        seed: of the resampling.

    Raises:
        InputError: no levels, a floor of another number of levels, no resamples, a level outside 0..1.
    """
    require(len(novelties) > 0, "novelties", "empty", "at least one level")
    require(floor is None or len(floor) == len(novelties), "floor", f"of {len(floor or ())} levels", f"of {len(novelties)}, like novelties")
    require_integer("resamples", resamples, 1)
    require(0 < level < 1, "level", level, "between 0 and 1")
    counts = np.array([not n.undetermined for n in novelties])
    used = np.flatnonzero(counts).tolist()
    left_out = len(novelties) - len(used)
    if not len(used):
        return Summary(0, left_out, None, None, None, None, None, None, UNDETERMINED)

    def mean(values: np.ndarray) -> Mean:
        value = float(values.mean())
        if len(values) == 1 or np.ptp(values) == 0:
            return Mean(value, value, value)
        found = stats.bootstrap(
            (values,), np.mean, n_resamples=resamples, confidence_level=level, method="percentile", rng=np.random.default_rng(seed)
        )
        return Mean(value, float(found.confidence_interval.low), float(found.confidence_interval.high))

    def of(each: Sequence[ReactionDifficulty], name: str) -> np.ndarray:
        return np.array([getattr(each[i], name) for i in used], np.float64)

    d = of(novelties, "d")
    size, shift, reverse = (mean(of(novelties, name)) for name in ("size", "shift", "reverse"))
    if floor is None:
        return Summary(len(used), left_out, mean(d), size, shift, reverse, None, None, _class_of(d.mean()))
    chance = of(floor, "shift")
    excess = mean(d - chance)
    if len(used) < FEWEST:
        return Summary(len(used), left_out, mean(d), size, shift, reverse, mean(chance), excess, TOO_FEW)
    verdict = NO_NOVELTY if excess.low <= 0 <= excess.high else _class_of(excess.value)
    return Summary(len(used), left_out, mean(d), size, shift, reverse, mean(chance), excess, verdict)


def _class_of(d: float) -> str:
    """The paper's class of a distance (its section on evaluation)."""
    return "easy" if d <= 0 else "medium" if d <= HARD else "hard"
