"""Figures in files, each whole or absent."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from jaxdiff.core.errors import InputError, require

# What would make two files of the same figure differ.
_METADATA: dict[str, dict[str, Any]] = {
    ".png": {"Software": None},
    ".svg": {"Date": None, "Creator": None},
    ".pdf": {"CreationDate": None, "Creator": None},
}


def save(figure: Figure, path: str | Path, dpi: float = 110) -> Path:
    """Write a figure: beside its place first, then moved there.

    Args:
        figure: what to write.
        path: file name; its ending says the format, .png (added where there is none), .svg or .pdf.
        dpi: dots per inch.

    Returns:
        the file's path.

    Raises:
        InputError: another format, or a folder that does not exist or cannot be written.
    """
    path = Path(path)
    path = path if path.suffix else path.with_name(path.name + ".png")
    suffix = path.suffix.lower()
    require(suffix in _METADATA, "path", str(path), "a file name that ends in .png, .svg or .pdf")
    require(dpi > 0, "dpi", dpi, "a number above 0")
    try:
        descriptor, name = tempfile.mkstemp(suffix=suffix, prefix=".", dir=path.parent)
    except OSError as error:
        raise InputError("path", str(path.parent), f"a folder that can be written ({error.strerror})") from error
    os.close(descriptor)
    try:
        figure.savefig(name, format=suffix[1:], dpi=dpi, metadata=_METADATA[suffix])
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(name, 0o666 & ~umask)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    return path
