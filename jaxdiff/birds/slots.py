"""Reductions over the slots, which are the last axis: written so that they compile to vector code.

Minima of floats that are not negative are taken of their bits as integers, which have the same order; the place of a minimum is kept in the
lowest bits. Axes: B lanes (any leading axes), N slots.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp


def least(values: jax.Array) -> jax.Array:
    """Minimum over the slots of float32 that are not negative, [B, N] -> [B]."""
    bits = jax.lax.bitcast_convert_type(values, jnp.int32)
    return jax.lax.bitcast_convert_type(bits.min(axis=-1), jnp.float32)


def highest(values: jax.Array) -> jax.Array:
    """Maximum over the slots of any float32, [B, N] -> [B]."""
    bits = jax.lax.bitcast_convert_type(values, jnp.int32)
    most = _ordered(bits).max(axis=-1)
    return jax.lax.bitcast_convert_type(_ordered(most), jnp.float32)


def _ordered(bits: jax.Array) -> jax.Array:
    """Integers in the order of the floats; its own inverse."""
    return bits ^ (jax.lax.shift_right_arithmetic(bits, jnp.full_like(bits, 31)) & jnp.int32(0x7FFFFFFF))


def numbers(count: int) -> jax.Array:
    """0 to N - 1, int32 [N]."""
    return jnp.arange(count, dtype=jnp.int32)


def first(gaps: jax.Array) -> tuple[jax.Array, jax.Array]:
    """The least of float32 gaps and its slot, [B, N] -> float32 [B], int32 [B]; what is below 0 counts as 0.

    The gap is rounded down by at most one part in 2^(23 - bits of N). Of two that are as near it is the lower slot, and slot 0 where all
    are infinite.
    """
    mask = jnp.int32(2 ** (gaps.shape[-1] - 1).bit_length() - 1)
    bits = jax.lax.bitcast_convert_type(jnp.maximum(gaps, 0), jnp.int32)
    packed = ((bits & ~mask) | numbers(gaps.shape[-1])).min(axis=-1)
    return jax.lax.bitcast_convert_type(packed & ~mask, jnp.float32), packed & mask


def at(slot: jax.Array, count: int) -> jax.Array:
    """Which of N slots it is, bool [B, N]; slot int32 [B]."""
    return numbers(count) == slot[..., None]


def pick(values: jax.Array, here: jax.Array) -> jax.Array:
    """The float32 entry where `here` is true, [B, N] or [N] -> [B]; 0 where it is true nowhere."""
    bits = jax.lax.bitcast_convert_type(values, jnp.int32)
    return jax.lax.bitcast_convert_type(_or(jnp.where(here, bits, 0)), jnp.float32)


def some(values: jax.Array) -> jax.Array:
    """Whether any is true, bool [B, N] -> [B]."""
    return _or(values.astype(jnp.int32)) > 0


def _or(bits: jax.Array) -> jax.Array:
    return jax.lax.reduce(bits, jnp.int32(0), jax.lax.bitwise_or, (bits.ndim - 1,))
