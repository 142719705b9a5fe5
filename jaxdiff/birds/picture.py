"""Pictures: a scene, a shot with its trajectory and hit marks, an episode as a GIF. Needs no display."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import hsv_to_rgb, rgb_to_hsv, to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Polygon, Rectangle, Wedge

from jaxdiff.birds import kinds, physics
from jaxdiff.birds.film import Film, film
from jaxdiff.birds.level import half_sizes
from jaxdiff.core.errors import as_array, require
from jaxdiff.core.files import whole

if TYPE_CHECKING:
    from jaxdiff.birds.world import Birds, Params, State

MATERIAL = {"wood": ("#d99a4e", "#8a5320"), "stone": ("#a3a7ad", "#5f646b"), "ice": ("#c4ecfb", "#6cb6d6")}
BIRD = ("#d8342c", "#4a90d9", "#f3c623", "#3a3a3f", "#f2efe6")
PIG, PIG_EDGE, PLATFORM, TNT, INK = "#7fc84a", "#3f7d20", "#4d4f5c", "#e2572b", "#2b2b2b"
SKY, HILL, GRASS, EARTH = ("#8fd0f2", "#e9f7fb"), "#b4dcb0", "#6cae45", "#7a5a3a"
FRAMES_A_SECOND = 16


_bodies = jax.jit(physics.bodies)


def render(env: Birds, state: State, params: Params, shot: Film | None = None, frame: int = -1) -> np.ndarray:
    """A scene; with a shot also its path as dots and stars where it did damage.

    Args:
        env: the world.
        state: of one episode.
        params: its level and physics.
        shot: the last one, if it shall be seen.
        frame: which of its frames to show; the last one when -1.

    Returns:
        uint8 [height, width, 3].
    """
    level, numbers = jax.tree.map(np.asarray, (params.level, params.physics))
    x, y, life = (np.asarray(v) for v in (state.x, state.y, state.life))
    if shot is not None:
        x, y, life = shot.x[frame], shot.y[frame], shot.life[frame]
    left, right = _ends(level)
    figure = Figure(figsize=(10, 10 * 9.7 / (right - left)), dpi=88)
    ax = figure.add_axes((0, 0, 1, 1))
    ax.set_axis_off()
    ax.set_xlim(left, right)
    ax.set_ylim(kinds.GROUND - 1.2, kinds.GROUND + 8.5)
    paint = _Paint(ax, float(numbers.appearance) % 1)
    paint.ground(left, right)
    paint.air(numbers, left, right)
    full = np.asarray(_bodies(level, numbers).life)
    wide, high = half_sizes(level)
    for i in np.flatnonzero(life > 0):
        part = 1.0 if np.isinf(full[i]) else float(min(life[i] / full[i], 1))
        paint.thing(level, int(i), (float(x[i]), float(y[i])), (float(wide[i]), float(high[i])), part)
    used = int(state.shot)
    kind = int(level.birds[min(used, env.birds - 1)])
    paint.slingshot(level, numbers, used if shot is None else used + 1)
    if shot is not None:
        seen = shot.bird[: len(shot.bird) + frame + 1 if frame < 0 else frame + 1]
        paint.path(shot, seen, kind, numbers)
    remain, birds = int((life[env.slots.range(kinds.PIG)] > 0).sum()), int((level.birds >= 0).sum())
    over = "all pigs gone" if remain == 0 else f"{remain} pig{'s' if remain > 1 else ''} left"
    words = f"bird {min(used + 1, birds)} of {birds}   ·   {over}"
    ax.text(left + 0.4, kinds.GROUND + 7.9, words, fontsize=13, color=INK, weight="bold", va="center")
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[..., :3].copy()


def episode(env: Birds, params: Params, actions: Any) -> tuple[list[np.ndarray], State]:
    """Pictures of a whole episode, 16 a second, and its last state.

    Args:
        env: the world.
        params: one level and its physics.
        actions: shots, float32 [at most K, 3]; those after the episode's end are ignored.

    Raises:
        InputError: not a list of actions.
    """
    actions = as_array("actions", actions, "shots of shape [n, 3]", np.float32)
    require(actions.ndim == 2 and actions.shape[1] == 3 and len(actions) > 0, "actions", f"of shape {actions.shape}", "[n, 3]")
    _, state = env.reset_env(jax.random.key(0), params)
    pictures = [render(env, state, params)] * 4
    for action in actions[: int((np.asarray(params.level.birds) >= 0).sum())]:
        shot = film(env, params, state, action)
        pictures += shown(env, params, state, shot)
        state = shot.after
        if not int(env.pigs_left(state)):
            break
    return pictures, state


def shown(env: Birds, params: Params, state: State, shot: Film) -> list[np.ndarray]:
    """Pictures of one shot, 16 a second; the last one stays for half a second.

    Args:
        env: the world.
        params: one level and its physics.
        state: before the shot.
        shot: what happened.
    """
    moving = [render(env, state, params, shot, k) for k in range(0, len(shot.bird), 2)]
    return moving + [render(env, state, params, shot)] * 8


def write_png(picture: np.ndarray, path: str | Path) -> Path:
    """One picture as a file.

    Raises:
        InputError: a folder that cannot be written.
    """
    from PIL import Image

    path = Path(path)
    with whole(path) as beside:
        Image.fromarray(picture).save(beside, "PNG")
    return path


def write_gif(pictures: list[np.ndarray], path: str | Path) -> Path:
    """Pictures as an animation that repeats.

    Raises:
        InputError: no pictures, or a folder that cannot be written.
    """
    from PIL import Image

    require(len(pictures) > 0, "pictures", "empty", "at least one picture")
    path = Path(path)
    # By coverage of colours: by number of pixels the sky would take them all and leave no yellow for a small bird.
    frames = [Image.fromarray(p).quantize(192, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE) for p in pictures]
    with whole(path) as beside:
        frames[0].save(beside, "GIF", save_all=True, append_images=frames[1:], duration=1000 // FRAMES_A_SECOND, loop=0)
    return path


def _ends(level: Any) -> tuple[float, float]:
    places = np.append(level.x[level.kind >= 0], level.sling[0])
    return max(float(places.min()) - 3.6, kinds.LEFT - 3), min(float(places.max()) + 3.6, kinds.RIGHT + 3)


class _Paint:
    """Shapes on one picture, all colours turned by the same angle."""

    def __init__(self, ax: Axes, turn: float) -> None:
        self.ax, self.turn = ax, turn

    def colour(self, name: str) -> Any:
        if not self.turn:
            return name
        hue, saturation, value = rgb_to_hsv(to_rgb(name))
        return tuple(hsv_to_rgb(((hue + self.turn) % 1, saturation, value)))

    def add(self, shape: Any, face: str, edge: str | None = None, width: float = 1.0, order: float = 3, alpha: float | None = None) -> None:
        shape.set(facecolor=self.colour(face), edgecolor=self.colour(edge) if edge else "none", linewidth=width, zorder=order)
        shape.set_alpha(alpha)
        self.ax.add_patch(shape)

    def ground(self, left: float, right: float) -> None:
        top, bottom = (np.array(to_rgb(self.colour(c))) for c in SKY)
        shade = np.linspace(0, 1, 64)[:, None, None]
        sky = top * (1 - shade) + bottom * shade
        self.ax.imshow(sky, extent=(left, right, kinds.GROUND, kinds.GROUND + 8.5), aspect="auto", interpolation="bicubic", zorder=0)
        across = np.linspace(left, right, 200)
        for height, phase, alpha in ((1.7, 0.0, 0.55), (1.0, 2.0, 0.9)):
            line = kinds.GROUND + height * (1 + 0.6 * np.sin(across * 0.45 + phase) * np.cos(across * 0.19 + phase))
            edge = np.stack([np.append(across, [right, left]), np.append(line, [kinds.GROUND] * 2)], axis=1)
            self.add(Polygon(edge), HILL, order=0.5, alpha=alpha)
        self.add(Rectangle((left, kinds.GROUND - 2), right - left, 2), EARTH, order=1)
        self.add(Rectangle((left, kinds.GROUND - 0.22), right - left, 0.22), GRASS, order=1.1)

    def air(self, numbers: Any, left: float, right: float) -> None:
        """What blows: the fan's band, the wind's arrow."""
        if float(numbers.fan):
            low, high = (float(v) for v in numbers.band)
            self.add(Rectangle((low, kinds.GROUND), high - low, 10), "#ffffff", order=0.8, alpha=0.3)
            for x in np.linspace(low, high, 5)[1:-1]:
                for y in (0.8, 3.6, 6.4):
                    self.arrow((x, kinds.GROUND + y), (0, 1.4 * np.sign(float(numbers.fan))))
        if float(numbers.wind):
            for k in range(3):
                self.arrow((right - 3 + 0.5 * k, kinds.GROUND + 8.0 - 0.45 * k), (1.3 * np.sign(float(numbers.wind)), 0))

    def arrow(self, start: tuple[float, float], way: tuple[float, float]) -> None:
        end = (start[0] + way[0], start[1] + way[1])
        style = {"arrowstyle": "->", "color": self.colour("#5a8fb0"), "linewidth": 2}
        self.ax.annotate("", xy=end, xytext=start, arrowprops=style, zorder=0.9)

    def thing(self, level: Any, i: int, at: tuple[float, float], half: tuple[float, float], part: float) -> None:
        name, (x, y), (w, h) = kinds.NAMES[int(level.kind[i])], at, half
        category = int(kinds.CATEGORY[int(level.kind[i])])
        if category == kinds.PIG:
            self.pig(x, y, w, part)
            return
        if category == kinds.TNT:
            self.add(Rectangle((x - w, y - h), 2 * w, 2 * h), TNT, "#7d2410", 1.5)
            self.ax.text(x, y, "TNT", ha="center", va="center", fontsize=9, weight="bold", color="white", zorder=4)
            return
        if category == kinds.PLATFORM:
            self.add(Rectangle((x - w, y - h), 2 * w, 2 * h), PLATFORM, "#2c2d36", 1.5)
            self.ax.plot(x + np.array([-w, w]) * 0.94, [y + h * 0.6] * 2, color="#8a8c9c", linewidth=1.5, zorder=4)
            return
        face, edge = MATERIAL[kinds.MATERIALS[int(level.material[i])]]
        if name in kinds.ROUND:
            self.add(Circle((x, y), w), face, edge, 1.4)
        elif name.startswith("Triangle"):
            self.add(Polygon([(x - w, y - h), (x + w, y - h), (x, y + h)]), face, edge, 1.4)
        else:
            self.add(Rectangle((x - w, y - h), 2 * w, 2 * h), face, edge, 1.4)
        if name.endswith("Hole"):
            self.add(Rectangle((x - w * 0.45, y - h * 0.45), 0.9 * w, 0.9 * h), edge, edge, 1, order=3.1, alpha=0.55)
        self.cracks(i, x, y, w, h, part, edge)

    def cracks(self, i: int, x: float, y: float, w: float, h: float, part: float, colour: str) -> None:
        """The more the less life is left; always the same ones for a slot."""
        rng = np.random.default_rng(i)
        for _ in range(int(np.ceil((1 - part) * 5))):
            start = rng.uniform(-0.8, 0.8, 2)
            line = np.clip(start + np.cumsum(rng.uniform(-0.5, 0.5, (4, 2)), axis=0), -0.95, 0.95)
            self.ax.plot(x + w * line[:, 0], y + h * line[:, 1], color=self.colour(colour), linewidth=1.1, zorder=3.2)

    def pig(self, x: float, y: float, r: float, part: float) -> None:
        for side in (-0.55, 0.55):
            self.add(Circle((x + side * r, y + 0.8 * r), 0.26 * r), PIG, PIG_EDGE, 1.2)
        self.add(Circle((x, y), r), PIG, PIG_EDGE, 1.5)
        self.add(Circle((x, y - 0.12 * r), 0.36 * r), "#a5de74", PIG_EDGE, 1, order=3.2)
        for side in (-1, 1):
            self.add(Circle((x + side * 0.13 * r, y - 0.12 * r), 0.08 * r), PIG_EDGE, order=3.3)
            self.add(Circle((x + side * 0.5 * r, y + 0.28 * r), 0.22 * r), "#ffffff", PIG_EDGE, 0.8, order=3.2)
            self.add(Circle((x + side * 0.46 * r, y + 0.28 * r), 0.09 * r), INK, order=3.3)
        if part < 1:
            self.add(Wedge((x - 0.5 * r, y + 0.28 * r), 0.4 * r, 0, 360, width=0.16 * r), "#8a5fae", order=3.25, alpha=0.8)
        self.ax.plot([x - r, x - r + 2 * r * part], [y + 1.28 * r] * 2, color="#d7263d", linewidth=2.2, zorder=3.4, alpha=float(part < 1))

    def bird(self, x: float, y: float, r: float, kind: int, facing: float, order: float = 6) -> None:
        face = BIRD[kind]
        self.add(Circle((x, y), r), face, INK, 1.2, order=order)
        beak = [(x + facing * r * 0.55, y + 0.1 * r), (x + facing * r * 1.35, y - 0.12 * r), (x + facing * r * 0.55, y - 0.38 * r)]
        self.add(Polygon(beak), "#f0a500", INK, 0.8, order=order + 0.1)
        self.add(Circle((x + facing * 0.32 * r, y + 0.3 * r), 0.24 * r), "#ffffff", INK, 0.6, order=order + 0.1)
        self.add(Circle((x + facing * 0.38 * r, y + 0.3 * r), 0.1 * r), INK, order=order + 0.2)

    def slingshot(self, level: Any, numbers: Any, used: int) -> None:
        x, y = (float(v) for v in level.sling)
        facing = float(numbers.facing)
        for fork in (-0.22, 0.22):
            ends = [x, x + fork], [y - 0.55, y + 0.12]
            self.ax.plot(*ends, color=self.colour("#6b3e1b"), linewidth=6, solid_capstyle="round", zorder=2)
        self.ax.plot([x, x], [kinds.GROUND, y - 0.5], color=self.colour("#6b3e1b"), linewidth=7, solid_capstyle="round", zorder=2)
        waiting = [int(kind) for kind in level.birds[used:] if kind >= 0]
        for k, kind in enumerate(waiting):
            r = float(numbers.bird_radius[kind])
            place = (x, y) if k == 0 and used == 0 else (x - facing * (0.65 * (k + (used > 0)) + 0.1), kinds.GROUND + r)
            self.bird(*place, r, kind, facing)

    def path(self, shot: Film, seen: np.ndarray, kind: int, numbers: Any) -> None:
        there = seen[~np.isnan(seen[:, 0])]
        dots = there[::2]
        self.ax.scatter(dots[:, 0], dots[:, 1], s=14, color="white", edgecolor="#9db6c4", linewidth=0.5, zorder=5)
        reached = shot.hits[: int((np.isin(shot.hits[:, 0], there[:, 0])).sum())]
        self.ax.scatter(reached[:, 0], reached[:, 1], s=240, marker="*", color="#ffd23f", edgecolor="#e26d00", linewidth=1, zorder=5.5)
        if len(there) and not np.isnan(seen[-1, 0]):
            self.bird(float(seen[-1, 0]), float(seen[-1, 1]), float(numbers.bird_radius[kind]), kind, float(numbers.facing))
