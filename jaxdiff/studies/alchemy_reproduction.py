"""The reference agents' rows of Wang et al. 2021 beside ours: Table 1, and Figures 2 and 3; and the same on rotated episodes.

The paper's figures have no numbers: what stands in their column is computed from the published events of the very agents. An ideal
observer's episode score hangs on ties between equally good actions, so two exact observers differ by chance; "within" compares the
difference of means with three standard errors of the paired difference. Rotated episodes were published by nobody: no first column.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from jaxdiff.alchemy import logs
from jaxdiff.studies import reference_agents as study

if TYPE_CHECKING:
    import xarray as xr

# Table 1, mean and standard error over 1,000 episodes.
TABLE_1 = {"ideal_observer": (284.4, 1.6), "oracle": (288.5, 1.5), "random_heuristic": (145.7, 1.5)}
EVENTS = {"ideal_observer": "ideal_observer", "oracle": "search_oracle"}  # our name: the published log's
_ERRORS = 3.0


@dataclass(frozen=True)
class Row:
    """One number: where it stands, of whom, what was published and is found here with their standard errors, and whether they agree.

    `paper` is NaN where nothing was published, and `inside` then None.
    """

    table: str
    agent: str
    quantity: str
    paper: float
    here: float
    error: float
    inside: bool | None

    @property
    def difference(self) -> float:
        """Here less paper."""
        return self.here - self.paper

    def as_dict(self) -> dict[str, Any]:
        """Fields and difference, for JSON."""
        return {**asdict(self), "difference": self.difference}


@dataclass(frozen=True)
class Reproduction:
    """All rows, and the evaluations they come from: `published/AGENT`, `log/AGENT` (published events) and `rotated/AGENT`."""

    rows: tuple[Row, ...]
    datasets: dict[str, xr.Dataset]


def reproduce(folder: Path, episodes: int, rotated: int, seed: int, report: Callable[[str, int, int], None] | None = None) -> Reproduction:
    """Play the reference agents on the first of the published episodes, and on fresh rotated ones.

    Args:
        folder: of the published episodes.
        episodes: how many of them, 1..1000.
        rotated: how many rotated episodes; 0 for none.
        seed: of the random heuristic and of the rotated episodes.
        report: called with (what, done, of).

    Raises:
        InputError: see `reference_agents`.
    """
    given, events = study.published(folder, episodes)
    datasets: dict[str, Any] = {}
    for agent in TABLE_1:
        datasets[f"published/{agent}"] = study.evaluate(given, study.play(agent, given, seed, report=report))
    for agent in ("ideal_observer", "search_oracle", "baseline"):
        datasets[f"log/{agent}"] = study.evaluate(given, logs.published(events, agent).of(given.numbers))
    rows = [row for agent in TABLE_1 for row in _rows(agent, datasets, episodes)]
    for quantity in study.FIGURE_3:
        rows += [_figure_3(name, quantity, datasets) for name in ("published/ideal_observer", "published/random_heuristic", "log/baseline")]
    if rotated:
        turned = study.drawn(rotated, seed, rotation=True)
        for agent in TABLE_1:
            datasets[f"rotated/{agent}"] = found = study.evaluate(turned, study.play(agent, turned, seed, True, report), rotation=True)
            table = f"rotated, {rotated} episodes"
            rows += [Row(table, agent, q, float("nan"), n.mean, n.error, None) for q, n in study.numbers(found).items()]
    return Reproduction(tuple(rows), datasets)


def _rows(agent: str, datasets: dict[str, Any], episodes: int) -> list[Row]:
    """Table 1 and Figure 2 of one agent."""
    here = study.numbers(datasets[f"published/{agent}"])
    score = here.pop("episode score")
    here = {quantity: n for quantity, n in here.items() if quantity not in study.FIGURE_3}
    mean, error = TABLE_1[agent]
    # With fewer than all episodes the means are of other episodes.
    inside = abs(score.mean - mean) <= _ERRORS * error if episodes == 1000 else None
    rows = [Row("Table 1", agent, "episode score", mean, score.mean, score.error, inside)]
    if agent in EVENTS:
        log = study.numbers(datasets[f"log/{EVENTS[agent]}"])
        rows.append(_paired(agent, "episode score, same episodes", datasets, lambda d: d["score"].values.sum(1)))
        for quantity, n in here.items():
            if not (agent == "oracle" and "entropy" in quantity):  # the oracle keeps no belief
                close = abs(n.mean - log[quantity].mean) <= _ERRORS * max(n.error, 1e-9)
                rows.append(Row("Figure 2", agent, quantity, log[quantity].mean, n.mean, n.error, close))
        return rows
    return rows + [Row("Figure 2", agent, q, float("nan"), n.mean, n.error, None) for q, n in here.items()]


def _paired(agent: str, quantity: str, datasets: dict[str, Any], column: Callable[[Any], np.ndarray]) -> Row:
    here, log = column(datasets[f"published/{agent}"]), column(datasets[f"log/{EVENTS[agent]}"])
    error = float((here - log).std() / len(here) ** 0.5)
    inside = abs(float((here - log).mean())) <= _ERRORS * max(error, 1e-9)
    return Row("Table 1", agent, quantity, float(log.mean()), float(here.mean()), error, inside)


def _figure_3(name: str, quantity: str, datasets: dict[str, Any]) -> Row:
    """Which model fits better; the paper's claim is a sign: paired for the ideal observer, unpaired for the others."""
    found = study.numbers(datasets[name])[quantity]
    sign = 1.0 if "ideal_observer" in name else -1.0
    return Row("Figure 3 (the paper gives a sign)", name, quantity, sign, found.mean, found.error, bool(found.mean * sign > 0))
