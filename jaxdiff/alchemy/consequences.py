"""Actions of a planner, and what may be known and seen after each."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from jaxdiff.alchemy.chemistry import perceived_features
from jaxdiff.alchemy.situations import END, Knowledge, Sight, branches, corners_seen, see_use

SHOWN_VALUES = np.array([-3, -1, 1, 15])  # of a stone with 0..3 positive coordinates


class Action(NamedTuple):
    """A stone's slot and a colour (a potion of it), or `END` for the colour: stop, and cash what is worth something."""

    stone: int
    colour: int


STOP = Action(0, END)


def consequences(knowledge: Knowledge, sight: Sight, action: Action) -> list[tuple[Knowledge, Sight]]:
    """What may be known and seen after a potion was used, for every outcome that has a chance."""
    colours = sight.colours.copy()
    colours[sight.slot(action.colour)] = -1
    shown, seen = int(sight.shown[action.stone]), {}
    for r in knowledge.rotations:
        corner = int(sight.corners[r, action.stone])
        for k, after in enumerate(branches(knowledge.graph_sets[r], corner, action.colour)):
            if (after >= 0).any():
                then = corner if k == 0 else corner ^ (1 << (k - 1))
                for change in (0,) if k == 0 else (-1, 1):
                    if 0 <= shown + change <= 3:
                        features = tuple(perceived_features()[r, then])
                        seen.setdefault((features, shown + change), (r, then))
    results = []
    for (_, value), (r, then) in seen.items():
        corners, values = sight.corners.copy(), sight.shown.copy()
        corners[:, action.stone], values[action.stone] = corners_seen()[r, then], value
        after = Sight(corners, values, colours)
        known = see_use(knowledge, sight, after, action.stone, action.colour)
        if known.rotations:
            results.append((known, after))
    return results
