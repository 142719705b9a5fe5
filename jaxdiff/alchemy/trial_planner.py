"""One trial, planned exactly: values and actions for any belief and any items.

The search is in `planner` (numba; the extra `planner`); here are situations in, values and actions out, and what is left of the rotation in
a level that has it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from jaxdiff.alchemy import items
from jaxdiff.alchemy.consequences import SHOWN_VALUES, STOP, Action, consequences
from jaxdiff.alchemy.situations import END, Knowledge, Sight
from jaxdiff.core.errors import InputError, require

if TYPE_CHECKING:
    from jaxdiff.alchemy import planner

MODES = ("exact", "as_published")


class Value(NamedTuple):
    """What is expected at the end of the trial: the sum of positive stone values, and the potions used until then."""

    reward: float
    potions: float


def compiled() -> Any:
    """The compiled planner.

    Raises:
        InputError: numba is not installed.
    """
    try:
        from jaxdiff.alchemy import planner
    except ImportError as error:
        raise InputError(
            "ideal_observer", f"not usable here ({error.name} is missing)", "an installation with the extra: pip install 'jaxdiff[planner]'"
        ) from error
    return planner


def _check_memory(need: int) -> None:
    """Refuse tables that do not fit into the memory that is free."""
    try:
        with open("/proc/meminfo") as file:
            free = next(int(line.split()[1]) * 1024 for line in file if line.startswith("MemAvailable"))
    except (OSError, StopIteration):
        return
    require(need < free, "sizes", f"tables of {need / 2**30:.1f} GiB where {free / 2**30:.1f} GiB are free", compiled().SMALLER)


class Planner:
    """Answers questions about one trial after the other; keeps what it learnt for the next. Not to be shared by threads.

    Attributes:
        mode: "exact" or "as_published".
    """

    def __init__(self, mode: str = "exact", sizes: planner.Sizes | None = None) -> None:
        require(mode in MODES, "mode", mode, " or ".join(repr(m) for m in MODES))
        self.mode = mode
        self._core = core = compiled()
        self._sizes = core.Sizes() if sizes is None else sizes
        _check_memory(self._sizes.bytes)
        self._rules, self._best, self._work = core.rules(), core.best(), core.work()
        self._memory = core.memory(self._sizes)
        self._work["counters"][0, core.PUBLISHED] = mode == "as_published"
        self._joint: dict[tuple[Any, ...], int] = {}

    @property
    def scale(self) -> int:
        """Factor of the reward in `total`."""
        return int(self._core.SCALE)

    # ---- questions

    def value(self, knowledge: Knowledge, sight: Sight) -> Value:
        """What is expected at the end of the trial from here on."""
        return self._split(self.total(knowledge, sight), knowledge)

    def total(self, knowledge: Knowledge, sight: Sight) -> int:
        """The same times the weight of all possible worlds, as one integer: SCALE x reward - potions."""
        possible = self._rotations(knowledge)
        if len(possible) == 1:
            return self._alone(knowledge, sight, possible[0])
        return self._together(knowledge, sight)

    def ending(self, knowledge: Knowledge, sight: Sight) -> int:
        """What stopping at once is worth, in the units of `total`."""
        return self._core.SCALE * knowledge.weight * int(np.maximum(SHOWN_VALUES[sight.shown[sight.shown >= 0]], 0).sum())

    def act(self, knowledge: Knowledge, sight: Sight) -> Action:
        """An optimal action: `STOP` where that is one, else the first by slot of the stone and number of the colour."""
        need = self.total(knowledge, sight)
        if self.ending(knowledge, sight) == need:
            return STOP
        for action in self._uses(sight):
            if self._use(knowledge, sight, action, need - 1) >= need:
                return action
        raise AssertionError("no action reaches the value of the state")

    def use_value(self, knowledge: Knowledge, sight: Sight, action: Action) -> Value:
        """What is expected if a potion is used on a stone and everything after is optimal; `STOP` is answered too."""
        if action.colour == END:
            return self._split(self.ending(knowledge, sight), knowledge)
        return self._split(self._use(knowledge, sight, action, self._core.LOWEST), knowledge)

    def cash_value(self, knowledge: Knowledge, sight: Sight, stone: int) -> Value:
        """What is expected if a stone is put into the cauldron now and everything after is optimal."""
        require(0 <= stone < len(sight.shown) and sight.shown[stone] >= 0, "stone", stone, "the slot of a stone that is on the table")
        rest = self.value(knowledge, sight.without(stone))
        return Value(rest.reward + float(SHOWN_VALUES[sight.shown[stone]]), rest.potions)

    def q_values(self, knowledge: Knowledge, sight: Sight) -> np.ndarray:
        """Expected reward of every action, float64 [3, 7]: stones by slot x colours, and the cauldron last; NaN where there is none.

        The rest of the trial is played optimally. Stopping is worth what the positive stones show.
        """
        q = np.full((items.STONES, items.TYPES + 1), np.nan)
        for action in self._uses(sight, repeat=True):
            q[action] = self.use_value(knowledge, sight, action).reward
        for stone in np.flatnonzero(sight.shown >= 0):
            q[stone, items.TYPES] = self.cash_value(knowledge, sight, int(stone)).reward
        return q

    def new_trial(self, sight: Sight) -> None:
        """Tell that a trial begins: the published rule depends on the order of its potions, and full memories are emptied."""
        core, counters = self._core, self._work["counters"][0]
        first = [
            int(np.flatnonzero(sight.colours == c)[0]) if (sight.colours == c).any() else items.POTIONS + c for c in range(items.TYPES)
        ]
        # What is left must hold a whole trial; published ones need up to 4.9 million states of level 1 and 2 million of level 2.
        memory, half, few = self._memory, 0.5, 0.2
        beliefs_full = counters[core.BELIEFS] > half * len(memory.beliefs) or counters[core.TRANSITIONS] > half * len(memory.rows)
        beliefs_full |= counters[core.SYMMETRIES] > half * len(memory.symmetries)
        if beliefs_full:
            for table in (memory.slots, memory.transition):
                table[:] = 0
            counters[[core.BELIEFS, core.TRANSITIONS, core.SYMMETRIES]] = 0
        if beliefs_full or counters[core.FILLED_TWO] > few * len(memory.two) or self.mode == "as_published":
            memory.two[:] = 0
            counters[core.FILLED_TWO] = 0
        if counters[core.FILLED_ONE] > few * len(memory.one):
            memory.one[:] = 0
            counters[core.FILLED_ONE] = 0
        self._work["order"][0] = first
        self._joint.clear()

    # ---- one rotation: the compiled search

    def _alone(self, knowledge: Knowledge, sight: Sight, rotation: int) -> int:
        state = self._state(knowledge, sight, rotation)
        return self._grown(self._core.value, state)

    def _state(self, knowledge: Knowledge, sight: Sight, rotation: int) -> tuple[Any, ...]:
        potions = int((sight.colours >= 0).sum())
        require(potions <= items.POTIONS, "sight", f"{potions} potions", f"at most {items.POTIONS}: the tables hold no more")
        stones = int(items.stones().number[tuple(sight.corners[rotation])])
        record = knowledge.record if self.mode == "as_published" else 0
        return knowledge.graph_sets[rotation], record, int(knowledge.stone_maps[rotation]), stones, int(items.rank(sight.counts()))

    def _use_alone(self, knowledge: Knowledge, sight: Sight, rotation: int, action: Action, threshold: int) -> int:
        state = self._state(knowledge, sight, rotation)
        place = int(np.flatnonzero(items.stones().corners[state[3]] == sight.corners[rotation, action.stone])[0])
        return self._grown(self._core.action_value, (*state, place, action.colour, threshold))

    def _grown(self, question: Callable[..., int], state: tuple[Any, ...]) -> int:
        """Ask; where the memory is too small, ask again with one of twice the size."""
        while True:
            try:
                return int(question(self._rules, self._work, self._best, self._memory, *state))
            except MemoryError:
                self._grow()

    def _grow(self) -> None:
        core, counters, memory = self._core, self._work["counters"][0], self._memory
        s, fuller = self._sizes, 0.4
        self._sizes = core.Sizes(
            s.one << (counters[core.FILLED_ONE] > fuller * s.one),
            s.two << (counters[core.FILLED_TWO] > fuller * s.two),
            s.beliefs << bool(counters[core.BELIEFS] > fuller * s.beliefs or counters[core.SYMMETRIES] > fuller * len(memory.symmetries)),
            s.transitions << (counters[core.TRANSITIONS] > fuller * s.transitions),
        )
        _check_memory(self._sizes.bytes)
        counters[: core.PUBLISHED] = 0
        self._memory = core.memory(self._sizes)

    # ---- several rotations: a small search above it

    def _rotations(self, knowledge: Knowledge) -> list[int]:
        possible = knowledge.rotations
        require(
            bool(possible), "knowledge", "a belief that excludes every chemistry", "one that observations of a single episode can leave"
        )
        return possible

    def _together(self, knowledge: Knowledge, sight: Sight) -> int:
        """Value while the rotation is not known; if a friend revealed it, that would be worth the sum over rotations."""
        key = (knowledge.graph_sets.tobytes(), knowledge.stone_maps.tobytes(), sight.corners.tobytes(), sight.counts().tobytes())
        if key not in self._joint:
            apart = {r: self._alone(knowledge, sight, r) for r in knowledge.rotations}
            best = self.ending(knowledge, sight)
            for bound, action in sorted(self._bounds(knowledge, sight, apart, best), reverse=True):
                if bound > best:
                    best = max(best, self._use_together(knowledge, sight, action))
            self._joint[key] = best
        return self._joint[key]

    def _bounds(self, knowledge: Knowledge, sight: Sight, apart: Mapping[int, int], best: int) -> Iterable[tuple[int, Action]]:
        """Upper bounds of the actions that may be better than `best`: what they would be worth if the rotation were revealed afterwards."""
        for action in self._uses(sight):
            bound = sum(apart.values())
            for r, most in apart.items():
                value = min(most, self._use_alone(knowledge, sight, r, action, best - (bound - most)))
                bound += value - most
                if bound <= best:
                    break
            else:
                yield bound, action

    def _use_together(self, knowledge: Knowledge, sight: Sight, action: Action) -> int:
        return -knowledge.weight + sum(self.total(*after) for after in consequences(knowledge, sight, action))

    def _use(self, knowledge: Knowledge, sight: Sight, action: Action, threshold: int) -> int:
        require(
            0 <= action.stone < items.STONES and sight.shown[action.stone] >= 0 and (sight.colours == action.colour).any(),
            "action", tuple(action), "a stone and a colour that are on the table",
        )  # fmt: skip
        possible = self._rotations(knowledge)
        if len(possible) == 1:
            return self._use_alone(knowledge, sight, possible[0], action, threshold)
        return self._use_together(knowledge, sight, action)

    # ---- small things

    def _uses(self, sight: Sight, repeat: bool = False) -> Iterable[Action]:
        """Uses of potions; of stones that are alike only the first unless `repeat`."""
        seen = set()
        for stone in np.flatnonzero(sight.shown >= 0).tolist():
            if repeat or tuple(sight.corners[:, stone]) not in seen:
                seen.add(tuple(sight.corners[:, stone]))
                yield from (Action(stone, c) for c in np.flatnonzero(sight.counts()).tolist())

    def _split(self, total: int, knowledge: Knowledge) -> Value:
        reward = -(-total // self._core.SCALE)
        return Value(reward / knowledge.weight, (reward * self._core.SCALE - total) / knowledge.weight)
