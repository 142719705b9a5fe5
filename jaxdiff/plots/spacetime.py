"""What happens in an automaton: time downward, cells across, the agent as a dot (paper, Figures 5, 6 and 7).

A one is dark. The agent is a large red dot where its cell holds a 0 and a small green one where it holds a 1, so that the two differ
in size and lightness as well. Axes: T steps (T+1 rows, the start included), N cells, P policies.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import EllipseCollection
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from jaxdiff.automata import apl, ring, rollouts, world
from jaxdiff.automata.compiled import compile_programs
from jaxdiff.core.errors import require
from jaxdiff.plots.style import INK, LABEL, NOTE, SOFT, TICK, TITLE, WIDTH, dress, heading, new_figure, outside_legend

STEPS = 200
ONE, ZERO = "#141414", "#ffffff"
ON_ZERO, ON_ONE = "#ea4a32", "#7bf095"
RULES = (*world.PAPER_RULES, 30, 90, 60)
# From the empty policy over a few simple ones to one of the best and one of the worst short ones.
POLICIES_110 = ("", "Vadd1", "Uadd1 Uadd1", "Vaddm Uadd1", "Vadd1 back Vaddm Uaddm Uaddm", "Vadd1 Vadd1 Uadd1 Vaddm")
POLICIES_164 = ("", "Uadd1", "Vadd1", "Vadd1 Vaddm", "Vadd1 Uadd1 Uaddm", "Vadd1 Uadd1 Vaddm Vaddm")


class Diagram(NamedTuple):
    """What is drawn of one run.

    Attributes:
        cells: configurations, 0 or 1, [T+1, N].
        position: the agent's cells [T+1], or None without an agent.
        title: over the diagram; may have several lines.
    """

    cells: Any
    position: Any
    title: str


class History(NamedTuple):
    """Runs of several policies, the random walk last where there is one.

    Attributes:
        cells: uint8 [P, T+1, N], the start included.
        position: int32 [P, T+1].
        reward: mean reward per step, float64 [P].
    """

    cells: np.ndarray
    position: np.ndarray
    reward: np.ndarray


def history(
    rule: int, programs: Sequence[str], steps: int = STEPS, width: int = world.PAPER_WIDTH, *, walk: bool = False, seed: int = 0
) -> History:
    """Run policies from the paper's start and keep every step.

    Args:
        rule: rule number.
        programs: their texts, see `automata.apl.parse`; "" is the empty policy, which stays and keeps.
        steps: T.
        width: cells of the ring.
        walk: whether a random walk is added at the end.
        seed: of that walk.

    Raises:
        InputError: a rule, program or width that is not one, no program or no steps.
    """
    require(len(programs) > 0, "programs", programs, "at least one program")
    require(isinstance(steps, int | np.integer) and steps >= 1, "steps", steps, "an integer of at least 1")
    start = world.paper_world(np.asarray([rule]), width)
    number, cells, position, _ = world.batched(start)
    parsed = [apl.parse(text) for text in programs]
    padded = np.full((len(parsed), max(1, *(len(p) for p in parsed))), -1, np.int8)
    for row, program in zip(padded, parsed, strict=True):
        row[: len(program)] = program
    shape = rollouts.shape_for(width, steps)
    traces = [rollouts.trace(compile_programs(jnp.asarray(padded), "clr"), number, cells, position, shape)]
    if walk:
        traces.append(rollouts.trace_walks(jax.random.key(seed), number, cells, position, 1, shape))

    def joined(pick: Any, first: np.ndarray) -> np.ndarray:
        after = np.concatenate([np.asarray(pick(trace))[:, 0] for trace in traces], axis=1).swapaxes(0, 1)  # [P, T, ...]
        return np.concatenate([np.broadcast_to(first, after[:, :1].shape), after], axis=1)

    scale = 1 << (width // 2 + 1)
    reward = np.concatenate([ring.to_int64(trace.reward)[:, 0].sum(0) for trace in traces]) / (scale * steps)
    return History(joined(lambda t: t.cells, cells[0]), joined(lambda t: t.position, position[0]), reward)


def spacetime(cells: Any, position: Any = None, title: str = "") -> Figure:
    """One space-time diagram.

    Args:
        cells: configurations, 0 or 1, [T+1, N].
        position: the agent's cells [T+1], or None without an agent.
        title: over the diagram.

    Raises:
        InputError: shapes that do not fit together, values that are no cells or no positions.
    """
    return gallery([Diagram(cells, position, title)])


def gallery(diagrams: Iterable[Diagram], title: str | None = None) -> Figure:
    """Space-time diagrams side by side, of the same number of steps.

    Args:
        diagrams: at most ten of them.
        title: over all.

    Raises:
        InputError: none or too many, of different lengths, or as for `spacetime`.
    """
    checked = [_checked(*diagram) for diagram in diagrams]
    require(1 <= len(checked) <= 10, "diagrams", f"a list of {len(checked)}", "one to ten diagrams")
    rows = len(checked[0].cells)
    require(all(len(d.cells) == rows for d in checked), "diagrams", "of different lengths", "the same number of steps in all")
    widths = [d.cells.shape[1] for d in checked]
    gaps = 0.22 * (len(widths) - 1)
    room = (9.0 if sum(widths) > 60 else 5.0) - gaps  # inches for cells
    height = min(8.4, 0.3 * rows, 2 * rows * room / sum(widths))  # a cell is at most twice as high as wide,
    cell = min(room / sum(widths), 1.5 * height / rows)  # and at most 1.5 times as wide as high
    width = max(min(cell * sum(widths) + gaps + 1.2, WIDTH), 4.0)
    figure = new_figure(height + 1.6, width)
    axes = figure.subplots(1, len(checked), sharey=True, squeeze=False, width_ratios=widths)[0]
    for ax, diagram in zip(axes, checked, strict=True):
        _draw(ax, diagram, TITLE if len(checked) == 1 else NOTE)
    axes[0].set_ylabel("step", fontsize=LABEL, color=INK)
    if title is not None:
        heading(figure, title)
    outside_legend(figure, _legend(any(d.position is not None for d in checked)), columns=4 if width > 6 else 2)
    return figure


def figure_5(rules: Sequence[int] = RULES, steps: int = STEPS, width: int = world.PAPER_WIDTH) -> Figure:
    """Several rules without an agent, from the paper's start.

    Args:
        rules: rule numbers, at most ten.
        steps: T.
        width: cells of the ring.

    Raises:
        InputError: a rule that is not one, none, or too many.
    """
    require(1 <= len(rules) <= 10, "rules", rules, "one to ten rules")
    diagrams = [Diagram(history(int(rule), [""], steps, width).cells[0], None, f"rule {int(rule)}") for rule in rules]
    return gallery(diagrams, "Automata left alone")


def figure_6(programs: Sequence[str] = POLICIES_110, steps: int = STEPS, seed: int = 0) -> Figure:
    """Rule 110 with different policies, the last a random walk; arguments and errors as for `policies`."""
    return policies(110, programs, steps, seed)


def figure_7(programs: Sequence[str] = POLICIES_164, steps: int = STEPS, seed: int = 0) -> Figure:
    """Rule 164 with different policies, the last a random walk; arguments and errors as for `policies`."""
    return policies(164, programs, steps, seed)


def policies(rule: int, programs: Sequence[str], steps: int = STEPS, seed: int = 0) -> Figure:
    """One rule with different policies side by side, and a random walk as the last.

    Args:
        rule: rule number.
        programs: texts of policies, at most nine; over each diagram stand its instructions and its reward.
        steps: T.
        seed: of the random walk.

    Raises:
        InputError: as for `history`, or too many programs.
    """
    require(1 <= len(programs) <= 9, "programs", programs, "one to nine programs")
    runs = history(rule, programs, steps, walk=True, seed=seed)
    names = [*("\n".join(text.split()) or "empty\npolicy" for text in programs), "random\nwalk"]
    titles = [f"{name}\nR = {reward:.2f}" for name, reward in zip(names, runs.reward, strict=True)]
    return gallery(
        [Diagram(*run) for run in zip(runs.cells, runs.position, titles, strict=True)],
        f"Rule {rule} with different agents; R: reward per step",
    )


def _checked(cells: Any, position: Any, title: str) -> Diagram:
    value = np.asarray(cells)
    require(value.ndim == 2 and value.size > 0, "cells", f"an array of shape {value.shape}", "[T+1, N]")
    wrong = value[(value != 0) & (value != 1)]
    require(wrong.size == 0, "cells", wrong.flat[0] if wrong.size else None, "zeros and ones")
    if position is None:
        return Diagram(value, None, title)
    place = np.asarray(position)
    require(
        place.shape == value.shape[:1] and place.dtype.kind in "iu",
        "position",
        f"an array of {place.dtype} {place.shape}",
        f"integers [{len(value)}], one a row",
    )
    require(bool(((place >= 0) & (place < value.shape[1])).all()), "position", "off the ring", f"0..{value.shape[1] - 1}")
    return Diagram(value, place, title)


def _draw(ax: Axes, diagram: Diagram, size: float) -> None:
    rows, width = diagram.cells.shape
    ax.imshow(diagram.cells, cmap=ListedColormap([ZERO, ONE]), vmin=0, vmax=1, interpolation="nearest", aspect="auto", resample=False)
    if diagram.position is not None:
        here = diagram.cells[np.arange(rows), diagram.position]
        for value, color, wide in ((0, ON_ZERO, 1.4), (1, ON_ONE, 1.2)):
            at = np.stack([diagram.position, np.arange(rows)], axis=1)[here == value]
            sizes = np.full(len(at), wide)
            dots = EllipseCollection(sizes, sizes, np.zeros(len(at)), units="y", offsets=at, offset_transform=ax.transData)
            dots.set(facecolor=color, edgecolor=ONE if value else ZERO, linewidth=0.4, label=f"agent on {value}", zorder=3)
            ax.add_collection(dots, autolim=False)
    ax.set(xlim=(-0.5, width - 0.5), ylim=(rows - 0.5, -0.5))
    dress(ax, None, "cell")
    ax.set_title(diagram.title, fontsize=size, color=INK)
    ax.tick_params(labelsize=TICK - 0.5)
    ax.xaxis.set_major_locator(MaxNLocator(2, integer=True, steps=[1, 2, 5, 10]))
    for spine in ax.spines.values():
        spine.set(visible=True, color=SOFT)


def _legend(agent: bool) -> list[Any]:
    cells = [Patch(facecolor=ZERO, edgecolor=SOFT, label="0"), Patch(facecolor=ONE, edgecolor=SOFT, label="1")]
    if not agent:
        return cells
    dot: dict[str, Any] = {"linestyle": "", "marker": "o"}
    return [
        *cells,
        Line2D([], [], markerfacecolor=ON_ZERO, markeredgecolor=ON_ZERO, markersize=9, label="agent on a 0", **dot),
        Line2D([], [], markerfacecolor=ON_ONE, markeredgecolor=ONE, markeredgewidth=2.5, markersize=10, label="agent on a 1", **dot),
    ]
