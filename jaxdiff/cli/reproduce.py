"""`jaxdiff reproduce`: a paper's tables and figures, beside what the paper says."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from jaxdiff.cli import console
from jaxdiff.cli.measure import parse_rules
from jaxdiff.core.files import whole
from jaxdiff.studies.paper_rows import VERDICTS

if TYPE_CHECKING:
    from jaxdiff.studies.reproduction import Reproduction, Row


# What each study reads, beside what all do.
_USED = {
    "complexity-distribution": ("size", "populations"),
    "questions": ("populations", "rules", "policies", "steps", "climbers", "budget", "patience"),
    "society": ("sessions",),
    "alchemy": ("episodes", "rotated", "data"),
    "alchemy-agents": ("episodes", "data", "seconds", "seeds", "core", "interface"),
    "novelty": ("worlds", "levels", "agent_levels"),
    "random-weights": ("networks", "worlds"),
}


@dataclass(frozen=True)
class Reproduce:
    """Reproduce a paper: every table and figure, in three columns paper / here / difference.

    "complexity-distribution": the paper measured one population; here the median of many is compared with it, and the band that holds
    90 % of them is shown.

    "questions" are three that the same paper leaves open (sections 6.1 to 6.3), answered for all rules: does complexity of an automaton
    make a world hard, what does search guided by reward save, does difficulty depend on the interface?

    "society" is the paper on the influence of intelligence in social environments: its figures 2 to 6, what makes an environment hard
    with and without others, and the Darwin-Wallace distribution generation by generation. Intervals are 95 %.

    "alchemy" are the reference agents of another (Wang et al. 2021): Table 1 and figures 2, 3 and 10 on the published episodes, and the
    same on rotated ones. The ideal observer takes about a second an episode.

    "alchemy-agents" trains agents under the same paper's conditions (figures 4, 5, 9 and 10, symbolic): no extra input, belief or ground
    truth, by no auxiliary loss, prediction of features or of the chemistry, each with several seeds at one budget: 27 runs of three
    minutes if nothing else is asked for, and some 90 minutes in all on two cores.

    "novelty" is the paper on novelty reaction: its two tables in form, with novelties that are ours, on several worlds; and whether the
    distances tell what agents lose.

    "random-weights" is the study of untrained networks (Oller, Glasmachers and Cuccu 2020): six architectures in CartPole, MountainCar,
    Acrobot and Pendulum, and FrozenLake beside them, 20 episodes a network.

    A run of one of the last five with --out that was stopped goes on where it was.

    Try:
        jaxdiff reproduce complexity-distribution --size 1900 --out reproduction
        jaxdiff reproduce questions --out questions
        jaxdiff reproduce society --sessions 1000 --out society
        jaxdiff reproduce alchemy --episodes 100 --rotated 20 --out alchemy
        jaxdiff reproduce alchemy-agents --seconds 180 --seeds 0 1 2 --out agents
        jaxdiff reproduce novelty --worlds automata --out novelty
        jaxdiff reproduce random-weights --networks 1000 --out random_weights
    """

    study: tyro.conf.Positional[
        Literal["complexity-distribution", "questions", "society", "alchemy", "alchemy-agents", "novelty", "random-weights"]
    ] = "complexity-distribution"
    """Which paper, or the questions that the first leaves open."""
    size: int = 1900
    """Programs in a population: 1900 or 9500, the paper's two sizes (complexity-distribution)."""
    populations: int | None = None
    """Populations; the medians over them are compared. 20 if not given, 3 for questions."""
    rules: tuple[str, ...] = ("all",)
    """Rule numbers 0..255, or the word all (questions)."""
    policies: int = 1900
    """Programs in a population (questions)."""
    steps: int = 300
    """Steps per policy (questions)."""
    climbers: int = 16
    """Hill climbers for each rule and population (questions)."""
    budget: int = 4096
    """Trials after which a hill climber is given up (questions)."""
    patience: int = 32
    """Trials without a higher reward after which a hill climber starts again (questions)."""
    sessions: int = 1000
    """Sessions of every scenario; a quarter of them for each combination of rates in tuning, and for other readings (society)."""
    episodes: int = 1000
    """How many of the published episodes, 1..1000 (alchemy, alchemy-agents)."""
    rotated: int = 100
    """How many rotated episodes, 0 for none (alchemy)."""
    data: Path | None = None
    """Folder of the published episodes; that of the checkout if not given (alchemy, alchemy-agents)."""
    seconds: float = 180.0
    """Seconds of training of each run, compilation not counted (alchemy-agents)."""
    seeds: tuple[int, ...] = (0, 1, 2)
    """Runs of each condition, one for each seed (alchemy-agents)."""
    core: str = "slots"
    """Core of the agents: slots, gru, lstm or gtrxl (alchemy-agents)."""
    interface: str = "benchmark"
    """benchmark: 39 numbers and 40 actions; types: 22 actions, by colour (alchemy-agents)."""
    levels: int = 100
    """Levels on which distances are measured, with 5,000 random tries each (novelty)."""
    agent_levels: int = 1000
    """Levels on which agents are tested; as many others are trained on (novelty)."""
    networks: int = 10_000
    """Networks of each architecture (random-weights)."""
    worlds: tuple[str, ...] | None = None
    """Which worlds; all if not given: birds, automata, alchemy, society (novelty), or CartPole-v1, MountainCar-v0, Acrobot-v1,
    Pendulum-v1, FrozenLake-misc (random-weights)."""
    seed: int = 0
    """Seed of everything random (all but alchemy-agents)."""
    out: Path | None = None
    """Folder for rows, results files and figures; only the tables are printed if not given."""
    json: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Print all rows as one line of JSON, last; all other text goes to standard error."""

    def run(self) -> int:
        """Do it; returns the exit code."""
        seed = () if self.study == "alchemy-agents" else ("seed",)
        console.refuse_unused(self, ("study", "out", "json", *seed, *_USED[self.study]), f"for {self.study}")
        if self.study == "questions":
            return self._questions()
        if self.study == "society":
            return self._society()
        if self.study == "novelty":
            from jaxdiff.cli import reproduce_novelty
            from jaxdiff.studies.reaction.protocol import Settings as Protocol
            from jaxdiff.studies.reaction.worlds import DOMAINS

            settings = Protocol(self.levels, agent_levels=self.agent_levels, seed=self.seed)
            return reproduce_novelty.run(tuple(DOMAINS) if self.worlds is None else self.worlds, settings, self.out, self.json)
        if self.study == "alchemy":
            from jaxdiff.cli import reproduce_alchemy

            return reproduce_alchemy.run(self.episodes, self.rotated, self.seed, self.data, self.out, self.json)
        if self.study == "alchemy-agents":
            return self._agents()
        if self.study == "random-weights":
            from jaxdiff.cli import reproduce_random_weights
            from jaxdiff.studies import random_weights

            worlds = tuple(random_weights.WORLDS) if self.worlds is None else self.worlds
            return reproduce_random_weights.run(random_weights.Settings(self.networks, worlds=worlds, seed=self.seed), self.out, self.json)
        from jaxdiff.studies import reproduction

        populations = 20 if self.populations is None else self.populations
        folder = console.output_folder(self.out)
        with console.progress() as report:
            result = reproduction.reproduce(self.size, populations, self.seed, report)
        screen = console.console(self.json)
        for name in dict.fromkeys(row.table for row in result.rows):
            screen.print(_table(name, [row for row in result.rows if row.table == name]))
        judged = [row for row in result.rows if row.inside is not None]
        inside = sum(bool(row.inside) for row in judged)
        screen.print(f"{inside} of {len(judged)} judged rows are within tolerance; {len(result.rows) - len(judged)} rows are informational")
        for row in judged:
            if not row.inside:
                screen.print(
                    f"outside: {row.table}, rule {row.rule}, {row.quantity}: "
                    f"paper {row.paper:g}, here {row.here:.2f} [{row.low:.2f}, {row.high:.2f}]"
                )
        files = self._write(folder, result) if folder is not None else []
        for path in files:
            screen.print(f"wrote {path}", soft_wrap=True)
        if self.json:
            rows = [row.as_dict() for row in result.rows]
            console.print_json(
                {
                    "study": self.study,
                    "size": self.size,
                    "populations": populations,
                    "seed": self.seed,
                    "rows": rows,
                    "inside": inside,
                    "judged": len(judged),
                }
            )
        return 0

    def _questions(self) -> int:
        from jaxdiff.cli import questions
        from jaxdiff.studies.guided_search import Search
        from jaxdiff.studies.rule_difficulty import Settings

        populations = 3 if self.populations is None else self.populations
        settings = Settings(parse_rules(self.rules), self.policies, populations, self.steps, self.seed)
        return questions.show(settings, Search(self.climbers, self.budget, self.patience), self.out, self.json)

    def _agents(self) -> int:
        from jaxdiff.cli import reproduce_alchemy_agents, train

        train.needs_extra()
        from jaxdiff.studies.alchemy_agents import Settings

        settings = Settings(self.seconds, self.seeds, self.core, self.interface)
        return reproduce_alchemy_agents.run(settings, self.episodes, self.data, self.out, self.json)

    def _society(self) -> int:
        from jaxdiff.cli import reproduce_society
        from jaxdiff.studies.society import Settings

        quarter = self.sessions // 4
        settings = Settings(self.sessions, tune_sessions=max(8, quarter), other_sessions=max(8, quarter), seed=self.seed)
        return reproduce_society.run(settings, self.out, self.json)

    def _write(self, folder: Path, result: Reproduction) -> list[Path]:
        from jaxdiff.plots import paper
        from jaxdiff.studies import complexity_distribution
        from jaxdiff.sweep import labelled

        written = [labelled.save(dataset, folder / name, complexity_distribution.KIND) for name, dataset in result.datasets.items()]
        with whole(folder / "rows.json") as beside:
            beside.write_text(json.dumps([row.as_dict() for row in result.rows], indent=1) + "\n")
        data = result.datasets
        figures = paper.paper_figures(data["chained"], fresh=data["fresh"], larger=data["larger"])
        return [*written, folder / "rows.json", *console.save_figures(folder, figures)]


def _table(name: str, rows: list[Row]) -> object:
    columns = ["rule", "quantity", "reading", "paper", "here", "difference", "90 % band", "within"]
    cells = [
        [
            str(row.rule) if row.rule else "all",
            row.quantity,
            row.reading,
            f"{row.paper:g}",
            console.number(row.here),
            console.number(row.difference),
            f"{console.number(row.low)} .. {console.number(row.high)}",
            VERDICTS[row.inside],
        ]
        for row in rows
    ]
    return console.table(name, columns, cells)
