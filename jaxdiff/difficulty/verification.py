"""How many bits of work is it to find an acceptable policy and to know that it is one?

LS(pi) = L(pi) + log2(steps of a trial x trials that verify it): a Levin search that tries policies in order of their description and
tests each for as long as it must (Hernandez-Orallo's "finding and verifying"). The difficulty of a world at a threshold is the least
LS of the policies whose mean return reaches it. Axes: P policies, E episodes, G thresholds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from jaxdiff.core.errors import as_array, require
from jaxdiff.difficulty.information import checked, slack


def trials_to_verify(mean: Any, deviation: Any, threshold: Any, delta: float = 0.05, rounding: float = 0.0) -> np.ndarray:
    """Episodes after which a one-sided test says with confidence 1 - delta that the mean return lies above a threshold.

    n = (z deviation / (mean - threshold))^2 rounded up, of the normal approximation, at least 1. One episode where returns do not
    vary; infinite where the mean is not above the threshold and they do.

    Args:
        mean, deviation: of the returns of a policy, [...].
        threshold: [...].
        delta: probability of being wrong, in 0..1/2.
        rounding: by how much a mean return that does not vary may miss the threshold, see `information.slack`.

    Raises:
        InputError: a delta outside that.
    """
    require(0 < delta < 0.5, "delta", delta, "a number above 0 and below 1/2")
    mean, deviation = np.asarray(mean, np.float64), np.asarray(deviation, np.float64)
    above = mean - np.asarray(threshold, np.float64)
    z = float(stats.norm.isf(delta))
    with np.errstate(divide="ignore", invalid="ignore"):
        n = np.ceil((z * deviation / np.maximum(above, 0.0)) ** 2)
    return np.where(deviation > 0, np.maximum(n, 1.0), np.where(above >= -rounding, 1.0, np.inf))


@dataclass(frozen=True)
class Acceptable:
    """What it takes to be acceptable, threshold by threshold.

    Attributes:
        threshold: mean returns, ascending, float64 [G].
        share: of policies that reach it, [G].
        tries: log2 of the policies that a blind search without replacement tries until one does (median), [G]; infinite where none does.
        least_bits: length of the shortest description among those that do, [G]; infinite where none does.
        ls: least LS among those that do, [G]; infinite where none does.
        ls_policy: which policy that is, int64 [G]; -1 where none does.
        trials: episodes that verify that policy, [G].
    """

    threshold: np.ndarray
    share: np.ndarray
    tries: np.ndarray
    least_bits: np.ndarray
    ls: np.ndarray
    ls_policy: np.ndarray
    trials: np.ndarray


def acceptable(returns: Any, lengths: Any, bits: Any, thresholds: Any, delta: float = 0.05) -> Acceptable:
    """LS difficulty, shares and tries at thresholds.

    Args:
        returns: [P, E].
        lengths: steps of every episode, [P, E].
        bits: length of every policy's description, [P].
        thresholds: mean returns, [G].
        delta: see `trials_to_verify`.

    Raises:
        InputError: shapes that do not fit, returns or bits that are not finite.
    """
    r = checked(returns)
    steps, b = np.asarray(lengths, np.float64), as_array("bits", bits, "numbers [policies]", np.float64)
    require(steps.shape == r.shape, "lengths", f"of shape {steps.shape}", f"the shape of returns, {r.shape}")
    require(
        b.shape == r.shape[:1] and bool(np.isfinite(b).all()), "bits", f"of shape {b.shape}", f"finite numbers, one a policy, {r.shape[:1]}"
    )
    t = np.sort(np.atleast_1d(np.asarray(thresholds, np.float64)))
    mean, deviation = r.mean(1), r.std(1, ddof=1) if r.shape[1] > 1 else np.zeros(len(r))
    rounding = slack(returns)
    reach = mean >= t[:, None] - rounding
    trials = np.where(reach, trials_to_verify(mean, deviation, t[:, None], delta, rounding), np.inf)
    # A policy that lies exactly on the threshold cannot be told from one below: it is acceptable, but takes for ever to verify.
    ls = np.where(reach, b + np.log2(np.maximum(steps.mean(1), 1.0)) + np.log2(trials), np.inf)
    best = np.argmin(ls, axis=1)
    found = np.isfinite(ls.min(1))
    count = reach.sum(1)
    return Acceptable(
        threshold=t,
        share=count / len(r),
        tries=blind_tries(count, len(r)),
        least_bits=np.where(reach, b, np.inf).min(1),
        ls=ls.min(1),
        ls_policy=np.where(found, best, -1),
        trials=np.where(found, trials[np.arange(len(t)), best], np.inf),
    )


def blind_tries(successes: Any, policies: Any) -> np.ndarray:
    """log2 of the median number of equally likely policies that are tried, without replacement, until one of the successes, float64 [...].

    Args:
        successes: how many there are.
        policies: how many policies there are.

    Returns:
        log2 of the least n with P(no success in n) <= 1/2; infinite without a success. The same as `response.first_hit` with equal weights.
    """
    s, p = np.broadcast_arrays(np.asarray(successes, np.int64), np.asarray(policies, np.int64))
    pairs, back = np.unique(np.stack([s.reshape(-1), p.reshape(-1)]), axis=1, return_inverse=True)
    return np.array([_tries(int(good), int(count)) for good, count in pairs.T])[back.reshape(-1)].reshape(s.shape)


def _tries(good: int, count: int) -> float:
    if good < 1:
        return float("inf")
    # No success in n + 1 draws: none in the first n, and the next one is not one of those that are left either. Each draw takes at least
    # good / count off the logarithm, so the median is not beyond log(2) count / good.
    n = np.arange(min(count - good, int(np.log(2) * count / good) + 1) + 1)
    with np.errstate(divide="ignore"):
        log = np.cumsum(np.log1p(-good / (count - n)))
    return float(np.log2(1 + int(np.searchsorted(-log, np.log(2) * (1 - 1e-12)))))
