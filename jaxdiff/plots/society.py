"""Figures of the social experiments: reward by step with bands (2 to 5), complexity against score (6), and what the paper has not got."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.lines import Line2D

from jaxdiff.plots.style import FAINT, INK, LOOKS, NOTE, POINT, SOFT, Look, dress, heading, new_figure, outside_legend, panels
from jaxdiff.society.scenarios import SIX, Curves, band

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from jaxdiff.society.evolution import History
    from jaxdiff.society.world import Lambda, Params, State
    from jaxdiff.studies.social_difficulty import Related
    from jaxdiff.studies.society import Results

NAMES = {"oracle": "oracle", "follower": "trivial follower", "random": "random", "q_learning": "Q-learning", "sarsa": "SARSA", "qv": "QV"}
LOOK: dict[str, Look] = dict(zip(SIX, LOOKS, strict=False))


def paper_figures(results: Results, related: Related | None = None) -> dict[str, Figure]:
    """Figures 2 to 6 and the comparison with difficulty, by the stem of a file name."""
    figures = {
        "figure_02_competition": three_panels(results, "competitive", "Competition, everybody for himself"),
        "figure_03_isolated": isolated(results),
        "figure_04_cooperation": three_panels(results, "cooperative", "Cooperation, all rewards in one bag"),
        "figure_05_teams": teams(results),
        "figure_06_complexity": complexity(results),
    }
    if related is not None:
        figures["difficulty"] = difficulty(related)
    return figures


def isolated(results: Results) -> Figure:
    """Figure 3: every agent alone."""
    figure, (ax,) = panels(1, 4.2, "step", "mean reward so far")
    for kind in SIX:
        _curve(ax, results.curves[f"isolated_{kind}"], 0, kind)
    dress(ax)
    _zero(ax)
    _kinds(figure, SIX)
    heading(figure, f"Alone with Good and Evil: {_sessions(results)}")
    return figure


def scenario(curves: Curves) -> Figure:
    """Reward by step of every agent of one scenario."""
    figure, (ax,) = panels(1, 3.6, "step", "mean reward so far")
    for seat, kind in enumerate(curves.scenario.agents):
        _curve(ax, curves, seat, kind)
    dress(ax)
    _zero(ax)
    _kinds(figure, tuple(dict.fromkeys(curves.scenario.agents)))
    heading(figure, f"{curves.scenario.name.capitalize()}: {curves.own.shape[1]:,} sessions, 95 % bands")
    return figure


def session(env: Lambda, params: Params, states: Sequence[State]) -> Figure:
    """Pictures of a session, one a state, side by side."""
    figure = new_figure(3.0, 3.0 * len(states))
    for ax, state in zip(figure.subplots(1, len(states), squeeze=False)[0], states, strict=True):
        ax.imshow(env.render(state, params, pixels=60))
        ax.set_axis_off()
        ax.set_title(f"step {int(state.time)}", fontsize=NOTE, color=INK)
    return figure


def three_panels(results: Results, which: str, title: str) -> Figure:
    """Figures 2 and 4: six agents; three learners and a random agent; three learners for longer."""
    figure = new_figure(4.2)
    axes = figure.subplots(1, 3)
    names = ("six agents", "with random", "learners only")
    for ax, many, name in zip(axes, ("six", "four", "three"), names, strict=True):
        curves = results.curves[f"{many}_{which}"]
        for seat, kind in enumerate(curves.scenario.agents):
            _curve(ax, curves, seat, kind)
        dress(ax, name, "step", "mean reward so far" if many == "six" else None)
        _zero(ax)
    _kinds(figure, SIX)
    heading(figure, f"{title}: {_sessions(results)}")
    return figure


def teams(results: Results) -> Figure:
    """Figure 5: the better and the other member of each team, and what they would be if neither had a role."""
    from jaxdiff.studies.society_rows import split_null

    curves = results.curves["teams"]
    figure, axes = panels(2, 4.4, "step", "mean reward so far", sharey=True)
    for team, (ax, kind) in enumerate(zip(axes, ("q_learning", "sarsa"), strict=True)):
        so_far = curves.so_far()[..., 2 * team : 2 * team + 2]
        # Who is better is decided by the whole session, as in the paper.
        order = np.argsort(-so_far[-1], axis=-1)
        ranked = np.take_along_axis(so_far, np.broadcast_to(order, so_far.shape), axis=-1)
        for member, look in ((0, LOOKS[2]), (1, LOOKS[1])):
            _band(ax, curves.steps, ranked[..., member], look)
        for null in split_null(curves.own[..., 2 * team : 2 * team + 2]):
            ax.axhline(null.mean(), color=SOFT, linewidth=1.0, linestyle=":")
        dress(ax, f"team of two {NAMES[kind]} agents")
        _zero(ax)
    handles = [_handle(LOOKS[2], "better member"), _handle(LOOKS[1], "other member")]
    handles.append(Line2D([], [], color=SOFT, linestyle=":", label="both, if neither had a role"))
    outside_legend(figure, handles)
    heading(figure, f"Teams, two against two: {_sessions(results)}")
    return figure


def complexity(results: Results) -> Figure:
    """Figure 6: score against the compressed length of the environment."""
    from jaxdiff.studies.society_rows import spearman

    figure = new_figure(6.6)
    axes = figure.subplots(2, 3, sharex=True, sharey="row")
    for row, which in zip(axes, ("competitive", "cooperative"), strict=True):
        curves = results.curves[f"three_{which}"]
        for seat, (ax, kind) in enumerate(zip(row, curves.scenario.agents, strict=True)):
            score = curves.score[:, seat]
            ax.scatter(results.complexity, score, s=9, color=POINT, alpha=0.5, linewidths=0)
            _medians(ax, results.complexity, score)
            rho, low, high = spearman(results.complexity, score)
            label = f"{NAMES[kind]}, {which}"
            x = "K of the environment [bytes]" if which == "cooperative" else None
            dress(ax, label, x, "score" if seat == 0 else None)
            note = f"ρ = {rho:.2f} [{low:.2f}, {high:.2f}]"
            ax.text(0.98, 0.95, note, transform=ax.transAxes, ha="right", va="top", fontsize=NOTE, color=INK)
        row[0].set_ylim(top=row[0].get_ylim()[1] * 1.18)
    heading(figure, f"Complexity of the environment and score, with medians of tenths: {_sessions(results, 'intervals')}")
    return figure


def difficulty(related: Related) -> Figure:
    """Response curves of environments for pattern programs, and difficulty against scores."""
    figure = new_figure(4.3)
    axes = figure.subplots(1, 3)
    for theta, reward in zip(related.curves[0][:60], related.curves[1][:60], strict=True):
        axes[0].plot(theta, reward, color=FAINT, linewidth=0.8)
    dress(axes[0], "response curves", "ability θ [bits]", "reward of a program")
    place = related.measures.index("difficulty D(.25) [bits]")
    for ax, name in zip(axes[1:], ("q_learning alone", "q_learning of three"), strict=True):
        column = related.scores.index(name)
        ax.scatter(related.values[place], related.score[column], s=12, color=POINT, alpha=0.6, linewidths=0)
        _medians(ax, related.values[place], related.score[column])
        rho, low, high = related.correlation[place, column]
        title = "Q-learning alone" if name == "q_learning alone" else "one of three learners"
        dress(ax, title, "difficulty D(.25) [bits]", "score")
        note = f"ρ = {rho:.2f} [{low:.2f}, {high:.2f}]"
        ax.text(0.98, 0.95, note, transform=ax.transAxes, ha="right", va="top", fontsize=NOTE, color=INK)
        ax.set_ylim(top=ax.get_ylim()[1] * 1.15)
    heading(figure, f"Hard for blind patterns, hard for learners? {related.environments} environments")
    return figure


def evolution(history: History) -> Figure:
    """The social difficulty curve: scores of fixed probes by generation, and who the others are."""
    figure = new_figure(4.3)
    left, right = figure.subplots(1, 2)
    mean, half = history.curve()
    x = np.arange(-1, len(mean) - 1)
    for i, kind in enumerate(history.settings.probes):
        look = LOOK[kind]
        left.fill_between(x, mean[:, i] - half[:, i], mean[:, i] + half[:, i], color=look.color, alpha=0.18, linewidth=0)
        left.plot(x, mean[:, i], color=look.color, linestyle=look.linestyle, marker=look.marker, markersize=5, linewidth=1.8)
    dress(left, "scores of probes", "generation", "mean reward of a session")
    left.set_xticks(x, ["alone", *map(str, x[1:])])
    _zero(left)
    from jaxdiff.society.sessions import KINDS

    for i, kind in enumerate(KINDS):
        if history.share[:, i].max() > 0:
            look = LOOK.get(kind, LOOKS[7])
            right.plot(
                x[1:], history.share[:, i], color=look.color, linestyle=look.linestyle, marker=look.marker, markersize=4, linewidth=1.6
            )
    dress(right, "the others", "generation", "share of the agents")
    right.set_ylim(bottom=0)
    names = [kind for kind in (*SIX, "pattern") if history.share[:, KINDS.index(kind)].max() > 0 or kind in history.settings.probes]
    handles = [_handle(LOOK.get(kind, LOOKS[7]), NAMES.get(kind, "random pattern")) for kind in names]
    outside_legend(figure, handles, 4)
    s = history.settings
    heading(figure, f"Social difficulty by generation: {s.environments} environments, {s.agents} others, sessions of {s.steps:,} steps")
    return figure


def _curve(ax: Axes, curves: Curves, seat: int, kind: str) -> None:
    _band(ax, curves.steps, curves.so_far()[..., seat], LOOK[kind])


def _band(ax: Axes, steps: np.ndarray, values: np.ndarray, look: Look) -> None:
    """Mean over sessions of values [P, S] with its 95 % band."""
    mean, half = band(values[..., None])
    ax.fill_between(steps, (mean - half)[:, 0], (mean + half)[:, 0], color=look.color, alpha=0.2, linewidth=0)
    # Curves that lie on one another are told apart by their markers, which begin at different places.
    every = max(1, len(steps) // 6)
    first = 5 * LOOKS.index(look) % len(LOOKS) * every // len(LOOKS)
    line = {"color": look.color, "linestyle": look.linestyle, "marker": look.marker}
    ax.plot(steps, mean[:, 0], linewidth=1.7, markersize=5, markevery=(first, every), **line)
    ax.set_xlim(0, steps[-1])
    ax.set_xticks(np.linspace(0, steps[-1], 3), [f"{int(v):,}" for v in np.linspace(0, steps[-1], 3)])


def _medians(ax: Axes, x: np.ndarray, y: np.ndarray) -> None:
    """Medians of ten groups of equal size."""
    groups = np.array_split(np.argsort(x, kind="stable"), 10)
    points = np.array([(np.median(x[g]), np.median(y[g])) for g in groups if len(g)])
    ax.plot(points[:, 0], points[:, 1], color=INK, marker="o", markersize=4, linewidth=1.6)


def _zero(ax: Axes) -> None:
    ax.axhline(0.0, color=FAINT, linewidth=0.9, zorder=0)


def _handle(look: Look, label: str) -> Line2D:
    kind = {"color": look.color, "linestyle": look.linestyle, "marker": look.marker}
    return Line2D([], [], linewidth=1.7, markersize=5, label=label, **kind)


def _kinds(figure: Figure, kinds: tuple[str, ...]) -> None:
    outside_legend(figure, [_handle(LOOK[kind], NAMES[kind]) for kind in kinds], 6)


def _sessions(results: Results, what: str = "bands") -> str:
    return f"{results.settings.sessions:,} sessions, 95 % {what}, {results.main.name}"
