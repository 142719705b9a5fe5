"""How sure is a response curve? The curve of equally likely policies, with a band from resampling them.

The band lies along the abscissa: a target stays what it is, and the bits of search that it takes vary with which policies there happen
to be. Axes: P policies, G tolerance levels (each on the good side and on the bad side of the curve).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jaxdiff.core.errors import require_integer
from jaxdiff.difficulty import response, verification


def band(curve: response.Curve, mean: Any, resamples: int = 500, seed: int = 0) -> np.ndarray:
    """95 % band of a response curve, percentiles of a bootstrap over policies.

    Args:
        curve: `response.curve` of these policies with equal weights.
        mean: their mean returns, finite, [P].
        resamples: of the bootstrap.
        seed: of the bootstrap.

    Returns:
        least and largest ability at every point of the curve, float64 [2, 2G]; infinite where too few resampled populations hold a policy
        that reaches the target.

    Raises:
        InputError: fewer than one resample.
    """
    require_integer("resamples", resamples, 1)
    ordered = np.sort(np.asarray(mean, np.float64))
    count, reward = len(ordered), np.asarray(curve.reward)
    slack = response.TOLERANCE * float(np.abs(ordered).max())
    half = len(reward) // 2
    below = np.searchsorted(ordered, reward[half:] - slack, side="left")  # policies that miss the target of the good side
    within = np.searchsorted(ordered, reward[:half] + slack, side="right")  # policies that reach that of the bad side
    rng = np.random.default_rng(seed)
    weight = rng.multinomial(count, np.full(count, 1 / count), size=resamples)
    upto = np.concatenate([np.zeros((resamples, 1), np.int64), weight.cumsum(1)], axis=1)
    bits = verification.blind_tries(np.concatenate([upto[:, within], count - upto[:, below]], axis=1), count)
    # Nearest ranks: between two numbers of which one is infinite there is nothing to interpolate.
    low, high = np.quantile(bits, [0.025, 0.975], axis=0, method="nearest")
    return np.stack([np.concatenate([-high[:half], low[half:]]), np.concatenate([-low[:half], high[half:]])])
