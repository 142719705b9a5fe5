"""Do the measures predict how long learners take? Rank correlations over worlds with known knobs, and monotony in every knob.

    python bench/predictive_validity.py [--worlds N] [--seeds N] [--episodes N] [--policies N] [--folder FOLDER]

Every world's numbers are kept in the folder as they come, so that a stopped run goes on. Runs that never reach the target are censored.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import harness
import jax
import numpy as np
from harness import Table

from jaxdiff.report.measurement import measure
from jaxdiff.studies import predictive_validity as study
from jaxdiff.sweep import pieces

# Measures and the sign that makes larger harder.
MEASURES = {
    **dict.fromkeys(("tries_0", "tries_0.05", "tries_0.25", "bits_0.25", "ls_0.25"), 1),
    **dict.fromkeys(("variance_between", "percentile_99.9", "pic", "pic_corrected", "poic", "correlation"), -1),
}


def main(options: argparse.Namespace) -> None:
    """Print and write the tables."""
    about = harness.say_machine()
    worlds = study.cases()[: options.worlds]
    keep = pieces.keeper(Path(options.folder))
    key = jax.random.key(0)
    measured, spent, censored = {}, {learner: [] for learner in study.LEARNERS}, {learner: [] for learner in study.LEARNERS}
    for number, case in enumerate(worlds):
        settings = {"seeds": options.seeds, "episodes": options.episodes, "policies": options.policies, "world": repr(case)}

        def make(case: study.Case = case, number: int = number) -> dict[str, np.ndarray]:
            return one(case, jax.random.fold_in(key, np.uint32(number)), options)

        piece = keep(case.name, settings, make)
        measured[case.name] = piece["measures"]
        best = max(float(study.smoothed(piece[f"{learner}_returns"]).max()) for learner in study.LEARNERS)
        target = (float(piece["random"]) + best) / 2
        for learner in study.LEARNERS:
            steps, never = study.sample_complexity(piece[f"{learner}_returns"], piece[f"{learner}_lengths"], target)
            spent[learner].append(steps)
            censored[learner].append(never.mean())
        print(f"{number + 1} of {len(worlds)}: {case.name}", flush=True)
    correlations = Table("Spearman correlation with median steps to learn, 95 % interval over worlds", ("measure", *study.LEARNERS))
    knobs = Table("Share of neighbouring levels of a knob between which a measure does not fall", ("measure", "all", "knobs"))
    for place, (name, sign) in enumerate(MEASURES.items()):
        values = [sign * float(measured[case.name][place]) for case in worlds]
        cells = {
            learner: "{:.2f} [{:.2f}, {:.2f}]".format(*study.correlation(values, np.stack(spent[learner]))) for learner in study.LEARNERS
        }
        correlations.add(measure=name, **cells)
        shares = study.monotone(worlds, dict(zip([case.name for case in worlds], values, strict=True)))
        knobs.add(measure=name, all=float(np.mean(list(shares.values()))), knobs=", ".join(f"{k} {v:.2f}" for k, v in shares.items()))
    shown = Table(
        "Worlds", ("world", *(f"{learner} steps" for learner in study.LEARNERS), *(f"{learner} censored" for learner in study.LEARNERS))
    )
    for place, case in enumerate(worlds):
        steps = {f"{learner} steps": float(np.median(spent[learner][place])) for learner in study.LEARNERS}
        shown.add(world=case.name, **steps, **{f"{learner} censored": float(censored[learner][place]) for learner in study.LEARNERS})
    harness.write("predictive_validity", about, [correlations, knobs, shown], settings={k: str(v) for k, v in vars(options).items()})


def one(case: study.Case, key: jax.Array, options: argparse.Namespace) -> dict[str, Any]:
    """Measures of a world, and what both learners got."""
    key_measure, *keys = jax.random.split(key, 1 + len(study.LEARNERS))
    found = measure(
        case.env,
        case.params,
        "networks",
        key_measure,
        name=case.name,
        policies=options.policies,
        episodes=10,
        steps=case.steps,
        resamples=0,
    )
    out: dict[str, Any] = {
        "measures": np.array([found.numbers.by_name[name].value for name in MEASURES]),
        "random": np.array(found.random.value),
    }
    for learner, its_key in zip(study.LEARNERS, keys, strict=True):
        returns, lengths = study.learn(case, learner, its_key, seeds=options.seeds, episodes=options.episodes)
        out |= {f"{learner}_returns": returns, f"{learner}_lengths": lengths}
    return out


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--worlds", type=int, default=None)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--episodes", type=int, default=2000)
    parser.add_argument("--policies", type=int, default=600)
    parser.add_argument("--folder", default=str(harness.RESULTS / "predictive_validity_runs"))
    main(parser.parse_args())
