"""The ideal observer: Bayes-optimal within every trial, exactly, in seconds (Wang et al. 2021, section 3.4 and Algorithm 1).

It keeps the exact posterior over chemistries for the whole episode, and in every trial maximises the expected sum of the positive values
that stones have at the end, among equals with the fewest expected potions. It looks no further than the trial, as the paper's. One
trial is in `trial_planner`; here are whole episodes and logs, on all cores.

Modes: "exact"; "as_published" leaves out the actions that DeepMind's observer left out (its rule for interchangeable potions forgets
what is known about their partners; it lost 0.014 points an episode); "explorer" wants to know, not to score (see `explorer`).

Axes: E episodes, R trials, T = 20 steps.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import local
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from jaxdiff.alchemy import items, played
from jaxdiff.alchemy.consequences import STOP as STOP
from jaxdiff.alchemy.consequences import Action as Action
from jaxdiff.alchemy.explorer import Explorer
from jaxdiff.alchemy.logs import EPISODE_ARRAYS, episode_of, published, replay
from jaxdiff.alchemy.situations import Truth, nothing_known, see_stones, see_use
from jaxdiff.alchemy.trial_planner import Planner as Planner
from jaxdiff.alchemy.trial_planner import Value as Value
from jaxdiff.alchemy.trial_planner import compiled
from jaxdiff.core.errors import require

if TYPE_CHECKING:
    from jax.typing import ArrayLike

    from jaxdiff.alchemy.chemistry import Chemistry

PLANNING = ("exact", "as_published")
MODES = (*PLANNING, "explorer")
_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


def cores() -> int:
    """Threads that are used when none are asked for."""
    return os.cpu_count() or 1


class Crew:
    """Threads with a planner each, which live until the crew is closed; the compiled search lets go of Python's lock.

    A crew that explores has explorers for planners: they play, and know no values.
    """

    def __init__(self, mode: str = "exact", workers: int | None = None) -> None:
        workers = cores() if workers is None else workers
        require(isinstance(workers, int) and workers >= 1, "workers", workers, "at least 1")
        require(mode in MODES, "mode", mode, " or ".join(repr(m) for m in MODES))
        self._mode, self._mine = mode, local()
        core = compiled()
        if mode in PLANNING:
            core.best()  # made once, before threads ask for it
        self._pool = ThreadPoolExecutor(workers)

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(cancel_futures=True)

    def each(self, job: Callable[[Any, _Item], _Result], work: Iterable[_Item]) -> list[_Result]:
        """Do a job for each item; results in the same order."""

        def one(item: _Item) -> _Result:
            if not hasattr(self._mine, "planner"):
                self._mine.planner = Planner(self._mode) if self._mode in PLANNING else Explorer()
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
        mode: "exact" or "as_published".
        workers: threads; one for each core when None.

    Returns:
        expected sum of positive stone values at the end of each trial, float64 [E, R].

    Raises:
        InputError: no such agent or episode, or a log that does not belong to the episode.
    """
    require(mode in PLANNING, "mode", mode, " or ".join(repr(m) for m in PLANNING))
    log = published(events, agent)
    numbers = [int(e) for e in np.atleast_1d(np.asarray(episodes))]
    chemistries = {name: np.asarray(chemistries[name]) for name in EPISODE_ARRAYS}

    def along(planner: Planner, number: int) -> list[float]:
        truth, stones, potions = episode_of(chemistries, number)
        values = []
        for trial in replay(truth, stones, potions, log, number, where=f"episode {number}"):
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
        mode: one of `MODES`.
        workers: threads; one for each core when None.

    Returns:
        actions int32 [E, R, 20] and scores int32 [E, R].

    Raises:
        InputError: wrong shapes, numbers out of range, or a number of potions or stones other than 12 and 3.
    """
    work = int(np.prod(np.shape(potions)[:-2], dtype=int))
    with Crew(mode, max(1, min(work, cores())) if workers is None else workers) as crew:
        return crew.play(chemistry, stones, potions, rotation=rotation)


def _play_episode(
    planner: Planner | Explorer, truth: Truth, stones: np.ndarray, potions: np.ndarray, rotated: bool
) -> tuple[np.ndarray, np.ndarray]:
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
