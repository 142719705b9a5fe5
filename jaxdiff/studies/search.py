"""A population of programs as a blind search meets it: each policy once, drawn with probability proportional to w = 2^-K.

What the complexity distribution and the item bank have in common: which form of a program is compressed to estimate K, which policies
repeat an earlier one, and what the response functions of the rest are. Axes: S populations, P policies, L instructions, G gammas.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from jaxdiff.automata import apl
from jaxdiff.core.errors import require
from jaxdiff.difficulty import complexity, irt, response

ProgramForm = Literal["raw", "simplified", "shortest"]
FORMS: tuple[ProgramForm, ...] = ("raw", "simplified", "shortest")


def rewrite(programs: np.ndarray, form: ProgramForm, bits: int) -> np.ndarray:
    """Programs in one of their forms.

    Args:
        programs: int8 [..., P, L], padded with -1.
        form: as they are, simplified as the paper does, or shortest with the same behaviour for ever.
        bits: bits of an observation.

    Returns:
        int8, the shape of `programs`.

    Raises:
        InputError: an unknown form.
    """
    require(form in FORMS, "form", form, f"one of {', '.join(FORMS)}")
    if form == "raw":
        return programs
    if form == "simplified":
        return apl.simplify(programs)
    return apl.shortest(programs.reshape(-1, programs.shape[-1]), bits).reshape(programs.shape)


def complexity_of(form: np.ndarray) -> np.ndarray:
    """Estimate of K of programs [..., P, L] in some form, int64 [..., P], see `difficulty.complexity.lempel_ziv`."""
    return complexity.lempel_ziv(form.reshape(-1, form.shape[-1])).reshape(form.shape[:-1])


def repeated(form: np.ndarray) -> np.ndarray:
    """Whether an earlier one of the programs [P, L] is the same, bool [P]."""
    _, first, inverse = np.unique(form, axis=0, return_index=True, return_inverse=True)
    return first[inverse.reshape(-1)] != np.arange(len(form))


@dataclass(frozen=True)
class Responses:
    """Response functions of one population in one environment.

    Attributes:
        sets: success sets of the positive and the negative side.
        first_hit: policies drawn until the target is reached, float64 [2, statistics, G].
        curve: the response curve under the statistic shown.
        fit: logistic model of the curve's good side, whose asymptotes are known: 0 is the mean of all policies, 1 the best.
    """

    sets: tuple[response.Thresholds, response.Thresholds]
    first_hit: np.ndarray
    curve: response.Curve
    fit: irt.LogisticFit


def responses(
    complexity: Any, rewards: Any, gammas: np.ndarray, statistics: Sequence[response.Statistic], shown: response.Statistic
) -> Responses:
    """Response functions of policies that are tried with probability proportional to 2^-K.

    Args:
        complexity: K, [n], of the policies that are tried.
        rewards: theirs, [n].
        gammas: tolerance levels, ascending [G].
        statistics: which statistics of the first hit to compute.
        shown: which of them the curve shows.
    """
    weights = response.universal_weights(complexity)
    positive, negative = (response.thresholds(weights, rewards, gammas, side) for side in response.SIDES)
    first_hit = np.array([[response.draws(t, statistic) for statistic in statistics] for t in (positive, negative)])
    hit_positive, hit_negative = first_hit[:, list(statistics).index(shown)]
    curve = response.curve_through(hit_positive, hit_negative, positive, negative, gammas)
    good = curve.normalised >= 0
    fit = irt.fit_logistic(curve.theta[good], curve.normalised[good], 0.0, 1.0)
    return Responses((positive, negative), first_hit, curve, fit)
