"""Logs of play: what was put where, in time order, and walking through a log with what its player could know.

The form is that of DeepMind's published events: for every trial the stone's slot and the potion's slot of each action; potion -1 is the
cauldron, -2 fills up. Actions that do nothing are not logged. Axes: E episodes, R trials, A actions at most in a trial.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from jaxdiff.alchemy import items, played
from jaxdiff.alchemy.situations import Knowledge, Sight, Truth, nothing_known, see_stones, see_use
from jaxdiff.core.errors import InputError, require

CAULDRON, PADDING = -1, -2
# What is used of `chemistries_published.npz`.
EPISODE_ARRAYS = ("graph_index", "potion_map_index", "stone_map_index", "rotation_index", "stones_latent", "potions_latent")


@dataclass(frozen=True)
class Log:
    """Actions of episodes.

    Attributes:
        stone: slots, int64 [E, R, A].
        potion: slots, `CAULDRON` or `PADDING`, int64 [E, R, A].
        scores: what the trials scored, int64 [E, R], where the log says so; replay refuses a log that scores otherwise.
    """

    stone: np.ndarray
    potion: np.ndarray
    scores: np.ndarray | None = None

    def __post_init__(self) -> None:
        require(
            self.stone.ndim == 3 and self.stone.shape == self.potion.shape,
            "log", f"stones of shape {self.stone.shape} and potions of shape {self.potion.shape}", "two arrays of one shape [E, R, A]",
        )  # fmt: skip
        if self.scores is not None:
            shape = self.stone.shape[:2]
            require(self.scores.shape == shape, "log", f"scores of shape {self.scores.shape}", f"one for each episode and trial, {shape}")

    def of(self, episodes: Any) -> Log:
        """Some of the episodes."""
        return Log(self.stone[episodes], self.potion[episodes], None if self.scores is None else self.scores[episodes])


@dataclass(frozen=True)
class Decision:
    """One action and the situation in which it was taken.

    Attributes:
        trial: its number.
        step: its number among the trial's actions.
        knowledge, sight: before it.
        stone, potion: slots; `CAULDRON` for the potion.
        colour: of the potion, -1 for the cauldron.
        before, after: latent corner of the stone; `items.ABSENT` after the cauldron.
        last: whether the trial's log ends with it.
    """

    trial: int
    step: int
    knowledge: Knowledge
    sight: Sight
    stone: int
    potion: int
    colour: int
    before: int
    after: int
    last: bool


@dataclass(frozen=True)
class Trial:
    """One trial of a log: knowledge after its stones were seen, its items, its actions, and knowledge and items at its end."""

    number: int
    knowledge: Knowledge
    sight: Sight
    decisions: tuple[Decision, ...]
    knowledge_after: Knowledge
    sight_after: Sight
    score: int


def published(events: Mapping[str, Any], agent: str) -> Log:
    """The log of one agent in an opened `published_agent_events.npz`.

    Raises:
        InputError: no such agent.
    """
    known = sorted({str(name).split("/")[0] for name in events if "/" in str(name)})
    require(f"{agent}/stone" in events and f"{agent}/potion" in events, "agent", agent, f"one of {', '.join(known)}")
    for name in ("stone", "potion"):
        kind = np.asarray(events[f"{agent}/{name}"]).dtype
        require(np.issubdtype(kind, np.integer), f"{agent}/{name}", f"of type {kind}", "slots, integers")
    scores = np.asarray(events[f"{agent}/trial_score"], np.int64) if f"{agent}/trial_score" in events else None
    return Log(np.asarray(events[f"{agent}/stone"], np.int64), np.asarray(events[f"{agent}/potion"], np.int64), scores)


def of_actions(actions: Any) -> Log:
    """The log of actions as the world takes them, int [E, R, T] (see `played.Play`); nothing (0) is left out."""
    actions = np.asarray(actions, np.int64)
    stone, container = np.divmod(actions - 1, played.PER_STONE)
    real = actions > 0
    order = np.argsort(~real, axis=-1, kind="stable")
    stone, potion = np.where(real, stone, -1), np.where(real, container - 1, PADDING)
    return Log(np.take_along_axis(stone, order, -1), np.take_along_axis(potion, order, -1))


def episode_of(chemistries: Mapping[str, Any], number: int) -> tuple[Truth, np.ndarray, np.ndarray]:
    """Chemistry, latent stones [R, 3] and latent potions [R, 12] of an episode in an opened `chemistries_published.npz`.

    Raises:
        InputError: no such episode.
    """
    count = len(chemistries["graph_index"])
    require(0 <= int(number) < count, "episodes", int(number), f"numbers from 0 to {count - 1}")
    truth = Truth(*(int(chemistries[name][number]) for name in EPISODE_ARRAYS[:4]))
    return truth, np.asarray(chemistries["stones_latent"][number], np.int64), np.asarray(chemistries["potions_latent"][number], np.int64)


def replay(
    truth: Truth, stones: np.ndarray, potions: np.ndarray, log: Log, number: int = 0, *,
    rotation: bool = False, where: str = "log", knowledge: Knowledge | None = None,
) -> Iterator[Trial]:  # fmt: skip
    """Walk through the log of one episode.

    Args:
        truth: its chemistry.
        stones, potions: its latent corners [R, 3] and types [R, 12].
        log: of one or more episodes.
        number: of the episode in the log.
        rotation: whether its player had to reckon with rotations.
        where: what to call the log where it is refused.
        knowledge: what its player knew in the beginning; nothing when None.

    Raises:
        InputError: an action on a stone or with a potion that is used already, slots that do not exist, other scores than the log says, or
            a belief that excludes the truth.
    """
    stone, potion = log.stone[number], log.potion[number]
    require(len(stone) == len(stones), "log", f"of {len(stone)} trials", f"as many as the episode has, {len(stones)}")
    if knowledge is None:
        knowledge = nothing_known(rotation or truth.rotation > 0)
    require(knowledge.allows(truth), "knowledge", "a belief that excludes the true chemistry", "one that an observation of it can leave")
    for t in range(len(stones)):
        latent, kinds = stones[t].copy(), potions[t].copy()
        sight = truth.sight(latent, kinds)
        knowledge = see_stones(knowledge, sight)
        start = knowledge, sight
        decisions, score = [], 0
        count = int((potion[t] != PADDING).sum())
        for i, (s, p) in enumerate(zip(stone[t, :count].tolist(), potion[t, :count].tolist(), strict=True)):
            _check(s, p, latent, kinds, f"{where}, trial {t}, action {i}")
            before, colour = int(latent[s]), -1
            known, seen = knowledge, sight
            if p == CAULDRON:
                score += int(items.VALUES[before])
                latent[s] = items.ABSENT
                sight = truth.sight(latent, kinds)
            else:
                colour = int(sight.colours[p])
                latent[s], kinds[p] = truth.moved(before, colour), -1
                sight = truth.sight(latent, kinds)
                knowledge = see_use(knowledge, seen, sight, s, colour)
            decisions.append(Decision(t, i, known, seen, s, p, colour, before, int(latent[s]), i + 1 == count))
        said = score if log.scores is None else int(log.scores[number, t])
        require(said == score, f"{where}, trial {t}", f"scored {score} here and {said} in the log", "a log of this very episode")
        yield Trial(t, *start, tuple(decisions), knowledge, sight, score)


def _check(stone: int, potion: int, latent: np.ndarray, kinds: np.ndarray, where: str) -> None:
    if not (0 <= stone < items.STONES and CAULDRON <= potion < items.POTIONS):
        raise InputError(where, f"stone {stone} into potion {potion}", "stones 0 to 2, potions 0 to 11, -1 for the cauldron, -2 to fill up")
    if latent[stone] == items.ABSENT:
        raise InputError(where, f"on stone {stone}, which is used already", "a log of this very episode")
    if potion != CAULDRON and kinds[potion] < 0:
        raise InputError(where, f"with potion {potion}, which is used already", "a log of this very episode")
