"""A level: what stands where, which birds there are, where the slingshot is; a pytree of arrays with empty slots.

Slots are sorted: blocks, pigs, platforms, TNT; a slot whose kind is -1 is empty. Coordinates are the public format's: x to the right, y up,
centres of things, the ground at -3.5. Axes: N slots, K birds; a batch of levels has a leading axis.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxdiff.birds import kinds
from jaxdiff.core.errors import require, require_integer

MOST_BIRDS = 5


@partial(
    jax.tree_util.register_dataclass,
    data_fields=["kind", "material", "x", "y", "rotation", "scale", "birds", "sling", "camera", "width", "score"],
    meta_fields=[],
)
@dataclass(frozen=True)
class Level:
    """One level, or a batch of them with a leading axis.

    Attributes:
        kind: place in `kinds.NAMES`, -1 where the slot is empty, int8 [N].
        material: place in `kinds.MATERIALS`, -1 for what is no block, int8 [N].
        x, y: centre, float32 [N].
        rotation: degrees, float32 [N]; the world turns things by whole quarters, the nearest.
        scale: factors on width and height (platforms), float32 [N, 2].
        birds: place in `kinds.BIRDS` in the order of shots, -1 behind the last, int8 [K].
        sling: where birds start, float32 [2].
        camera: x, y, least and greatest width; kept, without effect; float32 [4].
        width: the attribute of that name of the format; kept, without effect; float32 [].
        score: high score; kept, without effect; float32 [].
    """

    kind: Any
    material: Any
    x: Any
    y: Any
    rotation: Any
    scale: Any
    birds: Any
    sling: Any
    camera: Any
    width: Any
    score: Any


@dataclass(frozen=True)
class Slots:
    """How many slots of each category a level has."""

    blocks: int = 12
    pigs: int = 3
    platforms: int = 2
    tnt: int = 1
    birds: int = 5

    def __post_init__(self) -> None:
        require_integer("blocks", self.blocks, 0, 200)
        require_integer("pigs", self.pigs, 1, 50)
        require_integer("platforms", self.platforms, 0, 100)
        require_integer("tnt", self.tnt, 0, 50)
        require_integer("birds", self.birds, 1, MOST_BIRDS)

    @property
    def counts(self) -> tuple[int, int, int, int]:
        """By category."""
        return self.blocks, self.pigs, self.platforms, self.tnt

    @property
    def objects(self) -> int:
        """N."""
        return sum(self.counts)

    def range(self, category: int) -> slice:
        """Slots of a category."""
        begin = sum(self.counts[:category])
        return slice(begin, begin + self.counts[category])


class Thing(NamedTuple):
    """What fills a slot; words are the format's, and `name` is empty for an empty slot."""

    name: str
    material: str
    x: float
    y: float
    rotation: float = 0.0
    scale_x: float = 1.0
    scale_y: float = 1.0


EMPTY = Thing("", "", 0.0, 0.0)
CAMERA = (0.0, 2.0, 20.0, 30.0)


def assembled(
    things: Sequence[Thing],
    birds: Sequence[int],
    sling: tuple[float, float],
    camera: tuple[float, ...] = CAMERA,
    width: float = 2.0,
    score: float = 0.0,
) -> Level:
    """One level out of its things, a slot each, in their order; on the host."""
    return Level(
        kind=np.array([kinds.NAMES.index(t.name) if t.name else kinds.EMPTY for t in things], np.int8),
        material=np.array([kinds.MATERIALS.index(t.material) if t.material else -1 for t in things], np.int8),
        x=np.array([t.x for t in things], np.float32),
        y=np.array([t.y for t in things], np.float32),
        rotation=np.array([t.rotation for t in things], np.float32),
        scale=np.array([(t.scale_x, t.scale_y) for t in things], np.float32).reshape(-1, 2),
        birds=np.array(birds, np.int8),
        sling=np.array(sling, np.float32),
        camera=np.array(camera, np.float32),
        width=np.float32(width),
        score=np.float32(score),
    )


def category(thing: Thing) -> int:
    """Place in `kinds.CATEGORIES` of a thing that is there."""
    return int(kinds.CATEGORY[kinds.NAMES.index(thing.name)])


def slots(level: Level) -> Slots:
    """The fewest slots that hold one level or each of a batch."""
    kind = np.asarray(level.kind).reshape(-1, np.shape(level.kind)[-1])
    of = np.where(kind >= 0, kinds.CATEGORY[kind], -1)
    blocks, pigs, platforms, tnt = ((of == c).sum(axis=1).max() for c in range(4))
    return Slots(int(blocks), int(max(pigs, 1)), int(platforms), int(tnt), int((np.asarray(level.birds) >= 0).sum(axis=-1).max()))


def padded(level: Level, shape: Slots) -> Level:
    """One level with these slots.

    Raises:
        InputError: it holds more than fits.
    """
    need = slots(level)
    for name in ("blocks", "pigs", "platforms", "tnt", "birds"):
        require(
            getattr(need, name) <= getattr(shape, name), name, getattr(shape, name), f"at least {getattr(need, name)}, as the level has"
        )
    kind = np.asarray(level.kind)
    source = np.full(shape.objects, -1)
    for c in range(4):
        have = np.flatnonzero((kind >= 0) & (kinds.CATEGORY[kind] == c))
        source[shape.range(c).start : shape.range(c).start + len(have)] = have

    def placed(values: Any, empty: float) -> np.ndarray:
        values = np.asarray(values)
        there = (source >= 0).reshape((-1,) + (1,) * (values.ndim - 1))
        return np.where(there, values[source], values.dtype.type(empty))

    birds = np.asarray(level.birds)
    birds = np.concatenate([birds[birds >= 0], np.full(MOST_BIRDS, kinds.EMPTY, np.int8)])[: shape.birds].astype(np.int8)
    return replace(
        level,
        kind=placed(kind, kinds.EMPTY),
        material=placed(level.material, -1),
        x=placed(level.x, 0),
        y=placed(level.y, 0),
        rotation=placed(level.rotation, 0),
        scale=placed(level.scale, 1),
        birds=birds,
    )


def stack(levels: Sequence[Level], shape: Slots | None = None) -> Level:
    """Levels as a batch with a leading axis.

    Args:
        levels: single ones, of any number of slots.
        shape: slots of the batch; the fewest that hold all when None.

    Raises:
        InputError: no levels, or one that does not fit.
    """
    require(len(levels) > 0, "levels", "empty", "at least one level")
    if shape is None:
        each = [slots(level) for level in levels]
        shape = Slots(**{f.name: max(getattr(s, f.name) for s in each) for f in fields(Slots)})
    even = [padded(level, shape) for level in levels]
    return jax.tree.map(lambda *leaves: np.stack([np.asarray(leaf) for leaf in leaves]), *even)


def take(level: Level, index: Any) -> Level:
    """Levels of a batch: one (an integer) or several (a slice, a list)."""
    return jax.tree.map(lambda leaf: np.asarray(leaf)[index], level)


def half_sizes(level: Level) -> tuple[np.ndarray, np.ndarray]:
    """Half widths and half heights after rotation, on the host, float32 [..., N]; 0 where a slot is empty."""
    kind = np.asarray(level.kind)
    size = np.where((kind >= 0)[..., None], kinds.SIZE[kind], 0) * np.asarray(level.scale) / 2
    lying = np.round(np.asarray(level.rotation) / 90).astype(np.int64) % 2 == 0
    return np.where(lying, size[..., 0], size[..., 1]).astype(np.float32), np.where(lying, size[..., 1], size[..., 0]).astype(np.float32)


def check(level: Level) -> Level:
    """The level itself, if it can be played.

    Raises:
        InputError: no pig, no bird or more than five, something outside the world or not finite.
    """
    kind = np.asarray(level.kind)
    there = kind >= 0
    require(bool((kinds.CATEGORY[kind[there]] == kinds.PIG).any()), "level", "without a pig", "at least one pig to destroy")
    birds = int((np.asarray(level.birds) >= 0).sum())
    require(1 <= birds <= MOST_BIRDS, "birds", birds, f"1 to {MOST_BIRDS} birds")
    places = [(kinds.NAMES[k], float(x), float(y)) for k, x, y in zip(kind[there], level.x[there], level.y[there], strict=True)]
    for name, x, y in (*places, ("the slingshot", *np.asarray(level.sling).tolist())):
        inside = kinds.LEFT <= x <= kinds.RIGHT and kinds.GROUND <= y <= kinds.TOP
        allowed = f"within x {kinds.LEFT:g} to {kinds.RIGHT:g} and y {kinds.GROUND:g} to {kinds.TOP:g}"
        require(inside, "place", f"({x:g}, {y:g}) for {name}", allowed)
    numbers = (level.rotation, level.scale, level.camera, level.width, level.score)
    require(all(bool(np.isfinite(np.asarray(v)).all()) for v in numbers), "level", "with a number that is not finite", "finite numbers")
    return level
