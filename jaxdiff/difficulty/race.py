"""The race of exponential clocks: how many failures come before the first success, as a distribution, without sampling.

Failing policies of weight w ring by time t with probability 1 - exp(-w t), independently; the first success rings at a time with density
W exp(-W t). So the number of failures before it is a mixture, over that time, of sums of binomials. The mixture is integrated by
Gauss-Legendre quadrature, the sums by Cauchy's integral of their generating function; both are good to about 1e-11. See `response` for
what this is the mathematics of. Axes: rows, D distinct weights, J neighbouring counts m.
"""

from __future__ import annotations

import numpy as np
from scipy import special

# A probability this close below 1/2 counts as 1/2 in Equation 9.
HALF = 0.5 - 1e-9


def first_hit_cdf(failures: np.ndarray, weights: np.ndarray, success: np.ndarray, m: np.ndarray) -> np.ndarray:
    """Pr[at most m failures come before the first success], float64 [rows].

    Args:
        failures: failing policies by weight, [rows, D].
        weights: distinct weights [D].
        success: W, [rows].
        m: integers [rows].
    """
    out = np.empty(len(m))
    chunk = max(1, (1 << 22) // (_NODES * _POINTS * len(weights)))
    for first in range(0, len(m), chunk):
        rows = slice(first, first + chunk)
        out[rows] = _cdf_window(failures[rows], weights, success[rows], m[rows][:, None])[:, 0]
    return out


_NODES, _POINTS = 128, 40
_LEGENDRE = np.polynomial.legendre.leggauss(_NODES)


def _cdf_window(failures: np.ndarray, weights: np.ndarray, success: np.ndarray, m: np.ndarray) -> np.ndarray:
    """`first_hit_cdf` for a window of neighbouring m, [rows, J] -> [rows, J].

    1 - the integral over x = log t of W t exp(-W t) Pr[more than m failures by time t], by Gauss-Legendre on the part of the axis where
    the integrand is not negligible: below it, fewer than m failures are certain; above it, either the success is.
    """
    # Failures are at least as concentrated as a Poisson variable of the same mean, whose quantiles bound the interesting times.
    certain = 40.0 / success
    early = _time_of_mean(failures, weights, special.gammaincinv(np.maximum(m.min(1), 0) + 1.0, 1e-12), certain)
    late = _time_of_mean(failures, weights, special.gammainccinv(np.maximum(m.max(1), 0) + 1.0, 1e-13), certain)
    x_high = np.log(late)
    x_low = np.minimum(np.log(early), x_high - 1e-3)
    nodes, node_weights = _LEGENDRE
    half = (x_high - x_low)[:, None] / 2
    t = np.exp((x_high + x_low)[:, None] / 2 + half * nodes)  # [rows, nodes]
    chance = -np.expm1(-t[:, :, None] * weights)  # [rows, nodes, D]
    density = node_weights * half * success[:, None] * t * np.exp(-success[:, None] * t)
    tail = np.where(late < certain, np.exp(-success * late), 0.0)  # where every m of the window is surely exceeded
    above = 1.0 - _poisson_binomial_cdf(failures[:, None, :], chance, m[:, None, :])  # [rows, nodes, J]
    exceeded = (density[:, :, None] * above).sum(1) + tail[:, None]
    return np.where(m >= failures.sum(1, keepdims=True), 1.0, np.where(m < 0, 0.0, np.clip(1.0 - exceeded, 0.0, 1.0)))


def _time_of_mean(failures: np.ndarray, weights: np.ndarray, mean: np.ndarray, latest: np.ndarray) -> np.ndarray:
    """Time by which `mean` failures are expected, [rows], by bisection of its logarithm; `latest` where that is later."""
    low, high = np.log(latest) - 80.0, np.log(latest)
    for _ in range(60):
        middle = (low + high) / 2
        reached = (failures * -np.expm1(-np.exp(middle)[:, None] * weights)).sum(1) >= mean
        low, high = np.where(reached, low, middle), np.where(reached, middle, high)
    return np.where(high == np.log(latest), latest, np.exp(high))


def _poisson_binomial_cdf(counts: np.ndarray, chance: np.ndarray, m: np.ndarray) -> np.ndarray:
    """Pr[X <= m] for X a sum of binomials, by Cauchy's integral of its generating function on a circle around 0.

    Inside the unit circle G(z) / (1 - z) has the coefficients Pr[X <= m], outside it G(z) / (z - 1) has Pr[X > m]; the first is taken
    for m below the mean, the second above, so that the smaller of the two is computed. The trapezoidal rule with spacing h on a circle
    of radius exp(-+rho) is exact but for aliases of relative size exp(-2 pi rho / h); with h = 1 / (2 sd) it needs 40 points of the upper
    half plane, whatever the number of terms.

    Args:
        counts: numbers of trials, broadcasting with `chance`, [..., D].
        chance: success probabilities [..., D].
        m: integers [..., J], neighbours of one another.

    Returns:
        [..., J].
    """
    mean = (counts * chance).sum(-1)
    sd = np.sqrt((counts * chance * (1 - chance)).sum(-1))
    h = np.minimum(np.pi / _POINTS, 0.5 / np.maximum(sd, 1e-9))
    below = m.mean(-1) <= mean
    log_radius = np.where(below, -5.2, 5.2) * h
    angle = (np.arange(_POINTS) + 0.5) * h[..., None]  # [..., points]
    radius = np.exp(log_radius)[..., None]
    re, im = radius * np.cos(angle) - 1.0, radius * np.sin(angle)  # z - 1
    square = re * re + im * im
    log_size, phase = np.zeros_like(angle), np.zeros_like(angle)
    for d in range(chance.shape[-1]):
        p, c = chance[..., d, None], counts[..., d, None]
        # |1 + p (z - 1)|^2 - 1 without cancellation: with billions of trials its last digits count.
        log_size += 0.5 * c * np.log1p(p * (2.0 * re + p * square))
        phase += c * np.arctan2(p * im, 1.0 + p * re)
    side = np.where(below, -1.0, 1.0)[..., None]
    log_size = log_size - 0.5 * np.log(square)
    phase = phase - np.arctan2(side * im, side * re)
    size = np.minimum(log_size[..., None, :] - m[..., None] * log_radius[..., None, None], 700.0)
    value = (np.exp(size) * np.cos(phase[..., None, :] - m[..., None] * angle[..., None, :])).sum(-1) * h[..., None] / np.pi
    value = np.where(below[..., None], value, 1.0 - value)
    # Far in a tail the answer is 0 or 1 to the last digit (Chernoff), and the circle, made for the middle, is not good there.
    far = (_chernoff(mean[..., None], np.where(m < mean[..., None], m, m + 1)) < -37) & (abs(m + 0.5 - mean[..., None]) > 1)
    return np.clip(np.where(far, m > mean[..., None], value), 0.0, 1.0)


def _chernoff(mean: np.ndarray, m: np.ndarray) -> np.ndarray:
    """Logarithm of the bound exp(m - mean) (mean / m)^m on either tail of a Poisson-binomial."""
    safe = np.maximum(m, 1e-300)
    return m - mean + np.where(m > 0, m * (np.log(np.maximum(mean, 1e-300)) - np.log(safe)), 0.0)


def medians(failures: np.ndarray, weights: np.ndarray, success: np.ndarray) -> np.ndarray:
    """Least N with q(N) >= 1/2, float64 [rows]: Newton's method on the exact q, inside a bracket."""
    rows = len(success)
    most = failures.sum(1)
    low, high = np.full(rows, -1.0), most.copy()  # q is below 1/2 after low failures, at least 1/2 after high
    typical = (failures * -np.expm1(-(np.log(2.0) / success)[:, None] * weights)).sum(1)
    guess = np.clip(np.round(typical), 0, np.maximum(most - 1, 0))
    reach = 2
    todo = np.flatnonzero(high - low > 1)
    while todo.size:
        window = np.clip(guess[todo, None] + np.arange(-reach, reach + 1), -1, most[todo, None])
        values = np.empty(window.shape)
        chunk = max(1, (1 << 22) // (_NODES * _POINTS * len(weights)))
        for first in range(0, len(todo), chunk):
            part = slice(first, first + chunk)
            values[part] = _cdf_window(failures[todo[part]], weights, success[todo[part]], window[part])
        enough = values >= HALF
        low[todo] = np.maximum(low[todo], np.where(~enough, window, -1.0).max(1))
        high[todo] = np.minimum(high[todo], np.where(enough, window, np.inf).min(1))
        density = np.maximum((values[:, -1] - values[:, 0]) / np.maximum(window[:, -1] - window[:, 0], 1), 1e-12)
        step = window[:, reach] + (0.5 - values[:, reach]) / density
        inside = (step > low[todo]) & (step < high[todo])
        guess[todo] = np.round(np.where(inside, step, (low[todo] + high[todo]) / 2))
        guess[todo] = np.clip(guess[todo], low[todo] + 1, np.maximum(high[todo] - 1, low[todo] + 1))
        todo = np.flatnonzero(high - low > 1)
    return high + 1.0
