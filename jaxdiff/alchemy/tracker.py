"""The benchmark's own belief vector, frames, gaps and all, so that agents that are given it can be compared with the paper's.

It is weaker than the exact posterior (`belief`): a potion without effect rules out an edge only if everything about potion and axis was
known at that moment; an axis order counts as known only with all three directions; while more than one rotation is possible every
entry is 0.5. Its edges are in the *aligned* frame, unlike those of the ground-truth vector. What it carries: int32 [3] = number of the
graph set, bits of perceived potion axes whose effect was seen, bits of stone-map axes that are known.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from jaxdiff.alchemy import chemistry as chem
from jaxdiff.alchemy import frames, graph_sets, graphs, knowledge
from jaxdiff.alchemy.chemistry import FLIP, Chemistry
from jaxdiff.alchemy.graphs import table

ALL_SEEN = 7


@table
def _potion_entries() -> np.ndarray:
    """Axis-order and direction entries by seen potion axes and potion map, float32 [8, 48, 9]."""
    result = np.full((8, chem.POTION_MAPS, 9), 0.5, np.float32)
    orders = np.array(graphs.AXIS_ORDERS)
    for seen in range(8):
        axes = [d for d in range(3) if seen >> d & 1]
        for pm in range(chem.POTION_MAPS):
            order, up = chem.axis_order()[pm], chem.directions()[pm]
            possible = (orders[:, axes] == order[axes]).all(-1)
            result[seen, pm, :6] = np.where(possible, 1.0 if seen == ALL_SEEN else 0.5, 0.0)
            result[seen, pm, 6 + order[axes]] = up[order[axes]]
    return result


def _stone_maps(c: Chemistry, known: knowledge.Known) -> jax.Array:
    seen = knowledge.seen_set(known)
    return jnp.asarray(frames.stone_maps_left())[c.rotation, c.rotation, c.stone_map, seen]


def start(c: Chemistry, known: knowledge.Known) -> jax.Array:
    """After the first look at the stones, int32 [3]."""
    return new_trial(jnp.zeros((3,), jnp.int32), c, known)


def new_trial(tracked: jax.Array, c: Chemistry, known: knowledge.Known) -> jax.Array:
    """After a look at the stones of a new trial: the stone map is what all possible ones agree on."""
    axes = jnp.asarray(frames.axes_agreed())[_stone_maps(c, known)]
    return jnp.stack([tracked[0], tracked[1], axes])


def potion(tracked: jax.Array, c: Chemistry, corner: jax.Array, new: jax.Array, colour: jax.Array, used: jax.Array) -> jax.Array:
    """After a potion of a colour was used on a stone at a latent corner, if it was `used`.

    Args:
        tracked: int32 [3].
        c: the chemistry.
        corner, new: latent corner before and after, int32 [].
        colour: 0..5 (more where none was used), int32 [].
        used: bool [].
    """
    graph_set, seen_axes, known_axes = tracked
    corner, colour = jnp.minimum(corner, 7), jnp.minimum(colour, 5)
    kind = jnp.asarray(chem.type_of_colour())[c.potion_map, colour]
    axis, up, pair = kind // 2, kind % 2, colour // 2
    edge = jnp.asarray(graphs.edge_at())[corner ^ c.stone_map ^ FLIP, axis]
    moved = used & (corner != new)
    understood = (seen_axes >> pair & 1) & (known_axes >> axis & 1) & (corner >> axis & 1 ^ up)
    stuck = used & ~moved & (understood == 1)
    graph_set = jnp.where(moved, jnp.asarray(graph_sets.after_present())[graph_set, edge], graph_set)
    graph_set = jnp.where(stuck, jnp.asarray(graph_sets.after_absent())[graph_set, edge], graph_set)
    seen_axes = jnp.where(moved, seen_axes | 1 << pair, seen_axes)
    known_axes = jnp.where(moved, known_axes | 1 << axis, known_axes)
    return jnp.stack([graph_set, seen_axes, known_axes])


def vector(tracked: jax.Array, c: Chemistry, known: knowledge.Known) -> jax.Array:
    """The 28 entries, in the order of `chemistry.to_vector`: 0 no, 1 yes, 0.5 not known; float32 [28]."""
    graph_set, seen_axes, known_axes = tracked
    half = np.float32(0.5)
    bits = np.arange(3, dtype=np.int32)
    stone = jnp.where(known_axes >> bits & 1 == 1, (c.stone_map >> bits & 1).astype(jnp.float32), half)
    rotation = (c.rotation == np.arange(chem.ROTATIONS, dtype=np.int32)).astype(jnp.float32)
    parts = [jnp.asarray(graph_sets.edge_knowledge())[graph_set], jnp.asarray(_potion_entries())[seen_axes, c.potion_map], stone, rotation]
    certain = jnp.asarray(frames.rotations_left())[c.rotation, c.stone_map, knowledge.seen_set(known)] == 1
    return jnp.where(certain, jnp.concatenate(parts), half)
