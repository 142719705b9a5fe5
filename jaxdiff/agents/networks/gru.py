"""A gated recurrent unit whose gradient is written by hand: weight gradients are one matrix product over all steps, outside the scan.

Reverse-mode differentiation of a scan adds up the weight's gradient step by step, one small product each; with the gates' gradients kept,
it is one large product behind the loop. Axes: T steps, R rows (environments, or environments x slots), I inputs, H units.
Cell (Cho et al. 2014, the reset gate applied after the product): r, z = σ(x W + h U), n = tanh(x W + r (h U + b)), h' = (1 - z) n + z h.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp

from jaxdiff.agents.networks.dense import Dense, total, weight_gradient

Saved = tuple[jax.Array, ...]


def cell(x: jax.Array, hidden: jax.Array, weight: jax.Array, bias: jax.Array) -> tuple[jax.Array, Saved]:
    """One step.

    Args:
        x: inputs times their weights, [R, 3 H]: reset, update, candidate.
        hidden: [R, H].
        weight: recurrent weights, [H, 3 H].
        bias: of the recurrent candidate, [H].

    Returns:
        next hidden [R, H]; r, z, n and the recurrent candidate, [R, H] each.
    """
    units = hidden.shape[-1]
    recurrent = hidden @ weight
    # σ(x) = (1 + tanh(x / 2)) / 2: XLA's CPU compiler is three times as fast on tanh as on σ.
    gates = 0.5 + 0.5 * jnp.tanh(0.5 * (x[:, : 2 * units] + recurrent[:, : 2 * units]))
    r, z = gates[:, :units], gates[:, units:]
    candidate = recurrent[:, 2 * units :] + bias
    n = jnp.tanh(x[:, 2 * units :] + r * candidate)
    return n + z * (hidden - n), (r, z, n, candidate)


def spread(x: jax.Array, kinds: jax.Array | None) -> jax.Array:
    """Inputs of every row: x [B, V, W] and kinds int [B, S] below V -> [B S, W]; without kinds x is that already."""
    if kinds is None:
        return x
    out = x[:, 0, None, :]
    for kind in range(1, x.shape[1]):
        out = jnp.where((kinds == kind)[..., None], x[:, kind, None, :], out)
    return jnp.broadcast_to(out, (*kinds.shape, x.shape[-1])).reshape(-1, x.shape[-1])


def _gathered(rows: jax.Array, kinds: jax.Array | None, count: int) -> jax.Array:
    """The transpose of `spread`: sums over the rows of every kind."""
    if kinds is None:
        return rows
    rows = rows.reshape(*kinds.shape, -1)
    of_kind = []
    for kind in range(count):
        # Written out, the sum is one pass over rows; as a reduction it is three times as slow.
        parts = [jnp.where((kinds[:, i] == kind)[:, None], rows[:, i], 0) for i in range(kinds.shape[1])]
        of_kind.append(sum(parts[1:], parts[0]))
    return jnp.stack(of_kind, axis=1)


@jax.custom_vjp
def unroll(
    x: jax.Array,
    kinds: jax.Array | None,
    is_first: jax.Array,
    moves: jax.Array,
    hidden: jax.Array,
    weight: jax.Array,
    bias: jax.Array,
) -> tuple[jax.Array, jax.Array]:
    """T steps.

    Args:
        x: [T, R, 3 H], see `cell`; with kinds [T, B, V, 3 H]: what all rows of one kind are given, R = B S.
        kinds: which of the V a row gets, int32 [T, B, S], or None.
        is_first: where the hidden state is emptied before the step, bool [T, R].
        moves: where it changes at all, bool [T, R].
        hidden: [R, H].
        weight: [H, 3 H].
        bias: [H].

    Returns:
        last hidden [R, H], hidden after every step [T, R, H].
    """
    return _forward(x, kinds, is_first, moves, hidden, weight, bias)[0]


def _forward(
    x: jax.Array,
    kinds: jax.Array | None,
    is_first: jax.Array,
    moves: jax.Array,
    hidden: jax.Array,
    weight: jax.Array,
    bias: jax.Array,
) -> tuple[tuple[jax.Array, jax.Array], Any]:
    def step(hidden: jax.Array, now: tuple[Any, ...]) -> tuple[jax.Array, Any]:
        x, kinds, first, move = now
        hidden = jnp.where(first[:, None], 0, hidden)
        after, kept = cell(spread(x, kinds), hidden, weight, bias)
        after = jnp.where(move[:, None], after, hidden)
        return after, (after, hidden, *kept)

    last, (states, *kept) = jax.lax.scan(step, hidden, (x, kinds, is_first, moves))
    return (last, states), (kept, kinds, is_first, moves, weight, x.shape[-2])


def _backward(residuals: Any, gradients: tuple[jax.Array, jax.Array]) -> tuple[Any, ...]:
    (before, r, z, n, candidate), kinds, is_first, moves, weight, count = residuals
    last, states = gradients
    back = weight.T

    def step(later: jax.Array, now: tuple[Any, ...]) -> tuple[jax.Array, tuple[jax.Array, jax.Array]]:
        state, before, r, z, n, candidate, kinds, first, move = now
        whole = later + state
        d = jnp.where(move[:, None], whole, 0)
        d_n = d * (1 - z) * (1 - n * n)
        d_z = d * (before - n) * z * (1 - z)
        d_r = d_n * candidate * r * (1 - r)
        gates = jnp.concatenate([d_r, d_z, d_n * r], axis=-1)  # with respect to the recurrent products
        earlier = jnp.where(first[:, None], 0, jnp.where(move[:, None], d * z + gates @ back, whole))
        return earlier, (gates, jnp.concatenate([_gathered(d, kinds, count) for d in (d_r, d_z, d_n)], axis=-1))

    earliest, (gates, d_x) = jax.lax.scan(step, last, (states, before, r, z, n, candidate, kinds, is_first, moves), reverse=True)
    d_bias = total(gates)[2 * before.shape[-1] :]
    return d_x, None, None, None, earliest, weight_gradient(before, gates), d_bias


unroll.defvjp(_forward, _backward)


class GRU(nn.Module):
    """A core of H units; its memory is one array [R, H].

    Attributes:
        units: H.
    """

    units: int

    def setup(self) -> None:
        """Weights: inputs [I, 3 H], recurrent [H, 3 H] (three orthogonal blocks), biases."""
        self.project = Dense(3 * self.units, name="project")
        self.weight = self.param("weight", orthogonal_blocks, (self.units, 3 * self.units))
        self.bias = self.param("bias", nn.initializers.zeros, (self.units,), jnp.float32)

    @nn.nowrap
    def initial(self, rows: int) -> jax.Array:
        """Memory at the start of episodes, float32 [R, H]."""
        return jnp.zeros((rows, self.units), jnp.float32)

    def step(self, memory: jax.Array, x: jax.Array, kinds: jax.Array | None = None) -> tuple[jax.Array, jax.Array]:
        """One step: memory [R, H], x [R, I] (with kinds [B, V, I], see `unroll`) -> memory, output [R, H]."""
        after, _ = cell(spread(self.project(x), kinds), memory, self.weight, self.bias)
        return after, after

    def unroll(
        self, memory: jax.Array, xs: jax.Array, is_first: jax.Array, moves: jax.Array | None = None, kinds: jax.Array | None = None
    ) -> tuple[jax.Array, jax.Array]:
        """T steps: memory [R, H], xs [T, R, I] (with kinds [T, B, V, I]), is_first bool [T, R] -> memory, outputs [T, R, H].

        `moves`: where memory changes, bool [T, R]; everywhere when None.
        """
        moves = jnp.ones_like(is_first) if moves is None else moves
        return unroll(self.project(xs), kinds, is_first, moves, memory, self.weight, self.bias)


def orthogonal_blocks(key: jax.Array, shape: tuple[int, int]) -> jax.Array:
    """Square orthogonal blocks side by side, float32 [H, n H]; the key is consumed."""
    make = partial(nn.initializers.orthogonal(), shape=(shape[0], shape[0]), dtype=jnp.float32)
    return jnp.concatenate([make(k) for k in jax.random.split(key, shape[1] // shape[0])], axis=1)
