"""Does each algorithm learn the easiest Alchemy? One fixed chemistry, three trials: at least 90 % of the oracle's score.

    python bench/three_trials.py [--algorithms ppo vmpo impala] [--seeds 0 1 2] [--seconds 90] --out runs

The graph has all edges, maps are the identity, nothing is rotated, so there is nothing to find out: what is tested is learning to act. A
run that has finished is read, one that was stopped goes on.
"""

from __future__ import annotations

import argparse
import os
from functools import partial
from pathlib import Path
from typing import Any

import harness
import jax
import numpy as np
from harness import Table

CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
jax.config.update("jax_num_cpu_devices", CORES)

from jaxdiff.agents import learner  # noqa: E402
from jaxdiff.agents.config import AlgorithmConfig, TrainConfig, WorldConfig  # noqa: E402
from jaxdiff.agents.networks.agent import NetworkConfig  # noqa: E402
from jaxdiff.alchemy import oracle  # noqa: E402
from jaxdiff.studies import training_runs  # noqa: E402
from jaxdiff.studies.reference_agents import Episodes  # noqa: E402

TRIALS, STEPS = 3, 20
WORLD = WorldConfig.of("Alchemy-v0", trials=TRIALS, bottlenecks="none", random_maps=False, typed_actions=True)
TARGET = 0.9
EPISODES = 1000
_SHARED: dict[str, Any] = {"learning_rate": 3e-3, "last_learning_rate": 1e-4}
ALGORITHMS = {
    "ppo": AlgorithmConfig("ppo", **_SHARED),
    # V-trace corrects for the second pass as it does for a behaviour that lags behind.
    "impala": AlgorithmConfig("impala", entropy=4e-3, last_entropy=4e-4, **_SHARED),
    "vmpo": AlgorithmConfig(
        "vmpo", target_period=4, epsilon_temperature=0.1, epsilon_alpha=0.01, alpha=0.5, entropy=4e-3, last_entropy=0.0, **_SHARED
    ),
}  # fmt: skip


def episodes(count: int) -> Episodes:
    """Fresh episodes of the chemistry: what the world itself draws."""
    env, params = WORLD.make()
    rng = np.random.default_rng(2026)
    _, state = env.reset(jax.random.key(0), params)
    chemistry = jax.tree.map(lambda x: np.full(count, int(x), np.int64), state.chemistry)
    stones = rng.integers(0, 8, (count, TRIALS, 3))
    return Episodes(chemistry, stones, rng.integers(0, 6, (count, TRIALS, 12)), np.arange(count))


def config(name: str, seconds: float) -> TrainConfig:
    """What a run learns: the slot core, shown the benchmark's observation, acts by colour."""
    network = NetworkConfig("slots", units=32, encoder_units=32, scorer_units=64)
    return TrainConfig(WORLD, network, ALGORITHMS[name], environments=64, steps=TRIALS * STEPS, seconds=seconds)


def one(name: str, seed: int, given: Episodes, best: float, out: Path, seconds: float) -> dict[str, Any]:
    """One run, or what was kept of it."""
    wanted = config(name, seconds)

    def tell(line: dict[str, Any]) -> None:
        print(f"{name}, seed {seed}: {line['seconds']:.0f} s, score {line['score']}, of {best:.1f}", flush=True)

    devices = learner.sharing(wanted, jax.devices())
    found = training_runs.run(wanted, seed, given, folder=out / name / f"seed-{seed}", devices=devices, report=tell, say=print)
    score = found.sampled["episode score"]
    first = next((s for _, s, training in found.curve if training >= TARGET * best), None)
    return {
        "seed": seed,
        "sampled": score.mean,
        "s.e.": score.error,
        "greedy": found.greedy["episode score"].mean,
        "share of the oracle": score.mean / best,
        "seconds": found.seconds,
        "s to 90 % in training": first,
        "steps": found.steps,
    }


def main() -> None:
    """All runs, and one table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--algorithms", nargs="+", choices=ALGORITHMS, default=list(ALGORITHMS))
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--seconds", type=float, default=90.0)
    parser.add_argument("--out", type=Path, default=Path("runs"))
    given = parser.parse_args()
    about = harness.say_machine()
    played = episodes(EPISODES)
    optimum = np.asarray(oracle.play(played.chemistry, played.stones, played.potions).scores).sum(1)
    best = float(optimum.mean())
    print(f"oracle: {best:.2f} ± {optimum.std(ddof=1) / EPISODES**0.5:.2f} an episode")
    columns = ("algorithm", "seed", "sampled", "s.e.", "greedy", "share of the oracle", "seconds", "s to 90 % in training", "steps")
    table = Table(f"fixed chemistry, {TRIALS} trials, {EPISODES} fresh episodes; oracle {best:.2f}", columns)
    reached = 0
    for name in given.algorithms:
        for row in map(partial(one, name, given=played, best=best, out=given.out / "three_trials", seconds=given.seconds), given.seeds):
            table.add(algorithm=name, **row)
            reached += row["share of the oracle"] >= TARGET
    print(f"{reached} of {len(table.rows)} runs reach {TARGET:.0%} of the oracle's score")
    harness.write("three_trials", about, [table], oracle=best)


if __name__ == "__main__":
    main()
