"""The figures of one measurement, the first to look at first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from jaxdiff.plots import distribution, response, spacetime
from jaxdiff.plots.style import MOST_PANELS, choose_rules

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure


def measurement_figures(dataset: xr.Dataset) -> dict[str, Figure]:
    """What `jaxdiff measure` draws, by stem of a file name.

    Args:
        dataset: of `studies.complexity_distribution.measure`. Curves show the median of all populations with its 90 % band; where
            single policies are drawn they are those of the first population.

    Returns:
        figures; of more than eight rules, eight from the easiest to the hardest are drawn.
    """
    rules = typical_rules(dataset)
    figures = {
        "comparison": response.compare(dataset, rules=rules),
        "response_curves": response.curves(dataset, None, rules),
        "rewards_by_complexity": distribution.distribution(dataset, rules=rules),
        "reward_histogram": distribution.histogram(dataset, rules=rules),
        "automata": spacetime.figure_5(rules, min(int(dataset.attrs["steps"]), spacetime.STEPS), int(dataset.attrs["width"])),
    }
    if "action_complexity" in dataset:
        figures["action_complexity"] = actions(dataset, rules)
    return figures


def typical_rules(dataset: xr.Dataset, most: int = MOST_PANELS) -> list[int]:
    """All rules, in the order of the dataset, or `most` of them at equal ranks of difficulty (D_pos at a tolerance of 0.25)."""
    rules = dataset.rule.values
    if len(rules) <= most:
        return [int(rule) for rule in rules]
    hard = dataset.difficulty.sel(side="positive", statistic="median").sel(gamma=0.25, method="nearest").median("population").values
    order = np.argsort(hard, kind="stable")
    return [int(rules[i]) for i in order[np.linspace(0, len(order) - 1, most).round().astype(int)]]


def actions(dataset: xr.Dataset, rules: list[int] | None = None) -> Figure:
    """Reward against the complexity of actions, of the first population (the paper's Figure 13)."""
    chosen = dataset.isel(rule=choose_rules(dataset, rules), population=0)
    return distribution.action_complexity(
        chosen.rule.values,
        chosen.action_complexity.values,
        chosen.reward.values,
        chosen.walker_action_complexity.values,
        chosen.walker_reward.values,
    )
