"""A long short-term memory.

Cell (Hochreiter & Schmidhuber 1997; Gers et al. 2000, forget bias 1): i, f, o = σ(·), g = tanh(·), c' = f c + i g, h' = o tanh(c').
Axes: T steps, R rows, I inputs, H units.
"""

from __future__ import annotations

import flax.linen as nn
import jax
import jax.numpy as jnp

from jaxdiff.agents.networks.dense import Dense
from jaxdiff.agents.networks.gru import orthogonal_blocks

Memory = tuple[jax.Array, jax.Array]  # hidden, cell: [R, H] each


class LSTM(nn.Module):
    """A core of H units; its memory is (hidden, cell), float32 [R, H] each.

    Attributes:
        units: H.
    """

    units: int

    def setup(self) -> None:
        """Weights: inputs [I, 4 H], recurrent [H, 4 H]."""
        self.project = Dense(4 * self.units, name="project")
        self.weight = self.param("weight", orthogonal_blocks, (self.units, 4 * self.units))

    @nn.nowrap
    def initial(self, rows: int) -> Memory:
        """Memory at the start of episodes."""
        return jnp.zeros((rows, self.units), jnp.float32), jnp.zeros((rows, self.units), jnp.float32)

    def _cell(self, memory: Memory, x: jax.Array) -> tuple[Memory, jax.Array]:
        hidden, kept = memory
        i, f, o, g = jnp.split(x + hidden @ self.weight, 4, axis=-1)
        kept = jax.nn.sigmoid(f + 1) * kept + jax.nn.sigmoid(i) * jnp.tanh(g)
        hidden = jax.nn.sigmoid(o) * jnp.tanh(kept)
        return (hidden, kept), hidden

    def step(self, memory: Memory, x: jax.Array) -> tuple[Memory, jax.Array]:
        """One step: x [R, I] -> memory, output [R, H]."""
        return self._cell(memory, self.project(x))

    def unroll(self, memory: Memory, xs: jax.Array, is_first: jax.Array) -> tuple[Memory, jax.Array]:
        """T steps: xs [T, R, I], is_first bool [T, R] -> memory, outputs [T, R, H]."""

        def step(memory: Memory, now: tuple[jax.Array, jax.Array]) -> tuple[Memory, jax.Array]:
            x, first = now
            return self._cell(jax.tree.map(lambda m: jnp.where(first[:, None], 0, m), memory), x)

        return jax.lax.scan(step, memory, (self.project(xs), is_first))
