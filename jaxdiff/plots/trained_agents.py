"""Trained agents under several conditions (Wang et al. 2021, Figures 4, 5, 9 and 10, symbolic): every seed is shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.lines import Line2D

from jaxdiff.core.errors import require
from jaxdiff.plots.alchemy_agents import kind_bars
from jaxdiff.plots.style import INK, LABEL, LOOKS, NOTE, SOFT, Look, dress, heading, new_figure, outside_legend

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from jaxdiff.studies.alchemy_agents import Condition, Study
    from jaxdiff.studies.training_runs import Outcome

_INPUTS = {"none": LOOKS[2], "belief": LOOKS[1], "truth": LOOKS[3]}  # blue, orange, green as in the paper
_LINES = {"oracle": (0, (6, 2)), "ideal observer": "-", "V-MPO": (0, (3, 1, 1, 1)), "random heuristic": (0, (1, 1.5))}
SHOWN = (("none", "none"), ("truth", "none"), ("none", "features"), ("belief", "features"))  # in Figure 10, where they were run


def figures(
    study: Study, scores: Mapping[str, float], published: Mapping[str, Mapping[str, float]], trials: Sequence[float]
) -> dict[str, Figure]:
    """All of them, by file stem.

    Args:
        study: what was run.
        scores: episode scores of reference agents, for lines.
        published: numbers of published agents' logs by name, for lines in Figure 5.
        trials: the ideal observer's mean score of each trial.
    """
    return {
        "figure_04": figure_4(study, scores),
        "figure_05": figure_5(study, published),
        "figure_09": figure_9(study, scores),
        "figure_10": figure_10(study),
        "trials": by_trial(study, trials),
    }


def reference_lines(ax: Axes, values: Mapping[str, float], *, named: bool = True) -> None:
    """Horizontal lines with their names at the right end; names that would lie on one another are moved apart."""
    # Names keep a distance of a fifteenth of the axis; lines stay where they are.
    low, high = ax.get_ylim()
    least, place = (high - low) / 15, -np.inf
    for name, value in sorted(values.items(), key=lambda pair: pair[1]):
        style = next((look for known, look in _LINES.items() if name.startswith(known)), "-")
        ax.axhline(value, color=SOFT, linewidth=1.2, linestyle=style, zorder=1)
        place = max(value, place + least)
        if named:
            text = f"{name} {value:.1f}"
            where = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points"}
            ax.annotate(text, (1, place), (3, 0), va="center", fontsize=NOTE, color=INK, **where)


def _bars(ax: Axes, study: Study, column: Callable[[Outcome], float]) -> None:
    """Means over seeds with standard errors, grouped by what is predicted; a dot for every seed."""
    settings = study.settings
    width = 0.8 / len(settings.inputs)
    for condition, outcomes in study.outcomes.items():
        place = settings.auxiliaries.index(condition.auxiliary) + (settings.inputs.index(condition.input) + 0.5) * width - 0.4
        values = np.array([column(o) for o in outcomes])
        error = values.std(ddof=1) / len(values) ** 0.5 if len(values) > 1 else 0.0
        ax.bar(place, values.mean(), width * 0.92, yerr=error, color=_INPUTS[condition.input].color, alpha=0.75, ecolor=INK)
        ax.plot(place + width * 0.15 * np.linspace(-1, 1, len(values)), values, "o", color="black", markersize=4, zorder=5)
    ax.axhline(0, color=SOFT, linewidth=1)
    names = ["nothing" if a == "none" else a for a in settings.auxiliaries]
    ax.set_xticks(range(len(names)), names)


def _legend(figure: Figure, study: Study) -> None:
    handles = [Line2D([], [], color=_INPUTS[i].color, linewidth=7, alpha=0.75, label=f"extra input: {i}") for i in study.settings.inputs]
    outside_legend(figure, [*handles, Line2D([], [], color="black", marker="o", linestyle="", markersize=4, label="a seed")])


def _title(study: Study, what: str) -> str:
    s = study.settings
    budget = f"{s.seconds:g} s" if s.seconds is not None else f"{s.steps:,} steps"
    return f"{what}: core {s.core}, interface {s.interface}, {budget} a run"


def figure_4(study: Study, scores: Mapping[str, float]) -> Figure:
    """Episode scores by condition, with lines for reference agents (Figure 4, left and its counterpart with auxiliary tasks)."""
    figure = new_figure(5.6)
    ax = figure.subplots()
    _bars(ax, study, lambda o: o.sampled["episode score"].mean)
    dress(ax, None, "predicted besides", "episode score, mean ± s.e.m. over seeds")
    ax.set_ylim(min(0.0, ax.get_ylim()[0]), max(300.0, ax.get_ylim()[1]))
    reference_lines(ax, scores)
    _legend(figure, study)
    heading(figure, _title(study, "What holds agents back"))
    return figure


def figure_5(study: Study, published: Mapping[str, Mapping[str, float]]) -> Figure:
    """Potions and posterior entropies by condition (Figure 5, top row)."""
    panels = {
        "potions in trial 1": "a) potions in trial 1",
        "potions in the last trial less trial 1": "b) potions, last trial less trial 1",
        "entropy after trial 1": "c) entropy after trial 1, nats",
        "entropy after the episode": "d) entropy after the episode, nats",
    }
    figure = new_figure(7.6)
    for number, (ax, (quantity, title)) in enumerate(zip(figure.subplots(2, 2).reshape(-1), panels.items(), strict=True)):
        _bars(ax, study, lambda o, q=quantity: o.sampled[q].mean)
        dress(ax, None, "predicted besides" if number > 1 else None)
        ax.set_title(title, fontsize=LABEL, color=INK, loc="left", fontweight="bold")
        reference_lines(ax, {name: numbers[quantity] for name, numbers in published.items() if quantity in numbers})
    _legend(figure, study)
    heading(figure, _title(study, "What agents do"))
    return figure


def figure_9(study: Study, scores: Mapping[str, float]) -> Figure:
    """Learning curves: thin lines are seeds, thick ones their means (Figure 9; its axis ends at 2e9 steps, this one where we ended)."""
    figure, axes = _by_auxiliary(study, 4.2)
    for ax, auxiliary in zip(axes, study.settings.auxiliaries, strict=True):
        for condition, outcomes in _of(study, auxiliary):
            look = _INPUTS[condition.input]
            _curves(ax, outcomes, look, lambda steps, _: steps / 1e6)
        dress(ax, None, "million steps", "score in training" if ax is axes[0] else None)
        ax.set_ylim(min(0.0, ax.get_ylim()[0]), max(300.0, ax.get_ylim()[1]))
        reference_lines(ax, scores, named=ax is axes[-1])
    _curve_legend(figure, study)
    heading(figure, _title(study, "Learning"))
    return figure


def _curves(ax: Axes, outcomes: Sequence[Outcome], look: Look, scale: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> None:
    """Score in training of every seed, thin, and their mean, over `scale(steps, seconds)`."""
    arrays = [np.array(o.curve, float).reshape(-1, 3).T for o in outcomes if len(o.curve)]
    curves = [(scale(steps, seconds), score) for steps, seconds, score in arrays]
    for x, score in curves:
        ax.plot(x, score, color=look.color, linewidth=0.7, alpha=0.55)
    if curves:
        grid = np.linspace(max(x[0] for x, _ in curves), min(x[-1] for x, _ in curves), 200)
        mean = np.mean([np.interp(grid, *c) for c in curves], axis=0)
        ax.plot(grid, mean, color=look.color, linewidth=2.2, linestyle=look.linestyle)


def by_trial(study: Study, trials: Sequence[float]) -> Figure:
    """Mean score of every trial: flat for an agent without memory, rising for one that learns within the episode."""
    figure, axes = _by_auxiliary(study, 3.8)
    for ax, auxiliary in zip(axes, study.settings.auxiliaries, strict=True):
        if len(trials):
            ax.plot(range(1, len(trials) + 1), trials, color=SOFT, linewidth=1.2, label="ideal observer")
        for condition, outcomes in _of(study, auxiliary):
            look, scores = _INPUTS[condition.input], np.array([o.trial_scores for o in outcomes])
            place = np.arange(1, scores.shape[1] + 1)
            ax.plot(place, scores.T, color=look.color, linewidth=0.6, alpha=0.5)
            ax.plot(place, scores.mean(0), color=look.color, marker=look.marker, linestyle=look.linestyle, linewidth=2)
        ax.set_ylim(min(0.0, ax.get_ylim()[0]), 31)
        dress(ax, None, "trial", "mean score" if ax is axes[0] else None)
        if len(trials):
            ax.legend(fontsize=NOTE, labelcolor=INK, frameon=False, loc="lower right")
    _curve_legend(figure, study)
    heading(figure, _title(study, "Trial 1 against trial 10"))
    return figure


def figure_10(study: Study) -> Figure:
    """What the first, second, ... action did in the first and in the last trial, a row for each of a few conditions (Figure 10)."""
    there = {(c.input, c.auxiliary): (c, outcomes) for c, outcomes in study.outcomes.items()}
    rows = [there[pair] for pair in SHOWN if pair in there] or list(there.values())[:4]
    require(len(rows) > 0, "study", "of no condition", "one with outcomes")
    figure = new_figure(2.5 * len(rows) + 1.0)
    axes = figure.subplots(len(rows), 2, squeeze=False, sharex=True, sharey=True)
    for row, (condition, outcomes) in zip(axes, rows, strict=True):
        longest = max(o.kinds.shape[1] for o in outcomes)
        share = np.mean([np.pad(o.kinds, ((0, 0), (0, longest - o.kinds.shape[1]), (0, 0))) for o in outcomes], axis=0)
        for trial, ax in enumerate(row):
            kind_bars(ax, share[trial], legend=ax is axes[0, 1])
            ax.set_title(
                f"{condition.text}, {'last trial' if trial else 'trial 1'}", loc="left", fontsize=NOTE, color=INK, fontweight="bold"
            )
            ax.label_outer()
    heading(figure, _title(study, "What the actions did"))
    return figure


def learning_curve(lines: Sequence[Mapping[str, Any]], scores: Mapping[str, float], title: str) -> Figure:
    """One run: score in training, and on held-out episodes where they were played, over its seconds.

    Args:
        lines: of its logbook.
        scores: episode scores of reference agents, for lines.
        title: heading.
    """
    figure = new_figure(4.8)
    ax = figure.subplots()
    told = [(line["seconds"], line["score"], line["steps"]) for line in lines if line.get("score") is not None]
    require(len(told) > 0, "lines", "without a score", "those of a run in which an episode ended")
    seconds, score, steps = np.array(told, float).T
    ax.plot(seconds, score, color=LOOKS[2].color, linewidth=2, marker="o" if len(told) < 4 else None, label="in training")
    held = [(line["seconds"], line["held_out_score"], line["held_out_error"]) for line in lines if "held_out_score" in line]
    if held:
        x, y, error = np.array(held, float).T
        ax.errorbar(x, y, error, color=LOOKS[1].color, marker="s", linestyle="", label="held-out episodes, ± standard error")
    ax.set_ylim(min(0.0, ax.get_ylim()[0]), 300)
    dress(ax, None, f"seconds of training ({steps[-1]:,.0f} steps in all)", "episode score")
    reference_lines(ax, scores)
    ax.legend(fontsize=NOTE, labelcolor=INK, frameon=False, loc="lower right")
    heading(figure, title)
    return figure


def compared(rows: Mapping[str, Sequence[Outcome]], scores: Mapping[str, float], trials: Sequence[float], title: str) -> Figure:
    """Several configurations, a few seeds each: learning over minutes, and the mean score of every trial afterwards.

    Args:
        rows: outcomes by name, at most as many names as there are looks.
        scores: episode scores of reference agents, for lines.
        trials: the ideal observer's mean score of each trial; may be empty.
        title: heading.
    """
    require(0 < len(rows) <= len(LOOKS), "rows", f"{len(rows)} of them", f"1 to {len(LOOKS)}")
    figure = new_figure(5.0)
    learning, after = figure.subplots(1, 2, width_ratios=(3, 2))
    for look, outcomes in zip(LOOKS, rows.values(), strict=False):
        _curves(learning, outcomes, look, lambda _, seconds: seconds / 60)
        means = np.array([o.trial_scores for o in outcomes])
        place = np.arange(1, means.shape[1] + 1)
        after.plot(place, means.T, color=look.color, linewidth=0.6, alpha=0.5)
        after.plot(place, means.mean(0), color=look.color, linestyle=look.linestyle, marker=look.marker, markersize=5, linewidth=2)
    dress(learning, None, "minutes of training", "episode score in training")
    learning.set_ylim(min(0.0, learning.get_ylim()[0]), max(300.0, learning.get_ylim()[1]))
    reference_lines(learning, scores)
    dress(after, None, "trial", "mean score, played afterwards")
    after.set_ylim(min(0.0, after.get_ylim()[0]), 31)
    handles = [
        Line2D([], [], color=k.color, linestyle=k.linestyle, marker=k.marker, linewidth=2, label=n)
        for k, n in zip(LOOKS, rows, strict=False)
    ]
    if len(trials):
        after.plot(range(1, len(trials) + 1), trials, color=SOFT, linewidth=1.2)
        handles.append(Line2D([], [], color=SOFT, linewidth=1.2, label="ideal observer"))
    outside_legend(figure, handles, columns=3)
    heading(figure, title)
    return figure


def _by_auxiliary(study: Study, height: float) -> tuple[Figure, list[Axes]]:
    """A panel for each auxiliary task."""
    figure = new_figure(height)
    axes = list(figure.subplots(1, len(study.settings.auxiliaries), sharey=True, squeeze=False)[0])
    for ax, auxiliary in zip(axes, study.settings.auxiliaries, strict=True):
        ax.set_title(
            f"predicts {'nothing' if auxiliary == 'none' else auxiliary}", fontsize=LABEL, color=INK, loc="left", fontweight="bold"
        )
    return figure, axes


def _of(study: Study, auxiliary: str) -> list[tuple[Condition, tuple[Outcome, ...]]]:
    return [(c, outcomes) for c, outcomes in study.outcomes.items() if c.auxiliary == auxiliary]


def _curve_legend(figure: Figure, study: Study) -> None:
    def handle(name: str, look: Look) -> Line2D:
        return Line2D([], [], color=look.color, linestyle=look.linestyle, linewidth=2.2, label=f"extra input: {name}")

    outside_legend(figure, [handle(i, _INPUTS[i]) for i in study.settings.inputs])
