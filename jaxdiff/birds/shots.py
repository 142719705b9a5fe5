"""One shot: launch, flight in closed form, contact steps, and what settles afterwards, in all lanes at once.

An action is (angle, pull, tap), each in 0..1: elevation from -10 to 80 degrees, speed as a part of the full pull's, and the tap's time from
0 to 3 seconds after launch (a tap after the first contact comes to nothing). Axes: N slots, B lanes.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from jaxdiff.birds import flight
from jaxdiff.birds.contact import STEPS, Contact, step
from jaxdiff.birds.flight import SEGMENTS, Bird, Segment
from jaxdiff.birds.physics import Bodies, Physics
from jaxdiff.birds.settling import Pile, settle

LOWEST, HIGHEST = -10.0, 80.0  # degrees
LAST_TAP = 3.0  # seconds


class Thrown(NamedTuple):
    """A bird's numbers, [B] each: mass, radius, and what the tap multiplies its speed by."""

    mass: jax.Array
    radius: jax.Array
    boost: jax.Array


def thrown(kind: jax.Array, physics: Physics) -> Thrown:
    """Numbers of birds; kind int [B]."""
    kind = jnp.maximum(kind.astype(jnp.int32), 0)
    return Thrown(*(jnp.asarray(table)[kind] for table in (physics.bird_mass, physics.bird_radius, physics.bird_boost)))


def launch(action: jax.Array, sling: jax.Array, physics: Physics) -> Segment:
    """The start of a flight.

    Args:
        action: float32 [B, 3]; what is outside 0..1 is taken as the nearest end.
        sling: where the bird starts, float32 [2] or [B, 2].
        physics: numbers.
    """
    angle, pull, tap = jnp.moveaxis(jnp.clip(action, 0, 1), -1, 0)
    elevation = jnp.deg2rad(LOWEST + (HIGHEST - LOWEST) * angle)
    speed = pull * jnp.asarray(physics.launch_speed)
    zero = jnp.zeros_like(angle)
    bird = Bird(
        zero + sling[..., 0], zero + sling[..., 1], jnp.asarray(physics.facing) * speed * jnp.cos(elevation), speed * jnp.sin(elevation)
    )
    return Segment(bird, tap * LAST_TAP, zero, jnp.ones(angle.shape, jnp.bool_))


def fly(bodies: Bodies, pile: Pile, start: Segment, physics: Physics, bird: Thrown) -> Segment:
    """The flight up to the first contact."""

    def one(carry: tuple[Segment, jax.Array]) -> tuple[Segment, jax.Array]:
        return flight.segment(bodies, *pile, carry[0], physics, bird.radius, bird.boost), carry[1] + 1

    start_at = (start, jnp.zeros((), jnp.int32))
    return jax.lax.while_loop(lambda c: c[0].flying.any() & (c[1] < SEGMENTS), one, start_at)[0]


def touch_down(pile: Pile, landed: Segment, shooting: jax.Array) -> Contact:
    """State of the first contact; who was lost on the way has none."""
    there = shooting & ~landed.flying & (jnp.abs(landed.bird.x) < 1e3)
    return Contact(landed.bird, pile.x, pile.life, there, jnp.full(there.shape, -1, jnp.int32), jnp.zeros_like(landed.bird.x))


def bounce(bodies: Bodies, pile: Pile, contact: Contact, physics: Physics, bird: Thrown) -> tuple[Contact, jax.Array]:
    """Contact steps until all birds rest, and how many steps that were, int32 []."""

    def one(carry: tuple[Contact, jax.Array]) -> tuple[Contact, jax.Array]:
        return step(bodies, pile.y, carry[0], physics, bird.mass, bird.radius), carry[1] + 1

    def more(carry: tuple[Contact, jax.Array]) -> jax.Array:
        return (carry[0].moving | (carry[0].slider >= 0)).any() & (carry[1] < STEPS)

    return jax.lax.while_loop(more, one, (contact, jnp.zeros((), jnp.int32)))


def shoot(
    bodies: Bodies, pile: Pile, action: jax.Array, kind: jax.Array, shooting: jax.Array, sling: jax.Array, physics: Physics, tnt: slice
) -> Pile:
    """What is left after one shot.

    Args:
        bodies: leaves [N] or [B, N].
        pile: before, leaves [B, N].
        action: float32 [B, 3].
        kind: of the bird, int [B].
        shooting: whether there is a shot at all, bool [B]; elsewhere nothing changes.
        sling: float32 [2] or [B, 2].
        physics: numbers.
        tnt: slots that can hold TNT.
    """
    bird = thrown(kind, physics)
    start = launch(action, sling, physics)
    start = start._replace(flying=start.flying & shooting)
    landed = fly(bodies, pile, start, physics, bird)
    after, _ = bounce(bodies, pile, touch_down(pile, landed, shooting), physics, bird)
    settled = settle(bodies, Pile(after.x, pile.y, after.life), physics, tnt)
    return Pile(*(jnp.where(shooting[..., None], new, old) for new, old in zip(settled, pile, strict=True)))
