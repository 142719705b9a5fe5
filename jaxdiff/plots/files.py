"""Figures in files, each whole or absent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from jaxdiff.core.errors import require
from jaxdiff.core.files import whole

# What would make two files of the same figure differ.
_METADATA: dict[str, dict[str, Any]] = {
    ".png": {"Software": None},
    ".svg": {"Date": None, "Creator": None},
    ".pdf": {"CreationDate": None, "Creator": None},
}


def save(figure: Figure, path: str | Path, dpi: float = 110) -> Path:
    """Write a figure.

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
    with whole(path) as beside:
        figure.savefig(beside, format=suffix[1:], dpi=dpi, metadata=_METADATA[suffix])
    return path
