"""Claims about Alchemy's reference agents: starts, seconds and memory, and whether they reproduce the published ones.

    python bench/ideal_observer.py [--episodes 1000] [--keep parts.jsonl]

Needs the extra `planner`. Starts are measured in processes of their own,
the first of them with an empty cache folder. Every published decision that is not optimal is printed with what it loses.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import harness
import numpy as np
from harness import Table, timed

from jaxdiff.alchemy import comparison, heuristics, ideal_observer, logs, oracle
from jaxdiff.alchemy.situations import Truth, nothing_known, see_stones
from jaxdiff.studies import reference_agents as study

START = (
    "import time; t = time.perf_counter()\n"
    "from jaxdiff.alchemy import ideal_observer as io, planner\n"
    "from jaxdiff.alchemy.situations import Truth, nothing_known, see_stones\n"
    "import numpy as np\n"
    "s = Truth(0, 0, 0).sight(np.array([0, 1, 2]), np.array([0, 1] + [-1] * 10)); k = see_stones(nothing_known(), s)\n"
    "p = io.Planner(); p.act(k, s); p.use_value(k, s, io.Action(0, int(s.colours[0])))\n"
    "print(time.perf_counter() - t)\n"
)
_NONE = 1e-9
_PART = 50  # episodes
_AS_PUBLISHED = 60  # episodes; that mode knows no symmetries and takes several times as long and as much memory


def starts() -> Table:
    """First start with empty caches (tables and compilation) and a later one."""
    table = Table("Start of the ideal observer", ("start", "seconds"))
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "JAXDIFF_CACHE": folder, "NUMBA_CACHE_DIR": folder, "PYTHONPATH": str(harness.ROOT)}
        for name in ("first", "later", "later"):
            done = subprocess.run([sys.executable, "-c", START], check=True, capture_output=True, text=True, env=environment)
            table.add(start=name, seconds=float(done.stdout))
    return table


def quick(episodes: study.Episodes, events: Any) -> Table:
    """The agents that are a few look-ups, and Figure 3's likelihoods."""
    given = (episodes.chemistry, episodes.stones, episodes.potions)
    table = Table("Other agents, all published episodes", ("what", "seconds", "slowest", "result"))
    optimum = events["oracle_optimal_trial_score"]
    timing = timed(lambda: oracle.play(*given).scores, 3)
    same = int((np.asarray(oracle.play(*given).scores) == optimum[: len(episodes.numbers)]).sum())
    table.add(
        what="oracle", seconds=timing.median, slowest=timing.slowest, result=f"{same} of {10 * len(episodes.numbers)} trial scores equal"
    )
    for agent in (heuristics.random_heuristic, heuristics.random_action_bot, heuristics.uniform):
        timing = timed(lambda agent=agent: agent.play(*given).scores, 5)
        scores = np.asarray(agent.play(*given).scores).sum(1)
        result = f"{scores.mean():.2f} ± {scores.std() / len(scores) ** 0.5:.2f}"
        table.add(what=agent.name, seconds=timing.median, slowest=timing.slowest, result=result)
    for name in ("ideal_observer", "baseline"):
        begin = time.perf_counter()
        fits = comparison.compare(*given, logs.published(events, name).of(episodes.numbers))
        ahead = {
            kind: float((getattr(fits["paired"], kind) - getattr(fits["unpaired"], kind)).mean()) for kind in ("log_likelihood", "sharp")
        }
        result = f"paired ahead by {ahead['log_likelihood']:.3f} nats (fitted), {ahead['sharp']:.3f} (at the observer's temperature)"
        seconds = time.perf_counter() - begin
        table.add(what=f"Figure 3, {name}", seconds=seconds, slowest=seconds, result=result)
    return table


class Parts:
    """Results of parts of the published episodes, kept in a file of JSON lines, so that a run that was stopped goes on."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.lines = [json.loads(line) for line in path.read_text().splitlines()] if path is not None and path.exists() else []

    def get(self, what: str, low: int, high: int, make: Callable[[range], dict[str, Any]]) -> dict[str, Any]:
        """A part's result, made now unless it is there already, with its seconds and the highest memory use so far."""
        for line in self.lines:
            if (line["what"], line["low"], line["high"]) == (what, low, high):
                return line
        begin, cpu = time.perf_counter(), time.process_time()
        made = make(range(low, high))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        spent = {"seconds": time.perf_counter() - begin, "cpu": time.process_time() - cpu, "peak": peak}
        line = {"what": what, "low": low, "high": high, **spent, **made}
        self.lines.append(line)
        print(f"  {what}: episodes {low} to {high - 1}, {line['seconds']:.0f} s, {peak:.2f} GiB", flush=True)
        if self.path is not None:
            with self.path.open("a") as file:
                file.write(json.dumps(line) + "\n")
        return line


def along(planner: ideal_observer.Planner, episodes: study.Episodes, log: logs.Log, e: int) -> dict[str, Any]:
    """One episode of the published observer: expected trial values, the slowest trial's CPU seconds, decisions, and those that lose."""
    truth = episodes.truths()[e]
    values, lost, count, slowest = [], [], 0, 0.0
    for trial in logs.replay(truth, episodes.stones[e], episodes.potions[e], log, e, where=f"episode {e}"):
        planner.new_trial(trial.sight)
        begin = time.thread_time()
        values.append(planner.value(trial.knowledge, trial.sight).reward)
        slowest = max(slowest, time.thread_time() - begin)
        uses = [d for d in trial.decisions if d.potion != logs.CAULDRON]
        taken = [(d.knowledge, d.sight, ideal_observer.Action(d.stone, d.colour)) for d in uses]
        first = next((d for d in trial.decisions if d.potion == logs.CAULDRON), None)
        end = (first.knowledge, first.sight) if first else (trial.knowledge_after, trial.sight_after)
        for step, (knowledge, sight, action) in enumerate([*taken, (*end, ideal_observer.STOP)]):
            loss = planner.value(knowledge, sight).reward - planner.use_value(knowledge, sight, action).reward
            count += 1
            if loss > _NONE:
                lost.append([e, trial.number, step, loss])
    return {"values": values, "slowest": slowest, "decisions": count, "lost": lost}


def played(episodes: study.Episodes, part: range) -> dict[str, Any]:
    """Scores of the ideal observer's own play."""
    some = _part(episodes, slice(part.start, part.stop))
    return {"scores": np.asarray(ideal_observer.play(some.chemistry, some.stones, some.potions).scores).sum(1).tolist()}


def replayed(episodes: study.Episodes, log: logs.Log, mode: str, workers: int | None, part: range) -> dict[str, Any]:
    """The published observer's episodes, see `along`."""
    return {"episodes": ideal_observer.in_threads(lambda planner, e: along(planner, episodes, log, e), part, mode, workers)}


def warm() -> None:
    """Compile, or load what is compiled: starts have a table of their own."""
    sight = Truth(0, 0, 0).sight(np.array([0, 1, 2]), np.array([0, 1] + [-1] * 10))
    planner, knowledge = ideal_observer.Planner(), see_stones(nothing_known(), sight)
    planner.use_value(knowledge, sight, planner.act(knowledge, sight))


def exact(episodes: study.Episodes, events: Any, stored: Any, parts: Parts) -> tuple[Table, dict[str, list[Any]]]:
    """Playing, and the published observer's values and decisions, on all cores; and its decisions that lose: where, and how much."""
    warm()
    exceptions = {}
    table = Table("Ideal observer", ("what", "episodes", "seconds", "peak GiB", "result"))
    count, log = len(episodes.numbers), logs.published(events, "ideal_observer")

    def row(what: str, lines: list[dict[str, Any]], result: str) -> None:
        seconds, peak = sum(line["seconds"] for line in lines), max(line["peak"] for line in lines)
        table.add(what=what, episodes=lines[-1]["high"], seconds=seconds, result=result, **{"peak GiB": peak})

    lines = [parts.get("play", low, min(low + _PART, count), partial(played, episodes)) for low in range(0, count, _PART)]
    scores = np.concatenate([line["scores"] for line in lines])
    theirs = events["ideal_observer/trial_score"][:count].sum(1)
    error = scores.std() / count**0.5
    difference = scores - theirs
    paired = f"{difference.mean():+.2f} ± {difference.std() / count**0.5:.2f}"
    row("play", lines, f"{scores.mean():.2f} ± {error:.2f}; published {theirs.mean():.2f}; paired difference {paired}")

    tasks = (("exact", count, _PART, None), ("as_published", min(count, _AS_PUBLISHED), 20, 1))
    for mode, last, size, workers in tasks:
        make = partial(replayed, episodes, log, mode, workers)
        lines = [parts.get(f"decisions, {mode}", low, min(low + size, last), make) for low in range(0, last, size)]
        each = [episode for line in lines for episode in line["episodes"]]
        lost = [row for episode in each for row in episode["lost"]]
        exceptions[mode] = lost
        for e, t, step, loss in lost:
            print(f"  {mode}: episode {e}, trial {t}, step {step} loses {loss:.4f}")
        decisions, slowest = sum(episode["decisions"] for episode in each), max(episode["slowest"] for episode in each)
        share = 100 * (1 - len(lost) / decisions)
        result = f"{decisions - len(lost)} of {decisions} optimal ({share:.2f} %), slowest trial {slowest:.1f} CPU s"
        if lost:
            result += f", largest loss {max(row[3] for row in lost):.2f}, {sum(row[3] for row in lost) / last:.4f} points an episode"
        row(f"decisions, {mode}", lines, result)
        if mode == "exact":
            numbers = stored["episode"][stored["episode"] < count]
            values = np.array([each[e]["values"] for e in numbers])
            worst = np.abs(values - stored["expected_trial_value"][: len(numbers)]).max()
            row("root values", lines, f"worst error {worst:.1e} in {len(numbers)} episodes with stored values")
    return table, exceptions


def _part(episodes: study.Episodes, part: slice) -> study.Episodes:
    import jax

    chemistry = jax.tree.map(lambda a: a[part], episodes.chemistry)
    return study.Episodes(chemistry, episodes.stones[part], episodes.potions[part], episodes.numbers[part])


def main(count: int, folder: Path, keep: Path | None) -> None:
    """Print and write the tables."""
    about = harness.say_machine()
    episodes, events = study.published(study.data_folder(folder), count)
    with np.load(folder / "ideal_observer_values.npz") as file:
        stored = {name: file[name] for name in file.files}
    first, others = starts(), quick(episodes, events)
    table, exceptions = exact(episodes, events, stored, Parts(keep))
    columns = ["episode", "trial", "step", "points lost"]
    harness.write("ideal_observer", about, [first, others, table], exceptions={"columns": columns, **exceptions})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description="Alchemy's reference agents: starts, seconds, memory, and whether they reproduce the published ones."
    )
    parser.add_argument("--episodes", type=int, default=1000, help="how many of the published episodes")
    parser.add_argument("--data", type=Path, default=harness.ROOT / "tests" / "data" / "alchemy", help="folder of the published episodes")
    parser.add_argument("--keep", type=Path, help="file in which parts are kept, so that a run that was stopped goes on")
    given = parser.parse_args()
    main(given.episodes, given.data, given.keep)
