"""Where an agent loses value, decision by decision, measured against the ideal observer and against the oracle, and to what.

The regret of a decision is what the ideal observer, with everything that the agent could know, expects before it less what it expects
after it with optimal play; so a trial's regrets less its luck sum to what was expected at its start less the score. What the oracle would
have made of the trial, with the chemistry known, is told beside it.

Kinds of losing decisions, the first that holds:
    left on the table    the log ends while stones of positive value are there
    cashed too early     a stone was cashed, or the trial ended, where something else was worth more: also a stone of negative value
    potion wasted        the potion was known to do nothing to that stone
    stone spoiled        the use was expected to lower the stone's value
    exploration not done the optimal action was expected to leave fewer possible worlds than the one taken
    worse use            anything else

The kinds are ours; the paper reports kinds of actions only (Figure 10).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from jaxdiff.alchemy import items, oracle
from jaxdiff.alchemy.consequences import SHOWN_VALUES, STOP, Action, consequences
from jaxdiff.alchemy.set_tables import set_tables
from jaxdiff.alchemy.situations import END
from jaxdiff.alchemy.trial_planner import Planner

if TYPE_CHECKING:
    from jaxdiff.alchemy.logs import Decision, Trial
    from jaxdiff.alchemy.situations import Knowledge, Sight, Truth

KINDS = ("left on the table", "cashed too early", "potion wasted", "stone spoiled", "exploration not done", "worse use")
LEFT, EARLY, WASTED, SPOILED, UNEXPLORED, WORSE = range(len(KINDS))
_NONE = 1e-9


@dataclass(frozen=True)
class Loss:
    """One decision that lost value.

    Attributes:
        trial, step: where; the step after the last action is the end of the log.
        kind: number in `KINDS`.
        regret: against the ideal observer, points.
        taken, best: what was done and what the ideal observer would have done.
    """

    trial: int
    step: int
    kind: int
    regret: float
    taken: Action
    best: Action


@dataclass(frozen=True)
class TrialRegret:
    """A trial's account: `expected` - `score` = sum of regrets + bad luck.

    Attributes:
        expected: by the ideal observer at the start, points.
        score: what was scored.
        regret: sum over decisions, against the ideal observer.
        oracle: best possible score with the chemistry known.
        losses: decisions that lost value.
    """

    expected: float
    score: int
    regret: float
    oracle: int
    losses: tuple[Loss, ...]

    @property
    def luck(self) -> float:
        """What chance gave beyond what was expected."""
        return self.score + self.regret - self.expected


def of_trial(planner: Planner, truth: Truth, trial: Trial) -> TrialRegret:
    """The regrets of a trial's decisions, see `logs.replay`."""
    planner.new_trial(trial.sight)
    expected = here = planner.value(trial.knowledge, trial.sight).reward
    losses, total = [], 0.0
    for number, decision in enumerate(trial.decisions):
        follower = trial.decisions[number + 1] if number + 1 < len(trial.decisions) else None
        after = (follower.knowledge, follower.sight) if follower else (trial.knowledge_after, trial.sight_after)
        then = planner.value(*after).reward
        if decision.colour == END:
            worth = float(SHOWN_VALUES[decision.sight.shown[decision.stone]]) + then
        else:
            worth = planner.use_value(decision.knowledge, decision.sight, Action(decision.stone, decision.colour)).reward
        if here - worth > _NONE:
            losses.append(_loss(planner, decision, here - worth))
        total += max(here - worth, 0.0)
        here = then
    if here > _NONE:
        losses.append(_end(planner, trial, here))
        total += here
    return TrialRegret(expected, trial.score, total, oracle_score(truth, trial.sight), tuple(losses))


def _loss(planner: Planner, decision: Decision, regret: float) -> Loss:
    taken = Action(decision.stone, decision.colour)
    best = planner.act(decision.knowledge, decision.sight)
    return Loss(decision.trial, decision.step, _kind(decision.knowledge, decision.sight, taken, best), regret, taken, best)


def _end(planner: Planner, trial: Trial, lost: float) -> Loss:
    """What is lost when a log ends: stones not cashed, or what could still be made of those that are worth nothing yet."""
    knowledge, sight = trial.knowledge_after, trial.sight_after
    kind = LEFT if planner.ending(knowledge, sight) > 0 else EARLY
    return Loss(trial.number, len(trial.decisions), kind, lost, STOP, planner.act(knowledge, sight))


def _kind(knowledge: Knowledge, sight: Sight, taken: Action, best: Action) -> int:
    if taken.colour == END:
        return EARLY
    after = outlook(knowledge, sight, taken)
    if not after.moves:
        return WASTED
    if after.value < 0:
        return SPOILED
    if best.colour != END and outlook(knowledge, sight, best).worlds < after.worlds - _NONE:
        return UNEXPLORED
    return WORSE


@dataclass(frozen=True)
class Outlook:
    """What is expected right after an action: change of the stone's value, number of possible worlds, and whether a stone may move."""

    value: float
    worlds: float
    moves: bool


def outlook(knowledge: Knowledge, sight: Sight, action: Action) -> Outlook:
    """One step ahead from exact knowledge."""
    value = worlds = 0.0
    moves = False
    for known, seen in consequences(knowledge, sight, action):
        share = known.weight / knowledge.weight
        value += share * float(SHOWN_VALUES[seen.shown[action.stone]] - SHOWN_VALUES[sight.shown[action.stone]])
        worlds += share * known.worlds
        moves |= bool(seen.shown[action.stone] != sight.shown[action.stone])
    return Outlook(value, worlds, moves)


def oracle_score(truth: Truth, sight: Sight) -> int:
    """Best score that is possible from here with the chemistry known."""
    aligned = sight.corners[truth.rotation]
    latent = np.where(aligned == items.ABSENT, items.ABSENT, aligned ^ (7 ^ truth.stone_map))
    stones, potions = items.stones(), items.potions()
    multiset = stones.number[tuple(latent)]
    rename = stones.to_least[multiset, 0]
    counts = potions.mapped[items.rank(sight.counts()), truth.potion_map]
    entry = int(oracle.table()[potions.axes[counts, rename], stones.least[multiset], set_tables().graph_axes[rename, truth.graph]])
    return -(-entry // oracle.SHIFT)
