"""Item response models (paper, section 2.3) and how well they describe an environment's response curve.

The ability theta here is that of response curves, log2 of the number of policies tried; it is not the ability that IRT software
fits to a matrix of right and wrong answers, and the two are never mixed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import numpy as np
from scipy import interpolate, optimize, special

from jaxdiff.core.errors import as_array, require


def logistic(theta: Any, a: Any, b: Any, c: Any = 0.0, d: Any = 1.0) -> np.ndarray:
    """The logistic model c + (d - c) / (1 + exp(-a (theta - b))): discrimination a, location b, asymptotes c and d."""
    return c + (d - c) * special.expit(np.asarray(a) * (np.asarray(theta, np.float64) - b))


def linear(theta: Any, z: Any, slope: Any) -> np.ndarray:
    """X(theta) = z + lambda theta: the linear model for continuous scores, without its error term."""
    return z + np.asarray(slope) * np.asarray(theta, np.float64)


def information(theta: Any, a: Any, b: Any, c: Any = 0.0) -> np.ndarray:
    """Fisher information of a right-or-wrong item under the three-parameter model at ability theta."""
    p = logistic(theta, a, b, c)
    chance = (p - c) / (1 - c)
    return np.asarray(a) ** 2 * chance**2 * (1 - p) / np.maximum(p, 1e-300)


def posterior_ability(success: Any, a: Any, b: Any, grid: Any) -> tuple[np.ndarray, np.ndarray]:
    """Ability of persons after each of the items they were given, under two-parameter models and a uniform prior over `grid`.

    Args:
        success: 0 or 1, in the order of giving, [persons, items].
        a, b: discriminations and locations of those items, the same shape or broadcasting with it.
        grid: abilities that are possible, equally spaced, [Q].

    Returns:
        posterior mean and standard deviation, on the scale of `b`, float64 [persons, items].
    """
    grid = np.asarray(grid, np.float64)
    right = np.asarray(success, bool)[..., None]
    logit = np.asarray(a, np.float64)[..., None] * (grid - np.asarray(b, np.float64)[..., None])
    log = np.cumsum(-np.logaddexp(0.0, np.where(right, -logit, logit)), axis=-2)
    posterior = special.softmax(log, axis=-1)
    mean = posterior @ grid
    return mean, np.sqrt(np.maximum(posterior @ grid**2 - mean**2, 0.0))


@partial(jax.tree_util.register_dataclass, data_fields=["a", "b", "c", "d", "slope_at_b", "residual", "rmse", "determined"], meta_fields=[])
@dataclass(frozen=True)
class LogisticFit:
    """A fitted logistic curve.

    Attributes:
        a, b, c, d: discrimination, location, lower and upper asymptote.
        slope_at_b: largest slope, a (d - c) / 4.
        residual: reward less fitted reward at the given points, [n].
        rmse: root of the mean squared residual.
        determined: False where the curve is constant or has fewer than four different points; then all numbers are NaN.
    """

    a: Any
    b: Any
    c: Any
    d: Any
    slope_at_b: Any
    residual: Any
    rmse: Any
    determined: Any


@partial(jax.tree_util.register_dataclass, data_fields=["z", "slope", "residual", "rmse", "determined"], meta_fields=[])
@dataclass(frozen=True)
class LinearFit:
    """A fitted line: intercept z (expected reward at ability 0), slope (loading), residuals [n], their root mean square."""

    z: Any
    slope: Any
    residual: Any
    rmse: Any
    determined: Any


def fit_logistic(theta: Any, reward: Any, c: float | None = None, d: float | None = None) -> LogisticFit:
    """Least-squares fit of the logistic model to a response curve.

    Args:
        theta: abilities [n].
        reward: expected rewards there [n].
        c, d: lower and upper asymptote, where they are known; fitted, at most the range of the data outside them, when None.

    Raises:
        InputError: unequal shapes, or values that are not finite.
    """
    x, y = _checked(theta, reward)
    if np.ptp(y) == 0 or len(np.unique(x)) < 4:
        nan = float("nan")
        return LogisticFit(nan, nan, nan, nan, nan, np.full(x.shape, nan), nan, False)
    low, high, width = y.min(), y.max(), np.ptp(x)
    height, half = high - low, (low + high) / 2
    middle = x[np.argmin(np.abs(y - half))]
    free = [c is None, d is None]

    def asymptotes(p: np.ndarray) -> tuple[float, float]:
        rest = iter(p[2:])
        return (next(rest) if c is None else c), (next(rest) if d is None else d)

    below = [1e-3 / width, x.min() - width, *np.array([low - height, half])[free]]
    above = [1e3 / width, x.max() + width, *np.array([half, high + height])[free]]
    # A curve with a step has several local optima in the discrimination: start from gentle, medium and steep.
    fits = [
        optimize.least_squares(
            lambda p: logistic(x, p[0], p[1], *asymptotes(p)) - y,
            [a / width, middle, *np.array([low, high])[free]],
            bounds=(below, above),
            x_scale=[1 / width, width, *np.array([height, height])[free]],
        )
        for a in (4.0, 20.0, 100.0)
    ]
    best = min(fits, key=lambda fit: fit.cost)
    a, b = best.x[:2]
    c, d = asymptotes(best.x)
    residual = y - logistic(x, a, b, c, d)
    return LogisticFit(a, b, c, d, a * (d - c) / 4, residual, float(np.sqrt(np.mean(residual**2))), True)


def fit_linear(theta: Any, reward: Any) -> LinearFit:
    """Least-squares fit of the linear model. Arguments and errors as for `fit_logistic`."""
    x, y = _checked(theta, reward)
    if np.ptp(x) == 0:
        nan = float("nan")
        return LinearFit(nan, nan, np.full(x.shape, nan), nan, False)
    slope, z = np.polyfit(x, y, 1)
    residual = y - linear(x, z, slope)
    return LinearFit(z, slope, residual, float(np.sqrt(np.mean(residual**2))), True)


def discrimination(theta: Any, reward: Any, at: Any) -> np.ndarray:
    """Slope of a response curve at a level of ability, from a monotone interpolation; 0 outside the curve's range.

    Args:
        theta: abilities [n], in ascending order (equal neighbours allowed, as curves of few policies have).
        reward: expected rewards there [n].
        at: abilities at which the slope is wanted, [...].

    Returns:
        reward per unit of ability, float64 [...].
    """
    x, y = _checked(theta, reward)
    ability, first = np.unique(x, return_index=True)
    # Where several points share an ability, the curve jumps; the highest reward is what that ability reaches.
    level = np.maximum.reduceat(y, first)
    at = np.asarray(at, np.float64)
    if len(ability) < 2:
        return np.zeros(at.shape)
    slope = interpolate.PchipInterpolator(ability, level).derivative()(np.clip(at, ability[0], ability[-1]))
    return np.where((at >= ability[0]) & (at <= ability[-1]), slope, 0.0)


def _checked(theta: Any, reward: Any) -> tuple[np.ndarray, np.ndarray]:
    x, y = (as_array(name, v, "numbers [n]", np.float64) for name, v in (("theta", theta), ("reward", reward)))
    require(
        x.ndim == 1 and x.shape == y.shape and x.size > 0,
        "theta",
        f"of shape {x.shape}",
        f"the shape of reward, {y.shape}, one axis, not empty",
    )
    require(bool(np.isfinite(x).all() and np.isfinite(y).all()), "theta", "or reward not finite", "finite numbers")
    return x, y
