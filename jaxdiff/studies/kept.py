"""What keeps pieces of a long study, so that a run that was stopped goes on where it was; how, is known at the rim (`cli.pieces`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

Piece = Mapping[str, np.ndarray]
# (name, what it depends on, how to make it) -> the piece, made or kept.
Keep = Callable[[str, Mapping[str, Any], Callable[[], Piece]], Piece]


def forget(name: str, about: Mapping[str, Any], make: Callable[[], Piece]) -> Piece:
    """Keeps nothing: every piece is made."""
    return make()
