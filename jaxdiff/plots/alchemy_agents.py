"""One agent on Alchemy, and several beside one another (Wang et al. 2021, Figures 2, 3 and 10)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from jaxdiff.core.errors import require
from jaxdiff.plots.style import INK, LABEL, LOOKS, NOTE, SOFT, dress, heading, new_figure
from jaxdiff.studies.reference_agents import ACTION_KINDS

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
    heading(figure, f"{name.replace('_', ' ')}: {dataset.sizes['episode']:,} episodes")
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
    kind_bars(ax, dataset["kinds"].values[trial], legend=legend)
    dress(ax, f"actions in trial {trial + 1}", "number of the action in its trial", "share of episodes")


def kind_bars(ax: Axes, share: np.ndarray, *, legend: bool) -> None:
    """Shares of episodes by number of the action and kind, [A, kind], as stacked bars."""
    place = np.arange(1, len(share) + 1)
    bottom = np.zeros(len(share))
    for k, name in enumerate(ACTION_KINDS):
        ax.bar(place, share[:, k], 0.86, bottom, color=_KINDS[k], label=name)
        bottom += share[:, k]
    if legend:
        ax.legend(fontsize=NOTE, labelcolor=INK, frameon=False, loc="upper right", ncols=2, handlelength=1.2, columnspacing=1.0)
    ax.set_xticks(range(1, 16, 2))
    ax.set_xlim(0.4, 15.6)  # twelve potions and three stones
    ax.set_ylim(0, 1.32)  # room for the legend
    ax.set_yticks([0, 0.25, 0.5, 0.75, 1])
    dress(ax, None, "number of the action in its trial", "share of episodes")


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


def paper_figures(here: Mapping[str, xr.Dataset], logged: Mapping[str, xr.Dataset]) -> dict[str, Figure]:
    """Figures 2, 3 and 10 of the paper, by file stem.

    Args:
        here: evaluations by agent, played here.
        logged: evaluations of published logs; "baseline" is an agent of its own, the others are marked beside ours.

    Raises:
        InputError: no agent.
    """
    require(bool(here), "here", "no agent", "at least one")
    baseline = {"baseline (log)": logged["baseline"]} if "baseline" in logged else {}
    marks = {"ideal_observer": logged.get("ideal_observer"), "oracle": logged.get("search_oracle")}
    few = {name: d for name, d in here.items() if name != "oracle"} or dict(here)
    return {
        "figure_02": figure_2({**here, **baseline}, marks),
        "figure_03": figure_3({**few, **baseline}),
        "figure_10": figure_10({**few, **baseline}),
    }


def _bars(ax: Axes, names: list[str], columns: list[np.ndarray], marks: list[float | None]) -> None:
    """Means with standard errors, the number beside each, and a mark where something was published."""
    for i, (values, mark) in enumerate(zip(columns, marks, strict=True)):
        mean, error = float(values.mean()), float(values.std() / len(values) ** 0.5)
        ax.barh(i, mean, 0.7, xerr=error, color=LOOKS[i].color, ecolor=SOFT, alpha=0.85)
        if mark is not None:
            ax.plot([mark, mark], [i - 0.42, i + 0.42], color="#d4a000", linewidth=3, solid_capstyle="butt", zorder=4)
        end = max(mean + error, mark or 0.0, 0.0)
        ax.annotate(f"{mean:.2f}", (end, i), (5, 0), textcoords="offset points", va="center", fontsize=NOTE, color=INK)
    ax.axvline(0, color=SOFT, linewidth=1)
    low, high = ax.get_xlim()
    ax.set_xlim(low, high + 0.3 * (high - low))
    ax.set_yticks(range(len(names)), [name.replace("_", " ") for name in names])
    ax.invert_yaxis()
    dress(ax)


def figure_2(datasets: Mapping[str, xr.Dataset], marks: Mapping[str, xr.Dataset | None]) -> Figure:
    """Score, potions and entropies (Figure 2 a to e): bars are means over episodes, yellow marks the same of the published logs.

    Entropies of the oracle and of random heuristics, which keep no belief, are what somebody who watched could know.
    """
    require(0 < len(datasets) <= len(LOOKS), "datasets", f"{len(datasets)} agents", f"one to {len(LOOKS)}")
    panels: dict[str, Callable[[xr.Dataset], np.ndarray]] = {
        "a) episode score": lambda d: d["score"].values.sum(1),
        "b) potions in trial 1": lambda d: d["potions"].values[:, 0],
        "c) potions, last trial less trial 1": lambda d: d["potions"].values[:, -1] - d["potions"].values[:, 0],
        "d) entropy after trial 1, nats": lambda d: np.log(d["worlds"].values[:, 0]),
        "e) entropy after the episode, nats": lambda d: np.log(d["worlds"].values[:, -1]),
    }
    figure = new_figure(1.0 + 3 * (0.45 * len(datasets) + 0.75))
    axes = figure.subplots(3, 2).reshape(-1)
    names = list(datasets)
    for ax, (title, column) in zip(axes, panels.items(), strict=False):
        logged = [marks.get(name) for name in names]
        _bars(ax, names, [column(d) for d in datasets.values()], [None if d is None else float(column(d).mean()) for d in logged])
        ax.set_title(title, fontsize=LABEL, color=INK, loc="left", fontweight="bold")
    axes[5].axis("off")
    note = "bars: mean ± standard error"
    if any(d is not None for d in marks.values()):
        note += "\nyellow: the published log of that agent"
    axes[5].text(0, 0.95, note, fontsize=NOTE, color=INK, va="top", linespacing=1.5, transform=axes[5].transAxes)
    heading(figure, f"Reference agents, {next(iter(datasets.values())).sizes['episode']:,} episodes")
    return figure


def figure_3(datasets: Mapping[str, xr.Dataset]) -> Figure:
    """By how much the paired model explains an agent's actions better than the unpaired one (Figure 3), nats an episode.

    Left each model at its own fitted inverse temperature, right both at that of the ideal observer.
    """
    figure = new_figure(1.6 + 0.55 * len(datasets), 11.0)
    titles = {"log_likelihood": "each model at its fitted temperature", "sharp": "both at the ideal observer's"}
    for ax, (variable, title) in zip(figure.subplots(1, 2), titles.items(), strict=True):
        columns = [(d[f"paired_{variable}"] - d[f"unpaired_{variable}"]).values for d in datasets.values()]
        _bars(ax, list(datasets), columns, [None] * len(columns))
        ax.set_title(title, fontsize=LABEL, color=INK, loc="left", fontweight="bold")
        ax.set_xlabel("ln L, paired less unpaired, nats an episode", fontsize=NOTE, color=INK)
    heading(figure, "Do actions show knowledge of opposite pairs? (right of 0: yes)")
    return figure


def figure_10(datasets: Mapping[str, xr.Dataset]) -> Figure:
    """What actions did over the first and the last trial, a row for each agent (Figure 10)."""
    figure = new_figure(2.6 * len(datasets) + 1.0)
    axes = figure.subplots(len(datasets), 2, squeeze=False, sharex=True, sharey=True)
    for row, (name, dataset) in zip(axes, datasets.items(), strict=True):
        for ax, trial in zip(row, (0, dataset.sizes["trial"] - 1), strict=True):
            action_kinds(ax, dataset, trial, legend=ax is axes[0, 1])
            ax.set_title(f"{name.replace('_', ' ')}, trial {trial + 1}", loc="left", fontsize=LABEL, color=INK, fontweight="bold")
            ax.label_outer()
    heading(figure, "What the actions did")
    return figure
