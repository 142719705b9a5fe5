"""The two-parameter model fitted to a matrix of right and wrong answers by marginal maximum likelihood (Bock and Aitkin 1981).

Pr[person p solves item i] = 1 / (1 + exp(-a_i (x_p - b_i))), where the abilities x are draws from a standard normal distribution. That is
what fixes the scale: its unit is a standard deviation of these persons and its zero their mean. So `ability`, a and b here are no bits,
and are never mixed with abilities on the budget scale (`response`, `irt`). EM in NumPy: the posterior of every person on a grid
of abilities, then one weighted logistic regression an item. Axes: P persons, I items, Q nodes of the grid.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import numpy as np
from scipy import special

from jaxdiff.core.errors import as_array, require, require_integer

# Beyond it an item is a step between two nodes of the grid, and the data say no more than that.
STEEPEST = 20.0


@partial(
    jax.tree_util.register_dataclass,
    data_fields=["a", "b", "determined", "ability_fitted", "ability_error", "log_likelihood"],
    meta_fields=["rounds", "converged"],
)
@dataclass(frozen=True)
class TwoParameterFit:
    """A fitted test. Nothing here is in bits.

    Attributes:
        a: discriminations [I], per standard deviation of the persons.
        b: difficulties [I], in standard deviations of the persons.
        determined: False for items that all persons solve, or none, and for those that are steeper than can be told; a and b are NaN.
        ability_fitted: posterior means of the persons' abilities [P], in standard deviations of the persons.
        ability_error: posterior standard deviations [P].
        log_likelihood: marginal log likelihood after each round [rounds].
        rounds: rounds of EM.
        converged: whether the last round changed no parameter by more than the tolerance.
    """

    a: Any
    b: Any
    determined: Any
    ability_fitted: Any
    ability_error: Any
    log_likelihood: Any
    rounds: int
    converged: bool


def fit_two_parameter(responses: Any, nodes: int = 61, most_rounds: int = 1000, tolerance: float = 1e-4) -> TwoParameterFit:
    """Fit items and persons.

    Args:
        responses: 1 for a success, 0 for a failure, NaN where an item was not given, [P, I].
        nodes: Q, points of the grid of abilities, from -5 to 5.
        most_rounds: rounds of EM at most.
        tolerance: largest change of a slope or an intercept in a round that counts as none.

    Raises:
        InputError: another shape or other values, fewer than two persons or no item that some solve and others do not.
    """
    answered, right = _checked(responses)
    require_integer("nodes", nodes, 5)
    require_integer("most_rounds", most_rounds, 1)
    tried, solved = answered.sum(0), right.sum(0)
    varied = (solved > 0) & (solved < tried)
    require(bool(varied.any()), "responses", "without variation", "at least one item that some persons solve and others do not")
    # Persons with the same answers are the same to the model: in a short test that is most of them.
    pattern, who, times = np.unique(answered[:, varied] + right[:, varied], axis=0, return_inverse=True, return_counts=True)
    answered, right = (pattern > 0).astype(np.float64), (pattern > 1).astype(np.float64)
    times = times[:, None].astype(np.float64)
    x = np.linspace(-5.0, 5.0, nodes)
    log_prior = -0.5 * x**2 - special.logsumexp(-0.5 * x**2)
    share = ((solved + 0.5) / (tried + 1.0))[varied]
    line = np.stack([np.ones(len(share)), 1.3 * special.logit(share)])  # slope and intercept
    history, converged = [], False
    for _ in range(most_rounds):
        posterior, evidence = _posterior(answered, right, line, x, log_prior)
        history.append(float((times * evidence).sum()))
        posterior *= times
        new = _regress(line, x, answered.T @ posterior, right.T @ posterior)
        change, line = float(np.abs(new - line).max()), new
        if change <= tolerance:
            converged = True
            break
    posterior = _posterior(answered, right, line, x, log_prior)[0][who.reshape(-1)]
    ability = posterior @ x
    a, b = np.full(len(varied), np.nan), np.full(len(varied), np.nan)
    told = np.abs(line[0]) < STEEPEST
    a[varied], b[varied] = np.where(told, line[0], np.nan), np.where(told, -line[1] / line[0], np.nan)
    spread = np.sqrt(np.maximum(posterior @ x**2 - ability**2, 0.0))
    return TwoParameterFit(a, b, np.isfinite(a), ability, spread, np.array(history), len(history), converged)


def _checked(responses: Any) -> tuple[np.ndarray, np.ndarray]:
    """Which answers there are and which are right, float64 [P, I] each."""
    value = as_array("responses", responses, "0, 1 or NaN, [persons, items]", np.float64)
    require(value.ndim == 2 and value.shape[0] >= 2, "responses", f"of shape {value.shape}", "[persons, items], at least two persons")
    answered = ~np.isnan(value)
    require(bool(np.isin(value[answered], (0.0, 1.0)).all()), "responses", "with other values", "0, 1 or NaN")
    return answered.astype(np.float64), np.where(answered, value, 0.0)


def _posterior(
    answered: np.ndarray, right: np.ndarray, line: np.ndarray, x: np.ndarray, log_prior: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Posterior of every pattern of answers on the grid [P, Q], and its marginal log likelihood [P, 1]."""
    logit = line[0][:, None] * x + line[1][:, None]  # [I, Q]
    log_right, log_wrong = -np.logaddexp(0.0, -logit), -np.logaddexp(0.0, logit)
    joint = right @ log_right + (answered - right) @ log_wrong + log_prior
    evidence = special.logsumexp(joint, axis=1, keepdims=True)
    return np.exp(joint - evidence), evidence


def _regress(line: np.ndarray, x: np.ndarray, tried: np.ndarray, solved: np.ndarray) -> np.ndarray:
    """Weighted logistic regressions of `solved` of `tried` [I, Q] on x, all items at once: a few damped Newton steps from `line` [2, I]."""
    for _ in range(4):
        p = special.expit(line[0][:, None] * x + line[1][:, None])
        weight, miss = tried * p * (1 - p), solved - tried * p
        s0, s1, s2 = weight.sum(1) + 1e-9, weight @ x, weight @ x**2 + 1e-9
        g0, g1 = miss.sum(1), miss @ x
        determinant = np.maximum(s0 * s2 - s1**2, 1e-12)
        step = np.stack([s0 * g1 - s1 * g0, s2 * g0 - s1 * g1]) / determinant
        step *= np.minimum(1.0, 2.0 / np.maximum(np.abs(step).max(0), 1e-12))
        new = line + step
        # A slope at the bound takes its intercept with it, so that the place of the step stays.
        line = new * np.minimum(1.0, STEEPEST / np.maximum(np.abs(new[0]), 1e-12))
    return line
