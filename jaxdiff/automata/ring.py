"""The automaton in the agent's frame: a ring of N cells kept rotated so that the agent always stands at the same bit.

`frame` is a tuple of K = ceil((N + 6) / 32) words. Bit k of the frame is the cell at position p - 1 + k (mod N), where p is the
agent's position, for k = 0..N+3: the ring and four cells of it once more. So the observation is the lowest three bits (left, centre,
right), a move shifts the window by 0, 1 or 2, the neighbours of every cell are two more shifts, and no rotation is ever needed.
The two highest bits of the last word remember how the agent moved last (the shift: 0 left, 1 stay, 2 right), which is how the final
position is known without carrying it through the arithmetic.

Axes: K words; every word has the batch shape `...`.
"""

from __future__ import annotations

from functools import reduce

import jax
import jax.numpy as jnp
import numpy as np

from jaxdiff.automata.eca import WORD, apply_rule, words_for

Words = tuple[jax.Array, ...]
SHIFT_BIT = 30
KEEP, SWAP, SET0, SET1 = range(4)
STAY, RIGHT, LEFT = range(3)


def frame_words(width: int) -> int:
    """How many words a frame has for a ring of `width` cells."""
    return words_for(width + 6)


def enter(cells: jax.Array, position: jax.Array) -> Words:
    """The frame of configurations uint8 [..., N] with the agent at `position` [...]."""
    width = cells.shape[-1]
    count = frame_words(width)
    index = (position[..., None] - 1 + jnp.arange(width + 4, dtype=jnp.int32)) % width
    bits = jnp.take_along_axis(cells, index, axis=-1).astype(jnp.uint32)
    bits = jnp.pad(bits, [(0, 0)] * (bits.ndim - 1) + [(0, count * WORD - width - 4)])
    lanes = bits.reshape((*bits.shape[:-1], count, WORD)) << jnp.arange(WORD, dtype=jnp.uint32)
    words = lanes.sum(-1, dtype=jnp.uint32)
    return tuple(words[..., k] for k in range(count))


def leave(frame: Words, position: jax.Array, width: int) -> jax.Array:
    """The configuration uint8 [..., N] of a frame whose agent stands at `position` [...]."""
    bits = (jnp.stack(frame, -1)[..., None] >> jnp.arange(WORD, dtype=jnp.uint32)) & jnp.uint32(1)
    bits = bits.reshape((*frame[0].shape, len(frame) * WORD)).astype(jnp.uint8)
    index = (jnp.arange(width, dtype=jnp.int32) - position[..., None] + 1) % width
    return jnp.take_along_axis(bits, index, axis=-1)


def observe(frame: Words) -> jax.Array:
    """The three cells the agent sees, as bits 0 left, 1 centre, 2 right of a word [...]."""
    return frame[0] & jnp.uint32(7)


def last_shift(frame: Words) -> jax.Array:
    """How the window moved in the last step, uint32 [...]: 0 left, 1 stay, 2 right."""
    return frame[-1] >> jnp.uint32(SHIFT_BIT)


def step(frame: Words, shift: jax.Array, upshot: jax.Array, masks: tuple[jax.Array, ...], width: int) -> Words:
    """Upshot at the current cell, move, automaton update (paper, Definition 5).

    Args:
        frame: K words [...].
        shift: uint32 [...], 0 left, 1 stay, 2 right.
        upshot: uint32 [...]; its two lowest bits are keep, swap, set0, set1.
        masks: the rule, see `eca.rule_masks`.
        width: N.
    """
    one = jnp.uint32(1)
    swap = jnp.uint32(0) - (upshot & one)
    clear = jnp.uint32(0) - ((upshot >> one) & one)
    here = _constant((1 << 1) | (1 << (width + 1)), len(frame))
    touched = tuple((w & ~(clear & h)) ^ (swap & h) if h else w for w, h in zip(frame, here, strict=True))
    # Bits above N + 3 (the remembered shift) move down by at most four here and are masked off before they are looked at.
    left = _shift_right_variable(touched, shift)
    ring = tuple(apply_rule(masks, *cells) for cells in zip(left, _shift_right(left, 1), _shift_right(left, 2), strict=True))
    used = _constant((1 << width) - 1, len(frame))
    ring = tuple(w & m for w, m in zip(ring, used, strict=True))
    # The new ring starts at the cell right of the agent; the frame starts at the one left of it.
    parts = (_shift_left(ring, 2), _shift_right(ring, width - 2), _shift_left(ring, width + 2))
    new = tuple(reduce(jnp.bitwise_or, words) for words in zip(*parts, strict=True))
    keep = _constant((1 << (width + 4)) - 1, len(frame))
    new = tuple(w & m if m != 0xFFFFFFFF else w for w, m in zip(new, keep, strict=True))
    return (*new[:-1], new[-1] | (shift << jnp.uint32(SHIFT_BIT)))


def reward(frame: Words, width: int, limbs: int) -> Words:
    """The reward's numerator over 2^(N//2 + 1): sum over i of 2^(N//2 - i) (cell p+i + cell p-i), as `limbs` words, lowest first.

    The cells to the left already stand in the order of their weights, those to the right in the reverse one.
    """
    half = width // 2
    low = _constant((1 << half) - 1, len(frame))
    right = tuple(w & m for w, m in zip(_shift_right(frame, 2), low, strict=True))[: words_for(half)]
    left = tuple(w & m for w, m in zip(_shift_right(frame, 1 + width - half), low, strict=True))[: words_for(half)]
    return add(_pad(_reverse(right, half), limbs), _pad(left, limbs))


def add(a: Words, b: Words) -> Words:
    """Sum of two numbers of one or two limbs; the caller knows that it fits."""
    low = a[0] + b[0]
    if len(a) == 1:
        return (low,)
    return (low, a[1] + b[1] + (low < a[0]).astype(jnp.uint32))


def limbs_for(width: int, steps: int) -> int:
    """Limbs that hold the sum of `steps` rewards (0 where 63 bits do not)."""
    bits = (steps * ((1 << (width // 2 + 1)) - 2)).bit_length()
    return 1 if bits <= 32 else 2 if bits <= 63 else 0


def to_int64(limbs: Words) -> np.ndarray:
    """Limbs [...] to NumPy int64 [...] on the host."""
    low = np.asarray(limbs[0]).astype(np.int64)
    return low if len(limbs) == 1 else low | (np.asarray(limbs[1]).astype(np.int64) << 32)


def _pad(words: Words, count: int) -> Words:
    return words + (jnp.zeros_like(words[0]),) * (count - len(words))


def _constant(value: int, count: int) -> list[np.uint32]:
    """`value` cut into `count` words."""
    return [np.uint32((value >> (WORD * k)) & 0xFFFFFFFF) for k in range(count)]


def _shift_right(words: Words, n: int) -> Words:
    """Words shifted towards bit 0 by the constant n >= 0."""
    skip, n = divmod(n, WORD)
    words = words[skip:]
    if n:
        high = (*(w << jnp.uint32(WORD - n) for w in words[1:]), None)
        words = tuple(w >> jnp.uint32(n) if h is None else (w >> jnp.uint32(n)) | h for w, h in zip(words, high, strict=True))
    return words + (jnp.zeros_like(words[0]),) * skip


def _shift_left(words: Words, n: int) -> Words:
    """Words shifted away from bit 0 by the constant n >= 0; what leaves the last word is lost."""
    skip, n = divmod(n, WORD)
    kept = words[: len(words) - skip]
    if not kept:
        return tuple(jnp.zeros_like(w) for w in words)
    if n:
        low = (None, *(w >> jnp.uint32(WORD - n) for w in kept[:-1]))
        kept = tuple(w << jnp.uint32(n) if c is None else (w << jnp.uint32(n)) | c for w, c in zip(kept, low, strict=True))
    return (jnp.zeros_like(words[0]),) * skip + kept


def _shift_right_variable(words: Words, n: jax.Array) -> Words:
    """Words shifted towards bit 0 by n in 0..2. A shift by 32, which n = 0 asks for, gives 0 in XLA."""
    shifted = tuple(w >> n for w in words)
    if len(words) == 1:
        return shifted
    back = jnp.uint32(WORD) - n
    return (*(s | jax.lax.shift_left(w, back) for s, w in zip(shifted[:-1], words[1:], strict=True)), shifted[-1])


def _reverse(words: Words, bits: int) -> Words:
    """The lowest `bits` bits in reverse order."""
    size = 8 if bits <= 8 else 16 if bits <= 16 else 32
    swaps = ((1, 0x55555555), (2, 0x33333333), (4, 0x0F0F0F0F), (8, 0x00FF00FF), (16, 0x0000FFFF))

    def one(w: jax.Array) -> jax.Array:
        for n, mask in swaps:
            if n < size:
                w = ((w >> jnp.uint32(n)) & jnp.uint32(mask)) | ((w & jnp.uint32(mask)) << jnp.uint32(n))
        return w

    return _shift_right(tuple(one(w) for w in reversed(words)), len(words) * size - bits)
