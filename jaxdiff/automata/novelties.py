"""Novelties of agent-populated automata: another rule, another start, another reward, a cut ring."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxdiff.automata import eca
from jaxdiff.automata.world import MOVES, SAECA, Params, State
from jaxdiff.core import novelties
from jaxdiff.core.environment import Transition
from jaxdiff.core.errors import as_array, require
from jaxdiff.core.novelties import Novelty


def other_rule(rule: int) -> Novelty:
    """Another rule, 0 to 255."""
    eca.check_rule(rule)
    return Novelty(f"rule {rule}", "dynamics", lambda env, params: (env, replace(params, rule=np.int32(rule))))


def other_start(cells: Any) -> Novelty:
    """Another configuration at the start, bits [N]."""
    eca.check_cells(cells)
    bits = as_array("cells", cells, "bits [N]", np.uint8)

    def change(env: SAECA, params: Params) -> tuple[SAECA, Params]:
        require(bits.shape == (env.width,), "cells", f"of shape {bits.shape}", f"{env.width} bits, as the world has cells")
        return env, replace(params, cells=bits)

    return Novelty("other start", "start", change)


def inverted_reward() -> Novelty:
    """1 - reward: zeros around the agent are what counts."""
    return novelties.reward(-1, 1, "reward inverted")


def cut_ring() -> Novelty:
    """The ring is cut between its last and its first cell, see `CutRing`."""

    def change(env: SAECA, params: Params) -> tuple[CutRing, Params]:
        return CutRing(**{f.name: getattr(env, f.name) for f in fields(env)}), params

    return Novelty("ring cut", "topology", change)


@dataclass(frozen=True)
class CutRing(SAECA):
    """A row instead of a ring: beyond its ends the automaton sees zeros, and the agent stays where it is.

    What the agent observes and is rewarded for is still counted around the ring.
    """

    @property
    def name(self) -> str:
        """The world's name, marked."""
        return f"{super().name} (ring cut)"

    def step_env(self, key: jax.Array, state: State, action: jax.Array, params: Params) -> Transition[State]:
        """One step, as in the ring but for the cut."""
        ends = (state.position == self.width - 1) & (action[0] == MOVES.index("right")) | (state.position == 0) & (
            action[0] == MOVES.index("left")
        )
        action = jnp.stack([jnp.where(ends, MOVES.index("stay"), action[0]), action[1]])
        return super().step_env(key, state, action, params)

    def _update(self, cells: jax.Array, params: Params) -> jax.Array:
        rule = jnp.asarray(params.rule, jnp.int32)
        inside = super()._update(cells, params)
        zero, bits = jnp.zeros((), jnp.int32), cells.astype(jnp.int32)
        first, last = (
            (rule >> 4 * a + 2 * b + c & 1).astype(jnp.uint8) for a, b, c in ((zero, bits[0], bits[1]), (bits[-2], bits[-1], zero))
        )
        return inside.at[0].set(first).at[-1].set(last)
