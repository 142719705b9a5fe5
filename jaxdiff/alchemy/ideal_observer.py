"""The ideal observer: Bayes-optimal within every trial, exactly, in seconds (Wang et al. 2021, section 3.4 and Algorithm 1).

It keeps the exact posterior over chemistries for the whole episode, and in every trial maximises the expected sum of the positive values
that stones have at the end, among equals with the fewest expected potions. It looks no further than the trial, as the paper's. The
search is in `planner` (numba; the extra `planner`); here are situations in, values and actions out.

Modes: "exact"; "as_published" leaves out the actions that DeepMind's observer left out (its rule for interchangeable potions forgets
what is known about their partners; it lost 0.014 points an episode).

Axes: E episodes, R trials, T = 20 steps.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import local
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from jaxdiff.alchemy import items, played
from jaxdiff.alchemy.chemistry import perceived_features
from jaxdiff.alchemy.logs import EPISODE_ARRAYS, episode_of, published, replay
from jaxdiff.alchemy.situations import END, Knowledge, Sight, Truth, branches, corners_seen, nothing_known, see_stones, see_use
from jaxdiff.core.errors import InputError, require

if TYPE_CHECKING:
    from jax.typing import ArrayLike

    from jaxdiff.alchemy import planner
    from jaxdiff.alchemy.chemistry import Chemistry

MODES = ("exact", "as_published")
SHOWN_VALUES = np.array([-3, -1, 1, 15])  # of a stone with 0..3 positive coordinates
_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


class Value(NamedTuple):
    """What is expected at the end of the trial: the sum of positive stone values, and the potions used until then."""

    reward: float
    potions: float


class Action(NamedTuple):
    """A stone's slot and a colour (a potion of it), or `END` for the colour: stop, and cash what is worth something."""

    stone: int
    colour: int


STOP = Action(0, END)


def _core() -> Any:
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
    require(
        need < free, "sizes", f"tables of {need / 2**30:.1f} GiB where {free / 2**30:.1f} GiB are free",
        "smaller ones, for example Planner(sizes=SMALL) (0.1 GiB, they grow where a trial needs more), or fewer workers",
    )  # fmt: skip


class Planner:
    """Answers questions about one trial after the other; keeps what it learnt for the next. Not to be shared by threads.

    Attributes:
        mode: "exact" or "as_published".
    """

    def __init__(self, mode: str = "exact", sizes: planner.Sizes | None = None) -> None:
        require(mode in MODES, "mode", mode, " or ".join(repr(m) for m in MODES))
        self.mode = mode
        self._core = core = _core()
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
        memory, half = self._memory, 0.5
        beliefs_full = counters[core.BELIEFS] > half * len(memory.beliefs) or counters[core.TRANSITIONS] > half * len(memory.rows)
        beliefs_full |= counters[core.SYMMETRIES] > half * len(memory.symmetries)
        if beliefs_full:
            for table in (memory.slots, memory.transition):
                table[:] = 0
            counters[[core.BELIEFS, core.TRANSITIONS, core.SYMMETRIES]] = 0
        if beliefs_full or counters[core.FILLED_TWO] > half * len(memory.two) or self.mode == "as_published":
            memory.two[:] = 0
            counters[core.FILLED_TWO] = 0
        if counters[core.FILLED_ONE] > half * len(memory.one):
            memory.one[:] = 0
            counters[core.FILLED_ONE] = 0
        self._work["order"][0] = first
        self._joint.clear()

    # ---- one rotation: the compiled search

    def _alone(self, knowledge: Knowledge, sight: Sight, rotation: int) -> int:
        state = self._state(knowledge, sight, rotation)
        return self._grown(self._core.value, state)

    def _state(self, knowledge: Knowledge, sight: Sight, rotation: int) -> tuple[Any, ...]:
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


# ---- whole episodes


def cores() -> int:
    """Threads that are used when none are asked for."""
    return os.cpu_count() or 1


class Crew:
    """Threads with a planner each, which live until the crew is closed; the compiled search lets go of Python's lock."""

    def __init__(self, mode: str = "exact", workers: int | None = None) -> None:
        workers = cores() if workers is None else workers
        require(isinstance(workers, int) and workers >= 1, "workers", workers, "at least 1")
        require(mode in MODES, "mode", mode, " or ".join(repr(m) for m in MODES))
        self._mode, self._mine = mode, local()
        _core().best()  # made once, before threads ask for it
        self._pool = ThreadPoolExecutor(workers)

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(cancel_futures=True)

    def each(self, job: Callable[[Planner, _Item], _Result], work: Iterable[_Item]) -> list[_Result]:
        """Do a job for each item; results in the same order."""

        def one(item: _Item) -> _Result:
            if not hasattr(self._mine, "planner"):
                self._mine.planner = Planner(self._mode)
            return job(self._mine.planner, item)

        return list(self._pool.map(one, work))

    def play(self, chemistry: Chemistry, stones: ArrayLike, potions: ArrayLike, *, rotation: bool = False) -> played.Play:
        """As the function `play`."""
        given = played.checked(chemistry, stones, potions)
        lead = given.graph.shape
        rotated = rotation or bool((given.rotation > 0).any())
        truths = [Truth(*map(int, row)) for row in zip(*(field.reshape(-1) for field in given[:4]), strict=True)]
        trials = given.stones.shape[-2]
        jobs = zip(truths, given.stones.reshape(-1, trials, items.STONES), given.potions.reshape(-1, trials, items.POTIONS), strict=True)
        done = self.each(lambda planner, job: _play_episode(planner, job[0], job[1], job[2], rotated), jobs)
        actions = np.array([a for a, _ in done], np.int32).reshape(*lead, trials, played.STEPS)
        return played.Play(actions, np.array([s for _, s in done], np.int32).reshape(*lead, trials))


def in_threads(job: Callable[[Planner, _Item], _Result], work: Sequence[_Item], mode: str, workers: int | None) -> list[_Result]:
    """Do a job for each item with a crew of its own, of no more threads than there is work."""
    with Crew(mode, max(1, min(len(work), cores())) if workers is None else workers) as crew:
        return crew.each(job, work)


def root_values_along(
    chemistries: Mapping[str, Any], events: Mapping[str, Any], episodes: ArrayLike, agent: str = "ideal_observer",
    *, mode: str = "exact", workers: int | None = None,
) -> np.ndarray:  # fmt: skip
    """Expected trial values along logged play: at the start of each trial, with what the log's actions had shown till then.

    Args:
        chemistries: an opened `chemistries_published.npz`, or a mapping with its arrays.
        events: an opened `published_agent_events.npz`, or a mapping with its arrays.
        episodes: numbers of the episodes in both, int [E].
        agent: whose actions.
        mode: see `Planner`.
        workers: threads; one for each core when None.

    Returns:
        expected sum of positive stone values at the end of each trial, float64 [E, R].

    Raises:
        InputError: no such agent or episode, or a log that does not belong to the episode.
    """
    log = published(events, agent)
    numbers = [int(e) for e in np.atleast_1d(np.asarray(episodes))]
    chemistries = {name: np.asarray(chemistries[name]) for name in EPISODE_ARRAYS}

    def along(planner: Planner, number: int) -> list[float]:
        truth, stones, potions = episode_of(chemistries, number)
        values = []
        for trial in replay(truth, stones, potions, log.stone[number], log.potion[number], where=f"episode {number}"):
            planner.new_trial(trial.sight)
            values.append(planner.value(trial.knowledge, trial.sight).reward)
        return values

    return np.array(in_threads(along, numbers, mode, workers), np.float64)


def play(
    chemistry: Chemistry, stones: ArrayLike, potions: ArrayLike, *, rotation: bool = False, mode: str = "exact", workers: int | None = None
) -> played.Play:
    """Play episodes; the chemistry decides what happens and is not told.

    Args:
        chemistry: fields int [E].
        stones: latent corners, int [E, R, 3].
        potions: latent types, int [E, R, 12].
        rotation: whether the observer must reckon with rotations; it does where a chemistry has one.
        mode: see `Planner`.
        workers: threads; one for each core when None.

    Returns:
        actions int32 [E, R, 20] and scores int32 [E, R].

    Raises:
        InputError: wrong shapes, numbers out of range, or a number of potions or stones other than 12 and 3.
    """
    work = int(np.prod(np.shape(potions)[:-2], dtype=int))
    with Crew(mode, max(1, min(work, cores())) if workers is None else workers) as crew:
        return crew.play(chemistry, stones, potions, rotation=rotation)


def _play_episode(planner: Planner, truth: Truth, stones: np.ndarray, potions: np.ndarray, rotated: bool) -> tuple[np.ndarray, np.ndarray]:
    actions, scores = np.zeros((len(stones), played.STEPS), np.int32), np.zeros(len(stones), np.int32)
    knowledge = nothing_known(rotated)
    for t in range(len(stones)):
        latent, kinds, step = stones[t].copy(), potions[t].copy(), 0
        sight = truth.sight(latent, kinds)
        knowledge = see_stones(knowledge, sight)
        planner.new_trial(sight)
        while (action := planner.act(knowledge, sight)) != STOP:
            slot = sight.slot(action.colour)
            latent[action.stone], kinds[slot] = truth.moved(int(latent[action.stone]), action.colour), -1
            after = truth.sight(latent, kinds)
            knowledge = see_use(knowledge, sight, after, action.stone, action.colour)
            actions[t, step] = played.action(action.stone, slot)
            sight, step = after, step + 1
        for stone in np.flatnonzero(items.VALUES[latent] > 0):
            actions[t, step] = played.action(int(stone), -1)
            step += 1
        scores[t] = np.maximum(items.VALUES[latent], 0).sum()
    return actions, scores
