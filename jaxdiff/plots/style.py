"""What all figures share: sizes, colours that differ in lightness too, panels, and the check of what is to be drawn.

Figures are built without pyplot, so no state outlives them and no display is needed. Sizes are set on every text and none in
`rcParams`. A figure is 10 inches wide: at 100 dots an inch its smallest text is 15 pixels high.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from jaxdiff.core.errors import require

if TYPE_CHECKING:
    import xarray as xr

WIDTH = 10.0
HEADING, TITLE, LABEL, TICK, NOTE = 15.0, 14.0, 13.0, 12.0, 11.5
INK, SOFT, FAINT, POINT = "#1a1a1a", "#5f5f5f", "#c9c9c9", "#8c8c8c"
HIGH, MIDDLE, LOW, WALK = "#8b1a1a", "#1f4fbf", "#1b6b2f", "#6a1b9a"
MOST_PANELS = 8
KIND = "complexity-distribution"


class Look(NamedTuple):
    """How one of several curves is drawn: apart from its hue, each has a line style and a marker of its own."""

    color: str
    linestyle: Any
    marker: str


LOOKS = (
    Look("#000000", "-", "o"),
    Look("#d55e00", (0, (5, 1.5)), "s"),
    Look("#0072b2", (0, (1.2, 1.2)), "^"),
    Look("#009e73", (0, (6, 1.5, 1.2, 1.5)), "D"),
    Look("#aa3377", (0, (9, 2)), "v"),
    Look("#7a6a00", (0, (3, 1, 1, 1, 1, 1)), "P"),
    Look("#56b4e9", "-", "X"),
    Look("#8c8c8c", (0, (2.5, 1.5)), "h"),
)


def new_figure(height: float, width: float = WIDTH) -> Figure:
    """An empty figure of its own, in inches."""
    figure = Figure(figsize=(width, height), layout=ConstrainedLayoutEngine(w_pad=0.09, h_pad=0.07), facecolor="white")
    FigureCanvasAgg(figure)
    return figure


def panels(count: int, height: float, x: str, y: str, *, sharex: bool = True, sharey: bool = False) -> tuple[Figure, list[Axes]]:
    """A figure of `count` panels, two a row, each `height` inches high (one alone is given more); labels x and y on the outer ones."""
    columns = min(count, 2)
    rows = -(-count // columns)
    figure = new_figure(rows * height * (1.3 if count == 1 else 1.0) + 0.9)
    axes = figure.subplots(rows, columns, sharex=sharex, sharey=sharey, squeeze=False).reshape(-1)
    for empty in axes[count:]:
        empty.remove()
    for i, ax in enumerate(axes[:count]):
        dress(ax, None, x if i + columns >= count else None, y if i % columns == 0 else None)
        ax.tick_params(labelbottom=True, labelleft=True)
    return figure, list(axes[:count])


def dress(ax: Axes, title: str | None = None, x: str | None = None, y: str | None = None) -> None:
    """Titles and labels in this house's sizes, no box."""
    ax.set_facecolor("white")
    if title is not None:
        ax.set_title(title, fontsize=TITLE, color=INK, loc="left", fontweight="bold")
    if x is not None:
        ax.set_xlabel(x, fontsize=LABEL, color=INK)
    if y is not None:
        ax.set_ylabel(y, fontsize=LABEL, color=INK)
    ax.tick_params(labelsize=TICK, colors=INK)
    for name, spine in ax.spines.items():
        spine.set_visible(name in ("left", "bottom"))
        spine.set_color(SOFT)


def heading(figure: Figure, text: str) -> None:
    """Title of a whole figure; "what: whence" is broken into two lines where it is long."""
    first = text.split("\n")[0]
    figure.suptitle(text if len(first) <= 78 else text.replace(": ", "\n", 1), fontsize=HEADING, color=INK)


def outside_legend(figure: Figure, handles: Iterable[Any], columns: int = 5) -> None:
    """One legend for all panels, below them."""
    figure.legend(
        handles=list(handles),
        loc="outside lower center",
        ncols=columns,
        fontsize=NOTE,
        labelcolor=INK,
        frameon=False,
        handlelength=2.6,
        columnspacing=1.6,
    )


def check_dataset(dataset: Any, names: Sequence[str]) -> None:
    """Refuse what is not a measured complexity distribution.

    Raises:
        InputError: no dataset, of another kind, or without one of the variables `names`.
    """
    allowed = "a dataset of jaxdiff.studies.complexity_distribution.measure"
    require(hasattr(dataset, "data_vars") and hasattr(dataset, "sizes"), "dataset", dataset, allowed)
    kind = dataset.attrs.get("jaxdiff_kind", KIND)
    require(kind == KIND, "dataset", f"of kind {kind}", allowed)
    missing = [name for name in ("rule", *names) if name not in dataset.variables]
    require(not missing, "dataset", f"without {', '.join(missing)}", allowed)
    require(all("population" in dataset[name].dims for name in names), "dataset", "without the dimension population", allowed)


def check_population(dataset: xr.Dataset, population: Any) -> int:
    """The number of a population that is there.

    Raises:
        InputError: it is not.
    """
    count = dataset.sizes["population"]
    require(
        isinstance(population, int | np.integer) and bool(0 <= population < count),
        "population",
        population,
        f"0..{count - 1}, populations of this dataset",
    )
    return int(population)


def choose_rules(dataset: xr.Dataset, rules: Sequence[int] | None, most: int = MOST_PANELS) -> list[int]:
    """Indices of the rules to draw: the given ones, else the first that fit in a figure.

    Raises:
        InputError: a rule that is not in the dataset, none, or more than fit.
    """
    there = [int(rule) for rule in dataset["rule"].values]
    if rules is None:
        return list(range(min(len(there), most)))
    chosen = check_rules(rules, most)
    missing = [rule for rule in chosen if rule not in there]
    require(not missing, "rule", missing[0] if missing else None, f"one of {', '.join(map(str, there))}")
    return [there.index(rule) for rule in chosen]


def check_rules(rules: Any, most: int = MOST_PANELS) -> list[int]:
    """Rule numbers for one figure.

    Raises:
        InputError: not integers, none, more than fit, or one of them twice.
    """
    value = np.asarray(rules)
    good = value.ndim == 1 and value.dtype.kind in "iu" and 1 <= value.size <= most and np.unique(value).size == value.size
    require(good, "rules", rules, f"a list of one to {most} different rule numbers")
    return value.tolist()


def describe(dataset: xr.Dataset, rules: Sequence[int] | None, population: int | None) -> str:
    """How the data came about, for a heading; says so where only the first rules are shown, or one of several populations."""
    strategy = str(dataset.attrs.get("strategy", "unknown")).replace("_", " ").capitalize()
    policies = f", {dataset.sizes['policy']:,} policies" if "policy" in dataset.sizes else ""
    count = dataset.sizes["rule"]
    shown = f", {MOST_PANELS} of {count} rules" if rules is None and count > MOST_PANELS else ""
    which = f", population {population}" if population is not None and dataset.sizes["population"] > 1 else ""
    return f"{strategy} strategy{policies}{shown}{which}"
