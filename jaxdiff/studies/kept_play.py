"""Play that takes minutes is kept as it is made, so that the same command goes on where it was stopped.

A file holds the actions of the first episodes and the episodes themselves; it serves only episodes that begin with these very ones.
Axes: E episodes, R trials, T = 20 steps.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np

from jaxdiff.alchemy.played import STEPS
from jaxdiff.core.files import whole

if TYPE_CHECKING:
    from jaxdiff.studies.reference_agents import Episodes


_NAMES = ("graph", "potion_map", "stone_map", "rotation", "stones", "potions")


def _arrays(episodes: Episodes) -> dict[str, np.ndarray]:
    c = episodes.chemistry
    return {
        "graph": np.asarray(c.graph), "potion_map": np.asarray(c.potion_map), "stone_map": np.asarray(c.stone_map),
        "rotation": np.asarray(c.rotation), "stones": episodes.stones, "potions": episodes.potions,
    }  # fmt: skip


def load(path: Path | None, episodes: Episodes) -> np.ndarray:
    """Actions of as many of the first episodes as are kept there, int32 [E, R, T]; none where there is no such file."""
    nothing = np.zeros((0, episodes.stones.shape[1], STEPS), np.int32)
    found = None if path is None else read(path)
    if found is None:
        return nothing
    kept, actions = found
    count = min(len(actions), len(episodes.numbers))
    same = all(np.array_equal(kept[name][:count], array[:count]) for name, array in _arrays(episodes).items())
    return actions[:count] if same and count else nothing


def read(path: Path) -> tuple[dict[str, np.ndarray], np.ndarray] | None:
    """What a file keeps: arrays of its episodes by name, and actions int32 [E, R, T]; None where it is no such file."""
    try:
        with np.load(path) as file:
            kept = {name: file[name] for name in file.files}
    except (OSError, ValueError, EOFError, TypeError, AttributeError, BadZipFile):
        return None
    actions = kept.pop("actions", None)
    return None if actions is None or set(kept) != set(_NAMES) else (kept, actions.astype(np.int32))


def save(path: Path | None, episodes: Episodes, actions: np.ndarray) -> None:
    """Keep the actions of the first episodes, int32 [E, R, T]."""
    if path is not None:
        with whole(path) as beside, beside.open("wb") as file:
            kept: dict[str, Any] = {name: array[: len(actions)] for name, array in _arrays(episodes).items()}
            np.savez_compressed(file, actions=actions, **kept)
