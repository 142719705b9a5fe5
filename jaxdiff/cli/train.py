"""`jaxdiff train`: a meta-RL agent, from a preset to scores on the published episodes."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from jaxdiff.cli import console
from jaxdiff.core.errors import InputError, require, require_integer

if TYPE_CHECKING:
    from jaxdiff.agents.config import TrainConfig
    from jaxdiff.agents.learner import Trained
    from jaxdiff.studies.reference_agents import Episodes
    from jaxdiff.studies.trained_agents import Evaluated

_TOLD = 10.0  # seconds between lines of progress
_HELD_OUT_SEED = 1_000_003  # of episodes that are played while the agent learns


@dataclass(frozen=True)
class Train:
    """Train agents with memory on symbolic Alchemy, and say what they have learned.

    Presets: smoke (seconds), cpu (10 minutes), hour, gpu (15 minutes), and the published configurations paper-vmpo and paper-impala. The
    core decides most: `slots` keeps one recurrent memory per potion colour, all with the same weights; `gru` is a flat one. Learning rates
    fall over the budget, so compare runs of equal budgets only. A run that was killed goes on when the same command is given again.

    Try:
        jaxdiff train alchemy --preset smoke --out runs/smoke
        jaxdiff train alchemy --preset cpu --seeds 0 1 2 --out runs/cpu
        jaxdiff train alchemy --preset cpu --core gru --out runs/flat
        jaxdiff train alchemy --preset cpu --auxiliary corners --seconds 120 --out runs/corners
        jaxdiff evaluate alchemy --agent runs/cpu/seed-0 --greedy
        jaxdiff evaluate alchemy --agent ideal_observer --episodes 500 --seed 7 --out teacher
        jaxdiff train alchemy --preset cpu --teacher teacher/log.npz --kickstart 1 --out runs/kickstarted
    """

    world: tyro.conf.Positional[Literal["alchemy"]] = "alchemy"
    """Which world."""
    preset: str = "cpu"
    """smoke, cpu, hour, gpu, paper-vmpo or paper-impala."""
    core: str | None = None
    """slots, gru, lstm or gtrxl; the preset's if not given. Flat cores get 128 units."""
    algorithm: str | None = None
    """ppo, vmpo or impala; the preset's if not given."""
    auxiliary: tuple[str, ...] = ()
    """Predicted besides, from hidden truth, in training only: features, chemistry, corners (from which corners each colour moves)."""
    auxiliary_weight: float | None = None
    """Scale of those losses relative to the paper's weights; 0.1 if not given, 1 in the published configurations."""
    input: str = "none"
    """Privileged extra input, for diagnosis: none, truth, belief (the benchmark's vector) or marginals (exact)."""
    interface: str = "benchmark"
    """benchmark: 39 numbers and 40 actions; types: 22 actions, by colour."""
    rotation: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Chemistries with rotations."""
    seeds: tuple[int, ...] = (0,)
    """One run for each."""
    seconds: float | None = None
    """Seconds of training instead of the preset's budget; compilation is not counted."""
    steps: int | None = None
    """Environment steps instead: such runs are the same bit for bit, however often they are interrupted."""
    environments: int | None = None
    """Environments played at once; a multiple of devices x minibatches."""
    teacher: str | None = None
    """A log to learn from, of other episodes than are played afterwards: log.npz or play.npz, as jaxdiff evaluate writes them, or
    FILE.npz:AGENT with a log of the published episodes."""
    kickstart: float | None = None
    """Weight of the loss that pulls towards the teacher's actions; it falls to 0 over the first half of the budget. 1 if not given."""
    imitate: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Learn from the teacher's actions alone, without reward."""
    devices: int | None = None
    """Devices that share them; if not given, all accelerators, or as many virtual CPU devices as there are cores."""
    episodes: str = "published"
    """What is played afterwards: published, published:N, a number of fresh episodes, or 0 for none."""
    evaluate_minutes: float = 1.0
    """After every so many minutes of training the policy of the moment plays held-out episodes, sampled; 0: never. The learning is
    the same with it or without, and its time is not counted."""
    evaluate_updates: int | None = None
    """The same after every so many updates, instead."""
    held_out: int = 100
    """How many held-out episodes."""
    data: Path | None = None
    """Folder of the published episodes; that of the checkout if not given."""
    out: Path | None = None
    """Folder of the runs, one sub-folder a seed: checkpoints, metrics.jsonl, TensorBoard files, policy. Nothing is kept if not given."""
    wandb: str | None = None
    """A Weights & Biases project to log to as well (pip install wandb)."""
    json: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Print the results as one line of JSON, last; all other text goes to standard error."""

    def run(self) -> int:
        """Do it; returns the exit code."""
        require(len(self.seeds) > 0 and len(set(self.seeds)) == len(self.seeds), "seeds", self.seeds, "one or more different numbers")
        for seed in self.seeds:
            require_integer("seeds", seed, 0, 2**32 - 1)
        alone = (("kickstart", self.kickstart is not None), ("imitate", self.imitate))
        for name, asked in alone:
            require(self.teacher is not None or not asked, name, getattr(self, name), "only with a teacher")
        require(not self.imitate or self.kickstart is None, "kickstart", self.kickstart, "nothing with imitate: there is no other loss")
        needs_extra()
        found = console.devices(self.devices)
        from jaxdiff.agents import learner, presets
        from jaxdiff.agents.config import TeacherConfig

        config = presets.alchemy(
            self.preset,
            core=self.core,
            algorithm=self.algorithm,
            auxiliary=self.auxiliary,
            auxiliary_weight=self.auxiliary_weight,
            extra_input=self.input,
            interface=self.interface,
            rotation=self.rotation,
            seconds=self.seconds,
            steps=self.steps,
            environments=self.environments,
        )
        episodes = self._episodes()
        lesson = None
        if self.teacher is not None:
            from jaxdiff.studies import teachers

            lesson = teachers.lesson(config.world, self.teacher, episodes, self.data)
            given = TeacherConfig(lesson.digest, 1.0 if self.kickstart is None else self.kickstart, imitate=self.imitate)
            config = dataclasses.replace(config, teacher=given)
        asked = self._evaluation()
        shared = learner.sharing(config, found, fewer=self.devices is None)
        folder = console.output_folder(self.out)
        screen = console.console(self.json)
        results: list[dict[str, Any]] = []
        for seed in self.seeds:
            mine = None if folder is None else folder / f"seed-{seed}"
            run = learner.Run(seed=seed, folder=mine, devices=shared, report_seconds=_TOLD, wandb=self.wandb, lesson=lesson, **asked)
            with divergence():
                done = learner.train(config, run, report=partial(tell, f"seed {seed}"), say=say)
            results.append(self._result(seed, done, episodes))
        screen.print(_table(config, results))
        if folder is not None:
            for seed in self.seeds:
                screen.print(f"policy: {folder / f'seed-{seed}' / 'policy'}", soft_wrap=True)
        if self.json:
            console.print_json({"preset": self.preset, "runs": [{k: v for k, v in r.items() if k != "evaluated"} for r in results]})
        return 0

    def _episodes(self) -> Episodes | None:
        """What is played afterwards."""
        from jaxdiff.studies import reference_agents

        kind, _, count = self.episodes.partition(":")
        number = count or "1000" if kind == "published" else kind
        require(number.isascii() and number.isdecimal(), "episodes", self.episodes, "published, published:N or a number")
        if kind != "published":
            return reference_agents.drawn(int(number), 1, self.rotation) if int(number) else None
        if self.rotation:
            return reference_agents.drawn(int(number), 1, True)  # the published ones have none
        return reference_agents.published(reference_agents.data_folder(self.data), int(number))[0]

    def _evaluation(self) -> dict[str, Any]:
        """What is evaluated during training, and when."""
        from jaxdiff.studies import reference_agents, trained_agents

        require(self.evaluate_minutes >= 0, "evaluate_minutes", self.evaluate_minutes, "a number of minutes, 0 for never")
        require_integer("held_out", self.held_out, 1)
        if self.evaluate_updates is None and self.evaluate_minutes == 0:
            return {}
        episodes = reference_agents.drawn(self.held_out, _HELD_OUT_SEED, self.rotation)
        when = {"evaluate_updates": self.evaluate_updates}
        if self.evaluate_updates is None:
            when = {"evaluate_seconds": 60 * self.evaluate_minutes}
        return {"evaluate": trained_agents.held_out(episodes), **when}

    def _result(self, seed: int, done: Trained, episodes: Episodes | None) -> dict[str, Any]:
        """Numbers of a run, and of what it does on episodes, sampled and greedy."""
        from jaxdiff.agents.policy import Policy
        from jaxdiff.studies import trained_agents

        line = done.lines[-1] if done.lines else {}
        rate = done.counters.steps / max(done.counters.seconds, 1e-9)
        facts = {
            "seed": seed,
            "steps": done.counters.steps,
            "seconds": done.counters.seconds,
            "steps_per_second": rate,
            "compile_seconds": done.compile_seconds,
            "training_score": line.get("score"),
        }
        if episodes is None:
            return {**facts, "evaluated": {}}
        import jax

        policy = Policy(done.config, jax.device_get(done.parameters))
        evaluated = {how: trained_agents.evaluate(policy, episodes, seed=seed, greedy=how == "greedy") for how in ("sampled", "greedy")}
        for how, found in evaluated.items():
            facts[how] = {name: [n.mean, n.error] for name, n in found.numbers.items()}
            facts[how] |= {"no effect": found.nothing, "policy entropy": found.policy_entropy}
        return {**facts, "evaluated": evaluated}


def tell(whose: str, line: dict[str, Any]) -> None:
    """A line of progress on standard error."""
    trials = line.get("trial_scores") or []
    within = f" (trial 1: {trials[0]:.1f}, last: {trials[-1]:.1f})" if trials and trials[0] is not None else ""
    score = console.number(float("nan") if line["score"] is None else line["score"], 1)
    held = line.get("held_out_score")
    if held is not None:
        within += f", held out {held:.1f} (trial 1: {line['held_out_first']:.1f}, last: {line['held_out_last']:.1f})"
    rate, left = f"{line['steps_per_second']:,.0f} steps/s", console.duration(line["seconds_left"])
    say(f"{whose}, {100 * line['spent']:.0f} %: score {score}{within}, {line['steps']:,} steps, {rate}, {left} left")


def say(text: str) -> None:
    """A sentence on standard error."""
    print(f"jaxdiff: {text}", file=sys.stderr, flush=True)


@contextmanager
def divergence() -> Iterator[None]:
    """A loss that was not a number, as one sentence."""
    from jaxdiff.agents import learner

    try:
        yield
    except learner.DivergedError as error:
        raise InputError(
            "train", str(error), "a configuration that does not diverge (another --preset or --algorithm, a lower --auxiliary-weight)"
        ) from error


def needs_extra() -> None:
    """Refuse to go on without the extra `agents`."""
    try:
        import flax  # noqa: F401
        import optax  # noqa: F401
        import orbax.checkpoint  # noqa: F401
    except ImportError as error:
        raise InputError("train", f"without {error.name}", "after pip install 'jaxdiff[agents]'") from error


def _table(config: TrainConfig, results: list[dict[str, Any]]) -> object:
    from jaxdiff.studies import trained_agents

    columns = ["", "score", "s.e.", "trial 1", "last trial", "potions 1", "no effect", "steps", "steps/s"]
    rows = []
    for result in results:
        speed = [f"{result['steps']:,}", f"{result['steps_per_second']:,.0f}"]
        evaluated: dict[str, Evaluated] = result["evaluated"]
        if not evaluated:
            score = result["training_score"]
            rows.append(
                [f"seed {result['seed']}, last updates", console.number(float("nan") if score is None else score), *"-----", *speed]
            )
        for how, found in evaluated.items():
            n = found.numbers
            score, potions = n["episode score"], n["potions in trial 1"].mean
            trials = [console.number(n[name].mean) for name in ("score, trial 1", "score, last trial")]
            nothing = f"{100 * found.nothing:.1f} %"
            cells = [console.number(score.mean), console.number(score.error), *trials, console.number(potions), nothing]
            rows.append([f"seed {result['seed']}, {how}", *cells, *speed])
    if any(result["evaluated"] for result in results):
        rows += [[name, console.number(n.mean), console.number(n.error), *"------"] for name, n in trained_agents.REFERENCE.items()]
    world = "39 numbers, 40 actions" if not dict(config.world.options).get("typed_actions") else "22 actions by colour"
    extra = f", predicting {', '.join(config.auxiliary)}" if config.auxiliary else ""
    if config.teacher is not None:
        extra += ", imitating a teacher" if config.teacher.imitate else f", kickstarted with weight {config.teacher.weight:g}"
    seen = dict(config.world.options).get("see")
    extra += f", shown {seen}" if seen else ""
    return console.table(f"{config.network.core} with {config.algorithm.name} on Alchemy ({world}{extra})", columns, rows)
