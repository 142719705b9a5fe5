"""The experiments of the paper on the influence of intelligence: every scenario of its Figures 2 to 6, over many sessions.

Learners are tuned on isolated sessions first, as in the paper. A run of all scenarios is a `Results`; `society_rows` puts its numbers
beside the paper's. Session i has the same environment in every scenario. A run is made of pieces that depend on nothing but the settings
and the pieces before them; whoever calls may keep them, and go on where a run was stopped. Axes: S sessions, m agents.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import jax
import numpy as np

from jaxdiff.core.errors import require, require_integer
from jaxdiff.difficulty import complexity
from jaxdiff.society import batches, evolution, graphs, scenarios, tuning
from jaxdiff.society.learners import LEARNERS, Rates
from jaxdiff.society.scenarios import SIX, THREE, Curves, Scenario
from jaxdiff.society.sessions import Others, Ties
from jaxdiff.society.world import Params
from jaxdiff.sweep.pieces import Keep, Piece, forget

Progress = Callable[[str, int, int], None]
GRID: Mapping[str, tuple[float, ...]] = {
    "alpha": (0.05, 0.2, 0.4),
    "gamma": (0.35, 0.7, 0.9),
    "epsilon": (0.003, 0.01, 0.05),
    "initial": (0.5, 1.0, 2.0),
}
BETAS = (0.05, 0.3)
POINTS = 100
HISTORY = ("alone", "probe", "reward", "share", "length", "collisions")


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
        others: whether learners can tell the others apart.
    """

    name: str
    rates: Mapping[str, Rates]
    ties: Ties = "random"
    others: Others = "told_apart"

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


def run(settings: Settings, progress: Progress | None = None, keep: Keep = forget) -> Results:
    """Tune, then run all scenarios.

    Args:
        settings: what to run.
        progress: called with (what, done, in all).
        keep: called with the name of each piece, what it depends on (plain values) and a function that makes its arrays; returns them.
    """
    tuned = tune(settings, progress, keep) if settings.tune_sessions else {}
    default = Reading("reference rates", {})
    main = Reading("tuned rates", {kind: result.best for kind, result in tuned.items()}) if tuned else default
    all_of_them = society_scenarios(settings)

    def ran(reading: Reading, name: str, count: int) -> Curves:
        return _curves(settings, reading, name, all_of_them[name], count, progress, keep)

    curves = {name: ran(main, name, settings.sessions) for name in all_of_them}
    others = {}
    if settings.other_sessions:
        readings = [
            Reading(f"{main.name}, first of ties", main.rates, ties="first"),
            Reading(f"{main.name}, others alike", main.rates, others="alike"),
            *([default] if tuned else []),
        ]
        others = {reading.name: {name: ran(reading, name, settings.other_sessions) for name in OTHER} for reading in readings}
    k = environment_complexity(curves["three_competitive"])
    return Results(settings, main, curves, others, tuned, k)


def evolve(
    results: Results,
    environments: int = 500,
    generations: int = 10,
    steps: int = 1000,
    progress: Progress | None = None,
    keep: Keep = forget,
) -> evolution.History:
    """The Darwin-Wallace distribution with the learners' rates of a reproduction.

    Args:
        results: of `run`; no more environments are used than it has sessions.
        environments, generations, steps: see `evolution.Settings`.
        progress, keep: see `run`.
    """
    environments, steps = min(environments, results.settings.sessions), min(steps, results.settings.steps)
    rates = results.main.rates.get("q_learning", Rates())
    chosen = evolution.Settings(environments=environments, generations=generations, steps=steps, rates=rates)
    seed = results.settings.seed

    def make() -> Piece:
        history = evolution.evolve(chosen, seed, progress=progress)
        return {name: getattr(history, name) for name in HISTORY}

    return evolution.History(chosen, **keep("evolution", {"seed": seed, "settings": repr(chosen)}, make))


def tune(settings: Settings, progress: Progress | None = None, keep: Keep = forget) -> dict[str, tuning.Tuned]:
    """Every learner's combinations of rates on isolated sessions, with environments that are not used later."""
    count, steps, seed = settings.tune_sessions, settings.steps, settings.seed + 1
    out = {}
    for kind in LEARNERS:
        grid = {**GRID, "beta": BETAS} if kind == "qv" else GRID

        def make(kind: str = kind, grid: Mapping[str, tuple[float, ...]] = grid) -> Piece:
            found = tuning.tune(kind, grid, count, steps, seed=seed, progress=_report(progress, f"tune {kind}"))
            return {"score": found.score, "half": found.half, "late": found.late}

        about = {"sessions": count, "steps": steps, "seed": seed, "grid": grid}
        out[kind] = tuning.Tuned(kind, tuning.combinations(grid), **keep(f"tune {kind}", about, make))
    return out


def environment_complexity(curves: Curves) -> np.ndarray:
    """K of the environments: zlib length of (space, pattern) in bytes, less that of nothing, int [S]."""
    return np.array([complexity.compressed_bits(text) // 8 for text in graphs.texts(curves.params)])


def sessions_needed(curves: Curves, half: float = 0.01) -> np.ndarray:
    """Sessions for a 95 % interval of +- `half` around each agent's mean score, int [m]."""
    require(half > 0, "half", half, "above 0")
    deviation = curves.score.std(0, ddof=1)
    return np.ceil((1.959964 * deviation / half) ** 2).astype(int)


def _curves(
    settings: Settings, reading: Reading, name: str, scenario: Scenario, count: int, progress: Progress | None, keep: Keep
) -> Curves:
    rates, what = reading.of(scenario.agents), f"{name}, {reading.name}"
    keys = batches.session_keys(settings.seed, np.arange(count))["environment"]
    params: Params = jax.tree.map(np.asarray, graphs.sample(keys, scenarios.PAPER_DISTRIBUTION))

    def make() -> Piece:
        report = _report(progress, what)
        chosen: dict[str, Any] = {"rates": rates, "ties": reading.ties, "others": reading.others}
        made = scenarios.run(scenario, count, seed=settings.seed, params=params, progress=report, **chosen)
        made = made.coarser(POINTS)
        shared = {} if made.learnt is made.own else {"learnt": made.learnt}
        sizes = {"window": np.int64(made.window), "rows": np.int64(made.rows), "hashed": np.bool_(made.hashed)}
        return {"own": made.own, **shared, "collisions": made.collisions, **sizes}

    about = {
        "agents": scenario.agents,
        "teams": scenario.teams,
        "mean": scenario.mean,
        "steps": scenario.steps,
        "sessions": count,
        "seed": settings.seed,
        "ties": reading.ties,
        "others": reading.others,
        "rates": {field: value.tolist() for field, value in vars(rates).items()},
    }
    piece = keep(what, about, make)
    own, rows, hashed = piece["own"], int(piece["rows"]), bool(piece["hashed"])
    return Curves(scenario, int(piece["window"]), own, piece.get("learnt", own), piece["collisions"], rows, hashed, params)


def _report(progress: Progress | None, what: str) -> scenarios.Progress | None:
    return None if progress is None else lambda done, of: progress(what, done, of)
