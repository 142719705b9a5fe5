"""Figures 2 to 6 of the paper as rows: what it says, what comes out here, and whether that lies within the tolerance.

The paper defines an agent's score as its mean reward over a session, so this decides; the mean over the last tenth of a session is
printed beside it where agents learn. Intervals are at 95 %. Most of the paper's facts are words or readings of curves; a row states the
range that counts as agreement.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy import stats

from jaxdiff.society.evolution import History
from jaxdiff.society.learners import LEARNERS
from jaxdiff.society.scenarios import Curves, band
from jaxdiff.studies.society import Results

INFINITE = float("inf")


@dataclass(frozen=True)
class Row:
    """One fact.

    Attributes:
        figure: where the paper shows it.
        quantity: what it is.
        reading: how it was computed here.
        paper: what the paper says, a number or words.
        value: the paper's number, None where it says it in words.
        here: what came out.
        low, high: 95 % interval of `here`.
        least, most: range that counts as agreement; None where the row is informational.
    """

    figure: str
    quantity: str
    reading: str
    paper: str
    value: float | None
    here: float
    low: float
    high: float
    least: float | None = None
    most: float | None = None

    @property
    def difference(self) -> float | None:
        """Here less paper, where the paper has a number."""
        return None if self.value is None else self.here - self.value

    @property
    def inside(self) -> bool | None:
        """Whether it agrees; None where the row is informational."""
        return None if self.least is None or self.most is None else bool(self.least <= self.here <= self.most)

    def as_dict(self) -> dict[str, Any]:
        """Fields, difference and verdict, for JSON."""
        plain = {k: (None if isinstance(v, float) and not np.isfinite(v) else v) for k, v in asdict(self).items()}
        return {**plain, "difference": self.difference, "inside": self.inside}


def rows(results: Results) -> list[Row]:
    """All rows, those of the main reading first."""
    name = results.main.name
    made = [*_isolated(results.curves, name), *_six(results.curves, name), *_four(results.curves, name)]
    made += [*_three(results.curves, name, True), *_teams(results.curves["teams"], name, True), *_complexity(results, name)]
    for reading, curves in results.others.items():
        made += [*_three(curves, reading, False), *_teams(curves["teams"], reading, False)]
        made.append(
            _mean("3", "q_learning alone, 10k", f"{reading}, score", "near follower", None, curves["isolated_q_learning"].score[:, 0])
        )
    return made


def _mean(
    figure: str,
    what: str,
    reading: str,
    paper: str,
    value: float | None,
    x: np.ndarray,
    least: float | None = None,
    most: float | None = None,
) -> Row:
    """A row of the mean of one number a session."""
    mean, half = band(x[:, None])
    return Row(figure, what, reading, paper, value, float(mean[0]), float(mean[0] - half[0]), float(mean[0] + half[0]), least, most)


def late(curves: Curves) -> np.ndarray:
    """Mean reward in the last tenth of every session, float64 [S, m]."""
    return curves.own[-max(1, len(curves.own) // 10) :].mean(0, dtype=np.float64)


def _isolated(curves: dict[str, Curves], reading: str) -> Iterator[Row]:
    scores = {name.removeprefix("isolated_"): c.score[:, 0] for name, c in curves.items() if name.startswith("isolated_")}
    yield _mean("3", "random", reading, "0", 0.0, scores["random"], -0.02, 0.02)
    yield _mean("3", "follower", reading, "slightly above .5", 0.5, scores["follower"], 0.42, 0.60)
    yield _mean("3", "oracle", reading, "high, not optimal", None, scores["oracle"], 0.68, 0.98)
    follower = scores["follower"].mean()
    for kind in LEARNERS:
        yield _mean("3", f"{kind} / follower", f"{reading}, score", "near 1 after 10k", 1.0, scores[kind] / follower, 0.5, 1.1)
        yield _mean("3", f"{kind} / follower", f"{reading}, last tenth", "", 1.0, late(curves[f"isolated_{kind}"])[:, 0] / follower)


def _six(curves: dict[str, Curves], reading: str) -> Iterator[Row]:
    competing, sharing = curves["six_competitive"], curves["six_cooperative"]
    seat = {kind: i for i, kind in enumerate(competing.scenario.agents)}
    yield _mean("2 left", "random", reading, "below 0, not much", None, competing.score[:, seat["random"]], -0.10, 0.0)
    for kind in LEARNERS:
        apart = competing.score[:, seat[kind]] - competing.score[:, seat["random"]]
        yield _mean("2 left", f"{kind} - random", reading, "0", 0.0, apart, -0.04, 0.04)
    for kind in ("oracle", "follower"):
        less = competing.score[:, seat[kind]] - curves[f"isolated_{kind}"].score[:, 0]
        yield _mean("2 left", f"{kind} - its isolated score", reading, "below 0", None, less, -INFINITE, 0.0)
        yield _mean("2 left", f"{kind} (fair share .167)", reading, "above", None, competing.score[:, seat[kind]])
    for kind in LEARNERS:
        yield _mean("4 left", kind, reading, "still lost", None, sharing.score[:, seat[kind]], -INFINITE, 0.04)


def _four(curves: dict[str, Curves], reading: str) -> Iterator[Row]:
    competing, sharing = curves["four_competitive"], curves["four_cooperative"]
    for i, kind in enumerate(competing.scenario.agents):
        yield _mean("2 middle", kind, reading, "below .02", None, competing.score[:, i], -INFINITE, 0.03)
    change = (sharing.score - competing.score)[:, :3].mean(1)
    yield _mean("4 middle", "learners' change from 2 middle", reading, "below 0", None, change, -INFINITE, 0.0)
    falls = sharing.score[:, :3].mean(1) < competing.score[:, :3].mean(1)
    yield _mean("4 middle", "share of sessions that fall", reading, "above .5", None, falls.astype(float))


def _three(curves: dict[str, Curves], reading: str, decides: bool) -> Iterator[Row]:
    competing, sharing = curves["three_competitive"], curves["three_cooperative"]
    for kind, value in zip(LEARNERS, (0.2, 0.2, 0.1), strict=True):
        i = LEARNERS.index(kind)
        limits = (value - 0.05, value + 0.05) if decides else (None, None)
        yield _mean("2 right", kind, f"{reading}, score", f"near {value:g}", value, competing.score[:, i], *limits)
        yield _mean("2 right", kind, f"{reading}, last tenth", f"near {value:g}", value, late(competing)[:, i])
    above = (0.0, INFINITE) if decides else (None, None)
    for kind in ("q_learning", "sarsa"):
        ahead = competing.score[:, LEARNERS.index(kind)] - competing.score[:, 2]
        yield _mean("2 right", f"{kind} - qv", f"{reading}, score", "above 0", None, ahead, *above)
    gain = sharing.score - competing.score
    for i, kind in enumerate(LEARNERS):
        yield _mean("4 right", f"{kind}: gain over 2 right", f"{reading}, score", "above 0", None, gain[:, i])
    yield _mean("4 right", "gain of sarsa - of q_learning", f"{reading}, score", "above 0", None, gain[:, 1] - gain[:, 0], *above)
    yield _mean("4 right", "gain of q_learning - of qv", f"{reading}, score", "above 0", None, gain[:, 0] - gain[:, 2], *above)


def _teams(curves: Curves, reading: str, decides: bool) -> Iterator[Row]:
    score, limits = curves.score, (0.09, 0.17) if decides else (None, None)
    lost = (-0.04, 0.04) if decides else (None, None)
    for team, name in enumerate(("Q-learning", "SARSA")):
        pair = score[:, 2 * team : 2 * team + 2]
        yield _mean("5", f"{name} team, better member", f"{reading}, score", "about .13", 0.13, pair.max(1), *limits)
        yield _mean("5", f"{name} team, other member", f"{reading}, score", "about 0", 0.0, pair.min(1), *lost)
        best, other = split_null(curves.own[:, :, 2 * team : 2 * team + 2])
        yield _mean("5", f"{name} team, better member", f"{reading}, null: no roles", "", None, best)
        yield _mean("5", f"{name} team, other member", f"{reading}, null: no roles", "", None, other)
    apart = score[:, :2].mean(1) - score[:, 2:].mean(1)
    yield _mean("5", "Q-learning team - SARSA team", f"{reading}, score", "0", 0.0, apart, *((-0.04, 0.04) if decides else (None, None)))


def split_null(own: np.ndarray, repeats: int = 50, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Better and worse of two members if neither had a role: who is who is drawn anew in every window.

    Args:
        own: rewards, [P, S, 2].
        repeats: how often.
        seed: of the draws.

    Returns:
        mean of the better and of the worse, float64 [S] each.
    """
    rng = np.random.default_rng(seed)
    total, apart = own.sum(-1, dtype=np.float64).mean(0), np.asarray(own[..., 0] - own[..., 1], np.float64)
    signs = rng.integers(0, 2, (repeats, *apart.shape)) * 2 - 1
    split = np.abs((signs * apart).mean(1)).mean(0)
    return (total + split) / 2, (total - split) / 2


def generations(history: History) -> list[Row]:
    """How each probe's score changes with the generation: does the first step make "a big leap" (the paper's section 8)?

    The paper means the mere introduction of others; its numbering, "from i = 0 to i = 1", can also be read as the first selection. Both are
    here, beside the mean change of a later generation. Differences are paired by environment.
    """
    points = np.concatenate([history.alone[None], history.probe]).astype(np.float64)
    reading, made = f"{history.settings.environments} environments", []
    for i, probe in enumerate(history.settings.probes):
        score = points[:, i]
        steps = [("others come in (alone to generation 0)", "a big leap", score[1] - score[0])]
        if len(score) > 2:
            steps.append(("first selection (generation 0 to 1)", "a big leap", score[2] - score[1]))
        if len(score) > 3:
            steps.append((f"a later generation (mean of 1 to {len(score) - 2})", "less", (score[-1] - score[2]) / (len(score) - 3)))
        made += [_mean("generations", f"{probe}: {what}", reading, paper, None, change) for what, paper, change in steps]
    return made


def _complexity(results: Results, reading: str) -> Iterator[Row]:
    strength: dict[tuple[str, str], float] = {}
    for name, words in (("three_competitive", "competitive"), ("three_cooperative", "cooperative")):
        score = results.curves[name].score
        for i, kind in enumerate(LEARNERS):
            here, low, high = spearman(results.complexity, score[:, i])
            strength[name, kind] = here
            yield Row("6", f"{kind}, {words}: rank correlation of K and score", reading, "below 0", None, here, low, high, -1.0, 0.0)
    competing, sharing = results.curves["three_competitive"].score, results.curves["three_cooperative"].score
    for kind in ("q_learning", "sarsa"):
        more = strength["three_cooperative", kind] - strength["three_competitive", kind]
        seat = LEARNERS.index(kind)
        low, high = _difference_interval(results.complexity, sharing[:, seat], competing[:, seat])
        yield Row("6", f"{kind}: cooperative - competitive", reading, "stronger (below 0)", None, more, low, high, -2.0, 0.0)


def _difference_interval(k: np.ndarray, one: np.ndarray, other: np.ndarray, repeats: int = 500, seed: int = 0) -> tuple[float, float]:
    """95 % interval of the difference of two rank correlations with K, from resampling the environments that they share."""
    picked = np.random.default_rng(seed).integers(0, len(k), (repeats, len(k)))
    drawn = [spearman(k[i], one[i])[0] - spearman(k[i], other[i])[0] for i in picked]
    low, high = np.nanquantile(drawn, (0.025, 0.975))
    return float(low), float(high)


def spearman(x: np.ndarray, y: np.ndarray) -> tuple[float, float, float]:
    """Spearman's rank correlation and its 95 % interval (Fisher's transformation, with Bonett and Wright's variance)."""
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return float("nan"), float("nan"), float("nan")  # where nothing varies there is no correlation
    rho = float(np.corrcoef(stats.rankdata(x), stats.rankdata(y))[0, 1])
    half = 1.959964 * np.sqrt((1 + rho**2 / 2) / max(len(x) - 3, 1))
    centre = np.arctanh(np.clip(rho, -0.999999, 0.999999))
    return rho, float(np.tanh(centre - half)), float(np.tanh(centre + half))
