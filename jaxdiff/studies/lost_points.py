"""Where an agent loses against the ideal observer: by trial and by kind of decision, as one table and one sentence.

A decision is judged by what its player could know, so what an agent has failed to find out is no loss of a later trial: it shows in what
could be expected at that trial's start. Axes: E episodes, R trials, K kinds of decisions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from jaxdiff.core.errors import require
from jaxdiff.studies.reference_agents import Number

if TYPE_CHECKING:
    import xarray as xr

_NONE = 5e-3  # points an episode


@dataclass(frozen=True)
class LostPoints:
    """Means over episodes.

    Attributes:
        kinds: names of the kinds.
        points: lost by trial and kind, [R, K].
        expected: what the ideal observer expected at each trial's start from what was known, [R].
        total: lost in an episode, with its standard error.
        episodes: E.
    """

    kinds: tuple[str, ...]
    points: np.ndarray
    expected: np.ndarray
    total: Number
    episodes: int

    @property
    def columns(self) -> list[str]:
        """Of the table."""
        return ["to what", *(f"trial {t + 1}" for t in range(len(self.points))), "episode", "share"]

    @property
    def rows(self) -> list[tuple[str, list[float], float]]:
        """Of the table: what, points by trial and in the episode [R + 1], share of all that is lost (NaN where it means nothing)."""
        whole = self.points.sum()
        rows = []
        for k, kind in enumerate(self.kinds):
            lost = self.points[:, k]
            rows.append((kind, [*lost.tolist(), float(lost.sum())], float(lost.sum() / whole) if whole > 0 else float("nan")))
        by_trial = self.points.sum(1)
        rows.append(("all", [*by_trial.tolist(), float(whole)], 1.0 if whole > 0 else float("nan")))
        rows.append(("expected at its start", [*self.expected.tolist(), float(self.expected.sum())], float("nan")))
        return rows

    @property
    def sentence(self) -> str:
        """The answer to: where does it lose?"""
        whole = float(self.points.sum())
        where = f"against the ideal observer ({self.episodes} episode{'s' if self.episodes > 1 else ''})"
        if whole < _NONE:
            return f"It loses nothing {where}."
        error = f" ± {self.total.error:.1f}" if np.isfinite(self.total.error) else ""
        first, later = self.points[0], self.points[1:].sum(0)
        said = f"It loses {whole:.1f}{error} points an episode {where}: {first.sum():.1f} of them in trial 1{self._most(first)}"
        if len(self.points) == 1:
            return said + "."
        count = len(self.points) - 1
        rest = f"trials 2 to {count + 1}, {later.sum() / count:.1f} in each" if count > 1 else "trial 2"
        return f"{said}, {later.sum():.1f} in {rest}{self._most(later)}."

    def _most(self, lost: np.ndarray) -> str:
        """The kind that costs most, in brackets."""
        if lost.sum() < _NONE:
            return ""
        k = int(lost.argmax())
        return f" (most by “{self.kinds[k]}”: {lost[k]:.1f})"


def lost_points(dataset: xr.Dataset) -> LostPoints:
    """From an evaluation with regret, see `reference_agents.evaluate`.

    Raises:
        InputError: an evaluation without regret.
    """
    require("regret" in dataset, "dataset", "an evaluation without regret", "one with regret for at least one episode")
    regret = np.asarray(dataset["regret"].values, np.float64)
    each = regret.sum((1, 2))
    error = float(each.std(ddof=1) / len(each) ** 0.5) if len(each) > 1 else float("nan")
    kinds = tuple(str(kind) for kind in dataset["loss"].values)
    expected = np.asarray(dataset["expected"].values, np.float64).mean(0)
    return LostPoints(kinds, regret.mean(0), expected, Number(float(each.mean()), error), len(each))
