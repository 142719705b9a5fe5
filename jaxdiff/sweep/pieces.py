"""Pieces of a long run, kept as files: a run that was stopped goes on where it was.

A piece is an npz file with its arrays and a text that says what it depends on. One that was made from other settings, or by another
version, is made anew.
"""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

import jaxdiff
from jaxdiff.core.files import whole

Piece: TypeAlias = Mapping[str, np.ndarray]
# Name of a piece, what it depends on, what makes it: the piece.
Keep: TypeAlias = Callable[[str, Mapping[str, Any], Callable[[], Piece]], Piece]
_ABOUT = "about"


def forget(name: str, about: Mapping[str, Any], make: Callable[[], Piece]) -> Piece:
    """Keeps nothing."""
    del name, about
    return make()


def keeper(folder: Path) -> Keep:
    """What remembers pieces in a folder, which is made if need be; see `Keep`."""
    folder.mkdir(parents=True, exist_ok=True)

    def keep(name: str, about: Mapping[str, Any], make: Callable[[], Piece]) -> Piece:
        path = folder / (re.sub(r"[^a-z0-9_]+", "-", name.lower()) + ".npz")
        text = json.dumps({"jaxdiff": jaxdiff.__version__, "piece": name, **about}, sort_keys=True)
        kept = _read(path, text)
        if kept is not None:
            return kept
        piece = make()
        arrays: dict[str, Any] = {_ABOUT: np.array(text), **piece}
        with whole(path) as beside, beside.open("wb") as file:
            np.savez_compressed(file, **arrays)
        return piece

    return keep


def _read(path: Path, text: str) -> Piece | None:
    """The arrays of a file that was made from the same; None where there is none."""
    try:
        with np.load(path) as file:
            if str(file[_ABOUT]) != text:
                return None
            return {name: file[name] for name in file.files if name != _ABOUT}
    except (FileNotFoundError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None
