"""One-edit neighbours of programs: the graph that a search guided by reward walks on (paper, section 6.2).

Two programs are neighbours if one instruction substituted, inserted or deleted turns one into the other (edit distance 1); programs
have 1..L instructions. A program of n instructions with r runs of equal ones has 5 n substitutions, 5 n + 6 different insertions where
n < L, and r different deletions where n > 1, since it does not matter which instruction of a run is deleted, or at which end of it
another of its kind is inserted. Neighbours are numbered in this order, so a uniform number is a uniform neighbour.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from jaxdiff.automata.opcodes import OPCODES

_OTHERS = len(OPCODES) - 1


def count(program: jax.Array) -> jax.Array:
    """How many neighbours a program int8 [L] has, int32 []."""
    return sum(_parts(program), jnp.int32(0))


def neighbour(program: jax.Array, number: jax.Array) -> jax.Array:
    """Neighbour `number` (int32 [], 0..count - 1) of a program int8 [L] of at least one instruction, int8 [L]."""
    substitutions, insertions, _ = _parts(program)
    place = jnp.arange(program.shape[0], dtype=jnp.int32)
    at = number // _OTHERS
    substituted = jnp.where(place == at, _other(program, at, number % _OTHERS), program)
    added = number - substitutions
    at = jnp.minimum(added // _OTHERS, _length(program))  # the last place has all six instructions: padding is none of them
    before = jnp.where(place < at, program, jnp.roll(program, 1))
    inserted = jnp.where(place == at, _other(program, at, added - at * _OTHERS), before)
    removed = added - insertions
    first_of_run = _run_starts(program)
    run = jnp.cumsum(first_of_run, dtype=jnp.int32) - 1
    at = jnp.argmax(first_of_run & (run == removed)).astype(jnp.int32)
    after = jnp.roll(program, -1).at[-1].set(jnp.int8(-1))
    deleted = jnp.where(place < at, program, after)
    return jnp.where(added < 0, substituted, jnp.where(removed < 0, inserted, deleted))


def random_neighbour(key: jax.Array, program: jax.Array) -> jax.Array:
    """A uniform neighbour of a program int8 [L], int8 [L]. The key is consumed."""
    return neighbour(program, jax.random.randint(key, (), 0, count(program), dtype=jnp.int32))


def random_program(key: jax.Array, longest: int) -> jax.Array:
    """A program int8 [L] of uniform length 1..L with uniform instructions, as `programs.sample` draws them. The key is consumed."""
    key_length, key_op = jax.random.split(key)
    length = jax.random.randint(key_length, (), 1, longest + 1, dtype=jnp.int32)
    ops = jax.random.randint(key_op, (longest,), 0, len(OPCODES), dtype=jnp.int8)
    return jnp.where(jnp.arange(longest, dtype=jnp.int32) < length, ops, jnp.int8(-1))


def _length(program: jax.Array) -> jax.Array:
    return (program >= 0).sum(dtype=jnp.int32)


def _parts(program: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
    """How many substitutions, insertions and deletions there are, int32 [] each."""
    n = _length(program)
    zero = jnp.zeros((), jnp.int32)
    insertions = jnp.where(n < program.shape[0], _OTHERS * n + _OTHERS + 1, zero)
    return _OTHERS * n, insertions, jnp.where(n > 1, _run_starts(program).sum(dtype=jnp.int32), zero)


def _run_starts(program: jax.Array) -> jax.Array:
    """Where a run of equal instructions starts, bool [L]."""
    previous = jnp.roll(program, 1).at[0].set(jnp.int8(-1))
    return (program >= 0) & (program != previous)


def _other(program: jax.Array, at: jax.Array, number: jax.Array) -> jax.Array:
    """Instruction `number` among those that do not stand at a place, in ascending order, int8 [].

    An insertion before an equal instruction is left out, being the same as one behind it. Behind the end nothing stands, or padding.
    """
    there = jnp.where(at < program.shape[0], program[jnp.minimum(at, program.shape[0] - 1)], jnp.int8(-1))
    there = jnp.where(there < 0, jnp.int8(len(OPCODES)), there)
    return (number + (number >= there)).astype(jnp.int8)
