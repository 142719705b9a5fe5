"""The object-centric core for Alchemy: one recurrent slot for every potion colour, all with the same weights.

A slot is told of every use of a potion: the stone before and after, and whether the potion was of the slot's own colour, of the opposite
one, or another. So what is learned for one colour holds for all six. A scorer with shared weights rates every (stone, colour) pair; the
value pools over pairs. Axes: B environments, T steps, 3 stones, 6 colours (opposites are 2 k and 2 k + 1), H units of a slot, S of the
scorer.
"""

from __future__ import annotations

from functools import partial

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np

from jaxdiff.agents.inputs import Inputs
from jaxdiff.agents.networks.gru import GRU
from jaxdiff.agents.networks.heads import MASKED, Output
from jaxdiff.agents.networks.initial import UNIFORM, scaled
from jaxdiff.agents.table import COLOURS, STONES, Interface, Table

OWN, OPPOSITE, OTHER = range(3)
_Dense = partial(nn.Dense, param_dtype=jnp.float32, kernel_init=UNIFORM)


class Events(nn.Module):
    """What every slot is told at a step, [..., 6, E].

    Attributes:
        interface: how the world is read.
        units: E.
    """

    interface: Interface
    units: int

    @nn.compact
    def __call__(self, inputs: Inputs) -> tuple[jax.Array, jax.Array]:
        """Inputs [...] -> told float32 [..., 6, E], and whether anything happened, bool [...]."""
        before, now = self.interface.read(inputs.before), self.interface.read(inputs.observation)
        stone, colour = self.interface.choice(inputs.action, before)
        # The observation after a trial's last action shows the next trial's stones already: that outcome is never seen.
        fresh = inputs.is_first | (inputs.clock % np.int32(self.interface.steps) == 0)
        used = (colour >= 0) & (colour < COLOURS) & ~fresh
        which = (stone[..., None] == np.arange(STONES, dtype=np.int32)).astype(jnp.float32)
        used &= (which * before.there).sum(-1, dtype=jnp.float32) > 0
        old, new = (jnp.einsum("...s,...sf->...f", which, table.stones) for table in (before, now))
        told = _Dense(3 * self.units, name="event")(jnp.concatenate([old, new, new - old], axis=-1))
        told = jax.nn.relu(told.reshape(*told.shape[:-1], 3, self.units))
        slots = np.arange(COLOURS, dtype=np.int32)
        mine = colour[..., None] == slots
        opposite = (colour[..., None] ^ 1) == slots
        told = jnp.where(
            mine[..., None],
            told[..., OWN, None, :],
            jnp.where(opposite[..., None], told[..., OPPOSITE, None, :], told[..., OTHER, None, :]),
        )
        return jnp.where(used[..., None, None], told, 0), used


class Slots(nn.Module):
    """The core: a GRU of H units, run over B x 6 slots; its memory is float32 [B, 6, H].

    Attributes:
        units: H.
    """

    units: int

    def setup(self) -> None:
        """One set of weights for all slots."""
        self.core = GRU(self.units)

    @nn.nowrap
    def initial(self, rows: int) -> jax.Array:
        """Memory at the start of episodes."""
        return jnp.zeros((rows, COLOURS, self.units), jnp.float32)

    def step(self, memory: jax.Array, x: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        """One step: memory [B, 6, H], x (told [B, 6, E], happened [B]) -> memory, output [B, 6, H]."""
        told, happened = x
        after, _ = self.core.step(memory.reshape(-1, self.units), told.reshape(-1, told.shape[-1]))
        after = jnp.where(happened[:, None, None], after.reshape(memory.shape), memory)
        return after, after

    def unroll(self, memory: jax.Array, xs: tuple[jax.Array, jax.Array], is_first: jax.Array) -> tuple[jax.Array, jax.Array]:
        """T steps: memory [B, 6, H], xs (told [T, B, 6, E], happened [T, B]), is_first bool [T, B] -> memory, outputs [T, B, 6, H]."""
        told, happened = xs
        steps, batch = is_first.shape
        rows = (steps, batch * COLOURS)
        first, happened = (jnp.broadcast_to(a[..., None], (steps, batch, COLOURS)).reshape(rows) for a in (is_first, happened))
        last, out = self.core.unroll(memory.reshape(-1, self.units), told.reshape(*rows, -1), first, happened)
        return last.reshape(memory.shape), out.reshape(steps, batch, COLOURS, self.units)


class PairScorer(nn.Module):
    """Logits of choices and the value, from slots and the table.

    Attributes:
        interface: how the world is read.
        units: S.
        trials: of an episode, for the clock.
    """

    interface: Interface
    units: int
    trials: int

    @nn.compact
    def __call__(self, slots: jax.Array, inputs: Inputs) -> Output:
        """Slots [..., 6, H], inputs [...] -> output with logits of the world's actions."""
        table = self.interface.read(inputs.observation)
        clock = self._clock(inputs, table)
        counts = table.counts.astype(jnp.float32)[..., None] * np.float32(1 / 4)
        opposite = counts.reshape(*counts.shape[:-2], COLOURS // 2, 2, 1)[..., ::-1, :].reshape(counts.shape)
        colours = jnp.concatenate([slots, counts, (counts > 0).astype(jnp.float32), opposite], axis=-1)
        stones = jnp.concatenate([table.stones, table.there[..., None].astype(jnp.float32)], axis=-1)
        pooled = [jax.nn.relu(_Dense(self.units, name="pool_colours")(colours)).mean(-2)]
        pooled.append(jax.nn.relu(_Dense(self.units, name="pool_stones")(stones)).sum(-2))
        context = jax.nn.relu(_Dense(self.units, name="context")(jnp.concatenate([*pooled, clock], axis=-1)))
        # The first layer of the scorer is additive in stone, colour and context: three small products instead of one for every pair.
        of_stone = _Dense(self.units, use_bias=False, name="of_stone")(stones)
        of_colour = _Dense(self.units, use_bias=False, name="of_colour")(colours)
        of_context = _Dense(self.units, name="of_context")(context)
        stone_side = (of_stone + of_context[..., None, :])[..., :, None, :]
        pairs = jax.nn.relu(stone_side + of_colour[..., None, :, :])  # [..., 3, 6, S]
        small = scaled(0.1)
        rated = _Dense(1, kernel_init=small, name="rate")(pairs)[..., 0]
        cash = jax.nn.relu(stone_side[..., 0, :] + pairs.mean(-2))
        cash = _Dense(1, kernel_init=small, name="cash")(cash)
        wait = _Dense(1, kernel_init=small, name="wait")(context)
        targets = jnp.concatenate([cash, rated], axis=-1)
        choices = jnp.concatenate([wait, targets.reshape(*targets.shape[:-2], -1)], axis=-1)
        possible = self.interface.possible(table)
        choices = jnp.where(possible, choices, np.float32(MASKED))
        summary = jnp.concatenate([context, pairs.mean((-3, -2))], axis=-1)
        value = _Dense(1, name="value")(jax.nn.relu(_Dense(self.units, name="summary")(summary)))[..., 0]
        return Output(self.interface.point(choices, table, MASKED), value, slots)

    def _clock(self, inputs: Inputs, table: Table) -> jax.Array:
        steps = self.interface.steps
        trial, step = jnp.divmod(inputs.clock, np.int32(steps))
        left = [1 - step.astype(jnp.float32) * np.float32(1 / steps), trial.astype(jnp.float32) * np.float32(1 / self.trials)]
        left.append((trial == 0).astype(jnp.float32))
        parts = [jnp.stack(left, axis=-1), self.interface.privileged(inputs.observation)]
        return jnp.concatenate(parts, axis=-1)
