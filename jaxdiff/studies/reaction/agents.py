"""How agents fare when a novelty comes.

Old solutions are played again, a trained policy stays as it is, the same one is trained on, and a planner knows the changed world.
Axes: A agents, M levels.
"""

from __future__ import annotations

from dataclasses import dataclass

import jax
import numpy as np

from jaxdiff.core.novelties import Novelty
from jaxdiff.studies.reaction import policy
from jaxdiff.studies.reaction.domain import Domain, Levels, after, stream
from jaxdiff.studies.reaction.policy import Network, Training

AGENTS = ("replay", "frozen", "adapted", "planner")
ABOUT = {
    "replay": "a random old solution of the level, played again",
    "frozen": "a policy trained before the novelty",
    "adapted": "the same policy after some training with it",
    "planner": "tries many sequences in a perfect model and takes one that passes",
}


@dataclass(frozen=True)
class Team:
    """Agents that know the world before.

    Attributes:
        levels: the levels that they are tested on, M.
        practice: levels for training, drawn apart; where a world has few different starts (in `worlds.society` there are some 180) they are
            the same ones, and agents are tested on what they have practised.
        network: the policy, trained on these before the novelty.
        learned: share of practice levels passed in the course of training, float32 [updates].
        passed: as in `play`, in the world before.
        old: tries on the levels, for replay, with the number of actions after which they passed, [M, K].
    """

    levels: Levels
    practice: Levels
    network: Network
    learned: np.ndarray
    passed: np.ndarray
    old: tuple[np.ndarray, np.ndarray]


def team(domain: Domain, levels: int, seed: int, training: Training, tries: int) -> Team:
    """Train and test on the world before.

    Args:
        domain: the world.
        levels: M; as many others are practised on.
        seed: of everything random.
        training: of the policy.
        tries: sequences that old solutions are found among, and that the planner tries where not all can be listed.
    """
    test, practice = domain.levels(levels, 2 * seed + 10_001), domain.levels(levels, 2 * seed + 10_002)
    keys = jax.random.split(stream(seed, "agents before"), 4)
    network, learned = policy.train(
        practice, policy.start(practice, domain.steps, keys[0], training), domain.steps, keys[1], training.updates, training
    )
    tried = domain.attempt(test, keys[2], tries)
    solved = policy.passes(test, network, domain.steps)
    found = (tried.length > 0).any(1)
    # Who plays an old solution again passes for sure in the world it is of.
    replay = np.where(found, 1.0, np.nan)
    passed = np.stack([replay, solved, solved, _plans(domain, test, keys[3], tries)]).astype(np.float64)
    return Team(test, practice, network, learned, passed, (tried.actions, tried.length))


def play(domain: Domain, known: Team, novelty: Novelty, seed: int, training: Training) -> np.ndarray:
    """Pass rates on the test levels after a novelty, float64 [A, M]; NaN where a level has no old solution to replay.

    Args:
        domain: the world.
        known: who plays.
        novelty: what has changed.
        seed: of everything random.
        training: of the policy.
    """
    test, practice = after(known.levels, novelty), after(known.practice, novelty)
    keys = jax.random.split(stream(seed, f"agents after {novelty.name}"), 2)
    adapted, _ = policy.train(practice, known.network, domain.steps, keys[0], training.adapting, training)
    actions, length = known.old
    again = domain.replay(test, actions).length
    old = length > 0
    works = old & (again > 0) & (again <= length)
    replay = np.where(old.any(1), works.sum(1) / np.maximum(old.sum(1), 1), np.nan)
    solved = [policy.passes(test, network, domain.steps) for network in (known.network, adapted)]
    return np.stack([replay, *solved, _plans(domain, test, keys[1], actions.shape[1])]).astype(np.float64)


def _plans(domain: Domain, levels: Levels, key: jax.Array, tries: int) -> np.ndarray:
    """Whether any of the sequences passes, bool [M]."""
    if domain.every is not None:
        return np.any(domain.everything(levels).length > 0, axis=1)
    return np.any(domain.attempt(levels, key, tries).length > 0, axis=1)
