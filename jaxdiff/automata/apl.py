"""APL, the agent policy language (paper, Definition 6): text, meaning, simplification.

A program is a list of six instructions over a memory of bits, a pointer b and two accumulators V (move) and U (upshot):
back and fwd move the pointer within the memory, Vaddm and Uaddm add the bit under it, Vadd1 and Uadd1 add one; V counts modulo 3, U
modulo 4. At every step the observation is appended to the memory and the pointer starts at its end.

`interpret` is the definition, read off the paper; `compiled` is the fast form and `shortest` the exact minimiser; tests hold them together.
Programs are int8 [P, L] with opcodes 0..5, padded with -1. Axes: P programs, L instructions.
"""

from __future__ import annotations

import difflib
from functools import lru_cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxdiff.automata.compiled import check_programs
from jaxdiff.automata.opcodes import BACK, FWD, OPCODES, U_MODULUS, UADD1, UADDM, V_MODULUS, VADD1, VADDM
from jaxdiff.automata.shortest import same_behaviour as same_behaviour
from jaxdiff.automata.shortest import shortest as shortest
from jaxdiff.core.errors import InputError, require

# The paper's list of instructions calls the accumulators X and Y, its interpreter V and U.
_WORDS = {**{word.lower(): i for i, word in enumerate(OPCODES)}, "xaddm": VADDM, "xadd1": VADD1, "yaddm": UADDM, "yadd1": UADD1}


def parse(text: str) -> np.ndarray:
    """Program from its instructions separated by blanks, int8 [L]; case does not matter, X and Y are read as V and U.

    Raises:
        InputError: a word that is no instruction.
    """
    require(isinstance(text, str), "program", text, "a string of instructions separated by blanks")
    opcodes = []
    for word in text.split():
        if word.lower() not in _WORDS:
            close = difflib.get_close_matches(word.lower(), _WORDS, n=1)
            hint = f" (did you mean {OPCODES[_WORDS[close[0]]]}?)" if close else ""
            raise InputError("instruction", word, f"{', '.join(OPCODES)}{hint}")
        opcodes.append(_WORDS[word.lower()])
    return np.array(opcodes, np.int8)


def format(program: Any) -> str:
    """Text of one program int8 [L]; padding is left out. The inverse of `parse`.

    Raises:
        InputError: not one program, or an unknown opcode.
    """
    value = np.asarray(program)
    require(value.ndim == 1, "program", f"an array of shape {value.shape}", "[L], one program")
    return " ".join(OPCODES[op] for op in check_programs(value).tolist() if op >= 0) if value.size else ""


def length(programs: Any) -> np.ndarray:
    """Number of instructions, int64 [...] for programs [..., L]."""
    return (np.asarray(programs) >= 0).sum(-1)


@jax.jit
def interpret(programs: jax.Array, memory: jax.Array, size: jax.Array) -> tuple[jax.Array, jax.Array]:
    """The definition: what programs do on a memory (paper, Definition 6, lines 2 to 15).

    Args:
        programs: int8 [P, L].
        memory: bits uint8 [M]; the first `size` are in use.
        size: bits in use, int32 [], at least 1.

    Returns:
        V int32 [P] in 0..2 (stay, right, left) and U int32 [P] in 0..3 (keep, swap, set0, set1).
    """
    memory = jnp.asarray(memory)

    def instruction(carry: tuple[jax.Array, jax.Array, jax.Array], op: jax.Array) -> tuple[tuple[jax.Array, jax.Array, jax.Array], None]:
        b, v, u = carry
        bit = memory[b].astype(jnp.int32)
        b = jnp.where(op == BACK, jnp.maximum(b - 1, 0), jnp.where(op == FWD, jnp.minimum(b + 1, size - 1), b))
        v = (v + jnp.where(op == VADDM, bit, 0) + (op == VADD1)) % V_MODULUS
        u = (u + jnp.where(op == UADDM, bit, 0) + (op == UADD1)) % U_MODULUS
        return (b, v, u), None

    def one(program: jax.Array) -> tuple[jax.Array, jax.Array]:
        zero = jnp.zeros((), jnp.int32)
        (_, v, u), _ = jax.lax.scan(instruction, (jnp.asarray(size, jnp.int32) - 1, zero, zero), program)
        return v, u

    return jax.vmap(one)(programs)


class Memory(NamedTuple):
    """A policy's memory in the environment protocol: bits uint8 [M] of which the first `size` (int32 []) are in use."""

    bits: jax.Array
    size: jax.Array


def empty_memory(bits: int) -> Memory:
    """Memory for `bits` bits: steps times bits of an observation."""
    return Memory(jnp.zeros((bits,), jnp.uint8), jnp.zeros((), jnp.int32))


def act(program: jax.Array, memory: Memory, observation: jax.Array, is_first: jax.Array, key: jax.Array) -> tuple[Memory, jax.Array]:
    """One program int8 [L] as a policy for `core.rollout`: append the observation, interpret, return the action int32 [2]."""
    size = jnp.where(is_first, 0, memory.size)
    bits = jax.lax.dynamic_update_slice(memory.bits, observation.astype(jnp.uint8), (size,))
    size = size + observation.shape[0]
    v, u = interpret(program[None], bits, size)
    return Memory(bits, size), jnp.stack([v[0], u[0]])


def simplify(programs: Any) -> np.ndarray:
    """The paper's kind of simplifier: cancel, trim, merge (section 5.2). Not exhaustive; see `shortest` for the exact one.

    - cancel: a fwd where the pointer stands at the end of the memory, and a back next to a fwd;
    - merge: additions between two moves commute, so three Vaddm, three Vadd1, four Uaddm or four Uadd1 among them add nothing;
    - trim: moves after the last addition.

    Like the paper's, it takes the memory to be longer than the program: what a program does in the first few steps, when its pointer
    runs into the start of the memory, may change. It never makes a program longer, and applying it twice changes nothing more.

    Args:
        programs: int8 [..., L].

    Returns:
        int8 [..., L].

    Raises:
        InputError: bad programs.
    """
    original = np.asarray(programs)
    value = check_programs(original)
    rows = value.reshape(int(np.prod(value.shape[:-1])), value.shape[-1])
    out = np.full((len(rows), original.shape[-1]), -1, np.int8)
    for row, program in zip(out, rows.tolist(), strict=True):
        short = _simplify(tuple(op for op in program if op >= 0))
        row[: len(short)] = short
    return out.reshape(original.shape)


@lru_cache(maxsize=1 << 16)
def _simplify(program: tuple[int, ...]) -> tuple[int, ...]:
    """One program as additions between moves: `counts[i]` are those before `moves[i]`, in the order V m, V 1, U m, U 1."""
    modulus = (V_MODULUS, V_MODULUS, U_MODULUS, U_MODULUS)
    moves: list[int] = []
    counts: list[list[int]] = [[0, 0, 0, 0]]
    offset = 0
    for op in program:
        if op in (BACK, FWD):
            if op == FWD and offset == 0:
                continue
            offset += 1 if op == BACK else -1
            if moves and moves[-1] != op and not any(counts[-1]):
                # The last move is undone: what is added next joins what was added before it.
                moves.pop()
                counts.pop()
            else:
                moves.append(op)
                counts.append([0, 0, 0, 0])
        else:
            kind = op - VADDM
            counts[-1][kind] = (counts[-1][kind] + 1) % modulus[kind]
    while moves and not any(counts[-1]):
        moves.pop()
        counts.pop()
    out: list[int] = []
    for i, additions in enumerate(counts):
        out += [VADDM + kind for kind in range(4) for _ in range(additions[kind])]
        out += moves[i : i + 1]
    # Where additions have cancelled, moves may have become neighbours.
    return tuple(out) if len(out) == len(program) else _simplify(tuple(out))
