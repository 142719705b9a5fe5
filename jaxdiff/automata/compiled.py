"""Policies as bit masks: the linear form of an APL program.

In APL the pointer never depends on data: where an instruction reads is fixed by the program and by how long the history is. So a
program computes V = v0 + sum_j a_j h_j (mod 3) and U = u0 + sum_j b_j h_j (mod 4) over the last bits h_0, h_1, ... of the history,
with a_j in 0..2 and b_j in 0..3, and an action is four popcounts over one 32-bit shift register. At the start of a history the
pointer is clamped, which changes where instructions read; with w bits a step and L instructions that is over after
ceil(L / w) - 1 steps. Each of those steps has masks of its own (a *stage*), the last stage serves for ever.

The register takes three bits a step whatever the policy is shown, in the order in which the agent's frame stores them (left,
centre, right; see `ring`); what the policy is shown, and in which order, only decides which register bit an offset means.
Axes: P programs, L instructions, S stages.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from jaxdiff.automata import opcodes
from jaxdiff.automata.opcodes import BACK, FWD, U_MODULUS, UADD1, UADDM, V_MODULUS, VADD1, VADDM
from jaxdiff.core.errors import require

BITS_PER_STEP = 3
REGISTER = 32
_PLACE = {"l": 0, "c": 1, "r": 2}


@partial(jax.tree_util.register_dataclass, data_fields=["a1", "a2", "b1", "b2", "v0", "u0"], meta_fields=[])
@dataclass(frozen=True)
class Linear:
    """Programs in linear form.

    Attributes:
        a1, a2: masks of the register bits with a_j = 1 and a_j = 2, uint32 [S, P].
        b1, b2: masks of the low and of the high bit of b_j, uint32 [S, P].
        v0, u0: constants, uint32 [P].
    """

    a1: jax.Array
    a2: jax.Array
    b1: jax.Array
    b2: jax.Array
    v0: jax.Array
    u0: jax.Array


def check_observation(observation: str) -> None:
    """Refuse an observation order that is not two or three different letters of c, l, r."""
    good = (
        isinstance(observation, str)
        and 2 <= len(observation) <= 3
        and len(set(observation)) == len(observation)
        and set(observation) <= set("clr")
    )
    require(good, "observation", observation, "two or three different letters of c, l and r, in the order in which they are appended")


def longest_program(observation: str = "clr") -> int:
    """How many instructions a program may have so that everything it can read fits in the register."""
    return len(observation) * (REGISTER // BITS_PER_STEP)


def register_bits(length: int, observation: str = "clr") -> np.ndarray:
    """Register bit of every offset 0..length-1, int32 [length]: offset 0 is the last bit appended."""
    shown = observation[::-1]
    return np.array([BITS_PER_STEP * (j // len(shown)) + _PLACE[shown[j % len(shown)]] for j in range(length)], np.int32)


def stages(length: int, observation: str = "clr") -> int:
    """S for programs of `length` instructions: the clamped steps and one more."""
    return max(-(-length // len(observation)), 1)


def check_programs(programs: object, observation: str = "clr") -> np.ndarray:
    """Programs [..., L] as int8 on the host, or a refusal, see `opcodes.checked`."""
    return opcodes.checked(programs, longest_program(observation))


def compile_programs(programs: jax.Array, observation: str = "clr") -> Linear:
    """Linear form of programs int8 [P, L] (checked before, see `check_programs`)."""
    return _compile(jnp.asarray(programs), observation)


@partial(jax.jit, static_argnums=1)
def _compile(programs: jax.Array, observation: str) -> Linear:
    count, length = programs.shape
    # History lengths: clamped ones, and one that no program of this length can reach the start of.
    history = jnp.asarray([len(observation) * (t + 1) for t in range(stages(length, observation) - 1)] + [length + 1], jnp.int32)[:, None]
    bit_of = jnp.asarray(register_bits(length + 1, observation).clip(max=REGISTER - 1))
    zero = jnp.zeros((history.shape[0], count), jnp.uint32)

    def instruction(carry: tuple[jax.Array, ...], op: jax.Array) -> tuple[tuple[jax.Array, ...], None]:
        offset, a1, a2, b1, b2, v0, u0 = carry
        here = jnp.uint32(1) << bit_of[offset].astype(jnp.uint32)
        v, u = jnp.where(op == VADDM, here, jnp.uint32(0)), jnp.where(op == UADDM, here, jnp.uint32(0))
        # One more in the two-bit digit of this register bit: modulo 3 (digits 00, 01, 10) and modulo 4.
        a1, a2 = (a1 & ~v) | (v & ~a1 & ~a2), (a2 & ~v) | (v & a1)
        b1, b2 = b1 ^ u, b2 ^ (u & b1)
        v0 = (v0 + (op == VADD1).astype(jnp.uint32)) % jnp.uint32(V_MODULUS)
        u0 = (u0 + (op == UADD1).astype(jnp.uint32)) % jnp.uint32(U_MODULUS)
        move = (op == BACK).astype(jnp.int32) - (op == FWD).astype(jnp.int32)
        offset = jnp.clip(offset + move, 0, history - 1)
        return (offset, a1, a2, b1, b2, v0, u0), None

    start = (jnp.zeros((history.shape[0], count), jnp.int32), zero, zero, zero, zero, zero[0], zero[0])
    (_, a1, a2, b1, b2, v0, u0), _ = jax.lax.scan(instruction, start, programs.T)
    return Linear(a1, a2, b1, b2, v0, u0)


def remember(register: jax.Array, seen: jax.Array) -> jax.Array:
    """The register after three more bits, see `ring.observe`."""
    return (register << jnp.uint32(BITS_PER_STEP)) | seen


# x mod 3 for x in 0..15, two bits each.
_MOD3 = sum((x % 3) << (2 * x) for x in range(16))


def act(stage: tuple[jax.Array, ...], register: jax.Array) -> tuple[jax.Array, jax.Array]:
    """The action that a stage (a1, a2, b1, b2, v0, u0) takes on a register.

    Returns:
        shift: uint32, 0 left, 1 stay, 2 right, that is (V + 1) mod 3.
        upshot: uint32; its two lowest bits are U.
    """
    a1, a2, b1, b2, v0, u0 = stage
    ones = jax.lax.population_count
    upshot = u0 + ones(register & b1) + (ones(register & b2) << jnp.uint32(1))
    v = v0 + jnp.uint32(1) + ones(register & a1) + (ones(register & a2) << jnp.uint32(1))
    # v is at most 93; 4 = 1 (mod 3), so folding the high bits down twice leaves at most 9, and a 16-entry table does the rest.
    for _ in range(2):
        v = (v >> jnp.uint32(2)) + (v & jnp.uint32(3))
    return (jnp.uint32(_MOD3) >> (v << jnp.uint32(1))) & jnp.uint32(3), upshot
