"""SAECA-v0: an elementary cellular automaton with one agent living on it (paper, Definition 5).

This is the readable definition of the world, one step at a time, in the environment protocol; `strategies` evaluates whole
populations through the packed kernels, and a test holds the two together. Order of a step: the agent has observed <c, l, r>, its
upshot changes the current cell, it moves, the automaton is updated, the reward counts the ones around the agent's new position.
Axes: N cells.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from jaxdiff.automata import eca, ring
from jaxdiff.automata.compiled import check_observation
from jaxdiff.core.environment import Environment, Transition
from jaxdiff.core.errors import InputError, require, require_integer
from jaxdiff.core.spaces import MultiDiscrete

MOVES = ("stay", "right", "left")
UPSHOTS = ("keep", "swap", "set0", "set1")
PAPER_WIDTH, PAPER_POSITION, PAPER_STEPS = 21, 10, 300
PAPER_RULES = (184, 110, 122, 164)


@partial(jax.tree_util.register_dataclass, data_fields=["rule", "cells", "position"], meta_fields=[])
@dataclass(frozen=True)
class Params:
    """One world, or a batch of R worlds of the same width.

    Attributes:
        rule: rule number 0..255, int [] or [R].
        cells: configuration at the start, uint8 [N] or [R, N].
        position: where the agent starts, 0-based, int32 [] or [R].
    """

    rule: Any
    cells: Any
    position: Any

    def __post_init__(self) -> None:
        leaves = (self.rule, self.cells, self.position)
        if not all(isinstance(x, int | np.integer | np.ndarray | jax.Array | list | tuple) for x in leaves) or any(
            isinstance(x, Tracer) for x in leaves
        ):
            return  # inside a transformation, where leaves may be anything
        eca.check_rule(self.rule)
        eca.check_cells(self.cells)
        width, position = np.shape(self.cells)[-1], np.asarray(self.position)
        wrong = position[(position < 0) | (position >= width)]
        require(wrong.size == 0, "position", wrong.flat[0] if wrong.size else None, f"0..{width - 1}, a cell of the ring (0-based)")


def paper_world(rule: Any, width: int = PAPER_WIDTH, position: int | None = None) -> Params:
    """The paper's world: configuration 0101...0, the agent at the centre (position 10 of 21 cells; the paper counts from 1).

    Args:
        rule: rule number, or several: then a batch of worlds.
        width: cells of the ring.
        position: start of the agent, 0-based; width // 2 when None.

    Raises:
        InputError: rule, width or position out of range.
    """
    require_integer("width", width, 3)
    if position is not None:
        require_integer("position", position, 0, width - 1)
    eca.check_rule(rule)
    rule = np.asarray(rule, np.int32)
    cells = np.broadcast_to(np.arange(width, dtype=np.uint8) % 2, (*rule.shape, width))
    place = width // 2 if position is None else position
    return Params(rule=rule, cells=cells, position=np.full(rule.shape, place, np.int32))


def batched(params: Params) -> tuple[np.ndarray, np.ndarray, np.ndarray, bool]:
    """Rule uint32 [R], cells uint8 [R, N], position int32 [R] on the host, and whether `params` had the axis R.

    Raises:
        InputError: the batch axes of the three do not fit together.
    """
    rule, cells, position = (np.asarray(x) for x in (params.rule, params.cells, params.position))
    try:
        batch = np.broadcast_shapes(rule.shape, cells.shape[:-1], position.shape)
    except ValueError as error:
        raise InputError(
            "params", f"with batch shapes {rule.shape}, {cells.shape[:-1]}, {position.shape}", "shapes that broadcast"
        ) from error
    require(len(batch) <= 1 and batch != (0,), "params", f"of batch shape {batch}", "one world, or one batch axis with at least one")
    count = batch[0] if batch else 1
    return (
        np.broadcast_to(rule.reshape(-1), count).astype(np.uint32),
        np.broadcast_to(cells.reshape(-1, cells.shape[-1]), (count, cells.shape[-1])).astype(np.uint8),
        np.broadcast_to(position.reshape(-1), count).astype(np.int32),
        bool(batch),
    )


@partial(jax.tree_util.register_dataclass, data_fields=["cells", "position", "time", "total"], meta_fields=[])
@dataclass(frozen=True)
class State:
    """State of an episode.

    Attributes:
        cells: configuration, uint8 [N].
        position: the agent's cell, int32 [].
        time: steps taken, int32 [].
        total: sum of reward numerators so far, uint32 [limbs], lowest first.
    """

    cells: jax.Array
    position: jax.Array
    time: jax.Array
    total: jax.Array


@dataclass(frozen=True)
class SAECA(Environment[State, Params]):
    """Single-agent elementary cellular automaton.

    Attributes:
        width: cells of the ring, at least 3.
        steps: length of an episode; its end is a truncation, since the task itself has none (the paper uses 300).
        observation: what the agent sees, in the order in which it is appended to its memory: the paper's `clr` (current, left,
            right cell), any other order of these letters, or two of them, such as `lr` (the 2-bit reading of Definition 5).
        start: position of the agent in `default_params`, 0-based; width // 2 when None (the paper's p0 = 11 of 21, counted from 1).
    """

    width: int = PAPER_WIDTH
    steps: int = PAPER_STEPS
    observation: str = "clr"
    start: int | None = None

    def __post_init__(self) -> None:
        require_integer("width", self.width, 3)
        require_integer("steps", self.steps, 1)
        require(
            ring.limbs_for(self.width, self.steps) > 0, "width", self.width, f"a width whose sum of {self.steps} rewards fits in 63 bits"
        )
        if self.start is not None:
            require_integer("start", self.start, 0, self.width - 1)
        check_observation(self.observation)

    @property
    def name(self) -> str:
        """Registered name."""
        return "SAECA-v0"

    @property
    def default_params(self) -> Params:
        """The paper's world with rule 110."""
        return paper_world(110, self.width, self.start)

    @property
    def scale(self) -> int:
        """Denominator of rewards, 2^(N // 2 + 1)."""
        return 1 << (self.width // 2 + 1)

    def observation_space(self, params: Params) -> MultiDiscrete:
        """Bits in the order of `observation`."""
        return MultiDiscrete((2,) * len(self.observation), "uint8")

    def action_space(self, params: Params) -> MultiDiscrete:
        """Move (stay, right, left) and upshot (keep, swap, set0, set1)."""
        return MultiDiscrete((len(MOVES), len(UPSHOTS)), "int32")

    def observation_entries(self, params: Params) -> tuple[str, ...]:
        """The cells that are seen, in the order in which they are appended to a policy's memory."""
        names = {"c": "cell where the agent is", "l": "cell to its left", "r": "cell to its right"}
        return tuple(names[letter] for letter in self.observation)

    def render(self, state: State, params: Params, pixels: int = 16) -> np.ndarray:
        """The ring as a row of squares, ones dark, the agent a coloured square within its cell (green on a 1, red on a 0).

        Returns:
            uint8 [pixels, N x pixels, 3].
        """
        cells = np.asarray(state.cells)
        image = np.where(cells[:, None, None, None] > 0, 30, 245) * np.ones((1, pixels, pixels, 3))
        image[:, :, -1] = 160
        inner = slice(pixels // 4, pixels - pixels // 4)
        here = int(state.position)
        image[here, inner, inner] = (90, 230, 120) if cells[here] else (230, 70, 50)
        return np.concatenate(image.astype(np.uint8), axis=1)

    def reset_env(self, key: jax.Array, params: Params) -> tuple[jax.Array, State]:
        """The start of `params`; the world is deterministic, the key decides nothing."""
        require(
            np.shape(params.cells)[-1] == self.width, "width", np.shape(params.cells)[-1], f"{self.width} cells, as the environment has"
        )
        limbs = ring.limbs_for(self.width, self.steps)
        state = State(
            cells=jnp.asarray(params.cells).astype(jnp.uint8),
            position=jnp.asarray(params.position).astype(jnp.int32),
            time=jnp.zeros((), jnp.int32),
            total=jnp.zeros((limbs,), jnp.uint32),
        )
        return self._observe(state), state

    def step_env(self, key: jax.Array, state: State, action: jax.Array, params: Params) -> Transition[State]:
        """One step.

        Args:
            key: not used.
            state: state before.
            action: move and upshot, int [2].
            params: the world.

        Returns:
            obs uint8 [3 or 2]; state; reward float32 in [0, 1]; terminated (never); truncated (after `steps`); info with
            `numerator`, the exact reward times `scale` as uint32 [limbs].
        """
        move, upshot = action[0], action[1]
        cell = state.cells[state.position]
        cells = state.cells.at[state.position].set(jnp.stack([cell, 1 - cell, jnp.zeros_like(cell), jnp.ones_like(cell)])[upshot])
        position = (state.position + jnp.asarray([0, 1, -1], jnp.int32)[move]) % self.width
        cells = self._update(cells, params)
        numerator = self._numerator(cells, position)
        new = State(cells, position, state.time + 1, jnp.stack(ring.add(tuple(state.total), tuple(numerator))))
        weights = np.float32(2.0) ** np.arange(0, 32 * len(numerator), 32, dtype=np.float32) / np.float32(self.scale)
        reward = (numerator.astype(jnp.float32) * weights).sum(dtype=jnp.float32)
        return self._observe(new), new, reward, jnp.zeros((), jnp.bool_), new.time >= self.steps, {"numerator": numerator}

    def _update(self, cells: jax.Array, params: Params) -> jax.Array:
        """The automaton's next configuration, uint8 [N]."""
        masks = eca.rule_masks(jnp.asarray(params.rule))
        return eca.unpack(eca.step_words(eca.pack(cells), masks, self.width), self.width)

    def _observe(self, state: State) -> jax.Array:
        offset = {"l": -1, "c": 0, "r": 1}
        return state.cells[(state.position + jnp.asarray([offset[letter] for letter in self.observation], jnp.int32)) % self.width]

    def _numerator(self, cells: jax.Array, position: jax.Array) -> jax.Array:
        """Sum over i = 1..N//2 of 2^(N//2 - i) (cell p+i + cell p-i), uint32 [limbs]."""
        half = self.width // 2
        distance = jnp.arange(half, 0, -1, dtype=jnp.int32)  # the farthest cell has weight 1
        both = [cells[(position + side * distance) % self.width].astype(jnp.uint32) for side in (1, -1)]
        limbs = ring.limbs_for(self.width, self.steps)
        total = (jnp.zeros((), jnp.uint32),) * limbs
        for bits in both:
            padded = jnp.pad(bits, (0, 32 * limbs - half)).reshape(limbs, 32)
            total = ring.add(total, tuple((padded << jnp.arange(32, dtype=jnp.uint32)).sum(-1, dtype=jnp.uint32)))
        return jnp.stack(total)
