"""The figures of one measurement, the first to look at first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaxdiff.plots import distribution, response, spacetime
from jaxdiff.plots.style import choose_rules

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure


def measurement_figures(dataset: xr.Dataset) -> dict[str, Figure]:
    """What `jaxdiff measure` draws, by stem of a file name.

    Args:
        dataset: of `studies.complexity_distribution.measure`. Curves show the median of all populations with its 90 % band; where
            single policies are drawn they are those of the first population.

    Returns:
        figures; of more than eight rules, the first eight are drawn.
    """
    rules = choose_rules(dataset, None)
    figures = {
        "comparison": response.compare(dataset),
        "response_curves": response.curves(dataset, None),
        "rewards_by_complexity": distribution.distribution(dataset),
        "reward_histogram": distribution.histogram(dataset),
        "automata": spacetime.figure_5(tuple(int(dataset.rule.values[i]) for i in rules)),
    }
    if "action_complexity" in dataset:
        figures["action_complexity"] = actions(dataset)
    return figures


def actions(dataset: xr.Dataset) -> Figure:
    """Reward against the complexity of actions, of the first population (the paper's Figure 13)."""
    chosen = dataset.isel(rule=choose_rules(dataset, None), population=0)
    return distribution.action_complexity(
        chosen.rule.values,
        chosen.action_complexity.values,
        chosen.reward.values,
        chosen.walker_action_complexity.values,
        chosen.walker_reward.values,
    )
