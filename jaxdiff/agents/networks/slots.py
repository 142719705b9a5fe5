"""The object-centric core for Alchemy: one recurrent slot for every potion colour, all with the same weights.

A slot is told of every use of a potion: the stone before and after, and whether the potion was of the slot's own colour, of the opposite
one, or another. So what is learned for one colour holds for all six. A scorer with shared weights rates every (stone, colour) pair; the
value pools over pairs. Axes: B environments, T steps, 3 stones, 6 colours (opposites are 2 k and 2 k + 1), H units of a slot, S of the
scorer.
"""

from __future__ import annotations

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np

from jaxdiff.agents.inputs import Inputs
from jaxdiff.agents.networks.dense import Dense, shifted, total
from jaxdiff.agents.networks.gru import GRU
from jaxdiff.agents.networks.heads import MASKED, Output
from jaxdiff.agents.networks.initial import scaled
from jaxdiff.agents.table import COLOURS, STONES, Interface, Table

OWN, OPPOSITE, OTHER = range(3)
BLOCK = 20  # steps that are scored at once while learning: what lies between fits into a core's cache
# What own, opposite and other slots are told, float32 [..., 3, E]; which of them a slot is, int32 [..., 6]; whether anything happened.
Happened = tuple[jax.Array, jax.Array, jax.Array]


class Events(nn.Module):
    """What slots are told at a step.

    Attributes:
        interface: how the world is read.
        units: E.
    """

    interface: Interface
    units: int

    @nn.compact
    def __call__(self, inputs: Inputs) -> Happened:
        """Inputs [...] -> what happened."""
        before, now = self.interface.read(inputs.before), self.interface.read(inputs.observation)
        stone, colour = self.interface.choice(inputs.action, before)
        # The observation after a trial's last action shows the next trial's stones already: that outcome is never seen.
        fresh = inputs.is_first | (inputs.clock % np.int32(self.interface.steps) == 0)
        used = (colour >= 0) & (colour < COLOURS) & ~fresh
        which = (stone[..., None] == np.arange(STONES, dtype=np.int32)).astype(jnp.float32)
        used &= (which * before.there).sum(-1, dtype=jnp.float32) > 0
        old, new = (jnp.einsum("...s,...sf->...f", which, table.stones) for table in (before, now))
        told = jax.nn.relu(Dense(3 * self.units, name="event")(jnp.concatenate([old, new, new - old], axis=-1)))
        told = jnp.where(used[..., None], told, 0).reshape(*used.shape, 3, self.units)
        slots = np.arange(COLOURS, dtype=np.int32)
        away = colour[..., None] ^ slots
        kinds = jnp.where(away == 0, OWN, jnp.where(away == 1, OPPOSITE, OTHER)).astype(jnp.int32)
        return told, kinds, used


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

    def step(self, memory: jax.Array, x: Happened) -> tuple[jax.Array, jax.Array]:
        """One step: memory [B, 6, H], what happened [B] -> memory, output [B, 6, H]."""
        told, kinds, happened = x
        after, _ = self.core.step(memory.reshape(-1, self.units), told, kinds)
        after = jnp.where(happened[:, None, None], after.reshape(memory.shape), memory)
        return after, after

    def unroll(self, memory: jax.Array, xs: Happened, is_first: jax.Array) -> tuple[jax.Array, jax.Array]:
        """T steps: memory [B, 6, H], what happened [T, B], is_first bool [T, B] -> memory, outputs [T, B, 6, H]."""
        told, kinds, happened = xs
        steps, batch = is_first.shape
        rows = (steps, batch * COLOURS)
        first, happened = (jnp.broadcast_to(a[..., None], (steps, batch, COLOURS)).reshape(rows) for a in (is_first, happened))
        last, out = self.core.unroll(memory.reshape(-1, self.units), told, first, happened, kinds)
        return last.reshape(memory.shape), out.reshape(steps, batch, COLOURS, self.units)


@jax.custom_vjp
def rated_pairs(stones: jax.Array, colours: jax.Array, weight: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Pairs p = relu(stone + colour), rated and averaged; the gradient is written by hand so that pairs are never kept.

    Args:
        stones: [..., 3, S].
        colours: [..., 6, S].
        weight: [S].

    Returns:
        p · weight [..., 3, 6], mean of p over colours [..., 3, S].
    """
    rated, means = [], []
    for stone in range(STONES):
        pairs = [jax.nn.relu(stones[..., stone, :] + colours[..., colour, :]) for colour in range(COLOURS)]
        rated.append(jnp.stack([(pair * weight).sum(-1) for pair in pairs], axis=-1))
        means.append(sum(pairs[1:], pairs[0]) * np.float32(1 / COLOURS))
    return jnp.stack(rated, axis=-2), jnp.stack(means, axis=-2)


def _rated_pairs_back(kept: tuple[jax.Array, ...], gradients: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, ...]:
    stones, colours, weight = kept
    d_rated, d_means = gradients
    of_stones, of_colours = [jnp.zeros_like(stones[..., 0, :])] * STONES, [jnp.zeros_like(colours[..., 0, :])] * COLOURS
    of_weight = jnp.zeros_like(of_stones[0])
    for stone in range(STONES):
        share = d_means[..., stone, :] * np.float32(1 / COLOURS)
        for colour in range(COLOURS):
            pair = stones[..., stone, :] + colours[..., colour, :]
            rate = d_rated[..., stone, colour, None]
            gradient = jnp.where(pair > 0, rate * weight + share, 0)
            of_stones[stone] += gradient
            of_colours[colour] += gradient
            of_weight += jnp.where(pair > 0, pair * rate, 0)
    return jnp.stack(of_stones, axis=-2), jnp.stack(of_colours, axis=-2), total(of_weight)


rated_pairs.defvjp(lambda *given: (rated_pairs(*given), given), _rated_pairs_back)


class Rating(nn.Module):
    """`rated_pairs` with its weights and a bias."""

    @nn.compact
    def __call__(self, stones: jax.Array, colours: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Sides of stones [..., 3, S] and colours [..., 6, S] -> ratings [..., 3, 6], mean pairs [..., 3, S]."""
        weight = self.param("kernel", scaled(0.1), (stones.shape[-1], 1), jnp.float32)
        bias = self.param("bias", nn.initializers.zeros, (1,), jnp.float32)
        rated, means = rated_pairs(stones, colours, weight[:, 0])
        return shifted(rated[..., None], bias)[..., 0], means


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
        pooled = [jax.nn.relu(Dense(self.units, name="pool_colours")(colours)).mean(-2)]
        pooled.append(jax.nn.relu(Dense(self.units, name="pool_stones")(stones)).sum(-2))
        context = jax.nn.relu(Dense(self.units, name="context")(jnp.concatenate([*pooled, clock], axis=-1)))
        # The first layer of the scorer is additive in stone, colour and context: three small products instead of one for every pair.
        of_stone = Dense(self.units, use_bias=False, name="of_stone")(stones)
        of_colour = Dense(self.units, use_bias=False, name="of_colour")(colours)
        of_context = Dense(self.units, name="of_context")(context)
        stone_side = of_stone + of_context[..., None, :]
        rated, means = Rating(name="rate")(stone_side, of_colour)
        cash = Dense(1, scaled(0.1), name="cash")(jax.nn.relu(stone_side + means))
        wait = Dense(1, scaled(0.1), name="wait")(context)
        targets = jnp.concatenate([cash, rated], axis=-1)
        choices = jnp.concatenate([wait, targets.reshape(*targets.shape[:-2], -1)], axis=-1)
        possible = self.interface.possible(table)
        choices = jnp.where(possible, choices, np.float32(MASKED))
        summary = jnp.concatenate([context, means.mean(-2)], axis=-1)
        value = Dense(1, name="value")(jax.nn.relu(Dense(self.units, name="summary")(summary)))[..., 0]
        return Output(self.interface.point(choices, table, MASKED), value, slots)

    def blocks(self, slots: jax.Array, inputs: Inputs) -> Output:
        """The same for T steps, [T, ...] each, a block of them after another."""
        steps = slots.shape[0]
        if steps % BLOCK:
            return self(slots, inputs)
        given = jax.tree.map(lambda x: x.reshape(-1, BLOCK, *x.shape[1:]), (slots, inputs))
        score = nn.scan(lambda scorer, _, now: (None, scorer(*now)), variable_broadcast="params", split_rngs={"params": False})
        out = score(self, None, given)[1]
        return jax.tree.map(lambda x: x.reshape(steps, *x.shape[2:]), out)

    def _clock(self, inputs: Inputs, table: Table) -> jax.Array:
        steps = self.interface.steps
        trial, step = jnp.divmod(inputs.clock, np.int32(steps))
        left = [1 - step.astype(jnp.float32) * np.float32(1 / steps), trial.astype(jnp.float32) * np.float32(1 / self.trials)]
        left.append((trial == 0).astype(jnp.float32))
        parts = [jnp.stack(left, axis=-1), self.interface.privileged(inputs.observation)]
        return jnp.concatenate(parts, axis=-1)
