"""`jaxdiff evaluate`: what an agent or a log does on Alchemy, and where it loses value."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from jaxdiff.cli import console
from jaxdiff.core.errors import require, require_integer

if TYPE_CHECKING:
    import xarray as xr

    from jaxdiff.alchemy.logs import Log
    from jaxdiff.studies.lost_points import LostPoints
    from jaxdiff.studies.reference_agents import Episodes


@dataclass(frozen=True)
class Evaluate:
    """Evaluate a reference agent, a trained agent or a log on symbolic Alchemy.

    Scores, potions, posterior entropy, kinds of actions, Figure 3's model comparison and, with --regret, where value is lost and to what.

    Try:
        jaxdiff evaluate alchemy --agent random_heuristic --episodes published --out results
        jaxdiff evaluate alchemy --agent ideal_observer --episodes 20 --rotation
        jaxdiff evaluate alchemy --agent tests/data/alchemy/published_agent_events.npz:baseline --episodes published --regret 20
        jaxdiff evaluate alchemy --agent runs/cpu/seed-0 --greedy --regret 20
    """

    world: tyro.conf.Positional[Literal["alchemy"]] = "alchemy"
    """Which world."""
    agent: str = "random_heuristic"
    """oracle, ideal_observer, random_heuristic, random_action_bot, uniform, lookahead_paired, lookahead_unpaired, the folder of a run
    of jaxdiff train, or a log: FILE.npz with arrays stone and potion, or FILE.npz:AGENT with AGENT/stone and AGENT/potion."""
    episodes: str | None = None
    """The word published, published:N for the first N of them, or a number of fresh episodes. If not given: those that the log's file
    has, as logs of jaxdiff do, or else published."""
    rotation: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Fresh episodes with rotations."""
    greedy: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """A trained agent takes its most likely actions, instead of drawing them."""
    regret: int = 0
    """For how many of the first episodes regret is computed, a second or two each."""
    seed: int = 0
    """Seed of everything random."""
    data: Path | None = None
    """Folder of the published episodes; that of the checkout if not given."""
    out: Path | None = None
    """Folder for the results file, the log and the figure; only the table is printed if not given."""
    json: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Print the numbers as one line of JSON, last; all other text goes to standard error."""

    def run(self) -> int:
        """Do it; returns the exit code."""
        from jaxdiff.studies import reference_agents as study
        from jaxdiff.studies.lost_points import lost_points

        require(self.regret >= 0, "regret", self.regret, "a number of episodes, 0 for none")
        require_integer("seed", self.seed, 0, 2**32 - 1)
        trained = self.agent not in study.AGENTS and Path(self.agent).is_dir()
        require(trained or not self.greedy, "greedy", True, "only with a trained agent")
        log, its = (None, None) if trained or self.agent in study.AGENTS else study.read_log(self.agent)
        episodes = its if its is not None and self.episodes is None else self._episodes()
        folder = console.output_folder(self.out)
        with console.progress() as report:
            if trained:
                log = self._trained(episodes)
            elif log is None:
                keep = None if folder is None else folder / "play.npz"
                log = study.play(self.agent, episodes, self.seed, self.rotation, report, keep)
            elif len(log.stone) > len(episodes.numbers):
                log = log.of(episodes.numbers)
            result = study.evaluate(episodes, log, rotation=self.rotation, regret_episodes=self.regret, report=report)
        screen = console.console(self.json)
        numbers = study.numbers(result)
        rows = [[name, console.number(n.mean), console.number(n.error)] for name, n in numbers.items()]
        rows += [[f"inverse temperature, {m}", console.number(float(result[f"{m}_beta"]), 3), "-"] for m in ("paired", "unpaired")]
        screen.print(console.table(f"{self.agent} on {len(episodes.numbers)} episodes", ["", "mean", "standard error"], rows))
        lost = lost_points(result) if self.regret else None
        if lost is not None:
            screen.print(_losses(lost))
            screen.print(lost.sentence, soft_wrap=True)
        for path in self._write(folder, result, log, episodes) if folder is not None else []:
            screen.print(f"wrote {path}", soft_wrap=True)
        if self.json:
            kinds = {} if lost is None else dict(zip(lost.kinds, lost.points.sum(0), strict=True))
            by_trial = {} if lost is None else dict(zip(lost.kinds, lost.points.T, strict=True))
            beta = {model: float(result[f"{model}_beta"]) for model in ("paired", "unpaired")}
            shown = {"agent": self.agent, "episodes": len(episodes.numbers), "numbers": {k: [n.mean, n.error] for k, n in numbers.items()}}
            console.print_json(
                {**shown, "inverse_temperature": beta, "regret": kinds, "regret_by_trial": by_trial, "answer": lost and lost.sentence}
            )
        return 0

    def _trained(self, episodes: Episodes) -> Log:
        """The log of a trained agent."""
        from jaxdiff.agents.policy import Policy
        from jaxdiff.studies import trained_agents

        return trained_agents.log_of(Policy.load(self.agent), episodes, seed=self.seed, greedy=self.greedy)[0]

    def _episodes(self) -> Episodes:
        from jaxdiff.studies import reference_agents as study

        kind, _, count = (self.episodes or "published").partition(":")
        number = count or "1000" if kind == "published" else kind
        require(number.isascii() and number.isdecimal(), "episodes", self.episodes, "published, published:N or a number")
        if kind != "published":
            return study.drawn(int(number), self.seed, self.rotation)
        require(not self.rotation, "rotation", True, "only with fresh episodes: the published ones have none")
        return study.published(study.data_folder(self.data), int(number))[0]

    def _write(self, folder: Path, result: xr.Dataset, log: Log, episodes: Episodes) -> list[Path]:
        from jaxdiff.plots import alchemy_agents
        from jaxdiff.studies.reference_agents import KIND, write_log
        from jaxdiff.sweep import labelled

        # A log that was given stays as it is, and is not written again.
        written = [] if ".npz" in self.agent else [write_log(folder / "log.npz", log, episodes, result["score"].values)]
        name = Path(self.agent.split(":")[0]).name if ".npz" in self.agent else self.agent
        figures = console.save_figures(
            folder, {"agent": alchemy_agents.agent(result, self.agent.split(":")[-1] if ":" in self.agent else name)}
        )
        return [labelled.save(result, folder / "evaluation", KIND), *written, *figures]


def _losses(lost: LostPoints) -> object:
    rows = [
        [what, *(console.number(p) for p in points), f"{100 * share:.0f} %" if share == share else ""] for what, points, share in lost.rows
    ]
    return console.table(f"points lost against the ideal observer, {lost.episodes} episodes", lost.columns, rows)
