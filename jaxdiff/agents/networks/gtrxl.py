"""The gated Transformer-XL (Parisotto et al. 2020): attention over the last M steps of the episode, gates near the identity at the start.

Relative positions (Dai et al. 2019), layer norm on the inputs of sublayers only, memory behind a stop-gradient. Every step attends to
itself and to at most M steps before it in the same episode, in `step` and in `unroll` alike, so the two give the same.
Axes: T steps, B environments, L layers, M memory, D units, N heads, K units of a head.
"""

from __future__ import annotations

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np

from jaxdiff.agents.networks.dense import Dense

Memory = tuple[jax.Array, jax.Array]  # inputs of every layer [B, L, M, D], which of the M steps there are bool [B, M]
GATE_BIAS = 2.0


class Gate(nn.Module):
    """The GRU-type gate: x is kept at first, y let in as the gate opens."""

    @nn.compact
    def __call__(self, x: jax.Array, y: jax.Array) -> jax.Array:
        """Stream x and sublayer output y, [..., D] each -> [..., D]."""
        units = x.shape[-1]
        of_y = Dense(3 * units, use_bias=False, name="of_y")(y)
        of_x = Dense(2 * units, use_bias=False, name="of_x")(x)
        bias = self.param("bias", nn.initializers.constant(GATE_BIAS), (units,), jnp.float32)
        r = jax.nn.sigmoid(of_y[..., :units] + of_x[..., :units])
        z = jax.nn.sigmoid(of_y[..., units : 2 * units] + of_x[..., units:] - bias)
        n = jnp.tanh(of_y[..., 2 * units :] + Dense(units, use_bias=False, name="of_reset")(r * x))
        return (1 - z) * x + z * n


class Attention(nn.Module):
    """Multi-head attention with relative positions.

    Attributes:
        heads: N.
        head_units: K.
    """

    heads: int
    head_units: int

    @nn.compact
    def __call__(self, queries: jax.Array, keys: jax.Array, allowed: jax.Array) -> jax.Array:
        """Attend.

        Args:
            queries: [T, B, D].
            keys: memory and the T steps, [M + T, B, D].
            allowed: bool [B, T, M + T].

        Returns:
            [T, B, D].
        """
        steps, batch, units = queries.shape
        memory = keys.shape[0] - steps
        shape = (self.heads, self.head_units)
        q = Dense(self.heads * self.head_units, use_bias=False, name="query")(queries).reshape(steps, batch, *shape)
        k, v = (
            Dense(self.heads * self.head_units, use_bias=False, name=name)(keys).reshape(-1, batch, *shape) for name in ("key", "value")
        )
        r = Dense(self.heads * self.head_units, use_bias=False, name="position")(_positions(memory + 1, units)).reshape(-1, *shape)
        small = nn.initializers.normal(0.02)
        to_content = self.param("content_bias", small, shape, jnp.float32)
        to_position = self.param("position_bias", small, shape, jnp.float32)
        content = jnp.einsum("tbnk,sbnk->bnts", q + to_content, k)
        position = jnp.einsum("tbnk,dnk->bntd", q + to_position, r)
        distance = np.arange(steps)[:, None] - np.arange(memory + steps) + memory  # [T, M + T]
        index = np.broadcast_to(np.clip(distance, 0, memory), (1, 1, steps, memory + steps)).astype(np.int32)
        scores = (content + jnp.take_along_axis(position, index, axis=-1)) * np.float32(self.head_units**-0.5)
        weights = jax.nn.softmax(jnp.where(allowed[:, None], scores, jnp.finfo(jnp.float32).min), axis=-1)
        read = jnp.einsum("bnts,sbnk->tbnk", weights, v).reshape(steps, batch, -1)
        return Dense(units, use_bias=False, name="out")(read)


def _positions(count: int, units: int) -> jax.Array:
    """Sinusoids of the distances 0..count - 1, float32 [count, D]."""
    rates = 10000.0 ** (-np.arange(0, units, 2) / units)
    angles = np.arange(count)[:, None] * rates
    return jnp.asarray(np.concatenate([np.sin(angles), np.cos(angles)], axis=-1)[:, :units], jnp.float32)


class Layer(nn.Module):
    """Attention and a two-layer perceptron, each gated.

    Attributes:
        heads, head_units: of the attention.
        mlp_units: of the perceptron.
    """

    heads: int
    head_units: int
    mlp_units: int

    @nn.compact
    def __call__(self, x: jax.Array, memory: jax.Array, allowed: jax.Array) -> jax.Array:
        """Stream x [T, B, D], memory of this layer's inputs [M, B, D] -> [T, B, D]."""
        norm = nn.LayerNorm(param_dtype=jnp.float32, name="norm_attention")
        keys = norm(jnp.concatenate([memory, x], axis=0))
        read = Attention(self.heads, self.head_units, name="attention")(keys[memory.shape[0] :], keys, allowed)
        x = Gate(name="gate_attention")(x, jax.nn.relu(read))
        y = Dense(self.mlp_units, name="mlp_in")(nn.LayerNorm(param_dtype=jnp.float32, name="norm_mlp")(x))
        y = Dense(x.shape[-1], name="mlp_out")(jax.nn.relu(y))
        return Gate(name="gate_mlp")(x, jax.nn.relu(y))


class GTrXL(nn.Module):
    """The core.

    Attributes:
        units, layers, heads, head_units, mlp_units, memory: D, L, N, K, units of the perceptrons, M.
    """

    units: int
    layers: int
    heads: int
    head_units: int
    mlp_units: int
    memory: int

    def setup(self) -> None:
        """A projection to D units and L layers."""
        self.embed = Dense(self.units, name="embed")
        self.stack = [Layer(self.heads, self.head_units, self.mlp_units, name=f"layer_{i}") for i in range(self.layers)]

    @nn.nowrap
    def initial(self, rows: int) -> Memory:
        """Memory at the start of episodes: nothing."""
        return jnp.zeros((rows, self.layers, self.memory, self.units), jnp.float32), jnp.zeros((rows, self.memory), jnp.bool_)

    def step(self, memory: Memory, x: jax.Array) -> tuple[Memory, jax.Array]:
        """One step: x [B, I] -> memory, output [B, D]."""
        memory, out = self.unroll(memory, x[None], jnp.zeros((1, x.shape[0]), jnp.bool_))
        return memory, out[0]

    def unroll(self, memory: Memory, xs: jax.Array, is_first: jax.Array) -> tuple[Memory, jax.Array]:
        """T steps at once: xs [T, B, I], is_first bool [T, B] -> memory, outputs [T, B, D]."""
        states, there = memory
        episode = jnp.cumsum(is_first.astype(jnp.int32), axis=0, dtype=jnp.int32).T  # [B, T], 0 goes on from the memory
        allowed = _allowed(episode, there)
        x = self.embed(xs)
        kept = []
        for i, layer in enumerate(self.stack):
            before = jax.lax.stop_gradient(states[:, i].swapaxes(0, 1))
            kept.append(jnp.concatenate([before, jax.lax.stop_gradient(x)], axis=0)[-self.memory :])
            x = layer(x, before, allowed)
        mine = jnp.concatenate([there & (episode[:, -1:] == 0), episode == episode[:, -1:]], axis=1)[:, -self.memory :]
        states = jnp.where(mine[:, None, :, None], jnp.stack(kept).transpose(2, 0, 1, 3), 0)
        return (states, mine), x


def _allowed(episode: jax.Array, there: jax.Array) -> jax.Array:
    """What every step may attend to, bool [B, T, M + T]: at most M steps back, in its own episode."""
    steps, memory = episode.shape[1], there.shape[1]
    distance = np.arange(steps)[:, None] - np.arange(memory + steps) + memory
    window = (distance >= 0) & (distance <= memory)
    old = (episode == 0)[:, :, None] & there[:, None, :]
    new = episode[:, :, None] == episode[:, None, :]
    return jnp.asarray(window) & jnp.concatenate([old, new], axis=-1)
