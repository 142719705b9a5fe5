"""Actions as other libraries hand them over: whatever NumPy makes of them, checked before it is cast."""

from __future__ import annotations

from typing import Any

import numpy as np

from jaxdiff.core.errors import as_array, require


def cast_action(value: Any, dtype: Any, allowed: str) -> np.ndarray:
    """An action in the dtype of its space, or a refusal of one that the cast would make another action.

    Args:
        value: the action, or a batch of them.
        dtype: of the space.
        allowed: what is said to be allowed, in a refusal.

    Returns:
        an array of that dtype; that it lies within the space is for the caller to check.

    Raises:
        InputError: no array, or for a space of integers: not integers (or truth values), or one that the dtype does not hold.
    """
    array = as_array("action", value, allowed)
    if np.issubdtype(dtype, np.integer):
        require(array.dtype.kind in "iub", "action", value, f"{allowed}, of an integer type")
        limits = np.iinfo(dtype)
        require(bool(((array >= limits.min) & (array <= limits.max)).all()), "action", value, allowed)
    return as_array("action", array, allowed, dtype)
