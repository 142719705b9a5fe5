"""The two item response models (paper, Figure 1): what discrimination, location, chance and loading look like."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from jaxdiff.core.errors import require
from jaxdiff.difficulty import irt
from jaxdiff.plots.style import FAINT, HIGH, INK, LOW, NOTE, SOFT, dress, new_figure


def models(a: float = 1.5, b: float = 3.0, c: float = 0.1, z: float = -1.0, slope: float = 1.2) -> Figure:
    """The logistic model with three parameters beside the linear model.

    Args:
        a: discrimination of the logistic model, above 0.
        b: its location.
        c: its chance level, 0..1.
        z: expected score at ability 0 of the linear model.
        slope: its loading lambda.

    Raises:
        InputError: a discrimination or a chance level out of range.
    """
    require(a > 0, "a", a, "a number above 0")
    require(0 <= c < 1, "c", c, "0..1, below 1")
    figure = new_figure(4.6)
    left, right = figure.subplots(1, 2)
    _logistic(left, a, b, c)
    _linear(right, z, slope)
    return figure


def _logistic(ax: Axes, a: float, b: float, c: float) -> None:
    middle, steepest = (1 + c) / 2, a * (1 - c) / 4
    low, high = min(b - 7.5 / a, -1.0), b + 7.5 / a
    theta = np.linspace(low, high, 401)
    zero = float(irt.logistic(0.0, a, b, c))
    ax.axhline(c, color=SOFT, linestyle="-.", linewidth=1.5, label="chance")
    ax.plot([b, b], [0, middle], color=LOW, linestyle="--", linewidth=2, label="location")
    near = np.array([b - 0.5 / steepest * 0.8, b + 0.5 / steepest * 0.8])
    ax.plot(near, middle + steepest * (near - b), color=HIGH, linestyle=":", linewidth=3, label="slope")
    ax.plot(theta, irt.logistic(theta, a, b, c), color=INK, linewidth=2.4, label="curve")
    ax.plot([b], [middle], "o", color=INK, markersize=6)
    ax.plot([0], [zero], "o", markerfacecolor="white", markeredgecolor=INK, markersize=7)
    ax.annotate(
        f"slope a(1 − c)/4 = {steepest:.2g}", (near[1], middle + steepest * (near[1] - b)), (-12, 0), ha="right", va="center", **_NOTE
    )
    ax.annotate(f"location b = {b:g}", (b, middle / 2), (8, 0), va="center", **_NOTE)
    ax.annotate(f"chance c = {c:g}", (high, c), (0, -6), ha="right", va="top", **_NOTE)
    ax.annotate(f"p(0) = {zero:.2g}", (0, zero), (-8, 12), ha="center", **_NOTE)
    ax.set(xlim=(low, high), ylim=(0, 1.09))
    dress(ax, "logistic model, right or wrong", "ability θ", "probability of a right answer")


def _linear(ax: Axes, z: float, slope: float) -> None:
    theta = np.array([-2.0, 6.0])
    ax.axhline(0, color=FAINT, linewidth=1)
    ax.axvline(0, color=FAINT, linewidth=1)
    ax.axhline(z, color=SOFT, linestyle="-.", linewidth=1.5, label="score at ability 0")
    ax.plot(theta, irt.linear(theta, z, slope), color=INK, linewidth=2.4, label="curve")
    ax.plot([0], [z], "o", markerfacecolor="white", markeredgecolor=INK, markersize=7)
    ax.plot([2, 3, 3], [z + 2 * slope, z + 2 * slope, z + 3 * slope], color=HIGH, linestyle=":", linewidth=2.5, label="slope")
    ax.annotate(f"loading λ = {slope:g}", (3, z + 2.5 * slope), (8, 0), va="center", **_NOTE)
    ax.annotate(f"at ability 0: z = {z:g}".replace("-", "−"), (6, z), (0, 6), ha="right", va="bottom", **_NOTE)
    ax.set(xlim=(theta[0], theta[1]))
    dress(ax, "linear model, continuous score", "ability θ", "expected score X")


_NOTE = {"textcoords": "offset points", "fontsize": NOTE, "color": INK}
