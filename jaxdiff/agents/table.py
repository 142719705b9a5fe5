"""Alchemy's table read out of an observation, and choices pointed back to the slots of the benchmark's 40 actions.

A choice is a stone slot and what it goes into: the cauldron or a colour. Of several potions of a colour the first is taken: they are
alike. What is possible follows from the observation's own used flags. Axes: 3 stone slots, 6 colours, 12 potion slots; choices are
1 + 3 x 7: no-op, then for every stone cauldron and colours.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxdiff.alchemy import layout
from jaxdiff.alchemy.world import Alchemy
from jaxdiff.core.errors import require

STONES, COLOURS, SLOTS = 3, 6, 12
TARGETS = 1 + COLOURS
CHOICES = 1 + STONES * TARGETS
FEATURES = 4  # of a stone: three looks and the value indicator
_EDGE = layout.STONES * layout.STONE_FIELDS


@partial(jax.tree_util.register_dataclass, data_fields=["stones", "there", "colours", "counts"], meta_fields=[])
@dataclass(frozen=True)
class Table:
    """What lies on the table, arrays with leading axes [...].

    Attributes:
        stones: looks and value indicator of every stone slot, zeros where there is none, float32 [..., 3, 4].
        there: which slots hold a stone, bool [..., 3].
        colours: colour in every potion slot, 6 where there is none, int32 [..., 12]; None where the observation shows counts.
        counts: potions of every colour, int32 [..., 6].
    """

    stones: Any
    there: Any
    colours: Any
    counts: Any


@dataclass(frozen=True)
class Interface:
    """How one configuration of Alchemy is read and acted on.

    Attributes:
        slots: whether actions name potion slots (40) or colours (22).
        counts: whether the observation shows colour counts instead of slots.
        extra: entries behind the table: clock, chemistry.
        steps: steps of a trial.
    """

    slots: bool
    counts: bool
    extra: int
    steps: int

    @property
    def table_entries(self) -> int:
        """Entries of the observation that show the table."""
        return _EDGE + (COLOURS if self.counts else 2 * SLOTS)

    def read(self, observation: jax.Array) -> Table:
        """The table, from observations [..., entries]."""
        fields = observation[..., :_EDGE].reshape(*observation.shape[:-1], STONES, layout.STONE_FIELDS)
        there = fields[..., FEATURES] < 0.5
        stones = jnp.where(there[..., None], fields[..., :FEATURES], 0)
        if self.counts:
            counts = jnp.rint(observation[..., _EDGE : _EDGE + COLOURS] * np.float32(SLOTS)).astype(jnp.int32)
            return Table(stones, there, None, counts)
        potions = observation[..., _EDGE : _EDGE + 2 * SLOTS]
        colours = jnp.rint(potions[..., ::2] * np.float32(3) + np.float32(3)).astype(jnp.int32)
        colours = jnp.where(potions[..., 1::2] < 0.5, colours, COLOURS)
        counts = (colours[..., None] == np.arange(COLOURS, dtype=np.int32)).sum(-2, dtype=jnp.int32)
        return Table(stones, there, colours, counts)

    def privileged(self, observation: jax.Array) -> jax.Array:
        """What is shown behind the table, [..., extra]."""
        return observation[..., self.table_entries :]

    def possible(self, table: Table) -> jax.Array:
        """Choices that do something, and the no-op, bool [..., 22]."""
        into = jnp.concatenate([jnp.ones_like(table.counts[..., :1], dtype=jnp.bool_), table.counts > 0], axis=-1)
        pairs = table.there[..., :, None] & into[..., None, :]
        flat = pairs.reshape(*pairs.shape[:-2], STONES * TARGETS)
        return jnp.concatenate([jnp.ones_like(flat[..., :1]), flat], axis=-1)

    def possible_actions(self, table: Table) -> jax.Array:
        """Actions that do something, and the no-op, bool [..., A]."""
        if not self.slots:
            return self.possible(table)
        into = jnp.concatenate([jnp.ones_like(table.there[..., :1]), table.colours < COLOURS], axis=-1)
        pairs = table.there[..., :, None] & into[..., None, :]
        flat = pairs.reshape(*pairs.shape[:-2], STONES * (1 + SLOTS))
        return jnp.concatenate([jnp.ones_like(flat[..., :1]), flat], axis=-1)

    def point(self, choices: jax.Array, table: Table, lowest: float) -> jax.Array:
        """Logits of the world's actions from those of choices.

        Args:
            choices: float32 [..., 22].
            table: as read.
            lowest: for slots that repeat a colour or hold nothing.
        """
        if not self.slots:
            return choices
        colours = table.colours
        # The first slot of its colour: no earlier one holds the same.
        same = colours[..., :, None] == colours[..., None, :]
        earlier = np.tril(np.ones((SLOTS, SLOTS), np.bool_), -1)
        chosen = ~(same & earlier).any(-1) & (colours < COLOURS)
        pairs = choices[..., 1:].reshape(*choices.shape[:-1], STONES, TARGETS)
        one_hot = (colours[..., None, :] == np.arange(COLOURS, dtype=np.int32)[:, None]).astype(choices.dtype)
        pointed = jnp.where(chosen[..., None, :], pairs[..., 1:] @ one_hot, np.float32(lowest))
        actions = jnp.concatenate([pairs[..., :1], pointed], axis=-1)
        flat = actions.reshape(*choices.shape[:-1], STONES * (1 + SLOTS))
        return jnp.concatenate([choices[..., :1], flat], axis=-1)

    def choice(self, action: jax.Array, table: Table) -> tuple[jax.Array, jax.Array]:
        """What an action on a table was: stone slot and colour; colour -1 is the cauldron, 6 nothing that was there; int32 [...]."""
        targets = 1 + (SLOTS if self.slots else COLOURS)
        stone, target = jnp.divmod(jnp.maximum(action - 1, 0), np.int32(targets))
        colour = target - 1
        if self.slots:
            slot = jnp.maximum(colour, 0)
            held = jnp.take_along_axis(table.colours, slot[..., None], axis=-1)[..., 0]
            colour = jnp.where(colour < 0, np.int32(-1), held)
        return stone, jnp.where(action > 0, colour, np.int32(COLOURS))


def interface(env: Alchemy) -> Interface:
    """How an Alchemy is read.

    Raises:
        InputError: an environment whose observation or actions the encoder does not know.
    """
    require(isinstance(env, Alchemy), "core", "slots", f"gru, lstm or gtrxl on {getattr(env, 'name', env)}: slots read Alchemy's table")
    require(env.observe_used, "observe_used", env.observe_used, "True, so that the slot core knows what is on the table")
    require(not env.end_trial, "end_trial", env.end_trial, "False: the slot core counts a trial's steps")
    require(env.typed_actions or not env.counts, "counts", env.counts, "False with slot actions: counts do not show which slot holds what")
    entries = len(env.observation_entries(env.default_params))
    shown = Interface(not env.typed_actions, env.counts, 0, env.steps)
    return Interface(shown.slots, shown.counts, entries - shown.table_entries, env.steps)


def slot_action(potions: layout.Words, choice: jax.Array) -> jax.Array:
    """The benchmark's number of a choice, int32 []: the first potion of the colour; nothing where none of it is left."""
    stone, target = jnp.divmod(jnp.maximum(choice - 1, 0), np.int32(TARGETS))
    slot = layout.first_slot(potions, target - 1)
    into = jnp.where(target == 0, 0, 1 + slot)
    possible = (choice > 0) & (into <= layout.POTIONS)
    return jnp.where(possible, 1 + (1 + SLOTS) * stone + into, 0).astype(jnp.int32)
