"""The reference agents' rows of Wang et al. 2021 beside ours: Table 1, and Figures 2, 3 and 10; and the same on rotated episodes.

The paper's figures have no numbers: what stands in their column is computed from the published events of the very agents. An ideal
observer's episode score hangs on ties between equally good actions, so two exact observers differ by chance; "inside" compares the
difference of means with three standard errors (for the score on the same episodes, of the paired difference). Rotated episodes were
published by nobody: no first column.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from jaxdiff.alchemy import logs
from jaxdiff.core.errors import require_integer
from jaxdiff.studies import reference_agents as study
from jaxdiff.studies.paper_rows import PaperRow

if TYPE_CHECKING:
    import xarray as xr

# Table 1, mean and standard error over 1,000 episodes.
TABLE_1 = {"ideal_observer": (284.4, 1.6), "oracle": (288.5, 1.5), "random_heuristic": (145.7, 1.5)}
EVENTS = {"ideal_observer": "ideal_observer", "oracle": "search_oracle"}  # our name: the published log's
LOGS = ("ideal_observer", "search_oracle", "baseline")
FIGURE_3 = "Figure 3 (the paper gives a sign)"
_ERRORS = 3.0
_NOTHING = float("nan")


@dataclass(frozen=True, kw_only=True)
class Row(PaperRow):
    """One number of one agent.

    Attributes:
        agent: whose.
        error: standard error of `here`, or of the difference where the row is paired.
    """

    agent: str
    error: float


@dataclass(frozen=True)
class Reproduction:
    """All rows, and the evaluations they come from: `published/AGENT`, `log/AGENT` (published events) and `rotated/AGENT`."""

    rows: tuple[Row, ...]
    datasets: dict[str, xr.Dataset]

    def of(self, where: str) -> dict[str, xr.Dataset]:
        """Evaluations by agent: those `published`, of a `log`, or `rotated`."""
        return {name.split("/")[1]: d for name, d in self.datasets.items() if name.startswith(f"{where}/")}


def reproduce(
    folder: Path, episodes: int = 1000, rotated: int = 100, seed: int = 0, report: study.Report | None = None, keep: Path | None = None
) -> Reproduction:
    """Play the reference agents on the first of the published episodes, and on fresh rotated ones.

    Args:
        folder: of the published episodes.
        episodes: how many of them, 1..1000.
        rotated: how many rotated episodes; 0 for none.
        seed: of the random heuristic and of the rotated episodes.
        report: called with (what, done, of).
        keep: a folder in which the ideal observer's play is kept as it is made, and from which it goes on.

    Raises:
        InputError: see `reference_agents`.
    """
    require_integer("rotated", rotated, 0)
    given, events = study.published(folder, episodes)
    turned = study.drawn(rotated, seed, rotation=True) if rotated else None
    datasets: dict[str, Any] = {}
    for agent in TABLE_1:
        file = None if keep is None else keep / "play_published.npz"
        datasets[f"published/{agent}"] = study.evaluate(given, study.play(agent, given, seed, report=report, keep=file))
    for agent in LOGS:
        datasets[f"log/{agent}"] = study.evaluate(given, logs.published(events, agent).of(given.numbers))
    if turned is not None:
        for agent in TABLE_1:
            file = None if keep is None else keep / "play_rotated.npz"
            log = study.play(agent, turned, seed, True, report, file)
            datasets[f"rotated/{agent}"] = study.evaluate(turned, log, rotation=True)
    return Reproduction(tuple(_all_rows(datasets, episodes, rotated)), datasets)


def _all_rows(datasets: dict[str, Any], episodes: int, rotated: int) -> list[Row]:
    rows = [row for agent in TABLE_1 for row in _published(agent, datasets, episodes)]
    for quantity in study.FIGURE_3:
        rows += [_figure_3(name, quantity, datasets) for name in ("published/ideal_observer", "published/random_heuristic", "log/baseline")]
    if rotated:
        table = f"Rotated episodes ({rotated}, published by nobody)"
        for agent in TABLE_1:
            numbers = study.numbers(datasets[f"rotated/{agent}"])
            rows += [_informational(table, agent, q, n) for q, n in numbers.items() if _told(agent, q)]
    return rows


def _published(agent: str, datasets: dict[str, Any], episodes: int) -> list[Row]:
    """Table 1, and Figures 2 and 10, of one agent."""
    here = study.numbers(datasets[f"published/{agent}"])
    score = here.pop("episode score")
    mean, error = TABLE_1[agent]
    # With fewer than all episodes the means are of other episodes.
    inside = abs(score.mean - mean) <= _ERRORS * error if episodes == 1000 else None
    rows = [Row(table="Table 1", agent=agent, quantity="episode score", paper=mean, here=score.mean, error=score.error, inside=inside)]
    if agent in EVENTS:
        rows.append(_paired(agent, "episode score, same episodes", datasets, lambda d: d["score"].values.sum(1)))
    log = study.numbers(datasets[f"log/{EVENTS[agent]}"]) if agent in EVENTS else None
    for quantity, n in here.items():
        if not _told(agent, quantity) or quantity in study.FIGURE_3:
            continue
        table = "Figure 10" if quantity.startswith(study.ACTION_KINDS) else "Figure 2"
        if log is None:
            rows.append(_informational(table, agent, quantity, n))
            continue
        paper = log[quantity].mean
        close = abs(n.mean - paper) <= _ERRORS * max(n.error, 1e-9) if np.isfinite(n.error) else None  # one episode decides nothing
        rows.append(Row(table=table, agent=agent, quantity=quantity, paper=paper, here=n.mean, error=n.error, inside=close))
    return rows


def _told(agent: str, quantity: str) -> bool:
    """The paper shows no entropy of agents that keep no belief."""
    return agent == "ideal_observer" or "entropy" not in quantity


def _informational(table: str, agent: str, quantity: str, n: study.Number) -> Row:
    return Row(table=table, agent=agent, quantity=quantity, paper=_NOTHING, here=n.mean, error=n.error, inside=None)


def _paired(agent: str, quantity: str, datasets: dict[str, Any], column: Callable[[Any], np.ndarray]) -> Row:
    here, log = column(datasets[f"published/{agent}"]), column(datasets[f"log/{EVENTS[agent]}"])
    error = float((here - log).std(ddof=1) / len(here) ** 0.5) if len(here) > 1 else float("nan")
    inside = abs(float((here - log).mean())) <= _ERRORS * max(error, 1e-9) if np.isfinite(error) else None
    return Row(
        table="Table 1", agent=agent, quantity=quantity, paper=float(log.mean()), here=float(here.mean()), error=error, inside=inside
    )


def _figure_3(name: str, quantity: str, datasets: dict[str, Any]) -> Row:
    """Which model fits better; the paper's claim is a sign: paired for the ideal observer, unpaired for the others."""
    found = study.numbers(datasets[name])[quantity]
    sign = 1.0 if "ideal_observer" in name else -1.0
    return Row(
        table=FIGURE_3, agent=name.replace("/", " "), quantity=quantity, paper=sign, here=found.mean, error=found.error,
        inside=bool(found.mean * sign > 0),
    )  # fmt: skip
