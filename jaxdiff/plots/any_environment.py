"""Figures of a population's returns in any world: the random-weight study's three panels, the response curve, descriptions and returns.

Axes: P policies, E episodes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from jaxdiff.core.errors import require
from jaxdiff.plots.style import HIGH, INK, LOOKS, MIDDLE, POINT, SOFT, dress, heading, new_figure, outside_legend

MOST_POINTS = 20_000


def three_panels(returns: Mapping[str, Any], title: str, solved: float | None = None) -> Figure:
    """Mean returns in ascending order with every episode behind them, their histogram, and variance against mean.

    Args:
        returns: by population, [P, E] each; a row of three panels each.
        title: of the figure.
        solved: the mean return that counts as solved, drawn as a line.

    Raises:
        InputError: no populations.
    """
    require(len(returns) > 0, "returns", "empty", "at least one population")
    figure = new_figure(2.9 * len(returns) + 0.9)
    axes = figure.subplots(len(returns), 3, squeeze=False, sharex="col", sharey="col")  # rows can be compared
    arrays = [np.asarray(values, np.float64) for values in returns.values()]
    if solved is not None and not min(r.min() for r in arrays) <= solved <= max(r.max() for r in arrays):
        solved = None  # nobody comes near it
    last = len(returns) - 1
    for row, (name, values) in enumerate(returns.items()):
        _row(axes[row], np.asarray(values, np.float64), name, solved, row == last)
    heading(figure, title)
    return figure


def _row(axes: Any, r: np.ndarray, name: str, solved: float | None, last: bool) -> None:
    mean = r.mean(1)
    order = np.argsort(mean, kind="stable")
    rank = np.arange(len(mean))
    shown = np.linspace(0, len(mean) - 1, min(len(mean), max(MOST_POINTS // r.shape[1], 1))).astype(int)
    ax: Axes = axes[0]
    points = np.repeat(shown, r.shape[1])
    ax.plot(points, r[order[shown]].reshape(-1), ".", color=POINT, markersize=1.5, alpha=0.4, rasterized=True)
    ax.plot(rank, mean[order], color=MIDDLE, linewidth=2)
    dress(ax, name, "policies by mean return" if last else None, "return")
    ax = axes[1]
    ax.hist(mean, bins=40, color=MIDDLE, log=True)
    dress(ax, None, "mean return" if last else None, "policies")
    ax = axes[2]
    ax.plot(mean, r.var(1), ".", color=MIDDLE, markersize=2.5, alpha=0.5, rasterized=True)
    dress(ax, None, "mean return" if last else None, "variance of returns")
    if solved is not None:
        axes[0].axhline(solved, color=HIGH, linewidth=1.2, linestyle="--")
        for ax in axes[1:]:
            ax.axvline(solved, color=HIGH, linewidth=1.2, linestyle="--")


def response_curve(theta: Any, reward: Any, random: float | None = None, band: Any = None) -> Figure:
    """The mean return that a blind search of so many bits reaches, and on the left how hard it is to be bad.

    Args:
        theta, reward: the curve, [2G].
        random: mean return of random actions, drawn as a line.
        band: least and largest ability at every point, [2, 2G].
    """
    figure = new_figure(4.2)
    ax = figure.subplots()
    ax.axvline(0, color=SOFT, linewidth=0.8)
    ax.plot(theta, reward, color=MIDDLE, linewidth=2, drawstyle="steps-post", label="response curve")
    handles: list[Artist] = [Line2D([], [], color=MIDDLE, linewidth=2, label="response curve")]
    if band is not None:
        ends = np.asarray(band, np.float64)
        known = ends[np.isfinite(ends)]
        reach = max(np.abs(known).max(initial=0.0), np.abs(theta).max()) + 0.5  # what is infinite runs to the edge
        ax.fill_betweenx(reward, *ends.clip(-reach, reach), color=MIDDLE, alpha=0.25, linewidth=0)
        handles.append(Patch(color=MIDDLE, alpha=0.25, label="95 %"))
    if random is not None and np.isfinite(random):
        ax.axhline(random, color=HIGH, linestyle="--", linewidth=1.2)
        handles.append(Line2D([], [], color=HIGH, linestyle="--", label="random actions"))
    dress(ax, None, "ability: log2 of policies tried (left of 0: to be bad)", "mean return")
    outside_legend(figure, handles)
    return figure


def descriptions(bits: Any, mean: Any, group: Any, names: tuple[str, ...]) -> Figure:
    """Mean return against length of the description, a marker a population."""
    figure = new_figure(4.2)
    ax = figure.subplots()
    handles = []
    for number, name in enumerate(names):
        look, mine = LOOKS[number % len(LOOKS)], np.asarray(group) == number
        ax.plot(np.asarray(bits)[mine], np.asarray(mean)[mine], look.marker, color=look.color, markersize=3, alpha=0.4, rasterized=True)
        handles.append(Line2D([], [], color=look.color, marker=look.marker, linestyle="", label=name))
    dress(ax, None, "length of the description [bits]", "mean return")
    ax.tick_params(colors=INK)
    outside_legend(figure, handles, columns=3)
    return figure
