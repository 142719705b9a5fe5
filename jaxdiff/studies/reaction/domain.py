"""A domain: a world, its levels, what may change in it, and how it is tried.

Levels are starts or layouts of one world: parameters with a leading axis, and a key each. A novelty is applied to each of them. For
graded rewards a level is passed when the return reaches a target that is set on the world before the novelty and kept. Axes: L levels,
M tries a level, T actions, k coordinates of an action.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxdiff.core.environment import Environment
from jaxdiff.core.errors import InputError, require, require_integer
from jaxdiff.core.novelties import Novelty
from jaxdiff.core.open_loop import returns_of_plans
from jaxdiff.difficulty.action_metrics import Metric

LANES = 1 << 16  # episodes that are played at once


@dataclass(frozen=True)
class Levels:
    """Levels of one world.

    Attributes:
        env: the world.
        params: its parameters, every leaf with a leading axis [L], on the host.
        keys: of each level's start and its world's own chance, [L].
        target: return that passes the level, float32 [L].
    """

    env: Environment[Any, Any]
    params: Any
    keys: jax.Array
    target: np.ndarray

    def __len__(self) -> int:
        return len(self.target)

    def some(self, which: slice) -> Levels:
        """A part of them."""
        return Levels(self.env, jax.tree.map(lambda leaf: leaf[which], self.params), self.keys[which], self.target[which])

    def one(self, level: int) -> Any:
        """Parameters of one."""
        return jax.tree.map(lambda leaf: leaf[level], self.params)


def stacked(params: list[Any]) -> Any:
    """Parameters of several levels as one pytree with a leading axis, on the host."""
    return jax.tree.map(lambda *leaves: np.stack([np.asarray(leaf) for leaf in leaves]), *params)


def after(levels: Levels, novelty: Novelty) -> Levels:
    """The same levels after a novelty; targets are kept.

    Raises:
        InputError: the novelty makes worlds of different shapes out of levels of one.
    """
    changed = [novelty(levels.env, levels.one(level)) for level in range(len(levels))]
    different = {env for env, _ in changed}
    require(len(different) == 1, "novelty", f"{novelty.name}, which makes {len(different)} different worlds of one", "one world")
    return replace(levels, env=changed[0][0], params=stacked([params for _, params in changed]))


@dataclass(frozen=True)
class Attempts:
    """What was tried on every level and what came of it.

    Attributes:
        length: actions after which the level was passed, int32 [L, M]; 0: not passed.
        actions: what was tried, as the world takes it, [L, M, T, ...].
    """

    length: np.ndarray
    actions: np.ndarray

    @property
    def rate(self) -> np.ndarray:
        """Share of tries that passed, float64 [L]."""
        return (self.length > 0).mean(1)


Solve = Callable[[Levels, Any], np.ndarray]


@dataclass(frozen=True)
class Domain:
    """A world, its levels and novelties, and how it is tried.

    Attributes:
        name: one word.
        about: one sentence: what a level is, what is tried, when it is passed.
        make: levels from (how many, seed); their targets may be left at NaN where `share` sets them.
        novelties: what may change.
        null: a change that does not matter.
        metric: distance of two actions.
        steps: T.
        draw: random tries from (key, [L, M]): actions [L, M, T, ...].
        coordinates: an array of actions as vectors that `metric` compares, float32 [..., T, k].
        share: the target of a level is what this share of random tries reaches, but more than the worst of them does; None: `make` sets
            targets.
        least: a target is at least this much, so that doing nothing does not pass.
        every: all tries there are, [M, T, ...], or None where they cannot be listed.
        solve: actions after which each try passes, int32 [L, M] with 0 for never; the world's own steps if not given.
    """

    name: str
    about: str
    make: Callable[[int, int], Levels]
    novelties: tuple[Novelty, ...]
    null: Novelty
    metric: Metric
    steps: int
    draw: Callable[[jax.Array, tuple[int, int]], jax.Array]
    coordinates: Callable[[np.ndarray], np.ndarray]
    share: float | None = None
    least: float = -np.inf
    every: np.ndarray | None = None
    solve: Solve | None = None

    def levels(self, count: int, seed: int) -> Levels:
        """So many levels with their targets.

        Args:
            count: L, at least 1.
            seed: of the levels, and of the random tries that set their targets.
        """
        require_integer("levels", count, 1)
        require_integer("seed", seed, 0)
        made = self.make(count, seed)
        if self.share is None:
            return made
        key = stream(seed, "targets")
        target = _targets(made, self._tries(key, count, self.every, 2000), self.share)
        return replace(made, target=np.maximum(target, np.float32(self.least)))

    def attempt(self, levels: Levels, key: jax.Array, tries: int) -> Attempts:
        """Random tries on every level.

        Args:
            levels: which.
            key: of the tries; consumed.
            tries: M, at least 1.
        """
        require_integer("tries", tries, 1)
        return self.replay(levels, np.asarray(self._tries(key, len(levels), None, tries)))

    def replay(self, levels: Levels, actions: np.ndarray) -> Attempts:
        """Given tries on every level, [L, M, T, ...]."""
        return Attempts((self.solve or _solve)(levels, actions), actions)

    def everything(self, levels: Levels) -> Attempts:
        """All tries there are on every level; only for a domain that can list them."""
        require(self.every is not None, "domain", self.name, "one whose sequences of actions can all be listed")
        assert self.every is not None
        return self.replay(levels, np.broadcast_to(self.every, (len(levels), *self.every.shape)))

    def _tries(self, key: jax.Array, count: int, every: np.ndarray | None, tries: int) -> Any:
        if every is not None:
            return np.broadcast_to(every, (count, *every.shape))
        return self.draw(key, (count, tries))


def stream(seed: int, what: str) -> jax.Array:
    """A key for one use of a seed: keys of other uses, and those split from them, are others."""
    return jax.random.fold_in(jax.random.key(seed), zlib.crc32(what.encode()))


def named(domain: Domain, name: str) -> Novelty:
    """A novelty of a domain by its name.

    Raises:
        InputError: there is none of that name.
    """
    there = {novelty.name: novelty for novelty in (*domain.novelties, domain.null)}
    if name not in there:
        raise InputError("novelty", name, f"one of {', '.join(there)}")
    return there[name]


def _targets(levels: Levels, actions: Any, share: float) -> np.ndarray:
    """What a share of the tries reaches at some step, on each level, float32 [L]; infinite where all tries reach the same."""
    best = np.sort(returns(levels, actions).max(-1), axis=1)
    reached = best[:, min(best.shape[1] - 1, int(np.ceil((1 - share) * best.shape[1])))]
    # What the worst try reaches is no achievement.
    better = np.where(best > best[:, :1], best, np.inf).min(1)
    return np.maximum(reached, better).astype(np.float32)


def _solve(levels: Levels, actions: Any) -> np.ndarray:
    reached = returns(levels, actions) >= levels.target[:, None, None]
    return np.where(reached.any(-1), reached.argmax(-1) + 1, 0).astype(np.int32)


def returns(levels: Levels, actions: Any) -> np.ndarray:
    """Return of every try after each of its steps, float32 [L, M, T], some levels at a time."""
    tries = actions.shape[1]
    chunk = max(1, min(len(levels), LANES // max(tries, 1)))
    parts = []
    for start in range(0, len(levels), chunk):
        # The last part is filled up with its last level, so that one size is compiled.
        which = np.minimum(np.arange(start, start + chunk), len(levels) - 1)
        params = jax.tree.map(lambda leaf, which=which: jnp.asarray(leaf[which]), levels.params)
        part = np.asarray(_returns(levels.env, params, jax.random.clone(levels.keys)[which], jnp.asarray(actions[which])))
        parts.append(part[: len(levels) - start])
    return np.concatenate(parts)


@partial(jax.jit, static_argnums=0)
def _returns(env: Environment[Any, Any], params: Any, keys: jax.Array, actions: jax.Array) -> jax.Array:
    return jax.vmap(partial(returns_of_plans, env))(params, keys, actions)
