"""Policies over actions of one or several parts, from the parts' logits one after another.

Axes: leading axes [...] are free; A logits in all, P parts.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np


def _parts(logits: jax.Array, sizes: tuple[int, ...]) -> list[jax.Array]:
    return [jax.nn.log_softmax(part, axis=-1) for part in jnp.split(logits, np.cumsum(sizes)[:-1].tolist(), axis=-1)]


def sample(key: jax.Array, logits: jax.Array, sizes: tuple[int, ...]) -> jax.Array:
    """Draw actions, int32 [...] for one part, else [..., P]. The key is consumed."""
    noisy = logits + jax.random.gumbel(key, logits.shape, logits.dtype)
    return _best(noisy, sizes)


def greedy(logits: jax.Array, sizes: tuple[int, ...]) -> jax.Array:
    """The most likely actions, int32 [...] for one part, else [..., P]."""
    return _best(logits, sizes)


def _best(logits: jax.Array, sizes: tuple[int, ...]) -> jax.Array:
    best = [jnp.argmax(p, axis=-1).astype(jnp.int32) for p in jnp.split(logits, np.cumsum(sizes)[:-1].tolist(), axis=-1)]
    return best[0] if len(sizes) == 1 else jnp.stack(best, axis=-1)


def log_probability(logits: jax.Array, action: jax.Array, sizes: tuple[int, ...]) -> jax.Array:
    """Logarithm of an action's probability, float32 [...]."""
    action = action[..., None] if len(sizes) == 1 else action
    total = jnp.zeros(logits.shape[:-1], logits.dtype)
    for i, part in enumerate(_parts(logits, sizes)):
        # A one-hot product: gathers and their scattering gradients are slow on a CPU.
        total += jnp.where(action[..., i, None] == np.arange(sizes[i], dtype=np.int32), part, 0).sum(-1)
    return total


def entropy(logits: jax.Array, sizes: tuple[int, ...]) -> jax.Array:
    """Entropy, nats, float32 [...]."""
    return sum((-(jnp.exp(p) * p).sum(-1) for p in _parts(logits, sizes)), jnp.zeros(logits.shape[:-1], logits.dtype))


def divergence(logits: jax.Array, others: jax.Array, sizes: tuple[int, ...]) -> jax.Array:
    """Kullback-Leibler divergence of the policy with `logits` from the one with `others`: sum of p log (p / q), nats, float32 [...]."""
    pairs = zip(_parts(logits, sizes), _parts(others, sizes), strict=True)
    return sum(((jnp.exp(p) * (p - q)).sum(-1) for p, q in pairs), jnp.zeros(logits.shape[:-1], logits.dtype))
