"""How rewards are distributed over the complexity of policies (paper, Figures 2, 8, 9, 10 and 13).

R[k] are the rewards of the policies with complexity k ("sliced"), R[<=k] those with complexity at most k ("accumulated").
Axes: R rules, P policies, W random walkers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cbook import boxplot_stats
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from jaxdiff.core.errors import require
from jaxdiff.plots.style import (
    HIGH,
    INK,
    LABEL,
    LOW,
    MIDDLE,
    NOTE,
    POINT,
    SOFT,
    WALK,
    check_dataset,
    check_population,
    check_rules,
    choose_rules,
    describe,
    dress,
    heading,
    new_figure,
    outside_legend,
    panels,
)

if TYPE_CHECKING:
    import xarray as xr

RANDOM_AT = -2.0  # where on the axis of complexity the random walkers stand
_ENVELOPES: tuple[tuple[str, str, Any, str], ...] = (
    ("max", HIGH, "-", "^"),
    ("mean", MIDDLE, (0, (4, 1.2)), "o"),
    ("min", LOW, (0, (1.2, 1)), "v"),
)
_NEEDED = ("reward", "walker_reward", "complexity", "r_max", "hbar", "generated_k", "distinct_k", "r_max_upto", "r_mean_upto", "r_min_upto")


def illustration(seed: int = 32, longest: int = 60, each: int = 50) -> Figure:
    """A made-up balanced environment: complex policies do not earn more on average, but the best and the worst of them are complex.

    Args:
        seed: of the made-up rewards.
        longest: largest complexity.
        each: policies of each complexity.

    Raises:
        InputError: fewer than two complexities or no policies.
    """
    require(longest >= 2, "longest", longest, "an integer of at least 2")
    require(each >= 1, "each", each, "an integer of at least 1")
    k = np.arange(1, longest + 1)
    width = 13.0 * (1 - np.exp(-k / 9.0))
    reward = (2 * np.random.default_rng(seed).beta(4.5, 4.5, (each, longest)) - 1) * width  # [each, longest]
    figure = new_figure(5.6)
    ax = figure.subplots()
    ax.axhline(0, color=SOFT, linewidth=0.8)
    ax.plot(np.broadcast_to(k, reward.shape).reshape(-1), reward.reshape(-1), "o", **_CIRCLE)
    cumulative = np.cumsum(reward.mean(0)) / k
    sliced = (reward.max(0), reward.mean(0), reward.min(0))
    upto = (np.maximum.accumulate(sliced[0]), cumulative, np.minimum.accumulate(sliced[2]))
    lines = []
    for (name, color, *_), a, b in zip(_ENVELOPES, upto, sliced, strict=True):
        lines += ax.plot(k, a, color=color, linewidth=2.6, label=f"{name} of R[≤k], accumulated")
        lines += ax.plot(k, b, color=color, linestyle="--", linewidth=1.3, label=f"{name} of R[k], sliced")
    best = int(np.argmax(sliced[0]))
    ax.annotate(
        f"best policy: reward {sliced[0][best]:.1f}\nat complexity ħ = {k[best]}",
        (k[best], sliced[0][best]),
        (-70 if k[best] > longest / 2 else 0, 26),
        textcoords="offset points",
        ha="center",
        fontsize=NOTE,
        color=INK,
        arrowprops={"arrowstyle": "->", "color": INK},
    )
    low, high = sliced[2].min(), sliced[0].max()
    ax.set(xlim=(0, longest + 1), ylim=(low - 0.08 * (high - low), high + 0.25 * (high - low)))
    dress(ax, "a made-up balanced environment", "complexity of the policy, k", "reward per step, R")
    outside_legend(figure, lines, columns=3)
    return figure


def distribution(dataset: xr.Dataset, population: int = 0, rules: Sequence[int] | None = None) -> Figure:
    """Every policy, the accumulated box plots and envelopes and the random walkers, a panel a rule.

    Args:
        dataset: of `studies.complexity_distribution.measure`.
        population: which of its populations.
        rules: which of its rules; the first eight when None.

    Raises:
        InputError: a dataset of another kind, a population or a rule that it does not have.
    """
    check_dataset(dataset, _NEEDED)
    chosen, one = choose_rules(dataset, rules), dataset.isel(population=check_population(dataset, population))
    k = one["k"].values[np.isfinite(one["r_max_upto"].values[chosen[0]])]
    height = 4.4 if len(chosen) == 1 else 2.75
    figure = new_figure(1.9 + height * len(chosen))
    axes = figure.subplots(len(chosen) + 1, 1, sharex=True, height_ratios=[0.5] + [height] * len(chosen))
    _counts(axes[0], k, one["generated_k"].values[chosen[0]], one["distinct_k"].values[chosen[0]])
    for ax, i in zip(axes[1:], chosen, strict=True):
        _panel(ax, k, one.isel(rule=i))
    step = max(1, len(k) // 21)
    axes[-1].set_xticks([RANDOM_AT, *k[::step]], ["rnd", *map(str, k[::step])])
    axes[-1].set_xlim(RANDOM_AT - 0.8, k[-1] + 0.8)
    axes[-1].set_xlabel("complexity of the policy, k [instructions]; rnd: random walkers", fontsize=LABEL, color=INK)
    heading(figure, f"Rewards by complexity of the policy: {describe(dataset, rules, population)}")
    circle = Line2D([], [], linestyle="", marker="o", **_CIRCLE, label="a policy")
    lines = [Line2D([], [], **_line(*envelope)) for envelope in _ENVELOPES]
    outside_legend(figure, [circle, Patch(**_BOX, label="quartiles of R[≤k]"), *lines])
    return figure


def histogram(dataset: xr.Dataset, population: int = 0, rules: Sequence[int] | None = None, bins: int = 40) -> Figure:
    """Rewards without slicing: wide bars the policies, narrow bars the random walkers, both as a share of their own kind.

    Args:
        dataset: of `studies.complexity_distribution.measure`.
        population: which of its populations.
        rules: which of its rules; the first eight when None.
        bins: bars from reward 0 to 1.

    Raises:
        InputError: a dataset of another kind, a population or a rule that it does not have, or no bins.
    """
    check_dataset(dataset, ("reward", "walker_reward"))
    require(isinstance(bins, int | np.integer) and bins >= 1, "bins", bins, "an integer of at least 1")
    chosen, one = choose_rules(dataset, rules), dataset.isel(population=check_population(dataset, population))
    figure, axes = panels(len(chosen), 3.5, "reward per step, R", "share of its kind [%]")
    edges = np.linspace(0, 1, bins + 1)
    middle = (edges[1:] + edges[:-1]) / 2
    for ax, i in zip(axes, chosen, strict=True):
        row = one.isel(rule=i)
        for kind, width, look in (("reward", 1.0, _WIDE), ("walker_reward", 0.4, _NARROW)):
            values = row[kind].values
            share = 100 * np.histogram(values, edges)[0] / max(values.size, 1)
            ax.bar(middle, share, width / bins, label=kind, **look)
        ax.set_xlim(0, 1)
        ax.yaxis.set_major_locator(MaxNLocator(6, integer=True))
        dress(ax, f"rule {int(row['rule'])}")
    heading(figure, f"How often each reward is reached: {describe(dataset, rules, population)}")
    outside_legend(figure, [Patch(**_WIDE, label="policies"), Patch(**_NARROW, label="random walkers")])
    return figure


def action_complexity(rules: Sequence[int], complexity: Any, reward: Any, walker_complexity: Any, walker_reward: Any) -> Figure:
    """Reward against the complexity of the actions taken, not of the policy that takes them, a panel a rule.

    Args:
        rules: rule numbers, R of them, at most eight.
        complexity: K of each policy's sequence of actions, see `difficulty.complexity.action_sequence`, [R, P].
        reward: mean reward of each policy, [R, P].
        walker_complexity: the same as `complexity` for random walkers, [R, W].
        walker_reward: their rewards, [R, W].

    Raises:
        InputError: shapes that do not fit together, or values that are not finite.
    """
    numbers = check_rules(rules)
    k, r = _pair("reward", complexity, reward, len(numbers))
    walk_k, walk_r = _pair("walker_reward", walker_complexity, walker_reward, len(numbers))
    figure, axes = panels(len(numbers), 3.5, "complexity of the actions [bytes]", "reward per step, R", sharey=True)
    for i, (ax, rule) in enumerate(zip(axes, numbers, strict=True)):
        ax.plot(k[i], r[i], "o", label="policies", **_CIRCLE)
        ax.plot(walk_k[i], walk_r[i], "x", label="walkers", **_CROSS)
        ax.set_ylim(-0.03, 1.03)
        dress(ax, f"rule {rule}")
    heading(figure, "Rewards by complexity of the sequence of actions")
    circle = Line2D([], [], linestyle="", marker="o", **_CIRCLE, label="a policy")
    outside_legend(figure, [circle, Line2D([], [], linestyle="", marker="x", **_CROSS, label="a random walker")])
    return figure


_CIRCLE: dict[str, Any] = {"markersize": 3.5, "markerfacecolor": "none", "markeredgecolor": POINT, "markeredgewidth": 0.6, "zorder": 1}
_CROSS: dict[str, Any] = {"markersize": 5, "markeredgecolor": WALK, "markeredgewidth": 1.0, "zorder": 2}
_BOX: dict[str, Any] = {"facecolor": (1, 1, 1, 0.75), "edgecolor": INK, "linewidth": 1.0}
_WIDE: dict[str, Any] = {"facecolor": "#e9d8b0", "edgecolor": "#a08a55", "linewidth": 0.7}
_NARROW: dict[str, Any] = {"facecolor": WALK, "edgecolor": WALK, "linewidth": 0.5}


def _counts(ax: Axes, k: np.ndarray, generated: np.ndarray, distinct: np.ndarray) -> None:
    """Two rows of numbers: policies generated and different ones at each complexity."""
    step = max(1, -(-len(k) // 24))
    for height, name, numbers, color in ((0.75, "generated", generated, SOFT), (0.2, "different", distinct, INK)):
        ax.text(RANDOM_AT - 0.7, height, name, fontsize=NOTE, color=color, ha="left", va="center")
        for i in k[::step]:
            ax.text(i, height, f"{numbers[i]:.0f}", fontsize=NOTE - 0.5, color=color, ha="center", va="center")
    ax.set_ylim(0, 1)
    ax.axis("off")


def _panel(ax: Axes, k: np.ndarray, row: xr.Dataset) -> None:
    """One rule of one population."""
    _boxes(ax, k, row["complexity"].values, row["reward"].values, row["walker_reward"].values)
    for envelope in _ENVELOPES:
        ax.plot(k, row[f"r_{envelope[0]}_upto"].values[k], zorder=4, **_line(*envelope))
    ax.axvline(RANDOM_AT / 2, color=SOFT, linewidth=0.8)
    ax.set_ylim(-0.03, 1.03)
    dress(ax, f"rule {int(row['rule'])}", None, "reward per step, R")
    ax.set_title(_summary(row), fontsize=NOTE, color=INK, loc="right")
    ax.tick_params(labelbottom=True)


def _line(name: str, color: str, style: Any, marker: str) -> dict[str, Any]:
    return {"color": color, "linestyle": style, "marker": marker, "markersize": 5, "linewidth": 2, "label": f"{name} of R[≤k]"}


def _summary(row: xr.Dataset) -> str:
    walkers = row["walker_reward"].values
    walk = f"; random walkers {walkers.mean():.2f}" if walkers.size else ""
    return f"best {float(row['r_max']):.2f}, first at complexity ħ = {int(row['hbar'])}{walk}"


def _boxes(ax: Axes, k: np.ndarray, complexity: np.ndarray, reward: np.ndarray, walkers: np.ndarray) -> None:
    """Policies as circles beside box plots of R[<=k]; the walkers, where there are any, in a column of their own."""
    ax.plot(complexity + _aside(len(complexity)), reward, "o", label="policies", **_CIRCLE)
    stats = boxplot_stats([reward[complexity <= i] for i in k])
    places = k.astype(float)
    if walkers.size:
        ax.plot(RANDOM_AT + _aside(len(walkers)), walkers, "o", label="walkers", **_CIRCLE)
        stats, places = boxplot_stats(walkers) + stats, np.append(RANDOM_AT, places)
    line = {"color": INK, "linewidth": 1.0, "zorder": 3}
    look: dict[str, Any] = {
        "boxprops": {**_BOX, "zorder": 3},
        "whiskerprops": line,
        "capprops": line,
        "medianprops": {**line, "linewidth": 2.2},
    }
    ax.bxp(stats, list(places + 0.14), widths=0.42, showfliers=False, patch_artist=True, manage_ticks=False, **look)


def _aside(count: int) -> np.ndarray:
    """Where the circles of a column stand: left of its box plot, slightly spread so that equal rewards show; [count]."""
    return -0.28 + 0.22 * (np.arange(count) * 0.618 % 1 - 0.5)


def _pair(name: str, complexity: Any, reward: Any, rules: int) -> tuple[np.ndarray, np.ndarray]:
    k, r = np.asarray(complexity, np.float64), np.asarray(reward, np.float64)
    require(
        k.shape == r.shape and k.ndim == 2 and len(k) == rules,
        name,
        f"of shape {r.shape}",
        f"[{rules}, n] and the shape of its complexity, {k.shape}",
    )
    require(bool(np.isfinite(k).all() and np.isfinite(r).all()), name, "or its complexity not finite", "finite numbers")
    return k, r
