"""What a player has seen and tried, in 56 bits: a sufficient statistic for the exact posterior.

What happens to a stone at an aligned corner with a potion of a colour is the same all episode long, so it is enough to keep *which* of the
8 x 6 pairs were tried and which of the 8 corners were on the table; the outcomes follow from the chemistry (which is in the state, but
`belief` uses only what these bits say). Word w keeps a byte for each of the colours 3 w, 3 w + 1, 3 w + 2 (bit a: tried at aligned
corner a) and, at bit 24, whether the corners 4 w to 4 w + 3 were seen. Updating costs a few word operations, so it is always done.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from jaxdiff.alchemy.chemistry import FLIP

SEEN = 24
Known = tuple[jax.Array, jax.Array]  # two words, uint32 [...] each


def nothing() -> Known:
    """Nothing seen, two uint32 []."""
    return jnp.zeros((), jnp.uint32), jnp.zeros((), jnp.uint32)


def _with_seen(known: Known, corners: jax.Array) -> Known:
    """After seeing a set of aligned corners, uint32 []."""
    return known[0] | (corners & 15) << SEEN, known[1] | (corners >> 4) << SEEN


def see(known: Known, stones: jax.Array, stone_map: jax.Array) -> Known:
    """After a look at the stones of a new trial.

    Args:
        known: two uint32 [].
        stones: packed latent corners, uint32 [].
        stone_map: int32 [].
    """
    flip = stone_map.astype(jnp.uint32) ^ FLIP
    corners = [stones >> shift & jnp.uint32(15) for shift in (0, 4, 8)]
    first, second, third = ((c < 8).astype(jnp.uint32) << (c & 7 ^ flip) for c in corners)
    return _with_seen(known, first | second | third)


def try_potion(known: Known, corner: jax.Array, new: jax.Array, colour: jax.Array, used: jax.Array, stone_map: jax.Array) -> Known:
    """After a potion was used on a stone; its outcome counts as seen even if the trial ends with it, as in the benchmark's trackers.

    Args:
        known: two uint32 [].
        corner, new: the stone's latent corner before and after, int32 [].
        colour: the potion's colour, int32 [].
        used: whether a potion was used at all, bool [].
        stone_map: int32 [].
    """
    one, flip = used.astype(jnp.uint32), stone_map ^ FLIP
    before, after = corner & 7 ^ flip, new & 7 ^ flip
    second = colour >= 3
    place = jnp.where(second, colour - 3, colour) & 3
    tried = one << (8 * place + before).astype(jnp.uint32)
    first, last = jnp.where(second, jnp.uint32(0), tried), jnp.where(second, tried, jnp.uint32(0))
    return _with_seen((known[0] | first, known[1] | last), one << after.astype(jnp.uint32))


def seen_set(known: Known) -> jax.Array:
    """Which aligned corners were on the table, bit a for corner a, int32 [...]."""
    return (known[0] >> SEEN & 15 | (known[1] >> SEEN & 15) << 4).astype(jnp.int32)


def tried_sets(known: Known) -> jax.Array:
    """At which aligned corners every colour was tried, bit a for corner a, int32 [..., 6]."""
    sets = [word >> shift & 255 for word in known for shift in (0, 8, 16)]
    return jnp.stack(sets, axis=-1).astype(jnp.int32)
