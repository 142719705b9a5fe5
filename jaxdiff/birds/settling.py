"""What follows a shot: TNT goes off, and what has lost its support falls.

Rounds, until nothing changes. First broken TNT explodes: `tnt_damage` at its centre, falling linearly to 0 at `tnt_radius`. Then support:
a thing is carried if something (or the ground) touches it from below under its centre, or touches it on both sides of the centre. What
is not carried falls straight down to the highest top below its centre; from a height h it lands with v = sqrt(2 gravity h) and its
impulse mass x v above the threshold is taken from its own life and from the life of what it lands on. A tower comes down one thing a round.
Axes: N slots, B lanes.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from jaxdiff.birds import kinds
from jaxdiff.birds.flight import SKIN
from jaxdiff.birds.physics import Bodies, Physics
from jaxdiff.birds.slots import highest, numbers, some

TOUCH = 0.05  # distances up to this are contacts: public levels are not more exact
ROUNDS = 16  # at most


class Pile(NamedTuple):
    """What stands where: x, y, life, float32 [B, N]. A life of minus infinity is TNT gone off, or an empty slot."""

    x: jax.Array
    y: jax.Array
    life: jax.Array


def settle(bodies: Bodies, pile: Pile, physics: Physics, tnt: slice) -> Pile:
    """Rounds until nothing changes, at most `ROUNDS`.

    Args:
        bodies: leaves [N] or [B, N].
        pile: before.
        physics: numbers.
        tnt: slots that can hold TNT.
    """

    def more(carry: tuple[Pile, jax.Array, jax.Array]) -> jax.Array:
        return carry[1] & (carry[2] < ROUNDS)

    def one(carry: tuple[Pile, jax.Array, jax.Array]) -> tuple[Pile, jax.Array, jax.Array]:
        pile, changed = settling_round(bodies, carry[0], physics, tnt)
        return pile, changed, carry[2] + 1

    return jax.lax.while_loop(more, one, (pile, jnp.ones((), jnp.bool_), jnp.zeros((), jnp.int32)))[0]


def settling_round(bodies: Bodies, pile: Pile, physics: Physics, tnt: slice) -> tuple[Pile, jax.Array]:
    """One round, and whether anything happened in any lane, bool []."""
    pile, exploded = _explode(pile, physics, tnt)
    pile, fell = _fall(bodies, pile, physics)
    return pile, exploded | fell


def _explode(pile: Pile, physics: Physics, tnt: slice) -> tuple[Pile, jax.Array]:
    x, y, life = pile
    any_broken = jnp.zeros((), jnp.bool_)
    damage = jnp.zeros_like(life)
    for slot in range(tnt.start, tnt.stop):
        broken = (life[..., slot] <= 0) & (life[..., slot] > -jnp.inf)
        near = 1 - jnp.sqrt((x - x[..., slot, None]) ** 2 + (y - y[..., slot, None]) ** 2) / jnp.asarray(physics.tnt_radius)
        damage = damage + jnp.where(broken[..., None], jnp.asarray(physics.tnt_damage) * jnp.maximum(near, 0), 0)
        any_broken = any_broken | broken.any()
    slots = numbers(life.shape[-1])
    gone = (slots >= tnt.start) & (slots < tnt.stop) & (life <= 0)
    return Pile(x, y, jnp.where(gone, -jnp.inf, life - damage)), any_broken


def _fall(bodies: Bodies, pile: Pile, physics: Physics) -> tuple[Pile, jax.Array]:
    x, y, life = pile
    wide, high = bodies.half_width, bodies.half_height
    there, bottom, top = life > 0, y - high, jnp.where(life > 0, y + high, -jnp.inf)
    # Of every thing (rows) and all others (columns): what is below it.
    apart = jnp.abs(x[..., :, None] - x[..., None, :])
    below = top[..., None, :] <= bottom[..., :, None] + TOUCH
    tops = jnp.where(below & (apart <= wide[..., None, :]), top[..., None, :], kinds.GROUND)
    carrier = highest(tops)  # highest top under the centre
    touches = below & (top[..., None, :] >= bottom[..., :, None] - TOUCH) & (apart < wide[..., :, None] + wide[..., None, :] - SKIN)
    on_left = touches & ((x - wide)[..., None, :] <= x[..., :, None])
    on_right = touches & ((x + wide)[..., None, :] >= x[..., :, None])
    sides = some(on_left) & some(on_right)
    height = bottom - carrier
    falls = bodies.movable & there & (height > TOUCH) & ~sides

    def land(_: None) -> tuple[jax.Array, jax.Array]:
        impulse = bodies.mass * jnp.sqrt(2 * jnp.asarray(physics.gravity) * jnp.maximum(height, 0))
        taken = jnp.where(falls, jnp.maximum(impulse - jnp.asarray(physics.threshold), 0), 0)
        under = (top[..., :, None] == carrier[..., None, :]) & (apart <= wide[..., :, None])
        received = taken + jnp.where(under, taken[..., None, :], 0).sum(axis=-1)
        return jnp.where(falls, y - height, y), jnp.where(there, life - received, life)

    y, life = jax.lax.cond(falls.any(), land, lambda _: (y, life), None)
    return Pile(x, y, life), falls.any()
