"""The instructions of APL and the form of a program: opcodes 0..5 in int8 [..., L], padded at the end with -1."""

from __future__ import annotations

import numpy as np

from jaxdiff.core.errors import InputError, as_array, require

OPCODES = ("back", "fwd", "Vaddm", "Vadd1", "Uaddm", "Uadd1")
BACK, FWD, VADDM, VADD1, UADDM, UADD1 = range(6)
V_MODULUS, U_MODULUS = 3, 4


def checked(programs: object, longest: int, argument: str = "programs") -> np.ndarray:
    """Programs on the host without columns that only pad, or a refusal.

    Args:
        programs: integers [..., L].
        longest: most instructions a program may have.
        argument: name for error messages.

    Returns:
        int8 [..., L'], L' the length of the longest program.

    Raises:
        InputError: not integers, no program, an opcode outside 0..5, an instruction after the padding, too many instructions.
    """
    value = as_array(argument, programs, "integers [..., L]")
    require(value.ndim >= 1 and value.dtype.kind in "iu", argument, f"an array of {value.dtype} {value.shape}", "integers [..., L]")
    require(int(np.prod(value.shape[:-1])) > 0, argument, "empty", "at least one program")
    wrong = value[(value < -1) | (value > UADD1)]
    require(wrong.size == 0, "opcode", wrong.flat[0] if wrong.size else None, "0..5, and -1 as padding at the end")
    padded = value < 0
    if bool(np.any(padded[..., :-1] & ~padded[..., 1:])):
        raise InputError(argument, "one with an instruction after -1", "padding at the end only")
    length = int((~padded).sum(-1).max())
    require(length <= longest, argument, f"one of {length} instructions", f"at most {longest} instructions")
    return value[..., :length].astype(np.int8)
