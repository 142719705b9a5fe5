"""Figures of novelties: distance against loss, a bar for each novelty, and what solves a level before and after."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from jaxdiff.core.errors import require
from jaxdiff.plots.style import FAINT, INK, LOOKS, NOTE, SOFT, TICK, dress, heading, new_figure, outside_legend
from jaxdiff.studies.reaction.agents import ABOUT, AGENTS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from jaxdiff.studies.reaction.domain import Attempts
    from jaxdiff.studies.reaction.table import NoveltyRow, Verdict

BY_CLASS = {"easy": LOOKS[3], "medium": LOOKS[2], "hard": LOOKS[1]}
UNSEEN = LOOKS[7]  # indistinguishable from no novelty, or undetermined


def against_loss(rows: Sequence[NoveltyRow], judged: Verdict, title: str, null: str) -> Figure:
    """Distance of every novelty against what each agent loses, a panel an agent; the classes in colour.

    Args:
        rows: of one domain.
        judged: of the same.
        title: the domain.
        null: name of the change that does not matter.
    """
    shown = [row for row in rows if row.summary.d is not None]
    figure = new_figure(8.4)
    axes = figure.subplots(2, 2, sharex=True, sharey=True).reshape(-1)
    for place, (ax, agent) in enumerate(zip(axes, AGENTS, strict=True)):
        rho = judged.associations["D", agent].spearman.value
        rival = judged.associations["random pass rate", agent].spearman.value
        said = (
            "loses the same everywhere" if np.isnan(rho) else f"rank correlation {rho:.2f}\n(change of the random pass rate: {rival:.2f})"
        )
        dress(
            ax,
            f"{agent}: {said}",
            "distance D of the solutions" if place > 1 else None,
            "loss of the pass rate" if place % 2 == 0 else None,
        )
        ax.title.set_fontsize(NOTE)
        ax.axhline(0, color=FAINT, linewidth=1, zorder=0)
        ax.axvline(0, color=FAINT, linewidth=1, zorder=0)
        ax.axvline(0.3, color=FAINT, linewidth=1, linestyle=(0, (4, 3)), zorder=0)
        for number, row in enumerate(shown):
            d, loss = row.summary.d, row.drop[agent]
            assert d is not None
            look = BY_CLASS.get(row.summary.verdict, UNSEEN)
            ax.errorbar(
                d.value, loss.value, xerr=[[d.value - d.low], [d.high - d.value]], yerr=[[loss.value - loss.low], [loss.high - loss.value]],
                color=look.color, marker="x" if row.name == null else look.marker, markersize=7, linewidth=1.2,
            )  # fmt: skip
            ax.annotate(
                str(number + 1),
                (d.value, loss.value),
                xytext=(5, 4 if number % 2 else -13),
                textcoords="offset points",
                fontsize=NOTE,
                color=INK,
            )
    handles = [Line2D([], [], color=look.color, marker=look.marker, linestyle="", label=name) for name, look in BY_CLASS.items()]
    handles.append(Line2D([], [], color=UNSEEN.color, marker=UNSEEN.marker, linestyle="", label="no novelty seen"))
    numbers = [Line2D([], [], linestyle="", label=f"{i + 1}  {row.name}") for i, row in enumerate(shown)]
    outside_legend(figure, [*handles, *numbers], 3)
    heading(figure, f"Does the distance tell the loss? {title}")
    return figure


def bars(rows: Sequence[NoveltyRow], title: str) -> Figure:
    """Distance of every novelty in its two parts, size and shift, with the interval of the whole and the floor of chance."""
    shown = sorted((row for row in rows if row.summary.d is not None), key=lambda row: row.summary.d.value)  # pyright: ignore[reportOptionalMemberAccess]
    figure = new_figure(0.42 * len(shown) + 2.2)
    ax = figure.subplots()
    dress(ax, None, "distance D of the solutions (95 % intervals over levels)")
    for place, row in enumerate(shown):
        s = row.summary
        assert s.d is not None
        assert s.size is not None
        assert s.shift is not None
        ax.barh(place, s.size.value, color=LOOKS[2].color, height=0.62)
        # Where the parts point apart the shift goes back from the end of the size, so it is drawn thinner, on top.
        ax.barh(place, s.shift.value, left=s.size.value, color=LOOKS[1].color, height=0.34 if s.size.value * s.shift.value < 0 else 0.62)
        ax.errorbar(s.d.value, place, xerr=[[s.d.value - s.d.low], [s.d.high - s.d.value]], color=INK, marker="o", markersize=4, capsize=3)
        if s.floor is not None:
            ax.plot([s.floor.value] * 2, [place - 0.4, place + 0.4], color=SOFT, linewidth=1.5, linestyle=(0, (2, 1.5)))
    ax.axvline(0, color=INK, linewidth=0.8)
    ax.set_yticks(range(len(shown)), [f"{row.name}: {_short(row.summary.verdict)}" for row in shown], fontsize=TICK)
    handles = [
        Patch(color=LOOKS[2].color, label="size: fewer or more solutions"),
        Patch(color=LOOKS[1].color, label="shift: solutions elsewhere"),
        Line2D([], [], color=INK, marker="o", markersize=4, label="D"),
        Line2D([], [], color=SOFT, linestyle=(0, (2, 1.5)), label="shift by chance alone"),
    ]
    outside_legend(figure, handles, 4)
    heading(figure, f"How hard is each novelty? {title}")
    return figure


def losses(rows: Sequence[NoveltyRow], title: str) -> Figure:
    """What every agent loses with every novelty, with 95 % intervals."""
    figure = new_figure(0.5 * len(rows) + 2.2)
    ax = figure.subplots()
    dress(ax, None, "loss of the pass rate, before less after (95 % intervals over levels)")
    for place, row in enumerate(rows):
        for a, agent in enumerate(AGENTS):
            loss = row.drop[agent]
            at = place + (a - 1.5) * 0.18
            ax.errorbar(
                loss.value,
                at,
                xerr=[[loss.value - loss.low], [loss.high - loss.value]],
                color=LOOKS[a].color,
                marker=LOOKS[a].marker,
                markersize=6,
            )
    ax.axvline(0, color=INK, linewidth=0.8)
    ax.invert_yaxis()
    ax.set_yticks(range(len(rows)), [row.name for row in rows], fontsize=TICK)
    ax.set_axisbelow(True)
    ax.grid(axis="y", color=FAINT, linewidth=0.5)
    handles = [
        Line2D([], [], color=LOOKS[a].color, marker=LOOKS[a].marker, linestyle="", label=f"{agent}: {ABOUT[agent]}")
        for a, agent in enumerate(AGENTS)
    ]
    outside_legend(figure, handles, 1)
    heading(figure, f"What agents lose: {title}")
    return figure


def tree(before: Attempts, after: Attempts, level: int, actions: int, title: str, names: tuple[str, str] = ("before", "after")) -> Figure:
    """The tree of all sequences of actions of one level, before and after: how many of those that begin so solve it (the paper's Figure 1).

    Args:
        before, after: every sequence on every level, in lexicographic order.
        level: which.
        actions: how many actions there are at each step.
        title: what is shown.
        names: of the two sides.

    Raises:
        InputError: sequences that are not all sequences.
    """
    tries, steps = before.actions.shape[1:3]
    require(
        tries == actions**steps, "before", f"{tries} sequences of {steps} steps", f"all {actions**steps} sequences of {actions} actions"
    )
    figure = new_figure(4.6)
    axes = figure.subplots(1, 2, sharey=True)
    for ax, side, name in zip(axes, (before, after), names, strict=True):
        length = side.length[level]
        solved = length > 0
        dress(ax, f"{name}: {int(solved.sum()):,} of {tries:,}", None, "step")
        for step in range(steps):
            wide = actions ** (steps - step - 1)
            share = solved.reshape(-1, wide).mean(1)
            # What is solved already is full: whatever follows does not matter.
            done = (solved & (length <= step + 1)).reshape(-1, wide).all(1)
            _row(ax, share, done, step)
        ax.set_yticks(range(steps), [str(step + 1) for step in range(steps)])
        ax.set_ylim(steps - 0.5, -0.5)
        ax.set_xticks([])
        ax.spines["bottom"].set_visible(False)
    handles = [
        Patch(facecolor="#ffffff", edgecolor=SOFT, label="nothing that begins so solves it"),
        Patch(color="#9fd3bd", label="some does (the darker, the more)"),
        Patch(color=LOOKS[3].color, label="solved"),
    ]
    outside_legend(figure, handles, 3)
    heading(figure, title)
    return figure


def _row(ax: Axes, share: np.ndarray, done: np.ndarray, step: int) -> None:
    colours = np.ones((1, len(share), 3))
    dark = np.array([0x00, 0x9E, 0x73]) / 255
    strength = np.where(done, 1.0, np.where(share > 0, 0.12 + 0.55 * share, 0))
    colours[0] = 1 - strength[:, None] * (1 - dark)
    ax.imshow(
        colours, extent=(0, 1, step + 0.46, step - 0.46), aspect="auto", interpolation="nearest" if len(share) < 800 else "antialiased"
    )
    if len(share) <= 32:
        for edge in np.arange(1, len(share)) / len(share):
            ax.plot([edge] * 2, [step - 0.46, step + 0.46], color="white", linewidth=1)
    ax.plot([0, 1, 1, 0, 0], [step - 0.46, step - 0.46, step + 0.46, step + 0.46, step - 0.46], color=SOFT, linewidth=0.6)
    ax.set_xlim(-0.005, 1.005)


def _short(verdict: str) -> str:
    return {"indistinguishable from no novelty": "no novelty seen"}.get(verdict, verdict)
