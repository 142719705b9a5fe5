"""What a player has seen and tried, in 56 bits: a sufficient statistic for the exact posterior.

What happens to a stone at an aligned corner with a potion of a colour is the same all episode long, so it is enough to keep *which* of the
8 x 6 pairs were tried and which of the 8 corners were on the table; the outcomes follow from the chemistry (which is in the state, but
`belief` uses only what these bits say). Word a // 4 keeps, for aligned corner a, six bits of tried colours at 6 (a mod 4) and the bit "seen"
at 24 + a mod 4. Updating costs a few word operations, so it is always done.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

SEEN = 24


def nothing() -> jax.Array:
    """Nothing seen, uint32 [2]."""
    return jnp.zeros((2,), jnp.uint32)


def _bit(aligned: jax.Array, place: jax.Array, condition: jax.Array) -> jax.Array:
    """Bit `place` in the word of an aligned corner if `condition`, uint32 [2]."""
    word = (aligned >> 2) == np.arange(2, dtype=np.int32)
    return jnp.where(word & condition, jnp.uint32(1) << place.astype(jnp.uint32), jnp.uint32(0))


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
        known |= _bit(aligned, SEEN + (aligned & 3), corner < 8)
    return known


def try_potion(
    known: jax.Array, corner: jax.Array, new: jax.Array, colour: jax.Array, used: jax.Array, stone_map: jax.Array
) -> jax.Array:
    """After a potion was used on a stone.

    Args:
        known: uint32 [2].
        corner, new: the stone's latent corner before and after, int32 [].
        colour: the potion's colour, int32 [].
        used: whether a potion was used at all, bool [].
        stone_map: int32 [].
    """
    before, after = corner & 7 ^ stone_map ^ 7, new & 7 ^ stone_map ^ 7
    known |= _bit(before, 6 * (before & 3) + jnp.minimum(colour, 5), used)
    return known | _bit(after, SEEN + (after & 3), used)


def seen(known: jax.Array) -> jax.Array:
    """Which aligned corners were on the table, bool [..., 8]."""
    bits = known[..., None] >> np.arange(SEEN, SEEN + 4, dtype=np.uint32) & jnp.uint32(1)
    return bits.reshape(*known.shape[:-1], 8) > 0


def tried(known: jax.Array) -> jax.Array:
    """Which colours were used at which aligned corners, bool [..., 8, 6]."""
    bits = known[..., None] >> np.arange(SEEN, dtype=np.uint32) & jnp.uint32(1)
    return bits.reshape(*known.shape[:-1], 8, 6) > 0


def seen_set(known: jax.Array) -> jax.Array:
    """The same as `seen` as a number, bit a for aligned corner a, int32 [...]."""
    nibbles = (known >> jnp.uint32(SEEN) & jnp.uint32(15)).astype(jnp.int32)
    return nibbles[..., 0] | nibbles[..., 1] << 4
