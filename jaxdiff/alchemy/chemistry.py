"""A chemistry: four small integers that say how potions move stones and how both look (paper, section 2; Appendix A).

Three frames: *latent* (coordinates carry value), *aligned* (some axes mirrored by the stone map), *perceived* (aligned, turned back by
the rotation; the axes are colour, size, roundness). Corners, potion types and graphs are numbered as in `graphs`.
There are 109 x 48 x 8 x 4 = 167,424 chemistries, 41,856 without rotation. Fields may have leading batch axes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from jaxdiff.alchemy import graphs
from jaxdiff.alchemy.graphs import AXES, AXIS_ORDERS, CORNERS, EDGES, POTION_TYPES, table
from jaxdiff.core.errors import InputError, as_array, require, require_integer

POTION_MAPS, STONE_MAPS, ROTATIONS = 48, 8, 4
SIZES = {"graph": graphs.COUNT, "potion_map": POTION_MAPS, "stone_map": STONE_MAPS, "rotation": ROTATIONS}
VECTOR = 28  # entries of the vector form
COLOURS = ("red", "green", "orange", "yellow", "pink", "turquoise")
FEATURES = (("purple", "blurple", "blue"), ("small", "medium", "large"), ("pointy", "mid", "round"))
IDENTITY_POTION_MAP, IDENTITY_STONE_MAP = 7, 7
FLIP = 7  # corner l of the latent frame is corner l ^ s ^ 7 of the aligned frame, under stone map s


@partial(jax.tree_util.register_dataclass, data_fields=["graph", "potion_map", "stone_map", "rotation"], meta_fields=[])
@dataclass(frozen=True)
class Chemistry:
    """One chemistry, or a batch of them.

    Attributes:
        graph: number of the graph in the latent frame, 0..108, int32 [...].
        potion_map: 8 x rank of the axis order + directions. Order: the latent axis of each perceived potion axis. Directions, bit L:
            whether on latent axis L the second colour of the pair is the one that moves up. 0..47, int32 [...].
        stone_map: bit k: latent and aligned axis k agree (else they are mirrored), 0..7, int32 [...].
        rotation: 0 none, 1 colour and size mixed, 2 colour and roundness, 3 size and roundness, int32 [...].
    """

    graph: Any
    potion_map: Any
    stone_map: Any
    rotation: Any

    def __post_init__(self) -> None:
        # Arrays on a device are what transformations rebuild at every step: reading them back here would cost more than the step.
        for name in SIZES:
            if on_host(getattr(self, name)):
                check_part(name, getattr(self, name))


def on_host(value: Any) -> bool:
    """Whether a field was written down by a caller: numbers, text, NumPy arrays, lists of them.

    Transformations rebuild chemistries with other things in their fields, which are passed over: arrays on a device, tracers, None, bare
    objects, truth values, tangents of integers (float0), and tuples, which are shapes.
    """
    if isinstance(value, list):
        return len(value) > 0 and all(map(on_host, value))
    if isinstance(value, np.ndarray | np.generic):
        return value.dtype.kind not in "bV"
    return isinstance(value, int | float | complex | str) and not isinstance(value, bool)


def check_part(name: str, value: Any, low: int = 0) -> None:
    """Refuse what is no number of a part of a chemistry.

    Args:
        name: of the part, one of `SIZES`.
        value: one number or an array of them, on the host or a device; of traced ones only the type is looked at.
        low: the smallest number; -1 where that means "drawn".

    Raises:
        InputError: not integers, or one out of range.
    """
    allowed = f"integers from 0 to {SIZES[name] - 1}" + (", or -1: drawn" if low < 0 else "")
    numbers = value if isinstance(value, Tracer) else as_array(name, value, allowed)
    shown = f"of type {numbers.dtype}" if isinstance(value, Tracer) else value
    require(np.issubdtype(numbers.dtype, np.integer), name, shown, allowed)
    if isinstance(numbers, np.ndarray):
        wrong = numbers[(numbers < low) | (numbers >= SIZES[name])]
        require(wrong.size == 0, name, wrong.flat[0] if wrong.size else None, allowed)


def check(chemistry: Chemistry) -> None:
    """Refuse numbers out of range, also those on a device, which are not looked at when a chemistry is made.

    Raises:
        InputError: no chemistry, or a field that is not integer or out of range; of traced fields only the type is looked at.
    """
    require(isinstance(chemistry, Chemistry), "chemistry", chemistry, "a Chemistry")
    for name in SIZES:
        check_part(name, getattr(chemistry, name))


def as_int32(chemistry: Chemistry) -> Chemistry:
    """The same chemistry with int32 arrays for fields, as kernels want it."""
    return jax.tree.map(lambda x: jnp.asarray(x, jnp.int32), chemistry)


# Look-up tables, by small integers.


@table
def axis_order() -> np.ndarray:
    """The latent axis of each perceived potion axis, int32 [48, 3]."""
    return np.repeat(np.array(AXIS_ORDERS, np.int32), 8, axis=0)


@table
def directions() -> np.ndarray:
    """Per latent axis, whether the second colour of its pair moves up, 0 or 1, int32 [48, 3]."""
    return (np.arange(POTION_MAPS, dtype=np.int32)[:, None] >> np.arange(AXES, dtype=np.int32)) & 1


@table
def type_of_colour() -> np.ndarray:
    """Latent potion type of every colour under a potion map, int32 [48, 6]."""
    colour = np.arange(POTION_TYPES, dtype=np.int32)
    axis = axis_order()[:, colour // 2]
    up = np.take_along_axis(directions(), axis, axis=1) == colour % 2
    return (2 * axis + up).astype(np.int32)


@table
def colour_of_type() -> np.ndarray:
    """The inverse: colour of every latent potion type, int32 [48, 6]."""
    return np.argsort(type_of_colour(), axis=1).astype(np.int32)


@table
def aligned_corner() -> np.ndarray:
    """Aligned corner of a latent corner under a stone map, int32 [8 maps, 8 corners]; also the way back."""
    corner = np.arange(CORNERS, dtype=np.int32)
    return corner[:, None] ^ corner[None, :] ^ FLIP


@table
def rotation_matrices() -> np.ndarray:
    """R with aligned = R @ perceived, int32 [4, 3, 3]: 45 degrees about axis 2, 1, 0, the mixed rows stretched by the root of 2."""
    return np.array(
        [
            [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
            [[1, 1, 0], [-1, 1, 0], [0, 0, 1]],
            [[1, 0, -1], [0, 1, 0], [1, 0, 1]],
            [[1, 0, 0], [0, 1, 1], [0, -1, 1]],
        ],
        np.int32,
    )


@table
def corner_coordinates() -> np.ndarray:
    """Coordinates -1 or 1 of every corner, int32 [8, 3]."""
    return 2 * (np.arange(CORNERS, dtype=np.int32)[:, None] >> np.arange(AXES, dtype=np.int32) & 1) - 1


@table
def perceived_features() -> np.ndarray:
    """Colour, size and roundness, each -1, 0 or 1, of a stone at an aligned corner, int32 [4 rotations, 8, 3]."""
    turned_back = np.linalg.inv(rotation_matrices().astype(np.float64)) @ corner_coordinates().T
    return np.rint(turned_back.swapaxes(1, 2)).astype(np.int32)


@table
def value_level() -> np.ndarray:
    """Sum of the coordinates of every latent corner, -3, -1, 1 or 3, int32 [8]."""
    return corner_coordinates().sum(-1, dtype=np.int32)


# Sampling.


@dataclass(frozen=True)
class Source:
    """The distribution of chemistries; integers where a part is fixed.

    Attributes:
        bottlenecks: "none", "random" (0 to 3 preconditions, each equally likely), 1, 2 or 3: exactly that many.
        rotation: None: each of the four equally likely; else the number of the one that is always taken.
        graph, potion_map, stone_map: a part of the chemistry that is always the same; None: drawn. A graph overrides `bottlenecks`.
    """

    bottlenecks: str | int = "random"
    rotation: int | None = 0
    graph: int | None = None
    potion_map: int | None = None
    stone_map: int | None = None

    def __post_init__(self) -> None:
        graphs.urn(self.bottlenecks)
        for name, size in SIZES.items():
            if getattr(self, name) is not None:
                require_integer(name, getattr(self, name), 0, size - 1)

    def sample(self, key: jax.Array) -> Chemistry:
        """One chemistry with int32 [] fields. The key is consumed; DeepMind's seeds are not reproduced."""
        bits = jax.random.bits(key, (4,), jnp.uint32)
        drawn = {
            "graph": jnp.asarray(graphs.urn(self.bottlenecks))[below(bits[0], graphs.URN)],
            "potion_map": below(bits[1], POTION_MAPS),
            "stone_map": below(bits[2], STONE_MAPS),
            "rotation": below(bits[3], ROTATIONS),
        }
        fixed = {name: getattr(self, name) for name in SIZES}
        return Chemistry(**{name: drawn[name] if fixed[name] is None else jnp.full((), fixed[name], jnp.int32) for name in SIZES})


def below(bits: jax.Array, n: int) -> jax.Array:
    """Integers 0..n-1 from uniform words: the high half of bits x n, so each has probability 1/n within 2^-32, int32.

    Args:
        bits: uint32 [...].
        n: at most 2^16.
    """
    high, low = bits >> 16, bits & jnp.uint32(0xFFFF)
    return ((high * jnp.uint32(n) + (low * jnp.uint32(n) >> 16)) >> 16).astype(jnp.int32)


# The vector form.


def to_vector(chemistry: Chemistry) -> jax.Array:
    """The 28 numbers of DeepMind's ground-truth observation, float32 [..., 28].

    Twelve edges (latent frame), one-hot of the axis order (6), directions (3), stone map (3), one-hot of the rotation (4).
    """
    c = as_int32(chemistry)
    parts = [
        jnp.asarray(graphs.edges())[c.graph],
        _one_hot(c.potion_map // 8, len(AXIS_ORDERS)),
        c.potion_map[..., None] >> np.arange(AXES, dtype=np.int32) & 1,
        c.stone_map[..., None] >> np.arange(AXES, dtype=np.int32) & 1,
        _one_hot(c.rotation, ROTATIONS),
    ]
    return jnp.concatenate(parts, axis=-1).astype(jnp.float32)


def _one_hot(index: jax.Array, size: int) -> jax.Array:
    return (index[..., None] == np.arange(size, dtype=np.int32)).astype(jnp.int32)


def from_vector(vector: Any) -> Chemistry:
    """The chemistry of one vector of 28 zeros and ones, with Python integers for fields.

    Raises:
        InputError: another shape, other numbers, two or no ones where one is wanted, or a graph that cannot be.
    """
    allowed = "28 zeros and ones: edges 12, axis order 6 (one-hot), directions 3, stone map 3, rotation 4 (one-hot)"
    v = as_array("vector", vector, allowed, np.float64)
    require(v.shape == (VECTOR,) and bool(np.isin(v, (0, 1)).all()), "vector", v, allowed)
    edges, order, direction, stone, rotation = np.split(v.astype(np.int64), np.cumsum([EDGES, len(AXIS_ORDERS), AXES, AXES]))
    require(order.sum() == 1 and rotation.sum() == 1, "vector", v, allowed)
    return Chemistry(
        graph=graphs.index_of(edges),
        potion_map=8 * int(order.argmax()) + _number(direction),
        stone_map=_number(stone),
        rotation=int(rotation.argmax()),
    )


def from_maps(edges: Any, axis_order: Any, directions: Any, stone_map: Any, rotation: int = 0) -> Chemistry:
    """A chemistry from the form in which DeepMind's data states it.

    Args:
        edges: which edges exist in the latent frame, 0 or 1, [12].
        axis_order: latent axis of each perceived potion axis, a permutation of 0, 1, 2.
        directions: per latent axis -1 or 1.
        stone_map: per axis -1 or 1.
        rotation: 0..3.

    Raises:
        InputError: any of them is not of that form; a graph that is not connected.
    """
    order = tuple(as_array("axis_order", axis_order, "a permutation of 0, 1, 2").tolist())
    if order not in AXIS_ORDERS:
        raise InputError("axis_order", order, "a permutation of 0, 1, 2")
    return Chemistry(
        graph=graphs.index_of(edges),
        potion_map=8 * AXIS_ORDERS.index(order) + _number(_signs("directions", directions)),
        stone_map=_number(_signs("stone_map", stone_map)),
        rotation=rotation,
    )


def _signs(argument: str, value: Any) -> np.ndarray:
    allowed = "three numbers, each -1 or 1"
    signs = as_array(argument, value, allowed)
    require(signs.shape == (AXES,) and bool(np.isin(signs, (-1, 1)).all()), argument, value, allowed)
    return signs > 0


def _number(bits: np.ndarray) -> int:
    return sum(int(b) << k for k, b in enumerate(bits))
