"""The complexity distribution of *all* policies up to a length, instead of a sample: what `complexity_distribution` estimates, exactly.

The census gives every behaviour with its shortest length K and the number of programs of every length that behave so; one evaluation of a
behaviour stands for all of them. Three weightings of the space are offered:

- `programs`: the paper's population (section 5.2), program lengths uniform in 1..longest and instructions uniform;
- `shortest`: every behaviour once, found with w = 2^-K, K exact (Equation 11);
- `coding`: every behaviour once, found with the probability that a random program behaves so (the coding theorem's estimate of 2^-K),
  which also weighs the distribution. There are as many different weights as behaviours, so only means are computed, no median.

R_mean is the mean under the weighting: of a random program, of all behaviours alike, or under the prior.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal

import numpy as np

from jaxdiff.automata import census, strategies, world
from jaxdiff.core.errors import require
from jaxdiff.difficulty import indicators, response

if TYPE_CHECKING:
    import xarray as xr

KIND = "whole-space"
Weighting = Literal["programs", "shortest", "coding"]
WEIGHTINGS: tuple[Weighting, ...] = ("programs", "shortest", "coding")
Progress = Callable[[str, int, int], None]
# Longer censuses can be made, but their rewards for one rule no longer fit in a results file that one wants to open.
LONGEST = 14


@dataclass(frozen=True)
class Settings:
    """What is measured.

    Attributes:
        longest: programs of at most so many instructions, 1..14.
        rules: rule numbers.
        steps: T per policy.
        width: cells of the ring, configuration 0101...
        start: position of the agent, 0-based; the centre when None.
        observation: what policies see, see `automata.world.SAECA`.
    """

    longest: int = 10
    rules: tuple[int, ...] = world.PAPER_RULES
    steps: int = world.PAPER_STEPS
    width: int = world.PAPER_WIDTH
    start: int | None = None
    observation: str = "clr"

    def __post_init__(self) -> None:
        allowed = f"1..{LONGEST} instructions"
        if self.longest > LONGEST:
            size = census.expected(self.longest)
            allowed += f"; {self.longest} would have about {size:.0e} behaviours and take about {size * 3e-6 / 60:.0f} minutes to count"
        require(1 <= self.longest <= LONGEST, "census", self.longest, allowed)
        require(len(self.rules) > 0 and len(set(self.rules)) == len(self.rules), "rules", self.rules, "at least one rule, every rule once")
        env = world.SAECA(width=self.width, steps=self.steps, observation=self.observation, start=self.start)
        world.paper_world(np.asarray(self.rules), env.width, env.start)


def measure(settings: Settings, progress: Progress | None = None) -> xr.Dataset:
    """Count all behaviours, run each of them on every rule (strategy Fresh), and compute indicators and response functions exactly.

    Args:
        settings: what to measure.
        progress: called with (what, done, in all) now and then.

    Returns:
        dataset with the dimensions rule, behaviour, instruction, length, weighting, side, statistic, gamma.
    """
    import xarray as xr

    def say(what: str) -> Callable[[int, int], None] | None:
        return None if progress is None else partial(progress, what)

    counted = census.census(settings.longest, len(settings.observation), say("count"))
    params = world.paper_world(np.asarray(settings.rules), settings.width, settings.start)
    run = strategies.fresh(counted.programs, params, settings.steps, observation=settings.observation, progress=say("evaluate"))
    gammas = response.gammas_101()
    shape = (len(settings.rules), len(WEIGHTINGS), len(response.SIDES), len(response.STATISTICS), len(gammas))
    first_hit, columns = np.full(shape, np.nan), {name: np.full(shape[:2], np.nan) for name in _INDICATORS}
    envelope = np.full((len(settings.rules), settings.longest + 1), np.nan)
    share = {
        "programs": counted.by_uniform_length(),
        "shortest": np.full(len(counted.length), 1 / len(counted.length)),
        "coding": counted.by_coding_theorem(),
    }
    for i, reward in enumerate(run.reward):
        if progress is not None:
            progress("response functions", i, len(run.reward))
        for w, weighting in enumerate(WEIGHTINGS):
            summary = indicators.summarise(counted.length, reward, share[weighting])
            for name in _INDICATORS:
                columns[name][i, w] = getattr(summary, name)
            envelope[i, : len(summary.r_max_upto)] = summary.r_max_upto
            items = _items(counted, reward, weighting)
            for a, side in enumerate(response.SIDES):
                sets = response.thresholds(items.weights, items.rewards, gammas, side, items.multiplicity, summary.r_mean)
                for b, statistic in enumerate(response.STATISTICS):
                    if weighting != "coding" or statistic != "median":
                        first_hit[i, w, a, b] = response.draws(sets, statistic)
    if progress is not None:
        progress("response functions", len(run.reward), len(run.reward))
    variables = {
        "program": (("behaviour", "instruction"), counted.programs),
        "complexity": (("behaviour",), counted.length),
        "programs": (("behaviour", "length"), counted.counts),
        "numerator": (("rule", "behaviour"), run.numerator),
        "reward": (("rule", "behaviour"), run.reward),
        "first_hit": (("rule", "weighting", "side", "statistic", "gamma"), first_hit),
        "difficulty": (("rule", "weighting", "side", "statistic", "gamma"), response.log_size(first_hit)),
        "r_max_upto": (("rule", "k"), envelope),
        **{name: (("rule", "weighting"), values) for name, values in columns.items()},
    }
    coordinates = {
        "rule": list(settings.rules),
        "weighting": list(WEIGHTINGS),
        "side": list(response.SIDES),
        "statistic": list(response.STATISTICS),
        "gamma": gammas,
        "length": np.arange(settings.longest + 1),
        "k": np.arange(settings.longest + 1),
    }
    start = -1 if settings.start is None else settings.start
    attributes = {"longest": settings.longest, "steps": settings.steps, "width": settings.width, "observation": settings.observation}
    return xr.Dataset(variables, coordinates, {**attributes, "start": start, "scale": run.scale, "strategy": "fresh"})


_INDICATORS = ("r_max", "r_mean", "r_min", "sd", "hbar", "hbar_robust", "correlation", "correlation_max")


@dataclass(frozen=True)
class _Items:
    """A population for `difficulty.response`: weight and reward of each item, and how many equal policies it stands for."""

    weights: np.ndarray
    rewards: np.ndarray
    multiplicity: np.ndarray | None


def _items(counted: census.Census, reward: np.ndarray, weighting: Weighting) -> _Items:
    """Under `programs` an item is all programs of one length with one behaviour; otherwise it is one behaviour."""
    if weighting == "programs":
        behaviour, length = np.nonzero(counted.counts[:, 1:])
        length += 1
        return _Items(6.0**-length, reward[behaviour], counted.counts[behaviour, length])
    if weighting == "shortest":
        return _Items(response.universal_weights(counted.length), reward, None)
    return _Items(counted.by_coding_theorem(), reward, None)
