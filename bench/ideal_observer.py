"""Claims about Alchemy's reference agents: starts, seconds and memory, and whether they reproduce the published ones.

    python bench/ideal_observer.py [EPISODES] [DATA]

Needs the extra `planner`. DATA is the folder of the published episodes (tests/data/alchemy). Starts are measured in processes of their own,
the first of them with an empty cache folder. Every published decision that is not optimal is printed with what it loses.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import harness
import numpy as np
from harness import Table, timed

from jaxdiff.alchemy import comparison, heuristics, ideal_observer, logs, oracle
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


def along(mode: str, episodes: study.Episodes, events: Any) -> tuple[list[tuple[int, int, float, float]], int, float]:
    """Lost decisions (episode, trial, step, points) of the published observer, decisions in all, and the slowest trial's seconds."""
    log, truths = logs.published(events, "ideal_observer"), episodes.truths()

    def one(planner: ideal_observer.Planner, e: int) -> tuple[list[Any], int, float]:
        lost, count, slowest = [], 0, 0.0
        for trial in logs.replay(truths[e], episodes.stones[e], episodes.potions[e], log.stone[e], log.potion[e], where=f"episode {e}"):
            planner.new_trial(trial.sight)
            begin = time.perf_counter()
            planner.value(trial.knowledge, trial.sight)
            slowest = max(slowest, time.perf_counter() - begin)
            uses = [d for d in trial.decisions if d.potion != logs.CAULDRON]
            taken = [(d.knowledge, d.sight, ideal_observer.Action(d.stone, d.colour)) for d in uses]
            first = next((d for d in trial.decisions if d.potion == logs.CAULDRON), None)
            end = (first.knowledge, first.sight) if first else (trial.knowledge_after, trial.sight_after)
            for step, (knowledge, sight, action) in enumerate([*taken, (*end, ideal_observer.STOP)]):
                loss = planner.value(knowledge, sight).reward - planner.use_value(knowledge, sight, action).reward
                count += 1
                if loss > _NONE:
                    lost.append((e, trial.number, step, loss))
        return lost, count, slowest

    done = ideal_observer.in_threads(one, range(len(truths)), mode, None)
    return [row for lost, _, _ in done for row in lost], sum(n for _, n, _ in done), max(s for *_, s in done)


def exact(episodes: study.Episodes, events: Any, stored: Any) -> Table:
    """Playing, and the published observer's values and decisions, on all cores."""
    table = Table("Ideal observer", ("what", "episodes", "seconds", "peak GiB", "result"))

    def row(what: str, count: int, begin: float, result: str) -> None:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        table.add(what=what, episodes=count, seconds=time.perf_counter() - begin, result=result, **{"peak GiB": peak})

    begin = time.perf_counter()
    scores = np.asarray(ideal_observer.play(episodes.chemistry, episodes.stones, episodes.potions).scores).sum(1)
    theirs = events["ideal_observer/trial_score"][: len(scores)].sum(1)
    difference = scores - theirs
    error = difference.std() / len(scores) ** 0.5
    row("play", len(scores), begin, f"{scores.mean():.2f}; published {theirs.mean():.2f}; paired {difference.mean():+.2f} ± {error:.2f}")

    numbers = stored["episode"][stored["episode"] < len(scores)]
    begin = time.perf_counter()
    chemistries = dict(zip(logs.EPISODE_ARRAYS, (*vars(episodes.chemistry).values(), episodes.stones, episodes.potions), strict=True))
    values = ideal_observer.root_values_along(chemistries, events, numbers)  # pyright: ignore[reportArgumentType]
    row("root values", len(numbers), begin, f"worst error {np.abs(values - stored['expected_trial_value'][: len(numbers)]).max():.1e}")

    part = study.Episodes(*(_first(a, 60) for a in (episodes.chemistry, episodes.stones, episodes.potions, episodes.numbers)))
    for mode, some in (("exact", episodes), ("as_published", part)):
        begin = time.perf_counter()
        lost, count, slowest = along(mode, some, events)
        for e, t, step, loss in lost:
            print(f"  {mode}: episode {e}, trial {t}, step {step} loses {loss:.4f}")
        share = 100 * (1 - len(lost) / count)
        row(
            f"decisions, {mode}",
            len(some.numbers),
            begin,
            f"{count - len(lost)} of {count} optimal ({share:.2f} %), slowest trial {slowest:.1f} s",
        )
    return table


def _first(value: Any, count: int) -> Any:
    import jax

    return jax.tree.map(lambda a: a[:count], value)


def main(count: int, folder: Path) -> None:
    """Print and write the tables."""
    about = harness.say_machine()
    episodes, events = study.published(study.data_folder(folder), count)
    with np.load(folder / "ideal_observer_values.npz") as file:
        stored = {name: file[name] for name in file.files}
    harness.write("ideal_observer", about, [starts(), quick(episodes, events), exact(episodes, events, stored)])


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000, Path(sys.argv[2]) if len(sys.argv) > 2 else harness.ROOT / "tests/data/alchemy")
