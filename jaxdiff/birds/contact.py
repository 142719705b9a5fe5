"""Contact steps: what a bird does from its first contact until it rests.

A step of `DT` seconds moves the bird along x up to the first side in its way, then along y. A hit with relative speed v passes the impulse
j = (1 + e) v / (1/m + 1/M), with M infinite for platforms, the ground and hits from above or below; a tangential friction impulse of up
to friction x (j + weight x DT) acts; j above the threshold is taken from the life of what was hit. What breaks takes only the part of the
impulse that broke it, and vanishes. What holds out a side hit with u = j / M above `STICK` x friction x gravity slides u^2 / (2 friction
gravity) far, or up to the next thing in its way, which it hits with the speed left; both are damaged and the momentum goes on in the
next step. The bird's energy never grows: velocities along y at a hit follow from the drop. Axes: N slots, B lanes.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from jaxdiff.birds import kinds
from jaxdiff.birds.flight import SKIN, Bird, accelerations
from jaxdiff.birds.physics import Bodies, Physics
from jaxdiff.birds.slots import at, first, pick

DT = 1 / 32
STEPS = 64  # at most; a bird that still moves then is taken away
STICK = 0.02  # seconds: friction x gravity x this is the least speed that a push must give
SLOW = 0.3  # bounces below this speed end


class Contact(NamedTuple):
    """State of what happens.

    Attributes:
        bird: where it is.
        x: centres along x, float32 [B, N]; y does not change before things settle.
        life: float32 [B, N].
        moving: the bird has not come to rest, bool [B].
        slider: the slot that is about to slide, -1 for none, int32 [B].
        speed: its speed along x, float32 [B].
    """

    bird: Bird
    x: jax.Array
    life: jax.Array
    moving: jax.Array
    slider: jax.Array
    speed: jax.Array


def step(bodies: Bodies, y: jax.Array, now: Contact, physics: Physics, mass: jax.Array, radius: jax.Array) -> Contact:
    """One contact step.

    Args:
        bodies: leaves [N] or [B, N].
        y: centres along y [B, N].
        now: state.
        physics: numbers.
        mass, radius: of the bird [B].
    """
    now = jax.lax.cond((now.slider >= 0).any(), lambda now: _slide(bodies, y, now, physics), lambda now: now, now)
    bird, moving, life = now.bird, now.moving, now.life
    ax, ay = accelerations(bird, physics)
    restitution, friction, threshold = (jnp.asarray(v) for v in (physics.restitution, physics.friction, physics.threshold))
    count = life.shape[-1]
    wide, high = bodies.half_width + radius[..., None], bodies.half_height + radius[..., None]

    # Along x.
    vx = bird.vx + ax * DT
    sign = jnp.where(vx < 0, -1, 1).astype(vx.dtype)
    gaps = sign[..., None] * (now.x - bird.x[..., None]) - wide
    meets = (life > 0) & (jnp.abs(bird.y[..., None] - y) < high - SKIN) & (gaps > -2 * SKIN)
    gap, slot = first(jnp.where(meets, gaps, jnp.inf))
    mine = at(slot, count)
    inverse, have = pick(bodies.inverse_mass, mine), pick(life, mine)
    reach = jnp.abs(vx) * DT
    hit = moving & (gap < reach)
    impulse = jnp.where(hit, (1 + restitution) * jnp.abs(vx) / (1 / mass + inverse), 0)
    taken, part, holds = _damage(impulse, have, threshold)
    impulse = impulse * part
    bird_x = bird.x + sign * jnp.clip(gap, 0, reach)
    vx = vx - sign * impulse / mass
    vy = _rubbed(bird.vy, friction * impulse / mass)
    life = jnp.where(mine, life - taken[..., None], life)
    push = impulse * inverse
    pushed = hit & holds & (push > STICK * friction * jnp.asarray(physics.gravity))
    slider = jnp.where(pushed, slot, now.slider)
    speed = jnp.where(pushed, sign * push, now.speed)

    # Along y.
    way = (vy + ay * DT / 2) * DT
    sign = jnp.where(way < 0, -1, 1).astype(vy.dtype)
    gaps = sign[..., None] * (y - bird.y[..., None]) - high
    meets = (life > 0) & (jnp.abs(bird_x[..., None] - now.x) < wide - SKIN) & (gaps > -2 * SKIN)
    gap, slot = first(jnp.where(meets, gaps, jnp.inf))
    mine = at(slot, count)
    have = pick(life, mine)
    floor = jnp.where(sign < 0, bird.y - radius - kinds.GROUND, jnp.inf)
    on_floor = floor <= gap
    gap = jnp.minimum(gap, floor)
    reach = jnp.abs(way)
    hit = moving & (gap <= reach)
    drop = sign * jnp.clip(gap, 0, reach)
    fast = jnp.sqrt(jnp.maximum(vy * vy + 2 * ay * drop, 0))
    impulse = jnp.where(hit, (1 + jnp.where(fast > SLOW, restitution, 0)) * fast * mass, 0)
    taken, part, _ = _damage(impulse, jnp.where(on_floor, jnp.inf, have), threshold)
    impulse = impulse * part
    vx = jnp.where(hit, _rubbed(vx, friction * (impulse / mass + jnp.abs(ay) * DT)), vx)
    vy = jnp.where(hit, sign * (fast - impulse / mass), vy + ay * DT)
    life = jnp.where(mine, life - jnp.where(on_floor, 0, taken)[..., None], life)

    rests = hit & (sign < 0) & (jnp.abs(vx) + jnp.abs(vy) < SLOW)
    out = (bird_x < kinds.LEFT) | (bird_x > kinds.RIGHT)
    new = Bird(bird_x, bird.y + drop, vx, vy)
    bird = Bird(*(jnp.where(moving, a, b) for a, b in zip(new, bird, strict=True)))
    return Contact(bird, now.x, life, moving & ~rests & ~out, slider, speed)


def _damage(impulse: jax.Array, life: jax.Array, threshold: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
    """What an impulse takes from a life, which part of the impulse it took to break the thing (1 where it holds), whether it holds."""
    taken = jnp.maximum(impulse - threshold, 0)
    life = jnp.maximum(life, 0)  # where nothing is hit the slot is any, also an empty one, whose life is minus infinity
    holds = taken < life
    part = jnp.where(holds, 1, jnp.minimum((life + threshold) / jnp.maximum(impulse, 1e-6), 1)).astype(impulse.dtype)
    return taken, part, holds


def _rubbed(velocity: jax.Array, most: jax.Array) -> jax.Array:
    """A velocity brought nearer to 0 by at most so much."""
    return velocity - jnp.clip(velocity, -most, most)


def _slide(bodies: Bodies, y: jax.Array, now: Contact, physics: Physics) -> Contact:
    """What was pushed slides until friction stops it or something is in its way, which is pushed next."""
    count = now.life.shape[-1]
    here = at(now.slider, count)
    slides = (now.slider >= 0) & (pick(now.life, here) > 0)
    sign = jnp.where(now.speed < 0, -1, 1).astype(now.speed.dtype)
    x, wide, inverse = pick(now.x, here), pick(bodies.half_width, here), pick(bodies.inverse_mass, here)
    middle, high = pick(y, here), pick(bodies.half_height, here)
    gaps = sign[..., None] * (now.x - x[..., None]) - bodies.half_width - wide[..., None]
    beside = jnp.abs(y - middle[..., None]) < bodies.half_height + high[..., None] - SKIN
    gap, other = first(jnp.where((now.life > 0) & beside & (gaps > -2 * SKIN) & ~here, gaps, jnp.inf))
    there = at(other, count)
    brake = 2 * jnp.asarray(physics.friction) * jnp.asarray(physics.gravity)
    square = now.speed * now.speed
    stop = square / brake
    strikes = slides & (gap < stop)
    left = jnp.sqrt(jnp.maximum(square - brake * jnp.where(strikes, gap, 0), 0))
    hindered = pick(bodies.inverse_mass, there)
    impulse = jnp.where(strikes, (1 + jnp.asarray(physics.restitution)) * left / jnp.maximum(inverse + hindered, 1e-6), 0)
    taken = jnp.maximum(impulse - jnp.asarray(physics.threshold), 0)
    moved = jnp.where(slides, sign * jnp.minimum(gap, stop), 0)
    life = jnp.where(here | there, now.life - taken[..., None], now.life)
    push = impulse * hindered
    goes_on = strikes & (push > STICK * jnp.asarray(physics.friction) * jnp.asarray(physics.gravity))
    return now._replace(
        x=jnp.where(here, now.x + moved[..., None], now.x),
        life=life,
        slider=jnp.where(goes_on, other, -1),
        speed=jnp.where(goes_on, sign * push, 0),
    )
