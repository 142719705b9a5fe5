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
from jaxdiff.core.errors import InputError, require, require_integer
from jaxdiff.core.files import whole

if TYPE_CHECKING:
    from jaxdiff.alchemy.world import Alchemy, Params, State

POTION_COLOURS = ("#d7263d", "#3a9d4f", "#f28c28", "#f4d03f", "#f49ac2", "#40c9c0")
STONE_COLOURS = ("#7d3fb0", "#6a62c9", "#3d7be0")
SHAPES = ("^", "H", "o")  # pointy, mid, round
SIZES = (130, 260, 430)
INK, FAINT, PAPER = "#222222", "#b8b8b8", "#fbfaf7"
WORTH = {-3: "−3", -1: "−1", 1: "+1", 3: "+15"}
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


def table_top(env: Alchemy, state: State) -> np.ndarray:
    """Stones with their features, potions, cauldron; beside them the latent cube: what is known of its edges, and where the stones are.

    Returns:
        uint8 [height, width, 3].
    """
    figure = Figure(figsize=(7.4, 3.3), dpi=100, facecolor=PAPER)
    grid = figure.add_gridspec(1, 2, width_ratios=(1.35, 1), left=0.02, right=0.98, bottom=0.03, top=0.88, wspace=0.03)
    _draw_table(figure.add_subplot(grid[0]), state)
    _draw_knowledge(figure.add_subplot(grid[1]), state)
    trial, step = int(state.trial), int(state.step)
    where = f"trial {trial + 1} of {env.trials}, step {step} of {env.steps}" if trial < env.trials else "episode over"
    figure.text(0.03, 0.93, where, fontsize=10, color=INK, weight="bold")
    left = belief.worlds(state)
    figure.text(0.97, 0.93, f"{left:,} possible chemistr{'y' if left == 1 else 'ies'}", fontsize=10, color=INK, ha="right")
    return _pixels(figure)


def _draw_table(ax: Axes, state: State) -> None:
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
        aligned = corner ^ int(c.stone_map) ^ 7
        colour, size, roundness = (chem.perceived_features()[int(c.rotation), aligned] + 1).tolist()
        ax.scatter(x, 3.05, s=SIZES[size], marker=SHAPES[roundness], facecolor=STONE_COLOURS[colour], edgecolor=INK, linewidth=1)
        words = [chem.FEATURES[k][f] for k, f in enumerate((colour, size, roundness))]
        ax.text(x, 3.75, WORTH[int(chem.value_level()[corner])], ha="center", fontsize=10, color=INK, weight="bold")
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
    ends = graphs.edge_endpoints() ^ int(state.chemistry.stone_map) ^ 7
    return p[graphs.edge_at()[ends.min(-1), graphs.edge_axis()]]


@jax.jit
def _aligned(c: chem.Chemistry, known: Any) -> jax.Array:
    return belief.marginals_of(c, known, aligned=True)


def _draw_knowledge(ax: Axes, state: State) -> None:
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
    _draw_corners(ax, size=190)
    stones = np.asarray(layout.unpack_stones(state.stones)).tolist()
    for corner in sorted(set(stones) - {layout.NO_STONE}):
        many = stones.count(corner)
        ax.scatter(*place[corner], s=330, facecolor="none", edgecolor="#d7263d", linewidth=1.6, zorder=3)
        if many > 1:
            ax.text(place[corner, 0] + 0.13, place[corner, 1] - 0.17, f"{many} stones", fontsize=7, color="#d7263d")
    ax.text(
        0.8,
        -0.32,
        "edges: solid known, dashed open,\nnone known absent; red rings: stones",
        ha="center",
        fontsize=7,
        color=INK,
        va="center",
    )


def _draw_corners(ax: Axes, size: float) -> None:
    for corner, (x, y) in enumerate(_corners()):
        worth = int(chem.value_level()[corner])
        shade = {-3: "#dddddd", -1: "#eeeeee", 1: "#fff2b8", 3: "#ffd447"}[worth]
        ax.scatter(x, y, s=size, facecolor=shade, edgecolor=INK, linewidth=0.8, zorder=2)
        if size > 100:
            ax.text(x, y, WORTH[worth], ha="center", va="center", fontsize=6.5, color=INK, zorder=4)


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
        _draw_corners(ax, size=45)
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
    frames = [table_top(env, state)]
    for t, action in enumerate(actions):
        require_integer("action", action, 0, env.actions - 1)
        _, state, *_ = step(jax.random.key(t), state, np.int32(action), params)
        frames.append(table_top(env, state))
    return frames


def strip(frames: list[np.ndarray], columns: int = 2) -> np.ndarray:
    """Pictures in rows of `columns`, in reading order, uint8 [height, width, 3]."""
    require(len(frames) > 0, "frames", "empty", "at least one picture")
    require_integer("columns", columns, 1)
    blank = np.full_like(frames[0], 255)
    padded = frames + [blank] * (-len(frames) % columns)
    rows = [np.concatenate(padded[i : i + columns], axis=1) for i in range(0, len(padded), columns)]
    return np.concatenate(rows, axis=0)


def gif(path: str | Path, frames: list[np.ndarray], seconds: float = 0.8) -> Path:
    """Write pictures as an animated GIF that shows each for some seconds.

    Raises:
        InputError: no pictures, another ending than .gif, or a folder that cannot be written.
    """
    from PIL import Image

    path = Path(path)
    require(len(frames) > 0, "frames", "empty", "at least one picture")
    if path.suffix != ".gif":
        raise InputError("path", str(path), "a file name that ends in .gif")
    first, *others = [Image.fromarray(frame) for frame in frames]
    with whole(path) as beside:
        first.save(beside, save_all=True, append_images=others, duration=int(1000 * seconds), loop=0)
    return path
