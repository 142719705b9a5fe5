"""One shot moment by moment, for pictures: where the bird, the things and their lives are in every frame.

The same functions as in `shots`, run for a fixed number of steps and recorded. Axes: F frames, N slots.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxdiff.birds import flight, kinds, physics, shots
from jaxdiff.birds.contact import DT, STEPS, Contact, step
from jaxdiff.birds.settling import ROUNDS, Pile, settling_round
from jaxdiff.birds.world import State

if TYPE_CHECKING:
    from jaxdiff.birds.world import Birds, Params

FALL_FRAMES = 5  # of a round of settling


@dataclass(frozen=True)
class Film:
    """A shot in frames of `contact.DT` seconds.

    Attributes:
        bird: its centre, not a number once it is away, float32 [F, 2].
        x, y, life: of the things, float32 [F, N].
        hits: where the bird did damage, float32 [hits, 2].
        landed: frame of the first contact.
        after: the state that the shot leaves, as `step_env` does.
    """

    bird: np.ndarray
    x: np.ndarray
    y: np.ndarray
    life: np.ndarray
    hits: np.ndarray
    landed: int
    after: State


def film(env: Birds, params: Params, state: State, action: Any) -> Film:
    """The frames of one shot.

    Args:
        env: the world.
        params: one level and its physics.
        state: before the shot.
        action: float32 [3].
    """
    record = jax.tree.map(np.asarray, _record(env, params, state, jnp.asarray(action).astype(jnp.float32)))
    (places, speeds, pulls, times), contacts, rounds = record
    end = float(times[-1])
    moments = np.arange(0, end, DT)
    part = np.maximum(np.searchsorted(times[:-1], moments, side="right") - 1, 0)
    t = (moments - times[part])[:, None]
    path = places[part] + speeds[part] * t + pulls[part] * t**2 / 2
    bird, x, life, moving, sliding = contacts
    last = int(np.flatnonzero(moving | sliding).max()) + 1 if (moving | sliding).any() else 0
    last = min(last, len(moving) - 1)  # what still moves after the last step is taken away as it is
    bird, x, life = bird[: last + 1], x[: last + 1], life[: last + 1]
    hurt = np.flatnonzero((life[1:] < life[:-1]).any(axis=1) & moving[:last]) + 1
    y0 = np.asarray(state.y)
    start = np.full((len(path), len(y0)), 1.0, np.float32)
    frames = [(path, start * np.asarray(state.x), start * y0, np.broadcast_to(np.asarray(state.life), start.shape))]
    frames.append((np.where(moving[: last + 1, None], bird, np.nan), x, np.broadcast_to(y0, x.shape), life))
    before = (x[-1], y0, life[-1])
    for k in range(ROUNDS):
        now = tuple(leaf[k] for leaf in rounds)
        if all(np.array_equal(a, b) for a, b in zip(now, before, strict=True)):
            break
        share = (np.arange(1, FALL_FRAMES + 1) / FALL_FRAMES)[:, None] ** 2  # what falls falls ever faster
        y = before[1] + (now[1] - before[1]) * share
        away = np.full((FALL_FRAMES, 2), np.nan)
        frames.append((away, np.broadcast_to(now[0], y.shape), y, np.broadcast_to(now[2], y.shape)))
        before = now
    columns = [np.concatenate([f[i] for f in frames]).astype(np.float32) for i in range(4)]
    last_x, last_y, last_life = (jnp.asarray(leaf[-1]) for leaf in rounds)
    after = State(last_x, last_y, last_life, jnp.asarray(state.shot) + 1)
    return Film(columns[0], columns[1], columns[2], columns[3], bird[hurt].astype(np.float32), len(path), after)


@partial(jax.jit, static_argnums=0)
def _record(env: Birds, params: Params, state: State, action: jax.Array) -> Any:
    numbers = params.physics
    bodies = physics.bodies(params.level, numbers)
    pile = Pile(state.x[None], state.y[None], state.life[None])
    kind = jnp.asarray(params.level.birds).astype(jnp.int32)[jnp.minimum(state.shot, env.birds - 1)]
    thrown = shots.thrown(kind[None], numbers)
    sling = jnp.asarray(params.level.sling).astype(jnp.float32)

    def fly(now: flight.Segment, _: None) -> tuple[flight.Segment, Any]:
        pull = jnp.stack(flight.accelerations(now.bird, numbers), axis=-1)
        bird = now.bird
        seen = (jnp.stack([bird.x, bird.y], -1)[0], jnp.stack([bird.vx, bird.vy], -1)[0], pull[0], now.time[0])
        return flight.segment(bodies, *pile, now, numbers, thrown.radius, thrown.boost), seen

    landed, path = jax.lax.scan(fly, shots.launch(action[None], sling, numbers), None, length=flight.SEGMENTS + 1)
    start = shots.touch_down(pile, landed, jnp.ones((1,), jnp.bool_))

    def seen_of(now: Contact) -> Any:
        return jnp.stack([now.bird.x, now.bird.y], -1)[0], now.x[0], now.life[0], now.moving[0], now.slider[0] >= 0

    def touch(now: Contact, _: None) -> tuple[Contact, Any]:
        new = step(bodies, pile.y, now, numbers, thrown.mass, thrown.radius)
        return new, seen_of(new)

    after, contacts = jax.lax.scan(touch, start, None, length=STEPS)
    contacts = jax.tree.map(lambda one, rest: jnp.concatenate([one[None], rest]), seen_of(start), contacts)

    def settle(now: Pile, _: None) -> tuple[Pile, Any]:
        new = settling_round(bodies, now, numbers, env.slots.range(kinds.TNT))[0]
        return new, tuple(leaf[0] for leaf in new)

    rounds = jax.lax.scan(settle, Pile(after.x, pile.y, after.life), None, length=ROUNDS)[1]
    return path, contacts, rounds
