"""What an object's code is, as a digest: results that are kept must not outlive the code that made them."""

from __future__ import annotations

import dataclasses
import hashlib
import inspect
import sys
from typing import Any


def digest(*things: Any) -> str:
    """Digest of the source of what things are made of: their classes (or themselves, if functions), and those of what they wrap or hold.

    A module counts whole, since classes use what stands beside them; a class without a file, as of a notebook, by its own text. Code
    that has no text is left out.

    Args:
        things: worlds, functions.
    """
    parts: dict[int, Any] = {}
    for thing in things:
        _gather(thing, parts)
    texts = sorted({_text(part) for part in parts.values()})
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


def _gather(thing: Any, parts: dict[int, Any]) -> None:
    """Add a thing's classes and functions, by identity; a thing that is there already is done."""
    if id(thing) in parts:
        return
    parts[id(thing)] = thing
    if inspect.isroutine(thing) or inspect.isclass(thing):
        return
    for base in type(thing).__mro__:
        parts[id(base)] = base
    inside = [getattr(thing, name, None) for name in ("env", "unwrapped")]  # wrappers of gymnasium and gymnax
    if dataclasses.is_dataclass(thing):
        inside += [getattr(thing, field.name, None) for field in dataclasses.fields(thing)]
    for value in inside:
        if callable(value) or dataclasses.is_dataclass(value) or hasattr(value, "step"):
            _gather(value, parts)


def _text(part: Any) -> str:
    for source in (sys.modules.get(getattr(part, "__module__", None) or ""), part):
        try:
            return inspect.getsource(source)  # pyright: ignore[reportArgumentType]
        except (OSError, TypeError):
            continue
    return ""
