"""The item bank at a glance, and the tests that are made of it.

Ability is on the budget scale throughout: log2 of the number of policies tried [bits].
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib import patheffects
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from jaxdiff.core.errors import require
from jaxdiff.difficulty import irt
from jaxdiff.plots.style import FAINT, HIGH, INK, LOOKS, NOTE, SOFT, dress, heading, new_figure, outside_legend
from jaxdiff.studies import item_bank

if TYPE_CHECKING:
    import xarray as xr

ABILITY = "ability θ = log₂ of the number of policies tried [bits]"
CAPTION = {"fontsize": NOTE, "color": INK}
# Rules of the paper are always named in the scatter.
PAPER_RULES = (184, 110, 122, 164)
HARD = 0.25  # tolerance of the difficulty that orders the catalogue
MOST_ITEMS = len(LOOKS)


def catalogue(bank: xr.Dataset, strategy: str | None = None) -> Figure:
    """All classes of rules in one picture: how the chance of success grows with ability, and how difficulty goes with discrimination.

    Above, a row for the representative of each class, easiest first; below, every item that tells something.

    Args:
        bank: of `item_bank.items`.
        strategy: which of its strategies; the first when None.

    Raises:
        InputError: no bank, a strategy that it does not have, or one without a representative rule.
    """
    _check(bank, ("icc", "difficulty", "curve_discrimination", "determined", "at_ceiling", "is_representative"))
    names = bank["strategy"].values.tolist()
    require(strategy is None or strategy in names, "strategy", strategy, f"one of {', '.join(names)}")
    mine = bank.sel(strategy=names[0] if strategy is None else strategy)
    classes = mine.isel(rule=np.flatnonzero(mine["is_representative"].values))
    require(classes.sizes["rule"] > 0, "bank", "without a representative rule", "at least one rule that is the least of its class")
    ordered = classes.isel(rule=_easiest_first(classes))
    rows = -(-ordered.sizes["rule"] // 2) if ordered.sizes["rule"] > 12 else ordered.sizes["rule"]
    height = 0.172 * max(rows, 16)  # of the heat maps; fewer rows are drawn higher, so that the colour bar has room for its name
    figure = new_figure(height + 6.6)
    halves: Any = figure.subfigures(2, 1, height_ratios=[height + 1.5, 5.1])
    upper, lower = halves
    parts = [ordered.isel(rule=slice(first, first + rows)) for first in range(0, ordered.sizes["rule"], rows)]
    axes = upper.subplots(1, len(parts), squeeze=False)[0]
    image = None
    for ax, part in zip(axes, parts, strict=True):
        image = _rows(ax, part, rows)
    bar = upper.colorbar(image, ax=list(axes), shrink=min(1.0, 3.2 / height), aspect=16, pad=0.015)
    bar.set_label(f"Pr[success], γ = {bank.attrs['gamma']:g}", **CAPTION)
    bar.ax.tick_params(labelsize=NOTE, colors=INK)
    bar.outline.set_visible(False)  # pyright: ignore[reportCallIssue]
    mark: dict[str, Any] = {"linestyle": "", "marker": "o", "markersize": 7, "markeredgewidth": 1.5}
    upper.legend(
        handles=[
            Line2D(
                [], [], markerfacecolor="none", markeredgecolor=SOFT, label="(white) half find a reward within 25 % of the best", **mark
            ),
            Line2D([], [], markerfacecolor=HIGH, markeredgecolor=HIGH, label="half find the best", **mark),
        ],
        loc="outside lower center",
        ncols=2,
        fontsize=NOTE,
        labelcolor=INK,
        frameon=False,
    )
    _scatter(lower.subplots(), mine)
    count = f"{ordered.sizes['rule']} of the 88 classes of rules" if ordered.sizes["rule"] < 88 else "all 88 classes of rules"
    source = f"strategy {mine['strategy'].item()}, {bank.attrs['policies']:,} policies"
    heading(figure, f"What ability each automaton asks for: {count}, {source}")
    return figure


def hand_picked(test: xr.Dataset, bank: xr.Dataset) -> Figure:
    """The items of a small test: their characteristic curves, and the information they give together.

    Args:
        test: of `assembly.hand_picked`, at most eight items.
        bank: the bank that it was picked from.

    Raises:
        InputError: no test, or more items than can be told apart.
    """
    _check(test, ("icc", "item_a", "item_b", "ability", "information"))
    require(test.sizes["item"] <= MOST_ITEMS, "test", f"of {test.sizes['item']} items", f"at most {MOST_ITEMS} items")
    figure = new_figure(5.2)
    left, right = figure.subplots(1, 2)
    fine = np.linspace(0.0, float(bank["theta_budget"].max()), 301)
    total, handles = np.zeros(fine.shape), []
    for look, name in zip(LOOKS, test["item"].values, strict=False):
        one = test.sel(item=name)
        a, b = float(one["item_a"]), float(one["item_b"])
        told = irt.information(fine, a, b)
        total += told
        left.plot(one["theta_budget"], one["icc"], color=look.color, linestyle=look.linestyle, linewidth=2.2, label=str(name))
        left.plot([b], [0.5], look.marker, color=look.color, markersize=7)
        right.plot(fine, told, color=look.color, linestyle=look.linestyle, linewidth=1.8, label=str(name))
        line = {"color": look.color, "linestyle": look.linestyle, "marker": look.marker, "linewidth": 2.2, "markersize": 7}
        handles.append(Line2D([], [], label=f"{name}: a = {a:.2f}, b = {b:.1f}", **line))
    right.plot(fine, total, color=INK, linewidth=2.8, label="all together")
    handles.append(Line2D([], [], color=INK, linewidth=2.8, label="all together"))
    dress(left, "probability of success", ABILITY.replace(" = log₂ of the number of policies tried", ""), "Pr[success], exact")
    dress(right, "information", ABILITY.replace(" = log₂ of the number of policies tried", ""), "information [1/bit²]")
    left.set(ylim=(0, 1.02), xlim=(0, fine[-1]))
    right.set(ylim=(0, None), xlim=(0, fine[-1]))
    outside_legend(figure, handles, 3)
    heading(figure, f"A test of {test.sizes['item']} hand-picked automata")
    return figure


def adaptive(comparison: xr.Dataset, test: xr.Dataset) -> Figure:
    """An adaptive test beside others: error by number of items, and who it took the persons to be.

    Args:
        comparison, test: both of `studies.adaptive.compare`.

    Raises:
        InputError: other datasets.
    """
    _check(comparison, ("rmse",))
    _check(test, ("theta_estimated", "standard_error", "theta_budget"))
    figure = new_figure(5.4)
    left, right = figure.subplots(1, 2)
    for look, name in zip(LOOKS, comparison["test"].values, strict=False):
        style = {"color": look.color, "linestyle": look.linestyle, "marker": look.marker, "linewidth": 2.2, "markersize": 5.5}
        left.plot(comparison["given"], comparison["rmse"].sel(test=name), label=str(name), **style)
    left.set(ylim=(0, None))
    left.xaxis.set_major_locator(MaxNLocator(integer=True))
    left.legend(fontsize=NOTE, labelcolor=INK, frameon=False)
    dress(left, "error by number of items", "items given", "root mean square error [bits]")
    last = test.isel(given=-1)
    most = float(last["theta_budget"].max())
    right.plot([0, most], [0, most], color=SOFT, linewidth=1.2, linestyle="--", label="equal")
    right.errorbar(
        last["theta_budget"], last["theta_estimated"], last["standard_error"], fmt="none", ecolor=FAINT, elinewidth=0.9, zorder=1
    )
    right.plot(last["theta_budget"], last["theta_estimated"], "o", color=INK, markersize=3.2, label="persons", zorder=2)
    dress(right, f"adaptive, after {int(last['given'])} items", "true ability [bits]", "estimated ability ± standard error [bits]")
    heading(figure, f"Measuring {test.sizes['person']} simulated persons")
    return figure


def _check(dataset: Any, names: tuple[str, ...]) -> None:
    there = getattr(dataset, "variables", {})
    missing = [name for name in names if name not in there]
    require(not missing, "dataset", f"without {', '.join(missing)}", "an item bank, a test or a comparison of tests")


def _easiest_first(classes: xr.Dataset) -> np.ndarray:
    """Order of rules: those that tell nothing, then by the area under their characteristic curves."""
    return np.lexsort((-classes["icc"].mean("theta_budget").values, classes["determined"].values))


def _rows(ax: Axes, part: xr.Dataset, rows: int) -> Any:
    """A heat map of characteristic curves, a row a rule, with the abilities for a fair reward and the best one."""
    theta = part["theta_budget"].values
    fine = np.linspace(0, theta[-1], 120)
    count = part.sizes["rule"]
    value = np.array([np.interp(fine, theta, curve) for curve in part["icc"].values])
    value[~part["determined"].values] = np.nan
    image = ax.imshow(
        value, cmap="cividis", vmin=0, vmax=1, aspect="auto", extent=(0, theta[-1], count - 0.5, -0.5), interpolation="nearest"
    )
    ax.set_facecolor(FAINT)
    places = np.arange(count)
    for gamma, face in ((HARD, "none"), (0.0, HIGH)):
        d = part["difficulty"].sel(side="positive").sel(gamma=gamma, method="nearest").values
        some = part["determined"].values
        mark: dict[str, Any] = {"markersize": 5.5, "markerfacecolor": face, "markeredgecolor": "white" if face == "none" else HIGH}
        ax.plot(d[some], places[some], "o", linestyle="", markeredgewidth=1.4 if face == "none" else 0.5, clip_on=False, **mark)
    for i in places[~part["determined"].values]:
        ax.text(theta[-1] / 2, i, "all policies alike", ha="center", va="center", **CAPTION)
    dress(ax, None, "ability θ [bits]", "rule (least of its class)")
    ax.set_facecolor(FAINT)
    ax.set_yticks(places, [str(int(rule)) for rule in part["rule"].values])
    ax.tick_params(axis="y", labelsize=10.2, length=0)
    ax.set_ylim(rows - 0.5, -0.5)
    if count < rows:
        ax.axhspan(count - 0.5, rows - 0.5, color="white")
    return image


def _scatter(ax: Axes, mine: xr.Dataset) -> None:
    """Difficulty against discrimination, the extremes and the paper's rules named."""
    told = mine.isel(rule=np.flatnonzero(mine["determined"].values & np.isfinite(mine["curve_discrimination"].values)))
    x = told["difficulty"].sel(side="positive").sel(gamma=HARD, method="nearest").values
    y, rule, end = told["curve_discrimination"].values, told["rule"].values, told["at_ceiling"].values
    ax.set_yscale("log")
    ax.plot(x[~end], y[~end], "o", linestyle="", color=INK, markersize=5, alpha=0.65, label="an item")
    hollow: dict[str, Any] = {"markerfacecolor": "white", "markeredgecolor": SOFT}
    ax.plot(x[end], y[end], "o", linestyle="", markersize=5, label="half of all policies must be tried: the sample's end", **hollow)
    dress(
        ax,
        None,
        f"difficulty: ability for a reward within {HARD:.0%} of the best, D(0.25) [bits]",
        "discrimination: largest slope\nof the response curve [1/bit]",
    )
    ticks = [t for t in (0.05, 0.1, 0.2, 0.5, 1, 2, 4) if y.size and y.min() * 0.8 <= t <= y.max() * 1.3]
    ax.set_yticks(ticks, [f"{t:g}" if t < item_bank.STEEP else f"{t:g}+" for t in ticks])
    ax.minorticks_off()
    ax.margins(x=0.05, y=0.16)
    ax.legend(fontsize=NOTE, labelcolor=INK, frameon=False, loc="upper left", bbox_to_anchor=(0, 1.13), ncols=2)
    inside = np.flatnonzero(~end)
    by_slope = inside[np.argsort(y[inside], kind="stable")]
    wanted = [*np.flatnonzero(np.isin(rule, PAPER_RULES)), *by_slope[::-1][:7], *np.argsort(-x, kind="stable")[:5], *by_slope[:2]]
    named = _name(ax, x, y, [str(int(r)) for r in rule], list(dict.fromkeys(int(i) for i in wanted)))
    ax.plot(x[named], y[named], "o", linestyle="", markerfacecolor="none", markeredgecolor=HIGH, markeredgewidth=1.6, markersize=7)


def _name(ax: Axes, x: np.ndarray, y: np.ndarray, text: list[str], wanted: list[int]) -> list[int]:
    """Write the wanted points' names beside them where they touch no other name; those that found a place."""
    ax.figure.canvas.draw()  # places in points are known only once the axes have their size
    scale = 72.0 / ax.get_figure(root=True).dpi  # pyright: ignore[reportOptionalMemberAccess]
    points = ax.transData.transform(np.stack([x, y], 1)) * scale
    taken: list[tuple[float, float, float, float]] = []
    named = []
    halo = [patheffects.withStroke(linewidth=2.5, foreground="white")]
    box = ax.bbox
    edges = (box.x0 * scale, box.y0 * scale, box.x1 * scale, box.y1 * scale)
    for i in wanted:
        width, height = 0.62 * NOTE * len(text[i]) + 2, NOTE + 3
        for right, up in ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1)):
            middle = points[i] + np.array([right * (width / 2 + 6), up * (height / 2 + 5)])
            new = (middle[0] - width / 2, middle[1] - height / 2, middle[0] + width / 2, middle[1] + height / 2)
            free = all(new[2] < t[0] or new[0] > t[2] or new[3] < t[1] or new[1] > t[3] for t in taken)
            within = new[0] >= edges[0] and new[1] >= edges[1] and new[2] <= edges[2] and new[3] <= edges[3]
            if free and within:
                taken.append(new)
                named.append(i)
                place = {"textcoords": "offset points", "ha": "center", "va": "center", "path_effects": halo}
                ax.annotate(text[i], (x[i], y[i]), tuple(middle - points[i]), **place, **CAPTION)
                break
    return named
