"""What returns [P, E] of a population say by themselves: their distribution, and how much a policy's parameters tell about them.

Statistics of the random-weight study (Oller, Glasmachers and Cuccu 2020), and policy information capacity (Furuta et al. 2021): PIC =
I(R; Theta) (their Equation 1) and POIC = I(O; Theta) (Equation 3), where O is optimality with p(O = 1 | R) = exp((R - R_max) / eta).
Arrays in; episodes may have weights. Axes: P policies, E episodes, K values of a return.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from jaxdiff.core.errors import as_array, require, require_integer
from jaxdiff.difficulty import response

BINS = 100
PERCENTILE = 99.9
_SLACK = {4: 1e-6, 2: 1e-3}  # relative, by bytes of a floating-point number: that of response.TOLERANCE for longer ones and integers


@dataclass(frozen=True)
class Distribution:
    """Statistics of returns in the form of the random-weight study.

    Attributes:
        mean: of all returns.
        variance_within: mean over policies of the variance of a policy's returns (unbiased; NaN for one episode).
        variance_between: variance over policies of their mean returns (as seen: it holds 1/E of the variance within).
        percentile: 99.9th percentile of the policies' mean returns.
        best: highest mean return.
        best_fresh: mean return, in the other half of the episodes, of the policy that is best in one half; what `best` would be without
            the luck of having been chosen. NaN for one episode.
        share_solving: of policies whose mean return reaches `solved`; NaN where there is no such number.
        instance_share: share of the variance within policies that is due to the instance, the same for all policies; NaN where undefined.
    """

    mean: float
    variance_within: float
    variance_between: float
    percentile: float
    best: float
    best_fresh: float
    share_solving: float
    instance_share: float


def distribution(returns: Any, solved: float | None = None) -> Distribution:
    """Statistics of returns.

    Args:
        returns: finite, [P, E].
        solved: the mean return that counts as solving the world.

    Raises:
        InputError: not two axes, empty, or not finite.
    """
    r = checked(returns)
    episodes = r.shape[1]
    mean = r.mean(1)
    within = float(r.var(1, ddof=1).mean()) if episodes > 1 else float("nan")
    return Distribution(
        mean=float(mean.mean()),
        variance_within=within,
        variance_between=float(mean.var()),
        percentile=float(np.percentile(mean, PERCENTILE)),
        best=float(mean.max()),
        best_fresh=best_fresh(r),
        share_solving=float("nan") if solved is None else float((mean >= solved - slack(returns)).mean()),
        instance_share=instance_share(r),
    )


def best_fresh(returns: np.ndarray) -> float:
    """Mean return of a policy chosen in half of the episodes, in the other half; mean of both ways. NaN for one episode."""
    half = returns.shape[1] // 2
    if half == 0:
        return float("nan")
    sides = returns[:, :half].mean(1), returns[:, half:].mean(1)
    return float(np.mean([b[np.argmax(a)] for a, b in (sides, sides[::-1])]))


def instance_share(returns: np.ndarray) -> float:
    """Share of the variance within policies that the instance explains, in a two-way table without interactions.

    The mean square of episodes less that of the residual estimates P times the variance of instances; negative estimates are 0.
    """
    policies, episodes = returns.shape
    if policies < 2 or episodes < 2:
        return float("nan")
    row, column, all_mean = returns.mean(1, keepdims=True), returns.mean(0), returns.mean()
    residual = float(((returns - row - column + all_mean) ** 2).sum()) / ((policies - 1) * (episodes - 1))
    of_episodes = policies * float(((column - all_mean) ** 2).sum()) / (episodes - 1)
    instance = max(of_episodes - residual, 0.0) / policies
    return instance / (instance + residual) if instance + residual > 0 else float("nan")


def binned(returns: Any, bins: int = BINS) -> np.ndarray:
    """Returns as numbers of equal bins between the least and the largest one, int64 [P, E]; values if there are no more than bins.

    Raises:
        InputError: as for `distribution`, or fewer than two bins.
    """
    r = checked(returns)
    require_integer("bins", bins, 2)
    values, index = np.unique(r, return_inverse=True)
    if len(values) <= bins:
        return index.reshape(r.shape)
    width = values[-1] - values[0]
    return np.minimum(((r - values[0]) / width * bins).astype(np.int64), bins - 1)


def pic(bins: np.ndarray, weights: np.ndarray | None = None, corrected: bool = False) -> float:
    """Policy information capacity, H(R) - mean of H(R | theta), in bits, from numbers of bins [P, E] (`binned`).

    Args:
        bins: int [P, E].
        weights: how often every episode counts, [E]; once when None.
        corrected: add Miller and Madow's correction, (bins in use - 1) / 2 E nats, to every entropy: the plug-in entropy of a policy's few
            episodes is too low, so that PIC of returns that tell nothing about the policy is not 0.

    Returns:
        bits; not below 0 where corrected.
    """
    w = np.ones(bins.shape[1]) if weights is None else np.asarray(weights, np.float64)
    number = int(bins.max()) + 1
    place = (np.arange(len(bins))[:, None] * number + bins).reshape(-1)
    counts = np.bincount(place, np.broadcast_to(w, bins.shape).reshape(-1), len(bins) * number).reshape(len(bins), number)
    all_of_them = counts.sum(0)
    total, conditional = entropy(all_of_them[None], corrected)[0], entropy(counts, corrected).mean()
    return max(float(total - conditional), 0.0) if corrected else float(total - conditional)


def poic(returns: Any, temperature: float, weights: np.ndarray | None = None) -> float:
    """Policy-optimality information capacity at a temperature, H(O) - mean of H(O | theta), in bits.

    Args:
        returns: finite, [P, E].
        temperature: eta, positive.
        weights: how often every episode counts, [E]; once when None.

    Raises:
        InputError: as for `distribution`, or a temperature that is not positive.
    """
    r = checked(returns)
    require(temperature > 0, "temperature", temperature, "a positive number")
    optimal = np.average(np.exp((r - r.max()) / temperature), axis=1, weights=weights)
    return float(binary_entropy(optimal.mean()) - binary_entropy(optimal).mean())


def best_temperature(returns: Any, points: int = 41) -> float:
    """The temperature that makes POIC largest, on a grid of ratios of the range of returns and then by golden section.

    NaN where all returns are equal. Arguments and errors as for `poic`.
    """
    from scipy.optimize import minimize_scalar

    r = checked(returns)
    width = float(r.max() - r.min())
    if width == 0:
        return float("nan")
    logs = np.linspace(np.log(width * 1e-3), np.log(width * 1e2), points)
    best = int(np.argmax([poic(r, float(np.exp(x))) for x in logs]))
    low, high = logs[max(best - 1, 0)], logs[min(best + 1, points - 1)]
    found = minimize_scalar(lambda x: -poic(r, float(np.exp(x))), bounds=(low, high), method="bounded")
    return float(np.exp(found.x if -found.fun >= poic(r, float(np.exp(logs[best]))) else logs[best]))  # pyright: ignore[reportAttributeAccessIssue]


def checked(returns: Any) -> np.ndarray:
    """Returns as float64 [P, E].

    Raises:
        InputError: not two axes, empty, or not finite (names policy and episode).
    """
    r = as_array("returns", returns, "numbers [policies, episodes]", np.float64)
    require(r.ndim == 2 and r.size > 0, "returns", f"of shape {r.shape}", "numbers [policies, episodes], at least one of each")
    wrong = np.argwhere(~np.isfinite(r))
    if len(wrong):
        p, e = wrong[0].tolist()
        require(False, "returns", f"{r[p, e]} for policy {p} in episode {e}", "finite numbers")
    return r


def slack(returns: Any) -> float:
    """By how much a mean return may miss a threshold and still reach it: what rounding of these returns, any shape, may have taken.

    Returns of 0.7 in single precision are not below 0.7.
    """
    r = np.asarray(returns)
    relative = _SLACK.get(r.dtype.itemsize, response.TOLERANCE) if np.issubdtype(r.dtype, np.floating) else response.TOLERANCE
    return relative * max(1.0, float(np.abs(r).max()))


def entropy(counts: np.ndarray, corrected: bool) -> np.ndarray:
    """Entropies in bits of counts [n, K], float64 [n]; see `pic` for the correction."""
    total = counts.sum(1, keepdims=True)
    share = counts / total
    plain = -(share * np.log2(np.where(share > 0, share, 1.0))).sum(1)
    return plain + ((counts > 0).sum(1) - 1) / (2 * total[:, 0] * np.log(2)) if corrected else plain


def binary_entropy(p: np.ndarray) -> np.ndarray:
    """Entropies in bits of tosses of coins with probabilities p [...], float64 [...]."""
    p = np.clip(p, 0.0, 1.0)
    inside = (p > 0) & (p < 1)
    q = np.where(inside, p, 0.5)
    return np.where(inside, -(q * np.log2(q) + (1 - q) * np.log2(1 - q)), 0.0)
