"""Whole episodes at once: given actions through one level, or through many.

This is the hot path. Episodes lie side by side with the slots in the last axis, so that loops over slots are vector code, and are cut
into chunks that stay in the cache; a chunk's loops end when its last bird rests. Levels run one after another on each of the machine's
cores. Axes: L levels, E episodes, K birds.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxdiff.birds import kinds, physics, shots
from jaxdiff.birds.settling import Pile
from jaxdiff.birds.world import Birds, Params, require_slots
from jaxdiff.core.errors import as_array, require, require_integer

CHUNK = 512  # episodes side by side


@partial(jax.tree_util.register_dataclass, data_fields=["passed", "birds", "pigs_left"], meta_fields=[])
@dataclass(frozen=True)
class Outcome:
    """How episodes ended; of many levels with a leading axis [L].

    Attributes:
        passed: all pigs are gone, bool [E].
        birds: shots used when it ended, int32 [E].
        pigs_left: int32 [E].
    """

    passed: Any
    birds: Any
    pigs_left: Any


@partial(jax.jit, static_argnums=0)
def play(env: Birds, params: Params, actions: jax.Array) -> Outcome:
    """Episodes of one level, each a list of shots; what comes after its end is ignored.

    Args:
        env: the world; hashes by value.
        params: one level and its physics; may be vmapped.
        actions: in units of the action space, float32 [E, K, 3].
    """
    actions = jnp.asarray(actions).astype(jnp.float32)
    require_slots(env, np.shape(params.level.kind)[-1], np.shape(params.level.birds)[-1])
    require(actions.ndim == 3 and actions.shape[1:] == (env.birds, 3), "actions", f"of shape {actions.shape}", f"[E, {env.birds}, 3]")
    count = actions.shape[0]
    chunks = max(1, -(-count // CHUNK))
    size = -(-count // chunks)
    rows = jnp.pad(actions, ((0, chunks * size - count), (0, 0), (0, 0))).reshape(chunks, size, env.birds, 3)
    there = (jnp.arange(chunks * size, dtype=jnp.int32) < count).reshape(chunks, size)
    one = partial(_chunk, env, params)
    out = jax.lax.map(lambda each: one(*each), (rows, there)) if chunks > 1 else jax.tree.map(lambda v: v[None], one(rows[0], there[0]))
    return jax.tree.map(lambda leaf: leaf.reshape(-1)[:count], out)


def _chunk(env: Birds, params: Params, actions: jax.Array, there: jax.Array) -> Outcome:
    """Episodes [B] side by side; those that are not there end at once."""
    bodies = physics.bodies(params.level, params.physics)
    lanes = actions.shape[0]
    pigs, tnt = env.slots.range(kinds.PIG), env.slots.range(kinds.TNT)
    birds = jnp.asarray(params.level.birds).astype(jnp.int32)
    most = jnp.sum(birds >= 0, dtype=jnp.int32)
    sling = jnp.asarray(params.level.sling).astype(jnp.float32)
    by_shot = jnp.swapaxes(actions, 0, 1)

    def spread(leaf: Any) -> jax.Array:
        return jnp.broadcast_to(jnp.asarray(leaf).astype(jnp.float32), (lanes, leaf.shape[0]))

    def left(pile: Pile) -> jax.Array:
        return jnp.sum(pile.life[:, pigs] > 0, axis=1, dtype=jnp.int32)

    def one(carry: tuple[jax.Array, Pile, jax.Array]) -> tuple[jax.Array, Pile, jax.Array]:
        k, pile, used = carry
        shooting = there & (left(pile) > 0)
        kind = jnp.broadcast_to(birds[k], (lanes,))
        pile = shots.shoot(bodies, pile, by_shot[k], kind, shooting, sling, params.physics, tnt)
        return k + 1, pile, used + shooting.astype(jnp.int32)

    def more(carry: tuple[jax.Array, Pile, jax.Array]) -> jax.Array:
        return (carry[0] < most) & (there & (left(carry[1]) > 0)).any()

    start = Pile(spread(params.level.x), spread(params.level.y), spread(bodies.life))
    _, pile, used = jax.lax.while_loop(more, one, (jnp.zeros((), jnp.int32), start, jnp.zeros((lanes,), jnp.int32)))
    pigs_left = left(pile)
    return Outcome(pigs_left == 0, used, pigs_left)


def play_levels(env: Birds, params: Params, actions: Any, threads: int | None = None) -> Outcome:
    """Episodes of many levels, on the host; every level is one call of one compiled program.

    Args:
        env: the world.
        params: leaves with a leading axis [L]; leaves of `physics` may be without.
        actions: float32 [L, E, K, 3].
        threads: levels at a time; as many as the machine has cores when None.

    Returns:
        leaves [L, E], NumPy.

    Raises:
        InputError: actions of another shape, no level, physics in which nothing comes to rest.
    """
    levels = np.shape(params.level.kind)[0] if np.ndim(params.level.kind) == 2 else 0
    require(levels > 0, "params", f"with kinds of shape {np.shape(params.level.kind)}", "levels with a leading axis")
    wanted = f"[{levels}, E, {env.birds}, 3]"
    require(np.ndim(actions) == 4 and np.shape(actions)[0] == levels, "actions", f"of shape {np.shape(actions)}", wanted)
    require(np.shape(actions)[2:] == (env.birds, 3), "actions", f"of shape {np.shape(actions)}", wanted)
    if threads is not None:
        require_integer("threads", threads, 1)
    actions = as_array("actions", actions, f"numbers {wanted}", np.float32)
    require(bool(np.isfinite(actions).all()), "actions", "not finite everywhere", "finite numbers")
    level, numbers = jax.tree.map(np.asarray, (params.level, params.physics))
    physics.require_possible(numbers)
    single = physics.default()
    flat = jax.tree.map(lambda leaf, one: np.ndim(leaf) > np.ndim(one), numbers, single)

    def one(i: int) -> Outcome:
        mine = Params(jax.tree.map(lambda leaf: leaf[i], level), jax.tree.map(lambda leaf, many: leaf[i] if many else leaf, numbers, flat))
        return jax.tree.map(np.asarray, play(env, mine, actions[i]))

    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    with ThreadPoolExecutor(threads or cores) as pool:
        done = list(pool.map(one, range(levels)))
    return jax.tree.map(lambda *leaves: np.stack(leaves), *done)
