"""The experiments of the paper on the influence of intelligence: every scenario of its Figures 2 to 6, over many sessions.

Learners are tuned on isolated sessions first, as in the paper. A run of all scenarios is a `Results`; `society_rows` puts its numbers
beside the paper's. Session i has the same environment in every scenario. Axes: S sessions, m agents.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from jaxdiff.core.errors import require, require_integer
from jaxdiff.difficulty import complexity
from jaxdiff.society import evolution, graphs, scenarios, tuning
from jaxdiff.society.learners import LEARNERS, Rates
from jaxdiff.society.scenarios import SIX, THREE, Curves, Scenario
from jaxdiff.society.sessions import Ties

Progress = Callable[[str, int, int], None]
GRID: Mapping[str, tuple[float, ...]] = {
    "alpha": (0.05, 0.2, 0.4),
    "gamma": (0.35, 0.7),
    "epsilon": (0.01, 0.05),
    "initial": (0.5, 1.0, 2.0),
}
BETAS = (0.05, 0.3)
POINTS = 100


@dataclass(frozen=True)
class Settings:
    """What to run.

    Attributes:
        sessions: S, of every scenario.
        steps: of the short sessions (the paper's 10,000).
        long: of the long ones (the paper's 100,000).
        tune_sessions: sessions for each combination of rates (the paper's 1,000); 0 takes the defaults of `Rates`.
        other_sessions: sessions of the other readings of what the paper leaves open; 0 leaves them out.
        seed: of everything random.
    """

    sessions: int = 1000
    steps: int = 10_000
    long: int = 100_000
    tune_sessions: int = 250
    other_sessions: int = 250
    seed: int = 0

    def __post_init__(self) -> None:
        require_integer("sessions", self.sessions, 8, 10**6)
        for name in ("steps", "long"):
            value = getattr(self, name)
            require_integer(name, value, 100)
            require(value % 100 == 0, name, value, "a multiple of 100")
        require_integer("tune_sessions", self.tune_sessions, 0)
        require_integer("other_sessions", self.other_sessions, 0)
        require_integer("seed", self.seed, 0, 2**32 - 2)


@dataclass(frozen=True)
class Reading:
    """How what the paper leaves open is read.

    Attributes:
        name: for people.
        rates: of each kind of learner.
        ties: which of several best actions learners take.
    """

    name: str
    rates: Mapping[str, Rates]
    ties: Ties = "random"

    def of(self, agents: tuple[str, ...]) -> Rates:
        """Rates of the seats of a scenario, arrays [m]."""
        each = [self.rates.get(kind, Rates()) for kind in agents]
        return Rates(*(np.array([getattr(r, name) for r in each]) for name in Rates.__dataclass_fields__))


@dataclass(frozen=True)
class Results:
    """Everything that was run.

    Attributes:
        settings: what was asked for.
        main: the reading that decides.
        curves: scenario -> curves under the main reading, see `society_scenarios`.
        others: reading -> scenario -> curves.
        tuned: what the tuner found, for each learner.
        complexity: K of the environments, zlib bytes of their description, int [S].
    """

    settings: Settings
    main: Reading
    curves: dict[str, Curves]
    others: dict[str, dict[str, Curves]]
    tuned: dict[str, tuning.Tuned] = field(default_factory=dict)
    complexity: Any = None


def society_scenarios(settings: Settings) -> dict[str, Scenario]:
    """All scenarios of the paper's figures, by name."""
    short, long = settings.steps, settings.long
    four = (*THREE, "random")
    return {
        **{f"isolated_{kind}": scenarios.isolated(kind, short) for kind in SIX},
        "six_competitive": scenarios.competitive(SIX, short),
        "four_competitive": scenarios.competitive(four, short),
        "three_competitive": scenarios.competitive(THREE, long),
        "six_cooperative": scenarios.cooperative(SIX, short),
        "four_cooperative": scenarios.cooperative(four, short),
        "three_cooperative": scenarios.cooperative(THREE, long),
        "teams": scenarios.teams((("q_learning",) * 2, ("sarsa",) * 2), long),
    }


# What other readings are run on: where learners matter.
OTHER = ("isolated_q_learning", "three_competitive", "three_cooperative", "teams")


def run(settings: Settings, progress: Progress | None = None) -> Results:
    """Tune, then run all scenarios.

    Args:
        settings: what to run.
        progress: called with (what, done, in all).
    """
    tuned = tune(settings, progress) if settings.tune_sessions else {}
    default = Reading("reference rates", {})
    main = Reading("tuned rates", {kind: result.best for kind, result in tuned.items()}) if tuned else default
    all_of_them = society_scenarios(settings)
    curves = {name: _curves(settings, main, name, scenario, settings.sessions, progress) for name, scenario in all_of_them.items()}
    others = {}
    if settings.other_sessions:
        readings = [Reading(f"{main.name}, first of ties", main.rates, "first")] + ([default] if tuned else [])
        for reading in readings:
            others[reading.name] = {
                name: _curves(settings, reading, name, all_of_them[name], settings.other_sessions, progress) for name in OTHER
            }
    k = environment_complexity(curves["three_competitive"])
    return Results(settings, main, curves, others, tuned, k)


def evolve(
    results: Results, environments: int = 500, generations: int = 10, steps: int = 1000, progress: Progress | None = None
) -> evolution.History:
    """The Darwin-Wallace distribution with the learners' rates of a reproduction.

    Args:
        results: of `run`; no more environments are used than it has sessions.
        environments, generations, steps: see `evolution.Settings`.
        progress: called with (what, done, in all).
    """
    environments, steps = min(environments, results.settings.sessions), min(steps, results.settings.steps)
    rates = results.main.rates.get("q_learning", Rates())
    chosen = evolution.Settings(environments=environments, generations=generations, steps=steps, rates=rates)
    return evolution.evolve(chosen, results.settings.seed, progress=progress)


def tune(settings: Settings, progress: Progress | None = None) -> dict[str, tuning.Tuned]:
    """Every learner's combinations of rates on isolated sessions, with environments that are not used later."""
    out = {}
    for kind in LEARNERS:
        grid = {**GRID, "beta": BETAS} if kind == "qv" else GRID
        report = _report(progress, f"tune {kind}")
        out[kind] = tuning.tune(kind, grid, settings.tune_sessions, settings.steps, seed=settings.seed + 1, progress=report)
    return out


def environment_complexity(curves: Curves) -> np.ndarray:
    """K of the environments: zlib length of (space, pattern) in bytes, less that of nothing, int [S]."""
    return np.array([complexity.compressed_bits(text) // 8 for text in graphs.texts(curves.params)])


def sessions_needed(curves: Curves, half: float = 0.01) -> np.ndarray:
    """Sessions for a 95 % interval of +- `half` around each agent's mean score, int [m]."""
    require(half > 0, "half", half, "above 0")
    deviation = curves.score.std(0, ddof=1)
    return np.ceil((1.959964 * deviation / half) ** 2).astype(int)


def _curves(settings: Settings, reading: Reading, name: str, scenario: Scenario, count: int, progress: Progress | None) -> Curves:
    curves = scenarios.run(
        scenario,
        count,
        seed=settings.seed,
        rates=reading.of(scenario.agents),
        ties=reading.ties,
        progress=_report(progress, f"{name} ({reading.name})"),
    )
    return curves.coarser(POINTS)


def _report(progress: Progress | None, what: str) -> scenarios.Progress | None:
    return None if progress is None else lambda done, of: progress(what, done, of)
