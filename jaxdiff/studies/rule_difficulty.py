"""Many rules, several populations, and how hard each rule is for each: what the paper's questions are asked of.

The same programs meet every rule, under the conventions of `complexity_distribution` (the same seed gives the same programs): K is the
zlib length of simplified programs, programs that are repeated after simplification are removed before a response function is computed,
D is log2 of Equation 9's median. Only what a ranking of rules needs is kept. Axes: R rules, S populations, P programs, G tolerances.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import jax
import numpy as np

from jaxdiff.automata import apl, strategies, world
from jaxdiff.automata.compiled import longest_program
from jaxdiff.core.errors import require, require_integer
from jaxdiff.difficulty import complexity, response
from jaxdiff.populations import programs as population
from jaxdiff.studies import search
from jaxdiff.studies.complexity_distribution import MOST_POLICIES, MOST_REWARDS, MOST_STEPS

GAMMAS = (0.0, 0.05, 0.25)
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Settings:
    """Which rules and which populations. The defaults are the paper's world and the smaller of its two sizes, for all rules.

    Attributes:
        rules: rule numbers.
        policies: programs in a population, P.
        populations: independent populations, S.
        steps: T per policy.
        seed: of everything random.
        width: cells of the ring, configuration 0101..., the agent at the centre.
        longest: most instructions of a program.
    """

    rules: tuple[int, ...] = tuple(range(256))
    policies: int = 1900
    populations: int = 3
    steps: int = world.PAPER_STEPS
    seed: int = 0
    width: int = world.PAPER_WIDTH
    longest: int = population.LONGEST

    def __post_init__(self) -> None:
        require(isinstance(self.rules, tuple | list) and len(self.rules) > 0, "rules", self.rules, "at least one rule, (110,)")
        require(len(set(self.rules)) == len(self.rules), "rules", self.rules, "every rule once")
        require_integer("policies", self.policies, 2)
        require_integer("populations", self.populations, 1)
        total = self.policies * self.populations
        require(total <= MOST_POLICIES, "policies", self.policies, f"at most {MOST_POLICIES:,} in all populations together")
        rewards = total * len(self.rules)
        require(rewards <= MOST_REWARDS, "policies", self.policies, f"at most {MOST_REWARDS:,} on all rules together (here {rewards:,})")
        require_integer("steps", self.steps, 1, MOST_STEPS)
        require_integer("seed", self.seed, 0, 2**32 - 1)
        require_integer("longest", self.longest, 1, longest_program("lr"))  # so that every interface can run them
        world.SAECA(width=self.width, steps=self.steps)
        self.worlds()

    def worlds(self) -> world.Params:
        """The R worlds."""
        return world.paper_world(np.asarray(self.rules), self.width)

    def attributes(self) -> dict[str, int]:
        """Everything but the rules, for a dataset."""
        return {name: getattr(self, name) for name in ("policies", "populations", "steps", "seed", "width", "longest")}


@dataclass(frozen=True)
class Populations:
    """S populations.

    Attributes:
        programs: int8 [S, P, L].
        complexity: K, int64 [S, P].
        kept: whether no earlier program has the same simplified form, bool [S, P].
    """

    programs: np.ndarray
    complexity: np.ndarray
    kept: np.ndarray


@dataclass(frozen=True)
class Difficulty:
    """How hard rules are for populations.

    Attributes:
        gammas: tolerances, float64 [G].
        first_hit: programs drawn until one reaches the target (Equation 9), float64 [R, S, G].
        target: the reward that is reached, float64 [R, S, G].
        hbar: least K with the highest reward (Equation 6), int64 [R, S].
        r_max, r_mean: float64 [R, S]; of all programs, repeated ones counted.
    """

    gammas: np.ndarray
    first_hit: np.ndarray
    target: np.ndarray
    hbar: np.ndarray
    r_max: np.ndarray
    r_mean: np.ndarray

    @property
    def bits(self) -> np.ndarray:
        """D_pos, float64 [R, S, G]."""
        return response.log_size(self.first_hit)


@dataclass(frozen=True)
class Baseline:
    """The populations in fresh worlds with the paper's observation, which all three questions start from.

    Attributes:
        populations: the programs.
        evaluation: their rewards, [R, S, P].
        difficulty: of the rules.
    """

    populations: Populations
    evaluation: strategies.Evaluation
    difficulty: Difficulty


def baseline(settings: Settings, progress: Progress | None = None) -> Baseline:
    """Draw, evaluate and measure."""
    populations = draw(settings)
    evaluation = evaluate(settings, populations.programs, progress=progress)
    return Baseline(populations, evaluation, difficulty(populations, evaluation.reward, GAMMAS, progress))


def draw(settings: Settings) -> Populations:
    """The populations that `complexity_distribution.measure` draws with the same seed and as many programs."""
    key, _ = jax.random.split(jax.random.key(settings.seed))
    programs = population.sample(key, settings.policies, settings.longest, settings.populations)
    simplified = apl.simplify(programs)
    k = complexity.lempel_ziv(simplified.reshape(-1, settings.longest)).reshape(programs.shape[:2])
    return Populations(programs, k, ~np.stack([search.repeated(form) for form in simplified]))


def evaluate(
    settings: Settings, programs: np.ndarray, observation: str = "clr", strategy: str = "fresh", progress: Progress | None = None
) -> strategies.Evaluation:
    """Rewards [R, S, P] of programs int8 [S, P, L], each in a fresh world or chained, without random walkers."""
    say = None if progress is None else lambda done, of: progress(f"evaluate {strategy} {observation}", done, of)
    if strategy == "chained":
        return strategies.chained(programs, settings.worlds(), settings.steps, observation=observation, progress=say)
    flat = programs.reshape(-1, programs.shape[-1])
    e = strategies.fresh(flat, settings.worlds(), settings.steps, observation=observation, progress=say)
    shape = (len(settings.rules), *programs.shape[:2])
    walkers = np.zeros((*shape[:2], 0), np.int64)
    return strategies.Evaluation(
        e.numerator.reshape(shape), e.scale, e.steps, e.cells.reshape(*shape, -1), e.position.reshape(shape), walkers
    )


def difficulty(
    populations: Populations, reward: np.ndarray, gammas: tuple[float, ...] = GAMMAS, progress: Progress | None = None
) -> Difficulty:
    """Difficulty of rules from rewards [R, S, P]."""
    rules, sets = reward.shape[:2]
    g = np.asarray(gammas, np.float64)

    def one(j: int) -> tuple[np.ndarray, np.ndarray]:
        kept = populations.kept[j]
        weights = response.universal_weights(populations.complexity[j][kept])
        each = [response.thresholds(weights, row[j][kept], g) for row in reward]
        return response.draws(_stacked(each, int(kept.sum()))).reshape(rules, len(g)), np.stack([t.target for t in each])

    found = []
    with ThreadPoolExecutor() as threads:  # NumPy's inner loops run side by side
        for number, result in enumerate(threads.map(one, range(sets))):
            found.append(result)
            if progress is not None:
                progress("response functions", number + 1, sets)
    first_hit, target = (np.stack(column, 1) for column in zip(*found, strict=True))
    best = reward.max(-1)
    k = np.where(reward == best[..., None], populations.complexity, np.iinfo(np.int64).max)
    return Difficulty(g, first_hit, target, k.min(-1), best, reward.mean(-1))


def _stacked(each: list[response.Thresholds], policies: int) -> response.Thresholds:
    """Success sets of several rules for the same policies as those of one, so that their medians are found together."""
    # Sets are told apart by how many reach the target: those of different rules must not be taken for one another.
    reached = [t.reached + i * (policies + 1) for i, t in enumerate(each)]
    failures, success, target = (np.concatenate(column) for column in zip(*((t.failures, t.success, t.target) for t in each), strict=True))
    return response.Thresholds(each[0].weights, failures, success, np.concatenate(reached), target, np.nan)
