"""Tables that are made once and kept in the user's cache folder.

A file is a header of one page (kind, version, shape, checksum) and the raw numbers, which are mapped into memory: several processes share
them. A file of another version, cut short or with a wrong checksum is made again; where nothing can be written, the table is made each
time.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np

from jaxdiff.core.errors import InputError
from jaxdiff.core.files import whole

_PAGE = 4096


def folder() -> Path:
    """The cache folder: `JAXDIFF_CACHE`, else `jaxdiff` in the user's cache folder (`XDG_CACHE_HOME`, or `.cache` at home)."""
    chosen = os.environ.get("JAXDIFF_CACHE")
    return Path(chosen) if chosen else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "jaxdiff"


def kept(name: str, version: int, shape: tuple[int, ...], dtype: str, make: Callable[[], np.ndarray]) -> np.ndarray:
    """A table from the cache, or made and put there.

    Args:
        name: of the table; the file is `name.table`.
        version: raised whenever the meaning or the making of the table changes.
        shape, dtype: what the table must be.
        make: makes it.

    Returns:
        the table, read-only.
    """
    path = folder() / f"{name}.table"
    found = _read(path, name, version, shape, dtype)
    if found is not None:
        return found
    table = np.ascontiguousarray(make())
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _write(path, name, version, table)
    except (OSError, InputError):
        table.flags.writeable = False
        return table
    written = _read(path, name, version, shape, dtype)
    return table if written is None else written


def _header(name: str, version: int, shape: tuple[int, ...], dtype: str, checksum: int) -> bytes:
    what = {"jaxdiff": name, "version": version, "shape": list(shape), "dtype": dtype, "crc32": checksum}
    return json.dumps(what).encode().ljust(_PAGE)


def _write(path: Path, name: str, version: int, table: np.ndarray) -> None:
    with whole(path) as beside, beside.open("wb") as file:
        file.write(_header(name, version, table.shape, table.dtype.name, zlib.crc32(table.data)))
        file.write(table.data)


def _read(path: Path, name: str, version: int, shape: tuple[int, ...], dtype: str) -> np.ndarray | None:
    """The table, or None where there is no whole file of this very kind."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    try:
        if path.stat().st_size != _PAGE + size:
            return None
        with path.open("rb") as file:
            header = file.read(_PAGE)
        table = np.memmap(path, dtype, "r", _PAGE, shape)
    except OSError:
        return None
    return table if header == _header(name, version, shape, dtype, zlib.crc32(table.data)) else None
