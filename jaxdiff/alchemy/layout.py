"""How a table of stones and potions is kept in words, so that an observation is one shift, one mask and one multiplication.

Every entry of DeepMind's observation is a multiple of a third from -1 to 2, so a nibble holds it: code n stands for (n - 3) / 3.
Five words hold the 39 entries in their order behind one nibble of padding: three stones of five nibbles (colour, size, roundness,
value, used), twelve potions of two (colour, used). Multiplying by the float32 nearest to 1/3 rounds correctly for all codes, on every
backend. Stones are also kept as corners, one nibble a slot: 0..7 the latent corner, 8 no stone. Axes: 3 stone slots, 12 potion slots.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from jaxdiff.alchemy import chemistry, graphs
from jaxdiff.alchemy.graphs import table

STONES, POTIONS = 3, 12
STONE_FIELDS, POTION_FIELDS = 5, 2
ENTRIES = STONES * STONE_FIELDS + POTIONS * POTION_FIELDS
NO_STONE, NO_POTION = 8, 6
NO_STONES = 0x888
FRESH, USED = 0x30, 0x66  # of a potion's byte: unused flag above the colour; colour 6 shows as 1, as the used flag does
POTION_WORDS = 3


@table
def stone_display() -> np.ndarray:
    """Five nibbles of a stone by (rotation x 8 + stone map) x 9 + corner, where corner 8 is no stone; uint32 [288]."""
    rotation, stone_map, corner = np.meshgrid(np.arange(4), np.arange(8), np.arange(9), indexing="ij")
    present = corner < NO_STONE
    inside = np.where(present, corner, 0)
    features = chemistry.perceived_features()[rotation, chemistry.aligned_corner()[stone_map, inside]]
    level = chemistry.value_level()[inside]
    codes = np.concatenate([3 * features + 3, (level + 3)[..., None], np.full((*level.shape, 1), 3)], axis=-1)
    codes = np.where(present[..., None], codes, (9, 9, 9, 9, 6))
    return (codes << 4 * np.arange(STONE_FIELDS)).sum(-1).astype(np.uint32).reshape(-1)


def pack_stones(corners: jax.Array) -> jax.Array:
    """Corners 0..8, int [..., 3] -> uint32 [...]."""
    return (corners.astype(jnp.uint32) << np.arange(0, 4 * STONES, 4, dtype=np.uint32)).sum(-1, dtype=jnp.uint32)


def unpack_stones(stones: jax.Array) -> jax.Array:
    """The inverse of `pack_stones`, int32 [..., 3]."""
    return (stones[..., None] >> np.arange(0, 4 * STONES, 4, dtype=np.uint32) & jnp.uint32(15)).astype(jnp.int32)


def pack_potions(colours: jax.Array) -> jax.Array:
    """Colours 0..5, or 6 for no potion, int [..., 12] -> uint32 [..., 3], four bytes each."""
    byte = jnp.where(colours == NO_POTION, USED, colours | FRESH).astype(jnp.uint32)
    shifted = byte.reshape(*byte.shape[:-1], POTION_WORDS, 4) << np.arange(0, 32, 8, dtype=np.uint32)
    return shifted.sum(-1, dtype=jnp.uint32)


def unpack_potions(potions: jax.Array) -> jax.Array:
    """The inverse of `pack_potions`, int32 [..., 12]."""
    nibbles = potions[..., None] >> np.arange(0, 32, 8, dtype=np.uint32) & jnp.uint32(15)
    return nibbles.reshape(*potions.shape[:-1], POTIONS).astype(jnp.int32)


def display(stones: jax.Array, potions: jax.Array, look: jax.Array) -> jax.Array:
    """Observation of a table, DeepMind's 39 entries, float32 [39].

    Args:
        stones: corners, uint32 [].
        potions: bytes, uint32 [3].
        look: rotation x 8 + stone map, int32 [].
    """
    shown = jnp.asarray(stone_display())
    first, second, third = (shown[look * 9 + (stones >> shift & jnp.uint32(15)).astype(jnp.int32)] for shift in (0, 4, 8))
    words = jnp.concatenate([jnp.stack([first << 4 | second << 24, second >> 8 | third << 12]), potions])
    codes = words[:, None] >> np.arange(0, 32, 4, dtype=np.uint32) & jnp.uint32(15)
    return (codes.reshape(-1)[1:].astype(jnp.int32) - 3).astype(jnp.float32) * np.float32(1 / 3)


def entries() -> tuple[str, ...]:
    """What the 39 entries are."""
    stone = (
        "colour: -1 purple, 0 blurple, 1 blue; 2 no stone",
        "size: -1 small, 0 medium, 1 large; 2 no stone",
        "roundness: -1 pointy, 0 mid, 1 round; 2 no stone",
        "value indicator: sum of latent coordinates / 3, so -1, -1/3, 1/3, 1 for stones worth -3, -1, 1, 15; 2 no stone",
        "used: 0 on the table, 1 used or no stone",
    )
    colours = ", ".join(f"{name} {value}" for name, value in zip(chemistry.COLOURS, ("-1", "-2/3", "-1/3", "0", "1/3", "2/3"), strict=True))
    potion = (f"colour: {colours}; 1 no potion", "used: 0 on the table, 1 used or no potion")
    return tuple(f"stone {s}, {text}" for s in range(STONES) for text in stone) + tuple(
        f"potion {p}, {text}" for p in range(POTIONS) for text in potion
    )


def first_slot(potions: jax.Array, colour: jax.Array) -> jax.Array:
    """The first slot that holds a potion of this colour, 12 where there is none, int32 []."""
    slots = jnp.where(unpack_potions(potions) == colour, np.arange(POTIONS, dtype=np.int32), POTIONS)
    return slots.min()


def colour_counts(potions: jax.Array) -> jax.Array:
    """How many potions of every colour are left, int32 [6]."""
    held = unpack_potions(potions)[:, None] == np.arange(graphs.POTION_TYPES, dtype=np.int32)
    return held.sum(0, dtype=jnp.int32)
