"""The exact posterior over all chemistries, from what was seen and tried.

In the aligned frame it factorises: stones and values only say something about the stone map, "moved along axis k" and "did not move" only
about potion map and graph (both mirrored into the aligned frame; the prior does not change under mirroring). For a given potion map what
happened says of each edge that it is present, absent, or nothing: one of 3^12 codes, which a table turns into a set of graphs. So the
posterior is a set of stone maps and 48 sets of graphs, for each rotation that is still possible. Counts and weights are exact integers.
The prior is the benchmark's ("random" bottlenecks, maps drawn), also for environments and `Params` that draw chemistries in another way.
Axes: 48 potion maps, R hypothetical rotations. Sets of corners are numbers, bit a for aligned corner a.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxdiff.alchemy import chemistry as chem
from jaxdiff.alchemy import frames, graph_sets, graphs, knowledge
from jaxdiff.alchemy.chemistry import FLIP, Chemistry
from jaxdiff.alchemy.graphs import table

if TYPE_CHECKING:
    from jaxdiff.alchemy.world import State

CODES = 3**graphs.EDGES
_IMPOSSIBLE = CODES  # added to a code that cannot be


@partial(jax.tree_util.register_dataclass, data_fields=["sets", "stone_maps", "rotation"], meta_fields=[])
@dataclass(frozen=True)
class Posterior:
    """What is still possible under each of R hypothetical rotations.

    Attributes:
        sets: per potion map (aligned frame) the number of the set of possible graphs (aligned frame), see `graph_sets`; `SETS`, a row of
            zeros in `numbers`, where none is left; int32 [R, 48].
        stone_maps: set of possible stone maps, bit s; 0 where the rotation is impossible, int32 [R].
        rotation: number of the rotation, int32 [R].
    """

    sets: jax.Array
    stone_maps: jax.Array
    rotation: jax.Array


@table
def _set_of_code() -> np.ndarray:
    """The set of graphs for every code (sum of 3^e: edge e absent, 2 x 3^e: present); an empty one last, int32 [3^12 + 1]."""
    reached = np.zeros(1, np.int32)
    for edge in range(graphs.EDGES):
        steps = [np.append(t[:, edge], graph_sets.NONE)[reached] for t in (graph_sets.after_absent(), graph_sets.after_present())]
        reached = np.concatenate([reached, *steps])
    return np.append(np.where(reached < 0, graph_sets.SETS, reached), graph_sets.SETS).astype(np.int32)


@table
def _code_of_bits() -> np.ndarray:
    """Sum of 3^e over the edges e in a bit set, int32 [4096]."""
    bits = np.arange(1 << graphs.EDGES)[:, None] >> np.arange(graphs.EDGES) & 1
    return (bits * 3 ** np.arange(graphs.EDGES)).sum(-1).astype(np.int32)


@table
def _edges_moved() -> np.ndarray:
    """Edges along which a potion type moves stones that stand at a set of corners, as bits, int32 [6 types, 256]."""
    corner, kind = np.arange(graphs.CORNERS), np.arange(graphs.POTION_TYPES)[:, None]
    bit = np.where((corner >> kind // 2 & 1) != kind % 2, 1 << graphs.edge_at()[corner, kind // 2], 0)
    inside = np.arange(256)[:, None] >> corner & 1
    return np.bitwise_or.reduce(inside * bit[:, None], axis=-1).astype(np.int32)


@table
def _movers() -> np.ndarray:
    """Corners at which a potion type moves a stone in a graph, as a set, int32 [109, 6]."""
    moves = graphs.transitions() != np.arange(graphs.CORNERS)[:, None]
    return (moves << np.arange(graphs.CORNERS)[:, None]).sum(1).astype(np.int32)


@table
def _set_flipped() -> np.ndarray:
    """A set of corners after corner c was renamed c ^ f, int32 [8 f, 256]."""
    corner = np.arange(graphs.CORNERS)
    inside = np.arange(256)[:, None] >> corner & 1
    return np.stack([(inside << (corner ^ f)).sum(-1) for f in range(8)]).astype(np.int32)


@table
def _set_under() -> np.ndarray:
    """A set of aligned corners under another rotation, int32 [4 r, 4 r', 256]; corners that would not be corners are left out."""
    there = frames.corner_under()[:, :, None]
    inside = np.arange(256)[:, None] >> np.arange(graphs.CORNERS) & 1
    return np.where((there >= 0) & (inside == 1), 1 << np.maximum(there, 0), 0).sum(-1).astype(np.int32)


@table
def numbers() -> np.ndarray:
    """Per set of graphs (the empty one last): graphs of weight 1, 4 and 48; weight of all; weight with each edge; int32 [SETS + 1, 16]."""
    members, weights = graph_sets.members().astype(np.int32), graphs.weights()
    counts = [members @ (weights == w) for w in (1, 4, 48)] + [members @ weights]
    rows = np.concatenate([np.stack(counts, -1), members @ (weights[:, None] * graphs.edges())], axis=1)
    return np.concatenate([rows, np.zeros((1, rows.shape[1]))]).astype(np.int32)


@table
def edge_under_flip() -> np.ndarray:
    """The edge that an edge is mirrored to on the axes in a bit set, int32 [8, 12]."""
    ends = graphs.edge_endpoints()[None] ^ np.arange(graphs.CORNERS, dtype=np.int32)[:, None, None]
    return graphs.edge_at()[ends.min(-1), graphs.edge_axis()[None]]


def posterior_of(c: Chemistry, known: knowledge.Known, *, rotation: bool = True) -> Posterior:
    """The posterior of a player who knows what `known` says.

    Args:
        c: the hidden chemistry, which decides how the tried potions turned out; int32 [] fields.
        known: see `knowledge`, two uint32 [].
        rotation: whether other rotations than the true one are considered at all.
    """
    hypotheses = jnp.arange(chem.ROTATIONS, dtype=jnp.int32) if rotation else c.rotation[None]
    seen = knowledge.seen_set(known)
    stone_maps = jnp.asarray(frames.stone_maps_left())[c.rotation, hypotheses, c.stone_map, seen]
    tried, flip = knowledge.tried_sets(known), c.stone_map ^ FLIP
    kinds = jnp.asarray(chem.type_of_colour())[c.potion_map]
    movers = jnp.asarray(_set_flipped())[flip, jnp.asarray(_movers())[c.graph, kinds]]
    aligned_kinds = kinds ^ (flip >> kinds // 2 & 1)
    present = _union(jnp.asarray(_edges_moved())[aligned_kinds, tried & movers])
    revealed = (tried & movers).reshape(3, 2).any(-1)  # perceived potion axes whose effect was seen: only the truth explains them
    truth = aligned_kinds[::2]
    stuck = tried & ~movers
    if rotation:
        # Under a wrong rotation nothing can have moved: that would have shown, see `frames.stone_maps_left`.
        stuck = jnp.asarray(_set_under())[c.rotation, :, stuck].T  # [R, 6]
        return Posterior(jax.vmap(_sets, in_axes=(0, None, None, None))(stuck, present, revealed, truth), stone_maps, hypotheses)
    return Posterior(_sets(stuck, present, revealed, truth)[None], stone_maps, hypotheses)


def _union(sets: jax.Array) -> jax.Array:
    return jax.lax.reduce(sets, np.int32(0), jax.lax.bitwise_or, (0,))


def _sets(stuck: jax.Array, present: jax.Array, revealed: jax.Array, truth: jax.Array) -> jax.Array:
    """Set of possible graphs for every potion map, int32 [48].

    Args:
        stuck: per colour, at which corners it moved nothing, int32 [6].
        present: edges that were moved along, as bits, int32 [].
        revealed: perceived potion axes whose effect was seen, bool [3].
        truth: aligned type of the first colour of every pair, int32 [3].
    """
    kind = np.arange(graphs.POTION_TYPES, dtype=np.int32)  # what the first colour of a pair might be; the second is its opposite
    moved = jnp.asarray(_edges_moved())
    pairs = stuck.reshape(3, 2, 1)
    absent = moved[kind, pairs[:, 0]] | moved[kind ^ 1, pairs[:, 1]]  # [3, 6]
    code = jnp.asarray(_code_of_bits())
    impossible = ((absent & present) != 0) | (revealed[:, None] & (truth[:, None] != kind))
    share = code[absent] + jnp.where(impossible, np.int32(_IMPOSSIBLE), 0)
    # A direction is 1 where the second colour moves up and the first one down, so it counts the first colour's types backwards.
    first = share.reshape(3, 3, 2)[..., ::-1]
    ways = [
        sum(first[order.index(k), k].reshape((1,) * (2 - k) + (2,) + (1,) * k) for k in range(3)) for order in graphs.AXIS_ORDERS
    ]  # direction of axis 0 is the lowest bit, so the last array axis
    total = jnp.stack([jnp.broadcast_to(w, (2, 2, 2)).reshape(8) for w in ways]).reshape(chem.POTION_MAPS) + 2 * code[present]
    return jnp.asarray(_set_of_code())[jnp.minimum(total, CODES)]


def _sizes(stone_maps: jax.Array) -> jax.Array:
    return jax.lax.population_count(stone_maps)


def _graphs(p: Posterior) -> jax.Array:
    """Pairs of potion map and graph of weight 1, 4 and 48 that are possible under each rotation, int32 [R, 3]."""
    return jnp.asarray(numbers()[:, :3])[p.sets].sum(1, dtype=jnp.int32)


def count_of(c: Chemistry, known: knowledge.Known, *, rotation: bool = True) -> jax.Array:
    """How many (rotation, stone map, potion map, graph) are still possible, int32 []."""
    p = posterior_of(c, known, rotation=rotation)
    return (_sizes(p.stone_maps) * _graphs(p).sum(-1, dtype=jnp.int32)).sum(dtype=jnp.int32)


def benchmark_count_of(c: Chemistry, known: knowledge.Known) -> jax.Array:
    """The benchmark tracker's number of world states, int32 []: of the first rotation that is possible, rotations not counted."""
    p = posterior_of(c, known)
    first = jnp.argmax(p.stone_maps > 0)
    return _sizes(p.stone_maps[first]) * _graphs(p)[first].sum(dtype=jnp.int32)


def entropy_of(c: Chemistry, known: knowledge.Known, *, rotation: bool = True) -> jax.Array:
    """Shannon entropy of the posterior under the benchmark's prior, in nats, float32 []."""
    p = posterior_of(c, known, rotation=rotation)
    many = (_graphs(p) * _sizes(p.stone_maps)[:, None]).sum(0, dtype=jnp.int32)
    weights = np.array([1, 4, 48], np.int32)
    total = (many * weights).sum(dtype=jnp.int32).astype(jnp.float32)
    logs = (weights * np.log(weights)).astype(np.float32)
    return jnp.log(total) - (many.astype(jnp.float32) * logs).sum(dtype=jnp.float32) / total


def marginals_of(c: Chemistry, known: knowledge.Known, *, rotation: bool = True, aligned: bool = False) -> jax.Array:
    """Exact posterior probability, under the benchmark's prior, of each of the 28 entries of `chemistry.to_vector`, float32 [28].

    Args:
        c: the hidden chemistry.
        known: see `knowledge`.
        rotation: whether other rotations are considered.
        aligned: edges and directions in the aligned frame (of each possible rotation) instead of the latent frame of the ground truth.
    """
    p = posterior_of(c, known, rotation=rotation)
    parts = jax.vmap(partial(_entry_weights, aligned=aligned))(p.sets, p.stone_maps)
    entries, total = parts[:, :-1].sum(0, dtype=jnp.int32), parts[:, -1]
    turns = (total[:, None] * (p.rotation[:, None] == np.arange(chem.ROTATIONS, dtype=np.int32))).sum(0, dtype=jnp.int32)
    mine, all_ = jnp.concatenate([entries, turns]), total.sum(dtype=jnp.int32)
    share = mine.astype(jnp.float32) / all_.astype(jnp.float32)
    return jnp.where(mine == all_, np.float32(1), share)  # what is certain is 1 however a backend divides


def _entry_weights(sets: jax.Array, stone_maps: jax.Array, *, aligned: bool) -> jax.Array:
    """Weight of the chemistries of one rotation in which each of 24 entries is 1, and of all of them, int32 [25]."""
    rows = jnp.asarray(numbers()[:, 3:])[sets]
    of_map, edge = rows[:, 0], rows[:, 1:].sum(0, dtype=jnp.int32)
    total = of_map.sum(dtype=jnp.int32)
    order = of_map.reshape(6, 8).sum(1, dtype=jnp.int32)
    up = (of_map[:, None] * chem.directions()).sum(0, dtype=jnp.int32)
    member = stone_maps >> np.arange(chem.STONE_MAPS, dtype=np.int32) & 1  # [8]
    size = member.sum(dtype=jnp.int32)
    agrees = np.arange(chem.STONE_MAPS, dtype=np.int32)[:, None] >> np.arange(3, dtype=np.int32) & 1  # [8, 3]
    stone = (member[:, None] * agrees).sum(0, dtype=jnp.int32)
    if aligned:
        edge, up = edge * size, up * size
    else:
        mirrored = edge[edge_under_flip()[np.arange(chem.STONE_MAPS) ^ FLIP]]  # [8, 12]
        edge = (member[:, None] * mirrored).sum(0, dtype=jnp.int32)
        up = (member[:, None] * jnp.where(agrees == 1, up, total - up)).sum(0, dtype=jnp.int32)
    return jnp.concatenate([edge, order * size, up, stone * total, (total * size)[None]])


# The same for states of the world.


@jax.jit
def _count(c: Chemistry, known: knowledge.Known) -> jax.Array:
    return _over_batch(count_of, c, known)


@jax.jit
def _entropy(c: Chemistry, known: knowledge.Known) -> jax.Array:
    return _over_batch(entropy_of, c, known)


def _over_batch(function: Any, c: Chemistry, known: knowledge.Known) -> jax.Array:
    batch = known[0].shape
    flat = jax.tree.map(lambda x: jnp.broadcast_to(x, batch).reshape(-1), (chem.as_int32(c), known))
    return jax.vmap(function)(*flat).reshape(batch)


def worlds(state: State) -> Any:
    """How many chemistries (rotation, stone map, potion map, graph) are still possible under the benchmark's prior.

    Args:
        state: of `world.Alchemy`, any options (their prior, where it is another, is not asked for); or a batch of states.

    Returns:
        int; NumPy int32 [...] for a batch.
    """
    count = np.asarray(_count(state.chemistry, state.known))
    return int(count) if count.ndim == 0 else count


def entropy(state: State) -> Any:
    """Shannon entropy of the posterior under the benchmark's prior, in nats: float, or NumPy float32 [...] for a batch."""
    value = np.asarray(_entropy(state.chemistry, state.known))
    return float(value) if value.ndim == 0 else value


def log_count(state: State) -> Any:
    """The paper's posterior entropy, log of how many chemistries are possible under the benchmark's prior.

    Returns:
        float; NumPy float64 [...] for a batch of states.
    """
    value = np.log(np.asarray(worlds(state), np.float64))
    return float(value) if value.ndim == 0 else value
