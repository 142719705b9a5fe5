"""The thirteen figures of the paper, by the stem of a file name each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure

from jaxdiff.core.errors import require
from jaxdiff.plots import bound, distribution, irt, measurement, response, spacetime

if TYPE_CHECKING:
    import xarray as xr


def paper_figures(
    dataset: xr.Dataset,
    *,
    fresh: xr.Dataset | None = None,
    larger: xr.Dataset | None = None,
    population: int = 0,
) -> dict[str, Figure]:
    """All figures that the given data allow; Figures 1 to 7 need none.

    Args:
        dataset: of `studies.complexity_distribution.measure`, the paper's with the strategy Chained: Figures 9 to 11 and 13 (Figure 8
            instead of 9 where its strategy is Fresh), and a comparison of the rules in one picture.
        fresh: the same with the strategy Fresh: Figure 8.
        larger: the same as `dataset` with more policies: Figure 12.
        population: which population of each dataset; the comparison shows all.

    Returns:
        figures by stem, in ascending order, such as `figure_08_distribution`.

    Raises:
        InputError: a dataset of another kind or strategy, or a population that it does not have.
    """
    given = [dataset] if fresh is None else [dataset, fresh]
    kinds = {_stem(data): data for data in given}
    good = fresh is None or (len(kinds) == 2 and _stem(fresh).startswith("figure_08"))
    require(good, "fresh", f"of strategy {getattr(fresh, 'attrs', {}).get('strategy')}", "a Fresh dataset beside one that is not")
    figures = {stem: distribution.distribution(data, population) for stem, data in kinds.items()}
    figures |= {
        "figure_01_item_response": irt.models(),
        "figure_02_illustration": distribution.illustration(),
        "figure_03_bound": bound.bound(),
        "figure_04_response_illustration": response.illustration(),
        "figure_05_automata": spacetime.figure_5(),
        "figure_06_rule_110": spacetime.figure_6(),
        "figure_07_rule_164": spacetime.figure_7(),
    }
    figures["figure_10_histogram"] = distribution.histogram(dataset, population)
    figures["figure_11_comparison"] = response.compare(dataset)
    figures["figure_11_response_curves"] = response.curves(dataset, population)
    if larger is not None:
        figures["figure_12_response_curves"] = response.curves(larger, population)
    if "action_complexity" in dataset:
        figures["figure_13_action_complexity"] = measurement.actions(dataset)
    return dict(sorted(figures.items()))


def _stem(dataset: Any) -> str:
    """Figure 8 shows the strategy Fresh, Figure 9 the others."""
    fresh = getattr(dataset, "attrs", {}).get("strategy") == "fresh"
    return "figure_08_distribution" if fresh else "figure_09_distribution"
