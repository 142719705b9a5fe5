"""The paper's agents on symbolic Alchemy: what extra input and auxiliary prediction do to a trained agent (Figures 4, 5, 9 and 10).

Conditions are {no extra input, belief, ground truth} x {no auxiliary loss, features, chemistry}, several seeds each, at equal budgets of
wall-clock time. The paper's figures have no numbers in print: one condition is in Table 1, of the others it says in words how they end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jaxdiff.agents import presets
from jaxdiff.alchemy import logs
from jaxdiff.core.errors import require, require_integer
from jaxdiff.studies import reference_agents, training_runs
from jaxdiff.studies.paper_rows import PaperRow
from jaxdiff.studies.training_runs import Outcome, over_seeds

if TYPE_CHECKING:
    from jaxdiff.agents.config import TrainConfig
    from jaxdiff.studies.reference_agents import Episodes

INPUTS = ("none", "belief", "truth")
AUXILIARIES = ("none", "features", "chemistry")
_NOTHING = float("nan")
# (input, auxiliary): score of Table 1 or NaN, and what the paper says of Figures 4 and 9.
PAPER: dict[tuple[str, str], tuple[float, str]] = {
    ("none", "none"): (155.4, "as the random heuristic"),
    ("belief", "none"): (_NOTHING, "not quite as high as with the truth, much higher than without"),
    ("truth", "none"): (_NOTHING, "very near the ideal observer"),
    ("none", "features"): (_NOTHING, "approached the ideal observer"),
    ("none", "chemistry"): (_NOTHING, "less than features; slower, and seeds vary more"),
}
BUDGET = "2e10 steps a run: 460 TPUv2 core-hours and 1.4 million CPU core-hours an experiment; 5 to 8 runs a condition"
# Number of an evaluation: the figure that shows it.
QUANTITIES = {
    "episode score": "Figure 4",
    "score, trial 1": "Figure 4",
    "score, last trial": "Figure 4",
    "potions in trial 1": "Figure 5 a",
    "potions in the last trial less trial 1": "Figure 5 b",
    "entropy after trial 1": "Figure 5 c",
    "entropy after the episode": "Figure 5 d",
    "no effect, trial 1": "Figure 10",
    "no effect, last trial": "Figure 10",
}


@dataclass(frozen=True)
class Condition:
    """One bar of Figure 4.

    Attributes:
        input: extra input, one of `INPUTS`.
        auxiliary: what is predicted besides, one of `AUXILIARIES`.
    """

    input: str
    auxiliary: str

    @property
    def name(self) -> str:
        """For tables and folders."""
        return f"{self.input}-{self.auxiliary}"

    @property
    def text(self) -> str:
        """For people."""
        return f"input {self.input}, predicts {'nothing' if self.auxiliary == 'none' else self.auxiliary}"


@dataclass(frozen=True)
class Settings:
    """What is run.

    Attributes:
        seconds: budget of a run, compilation not counted; None where `steps` is given.
        seeds: of each condition.
        core, interface: of the agents, see `presets.alchemy`.
        inputs, auxiliaries: conditions are all pairs.
        preset: whose algorithm and sizes are taken.
        steps: budget in environment steps instead.
    """

    seconds: float | None = 180.0
    seeds: tuple[int, ...] = (0, 1, 2)
    core: str = "slots"
    interface: str = "benchmark"
    inputs: tuple[str, ...] = INPUTS
    auxiliaries: tuple[str, ...] = AUXILIARIES
    preset: str = "cpu"
    steps: int | None = None

    def __post_init__(self) -> None:
        require(len(self.seeds) > 0 and len(set(self.seeds)) == len(self.seeds), "seeds", self.seeds, "one or more different numbers")
        for seed in self.seeds:
            require_integer("seeds", seed, 0, 2**32 - 1)
        for name, given, known in (("inputs", self.inputs, INPUTS), ("auxiliaries", self.auxiliaries, AUXILIARIES)):
            good = len(given) > 0 and len(set(given)) == len(given) and set(given) <= set(known)
            require(good, name, " ".join(given) or "none", f"some of {', '.join(known)}, each once")
        require((self.seconds is None) != (self.steps is None), "seconds", self.seconds, "a budget in seconds or in steps, not both")
        self.config(Condition("none", "none"))

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """All pairs, in the order of Figure 4."""
        return tuple(Condition(i, a) for a in self.auxiliaries for i in self.inputs)

    def config(self, condition: Condition) -> TrainConfig:
        """What a run of a condition learns.

        Raises:
            InputError: an unknown preset, core or interface.
        """
        return presets.alchemy(
            self.preset,
            core=self.core,
            interface=self.interface,
            extra_input=condition.input,
            auxiliary=() if condition.auxiliary == "none" else (condition.auxiliary,),
            seconds=self.seconds,
            steps=self.steps,
        )


@dataclass(frozen=True, kw_only=True)
class Row(PaperRow):
    """One number of one condition: mean over seeds.

    Attributes:
        condition: which.
        error: standard error of the mean over seeds; NaN for one seed.
        seeds: the number of every seed.
        words: what the paper says where it gives no number.
    """

    condition: str
    error: float
    seeds: tuple[float, ...]
    words: str


@dataclass(frozen=True)
class Study:
    """Everything that was run: settings, and the outcomes of each condition's seeds."""

    settings: Settings
    outcomes: dict[Condition, tuple[Outcome, ...]]

    @property
    def rows(self) -> tuple[Row, ...]:
        """All numbers of all conditions."""
        return tuple(_rows(self))

    @property
    def budget(self) -> str:
        """What a run was given here."""
        runs = [o for some in self.outcomes.values() for o in some]
        steps, seconds = (sum(x) / len(runs) for x in zip(*((o.steps, o.seconds) for o in runs), strict=True))
        return f"{steps:.3g} steps and {seconds:.0f} s a run on average; {len(self.settings.seeds)} runs a condition, {len(runs)} in all"


def run(
    settings: Settings,
    episodes: Episodes,
    *,
    folder: Path | None = None,
    devices: Callable[[TrainConfig], Any] = lambda config: None,
    report: Callable[[Condition, int, dict[str, Any]], None] | None = None,
    say: Callable[[str], None] | None = None,
) -> Study:
    """Run what has not been run yet.

    Args:
        settings: what to run.
        episodes: what is played afterwards.
        folder: a sub-folder is made for each run; a run that has finished there is read, one that was stopped goes on.
        devices: which of them share the environments of a configuration.
        report: called with condition, seed and every line of a run's logbook.
        say: called with a sentence where a run begins, ends or was kept.
    """
    say = say or (lambda text: None)
    outcomes: dict[Condition, list[Outcome]] = {condition: [] for condition in settings.conditions}
    order = list(_order(settings))
    for number, (condition, seed) in enumerate(order):
        config = settings.config(condition)
        mine = None if folder is None else folder / condition.name / f"seed-{seed}"
        say(f"run {number + 1} of {len(order)}: {condition.text}, seed {seed}")

        def tell(line: dict[str, Any], condition: Condition = condition, seed: int = seed) -> None:
            if report is not None:
                report(condition, seed, line)

        found = training_runs.run(config, seed, episodes, folder=mine, devices=devices(config), report=tell, say=say)
        outcomes[condition].append(found)
    return Study(settings, {condition: tuple(some) for condition, some in outcomes.items()})


def _order(settings: Settings) -> Iterator[tuple[Condition, int]]:
    """Seed by seed, so that a study that was stopped has something of every condition."""
    for seed in settings.seeds:
        for condition in settings.conditions:
            yield condition, seed


def _rows(study: Study) -> Iterator[Row]:
    for condition, outcomes in study.outcomes.items():
        paper, words = PAPER.get((condition.input, condition.auxiliary), (_NOTHING, ""))
        for quantity, table in QUANTITIES.items():
            values = tuple(o.sampled[quantity].mean for o in outcomes)
            mean = over_seeds(values)
            score = quantity == "episode score"
            yield Row(
                table=table,
                quantity=quantity,
                condition=condition.name,
                paper=paper if score else _NOTHING,
                here=mean.mean,
                inside=None,  # other agents at another budget: nothing to agree with
                error=mean.error,
                seeds=values,
                words=words if score else "",
            )


def published(episodes: Episodes, events: Mapping[str, Any]) -> tuple[dict[str, dict[str, float]], list[float]]:
    """Numbers of published agents on the same episodes, for reference lines, and the ideal observer's mean score of each trial.

    The published baseline acts in the 3D world with symbolic observations; of the symbolic one no log was published.
    """
    names = {"ideal_observer": "ideal observer", "baseline": "V-MPO, 3D"}
    found = {name: reference_agents.evaluate(episodes, logs.published(events, name).of(episodes.numbers), models=False) for name in names}
    numbers = {text: {q: n.mean for q, n in reference_agents.numbers(found[name]).items()} for name, text in names.items()}
    return numbers, found["ideal_observer"]["score"].values.mean(0).tolist()
