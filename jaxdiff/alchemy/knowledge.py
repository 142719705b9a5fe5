"""What a player has seen and tried, in 56 bits: a sufficient statistic for the exact posterior.

What happens to a stone at an aligned corner with a potion of a colour is the same all episode long, so it is enough to keep *which* of the
8 x 6 pairs were tried and which of the 8 corners were on the table; the outcomes follow from the chemistry (which is in the state, but
`belief` uses only what these bits say). Word w keeps a byte for each of the colours 3 w, 3 w + 1, 3 w + 2 (bit a: tried at aligned corner a)
and, at bit 24, whether the corners 4 w to 4 w + 3 were seen. Updating costs a few word operations, so it is always done.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

SEEN = 24


def nothing() -> jax.Array:
    """Nothing seen, uint32 [2]."""
    return jnp.zeros((2,), jnp.uint32)


def _bit(word: jax.Array, place: jax.Array, condition: jax.Array) -> jax.Array:
    """Bit `place` of a word if `condition`, uint32 [2]."""
    here = word == np.arange(2, dtype=np.int32)
    return jnp.where(here & condition, jnp.uint32(1) << place.astype(jnp.uint32), jnp.uint32(0))


def see(known: jax.Array, stones: jax.Array, stone_map: jax.Array) -> jax.Array:
    """After a look at the stones of a new trial.

    Args:
        known: uint32 [2].
        stones: packed latent corners, uint32 [].
        stone_map: int32 [].
    """
    for shift in (0, 4, 8):
        corner = (stones >> shift & jnp.uint32(15)).astype(jnp.int32)
        aligned = corner & 7 ^ stone_map ^ 7
        known |= _bit(aligned >> 2, SEEN + (aligned & 3), corner < 8)
    return known


def try_potion(known: jax.Array, corner: jax.Array, new: jax.Array, colour: jax.Array, used: jax.Array, stone_map: jax.Array) -> jax.Array:
    """After a potion was used on a stone; its outcome counts as seen even if the trial ends with it, as in the benchmark's trackers.

    Args:
        known: uint32 [2].
        corner, new: the stone's latent corner before and after, int32 [].
        colour: the potion's colour, int32 [].
        used: whether a potion was used at all, bool [].
        stone_map: int32 [].
    """
    before, after = corner & 7 ^ stone_map ^ 7, new & 7 ^ stone_map ^ 7
    second = (colour >= 3).astype(jnp.int32)
    known |= _bit(second, 8 * jnp.minimum(colour - 3 * second, 2) + before, used)
    return known | _bit(after >> 2, SEEN + (after & 3), used)


def seen_set(known: jax.Array) -> jax.Array:
    """Which aligned corners were on the table, bit a for corner a, int32 [...]."""
    nibbles = (known >> jnp.uint32(SEEN) & jnp.uint32(15)).astype(jnp.int32)
    return nibbles[..., 0] | nibbles[..., 1] << 4


def tried_sets(known: jax.Array) -> jax.Array:
    """At which aligned corners every colour was tried, bit a for corner a, int32 [..., 6]."""
    sets = known[..., None] >> np.arange(0, SEEN, 8, dtype=np.uint32) & jnp.uint32(255)
    return sets.reshape(*known.shape[:-1], 6).astype(jnp.int32)
