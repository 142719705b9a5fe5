"""How much reward which ability brings: environment response curves (paper, section 4.2, Figures 4, 11 and 12).

Ability is the logarithm of the number of policies tried. A point at ability D_pos(gamma) says: trying 2^D_pos policies, one that is
within the tolerance gamma of the best is found with probability 1/2; abilities below 0 say the same about finding bad policies.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, MaxNLocator, NullFormatter

from jaxdiff.plots.style import (
    FAINT,
    INK,
    LABEL,
    LOOKS,
    NOTE,
    SOFT,
    TITLE,
    Look,
    check_dataset,
    check_population,
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

MARKED = (0.0, 0.25)  # tolerances at which the difficulty is marked
BAND = (0.05, 0.95)  # quantiles of the populations between which the band is drawn
_NEEDED = ("curve_theta", "curve_reward", "curve_normalised", "irt_slope_at_b")


class Drawn(NamedTuple):
    """One rule's curve, of one population or the median of all.

    Attributes:
        theta: ability, ascending [2G].
        low, high: the band's edges of theta, [2G]; both theta itself with one population.
        reward: on the rule's own scale [2G].
        normalised: with R_min, R_mean, R_max at -1, 0, 1, [2G].
        scale: R_min, R_mean, R_max of the policies that went into the curve.
        slope: largest slope of the logistic curve fitted to the good side of the normalised curve, per bit.
        populations: how many went in.
    """

    theta: np.ndarray
    low: np.ndarray
    high: np.ndarray
    reward: np.ndarray
    normalised: np.ndarray
    scale: tuple[float, float, float]
    slope: float
    populations: int

    def difficulty(self, gamma: float, side: int = 1) -> tuple[float, float, float]:
        """D_pos(gamma) (side 1) or D_neg(gamma) (side -1) and its band."""
        rows = np.flatnonzero(np.sign(self.normalised) == side)
        i = rows[np.argmin(np.abs(np.abs(self.normalised[rows]) - (1 - gamma)))]
        low, high = sorted((abs(self.low[i]), abs(self.high[i])))
        return abs(float(self.theta[i])), float(low), float(high)


def illustration() -> Figure:
    """A made-up normalised response curve, with what is read off it: abilities at two tolerances, saturation, and its dual."""
    theta = np.linspace(-7, 13, 801)
    good = np.clip(theta / 8, 0, 1)
    bad = np.clip(-theta / 4.5, 0, 1)
    level = 1 - (1 - good) ** 2.6 - (1 - (1 - bad) ** 2)
    figure = new_figure(5.6)
    ax = figure.subplots()
    _cross(ax)
    ax.axvspan(0, 13, ymin=0.5, color="#f1f1f1", zorder=0)
    ax.axvspan(-7, 0, ymax=0.5, color="#f1f1f1", zorder=0)
    ax.plot(theta, level, color=INK, linewidth=2.6, label="curve")
    for gamma in MARKED:
        d = 8 * (1 - gamma ** (1 / 2.6))
        ax.plot([0, d, d], [1 - gamma, 1 - gamma, 0], color=SOFT, linestyle="--", linewidth=1.4)
        ax.plot([d], [1 - gamma], "o", color=INK, markersize=7)
        text = f"within {100 * gamma:.0f} % of the best" if gamma else "the best reward"
        ax.annotate(f"{text}\nγ = {gamma:g}", (0, 1 - gamma), (-8, 0), ha="right", va="center", **_NOTE)
        ax.annotate(f"ability {d:.1f}\n= $D_{{\\mathrm{{pos}}}}$({gamma:g})", (d, 0), (0, -6), ha="center", va="top", **_NOTE)
    ax.annotate("saturated: more ability\nbrings no more reward", (8.2, 1), (2, -12), ha="left", va="top", **_NOTE)
    ax.plot([-4.5], [-1], "o", color=INK, markersize=7)
    ax.text(
        -6.8,
        -0.08,
        "the worst reward, for\nthose who try to fail:\nability −4.5\n= −$D_{\\mathrm{neg}}$(0)",
        fontsize=NOTE,
        color=INK,
        va="top",
    )
    ax.plot([-4.9, -4.55], [-0.6, -0.94], color=SOFT, linewidth=1)
    ax.set(xlim=(-7, 13), ylim=(-1.15, 1.15))
    ax.set_xticks(range(-6, 13, 2))
    ax.set_yticks([-1, -0.5, 0, 0.5, 1])
    dress(ax, "a made-up response curve", "ability θ [bits]", "normalised reward")
    _right_axis(ax, (-1.0, 0.0, 1.0), {-1.0: "worst", 0.0: "mean", 1.0: "best"}, None)
    return figure


def curves(dataset: xr.Dataset, population: int | None = 0, rules: Sequence[int] | None = None) -> Figure:
    """Response curves on the environments' own scales (left) and on the common one (right), a panel a rule.

    Args:
        dataset: of `studies.complexity_distribution.measure`.
        population: which of its populations; the median of all, with its 90 % band, when None.
        rules: which of its rules; the first eight when None.

    Raises:
        InputError: a dataset of another kind, a population or a rule that it does not have.
    """
    check_dataset(dataset, _NEEDED)
    chosen = choose_rules(dataset, rules)
    drawn = [_drawn(dataset, i, population) for i in chosen]
    figure, axes = panels(len(chosen), 3.9, "ability θ [bits]", "reward per step, R")
    reach = _reach(drawn)
    for i, (ax, rule, curve) in enumerate(zip(axes, chosen, drawn, strict=True)):
        low, mean, high = curve.scale
        ax.axhline(mean, color=FAINT, linewidth=1, zorder=0)
        ax.axvline(0, color=FAINT, linewidth=1, zorder=0)
        _draw(ax, curve, curve.reward, LOOKS[0], (1, -1))
        margin = 0.08 * (high - low or 1.0)
        ax.set(xlim=(-reach, reach), ylim=(low - margin, high + margin))
        ax.xaxis.set_major_locator(MaxNLocator(10, integer=True, steps=[1, 2, 5, 10]))
        dress(ax)
        ax.set_title(f"rule {int(dataset['rule'].values[rule])}", fontsize=TITLE, color=INK, loc="left", fontweight="bold", pad=42)
        _right_axis(ax, curve.scale, _LEVELS, "normalised" if i % 2 or i == len(chosen) - 1 else None)
        text = f"to be good: {_reading(curve, 1)}\nto be bad: {_reading(curve, -1)}"
        ax.text(0, 1.015, text, transform=ax.transAxes, fontsize=NOTE, color=INK, ha="left", va="bottom", linespacing=1.25)
    mark = {"linestyle": "", "marker": "o", "markersize": 8.5, "markeredgecolor": INK, "markeredgewidth": 1.8}
    filled = Line2D([], [], markerfacecolor=INK, label="the best (worst) reward, γ = 0", **mark)
    empty = Line2D([], [], markerfacecolor="white", label="a quarter of the way to the mean from it, γ = 0.25", **mark)
    outside_legend(figure, [filled, empty])
    heading(figure, f"Reward by ability: {_source(dataset, rules, population)}")
    return figure


def compare(dataset: xr.Dataset, population: int | None = None, rules: Sequence[int] | None = None) -> Figure:
    """All environments in one picture: which is hard, how hard, and over which range of ability it tells good from bad.

    Args:
        dataset: of `studies.complexity_distribution.measure`.
        population: which of its populations; the median of all, with its 90 % band, when None.
        rules: which of its rules; the first eight when None.

    Raises:
        InputError: a dataset of another kind, a population or a rule that it does not have.
    """
    check_dataset(dataset, _NEEDED)
    chosen = choose_rules(dataset, rules)
    drawn = {int(dataset["rule"].values[i]): _drawn(dataset, i, population) for i in chosen}
    looks = dict(zip(drawn, LOOKS, strict=False))
    figure = new_figure(6.6 + 0.25 * max(len(drawn) - 4, 0))
    ax = figure.subplots()
    reach = _reach(list(drawn.values()))
    _cross(ax)
    for gamma, text in zip(MARKED, ("best reward (γ = 0)", "within 25 % of it (γ = 0.25)"), strict=True):
        ax.plot([-reach, reach], [1 - gamma] * 2, color=FAINT, linestyle=(0, (1, 2)), linewidth=1.5, zorder=0)
        ax.text(-reach * 0.98, 1 - gamma + 0.02, text, fontsize=NOTE, color=SOFT, ha="left", va="bottom")
    ax.text(-reach * 0.98, 0.02, "mean of all policies", fontsize=NOTE, color=SOFT, ha="left", va="bottom")
    for rule, curve in drawn.items():
        _draw(ax, curve, curve.normalised, looks[rule], (1,), 0.16 if len(drawn) <= 4 else 0.08)
    _name_ends(ax, drawn, looks, reach)
    _table(ax, drawn, looks)
    ax.set(xlim=(-reach, reach), ylim=(-1.08, 1.3))
    ax.set_yticks([-1, -0.5, 0, 0.5, 1], ["−1\nworst", "−0.5", "0\nmean", "0.5", "1\nbest"])
    ax.xaxis.set_major_locator(MaxNLocator(12, integer=True, steps=[1, 2, 5, 10]))
    dress(ax, None, "ability θ = log₂ of the number of policies tried [bits];  below 0: ability to be bad", "normalised reward")
    heading(figure, f"How much ability each rule asks for: {_source(dataset, rules, population)}")
    return figure


_LEVELS = {-1.0: "−1", -0.5: "−0.5", 0.0: "0", 0.5: "0.5", 1.0: "1"}
_NOTE: dict[str, Any] = {"textcoords": "offset points", "fontsize": NOTE, "color": INK}


def _drawn(dataset: xr.Dataset, rule: int, population: int | None) -> Drawn:
    """What is drawn of a rule (its index); over all populations the median ability at every level, and its band."""
    some = slice(None) if population is None else [check_population(dataset, population)]
    one = dataset[list(_NEEDED)].isel(rule=rule, population=some)
    theta, reward = one["curve_theta"].values, one["curve_reward"].values  # [populations, 2G]
    normalised = one["curve_normalised"].values[0]
    middle, low, high = np.median(theta, axis=0), *np.quantile(theta, BAND, axis=0)
    least, mean, most = (float(np.median(reward[:, np.argmin(np.abs(normalised - level))])) for level in (-1, 0, 1))
    # Of several populations, on the scale of the medians, so that both axes fit the curve.
    rescaled = mean + np.where(normalised > 0, normalised * (most - mean), normalised * (mean - least))
    return Drawn(
        middle,
        low,
        high,
        reward[0] if len(theta) == 1 else rescaled,
        normalised,
        (least, mean, most),
        float(np.median(one["irt_slope_at_b"])),
        len(theta),
    )


def _draw(ax: Axes, curve: Drawn, level: np.ndarray, look: Look, sides: tuple[int, ...], strength: float = 0.16) -> None:
    """The curve, its band, and markers at the marked tolerances (the best filled)."""
    if curve.populations > 1:
        ax.fill_betweenx(level, curve.low, curve.high, color=look.color, alpha=strength, linewidth=0, zorder=1)
    ax.plot(curve.theta, level, color=look.color, linestyle=look.linestyle, linewidth=2.3, label="curve", zorder=3)
    edge = {"markersize": 8.5, "markeredgecolor": look.color, "markeredgewidth": 1.8, "zorder": 4}
    for gamma, fill in zip(MARKED, (look.color, "white"), strict=True):
        for side in sides:
            place = level[np.argmin(np.abs(curve.normalised - side * (1 - gamma)))]
            ax.plot([side * curve.difficulty(gamma, side)[0]], [place], look.marker, markerfacecolor=fill, label=f"γ = {gamma:g}", **edge)


def _cross(ax: Axes) -> None:
    ax.axhline(0, color=FAINT, linewidth=1, zorder=0)
    ax.axvline(0, color=FAINT, linewidth=1, zorder=0)


def _reach(drawn: Sequence[Drawn]) -> float:
    """Half the width of the axis of ability: both sides are given the same room."""
    return 1.06 * max(1.0, *(float(np.abs([curve.low, curve.high]).max()) for curve in drawn)) + 0.3


def _right_axis(ax: Axes, scale: tuple[float, float, float], names: dict[float, str], label: str | None) -> None:
    """Normalised levels on the right; the inner ones are left out where they would touch."""
    low, mean, high = scale
    right = ax.twinx()
    right.set_ylim(ax.get_ylim())
    places: dict[float, str] = {}
    room = 0.09 * (high - low or 1.0)
    for level in sorted(names, key=lambda x: (x % 1 != 0, -abs(x))):
        place = mean + level * (high - mean if level > 0 else mean - low)
        if all(abs(place - other) > room for other in places):
            places[place] = names[level]
    ordered = sorted(places)
    right.yaxis.set_major_locator(FixedLocator(ordered))
    right.yaxis.set_minor_formatter(NullFormatter())
    right.set_yticks(ordered, [places[place] for place in ordered])
    dress(right, None, None, label)
    right.spines["left"].set_visible(False)
    right.spines["right"].set_visible(True)


def _reading(curve: Drawn, side: int) -> str:
    """Difficulties at the marked tolerances, in words."""
    return ", ".join(f"{sign} {_bits(curve, gamma, side)}" for sign, gamma in zip("●○", MARKED, strict=True)) + " bits"


def _bits(curve: Drawn, gamma: float, side: int = 1) -> str:
    value, low, high = curve.difficulty(gamma, side)
    return f"{value:.1f}" if curve.populations == 1 else f"{value:.1f} ({low:.1f}–{high:.1f})"


def _source(dataset: xr.Dataset, rules: Sequence[int] | None, population: int | None) -> str:
    count = dataset.sizes["population"]
    of = f"\nmedian and {100 * (BAND[1] - BAND[0]):.0f} % band of {count} populations" if population is None and count > 1 else ""
    return describe(dataset, rules, population) + of


def _name_ends(ax: Axes, drawn: dict[int, Drawn], looks: dict[int, Look], reach: float) -> None:
    """The rules' numbers over the ends of their curves, moved apart where they would touch, each with a line to its end."""
    ends = sorted((curve.difficulty(0.0)[0], rule) for rule, curve in drawn.items())
    places = _apart(np.array([theta for theta, _ in ends]), 0.105 * reach, reach * 0.97)
    for (theta, rule), place in zip(ends, places, strict=True):
        ax.plot([theta, place], [1.03, 1.13], color=looks[rule].color, linewidth=1, zorder=2)
        ax.text(place, 1.14, str(rule), fontsize=LABEL, color=looks[rule].color, ha="center", va="bottom", fontweight="bold")


def _apart(places: np.ndarray, gap: float, most: float) -> np.ndarray:
    """Ascending places moved as little as is simple so that neighbours are at least `gap` apart and none is beyond `most`."""
    out = places.astype(float)
    for i in range(1, len(out)):
        out[i] = max(out[i], out[i - 1] + gap)
    out -= np.mean(out - places)
    limit = most
    for i in range(len(out) - 1, -1, -1):
        out[i] = min(out[i], limit)
        limit = out[i] - gap
    return out


def _table(ax: Axes, drawn: dict[int, Drawn], looks: dict[int, Look]) -> None:
    """Legend and reading in one, in the empty quarter: easiest first."""
    wide = any(curve.populations > 1 for curve in drawn.values())
    columns = (0.580, 0.703, 0.855, 0.960) if wide else (0.595, 0.71, 0.82, 0.935)
    top, step = 0.42, min(0.054, 0.34 / (len(drawn) + 2))
    at: dict[str, Any] = {"transform": ax.transAxes, "fontsize": NOTE, "color": INK, "va": "center", "ha": "center"}
    ax.text((columns[1] + columns[2]) / 2, top, "ability [bits] for", **at)
    for column, name in zip(columns[1:], (*(f"γ = {gamma:g}" for gamma in MARKED), "slope"), strict=True):
        ax.text(column, top - step, name, **at)
    ordered = sorted(drawn.items(), key=lambda item: item[1].difficulty(0.0)[0])
    for i, (rule, curve) in enumerate(ordered):
        y, look = top - (i + 2) * step, looks[rule]
        line = Line2D([columns[0] - 0.074, columns[0] - 0.018], [y, y], color=look.color, linestyle=look.linestyle, linewidth=2.3)
        line.set(marker=look.marker, markevery=[1], markersize=8, transform=ax.transAxes)
        ax.add_line(line)
        ax.text(columns[0], y, f"{rule}", **{**at, "ha": "left", "fontweight": "bold"})
        for column, text in zip(
            columns[1:],
            (*(_bits(curve, gamma) for gamma in MARKED), f"{curve.slope:.2f}" if np.isfinite(curve.slope) else "–"),
            strict=True,
        ):
            ax.text(column, y, text, **at)
    ax.text(
        columns[0] - 0.074,
        0.015,
        "slope per bit of a logistic curve fitted above 0:\na steep one tells good policies from mediocre ones",
        **{**at, "ha": "left", "va": "bottom", "color": SOFT},
    )
