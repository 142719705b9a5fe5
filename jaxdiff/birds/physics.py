"""The numbers of the world's physics, and what they make of a level: one body a slot.

Everything is an upright box, birds too: a bird of radius r is a square of side 2r that does not turn. Units: the format's unit of length,
seconds; a red bird's mass is 1. What a novelty changes is a number here, so worlds before and after share one compilation.
Axes: N slots; B lanes, episodes side by side, before the slots.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxdiff.birds import kinds
from jaxdiff.birds.level import Level
from jaxdiff.core.errors import require

FAR = 1e6  # where a band that is not there begins and ends


@partial(
    jax.tree_util.register_dataclass,
    data_fields=[
        "gravity",
        "wind",
        "fan",
        "band",
        "launch_speed",
        "facing",
        "restitution",
        "friction",
        "threshold",
        "bird_mass",
        "bird_radius",
        "bird_boost",
        "block_density",
        "block_life",
        "pig_density",
        "pig_life",
        "tnt_life",
        "tnt_damage",
        "tnt_radius",
        "appearance",
    ],
    meta_fields=[],
)
@dataclass(frozen=True)
class Physics:
    """Numbers of the physics, float32 each; a batch has a leading axis.

    Attributes:
        gravity: downward acceleration [].
        wind: acceleration to the right of what flies [].
        fan: upward acceleration of what flies within `band` [].
        band: left and right end of the fan's vertical band [2].
        launch_speed: of a full pull [].
        facing: 1 where the slingshot throws to the right, -1 to the left [].
        restitution: part of the speed along the normal that a bounce leaves [].
        friction: coefficient of all contacts [].
        threshold: impulse that does no damage [].
        bird_mass, bird_radius: by bird, as in `kinds.BIRDS` [5].
        bird_boost: what the tap multiplies the speed by, by bird [5].
        block_density: mass by area, by material, as in `kinds.MATERIALS` [3].
        block_life: impulse above the threshold that a block bears, by material [3].
        pig_density: mass by area [].
        pig_life: of small, medium and big pigs [3].
        tnt_life: of TNT [].
        tnt_damage: of an explosion at its centre; it falls to 0 linearly [].
        tnt_radius: where it is 0 [].
        appearance: turn of the colours of pictures, in 0..1; nothing else sees it [].
    """

    gravity: Any
    wind: Any
    fan: Any
    band: Any
    launch_speed: Any
    facing: Any
    restitution: Any
    friction: Any
    threshold: Any
    bird_mass: Any
    bird_radius: Any
    bird_boost: Any
    block_density: Any
    block_life: Any
    pig_density: Any
    pig_life: Any
    tnt_life: Any
    tnt_damage: Any
    tnt_radius: Any
    appearance: Any


def default() -> Physics:
    """The world without novelty, on the host. The public format holds no physics: these numbers are this project's."""

    def number(*values: float) -> np.ndarray:
        return np.array(values, np.float32) if len(values) > 1 else np.array(*values, dtype=np.float32)

    return Physics(
        gravity=number(9.81),
        wind=number(0),
        fan=number(0),
        band=number(FAR, FAR),
        launch_speed=number(15),
        facing=number(1),
        restitution=number(0.3),
        friction=number(0.5),
        threshold=number(0.5),
        bird_mass=number(1, 0.6, 0.9, 1.6, 1.2),
        bird_radius=number(0.24, 0.18, 0.24, 0.3, 0.28),
        bird_boost=number(1.15, 1.3, 1.6, 1, 0.6),
        block_density=number(1, 2.2, 0.7),
        block_life=number(4, 9, 2),
        pig_density=number(2),
        pig_life=number(3, 5, 8),
        tnt_life=number(1),
        tnt_damage=number(12),
        tnt_radius=number(2.5),
        appearance=number(0),
    )


# What every number must be for the world to be one: the least, whether that is allowed itself, and the most.
POSSIBLE = {
    **dict.fromkeys(
        ("gravity", "launch_speed", "bird_mass", "bird_radius", "block_density", "pig_density", "tnt_radius"), (0, False, np.inf)
    ),
    **dict.fromkeys(("block_life", "pig_life", "tnt_life", "tnt_damage", "threshold", "friction", "bird_boost"), (0, True, np.inf)),
    "restitution": (0, True, 1),
}


def require_possible(numbers: Physics) -> None:
    """Refuse numbers with which nothing comes to rest or nothing moves; on the host.

    Raises:
        InputError: no gravity, a restitution above 1, a mass of nothing, and what is not finite or beyond its range.
    """
    for field in fields(numbers):
        value = np.asarray(getattr(numbers, field.name))
        least, included, most = POSSIBLE.get(field.name, (-np.inf, False, np.inf))
        fits = np.isfinite(value) & (value <= most) & ((value >= least) if included else (value > least))
        above = f"{'at least' if included else 'above'} {least:g}" if np.isfinite(least) else "finite"
        require(bool(fits.all()), f"physics.{field.name}", value.tolist(), f"{above} and at most {most:g}" if np.isfinite(most) else above)
    facing = np.asarray(numbers.facing)
    require(bool((np.abs(facing) == 1).all()), "physics.facing", facing.tolist(), "1 (to the right) or -1")


class Bodies(NamedTuple):
    """What does not change in an episode; leaves [N], or [B, N] where lanes differ.

    Attributes:
        half_width, half_height: float32 [N].
        mass: float32 [N]; 0 for platforms and empty slots, which nothing reads.
        inverse_mass: float32 [N]; 0 for platforms.
        life: at the start, float32 [N]; infinite for platforms, minus infinite for empty slots.
        movable: bool [N].
    """

    half_width: jax.Array
    half_height: jax.Array
    mass: jax.Array
    inverse_mass: jax.Array
    life: jax.Array
    movable: jax.Array


def bodies(level: Level, physics: Physics) -> Bodies:
    """Bodies of one level, or of a batch of them."""
    kind = jnp.asarray(level.kind).astype(jnp.int32)
    there = kind >= 0
    kind = jnp.maximum(kind, 0)
    category = jnp.asarray(kinds.CATEGORY)[kind]
    size = jnp.asarray(kinds.SIZE)[kind] * jnp.asarray(level.scale).astype(jnp.float32)
    lying = jnp.round(jnp.asarray(level.rotation) / 90).astype(jnp.int32) % 2 == 0
    half_width = jnp.where(lying, size[..., 0], size[..., 1]) / 2
    half_height = jnp.where(lying, size[..., 1], size[..., 0]) / 2
    material = jnp.maximum(jnp.asarray(level.material).astype(jnp.int32), 0)
    pig = jnp.maximum(kind - kinds.numbers_of(kinds.PIG)[0], 0)
    density = jnp.where(category == kinds.BLOCK, jnp.asarray(physics.block_density)[material], jnp.asarray(physics.pig_density))
    life = jnp.select(
        [category == kinds.BLOCK, category == kinds.PIG, category == kinds.TNT],
        [jnp.asarray(physics.block_life)[material], jnp.asarray(physics.pig_life)[pig], jnp.asarray(physics.tnt_life)],
        jnp.float32(jnp.inf),
    )
    movable = there & (category != kinds.PLATFORM)
    mass = jnp.where(movable, density * 4 * half_width * half_height, 0).astype(jnp.float32)
    inverse = jnp.where(movable, 1 / jnp.maximum(mass, 1e-6), 0).astype(jnp.float32)
    life = jnp.where(there, life, -jnp.inf).astype(jnp.float32)
    return Bodies(half_width, half_height, mass, inverse, life, movable)
