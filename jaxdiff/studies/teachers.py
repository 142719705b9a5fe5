"""Logs of play as teachers for trained agents: where they come from, and that nobody is taught the episodes it is tested on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import jax
import numpy as np

from jaxdiff.agents import teacher
from jaxdiff.alchemy import logs
from jaxdiff.alchemy.chemistry import Chemistry
from jaxdiff.core.errors import InputError, require
from jaxdiff.studies import kept_play, reference_agents
from jaxdiff.studies.reference_agents import Episodes

if TYPE_CHECKING:
    from jaxdiff.agents.config import WorldConfig
    from jaxdiff.agents.teacher import Lesson
    from jaxdiff.alchemy.logs import Log


def read(name: str, data: Path | None = None) -> tuple[Episodes, Log]:
    """Episodes and what somebody did in them.

    Args:
        name: a log that `jaxdiff evaluate` or `play` wrote, its `play.npz`, or FILE.npz:AGENT, a log of the published episodes.
        data: folder of the published episodes; that of the checkout when None.

    Raises:
        InputError: no such file, not a log, a log without its episodes, or actions that are impossible in them.
    """
    kept = kept_play.read(Path(name))
    if kept is not None:
        arrays, actions = kept
        chemistry = Chemistry(*(arrays[field].astype(np.int64) for field in ("graph", "potion_map", "stone_map", "rotation")))
        episodes = Episodes(chemistry, arrays["stones"].astype(np.int64), arrays["potions"].astype(np.int64), np.arange(len(actions)))
        log = logs.of_actions(actions)
    else:
        try:
            log, found = reference_agents.read_log(name)
        except InputError as error:
            allowed = "a log of jaxdiff evaluate (log.npz), its play.npz, or FILE.npz:AGENT with a log of the published episodes"
            raise InputError("teacher", error.value, allowed) from error
        if found is None:
            require(":" in name, "teacher", f"without the episodes that it belongs to: {name}", "a log that jaxdiff evaluate wrote")
            found = reference_agents.published(reference_agents.data_folder(data), len(log.stone))[0]
        episodes = found
    done = reference_agents.outcomes(episodes, log)
    wrong = np.argwhere(done.real & ~done.possible)
    require(
        not len(wrong), "teacher", f"a log with an impossible action in episode {wrong[0, 0] if len(wrong) else 0}", "a log of its episodes"
    )
    return episodes, log


def lesson(world: WorldConfig, name: str, tested: Episodes | None = None, data: Path | None = None) -> Lesson:
    """The lesson for agents of a world.

    Args:
        world: theirs.
        name, data: see `read`.
        tested: episodes that they are tested on, which must be others.

    Raises:
        InputError: see `read` and `agents.teacher.lesson`, or an episode that is tested as well.
    """
    episodes, log = read(name, data)
    if tested is not None and tested.stones.shape[1] == episodes.stones.shape[1]:
        shared = len(set(_rows(episodes)) & set(_rows(tested)))
        require(shared == 0, "teacher", f"a log with {shared} of the episodes that agents are tested on", "a log of others")
    return teacher.lesson(world.make()[0], episodes.chemistry, episodes.stones, episodes.potions, log)


def _rows(episodes: Episodes) -> list[bytes]:
    """Each episode as bytes."""
    leaves = [
        np.asarray(x, np.int8).reshape(len(episodes.numbers), -1)
        for x in (*jax.tree.leaves(episodes.chemistry), episodes.stones, episodes.potions)
    ]
    return [row.tobytes() for row in np.concatenate(leaves, axis=1)]
