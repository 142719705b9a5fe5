"""Names, sizes and categories of the public level format: everything that a level of Science Birds may hold.

Sizes are those that public level generators reckon with, in the format's own units; a thing is an upright box of that size. Numbers of
kinds are places in `NAMES`; -1 is an empty slot.
"""

from __future__ import annotations

import numpy as np

BLOCK, PIG, PLATFORM, TNT = 0, 1, 2, 3
CATEGORIES = ("Block", "Pig", "Platform", "TNT")  # tags of the format, in the order of a level's slots
_TABLE: tuple[tuple[str, int, float, float], ...] = (
    ("SquareHole", BLOCK, 0.84, 0.84),
    ("RectFat", BLOCK, 0.85, 0.43),
    ("SquareSmall", BLOCK, 0.43, 0.43),
    ("SquareTiny", BLOCK, 0.22, 0.22),
    ("RectTiny", BLOCK, 0.43, 0.22),
    ("RectSmall", BLOCK, 0.85, 0.22),
    ("RectMedium", BLOCK, 1.68, 0.22),
    ("RectBig", BLOCK, 2.06, 0.22),
    ("TriangleHole", BLOCK, 0.82, 0.82),
    ("Triangle", BLOCK, 0.82, 0.82),
    ("Circle", BLOCK, 0.8, 0.8),
    ("CircleSmall", BLOCK, 0.45, 0.45),
    ("BasicSmall", PIG, 0.5, 0.5),
    ("BasicMedium", PIG, 0.78, 0.78),
    ("BasicBig", PIG, 1.0, 1.0),
    ("Platform", PLATFORM, 0.62, 0.62),
    ("TNT", TNT, 0.66, 0.66),
)
NAMES = tuple(row[0] for row in _TABLE)
CATEGORY = np.array([row[1] for row in _TABLE], np.int8)
SIZE = np.array([row[2:] for row in _TABLE], np.float32)  # width, height
ROUND = ("Circle", "CircleSmall", "BasicSmall", "BasicMedium", "BasicBig")  # how they are drawn
MATERIALS = ("wood", "stone", "ice")
BIRDS = ("BirdRed", "BirdBlue", "BirdYellow", "BirdBlack", "BirdWhite")
EMPTY = -1
# Where things may be: the format has no bounds of its own. The ground is where public levels have it.
LEFT, RIGHT, GROUND, TOP = -20.0, 20.0, -3.5, 20.0


def numbers_of(category: int) -> tuple[int, ...]:
    """Kinds of a category."""
    return tuple(np.flatnonzero(category == CATEGORY).tolist())
