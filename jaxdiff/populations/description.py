"""How many bits describe a network? Those of the coarsest quantisation of its weights that keeps its behaviour on visited states.

At b bits a weight is one of 2^b values, centres of equal intervals of -4..4 (weights are drawn from N(0, 1)), so one bit is the sign. A
policy of n weights then takes n b bits, and four more that say b. An upper bound on its complexity, on the states that were seen.
Axes: P policies, S visited states.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxdiff.core.errors import require
from jaxdiff.core.spaces import Box, Space
from jaxdiff.populations.population import Act

RANGE = 4.0
MOST_BITS = 16  # a weight that needs more is kept as it is
EXACT_BITS = 32
TOLERANCE = 0.01  # real actions may move by that share of the range of actions, or that much where it has no bounds


def quantised_bits(act: Act, action: Space, params: Any, obs: Any, batch: int = 512) -> np.ndarray:
    """Bits of every policy, float64 [P].

    Args:
        act: how a policy acts; it must not use its key.
        action: the world's space of actions.
        params: pytree with leaves [P, ...]; its floating leaves are quantised.
        obs: states that each policy visited, leaves [P, S, ...].
        batch: policies in one call.

    Raises:
        InputError: no floating leaves.
    """
    leaves = jax.tree.leaves(params)
    real = [leaf for leaf in leaves if jnp.issubdtype(jnp.asarray(leaf).dtype, jnp.floating)]
    require(len(real) > 0, "params", "without floating leaves", "policies with real parameters, or a population that states its bits")
    count = leaves[0].shape[0]
    weights = sum(int(np.prod(leaf.shape[1:])) for leaf in real)
    out = []
    for first in range(0, count, batch):
        # The last batch is filled up, so that all have one shape.
        index = np.minimum(np.arange(first, first + batch), count - 1)
        part, seen = jax.tree.map(lambda x, index=index: jnp.asarray(x)[index], (params, obs))
        out.append(np.asarray(_least_bits(act, action, part, seen))[: count - first])
    return np.concatenate(out).astype(np.float64) * weights + np.log2(MOST_BITS)


def quantise(params: Any, bits: jax.Array) -> Any:
    """Floating leaves at a number of bits, int32 []."""
    step = jnp.float32(2 * RANGE) / jnp.exp2(bits.astype(jnp.float32))

    def one(x: jax.Array) -> jax.Array:
        if not jnp.issubdtype(x.dtype, jnp.floating):
            return x
        inside = jnp.clip(x, -jnp.float32(RANGE), jnp.float32(RANGE) - step / 2)
        return ((jnp.floor(inside / step) + jnp.float32(0.5)) * step).astype(x.dtype)

    return jax.tree.map(one, params)


@partial(jax.jit, static_argnums=(0, 1))
def _least_bits(act: Act, action: Space, params: Any, obs: Any) -> jax.Array:
    """Least bits of a weight that keep the behaviour, int32 [P]; `EXACT_BITS` where none of those tried do."""
    unused = jax.random.key(0)
    play = jax.vmap(jax.vmap(lambda p, o: act(p, o, unused), in_axes=(None, 0)))
    wanted = play(params, obs)
    axes = tuple(range(1, wanted.ndim))

    def keeps(bits: jax.Array) -> jax.Array:
        actions = play(quantise(params, bits), obs)
        if not isinstance(action, Box):
            return jnp.all(actions == wanted, axis=axes)
        width = action.high - action.low if np.isfinite([action.low, action.high]).all() else 1.0
        return jnp.all(jnp.abs(actions - wanted) <= jnp.asarray(TOLERANCE * width, actions.dtype), axis=axes)

    kept = jax.lax.map(keeps, jnp.arange(1, MOST_BITS + 1, dtype=jnp.int32))
    return jnp.where(kept.any(0), jnp.argmax(kept, axis=0).astype(jnp.int32) + 1, EXACT_BITS)
