"""Pictures: the table top, the topologies of the graphs (paper, Figure 7d), an episode as a strip or a GIF. Needs no display."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Ellipse

from jaxdiff.alchemy import belief, graphs, layout
from jaxdiff.alchemy import chemistry as chem
from jaxdiff.core.errors import InputError, as_array, require, require_integer
from jaxdiff.core.files import whole

if TYPE_CHECKING:
    from jaxdiff.alchemy.world import Alchemy, Params, State

POTION_COLOURS = ("#d7263d", "#3a9d4f", "#f28c28", "#f4d03f", "#f49ac2", "#40c9c0")
STONE_COLOURS = ("#7d3fb0", "#6a62c9", "#3d7be0")
SHAPES = ("^", "H", "o")  # pointy, mid, round
SIZES = (130, 260, 430)
INK, FAINT, PAPER = "#222222", "#b8b8b8", "#fbfaf7"
# Where the corners of the cube are drawn: axis 0 to the right, axis 1 up, axis 2 into the page.
_ACROSS = np.array([[1.0, 0.0], [0.0, 1.0], [0.52, 0.36]])


def _corners() -> np.ndarray:
    return (chem.corner_coordinates() + 1) / 2 @ _ACROSS


def _blank(ax: Axes) -> None:
    ax.set_axis_off()
    ax.set_aspect("equal")


def _pixels(figure: Figure) -> np.ndarray:
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[..., :3].copy()


def _worth(value: float) -> str:
    return f"{value:+.4g}".replace("-", "−")


def table_top(env: Alchemy, state: State, params: Params | None = None) -> np.ndarray:
    """Stones with their features, potions, cauldron; beside them the latent cube: what is known of its edges, and where the stones are.

    Stones and potions carry the numbers of their slots, as actions count them.

    Args:
        env: the environment.
        state: of one episode.
        params: say what a stone is worth; the environment's defaults when None.

    Returns:
        uint8 [height, width, 3].
    """
    values = np.asarray(env.values(env.default_params if params is None else params))
    figure = Figure(figsize=(7.4, 3.3), dpi=100, facecolor=PAPER)
    grid = figure.add_gridspec(1, 2, width_ratios=(1.35, 1), left=0.02, right=0.98, bottom=0.03, top=0.88, wspace=0.03)
    _draw_table(figure.add_subplot(grid[0]), state, values)
    _draw_knowledge(figure.add_subplot(grid[1]), state, values)
    trial, step = int(state.trial), int(state.step)
    where = f"trial {trial + 1} of {env.trials}, step {step} of {env.steps}" if trial < env.trials else "episode over"
    figure.text(0.03, 0.93, where, fontsize=10, color=INK, weight="bold")
    left = belief.worlds(state)
    figure.text(0.97, 0.93, f"{left:,} possible chemistr{'y' if left == 1 else 'ies'}", fontsize=10, color=INK, ha="right")
    return _pixels(figure)


def _draw_table(ax: Axes, state: State, values: np.ndarray) -> None:
    _blank(ax)
    ax.set_xlim(-0.6, 6.4)
    ax.set_ylim(-0.35, 4.2)
    c = state.chemistry
    stones = np.asarray(layout.unpack_stones(state.stones))
    for slot, corner in enumerate(stones.tolist()):
        x = 0.35 + 1.55 * slot
        if corner == layout.NO_STONE:
            ax.scatter(x, 3.05, s=260, facecolor="none", edgecolor=FAINT, linestyle=":")
            ax.text(x, 2.25, "used", ha="center", fontsize=7.5, color=FAINT)
            continue
        aligned = corner ^ int(c.stone_map) ^ chem.FLIP
        colour, size, roundness = (chem.perceived_features()[int(c.rotation), aligned] + 1).tolist()
        ax.scatter(x, 3.05, s=SIZES[size], marker=SHAPES[roundness], facecolor=STONE_COLOURS[colour], edgecolor=INK, linewidth=1)
        words = [chem.FEATURES[k][f] for k, f in enumerate((colour, size, roundness))]
        ax.text(x, 3.05, str(slot), ha="center", va="center", fontsize=6.5, color=PAPER, weight="bold")
        ax.text(x, 3.75, _worth(float(values[corner])), ha="center", fontsize=10, color=INK, weight="bold")
        ax.text(x, 2.05, "\n".join((words[0], f"{words[1]} {words[2]}")), ha="center", fontsize=7.5, color=INK, linespacing=1.1)
    for slot, colour in enumerate(np.asarray(layout.unpack_potions(state.potions)).tolist()):
        x, y = 0.05 + (slot % 6) * 0.85, 1.2 - (slot // 6) * 0.95
        if colour == layout.NO_POTION:
            ax.scatter(x, y, s=150, facecolor="none", edgecolor=FAINT, linestyle=":")
            continue
        ax.scatter(x, y, s=170, marker="o", facecolor=POTION_COLOURS[colour], edgecolor=INK, linewidth=0.8)
        ax.plot([x, x], [y + 0.24, y + 0.4], color=INK, linewidth=4, solid_capstyle="butt")
        ax.text(x, y - 0.05, str(slot), ha="center", va="center", fontsize=6.5, color=INK)
    ax.add_patch(Ellipse((5.7, 2.7), 1.15, 1.05, facecolor="#3b3b3b", edgecolor=INK))
    ax.add_patch(Ellipse((5.7, 3.1), 0.95, 0.3, facecolor="#77c36c", edgecolor=INK))
    ax.text(5.7, 1.85, "cauldron", ha="center", fontsize=7.5, color=INK)


def _known_edges(state: State) -> np.ndarray:
    """Posterior probability of every edge, the frame's axes turned so that corners carry their true value, float32 [12]."""
    p = np.asarray(_aligned(chem.as_int32(state.chemistry), state.known))[: graphs.EDGES]
    return p[belief.edge_under_flip()[int(state.chemistry.stone_map) ^ chem.FLIP]]


@jax.jit
def _aligned(c: chem.Chemistry, known: Any) -> jax.Array:
    return belief.marginals_of(c, known, aligned=True)


def _draw_knowledge(ax: Axes, state: State, values: np.ndarray) -> None:
    _blank(ax)
    ax.set_xlim(-0.25, 1.85)
    ax.set_ylim(-0.5, 1.6)
    place = _corners()
    for edge, probability in enumerate(_known_edges(state).tolist()):
        a, b = place[graphs.edge_endpoints()[edge]]
        if probability == 0:
            continue
        style: dict[str, Any] = (
            {"color": INK, "linewidth": 2.2} if probability == 1 else {"color": FAINT, "linewidth": 1.1, "linestyle": (0, (3, 2))}
        )
        ax.plot(*np.stack([a, b]).T, zorder=1, **style)
    _draw_corners(ax, values, size=190)
    for corner, value in enumerate(values.tolist()):
        ax.text(place[corner, 0], place[corner, 1], _worth(value), ha="center", va="center", fontsize=6.5, color=INK, zorder=4)
    stones = np.asarray(layout.unpack_stones(state.stones)).tolist()
    for corner in sorted(set(stones) - {layout.NO_STONE}):
        here = [str(slot) for slot, stone in enumerate(stones) if stone == corner]
        ax.scatter(*place[corner], s=330, facecolor="none", edgecolor="#d7263d", linewidth=1.6, zorder=3)
        text = f"stone{'s' if len(here) > 1 else ''} {', '.join(here)}"
        ax.text(place[corner, 0], place[corner, 1] + 0.12, text, ha="center", fontsize=7, color="#d7263d", zorder=4)
    ax.text(
        0.8,
        -0.32,
        "edges: solid known, dashed open,\nno line: known absent; red rings: stones",
        ha="center",
        fontsize=7,
        color=INK,
        va="center",
    )


def _draw_corners(ax: Axes, values: np.ndarray, size: float) -> None:
    """Discs at the corners: golden the best, yellow what is worth something, grey the rest, the worst darker."""
    for (x, y), value in zip(_corners(), values, strict=True):
        grey = "#dddddd" if value == values.min() else "#eeeeee"
        shade = "#ffd447" if value == values.max() else "#fff2b8" if value > 0 else grey
        ax.scatter(x, y, s=size, facecolor=shade, edgecolor=INK, linewidth=0.8, zorder=2)


def topologies() -> np.ndarray:
    """One graph of every class under turning and mirroring the cube, with how many graphs are like it; uint8 [height, width, 3]."""
    classes = topology_classes()
    across = 4
    rows = -(-len(classes) // across)
    figure = Figure(figsize=(1.75 * across, 1.95 * rows), dpi=100, facecolor=PAPER)
    for n, (graph, size) in enumerate(classes):
        ax = figure.add_subplot(rows, across, n + 1)
        _blank(ax)
        ax.set_xlim(-0.2, 1.75)
        ax.set_ylim(-0.2, 1.6)
        for edge in np.flatnonzero(graphs.edges()[graph]):
            ax.plot(*_corners()[graphs.edge_endpoints()[edge]].T, color=INK, linewidth=1.6, zorder=1)
        _draw_corners(ax, chem.value_level(), size=45)
        count = int(graphs.constraints()[graph])
        ax.set_title(f"{count} precondition{'' if count == 1 else 's'}\n{size} graph{'' if size == 1 else 's'}", fontsize=8, color=INK)
    figure.subplots_adjust(left=0.01, right=0.99, bottom=0.01, top=1 - 0.42 / (1.95 * rows), hspace=0.35, wspace=0.05)
    return _pixels(figure)


def topology_classes() -> list[tuple[int, int]]:
    """A representative graph and the number of graphs of every class under the 48 symmetries of the cube, fewest preconditions first."""
    images = graphs.axis_permutations()[:, graphs.reflections()].reshape(-1, graphs.COUNT)
    name = images.min(0)
    classes = [(int(g), int((name == g).sum())) for g in np.unique(name)]
    return sorted(classes, key=lambda c: (graphs.constraints()[c[0]], c[1], c[0]))


def episode(env: Alchemy, state: State, actions: Any, params: Params | None = None) -> list[np.ndarray]:
    """A picture of a state and one after each of a list of actions.

    Args:
        env: the environment.
        state: where to begin.
        actions: integers [T].
        params: the game's numbers; the environment's defaults when None.
    """
    params = env.default_params if params is None else params
    step = jax.jit(env.step_env)
    frames = [table_top(env, state, params)]
    for t, action in enumerate(actions):
        require_integer("action", action, 0, env.actions - 1)
        _, state, *_ = step(jax.random.key(t), state, np.int32(action), params)
        frames.append(table_top(env, state, params))
    return frames


def _checked(frames: Any) -> list[np.ndarray]:
    """Pictures that can stand side by side."""
    allowed = "one or more pictures of one size, each uint8 [height, width, 3]"
    require(isinstance(frames, list | tuple | np.ndarray), "frames", frames, allowed)
    pictures = [as_array("frames", frame, allowed) for frame in frames]
    require(len(pictures) > 0, "frames", "empty", allowed)
    for picture in pictures:
        require(picture.ndim == 3 and picture.shape[2] == 3, "frames", f"with one of shape {picture.shape}", allowed)
        require(picture.dtype == np.uint8, "frames", f"with one of type {picture.dtype}", allowed)
    shapes = {picture.shape for picture in pictures}
    require(len(shapes) == 1, "frames", f"of shapes {sorted(shapes)}", allowed)
    return pictures


def strip(frames: Any, columns: int = 2) -> np.ndarray:
    """Pictures in rows of `columns`, in reading order.

    Args:
        frames: pictures of one size, uint8 [height, width, 3]: a list, or an array [T, height, width, 3].
        columns: how many stand side by side.

    Returns:
        uint8 [height, width, 3].

    Raises:
        InputError: no pictures, or not of one size and that form.
    """
    require_integer("columns", columns, 1)
    pictures = _checked(frames)
    blank = np.full_like(pictures[0], 255)
    padded = pictures + [blank] * (-len(pictures) % columns)
    rows = [np.concatenate(padded[i : i + columns], axis=1) for i in range(0, len(padded), columns)]
    return np.concatenate(rows, axis=0)


def gif(path: str | Path, frames: Any, seconds: float = 0.8) -> Path:
    """Write pictures as an animated GIF that shows each for some seconds.

    Args:
        path: where to; ends in .gif.
        frames: pictures as for `strip`.
        seconds: 0.01 to 655; the format counts hundredths in 16 bits.

    Raises:
        InputError: no pictures or such as `strip` refuses, seconds out of range, another ending than .gif, or a folder that cannot be
            written.
    """
    from PIL import Image

    path, pictures = Path(path), _checked(frames)
    number = isinstance(seconds, int | float | np.integer | np.floating)
    require(number and 0.01 <= seconds <= 655, "seconds", seconds, "a number from 0.01 to 655")
    if path.suffix != ".gif":
        raise InputError("path", str(path), "a file name that ends in .gif")
    first, *others = [Image.fromarray(picture) for picture in pictures]
    with whole(path) as beside:
        first.save(beside, save_all=True, append_images=others, duration=int(1000 * seconds), loop=0)
    return path
