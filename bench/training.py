"""Claims about training: steps a second beside a rival, and what a preset reaches on the published episodes, seed by seed.

    python bench/training.py [--quick]                                            speed
    python bench/training.py --preset cpu --seeds 0 1 2 [--out ...] [--rows ...]  learning, resumed run by run; a table and curves

Speed: 64 environments x 200 steps x 2 epochs x 4 minibatches on one device and on as many virtual CPU devices as there are cores.
Learning: the rows are in `ROWS`; each seed is one run whose folder keeps its result, so that the same command goes on where it stopped
(results of the published runs are kept in `bench/results/runs`: what is there is shown and not run again).
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import harness
import jax
import numpy as np
from harness import Table

if TYPE_CHECKING:
    from jaxdiff.studies.training_runs import Outcome

CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
jax.config.update("jax_num_cpu_devices", CORES)
ROWS: dict[str, dict[str, Any]] = {
    "slots-types": {"interface": "types"},
    "slots-types-corners": {"interface": "types", "auxiliary": ("corners",)},
    "slots-types-chemistry": {"interface": "types", "auxiliary": ("chemistry",)},
    "slots-benchmark": {},
    "gru-benchmark": {"core": "gru"},
}


def speed(quick: bool) -> None:
    """Trained steps a second."""
    import purejaxrl_shape

    from jaxdiff.agents import learner, presets, update
    from jaxdiff.alchemy.world import Alchemy

    about = harness.say_machine()
    repeats = 3 if quick else 10
    table = Table("trained steps a second", ("what", "devices", "steps/s", "slowest", "compile s"))
    shares = (1, CORES) if CORES > 1 else (1,)
    cases: dict[str, dict[str, Any]] = {
        "flat GRU-128": {"core": "gru"},
        "slots": {},
        "slots, 22 actions by colour": {"interface": "types"},
    }
    for what, changes in cases.items():
        for share in shares:
            config = presets.alchemy("cpu", **changes)
            run = learner.Run(devices=jax.devices()[:share] if share > 1 else None)
            state, call, count, compiling = learner._ready(update.Program(config), run, config.environments, print, fixed=True)
            one = np.float32(0)
            took = harness.timed(lambda call=call, state=state, one=one: call(state, jax.numpy.asarray(one)), repeats)
            batch = count * config.steps
            row = {"steps/s": batch / took.median, "slowest": batch / took.slowest, "compile s": compiling}
            table.add(what=what, devices=share, **row)
    config = presets.alchemy("cpu", core="gru")
    rival, runner = purejaxrl_shape.make(
        Alchemy(), config.environments, config.steps, config.algorithm.epochs, config.algorithm.minibatches
    )
    call, compiling = harness.compiled(rival, (runner,))
    took = harness.timed(call, repeats)
    row = {"steps/s": config.batch / took.median, "slowest": config.batch / took.slowest, "compile s": compiling}
    table.add(what="rival: recurrent PPO in purejaxrl's shape, GRU-128", devices=1, **row)
    harness.write("training", about, [table])


def learning(preset: str, seeds: list[int], rows: list[str], out: Path, seconds: float | None, episodes: int) -> None:
    """What a preset reaches; every seed is shown."""
    from jaxdiff.plots import files
    from jaxdiff.plots import trained_agents as plots
    from jaxdiff.studies import alchemy_agents, reference_agents, trained_agents

    about = harness.say_machine()
    given, events = reference_agents.published(reference_agents.data_folder(None), episodes)
    outcomes: dict[str, list[Outcome]] = {}
    columns = ("row", "seed", "sampled", "s.e.", "greedy", "trial 1", "last trial", "steps", "seconds", "steps/s")
    table = Table(f"preset {preset}, {episodes} published episodes", columns)
    for name in rows:
        outcomes[name] = [one(preset, name, seed, out / name / f"seed-{seed}", seconds, given) for seed in seeds]
        found = [shown(outcome) for outcome in outcomes[name]]
        for row in found:
            table.add(row=name, **row)
        if len(found) > 1:
            table.add(row=f"{name}, mean", **{c: float(np.mean([r[c] for r in found])) for c in columns[2:]})
    harness.write(f"training-{preset}", about, [table])
    scores = {name.removesuffix(" (paper)").removesuffix(", symbolic"): n.mean for name, n in trained_agents.REFERENCE.items()}
    title = f"Preset {preset}, {len(seeds)} seeds: thin lines are seeds"
    figure = plots.compared(outcomes, scores, alchemy_agents.published(given, events)[1], title)
    print(f"wrote {files.save(figure, harness.RESULTS / f'training-{preset}.png')}")


def one(preset: str, name: str, seed: int, folder: Path, seconds: float | None, episodes: Any) -> Outcome:
    """One run, or its kept result."""
    from jaxdiff.agents import learner, presets
    from jaxdiff.studies import training_runs

    config = presets.alchemy(preset, seconds=seconds, **ROWS[name])
    begin = time.perf_counter()

    def tell(line: dict[str, Any]) -> None:
        if line["updates"] % 50 < 10:
            print(f"{name}, seed {seed}: {time.perf_counter() - begin:.0f} s, score {line['score']}", flush=True)

    devices = learner.sharing(config, jax.devices())
    return training_runs.run(config, seed, episodes, folder=folder, devices=devices, report=tell, say=print)


def shown(found: Outcome) -> dict[str, Any]:
    """A row of the table."""
    score = found.sampled["episode score"]
    return {
        "seed": found.seed,
        "sampled": score.mean,
        "s.e.": score.error,
        "greedy": found.greedy["episode score"].mean,
        "trial 1": found.sampled["score, trial 1"].mean,
        "last trial": found.sampled["score, last trial"].mean,
        "steps": found.steps,
        "seconds": found.seconds,
        "steps/s": found.steps_per_second,
    }


def main() -> None:
    """Speed, or learning where a preset is named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer repeats")
    parser.add_argument("--preset", help="cpu, hour, gpu, smoke")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--rows", nargs="+", choices=ROWS, default=list(ROWS))
    parser.add_argument("--seconds", type=float, help="another budget for every run")
    parser.add_argument("--episodes", type=int, default=1000)
    parser.add_argument("--out", type=Path, default=harness.RESULTS / "runs")
    given = parser.parse_args()
    if given.preset is None:
        speed(given.quick)
    else:
        learning(given.preset, given.seeds, given.rows, given.out / given.preset, given.seconds, given.episodes)


if __name__ == "__main__":
    main()
