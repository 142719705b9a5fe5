"""Domains that come with the library: birds, and automata, Alchemy and the class Lambda small enough to list all sequences of actions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxdiff.alchemy import layout
from jaxdiff.alchemy import novelties as alchemy_novelties
from jaxdiff.automata import novelties as automata_novelties
from jaxdiff.birds import levels as birds_levels
from jaxdiff.birds import novelties as birds_novelties
from jaxdiff.birds import physics as birds_physics
from jaxdiff.birds.play import play_levels
from jaxdiff.birds.world import Birds
from jaxdiff.birds.world import Params as BirdsParams
from jaxdiff.core import novelties as any_novelties
from jaxdiff.core.adapters import flat
from jaxdiff.core.errors import InputError
from jaxdiff.core.novelties import Novelty
from jaxdiff.core.registry import make
from jaxdiff.core.seat import OneSeat
from jaxdiff.difficulty.action_metrics import Euclidean, Hamming
from jaxdiff.populations import plans
from jaxdiff.society import graphs
from jaxdiff.society import novelties as society_novelties
from jaxdiff.society.world import Lambda
from jaxdiff.studies.reaction.domain import Domain, Levels, stacked, stream

NULL = Novelty("nothing", "appearance", lambda env, params: (env, params))


def automata(width: int = 11, steps: int = 4, rule: int = 110) -> Domain:
    """Agent-populated automata of one rule; a level is a random start.

    Args:
        width: cells.
        steps: actions of a try; all 12^steps sequences are listed.
        rule: before the novelty.
    """
    env, params = make("SAECA-v0", width=width, steps=steps)
    _, params = automata_novelties.other_rule(rule)(env, params)

    def levels(count: int, seed: int) -> Levels:
        cells = np.random.default_rng(seed).integers(0, 2, (count, width), np.uint8)
        return _levels(env, [replace(params, cells=c) for c in cells], seed)

    novelties = (
        *(automata_novelties.other_rule(other) for other in (124, 90, 30, 184, 0, 255)),
        automata_novelties.other_start(np.arange(width) % 2),
        automata_novelties.cut_ring(),
        automata_novelties.inverted_reward(),
        any_novelties.reward(1, -0.1, "reward less .1"),
        any_novelties.reward(1, 0.1, "reward more .1"),
    )
    space = env.action_space(params)
    about = f"rule {rule}, {width} cells, {steps} steps; a level is a random start, passed by what a fifth of all sequences reaches"
    every = np.asarray(flat.action(space, jnp.asarray(plans.every(space, steps))))
    return Domain("automata", about, levels, novelties, NULL, Hamming(), steps, _drawn(every), _vectors, 0.2, every=every)


def alchemy(steps: int = 4, stones: int = 2, potions: int = 4) -> Domain:
    """One short trial of symbolic Alchemy with maps that are always the same; a level is a graph and items.

    Args:
        steps: actions of a try; all sequences of those that can have an effect are listed.
        stones, potions: how many there are.
    """
    env, params = make("Alchemy-v0", random_maps=False, trials=1, steps=steps, stones=stones, potions=potions)

    def levels(count: int, seed: int) -> Levels:
        return _levels(env, [params] * count, seed)

    novelties = (
        *(alchemy_novelties.bottlenecks(count) for count in (1, 2, 3)),
        alchemy_novelties.reversed_pairs(),
        alchemy_novelties.permuted_axes(),
        alchemy_novelties.rotation(),
        alchemy_novelties.mirrored_stones(),
        any_novelties.reward(-1, 0, "reward inverted"),
        any_novelties.reward(1, -0.5, "every step costs .5"),
    )
    useful = np.array([1 + (1 + layout.POTIONS) * s + t for s in range(stones) for t in range(1 + potions)], np.int32)
    count = len(useful) ** steps
    every = useful[np.arange(count)[:, None] // len(useful) ** np.arange(steps - 1, -1, -1) % len(useful)]
    about = (
        f"one trial of {steps} steps, {stones} stones, {potions} potions, maps fixed; a level is a graph and items, passed by what a "
        "twentieth of all sequences reaches, at least 1"
    )

    def vectors(actions: np.ndarray) -> np.ndarray:
        return np.stack(np.divmod(actions - 1, 1 + layout.POTIONS), -1).astype(np.float32)  # stone and what it goes into

    return Domain("alchemy", about, levels, novelties, NULL, Hamming(), steps, _drawn(every), vectors, 0.05, 1.0, every)


SEEN = 3  # of what a seat observes: Good, Evil and its own cell, however many others there are


def society(steps: int = 6, cells: int = 6, actions: int = 4, graph: int = 3) -> Domain:
    """One seat in an environment of the class Lambda; a level is a start.

    Args:
        steps: actions of a try; all sequences are listed.
        cells: of the graph.
        actions: most actions; environments with more are passed over.
        graph: which of the environments with at most so many actions, counted from 0.
    """
    env = Lambda(cells=cells, steps=steps)
    params = _environment(cells, actions, graph)

    def levels(count: int, seed: int) -> Levels:
        return _levels(OneSeat(env, SEEN), [params] * count, seed)

    inside = [
        *(f(seed) for f in (society_novelties.edge_added, society_novelties.edge_removed, society_novelties.relabelled) for seed in (0, 1)),
        society_novelties.another_agent(),
    ]
    novelties = (
        *(_seated(n, f"{n.name} {chr(97 + i % 2)}" if i < 6 else n.name) for i, n in enumerate(inside)),
        any_novelties.reward(-1, 0, "Good is bad"),
        any_novelties.reward(1, -0.05, "every step costs .05"),
    )
    space = env.action_space(params)
    every = plans.every(space, steps)
    about = f"one seat among {cells} cells, {steps} steps; a level is a start, passed by what a fifth of all sequences reaches, above 0"
    return Domain("society", about, levels, novelties, NULL, Hamming(), steps, _drawn(every), _vectors, 0.2, 1 / 64, every)


def birds() -> Domain:
    """The slingshot world; a level is a random one that can be solved, passed when all pigs are gone."""
    env = Birds()

    @cache  # proving that levels can be solved takes time
    def levels(count: int, seed: int) -> Levels:
        numbers = birds_physics.default()
        layouts = birds_levels.generate(seed, count)
        made = _levels(env, [BirdsParams(birds_levels.take(layouts, i), numbers) for i in range(count)], seed)
        return replace(made, target=np.full(count, ALL_PIGS, np.float32))

    def solve(these: Levels, actions: np.ndarray) -> np.ndarray:
        out = play_levels(env, these.params, actions)
        return np.where(out.passed, out.birds, 0).astype(np.int32)

    def draw(key: jax.Array, shape: tuple[int, int]) -> jax.Array:
        return jax.random.uniform(key, (*shape, env.birds, 3), jnp.float32)

    about = f"a slingshot and up to {env.birds} birds; a level is a random layout, passed when all pigs are gone"
    metric = Euclidean.over(np.zeros(3), np.ones(3))
    novelties, null = birds_novelties.ours(), birds_novelties.appearance_only()
    return Domain("birds", about, levels, novelties, null, metric, env.birds, draw, lambda actions: actions, solve=solve)


ALL_PIGS = 0.999  # of a level's pigs, as a sum of parts in float32
DOMAINS: dict[str, Callable[[], Domain]] = {"birds": birds, "automata": automata, "alchemy": alchemy, "society": society}


def domain(name: str) -> Domain:
    """A domain by its name.

    Raises:
        InputError: there is none of that name.
    """
    if name not in DOMAINS:
        raise InputError("world", name, f"one of {', '.join(DOMAINS)}")
    return DOMAINS[name]()


def _levels(env: Any, params: Sequence[Any], seed: int) -> Levels:
    keys = jax.random.split(stream(seed, "levels"), len(params))
    return Levels(env, stacked(list(params)), keys, np.full(len(params), np.nan, np.float32))


def _drawn(every: np.ndarray) -> Callable[[jax.Array, tuple[int, int]], jax.Array]:
    """Uniform draws, with replacement, out of all sequences."""

    def draw(key: jax.Array, shape: tuple[int, int]) -> jax.Array:
        return jnp.asarray(every)[jax.random.randint(key, shape, 0, len(every), jnp.int32)]

    return draw


def _vectors(actions: np.ndarray) -> np.ndarray:
    """Integers, one or several an action, as coordinates."""
    return (actions[..., None] if actions.ndim == 2 else actions).astype(np.float32)


def _seated(novelty: Novelty, name: str) -> Novelty:
    """A novelty of a world, for who sits in it."""

    def change(seat: OneSeat, params: Any) -> tuple[OneSeat, Any]:
        env, params = novelty(seat.env, params)
        return replace(seat, env=env), params

    return Novelty(name, novelty.kind, change)


def _environment(cells: int, actions: int, number: int) -> Any:
    """An environment of the paper's distribution that novelties can be made of: with an action that has no effect somewhere."""
    distribution = graphs.Distribution(cells=cells, longest_pattern=64)
    drawn = jax.tree.map(np.asarray, graphs.sample(jax.random.split(jax.random.key(0), 256), distribution))
    some = [
        b
        for b in range(256)
        if 2 < drawn.actions_n[b] <= actions and (drawn.table[b, : drawn.cells_n[b], : drawn.actions_n[b]] == graphs.NO_EFFECT).any()
    ]
    one = jax.tree.map(lambda leaf: leaf[some[number]], drawn)
    return replace(one, table=one.table[:, :actions])
