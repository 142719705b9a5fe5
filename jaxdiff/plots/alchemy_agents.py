"""One agent on Alchemy, and several beside one another (Wang et al. 2021, Figures 2, 3 and 10)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from jaxdiff.core.errors import require
from jaxdiff.plots.style import INK, LOOKS, NOTE, SOFT, dress, heading, new_figure

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# No effect, value up, value down, cauldron: apart in lightness as well as in hue.
_KINDS = ("#bdbdbd", "#0072b2", "#d55e00", "#1a1a1a")
_LOSSES = ("#1a1a1a", "#7a6a00", "#8c8c8c", "#d55e00", "#56b4e9", "#aa3377")


def agent(dataset: xr.Dataset, name: str) -> Figure:
    """One agent: score by trial beside the optimum, potions and entropy by trial, and what it did in the first and in the last trial.

    With regret in the dataset, a further row shows what it lost in each trial, and to what.

    Args:
        dataset: of `studies.reference_agents.evaluate`.
        name: of the agent, for the heading.

    Raises:
        InputError: a dataset of another kind.
    """
    require(
        dataset.attrs.get("jaxdiff_kind") == "alchemy-evaluation", "dataset", dataset.attrs.get("jaxdiff_kind"), "an Alchemy evaluation"
    )
    regret = "regret" in dataset
    figure = new_figure(10.8 if regret else 7.4)
    axes = figure.subplots(3 if regret else 2, 2)
    trials = np.arange(1, dataset.sizes["trial"] + 1)
    _scores(axes[0, 0], dataset, trials)
    _exploration(axes[0, 1], dataset, trials)
    for ax, t in ((axes[1, 0], 0), (axes[1, 1], len(trials) - 1)):
        action_kinds(ax, dataset, t, legend=t > 0)
    if regret:
        _regret(axes[2], dataset, trials)
    heading(figure, f"{name}: {dataset.sizes['episode']:,} episodes")
    return figure


def _scores(ax: Axes, dataset: xr.Dataset, trials: np.ndarray) -> None:
    for variable, label, look in (("optimum", "oracle", LOOKS[1]), ("score", "this agent", LOOKS[0])):
        values = dataset[variable].values
        error = values.std(0) / len(values) ** 0.5
        ax.errorbar(trials, values.mean(0), error, color=look.color, linestyle=look.linestyle, marker=look.marker, linewidth=2, label=label)
    ax.legend(fontsize=NOTE, labelcolor=INK, frameon=False, loc="best")
    ax.set_ylim(bottom=min(0.0, ax.get_ylim()[0]))
    ax.set_xticks(trials)
    dress(ax, "score", "trial", "mean score ± standard error")


def _exploration(ax: Axes, dataset: xr.Dataset, trials: np.ndarray) -> None:
    entropy = np.log(dataset["worlds"].values).mean(0)
    ax.plot(trials, dataset["potions"].values.mean(0), color=LOOKS[2].color, marker="^", linewidth=2, linestyle="-", label="potions used")
    ax.plot(trials, entropy, color=LOOKS[3].color, marker="D", linewidth=2, linestyle="--", label="entropy at its end: ln(worlds), nats")
    ax.set_ylim(0, 15.5)
    ax.set_xticks(trials)
    ax.legend(fontsize=NOTE, labelcolor=INK, frameon=False, loc="upper left")
    dress(ax, "exploration", "trial", "mean number")


def action_kinds(ax: Axes, dataset: xr.Dataset, trial: int, legend: bool = True) -> None:
    """What the first, second, ... action of a trial did, as shares of episodes (Figure 10)."""
    share = dataset["kinds"].values[trial]
    place = np.arange(1, len(share) + 1)
    bottom = np.zeros(len(share))
    for k, name in enumerate(dataset["kind"].values.tolist()):
        ax.bar(place, share[:, k], 0.86, bottom, color=_KINDS[k], label=name)
        bottom += share[:, k]
    if legend:
        ax.legend(fontsize=NOTE, labelcolor=INK, frameon=False, loc="upper right", ncols=2, handlelength=1.2, columnspacing=1.0)
    ax.set_xticks(range(1, 16, 2))
    ax.set_xlim(0.4, 15.6)  # twelve potions and three stones
    ax.set_ylim(0, 1.32)  # room for the legend
    ax.set_yticks([0, 0.25, 0.5, 0.75, 1])
    dress(ax, f"actions in trial {trial + 1}", "number of the action in its trial", "share of episodes")


def _regret(axes: np.ndarray, dataset: xr.Dataset, trials: np.ndarray) -> None:
    """Regret by trial and in all."""
    names = dataset["loss"].values.tolist()
    mean = dataset["regret"].values.mean(0)
    bottom = np.zeros(len(trials))
    for k in range(len(names)):
        axes[0].bar(trials, mean[:, k], 0.8, bottom, color=_LOSSES[k])
        bottom += mean[:, k]
    axes[0].set_xticks(trials)
    dress(axes[0], "regret against the ideal observer", "trial", "points lost a trial")
    total = mean.sum(0)
    axes[1].barh(np.arange(len(names)), total, 0.8, color=_LOSSES)
    for k, value in enumerate(total):
        axes[1].annotate(f"{value:.1f}", (value, k), (4, 0), textcoords="offset points", va="center", fontsize=NOTE, color=INK)
    axes[1].set_yticks(np.arange(len(names)), names)
    axes[1].invert_yaxis()
    axes[1].set_xlim(0, max(total.max() * 1.15, 0.1))
    dress(axes[1], f"to what, {dataset.sizes['regret_episode']} episodes", "points lost an episode")


def several(datasets: Mapping[str, xr.Dataset]) -> Figure:
    """Agents beside one another: Figure 2 a to e, and Figure 3's difference of log-likelihoods at the ideal observer's inverse temperature.

    Args:
        datasets: by the agents' names.
    """
    require(0 < len(datasets) <= len(LOOKS), "datasets", f"{len(datasets)} agents", f"one to {len(LOOKS)}")
    names = list(datasets)
    figure = new_figure(6.6)
    axes = figure.subplots(2, 3).reshape(-1)
    columns = {
        "a) episode score": lambda d: d["score"].values.sum(1),
        "b) potions in trial 1": lambda d: d["potions"].values[:, 0],
        "c) last trial less trial 1": lambda d: d["potions"].values[:, -1] - d["potions"].values[:, 0],
        "d) nats after trial 1": lambda d: np.log(d["worlds"].values[:, 0]),
        "e) nats after the episode": lambda d: np.log(d["worlds"].values[:, -1]),
        "Fig. 3: paired ahead by, nats": lambda d: (d["paired_sharp"] - d["unpaired_sharp"]).values,
    }
    for ax, (title, column) in zip(axes, columns.items(), strict=True):
        for i, name in enumerate(names):
            values = column(datasets[name])
            error = values.std() / len(values) ** 0.5
            ax.barh(i, values.mean(), 0.72, xerr=error, color=LOOKS[i].color, ecolor=SOFT)
            side, place = ("left", max(values.mean(), 0) + error) if values.mean() > -1e-12 else ("left", max(error, 0))
            ax.annotate(
                f"{values.mean():.2f}", (place, i), (5, 0), textcoords="offset points", va="center", ha=side, fontsize=NOTE, color=INK
            )
        ax.axvline(0, color=SOFT, linewidth=1)
        low, high = ax.get_xlim()
        ax.set_xlim(low, high + 0.28 * (high - low))
        ax.set_yticks(range(len(names)), names if ax in (axes[0], axes[3]) else [""] * len(names))
        ax.invert_yaxis()
        dress(ax)
        ax.set_title(title, fontsize=NOTE + 0.5, color=INK, loc="left", fontweight="bold")
    heading(figure, f"Reference agents, {next(iter(datasets.values())).sizes['episode']:,} episodes")
    return figure


def figure_10(datasets: Mapping[str, xr.Dataset]) -> Figure:
    """What actions did over the first and the last trial, a row for each agent (Figure 10)."""
    figure = new_figure(2.9 * len(datasets) + 0.7)
    axes = figure.subplots(len(datasets), 2, squeeze=False)
    for row, (name, dataset) in zip(axes, datasets.items(), strict=True):
        for ax, trial in zip(row, (0, dataset.sizes["trial"] - 1), strict=True):
            action_kinds(ax, dataset, trial, legend=ax is axes[0, 1])
            ax.set_title(f"{name}, trial {trial + 1}", loc="left", fontsize=NOTE + 1, color=INK, fontweight="bold")
    heading(figure, "What the actions did")
    return figure
