"""The ideal explorer: it wants to know the chemistry, and minimises the expected number of worlds that are possible in the end.

DeepMind's observer has a flag for this. Over a whole trial it cannot be searched, since almost every use tells something and nothing
prunes; so it looks `horizon` potions ahead, and is exact where no more are left. Among equals it uses the fewest potions, and it stops
where none of its plans tells anything more.
"""

from __future__ import annotations

import numpy as np

from jaxdiff.alchemy import items
from jaxdiff.alchemy.consequences import STOP, Action, consequences
from jaxdiff.alchemy.situations import Knowledge, Sight
from jaxdiff.alchemy.trial_planner import compiled
from jaxdiff.core.errors import require, require_integer


class Explorer:
    """Chooses what tells most. Not to be shared by threads.

    Attributes:
        horizon: how many potions it looks ahead.
    """

    def __init__(self, horizon: int = 3) -> None:
        require_integer("horizon", horizon, 1, items.POTIONS)
        self.horizon = horizon
        self._core = compiled()
        self._rules = self._core.rules()
        self._work = np.empty((horizon + 1, 5, items.MAPS), np.int16)

    def new_trial(self, sight: Sight) -> None:
        """Tell that a trial begins; there is nothing to forget."""

    def expected_worlds(self, knowledge: Knowledge, sight: Sight) -> float:
        """How many worlds are expected to be possible after the best plan of at most `horizon` uses."""
        return self._plan(knowledge, sight)[0] // self._core.WORLDS_SCALE / knowledge.weight

    def act(self, knowledge: Knowledge, sight: Sight) -> Action:
        """The first action of the best plan, `STOP` where none tells anything more."""
        return self._plan(knowledge, sight)[1]

    def _plan(self, knowledge: Knowledge, sight: Sight) -> tuple[int, Action]:
        """Cost of the best plan, see `planner.exploration`, and its first action."""
        require(
            bool(knowledge.rotations),
            "knowledge",
            "a belief that excludes every chemistry",
            "one that observations of an episode can leave",
        )
        best = self._cost(knowledge, sight, 0), STOP
        for stone in np.flatnonzero(sight.shown >= 0).tolist():
            for colour in np.flatnonzero(sight.counts()).tolist():
                action = Action(stone, colour)
                after = consequences(knowledge, sight, action)
                cost = knowledge.weight + sum(self._cost(*then, self.horizon - 1) for then in after)
                if cost < best[0]:
                    best = cost, action
        return best

    def _cost(self, knowledge: Knowledge, sight: Sight, left: int) -> int:
        """Cost with at most so many uses; while several rotations are possible (rarely, and not for long), of stopping."""
        possible = knowledge.rotations
        if len(possible) > 1 or not left:
            return self._core.WORLDS_SCALE * knowledge.weight * knowledge.worlds
        r = possible[0]
        self._work[0, 4] = knowledge.graph_sets[r]
        stones, counts = items.stones().number[tuple(sight.corners[r])], items.rank(sight.counts())
        return int(self._core.worlds_cost(self._rules, self._work, left, int(knowledge.stone_maps[r]), int(stones), int(counts)))
