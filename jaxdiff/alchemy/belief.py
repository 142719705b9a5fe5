"""The exact posterior over all chemistries, from what was seen and tried.

In the aligned frame it factorises: stones and values only say something about the stone map, "moved along axis k" and "did not move" only
about potion map and graph (both mirrored into the aligned frame; the prior does not change under mirroring). For a given potion map each
tried pair says that one edge is present, or absent, or nothing. So the posterior is a set of stone maps times a 48 x 109 table of yes
and no with weights 48, 4, 1, 1, for each rotation that is still possible. Counts and weights are exact integers.
Axes: 48 potion maps, G = 109 graphs, R hypothetical rotations.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxdiff.alchemy import chemistry as chem
from jaxdiff.alchemy import frames, graphs, knowledge
from jaxdiff.alchemy.chemistry import Chemistry
from jaxdiff.alchemy.graphs import table

if TYPE_CHECKING:
    from jaxdiff.alchemy.world import State

LATENT_FRAME_FLIPS = 7  # corner l of the latent frame is corner l ^ s ^ 7 of the aligned frame


@partial(jax.tree_util.register_dataclass, data_fields=["possible", "stone_maps", "rotation"], meta_fields=[])
@dataclass(frozen=True)
class Posterior:
    """What is still possible under each of R hypothetical rotations.

    Attributes:
        possible: potion map (aligned frame) and graph (aligned frame) go with everything that happened, bool [R, 48, G].
        stone_maps: set of possible stone maps, bit s; 0 where the rotation is impossible, int32 [R].
        rotation: number of the rotation, int32 [R].
    """

    possible: jax.Array
    stone_maps: jax.Array
    rotation: jax.Array


@table
def _telling() -> np.ndarray:
    """Which tried pairs (aligned corner x colour) would move a stone along an edge, per aligned potion map, bool [48, 12, 48]."""
    corner, colour = np.meshgrid(np.arange(graphs.CORNERS), np.arange(graphs.POTION_TYPES), indexing="ij")
    kind = chem.type_of_colour()[:, colour.reshape(-1)]  # [48, pairs]
    corner = corner.reshape(-1)
    edge = graphs.edge_at()[corner, kind // 2]
    movable = (corner >> kind // 2 & 1) != kind % 2
    return movable[:, None, :] & (edge[:, None, :] == np.arange(graphs.EDGES)[:, None])


@table
def _telling_words() -> np.ndarray:
    """The same as bits, laid out as in `knowledge`, uint32 [48, 12, 2]."""
    pairs = _telling().reshape(chem.POTION_MAPS, graphs.EDGES, 2, knowledge.SEEN)
    return (pairs << np.arange(knowledge.SEEN)).sum(-1).astype(np.uint32)


@table
def _agreeing() -> np.ndarray:
    """Potion maps that agree with a given one on a set of perceived potion axes, bool [48 given, 8 sets, 48]."""
    kinds = chem.type_of_colour()[:, ::2]
    same = kinds[:, None, :] == kinds[None, :, :]  # [given, other, perceived axis]
    wanted = np.arange(8)[:, None] >> np.arange(3) & 1
    return (same[:, None] | (wanted[None, :, None] == 0)).all(-1)


@table
def _edge_under_flip() -> np.ndarray:
    """The edge that an edge is mirrored to on the axes in a bit set, int32 [8, 12]."""
    ends = graphs.edge_endpoints()[None] ^ np.arange(graphs.CORNERS, dtype=np.int32)[:, None, None]
    return graphs.edge_at()[ends.min(-1), graphs.edge_axis()[None]]


def posterior_of(c: Chemistry, known: jax.Array, *, rotation: bool = True) -> Posterior:
    """The posterior of a player who knows what `known` says.

    Args:
        c: the hidden chemistry, which decides how the tried potions turned out; int32 [] fields.
        known: see `knowledge`, uint32 [2].
        rotation: whether other rotations than the true one are considered at all.
    """
    seen = knowledge.seen_set(known)
    hypotheses = jnp.arange(chem.ROTATIONS, dtype=jnp.int32) if rotation else c.rotation[None]
    stone_maps = jnp.asarray(frames.stone_maps_left())[c.rotation, hypotheses, c.stone_map, seen]
    moved = _moves(c)
    tried = knowledge.tried(known)
    axes = (tried & moved).any(0).reshape(3, 2).any(-1)  # perceived potion axes whose effect was seen
    seen_axes = (axes << np.arange(3, dtype=np.int32)).sum(dtype=jnp.int32)
    mirrored = c.potion_map ^ c.stone_map ^ LATENT_FRAME_FLIPS  # directions are the low three bits
    agrees = jnp.asarray(_agreeing())[mirrored, seen_axes]
    possible = [_consistent(tried, moved, agrees)]
    if rotation:
        possible = [_consistent(*_relabelled(tried, moved, c, r), agrees) for r in range(chem.ROTATIONS)]
    return Posterior(jnp.stack(possible), stone_maps, hypotheses)


def _moves(c: Chemistry) -> jax.Array:
    """Whether a potion of a colour moves a stone at an aligned corner, bool [8, 6]."""
    corner = np.arange(graphs.CORNERS, dtype=np.int32) ^ c.stone_map ^ LATENT_FRAME_FLIPS
    kind = jnp.asarray(chem.type_of_colour())[c.potion_map]
    moves = jnp.asarray(graphs.transitions())[c.graph] != np.arange(graphs.CORNERS, dtype=np.int32)[:, None]
    return moves[corner[:, None], kind[None, :]]


def _relabelled(tried: jax.Array, moved: jax.Array, c: Chemistry, rotation: int) -> tuple[jax.Array, jax.Array]:
    """Tried pairs and outcomes as seen under another rotation, where corners have other names."""
    source = jnp.asarray(frames.corner_under())[rotation, c.rotation]
    return tried[jnp.maximum(source, 0)] & (source >= 0)[:, None], moved[jnp.maximum(source, 0)]


def _words(pairs: jax.Array) -> jax.Array:
    """bool [8, 6] -> uint32 [2], as in `knowledge`."""
    return (pairs.reshape(2, knowledge.SEEN).astype(jnp.uint32) << np.arange(knowledge.SEEN, dtype=np.uint32)).sum(-1, dtype=jnp.uint32)


def _consistent(tried: jax.Array, moved: jax.Array, agrees: jax.Array) -> jax.Array:
    """Which potion maps and graphs explain all outcomes, bool [48, G]."""
    telling = jnp.asarray(_telling_words())
    present, absent = (
        (((telling & _words(pairs)) != 0).any(-1).astype(jnp.int32) << np.arange(graphs.EDGES, dtype=np.int32)).sum(-1, dtype=jnp.int32)
        for pairs in (tried & moved, tried & ~moved)
    )  # bits of edges, [48]
    bits = graphs.edge_bits()
    return ((bits & present[:, None]) == present[:, None]) & ((bits & absent[:, None]) == 0) & agrees[:, None]


def _sizes(stone_maps: jax.Array) -> jax.Array:
    return jax.lax.population_count(stone_maps)


def count_of(c: Chemistry, known: jax.Array, *, rotation: bool = True) -> jax.Array:
    """How many (rotation, stone map, potion map, graph) are still possible, int32 []."""
    p = posterior_of(c, known, rotation=rotation)
    return (_sizes(p.stone_maps) * p.possible.sum((1, 2), dtype=jnp.int32)).sum(dtype=jnp.int32)


def benchmark_count_of(c: Chemistry, known: jax.Array) -> jax.Array:
    """The benchmark tracker's number of world states, int32 []: of the first rotation that is possible, rotations not counted."""
    p = posterior_of(c, known)
    first = jnp.argmax(p.stone_maps > 0)
    return _sizes(p.stone_maps[first]) * p.possible[first].sum(dtype=jnp.int32)


def entropy_of(c: Chemistry, known: jax.Array, *, rotation: bool = True) -> jax.Array:
    """Shannon entropy of the posterior under the prior, in nats, float32 []."""
    p = posterior_of(c, known, rotation=rotation)
    weights = graphs.weights()
    distinct = np.unique(weights)
    numbers = jnp.stack([(p.possible & (weights == w)).sum((1, 2), dtype=jnp.int32) for w in distinct], axis=-1) * _sizes(p.stone_maps)[:, None]
    total = (numbers * distinct.astype(np.int32)).sum(dtype=jnp.int32).astype(jnp.float32)
    logs = (distinct * np.log(distinct)).astype(np.float32)
    return jnp.log(total) - (numbers.astype(jnp.float32) * logs).sum(dtype=jnp.float32) / total


def marginals_of(c: Chemistry, known: jax.Array, *, rotation: bool = True, aligned: bool = False) -> jax.Array:
    """Exact posterior probability of each of the 28 entries of `chemistry.to_vector`, float32 [28].

    Args:
        c: the hidden chemistry.
        known: see `knowledge`.
        rotation: whether other rotations are considered.
        aligned: edges and directions in the aligned frame (of each possible rotation) instead of the latent frame of the ground truth.
    """
    p = posterior_of(c, known, rotation=rotation)
    parts = jax.vmap(partial(_entry_weights, aligned=aligned))(p.possible, p.stone_maps)
    entries, total = parts[:, :-1].sum(0, dtype=jnp.int32), parts[:, -1]
    turns = (total[:, None] * (p.rotation[:, None] == np.arange(chem.ROTATIONS, dtype=np.int32))).sum(0, dtype=jnp.int32)
    return jnp.concatenate([entries, turns]).astype(jnp.float32) / total.sum(dtype=jnp.int32).astype(jnp.float32)


def _entry_weights(possible: jax.Array, stone_maps: jax.Array, *, aligned: bool) -> jax.Array:
    """Weight of the chemistries of one rotation in which each of 24 entries is 1, and of all of them, int32 [25]."""
    weighted = possible * graphs.weights()
    of_graph, of_map = weighted.sum(0, dtype=jnp.int32), weighted.sum(1, dtype=jnp.int32)
    total = of_map.sum(dtype=jnp.int32)
    edge = (of_graph[:, None] * graphs.edges()).sum(0, dtype=jnp.int32)
    order = of_map.reshape(6, 8).sum(1, dtype=jnp.int32)
    up = (of_map[:, None] * chem.directions()).sum(0, dtype=jnp.int32)
    member = stone_maps >> np.arange(chem.STONE_MAPS, dtype=np.int32) & 1  # [8]
    size = member.sum(dtype=jnp.int32)
    agrees = np.arange(chem.STONE_MAPS, dtype=np.int32)[:, None] >> np.arange(3, dtype=np.int32) & 1  # [8, 3]
    stone = (member[:, None] * agrees).sum(0, dtype=jnp.int32)
    if aligned:
        edge, up = edge * size, up * size
    else:
        mirrored = edge[_edge_under_flip()[np.arange(chem.STONE_MAPS) ^ LATENT_FRAME_FLIPS]]  # [8, 12]
        edge = (member[:, None] * mirrored).sum(0, dtype=jnp.int32)
        up = (member[:, None] * jnp.where(agrees == 1, up, total - up)).sum(0, dtype=jnp.int32)
    return jnp.concatenate([edge, order * size, up, stone * total, (total * size)[None]])


# The same for states of the world.


@jax.jit
def _count(c: Chemistry, known: jax.Array) -> jax.Array:
    return _over_batch(count_of, c, known)


@jax.jit
def _entropy(c: Chemistry, known: jax.Array) -> jax.Array:
    return _over_batch(entropy_of, c, known)


def _over_batch(function: Any, c: Chemistry, known: jax.Array) -> jax.Array:
    batch = known.shape[:-1]
    flat = jax.tree.map(lambda x: jnp.broadcast_to(x, batch).reshape(-1), chem.as_int32(c))
    return jax.vmap(function)(flat, known.reshape(-1, 2)).reshape(batch)


def worlds(state: State) -> Any:
    """How many chemistries (rotation, stone map, potion map, graph) are still possible.

    Args:
        state: of `world.Alchemy`, any options; or a batch of states.

    Returns:
        int; NumPy int32 [...] for a batch.
    """
    count = np.asarray(_count(state.chemistry, state.known))
    return int(count) if count.ndim == 0 else count


def entropy(state: State) -> Any:
    """Shannon entropy of the posterior under the prior, in nats: float, or NumPy float32 [...] for a batch."""
    value = np.asarray(_entropy(state.chemistry, state.known))
    return float(value) if value.ndim == 0 else value


def log_count(state: State) -> Any:
    """The paper's posterior entropy, log of the number of possible chemistries: float, or NumPy float64 [...] for a batch."""
    value = np.log(np.asarray(worlds(state), np.float64))
    return float(value) if value.ndim == 0 else value
