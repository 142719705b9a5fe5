"""How complex is a policy? Estimates of K, in the units the paper uses (section 5.2) and in bits.

Axes: P policies, L instructions, T steps.
"""

from __future__ import annotations

import math
import zlib
from typing import Any

import numpy as np

from jaxdiff.core.errors import require

# R's memCompress(type = "gzip") writes the zlib format at level 6.
_LEVEL = 6
_EMPTY = len(zlib.compress(b"", _LEVEL))


def lempel_ziv(programs: Any) -> np.ndarray:
    """The paper's K: compressed length of a program written as one digit an instruction, less that of the empty string.

    The unit is one instruction, that is log2(number of opcodes) bits (2.58 for APL), not bytes.

    Args:
        programs: opcodes int [P, L], 0..9, padded at the end with -1.

    Returns:
        int64 [P].

    Raises:
        InputError: not two axes, or an opcode that is not one digit.
    """
    value = np.asarray(programs)
    require(value.ndim == 2 and value.dtype.kind in "iu", "programs", f"an array of {value.dtype} {value.shape}", "integers [P, L]")
    require(
        not value.size or (value.min() >= -1 and value.max() <= 9), "opcode", value.max() if value.size else None, "0..9, and -1 as padding"
    )
    rows, inverse = np.unique(value.astype(np.int8), axis=0, return_inverse=True)
    return _compressed((row[row >= 0] + ord("0")).astype(np.uint8).tobytes() for row in rows)[inverse.reshape(-1)]


def action_sequence(moves: Any, upshots: Any) -> np.ndarray:
    """K of sequences of actions (paper, Figure 13): the pairs <V, U> written as two digits a step, compressed.

    Args:
        moves: int [P, T].
        upshots: int [P, T].

    Returns:
        int64 [P].
    """
    pairs = np.stack([np.asarray(moves), np.asarray(upshots)], axis=-1)
    return _compressed((row.reshape(-1) + ord("0")).astype(np.uint8).tobytes() for row in pairs)


def compressed_bits(data: bytes) -> int:
    """Compressed length of any data, less that of the empty string, in bits."""
    return 8 * (len(zlib.compress(data, _LEVEL)) - _EMPTY)


def levin_search_cost(length: Any, steps: Any, trials: Any = 1, opcodes: int = 6) -> np.ndarray:
    """LS, the logarithm of the effort of Levin search: L(pi) in bits plus log2 of the steps of verifying the policy.

    Args:
        length: instructions of the policy (shortest, or as written), [...].
        steps: steps of one trial.
        trials: trials that verify it.
        opcodes: size of the instruction set; an instruction is log2 of it bits (APL: log2 6 = 2.58).

    Returns:
        bits, float64 [...].

    Raises:
        InputError: steps or trials below 1.
    """
    require(bool(np.all(np.asarray(steps) >= 1)), "steps", steps, "at least 1")
    require(bool(np.all(np.asarray(trials) >= 1)), "trials", trials, "at least 1")
    return np.asarray(length) * math.log2(opcodes) + np.log2(np.asarray(steps, np.float64) * np.asarray(trials, np.float64))


def _compressed(texts: Any) -> np.ndarray:
    return np.array([len(zlib.compress(text, _LEVEL)) - _EMPTY for text in texts], np.int64)
