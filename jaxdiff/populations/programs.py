"""Random APL programs: the paper's population (section 5.2)."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from jaxdiff.automata.apl import OPCODES
from jaxdiff.core.errors import require_integer

LONGEST = 20


def sample(key: jax.Array, count: int, longest: int = LONGEST, populations: int | None = None) -> np.ndarray:
    """Programs with uniform length 1..longest and uniform instructions.

    Args:
        key: PRNG key; consumed.
        count: programs in a population, P.
        longest: most instructions, L.
        populations: S populations, or None for one without that axis.

    Returns:
        int8 [P, L] or [S, P, L], padded with -1.

    Raises:
        InputError: a count, length or number of populations below 1.
    """
    require_integer("policies", count, 1)
    require_integer("longest", longest, 1)
    if populations is not None:
        require_integer("populations", populations, 1)
    shape = (count,) if populations is None else (populations, count)
    key_length, key_op = jax.random.split(key)
    length = jax.random.randint(key_length, shape, 1, longest + 1, dtype=jnp.int32)
    ops = jax.random.randint(key_op, (*shape, longest), 0, len(OPCODES), dtype=jnp.int8)
    return np.asarray(jnp.where(jnp.arange(longest, dtype=jnp.int32) < length[..., None], ops, jnp.int8(-1)))
