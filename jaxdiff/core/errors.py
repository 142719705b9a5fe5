"""Refusal of bad input.

Everything that enters the library from outside (constructors, `make`, the command line, file readers) is checked once, there,
and refused with one sentence that names the argument, the value it had and what is allowed.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np


class InputError(ValueError):
    """An argument from outside is not acceptable.

    Attributes:
        argument: name of the argument, as the caller wrote it.
        value: what it was.
        allowed: what would have been accepted.
    """

    def __init__(self, argument: str, value: object, allowed: str) -> None:
        self.argument = argument
        self.value = value
        self.allowed = allowed
        super().__init__(f"{argument} is {_shown(value)}; allowed: {allowed}")


def _shown(value: object, longest: int = 120) -> str:
    """A representation of `value` that fits in a sentence; text of several words is taken to be a description of the value."""
    item = getattr(value, "item", None)
    value = item() if item is not None and getattr(value, "ndim", None) == 0 else value
    text = " ".join((value if isinstance(value, str) and " " in value else repr(value)).split())
    return text if len(text) <= longest else text[: longest - 3] + "..."


def require(condition: bool, argument: str, value: object, allowed: str) -> None:
    """Raise `InputError` unless `condition` holds."""
    if not condition:
        raise InputError(argument, value, allowed)


def require_integer(argument: str, value: Any, low: int, high: int | None = None) -> None:
    """Raise `InputError` unless `value` is an integer from `low` to `high` (or of at least `low`)."""
    allowed = f"an integer of at least {low}" if high is None else f"an integer from {low} to {high}"
    try:
        number = operator.index(value)
    except TypeError as error:
        raise InputError(argument, value, allowed) from error
    require(low <= number and (high is None or number <= high), argument, value, allowed)


def as_array(argument: str, value: Any, allowed: str, dtype: Any = None) -> np.ndarray:
    """`value` as a NumPy array (of a dtype), or an `InputError` where it cannot be one."""
    import numpy as np

    try:
        return np.asarray(value, dtype)
    except (TypeError, ValueError) as error:
        raise InputError(argument, value, allowed) from error
