"""Trained agents on the episodes of the reference agents: score, trial 1 against the last, potions, entropies, action kinds.

No weights change. What an agent does is written as a log and measured as every other log is. Axes: E episodes, R trials.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from jaxdiff.alchemy import logs
from jaxdiff.core.errors import require
from jaxdiff.studies import reference_agents as study
from jaxdiff.studies.reference_agents import Episodes, Number

if TYPE_CHECKING:
    from collections.abc import Callable

    import xarray as xr

    from jaxdiff.agents.config import TrainConfig
    from jaxdiff.agents.policy import Play, Policy
    from jaxdiff.alchemy.logs import Log

# Mean score per episode of the 1,000 published ones, and its standard error: Table 1 and section 4 of Wang et al. 2021.
REFERENCE = {
    "oracle (paper)": Number(288.5, 1.5),
    "ideal observer (paper)": Number(284.4, 1.6),
    "V-MPO, symbolic (paper)": Number(155.4, 1.6),
    "random heuristic (paper)": Number(145.7, 1.5),
}


@dataclass(frozen=True)
class Evaluated:
    """What an agent did on episodes.

    Attributes:
        dataset: see `reference_agents.evaluate`.
        log: its actions, without those that did nothing.
        nothing: share of its steps on which it tried what had no effect on the table, apart from the no-op.
        policy_entropy: mean over steps, nats.
    """

    dataset: xr.Dataset
    log: Log
    nothing: float
    policy_entropy: float

    @property
    def numbers(self) -> dict[str, Number]:
        """Means with standard errors, among them the first and the last trial's score."""
        score = self.dataset["score"].values
        first = {"score, trial 1": score[:, 0], "score, last trial": score[:, -1]}
        return {**{name: _number(x) for name, x in first.items()}, **study.numbers(self.dataset)}


def _number(values: np.ndarray) -> Number:
    return Number(float(values.mean()), float(values.std(ddof=1) / len(values) ** 0.5) if len(values) > 1 else float("nan"))


def log_of(policy: Policy, episodes: Episodes, *, seed: int = 0, greedy: bool = False) -> tuple[Log, Play]:
    """The log of a policy on episodes, and everything it did.

    Raises:
        InputError: a policy for other episodes than these.
    """
    play = policy.play(episodes.chemistry, episodes.stones, episodes.potions, seed=seed, greedy=greedy)
    return study.without_nothing(episodes, logs.of_actions(play.actions)), play


def evaluate(
    policy: Policy, episodes: Episodes, *, seed: int = 0, greedy: bool = False, models: bool = False, report: Any = None
) -> Evaluated:
    """Play episodes and measure what was done.

    Args:
        policy: who plays.
        episodes: what is played.
        seed: of the actions that are drawn.
        greedy: take the most likely actions.
        models: whether Figure 3's models are fitted.
        report: called with (what, done, of).
    """
    log, play = log_of(policy, episodes, seed=seed, greedy=greedy)
    rotated = bool((episodes.chemistry.rotation > 0).any())
    dataset = study.evaluate(episodes, log, rotation=rotated, models=models, report=report)
    scores = dataset["score"].values
    require(bool((scores == play.scores).all()), "log", "of other scores than the world gave", "one that the world agrees with")
    tried, done = play.actions > 0, (log.potion != logs.PADDING).sum()
    return Evaluated(dataset, log, float((tried.sum() - done) / play.actions.size), float(play.entropy.mean()))


def held_out(episodes: Episodes, seed: int = 0) -> Callable[[TrainConfig, Any], dict[str, float]]:
    """What a policy is asked now and then while it learns: its scores on episodes that are not learned from, sampled.

    Args:
        episodes: always the same, so that answers can be compared.
        seed: of the actions that are drawn, the same every time as well.

    Returns:
        a function of configuration and parameters: mean episode score, its standard error, and mean scores of the first and last trial.
    """
    from jaxdiff.agents.policy import Policy

    def evaluate(config: TrainConfig, parameters: Any) -> dict[str, float]:
        scores = Policy(config, parameters).play(episodes.chemistry, episodes.stones, episodes.potions, seed=seed).scores
        whole = _number(scores.sum(1))
        return {"score": whole.mean, "error": whole.error, "first": float(scores[:, 0].mean()), "last": float(scores[:, -1].mean())}

    return evaluate
