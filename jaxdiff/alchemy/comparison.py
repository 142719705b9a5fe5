"""Bayesian model comparison: which of two policies explains an agent's actions better (Wang et al. 2021, section 4.2, Figure 3).

Each model's inverse temperature is fitted by maximum likelihood (the log-likelihood is concave in it); with one parameter each, the
difference of log-likelihoods is also that of their BIC. Axes as in `lookahead`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from jaxdiff.alchemy import lookahead

if TYPE_CHECKING:
    from jax.typing import ArrayLike

    from jaxdiff.alchemy.chemistry import Chemistry
    from jaxdiff.alchemy.logs import Log

_LARGEST_BETA = 100.0
# What fits the published ideal observer's 1,000 episodes with the paired model. At a temperature of their own, agents that act nearly at
# random fit both models with almost uniform choices and tell them apart by hundredths of a nat; at this one the models make real
# predictions.
OBSERVER_BETA = 0.27


@dataclass(frozen=True)
class Fit:
    """A model of logged actions.

    Attributes:
        model: its name.
        beta: fitted inverse temperature, per point of value; within 0..100.
        log_likelihood: of each episode's actions, nats, float64 [E].
        sharp: the same at the ideal observer's inverse temperature, `OBSERVER_BETA`, float64 [E].
        actions: how many there were in each episode, int64 [E].
    """

    model: str
    beta: float
    log_likelihood: np.ndarray
    sharp: np.ndarray
    actions: np.ndarray

    @property
    def per_action(self) -> float:
        """Mean log-likelihood of an action, nats."""
        return float(self.log_likelihood.sum() / self.actions.sum())


def log_likelihood(choices: lookahead.Choices, beta: float) -> np.ndarray:
    """Log-probability of each taken action, float64 [E, R, A]; 0 where there is none."""
    q, number = (a.reshape(*a.shape[:-2], -1) for a in (choices.q, choices.number))
    here = choices.taken >= 0
    scaled = np.where(number > 0, beta * q.astype(np.float64), -np.inf)
    scaled = np.where(here[..., None], scaled, 0.0)
    highest = scaled.max(-1)
    total = highest + np.log(np.maximum((number * np.exp(scaled - highest[..., None])).sum(-1), 1e-300))
    taken = np.take_along_axis(scaled, np.maximum(choices.taken, 0)[..., None], -1)[..., 0]
    return np.where(here, taken - total, 0.0)


def fit(model: str, choices: lookahead.Choices) -> Fit:
    """The inverse temperature that makes the log most likely, and how likely it is then."""
    from scipy.optimize import minimize_scalar

    found: Any = minimize_scalar(lambda beta: -log_likelihood(choices, beta).sum(), bounds=(0.0, _LARGEST_BETA), method="bounded")
    best = float(found.x)
    likely, sharp = (log_likelihood(choices, beta).sum((1, 2)) for beta in (best, OBSERVER_BETA))
    return Fit(model, best, likely, sharp, (choices.taken >= 0).sum((1, 2)))


def compare(
    chemistry: Chemistry, stones: ArrayLike, potions: ArrayLike, log: Log, models: tuple[str, ...] = ("paired", "unpaired")
) -> dict[str, Fit]:
    """Fit several models to one log.

    Raises:
        InputError: see `lookahead.choices`.
    """
    return {model: fit(model, lookahead.choices(model, chemistry, stones, potions, log)) for model in models}
