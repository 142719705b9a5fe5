"""Figures of the paper's three questions: complexity against difficulty, blind against guided search, interface against interface.

Every point is a rule, mostly at the mean over its populations; the paper's four rules are named. Ranks are compared, so scales matter
less than order: what a figure shows is how far the cloud is from a rising line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.offsetbox import AnchoredText
from matplotlib.patheffects import withStroke
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from jaxdiff.automata.world import PAPER_RULES
from jaxdiff.difficulty import agreement
from jaxdiff.plots.style import FAINT, HIGH, INK, LOOKS, LOW, MIDDLE, NOTE, POINT, SOFT, dress, heading, new_figure, outside_legend, panels
from jaxdiff.studies import guided_search
from jaxdiff.studies.interfaces import PAPER

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

NAMED_EXTREMES = 8


def complexity_and_difficulty(dataset: xr.Dataset, encoding: str = "digits") -> Figure:
    """Difficulty over the compressed size of the agent-free diagram, at two tolerances and under two strategies.

    Args:
        dataset: of `studies.emergence.measure`.
        encoding: of the diagram.
    """
    figure, axes = panels(4, 3.9, "compressed space-time diagram [bytes]", "difficulty D_pos [bits]", sharey=True)
    x = dataset.diagram.sel(form=encoding).values
    rules, groups = dataset.rule.values, dataset.representative.values
    places = [(strategy, gamma) for strategy in ("chained", "fresh") for gamma in (0.0, 0.25)]
    for ax, (strategy, gamma) in zip(axes, places, strict=True):
        y = dataset.difficulty.sel(strategy=strategy, gamma=gamma).values.T
        _cloud(ax, x, y.mean(0), rules)
        _bytes(ax.xaxis)
        dress(ax, f"{strategy.capitalize()}, tolerance {gamma:g}\n{_coefficient(agreement.correlation(x, y, groups=groups))}")
    heading(figure, f"Does a complex automaton make a hard world? {_rules(rules)}")
    return figure


def hardness(dataset: xr.Dataset) -> Figure:
    """Hardness of the best actions h over that of the best policy hbar, and over the diagram.

    Args:
        dataset: of `studies.emergence.measure`.
    """
    figure, axes = panels(2, 4.4, "", "best-action hardness h [bytes]", sharex=False, sharey=True)
    h = dataset.h.values.T
    rules, groups = dataset.rule.values, dataset.representative.values
    sides = (
        (dataset.hbar.sel(strategy="fresh").values.T, "best-policy hardness hbar [instructions]", "Against what the best policy is"),
        (dataset.diagram.sel(form="digits").values[None], "compressed space-time diagram [bytes]", "Against the automaton alone"),
    )
    for ax, (x, label, title) in zip(axes, sides, strict=True):
        _cloud(ax, x.mean(0), h.mean(0), rules)
        _bytes(ax.yaxis)
        dress(ax, f"{title}\n{_coefficient(agreement.correlation(x, h, groups=groups))}", x=label)
    _bytes(axes[1].xaxis)
    heading(figure, f"How complex is what the best policy does? {_rules(rules)}")
    return figure


def blind_and_guided(dataset: xr.Dataset, gamma: float = 0.0) -> Figure:
    """Trials of hill climbers over trials of blind search, and the rules that guidance helps and misleads most.

    Args:
        dataset: of `studies.guided_search.measure`.
        gamma: tolerance.
    """
    searches = guided_search.compare(dataset).sel(gamma=gamma)
    rules = dataset.rule.values
    figure = new_figure(5.6)
    left, right = figure.subplots(1, 2, width_ratios=(1.25, 1))
    blind, guided = searches.blind.mean("population").values, searches.guided.mean("population").values
    censored = (searches.guided_censored | searches.blind_censored).any("population").values
    top = float(max(blind.max(), guided.max())) + 0.5
    left.plot([0, top], [0, top], color=FAINT, linewidth=1.5, zorder=1)
    left.scatter(blind[~censored], guided[~censored], s=20, color=POINT, linewidths=0, zorder=2)
    left.scatter(blind[censored], guided[censored], s=26, facecolors="none", edgecolors=POINT, marker="^", zorder=2)
    _named(left, blind, guided, rules)
    dress(left, "Each point a rule", "blind search, log2 of median trials", "hill climbing, log2 of median trials")
    _note(left, "above the line\nguidance misleads", "upper left", SOFT)
    _note(left, "below: it helps", "lower right", SOFT)
    gain = searches.gain
    middle = gain.mean("population").values
    order = np.argsort(middle, kind="stable")
    several = len(order) > 2 * NAMED_EXTREMES
    chosen = np.concatenate([order[:NAMED_EXTREMES], order[-NAMED_EXTREMES:]]) if several else order
    for place, i in enumerate(chosen):
        color = LOW if middle[i] > 0 else HIGH
        right.plot([0, middle[i]], [place, place], color=color, linewidth=2.0, alpha=0.5)
        right.plot([float(gain[i].min()), float(gain[i].max())], [place, place], color=color, linewidth=4.5, alpha=0.35)
        right.plot([middle[i]], [place], color=color, marker="o", markersize=5)
    right.axvline(0, color=SOFT, linewidth=1)
    right.set_yticks(range(len(chosen)), [f"rule {rules[i]}" for i in chosen])
    dress(right, "Helped most, misled most" if several else "Rule by rule", "bits that guidance saves")
    handles: list[Any] = [
        Line2D([], [], color=POINT, marker="o", linestyle="none", label="rule (mean over populations)"),
        Line2D([], [], color=SOFT, linewidth=4.5, alpha=0.35, label="range over populations"),
    ]
    if censored.any():
        open_mark = Line2D([], [], color=POINT, marker="^", markerfacecolor="none", linestyle="none", label="beyond what was tried")
        handles.insert(1, open_mark)
    outside_legend(figure, handles)
    heading(figure, f"Search guided by reward: {_rules(rules)}, tolerance {gamma:g}, at most {dataset.attrs['budget']:,} trials")
    return figure


def interface_curves(dataset: xr.Dataset) -> Figure:
    """Response curves of the paper's rules through every interface, means over populations at equal tolerance.

    Args:
        dataset: of `studies.interfaces.measure`, with at least one of the paper's rules.
    """
    names = [str(name) for name in dataset.interface.values]
    figure, axes = panels(dataset.sizes["shown"], 3.7, "ability θ [bits]", "reward per step, R", sharex=False)
    middle = dataset.curve.mean("population")
    for ax, rule in zip(axes, dataset.shown.values, strict=True):
        for name, look in zip(names, LOOKS, strict=False):
            theta, reward = middle.sel(interface=name, shown=rule).values
            ax.plot(theta, reward, color=look.color, linestyle=look.linestyle, linewidth=2.6 if name == PAPER else 1.7, label=name)
        dress(ax, f"rule {rule}")
    handles = [
        Line2D([], [], color=look.color, linestyle=look.linestyle, linewidth=2.6 if name == PAPER else 1.7, label=_interface(name))
        for name, look in zip(names, LOOKS, strict=False)
    ]
    outside_legend(figure, handles, 3)
    heading(figure, f"The same task through {len(names)} interfaces")
    return figure


def interface_scatter(dataset: xr.Dataset, gamma: float = 0.0) -> Figure:
    """Difficulty through every other interface over difficulty through the paper's: points of population 0, Spearman's mean over all.

    Args:
        dataset: of `studies.interfaces.measure`.
        gamma: tolerance.
    """
    names = [str(name) for name in dataset.interface.values if name != PAPER]
    bits = dataset.difficulty.sel(gamma=gamma)
    rules, groups = dataset.rule.values, dataset.representative.values
    x = bits.sel(interface=PAPER).values.T
    shown = [(f"through {_interface(name)}", x, bits.sel(interface=name).values.T) for name in names]
    if len(x) > 1:  # how far two populations differ through the same interface is what the others are to be held against
        shown.append((f"through {PAPER} again, other programs", x, np.roll(x, 1, axis=0)))
    figure, axes = panels(len(shown), 3.5, f"D_pos through {PAPER} [bits]", "D_pos [bits]", sharey=True)
    top = float(bits.max()) + 0.5
    for ax, (title, across, up) in zip(axes, shown, strict=True):
        ax.plot([0, top], [0, top], color=FAINT, linewidth=1.5, zorder=1)
        _cloud(ax, across[0], up[0], rules)
        dress(ax, f"{title}\n{_coefficient(agreement.correlation(across, up, groups=groups))}")
    heading(figure, f"Is a hard rule hard through every interface? {_rules(rules)}, tolerance {gamma:g}")
    return figure


_MEANINGS = {
    "clr": "the paper's",
    "lcr": "as the cells stand",
    "rlc": "backwards",
    "lr": "neighbours only",
    "cr": "left unseen",
    "cl": "right unseen",
}


def _interface(name: str) -> str:
    return f"{name} ({_MEANINGS[name]})" if name in _MEANINGS else name


def _rules(rules: np.ndarray) -> str:
    return f"{len(rules)} rules" if len(rules) > 1 else f"rule {rules[0]}"


def _coefficient(found: agreement.Correlation) -> str:
    if not np.isfinite(found.value):
        return "Spearman undefined"
    return f"Spearman {found.value:.2f} (95 %: {found.low:.2f} to {found.high:.2f})"


def _bytes(axis: Axis) -> None:
    """Sizes in bytes on a logarithmic scale with plain numbers."""
    axis.axes.set(**{f"{axis.axis_name}scale": "log"})  # pyright: ignore[reportAttributeAccessIssue]
    axis.set_major_locator(LogLocator(10, (1, 2, 5)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def _note(ax: Axes, text: str, where: str, color: str = INK) -> None:
    box = AnchoredText(text, loc=where, prop={"size": NOTE, "color": color})
    box.patch.set(facecolor="white", edgecolor="none", alpha=0.8)
    ax.add_artist(box)


def _cloud(ax: Axes, x: np.ndarray, y: np.ndarray, rules: np.ndarray) -> None:
    """A point a rule; the paper's are named."""
    ax.scatter(x, y, s=20, color=POINT, linewidths=0, alpha=0.8, zorder=2)
    _named(ax, x, y, rules)


def _named(ax: Axes, x: np.ndarray, y: np.ndarray, rules: np.ndarray) -> None:
    """The paper's rules as large points with their numbers beside them, those that come close to one another on different sides."""
    for rule, offset in zip(PAPER_RULES, ((8, -14), (8, 6), (-32, 6), (8, -14)), strict=True):
        for i in np.flatnonzero(rules == rule):
            ax.scatter([x[i]], [y[i]], s=46, color=MIDDLE, zorder=3)
            style = {
                "fontsize": NOTE,
                "color": MIDDLE,
                "fontweight": "bold",
                "zorder": 4,
                "path_effects": [withStroke(linewidth=3, foreground="white")],
            }
            ax.annotate(str(rule), (x[i], y[i]), offset, textcoords="offset points", **style)
