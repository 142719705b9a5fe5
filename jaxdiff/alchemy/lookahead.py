"""Soft-max policies that look one step ahead, with and without knowing that potions come in opposite pairs.

Source: Wang et al. 2021, section 4.2, Figure 3.
Both keep an exact posterior over what potions do and over the graph, predict what each action would do to the stones, and choose with
probability proportional to exp(inverse temperature x expected sum of stone values); a cashed stone counts with what it paid. "paired" knows
that two colours are opposites (48 maps of potions); "unpaired" gives each colour one of the six effects independently (6^6 maps, kept
exactly: given the graph, colours are independent); "bijections" knows that all effects differ (6! maps). They run as agents, and as
models of anybody's actions.

Stones are taken in the aligned frame, that is, the rotation is known. An action is a stone's slot and a container: colours 0..5, or the
cauldron (6). Potions of one colour are as many actions of equal value. Axes: E episodes, R trials, A actions, G = 109 graphs, H maps of
potions. Source for what the paper leaves open: none; the choices are those above.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import permutations
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxdiff.alchemy import chemistry as chemistries
from jaxdiff.alchemy import graphs, items, played
from jaxdiff.alchemy.logs import PADDING, Log
from jaxdiff.core.errors import require

if TYPE_CHECKING:
    from jax.typing import ArrayLike

    from jaxdiff.alchemy.chemistry import Chemistry

MODELS = ("paired", "unpaired", "bijections")
CAULDRON = 6  # as a container
_VALUES = (-3.0, -1.0, 1.0, 15.0)  # by number of positive latent coordinates


# ---- beliefs about potions and graph


@dataclass(frozen=True)
class Maps:
    """A posterior over listed maps of potions x graphs: bool [H, G].

    Attributes:
        kind: which maps.
    """

    kind: str

    def types(self) -> np.ndarray:
        """Type of each colour under each map, int32 [H, 6]."""
        if self.kind == "paired":
            return chemistries.type_of_colour()
        return np.array(list(permutations(range(items.TYPES))), np.int32)

    def start(self) -> jax.Array:
        """Nothing known."""
        return jnp.ones((len(self.types()), graphs.COUNT), bool)

    def moves(self, belief: jax.Array, corner: jax.Array) -> jax.Array:
        """Probability that each colour moves a stone at an aligned corner along each axis, float32 [6, 3]."""
        weight = belief * jnp.asarray(graphs.prior(), jnp.float32)
        edges = weight @ jnp.asarray(graphs.edges(), jnp.float32)[:, jnp.asarray(graphs.edge_at())[corner]]  # [H, axis]
        types = self.types()
        along = (types[..., None] >> 1 == np.arange(items.AXES)) & _sides(corner)[types][..., None]  # [H, colour, axis]
        return jnp.einsum("hjk,hk->jk", along.astype(jnp.float32), edges) / weight.sum()

    def after(self, belief: jax.Array, corner: jax.Array, colour: jax.Array, axis: jax.Array) -> jax.Array:
        """The posterior after a colour moved a stone along an axis, or did not move it (axis -1)."""
        kind = jnp.asarray(self.types())[:, colour]
        moves = _sides(corner)[kind][:, None] & _edges_along(corner)[:, kind >> 1].T
        return belief & jnp.where(axis < 0, ~moves, moves & (kind >> 1 == axis)[:, None])


@dataclass(frozen=True)
class Independent:
    """A posterior in which each colour has one of six effects, independently of the others given the graph: bool [G, colour, type]."""

    def start(self) -> jax.Array:
        """Nothing known."""
        return jnp.ones((graphs.COUNT, items.TYPES, items.TYPES), bool)

    def moves(self, belief: jax.Array, corner: jax.Array) -> jax.Array:
        """As `Maps.moves`."""
        count = belief.sum(-1, dtype=jnp.float32)
        weight = jnp.asarray(graphs.prior(), jnp.float32) * jnp.prod(count / items.TYPES, axis=-1)
        share = jnp.where(belief, weight[:, None, None] / jnp.maximum(count, 1)[..., None], 0)
        axis = jnp.arange(items.AXES)
        kind = 2 * axis + (1 - (corner >> axis & 1))  # the type that moves along each axis
        return jnp.einsum("gjk,gk->jk", share[:, :, kind], _edges_along(corner).astype(jnp.float32)) / weight.sum()

    def after(self, belief: jax.Array, corner: jax.Array, colour: jax.Array, axis: jax.Array) -> jax.Array:
        """As `Maps.after`."""
        kind = jnp.arange(items.TYPES)
        moves = _sides(corner)[kind] & _edges_along(corner)[:, kind >> 1]
        keep = jnp.where(axis < 0, ~moves, moves & (kind >> 1 == axis))
        return belief.at[:, colour].set(belief[:, colour] & keep)


def _sides(corner: jax.Array) -> jax.Array:
    """Whether a potion of each type would move away from a corner if the edge exists, bool [6]."""
    kind = jnp.arange(items.TYPES)
    return (corner >> (kind >> 1) & 1) != (kind & 1)


def _edges_along(corner: jax.Array) -> jax.Array:
    """Whether each graph has the edge at a corner along each axis, bool [G, 3]."""
    return jnp.asarray(graphs.edges(), bool)[:, jnp.asarray(graphs.edge_at())[corner]]


def _model(name: str) -> Maps | Independent:
    require(name in MODELS, "model", name, " or ".join(repr(m) for m in MODELS))
    return Independent() if name == "unpaired" else Maps(name)


# ---- one step ahead


class _Episode(NamedTuple):
    """What stays: corner after each potion type int32 [8, 6], type of each colour int32 [6], reflected axes (bits) int32 []."""

    effects: jax.Array
    types: jax.Array
    reflected: jax.Array


class _Table(NamedTuple):
    """Belief about potions, reflections still possible bool [8], latent corners int32 [3] (8: used), potions of each colour int32 [6]."""

    belief: Any
    maps: jax.Array
    corners: jax.Array
    counts: jax.Array


def _shown() -> jax.Array:
    """Positive coordinates of latent corners, and 0 for an absent stone, int32 [9]."""
    return jnp.asarray([c.bit_count() for c in range(items.CORNERS)] + [0], jnp.int32)


def action_values(model: Maps | Independent, episode: _Episode, table: _Table) -> tuple[jax.Array, jax.Array]:
    """Expected sum of stone values after each action, and how many actions are of that kind, float32 [3, 7] and int32 [3, 7]."""
    there = table.corners != items.ABSENT
    shown = _shown()[table.corners]
    values = jnp.asarray(_VALUES, jnp.float32)
    total = jnp.where(there, values[shown], 0).sum()
    aligned = (table.corners % items.CORNERS) ^ episode.reflected
    moves = jax.vmap(model.moves, (None, 0))(table.belief, aligned)  # [stone, colour, axis]
    up = jax.vmap(_probability_up, (None, 0))(table.maps, aligned)  # [stone, axis]
    better, worse = values[jnp.minimum(shown + 1, 3)], values[jnp.maximum(shown - 1, 0)]
    change = up * (better - values[shown])[:, None] + (1 - up) * (worse - values[shown])[:, None]
    expected = total + jnp.einsum("sjk,sk->sj", moves, change)
    q = jnp.concatenate([expected, jnp.full((items.STONES, 1), total)], 1)
    number = jnp.concatenate([jnp.broadcast_to(table.counts, (items.STONES, items.TYPES)), jnp.ones((items.STONES, 1), jnp.int32)], 1)
    return q, jnp.where(there[:, None], number, 0)


def _probability_up(maps: jax.Array, aligned: jax.Array) -> jax.Array:
    """Probability that moving along each axis raises a stone's value, float32 [3]."""
    axis = jnp.arange(items.AXES)
    reflection = jnp.arange(items.CORNERS)[:, None]
    latent = (aligned ^ reflection) >> axis & 1
    return (maps[:, None] & (latent == 0)).sum(0, dtype=jnp.float32) / jnp.maximum(maps.sum(dtype=jnp.float32), 1)


def _look(table: _Table, episode: _Episode, corners: jax.Array) -> jax.Array:
    """Reflections that agree with the values of stones at latent corners [3]."""
    aligned = (corners % items.CORNERS) ^ episode.reflected
    supposed = _shown()[aligned ^ jnp.arange(items.CORNERS, dtype=jnp.int32)[:, None]]
    return table.maps & ((supposed == _shown()[corners]) | (corners == items.ABSENT)).all(1)


def _apply(model: Maps | Independent, episode: _Episode, table: _Table, stone: jax.Array, container: jax.Array, real: jax.Array) -> _Table:
    """The table after an action that is real; else as it was."""
    corner = table.corners[stone]
    colour = jnp.minimum(container, items.TYPES - 1)
    use = real & (container < CAULDRON)
    moved = episode.effects[corner % items.CORNERS, episode.types[colour]]
    after = jnp.where(use, moved, jnp.where(real, items.ABSENT, corner))
    aligned, difference = (corner % items.CORNERS) ^ episode.reflected, corner ^ moved
    axis = jnp.where(difference == 0, -1, jnp.where(difference == 4, 2, difference - 1))
    belief = model.after(table.belief, aligned, colour, axis)
    belief = jnp.where(use, belief, table.belief)
    counts = table.counts.at[colour].add(-use.astype(jnp.int32))
    corners = table.corners.at[stone].set(after)
    return _Table(belief, _look(table, episode, corners), corners, counts)


def _episodes(chemistry: Chemistry, stones: ArrayLike, potions: ArrayLike) -> tuple[_Episode, jax.Array, jax.Array, jax.Array]:
    """Episodes [E], stones int32 [E, R, 3], colours int32 [E, R, 12], counts int32 [E, R, 6]."""
    given = played.checked(chemistry, stones, potions)
    require(given.potions.ndim == 3, "potions", f"an array of shape {given.potions.shape}", "[episodes, trials, 12]")
    types = chemistries.type_of_colour()[given.potion_map]
    colours = np.take_along_axis(chemistries.colour_of_type()[given.potion_map][:, None], given.potions, -1)
    counts = (colours[..., None] == np.arange(items.TYPES)).sum(-2)
    episode = _Episode(*(jnp.asarray(a, jnp.int32) for a in (graphs.transitions()[given.graph], types, 7 ^ given.stone_map)))
    return episode, jnp.asarray(given.stones, jnp.int32), jnp.asarray(colours, jnp.int32), jnp.asarray(counts, jnp.int32)


# ---- as a model of logged actions


class Choices(NamedTuple):
    """What a model thought of the actions that a log's player could take.

    Attributes:
        q: expected sum of stone values after each, float32 [E, R, A, 3, 7].
        number: how many actions are of that kind, int32 [E, R, A, 3, 7]; 0 where there is none.
        taken: which was taken, stone x 7 + container, int32 [E, R, A]; -1 where the log has ended.
    """

    q: np.ndarray
    number: np.ndarray
    taken: np.ndarray


@partial(jax.jit, static_argnums=0)
def _along(model: Maps | Independent, episode: _Episode, stones: jax.Array, counts: jax.Array, log: tuple[jax.Array, jax.Array]) -> Any:
    """One chunk of episodes; log: stones and containers int32 [E, R, A], container -1 where the log has ended."""

    def one(episode: _Episode, stones: jax.Array, counts: jax.Array, log: tuple[jax.Array, jax.Array]) -> Any:
        def act(table: _Table, action: tuple[jax.Array, jax.Array]) -> tuple[_Table, Any]:
            stone, container = action
            values = action_values(model, episode, table)
            return _apply(model, episode, table, stone, jnp.maximum(container, 0), container >= 0), values

        def trial(carry: tuple[Any, jax.Array], given: tuple[Any, ...]) -> tuple[tuple[Any, jax.Array], Any]:
            corners, counts, log = given
            table = _Table(*carry, corners, counts)
            table = table._replace(maps=_look(table, episode, corners))
            table, values = jax.lax.scan(act, table, log)
            return (table.belief, table.maps), values

        return jax.lax.scan(trial, (model.start(), jnp.ones(items.CORNERS, bool)), (stones, counts, log))[1]

    return jax.vmap(one)(episode, stones, counts, log)


def choices(model: str, chemistry: Chemistry, stones: ArrayLike, potions: ArrayLike, log: Log, *, chunk: int = 100) -> Choices:
    """What a model expects of every possible action along logged play.

    Args:
        model: one of `MODELS`.
        chemistry: fields int [E].
        stones: latent corners, int [E, R, 3].
        potions: latent types, int [E, R, 12].
        log: of the same episodes.
        chunk: episodes at a time.

    Raises:
        InputError: unknown model, wrong shapes, or a log of other episodes.
    """
    chosen = _model(model)
    episode, corners, colours, counts = _episodes(chemistry, stones, potions)
    require(
        log.stone.shape[:2] == corners.shape[:2],
        "log",
        f"of shape {log.stone.shape}",
        f"{corners.shape[:2]} episodes and trials, as the stones",
    )
    slot = np.clip(log.potion, 0, None)
    container = np.where(log.potion < 0, CAULDRON, np.take_along_axis(np.asarray(colours), slot, -1))
    container = np.where(log.potion == PADDING, -1, container).astype(np.int32)
    stone = np.clip(log.stone, 0, None).astype(np.int32)
    parts = []
    for low in range(0, len(stone), chunk):
        part = slice(low, low + chunk)
        given = jax.tree.map(lambda a, part=part: a[part], episode)
        q, number = _along(chosen, given, corners[part], counts[part], (jnp.asarray(stone[part]), jnp.asarray(container[part])))
        parts.append((np.asarray(q), np.asarray(number)))
    q, number = (np.concatenate(column) for column in zip(*parts, strict=True))
    taken = np.where(container >= 0, stone * (CAULDRON + 1) + container, -1)
    return Choices(q, number, taken)


# ---- as an agent


@partial(jax.jit, static_argnums=0)
def _run(
    model: Maps | Independent, beta: jax.Array, key: jax.Array, episode: _Episode, stones: jax.Array, colours: jax.Array, counts: jax.Array
) -> Any:
    noise = jax.random.gumbel(key, (*stones.shape[:2], played.STEPS, items.STONES, CAULDRON + 1), jnp.float32)

    def one(episode: _Episode, *given: jax.Array) -> Any:
        def act(carry: tuple[_Table, jax.Array], noise: jax.Array) -> tuple[tuple[_Table, jax.Array], Any]:
            table, slots = carry
            q, number = action_values(model, episode, table)
            scores = jnp.where(number > 0, beta * q + jnp.log(number.astype(jnp.float32)) + noise, -jnp.inf)
            stone, container = jnp.divmod(jnp.argmax(scores).astype(jnp.int32), CAULDRON + 1)
            real = (number > 0).any()
            slot = jnp.argmax(slots == container).astype(jnp.int32)
            reward = jnp.where(real & (container == CAULDRON), jnp.asarray(items.VALUES, jnp.int32)[table.corners[stone]], 0)
            action = jnp.where(real, played.action(stone, jnp.where(container == CAULDRON, -1, slot)), 0)
            used = real & (container < CAULDRON)
            slots = slots.at[slot].set(jnp.where(used, -1, slots[slot]))
            return (_apply(model, episode, table, stone, container, real), slots), (action, reward)

        def trial(carry: tuple[Any, jax.Array], given: tuple[Any, ...]) -> tuple[tuple[Any, jax.Array], Any]:
            corners, colours, counts, noise = given
            table = _Table(*carry, corners, counts)
            table = table._replace(maps=_look(table, episode, corners))
            (table, _), (actions, rewards) = jax.lax.scan(act, (table, colours), noise)
            return (table.belief, table.maps), (actions, rewards.sum(dtype=jnp.int32))

        return jax.lax.scan(trial, (model.start(), jnp.ones(items.CORNERS, bool)), given)[1]

    return jax.vmap(one)(episode, stones, colours, counts, noise)


@dataclass(frozen=True)
class Lookahead:
    """The policy as an agent.

    Attributes:
        model: one of `MODELS`.
        beta: inverse temperature, per point of value.
    """

    model: str = "paired"
    beta: float = 2.0

    def __post_init__(self) -> None:
        _model(self.model)
        require(np.isfinite(self.beta) and self.beta >= 0, "beta", self.beta, "a number of at least 0")

    def play(self, chemistry: Chemistry, stones: ArrayLike, potions: ArrayLike, *, key: jax.Array | None = None) -> played.Play:
        """Play episodes: chemistry [E], latent stones int [E, R, 3] and potions int [E, R, 12]; see `heuristics.Heuristic.play`."""
        episode, corners, colours, counts = _episodes(chemistry, stones, potions)
        key = jax.random.key(0) if key is None else key
        return played.Play(*_run(_model(self.model), jnp.float32(self.beta), key, episode, corners, colours, counts))
