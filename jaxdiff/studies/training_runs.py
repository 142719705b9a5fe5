"""A run of training and what became of it: trained, played on given episodes, measured, and kept in its folder.

A finished run is read and not trained again; one that was stopped goes on from its checkpoint. Axes: R trials, A actions of a trial,
K kinds.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from jaxdiff.agents import config as configs
from jaxdiff.agents import learner
from jaxdiff.agents.config import TrainConfig
from jaxdiff.agents.policy import Policy
from jaxdiff.core.errors import InputError
from jaxdiff.core.files import whole
from jaxdiff.studies import trained_agents
from jaxdiff.studies.reference_agents import Episodes, Number

if TYPE_CHECKING:
    from jaxdiff.studies.trained_agents import Evaluated

RESULT = "result.json"
HOWS = ("sampled", "greedy")


@dataclass(frozen=True)
class Outcome:
    """What became of a run.

    Attributes:
        seed: of the run.
        steps, seconds: of training, compilation not counted.
        compile_seconds: 0 where a run of the same configuration had been compiled in the same process.
        sampled, greedy: numbers of what it did on the episodes, see `trained_agents.Evaluated.numbers`, and besides "no effect" (share of
            steps) and "policy entropy" (nats), which have no standard error.
        trial_scores: sampled, mean of each trial, [R].
        kinds: sampled, share of episodes by number of the action and kind, [2, A, K]: in the first and in the last trial.
        curve: score in training: (steps, seconds, mean score of the episodes since the last entry).
    """

    seed: int
    steps: int
    seconds: float
    compile_seconds: float
    sampled: dict[str, Number]
    greedy: dict[str, Number]
    trial_scores: tuple[float, ...]
    kinds: np.ndarray
    curve: tuple[tuple[int, float, float], ...]

    @property
    def steps_per_second(self) -> float:
        """Trained environment steps a second."""
        return self.steps / max(self.seconds, 1e-9)


def run(
    config: TrainConfig,
    seed: int,
    episodes: Episodes,
    *,
    folder: Path | None = None,
    devices: Sequence[Any] | None = None,
    report: learner.Report | None = None,
    say: Callable[[str], None] | None = None,
) -> Outcome:
    """Train and evaluate, go on with it, or read what was kept.

    Args:
        config: what is learned and for how long.
        seed: of the run.
        episodes: what is played afterwards.
        folder: of the run; nothing is kept when None.
        devices: that share the environments.
        report, say: see `learner.train`.

    Raises:
        InputError: a folder of another configuration, or in use.
        DivergedError: a loss was not a number.
    """
    about = {"config": json.loads(configs.to_json(config)), "seed": seed, "episodes": _digest(episodes)}
    kept = None if folder is None else _read(folder / RESULT, about)
    if kept is not None:
        return kept
    how = learner.Run(seed=seed, folder=folder, devices=devices, checkpoint_seconds=30.0)
    done = learner.train(config, how, report=report, say=say)
    policy = Policy(config, jax.device_get(done.parameters))
    found = {how: trained_agents.evaluate(policy, episodes, seed=seed, greedy=how == "greedy") for how in HOWS}
    outcome = _outcome(seed, done, found)
    if folder is not None:
        with whole(folder / RESULT) as beside:
            beside.write_text(json.dumps({"about": about, "outcome": {**asdict(outcome), "kinds": outcome.kinds.tolist()}}) + "\n")
    return outcome


def _outcome(seed: int, done: learner.Trained, found: dict[str, Evaluated]) -> Outcome:
    sampled = found["sampled"]
    numbers = {how: {**e.numbers, "no effect": Number(e.nothing, float("nan")), "policy entropy": Number(e.policy_entropy, float("nan"))}
               for how, e in found.items()}  # fmt: skip
    curve = [(line["steps"], line["seconds"], line["score"]) for line in done.lines if line.get("score") is not None]
    return Outcome(
        seed=seed,
        steps=done.counters.steps,
        seconds=done.counters.seconds,
        compile_seconds=done.compile_seconds,
        sampled=numbers["sampled"],
        greedy=numbers["greedy"],
        trial_scores=tuple(sampled.dataset["score"].values.mean(0).tolist()),
        kinds=sampled.dataset["kinds"].values[[0, -1]],
        curve=tuple(curve),
    )


def _read(path: Path, about: dict[str, Any]) -> Outcome | None:
    """What was kept of the same run; None where there is nothing."""
    try:
        kept = json.loads(path.read_text())
        # A configuration of an earlier version may be the same.
        same = configs.from_json(json.dumps(kept["about"].pop("config"))) == configs.from_json(json.dumps(about["config"]))
        if not same or kept["about"] != {name: value for name, value in about.items() if name != "config"}:
            return None
        given = kept["outcome"]
        given |= {how: {name: Number(**n) for name, n in given[how].items()} for how in HOWS}
        given |= {
            "kinds": np.array(given["kinds"]),
            "curve": tuple(map(tuple, given["curve"])),
            "trial_scores": tuple(given["trial_scores"]),
        }
        return Outcome(**{f.name: given[f.name] for f in fields(Outcome)})
    except (OSError, ValueError, KeyError, TypeError, AttributeError, InputError):
        return None


def _digest(episodes: Episodes) -> str:
    """What tells episodes from others."""
    code = hashlib.sha256()
    for array in (*jax.tree.leaves(episodes.chemistry), episodes.stones, episodes.potions):
        code.update(np.ascontiguousarray(array, np.int64).tobytes())
    return code.hexdigest()[:16]


def over_seeds(values: Sequence[float]) -> Number:
    """Mean over seeds, and its standard error: NaN for one seed."""
    array = np.asarray(values, np.float64)
    return Number(float(array.mean()), float(array.std(ddof=1) / len(array) ** 0.5) if len(array) > 1 else float("nan"))
