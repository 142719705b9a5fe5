"""Elementary cellular automata: all 256 rules, circular, any width of at least 3.

A rule is a truth table over (left, centre, right): bit 4 l + 2 c + r of the rule's number is the new cell. Inside, 32 cells share
one unsigned word and a step is seven selects between words, whatever the rule, so rules are a batch axis and not a recompilation.
Axes: N cells, K words, `...` any batch.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from jaxdiff.core.errors import InputError, as_array, require

WORD = 32


def words_for(width: int) -> int:
    """How many 32-bit words hold `width` cells."""
    return -(-width // WORD)


def pack(cells: jax.Array) -> jax.Array:
    """Cells [..., N] in {0, 1} to words uint32 [K, ...]; cell i is bit i % 32 of word i // 32."""
    width = cells.shape[-1]
    count = words_for(width)
    padded = jnp.pad(cells.astype(jnp.uint32), [(0, 0)] * (cells.ndim - 1) + [(0, count * WORD - width)])
    lanes = padded.reshape((*cells.shape[:-1], count, WORD)) << jnp.arange(WORD, dtype=jnp.uint32)
    return jnp.moveaxis(lanes.sum(-1, dtype=jnp.uint32), -1, 0)


def unpack(words: jax.Array, width: int) -> jax.Array:
    """Words uint32 [K, ...] to cells uint8 [..., width]."""
    bits = (jnp.moveaxis(words, 0, -1)[..., None] >> jnp.arange(WORD, dtype=jnp.uint32)) & jnp.uint32(1)
    return bits.reshape((*words.shape[1:], words.shape[0] * WORD))[..., :width].astype(jnp.uint8)


def rule_masks(rule: jax.Array) -> tuple[jax.Array, ...]:
    """The truth table of a rule [...] as eight words [...], each all zeros or all ones."""
    rule = jnp.asarray(rule).astype(jnp.uint32)
    return tuple(jnp.uint32(0) - ((rule >> jnp.uint32(k)) & jnp.uint32(1)) for k in range(8))


def apply_rule(masks: tuple[jax.Array, ...], left: jax.Array, centre: jax.Array, right: jax.Array) -> jax.Array:
    """New cells from the three neighbourhood words: seven selects, bit by bit (a select is one ternary-logic instruction)."""

    def choose(condition: jax.Array, if_one: jax.Array, if_zero: jax.Array) -> jax.Array:
        return (condition & if_one) | (~condition & if_zero)

    by_right = [choose(right, masks[2 * k + 1], masks[2 * k]) for k in range(4)]
    by_centre = [choose(centre, by_right[2 * k + 1], by_right[2 * k]) for k in range(2)]
    return choose(left, by_centre[1], by_centre[0])


def step_words(words: jax.Array, masks: tuple[jax.Array, ...], width: int) -> jax.Array:
    """One update of a packed ring, words uint32 [K, ...]; bits past `width` stay 0."""
    one = jnp.uint32(1)
    top = jnp.uint32((width - 1) % WORD)
    from_left = jnp.concatenate([(words[-1:] >> top) & one, words[:-1] >> jnp.uint32(WORD - 1)])
    from_right = jnp.concatenate([words[1:] << jnp.uint32(WORD - 1), (words[:1] & one) << top])
    new = apply_rule(masks, (words << one) | from_left, words, (words >> one) | from_right)
    used = np.full(words.shape[0], 0xFFFFFFFF, np.uint32)
    used[-1] = (1 << (int(width - 1) % WORD + 1)) - 1
    return new & used.reshape((-1,) + (1,) * (words.ndim - 1))


def step(cells: Any, rule: Any) -> jax.Array:
    """One update.

    Args:
        cells: configurations [..., N], 0 or 1, N >= 3.
        rule: rule number 0..255, an integer or an array that broadcasts with `...`.

    Returns:
        uint8 [..., N] (batch axes of `cells` and `rule` broadcast together).

    Raises:
        InputError: width below 3, a cell that is not 0 or 1, a rule outside 0..255.
    """
    return advance(cells, rule, 1)


def advance(cells: Any, rule: Any, steps: int) -> jax.Array:
    """The configuration after `steps` updates, uint8 [..., N]. Arguments and errors as for `step`."""
    cells, rule = _checked(cells, rule, steps)
    return _advance(cells, rule, steps)


def evolve(cells: Any, rule: Any, steps: int) -> jax.Array:
    """The space-time diagram (paper, Figure 5).

    Returns:
        uint8 [steps + 1, ..., N]; the first row is the input. Arguments and errors as for `step`.
    """
    cells, rule = _checked(cells, rule, steps)
    return _evolve(cells, rule, steps)


def equivalent(rule: Any) -> np.ndarray:
    """The rules that are the same automaton but for exchanging left and right, zeros and ones, or both.

    Args:
        rule: rule numbers 0..255 [...].

    Returns:
        int64 [..., 4]: the rule, its mirror image, its complement, the mirror image of the complement.

    Raises:
        InputError: a rule outside 0..255.
    """
    check_rule(rule)
    hood = np.arange(8)
    mirrored = (hood >> 2) | (hood & 2) | ((hood & 1) << 2)
    table = (np.asarray(rule, np.int64)[..., None] >> hood) & 1
    tables = np.stack([table, table[..., mirrored], 1 - table[..., 7 - hood], 1 - table[..., 7 - mirrored]], axis=-2)
    return (tables << hood).sum(-1)


def representative(rule: Any) -> np.ndarray:
    """The least of the equivalent rules, which stands for its class (there are 88), int64 [...]. Argument and error as for `equivalent`."""
    return equivalent(rule).min(-1)


def check_rule(rule: Any) -> None:
    """Refuse rules outside 0..255 (concrete values only: inside jit nothing is checked)."""
    if not isinstance(rule, Tracer):
        value = np.asarray(rule)
        require(value.dtype.kind in "iub" and value.size > 0, "rule", rule, "integers from 0 to 255")
        wrong = value[(value < 0) | (value > 255)]
        require(wrong.size == 0, "rule", wrong.flat[0] if wrong.size else None, "integers from 0 to 255")


def check_cells(cells: Any) -> None:
    """Refuse configurations that are too narrow or hold something other than 0 and 1 (concrete values only)."""
    shape = cells.shape if isinstance(cells, Tracer) else as_array("cells", cells, "0 and 1 only, [..., N]").shape
    require(len(shape) >= 1 and shape[-1] >= 3, "width", shape[-1] if shape else 0, "an integer of at least 3")
    if not isinstance(cells, Tracer):
        value = np.asarray(cells)
        wrong = value[(value != 0) & (value != 1)]
        require(wrong.size == 0, "cells", f"a configuration with a {wrong.flat[0]}" if wrong.size else None, "0 and 1 only")


def _checked(cells: Any, rule: Any, steps: int) -> tuple[jax.Array, jax.Array]:
    check_cells(cells)
    check_rule(rule)
    require(steps >= 0, "steps", steps, "an integer of at least 0")
    cells, rule = jnp.asarray(cells).astype(jnp.uint8), jnp.asarray(rule).astype(jnp.uint32)
    try:
        batch = jnp.broadcast_shapes(cells.shape[:-1], rule.shape)
    except ValueError as error:
        raise InputError("rule", f"of shape {rule.shape}", f"a shape that broadcasts with the batch {cells.shape[:-1]} of cells") from error
    return jnp.broadcast_to(cells, (*batch, cells.shape[-1])), rule


@partial(jax.jit, static_argnums=2)
def _advance(cells: jax.Array, rule: jax.Array, steps: int) -> jax.Array:
    width, masks = cells.shape[-1], rule_masks(rule)
    words = jax.lax.fori_loop(0, steps, lambda _, w: step_words(w, masks, width), pack(cells))
    return unpack(words, width)


@partial(jax.jit, static_argnums=2)
def _evolve(cells: jax.Array, rule: jax.Array, steps: int) -> jax.Array:
    width, masks = cells.shape[-1], rule_masks(rule)

    def body(words: jax.Array, _: None) -> tuple[jax.Array, jax.Array]:
        return step_words(words, masks, width), unpack(words, width)

    last, rows = jax.lax.scan(body, pack(cells), None, length=steps)
    return jnp.concatenate([rows, unpack(last, width)[None]])
