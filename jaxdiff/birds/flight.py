"""Free flight in closed form up to the first contact.

Acceleration is piecewise constant: gravity and wind everywhere, the fan's within its band; the tap multiplies the velocity once. A flight
is a few segments, each ended by the next of: first contact, tap, an edge of the band. Times come from the stable root of
x0 + v t + a t^2 / 2 = target that crosses in the wanted direction. Axes: N slots, B lanes.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from jaxdiff.birds import kinds
from jaxdiff.birds.physics import Bodies, Physics
from jaxdiff.birds.slots import least

SKIN = 1e-3  # sides closer than this in the other direction slide past one another
SEGMENTS = 8  # tap, both edges of the band, both again where wind turns the bird; more cannot happen on the way
LONGEST = 20.0  # seconds; what flies longer is lost


class Bird(NamedTuple):
    """A bird in flight or in contact: centre and velocity, float32 [B] each."""

    x: jax.Array
    y: jax.Array
    vx: jax.Array
    vy: jax.Array


class Segment(NamedTuple):
    """State of a flight between two segments.

    Attributes:
        bird: where it is.
        to_tap: seconds to the tap, infinite when it is over, [B].
        time: seconds since launch [B].
        flying: no contact yet, bool [B].
    """

    bird: Bird
    to_tap: jax.Array
    time: jax.Array
    flying: jax.Array


def crossing(start: jax.Array, velocity: jax.Array, acceleration: jax.Array, target: jax.Array, sign: float) -> jax.Array:
    """When a coordinate crosses `target` in the direction `sign`; infinite where it never does from now on. Shapes broadcast."""
    gap = target - start
    square = velocity * velocity + 2 * acceleration * gap
    speed = sign * jnp.sqrt(jnp.maximum(square, 0))
    same = sign * velocity > 0
    # Of the two forms of the root the one without cancellation.
    time = jnp.where(same, 2 * gap, speed - velocity) / jnp.where(same, velocity + speed, acceleration)
    possible = (square >= 0) & (same | (sign * acceleration > 0)) & (time > -1e-4)
    return jnp.where(possible, jnp.maximum(time, 0), jnp.inf)


def at(bird: Bird, ax: jax.Array, ay: jax.Array, t: jax.Array) -> Bird:
    """The bird t seconds later under constant acceleration."""
    return Bird(bird.x + (bird.vx + ax * t / 2) * t, bird.y + (bird.vy + ay * t / 2) * t, bird.vx + ax * t, bird.vy + ay * t)


def first_contact(
    bodies: Bodies, x: jax.Array, y: jax.Array, life: jax.Array, bird: Bird, ax: jax.Array, ay: jax.Array, radius: jax.Array
) -> jax.Array:
    """Seconds to the first contact with what is there or with the ground, [B]; infinite where there is none.

    Args:
        bodies: leaves [N] or [B, N].
        x, y: centres [B, N].
        life: [B, N]; what has none left is not there.
        bird: where it starts.
        ax, ay: acceleration [B].
        radius: of the bird [B].
    """
    wide, high = bodies.half_width + radius[..., None], bodies.half_height + radius[..., None]
    px, py, vx, vy, ax1, ay1 = (v[..., None] for v in (*bird, ax, ay))
    times = []
    for sign in (1.0, -1.0):
        t = crossing(px, vx, ax1, x - sign * wide, sign)
        times.append(jnp.where(jnp.abs(py + (vy + ay1 * t / 2) * t - y) < high - SKIN, t, jnp.inf))
        t = crossing(py, vy, ay1, y - sign * high, sign)
        times.append(jnp.where(jnp.abs(px + (vx + ax1 * t / 2) * t - x) < wide - SKIN, t, jnp.inf))
    each = jnp.minimum(jnp.minimum(times[0], times[1]), jnp.minimum(times[2], times[3]))
    each = jnp.where(life > 0, each, jnp.inf)
    ground = crossing(bird.y, bird.vy, ay, kinds.GROUND + radius, -1.0)
    return jnp.minimum(least(each), ground)


def accelerations(bird: Bird, physics: Physics) -> tuple[jax.Array, jax.Array]:
    """Horizontal and vertical acceleration where the bird is, [B]; on an edge of the band, of the side it moves to."""
    ahead = bird.x + 1e-4 * jnp.sign(bird.vx)
    band = jnp.asarray(physics.band)
    inside = (ahead > band[0]) & (ahead < band[1])
    up = jnp.where(inside, jnp.asarray(physics.fan), 0) - jnp.asarray(physics.gravity)
    return jnp.broadcast_to(jnp.asarray(physics.wind), up.shape).astype(up.dtype), up


def segment(
    bodies: Bodies, x: jax.Array, y: jax.Array, life: jax.Array, now: Segment, physics: Physics, radius: jax.Array, boost: jax.Array
) -> Segment:
    """One segment of a flight. Those that do not fly stay as they are."""
    ax, ay = accelerations(now.bird, physics)
    contact = first_contact(bodies, x, y, life, now.bird, ax, ay, radius)
    band = jnp.asarray(physics.band)
    edges = []
    for side in (0, 1):
        here = jnp.abs(now.bird.x - band[side]) < 1e-4
        for sign in (1.0, -1.0):
            t = crossing(now.bird.x, now.bird.vx, ax, band[side], sign)
            edges.append(jnp.where(here & (t < 1e-4), jnp.inf, t))  # an edge just passed is no event again
    edge = jnp.minimum(jnp.minimum(edges[0], edges[1]), jnp.minimum(edges[2], edges[3]))
    t = jnp.minimum(jnp.minimum(jnp.minimum(contact, edge), now.to_tap), LONGEST)
    moved = at(now.bird, ax, ay, t)
    tapped = (now.to_tap <= t) & (t < contact)
    factor = jnp.where(tapped, boost, 1).astype(t.dtype)
    moved = moved._replace(vx=moved.vx * factor, vy=moved.vy * factor)
    to_tap = jnp.where(tapped, jnp.inf, now.to_tap - t)
    flies = now.flying
    bird = Bird(*(jnp.where(flies, new, old) for new, old in zip(moved, now.bird, strict=True)))
    time = jnp.where(flies, now.time + t, now.time)
    on = flies & (t < contact) & (time < LONGEST) & (jnp.abs(bird.x) < 2 * kinds.RIGHT)
    return Segment(bird, jnp.where(flies, to_tap, now.to_tap), time, on)
