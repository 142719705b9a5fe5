"""Environments of the class Lambda seen by the measures of difficulty, beside how agents fare in them with and without others.

The population is pattern programs: every endless pattern of 1 to n actions is an agent that does not look. Its complexity is the number
of its elements; searching for a good one blindly (weight 2^-K a bit) gives each environment a response curve, and that a difficulty. The
question is whether an environment that is hard in this sense is hard for learners, alone and in company. Axes: E environments, n
programs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import jax
import numpy as np

from jaxdiff.core.errors import require_integer
from jaxdiff.difficulty import response
from jaxdiff.society import bags, batches
from jaxdiff.society.learners import Rates
from jaxdiff.society.sessions import KINDS, Design
from jaxdiff.society.world import Lambda, Params
from jaxdiff.studies.society import Results
from jaxdiff.studies.society_rows import spearman
from jaxdiff.sweep.pieces import Keep, Piece, forget

Progress = Callable[[str, int, int], None]
MEASURES = ("best reward R_max", "difficulty D(.25) [bits]", "difficulty D(.10) [bits]", "K of the environment [bytes]")
SCORES = {
    "oracle alone": ("isolated_oracle", 0),
    "follower alone": ("isolated_follower", 0),
    "q_learning alone": ("isolated_q_learning", 0),
    "q_learning of three": ("three_competitive", 0),
    "q_learning sharing": ("three_cooperative", 0),
}


@dataclass(frozen=True)
class Related:
    """What the comparison gave.

    Attributes:
        environments: E.
        measures: names of the rows.
        scores: names of the columns.
        values: measures of each environment, float64 [measures, E].
        score: of each agent in each environment, float64 [scores, E].
        correlation: Spearman's, its interval's ends: float64 [measures, scores, 3].
        curves: response curves of the environments, abilities and rewards, float64 [2, E, points].
    """

    environments: int
    measures: tuple[str, ...]
    scores: tuple[str, ...]
    values: np.ndarray
    score: np.ndarray
    correlation: np.ndarray
    curves: np.ndarray


def pattern_programs(rng: np.random.Generator, actions: np.ndarray, programs: int, longest: int) -> tuple[np.ndarray, np.ndarray]:
    """Random patterns of uniform length for each environment: elements int8 [E, n, longest] and lengths int32 [n]."""
    lengths = np.sort(rng.integers(1, longest + 1, programs)).astype(np.int32)
    elements = (rng.random((len(actions), programs, longest)) * actions[:, None, None]).astype(np.int8)
    return elements, lengths


def evaluate(params: Params, programs: int = 200, longest: int = 8, steps: int = 1000, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Scores of pattern programs alone in environments: rewards float32 [E, n] and lengths int32 [n].

    Args:
        params: environments with a leading axis E.
        programs: n.
        longest: most elements of a pattern.
        steps: of a session.
        seed: of patterns and sessions.
    """
    for name, value in (("programs", programs), ("longest", longest), ("steps", steps)):
        require_integer(name, value, 1)
    params = jax.tree.map(np.asarray, params)
    count = len(params.table)
    elements, lengths = pattern_programs(np.random.default_rng(seed), params.actions_n, programs, longest)
    # Session i is in environment i modulo E, so programs are the slower axis.
    by_session = np.moveaxis(elements, 0, 1).reshape(-1, 1, longest)
    kind = np.full((programs * count, 1), KINDS.index("pattern"), np.int32)
    design = Design(Lambda(cells=params.table.shape[1], steps=steps), (("pattern",),), bags.alone(1), steps, steps)
    job = batches.Job(design, seed, params, kind, Rates(), by_session, np.repeat(lengths, count)[:, None])
    return batches.run(job).own[0, :, 0].reshape(programs, count).T, lengths


def relate(
    results: Results,
    environments: int = 200,
    programs: int = 200,
    longest: int = 8,
    steps: int = 1000,
    progress: Progress | None = None,
    keep: Keep = forget,
) -> Related:
    """Measures of the first environments of a reproduction beside the scores in them.

    Args:
        results: of `studies.society.run`.
        environments: E, at most as many as there are sessions.
        programs, longest, steps: see `evaluate`.
        progress, keep: see `studies.society.run`.
    """
    count, seed = min(environments, results.settings.sessions), results.settings.seed
    params = jax.tree.map(lambda x: np.asarray(x)[:count], results.curves["three_competitive"].params)
    if progress is not None:
        progress("response curves", 0, count)

    def make() -> Piece:
        rewards, lengths = evaluate(params, programs, longest, steps, seed)
        return {"rewards": rewards, "lengths": lengths}

    about = {"environments": count, "programs": programs, "longest": longest, "steps": steps, "seed": seed}
    played = keep("pattern programs", about, make)
    rewards, lengths = played["rewards"], played["lengths"]
    values, curves = [], []
    for i in range(count):
        bits = lengths * (np.log2(int(params.actions_n[i])) + 1)
        weights, reward = response.universal_weights(bits), rewards[i].astype(np.float64)
        hit = response.difficulty(weights, reward, [0.25, 0.10], statistic="mean_first_hit")
        values.append((reward.max(), *hit, results.complexity[i]))
        curve = response.curve(weights, reward, statistic="mean_first_hit")
        curves.append((curve.theta, curve.reward))
        if progress is not None:
            progress("response curves", i + 1, count)
    measured = np.array(values, np.float64).T
    score = np.stack([results.curves[name].score[:count, seat] for name, seat in SCORES.values()])
    correlation = np.array([[spearman(m, s) for s in score] for m in measured])
    return Related(count, MEASURES, tuple(SCORES), measured, score, correlation, np.moveaxis(np.array(curves), 0, 1))
