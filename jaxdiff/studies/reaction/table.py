"""A domain's novelties as rows, and how well distances tell what happens to agents.

The paper's Tables 1 and 2 in form: distance and class of each novelty beside the change of the pass rate, and mean pass rates by class.
Axes: N novelties without the null, A agents.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from jaxdiff.difficulty import prediction
from jaxdiff.difficulty.novelty import ReactionDifficulty
from jaxdiff.difficulty.novelty_levels import NO_NOVELTY, TOO_FEW, UNDETERMINED, Summary, over_levels
from jaxdiff.difficulty.prediction import Association, Confusion, Interval
from jaxdiff.studies.reaction.agents import AGENTS

if TYPE_CHECKING:
    import xarray as xr

CLASSES = ("easy", "medium", "hard")
PREDICTORS = ("D", "shift", "size", "random pass rate")
RESAMPLES = 1000

# The paper's Table 1: distance, and average change of the pass rate of its agents in percent.
PAPER_DISTANCE = (0.76, 0.46, -0.15, -0.16, 0.26, 0.29, 0.22, -0.10, 0.28, 0.43, 0.23, -0.03)
PAPER_CHANGE = (-35, -13, 20, -5, -7, -9, -19, -13, -17, -10, -2, -7)
# Its Table 2: mean pass rate by class.
PAPER_PASS = {"easy": 0.3946, "medium": 0.3874, "hard": 0.2214}


@dataclass(frozen=True)
class NoveltyRow:
    """One novelty.

    Attributes:
        name, kind: of the novelty.
        summary: distances over levels.
        exact: mean of the exact distance where it can be had; NaN elsewhere.
        exact_error: mean of |sampled - exact| on the same levels.
        random_drop: what the pass rate of random tries loses.
        drop: what the pass rate of each agent loses, less the novelty from before, [A].
        passed: pass rate of each agent with the novelty, [A].
    """

    name: str
    kind: str
    summary: Summary
    exact: float
    exact_error: float
    random_drop: Interval
    drop: dict[str, Interval]
    passed: dict[str, float]


def rows(dataset: xr.Dataset) -> list[NoveltyRow]:
    """All novelties, the null last."""
    out = []
    for i, name in enumerate(dataset.novelty.values):
        one = dataset.isel(novelty=i)
        floor = [_distance(np.nan, np.nan, shift, np.nan, False) for shift in one.chance.values]
        fields = _values(one, "d", "size", "shift", "reverse", "undetermined")
        levels = [_distance(*row) for row in zip(*fields, strict=True)]
        exact = one.d_exact.values if "d_exact" in one else np.full(len(levels), np.nan)
        known = ~np.isnan(exact)
        drops = _drops(dataset)[i]
        out.append(
            NoveltyRow(
                str(name),
                str(one.kind.values),
                over_levels(levels, floor),
                float(exact[known].mean()) if known.any() else np.nan,
                float(np.abs(exact - one.d.values)[known].mean()) if known.any() else np.nan,
                _mean(dataset.random_before.values - one.random_after.values),
                {agent: _mean(drops[a]) for a, agent in enumerate(AGENTS)},
                {agent: float(_means(one.after.values[a])) for a, agent in enumerate(AGENTS)},
            )
        )
    return out


@dataclass(frozen=True)
class Verdict:
    """How well distances, less what chance gives, tell what happens to agents.

    Attributes:
        associations: by (predictor, agent); what a predictor says of how much an agent loses.
        confusion: classes by distance against those by loss, for each agent.
        by_class: mean pass rate with novelties of each class, for each agent; NaN where there is none.
    """

    associations: dict[tuple[str, str], Association]
    confusion: dict[str, Confusion]
    by_class: dict[str, dict[str, float]]


def verdict(dataset: xr.Dataset, found: list[NoveltyRow], seed: int = 0) -> Verdict:
    """Set distances beside losses, the null and undetermined novelties left out.

    Args:
        dataset: as from `protocol.run`.
        found: as from `rows`.
        seed: of bootstrap and permutations.
    """
    use = [i for i, row in enumerate(found) if row.name != dataset.attrs["null"] and row.summary.verdict != UNDETERMINED]
    counts = ~dataset.undetermined.values.astype(bool)
    arrays = {
        "D": dataset.d.values - dataset.chance.values,
        "shift": dataset["shift"].values - dataset.chance.values,
        "size": dataset["size"].values,
    }
    arrays["random pass rate"] = dataset.random_before.values - dataset.random_after.values
    predictors = {name: np.where(counts, array, np.nan)[use] for name, array in arrays.items()}
    rival = predictors["random pass rate"]
    drops = _drops(dataset)[use]
    enough = len(use) >= prediction.FEWEST
    associations = (
        {}
        if not enough
        else {
            (name, agent): prediction.associate(
                predictor, drops[:, a], rival if name != "random pass rate" else None, resamples=RESAMPLES, seed=seed
            )
            for name, predictor in predictors.items()
            for a, agent in enumerate(AGENTS)
        }
    )
    # What cannot be told from no novelty is easy.
    classes = ["easy" if found[i].summary.verdict in (NO_NOVELTY, TOO_FEW) else found[i].summary.verdict for i in use]
    confusion = {agent: prediction.confusion(classes, _means(drops[:, a]), CLASSES) for a, agent in enumerate(AGENTS)}
    by_class = {
        agent: {
            c: float(np.mean(passed))
            if (passed := [found[i].passed[agent] for i, k in zip(use, classes, strict=True) if k == c])
            else np.nan
            for c in CLASSES
        }
        for agent in AGENTS
    }
    return Verdict(associations, confusion, by_class)


def paper(seed: int = 0) -> tuple[Association, Association]:
    """The paper's own table judged the same way: all twelve novelties, and without the first, whose point lies far from all others."""
    distance, loss = np.array(PAPER_DISTANCE), -np.array(PAPER_CHANGE, float)
    whole, without = (prediction.associate(distance[i:], loss[i:], resamples=1, seed=seed) for i in (0, 1))
    return whole, without


def sentences(dataset: xr.Dataset, found: list[NoveltyRow], judged: Verdict) -> list[str]:
    """Where distances predict and where they do not, in words."""
    out = []
    if not judged.associations:
        return [f"fewer than {prediction.FEWEST} novelties that count: nothing to compare"]
    for agent in AGENTS:
        ours, rival = judged.associations["D", agent], judged.associations["random pass rate", agent]
        if np.isnan(ours.spearman.value):
            out.append(f"{agent}: loses the same with every novelty; nothing to predict")
            continue
        says = "predicts" if ours.p < 0.05 and ours.spearman.value > 0 else "does not reliably predict"
        says = "goes the wrong way about" if ours.p < 0.05 and ours.spearman.value < 0 else says
        # One of the two can be far ahead by chance with so few novelties, so a difference is only called one beyond both intervals.
        better = (
            "more than"
            if ours.spearman.low > rival.spearman.high
            else "clearly worse than"
            if ours.spearman.high < rival.spearman.low
            else "not clearly better or worse than"
        )
        out.append(
            f"{agent}: D {says} the loss (rank correlation {ours.spearman.value:.2f} "
            f"[{ours.spearman.low:.2f}, {ours.spearman.high:.2f}], p {ours.p:.3f}, {ours.without_one[0]:.2f} to {ours.without_one[1]:.2f} "
            f"without any one novelty), {better} the change of the random pass rate ({rival.spearman.value:.2f})"
        )
    unseen = [
        row.name
        for row in found
        if row.summary.verdict == NO_NOVELTY and row.name != dataset.attrs["null"] and row.drop["frozen"].low > 0.05
    ]
    if unseen:
        out.append(f"not seen by D although the frozen policy loses more than .05: {', '.join(unseen)}")
    return out


def _distance(d: float, size: float, shift: float, reverse: float, undetermined: Any) -> ReactionDifficulty:
    return ReactionDifficulty(float(d), float(size), float(shift), float(reverse), bool(undetermined), ())


def _values(dataset: xr.Dataset, *names: str) -> list[np.ndarray]:
    return [dataset[name].values for name in names]


def _drops(dataset: xr.Dataset) -> np.ndarray:
    """Before less after, [N + 1, A, M]."""
    return dataset.before.values - dataset.after.values


def _means(values: np.ndarray) -> np.ndarray:
    """Means over levels, the last axis; NaN where there is none."""
    known = ~np.isnan(values)
    return np.where(known.any(-1), np.nansum(values, -1) / np.maximum(known.sum(-1), 1), np.nan)


def _mean(values: np.ndarray) -> Interval:
    """Mean over levels with a normal 95 % interval."""
    known = values[~np.isnan(values)]
    half = 1.96 * known.std(ddof=1) / np.sqrt(len(known)) if len(known) > 1 else np.nan
    value = float(known.mean()) if len(known) else np.nan
    return Interval(value, value - half, value + half)
