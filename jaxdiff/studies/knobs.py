"""Worlds whose difficulty is known by construction: a chain or a grid with a goal, and knobs that each make it harder, all else equal.

Reaching the goal ends the episode and is worth 1 in all; knobs change when it is paid, how often actions slip, how much of the way is
rewarded, what else is seen and how much time there is. Axis: K irrelevant bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxdiff.core.environment import Environment, Transition
from jaxdiff.core.errors import require, require_integer
from jaxdiff.core.spaces import Discrete, MultiDiscrete

WAYS = ((-1, 0), (0, 1), (1, 0), (0, -1))  # rows and columns of a grid's actions: up, right, down, left


class State(NamedTuple):
    """Place, least distance so far, steps, steps left until a reached goal pays (-1: not reached), int32 []; bits int32 [K]."""

    place: jax.Array
    nearest: jax.Array
    time: jax.Array
    waiting: jax.Array
    bits: jax.Array


@dataclass(frozen=True)
class Knobs(Environment[State, Any]):
    """A chain (two actions) or a square grid (four) from one end or corner to the other; chains lead back to the start on action 0.

    Attributes:
        shape: "chain" or "grid".
        size: cells of the chain, or of a side of the grid.
        horizon: steps of an episode at most.
        delay: steps between reaching the goal and its reward, during which nothing else happens.
        irrelevant: K, random bits that are seen beside the place.
        dense: whether every step nearer to the goal than before is paid its share at once, and the goal only the rest.
    """

    shape: str = "chain"
    size: int = 5
    horizon: int = 30
    delay: int = 0
    irrelevant: int = 0
    dense: bool = False

    def __post_init__(self) -> None:
        require(self.shape in ("chain", "grid"), "shape", self.shape, "chain or grid")
        require_integer("size", self.size, 2)
        require_integer("horizon", self.horizon, 1)
        require_integer("delay", self.delay, 0)
        require_integer("irrelevant", self.irrelevant, 0, 10)

    @property
    def name(self) -> str:
        """Its knobs."""
        extra = f", delay {self.delay}" * (self.delay > 0) + f", {self.irrelevant} irrelevant bits" * (self.irrelevant > 0)
        return f"{self.shape} of {self.size}, {self.horizon} steps{extra}{', dense' if self.dense else ''}"

    @property
    def cells(self) -> int:
        """Number of places."""
        return self.size if self.shape == "chain" else self.size**2

    @property
    def distance(self) -> int:
        """Steps from start to goal."""
        return self.size - 1 if self.shape == "chain" else 2 * (self.size - 1)

    @property
    def default_params(self) -> np.float32:
        """How often an action is replaced by a random one."""
        return np.float32(0)

    def reset_env(self, key: jax.Array, params: Any) -> tuple[jax.Array, State]:
        """At the start. The key is consumed."""
        zero = jnp.zeros((), jnp.int32)
        state = State(zero, zero + self.distance, zero, zero - 1, self._bits(key))
        return self._observe(state), state

    def step_env(self, key: jax.Array, state: State, action: jax.Array, params: Any) -> Transition[State]:
        """One step: reward float32 []; terminated where the goal has paid, truncated after `horizon` steps."""
        key_slip, key_action, key_bits = jax.random.split(key, 3)
        actions = 2 if self.shape == "chain" else 4
        other = jax.random.randint(key_action, (), 0, actions, dtype=jnp.int32)
        action = jnp.where(jax.random.uniform(key_slip, (), jnp.float32) < params, other, jnp.asarray(action).astype(jnp.int32))
        moved = self._moved(state.place, action)
        place = jnp.where(state.waiting >= 0, state.place, moved)
        away = self._away(place)
        reached = (away == 0) & (state.waiting < 0)
        waiting = jnp.where(reached, self.delay, state.waiting - (state.waiting > 0)).astype(jnp.int32)
        pays = waiting == 0
        nearer = jnp.maximum(state.nearest - away, 0).astype(jnp.float32) / jnp.float32(2 * self.distance)
        goal = jnp.where(pays, jnp.float32(0.5 if self.dense else 1.0), jnp.float32(0))
        reward = goal + (nearer if self.dense else jnp.float32(0))
        new = State(place, jnp.minimum(state.nearest, away).astype(jnp.int32), state.time + 1, waiting, self._bits(key_bits))
        return self._observe(new), new, reward, pays, new.time >= self.horizon, {}

    def observation_space(self, params: Any) -> MultiDiscrete:
        """Place, whether the goal has been reached, irrelevant bits."""
        return MultiDiscrete((self.cells, 2, *(2,) * self.irrelevant))

    def action_space(self, params: Any) -> Discrete:
        """Back or on; up, right, down or left."""
        return Discrete(2 if self.shape == "chain" else 4)

    def observation_entries(self, params: Any) -> tuple[str, ...]:
        """What every entry is."""
        return ("place", "whether the goal has been reached", *("irrelevant" for _ in range(self.irrelevant)))

    def _moved(self, place: jax.Array, action: jax.Array) -> jax.Array:
        if self.shape == "chain":
            return jnp.where(action == 1, jnp.minimum(place + 1, self.size - 1), 0).astype(jnp.int32)
        row, column = place // self.size, place % self.size
        d_row, d_column = (jnp.array(d, jnp.int32)[action] for d in zip(*WAYS, strict=True))
        row, column = (jnp.clip(x, 0, self.size - 1) for x in (row + d_row, column + d_column))
        return (row * self.size + column).astype(jnp.int32)

    def _away(self, place: jax.Array) -> jax.Array:
        if self.shape == "chain":
            return self.size - 1 - place
        return 2 * (self.size - 1) - place // self.size - place % self.size

    def _bits(self, key: jax.Array) -> jax.Array:
        return jax.random.randint(key, (self.irrelevant,), 0, 2, dtype=jnp.int32)

    def _observe(self, state: State) -> jax.Array:
        return jnp.concatenate([jnp.stack([state.place, (state.waiting >= 0).astype(jnp.int32)]), state.bits])

    def best_return(self, slip: float = 0.0) -> float:
        """Highest mean return of any policy: the chance of reaching the goal in time, by value iteration.

        Args:
            slip: how often an action is replaced by a random one.

        Raises:
            InputError: a dense reward whose actions slip, where the way counts as well.
        """
        require(not self.dense or slip == 0, "slip", slip, "0 where rewards are dense")
        places = np.arange(self.cells)
        actions = 2 if self.shape == "chain" else 4
        if self.shape == "chain":
            after = np.stack([np.zeros_like(places), np.minimum(places + 1, self.size - 1)], 1)
        else:
            row, column = np.divmod(places, self.size)
            ways = [(np.clip(row + r, 0, self.size - 1), np.clip(column + c, 0, self.size - 1)) for r, c in WAYS]
            after = np.stack([r * self.size + c for r, c in ways], 1)
        chance = (places == self.cells - 1).astype(np.float64)
        for _ in range(max(self.horizon - self.delay, 0)):
            ahead = chance[after]
            best = (1 - slip) * ahead.max(1) + slip * ahead.sum(1) / actions
            chance = np.where(places == self.cells - 1, 1.0, best)
        return float(chance[0])


@dataclass(frozen=True)
class Timeless(Knobs):
    """The same world without a clock, for tables of its transitions: who uses them ends episodes after `horizon` steps."""

    def step_env(self, key: jax.Array, state: State, action: jax.Array, params: Any) -> Transition[State]:
        """One step, after which no time has passed; how near the goal has been is forgotten where it pays nothing."""
        obs, state, reward, terminated, _, info = super().step_env(key, state, action, params)
        nearest = state.nearest if self.dense else jnp.full_like(state.nearest, self.distance)
        state = state._replace(time=jnp.zeros_like(state.time), nearest=nearest)
        return obs, state, reward, terminated, jnp.zeros_like(terminated), info
