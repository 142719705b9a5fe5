"""The ideal observer as a teacher: situations with its values and optimal actions, written for imitation and kickstarting.

One row is one situation that an agent met: the world's observation, what could be known, the expected value of every action, and
which actions are optimal. Axes: N situations.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from jaxdiff.alchemy import items
from jaxdiff.alchemy.chemistry import perceived_features
from jaxdiff.alchemy.ideal_observer import Planner, in_threads
from jaxdiff.alchemy.logs import Log, Trial, replay
from jaxdiff.alchemy.situations import ROTATIONS, Truth
from jaxdiff.core.errors import InputError

if TYPE_CHECKING:
    from jaxdiff.alchemy.situations import Sight

FORMAT = 1


@dataclass(frozen=True)
class Lessons:
    """What the teacher says about N situations.

    Attributes:
        episode, trial, step: where they were met, int32 [N].
        observation: as the world shows it, float32 [N, 39].
        graph_sets: the belief, int16 [N, 4, 48], see `situations.Knowledge`.
        stone_maps: the belief, uint8 [N, 4].
        worlds: how many chemistries are possible, int32 [N].
        q: expected reward of each action, float32 [N, 3, 7]: stones x (colours, cauldron); NaN where there is none.
        stop: expected reward of cashing what is worth something, float32 [N].
        value: expected reward under optimal play, float32 [N].
        optimal: actions that lose nothing, bool [N, 3, 7]; where stopping is optimal, the cauldron for each stone of positive value.
    """

    episode: np.ndarray
    trial: np.ndarray
    step: np.ndarray
    observation: np.ndarray
    graph_sets: np.ndarray
    stone_maps: np.ndarray
    worlds: np.ndarray
    q: np.ndarray
    stop: np.ndarray
    value: np.ndarray
    optimal: np.ndarray


def observation(sight: Sight, rotation: int) -> np.ndarray:
    """The world's observation of what lies on the table, float32 [39], for the true rotation."""
    seen = np.empty(39, np.float32)
    for s in range(items.STONES):
        corner = sight.corners[rotation, s]
        used = corner == items.ABSENT
        features = [2, 2, 2] if used else perceived_features()[rotation, corner].tolist()
        seen[5 * s : 5 * s + 5] = [*features, 2 if used else (2 * sight.shown[s] - 3) / 3, float(used)]
    gone = sight.colours < 0
    seen[15::2] = np.where(gone, 1, sight.colours / 3 - 1)
    seen[16::2] = gone
    return seen


def lessons(truths: list[Truth], stones: np.ndarray, potions: np.ndarray, log: Log, *, workers: int | None = None) -> Lessons:
    """What the teacher says along logged play; the log may be its own, or that of a pupil.

    Exact values of bad actions cost more than acting well does: reckon with several seconds for a first trial.

    Args:
        truths: chemistries [E].
        stones, potions: latent corners int [E, R, 3] and types int [E, R, 12].
        log: of the same episodes.
        workers: threads; one for each core when None.
    """

    def episode(planner: Planner, number: int) -> list[tuple[np.ndarray, ...]]:
        truth, rows = truths[number], []
        for trial in replay(truth, stones[number], potions[number], log, number, where=f"log, episode {number}"):
            planner.new_trial(trial.sight)
            rows += _trial(planner, truth, number, trial)
        return rows

    rows = [row for part in in_threads(episode, range(len(truths)), "exact", workers) for row in part]
    return Lessons(*(np.stack(column) for column in zip(*rows, strict=True)))


def _trial(planner: Planner, truth: Truth, number: int, trial: Trial) -> list[tuple[np.ndarray, ...]]:
    rows = []
    for d in trial.decisions:
        q, best = planner.q_values(d.knowledge, d.sight), planner.value(d.knowledge, d.sight).reward
        stop = planner.ending(d.knowledge, d.sight) / d.knowledge.weight / planner.scale
        optimal = np.nan_to_num(q, nan=-np.inf) >= best - 1e-9
        rows.append((
            np.int32(number), np.int32(d.trial), np.int32(d.step), observation(d.sight, truth.rotation), d.knowledge.graph_sets,
            d.knowledge.stone_maps.astype(np.uint8), np.int32(d.knowledge.worlds), q.astype(np.float32), np.float32(stop), np.float32(best),
            optimal,
        ))  # fmt: skip
    return rows


def write(taught: Lessons, path: str | Path) -> Path:
    """Write a dataset as a zarr group, one array a field.

    Raises:
        InputError: the path exists already or cannot be written.
    """
    import zarr

    path = Path(path)
    if path.exists():
        raise InputError("out", str(path), "a name that is not taken yet")
    try:
        group = zarr.open_group(str(path), mode="w")
        group.attrs.update({"jaxdiff": "alchemy-lessons", "format": FORMAT, "rotations": ROTATIONS})
        for field in fields(taught):
            group.create_array(field.name, data=getattr(taught, field.name))
    except OSError as error:
        raise InputError("out", str(path), f"a folder that can be written ({error.strerror})") from error
    return path
