"""Numba's decorators for the planner: `jit` for its parts, and `entry` for what Python calls, kept on disk.

Numba's cache on disk looks only at the file of the function that is kept, not at those of the functions it calls. So an entry is made
inside a function that is given `STAMP`, a number made of all of the planner's sources: numba keeps a version for each value of what a
function takes from around it.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba import njit

jit: Callable[..., Any] = njit(nogil=True)
STAMP = 0
for _path in sorted(Path(__file__).parent.glob("*.py")):
    STAMP = zlib.crc32(_path.read_bytes(), STAMP)


def entry(function: Callable[..., Any]) -> Any:
    """Compile a function and keep it on disk, or only compile it where nothing can be written."""
    try:
        return njit(cache=True, nogil=True)(function)
    except RuntimeError:
        return jit(function)
