"""Tuning learners on isolated sessions (end of the paper's section 3): all combinations of rates at once, as sessions of one batch."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from jaxdiff.core.errors import require
from jaxdiff.society import batches, graphs, scenarios
from jaxdiff.society.learners import LEARNERS, Rates


@dataclass(frozen=True)
class Tuned:
    """What the combinations scored.

    Attributes:
        kind: the learner.
        rates: one `Rates` of numbers for each combination.
        score: mean reward over whole sessions, float64 [combinations].
        half: half the width of its 95 % interval.
        late: mean reward in the last tenth of the sessions.
    """

    kind: str
    rates: tuple[Rates, ...]
    score: np.ndarray
    half: np.ndarray
    late: np.ndarray

    @property
    def best(self) -> Rates:
        """The combination with the highest score."""
        return self.rates[int(np.argmax(self.score))]


def combinations(grid: Mapping[str, Sequence[float]]) -> tuple[Rates, ...]:
    """All combinations of the values of a grid, the last field fastest; fields that it does not name keep their defaults."""
    return tuple(Rates(**dict(zip(grid, values, strict=True))) for values in itertools.product(*grid.values()))


def tune(
    kind: str,
    grid: Mapping[str, Sequence[float]],
    sessions_n: int = 1000,
    steps: int = 10_000,
    *,
    seed: int = 1,
    distribution: graphs.Distribution = scenarios.PAPER_DISTRIBUTION,
    progress: scenarios.Progress | None = None,
) -> Tuned:
    """Score every combination of rates on the same environments.

    Args:
        kind: one of the learners.
        grid: values to try of each of the fields of `Rates`; the others keep their defaults.
        sessions_n: sessions for each combination.
        steps: of a session.
        seed: another one than that of the sessions that are evaluated later.
        distribution: of the environments.
        progress: called with (agent-steps done, in all).

    Raises:
        InputError: an agent that does not learn, a rate that does not exist, or one outside its range.
    """
    require(kind in LEARNERS, "kind", kind, f"one of {', '.join(LEARNERS)}")
    names = tuple(Rates.__dataclass_fields__)
    for name in grid:
        require(name in names and len(grid[name]) > 0, "grid", name, f"values of {', '.join(names)}")
    rates = combinations(grid)
    stacked = Rates(*(np.repeat([getattr(r, n) for r in rates], sessions_n)[:, None] for n in names))
    keys = batches.session_keys(seed, np.arange(sessions_n))["environment"]
    params = graphs.sample(keys, distribution)
    scenario = scenarios.isolated(kind, steps)
    curves = scenarios.run(scenario, len(rates) * sessions_n, seed=seed, params=params, rates=stacked, progress=progress)
    score = curves.score[:, 0].reshape(len(rates), sessions_n)
    late = curves.own[-max(1, len(curves.own) // 10) :, :, 0].mean(0, dtype=np.float64).reshape(len(rates), sessions_n)
    mean, half = scenarios.band(score.T)
    return Tuned(kind, rates, mean, half, late.mean(1))
