"""Names of worlds: `make("SAECA-v0", width=21)` gives an environment and its parameters.

A world is registered as a module path and imported when it is first made, so `import jaxdiff` stays light.
"""

from __future__ import annotations

import dataclasses
import difflib
import importlib
from typing import Any

from jaxdiff.core.environment import Environment
from jaxdiff.core.errors import InputError

_ENTRIES: dict[str, str] = {
    "Alchemy-v0": "jaxdiff.alchemy.world:Alchemy",
    "Birds-v0": "jaxdiff.birds.world:Birds",
    "Lambda-v0": "jaxdiff.society.world:Lambda",
    "SAECA-v0": "jaxdiff.automata.world:SAECA",
}


def registered() -> tuple[str, ...]:
    """Names that `make` accepts, sorted."""
    return tuple(sorted(_ENTRIES))


def register(name: str, entry: str) -> None:
    """Add a world of one's own.

    Args:
        name: what `make` shall be called with.
        entry: `package.module:Class`, a frozen dataclass that implements `Environment`.

    Raises:
        InputError: the name is taken or the entry is not of that form.
    """
    if name in _ENTRIES and _ENTRIES[name] != entry:
        raise InputError("name", name, f"a name that is not taken (registered: {', '.join(registered())})")
    if entry.count(":") != 1:
        raise InputError("entry", entry, "package.module:Class")
    _ENTRIES[name] = entry


def make(name: str, **shape: Any) -> tuple[Environment[Any, Any], Any]:
    """An environment and its default parameters.

    Args:
        name: a registered name.
        **shape: structural fields of the environment (widths, lengths, switches).

    Returns:
        env, params. Two equal calls give equal, equally hashing environments, so they share one compilation.

    Raises:
        InputError: unknown name or field, or a value the world refuses.
    """
    if name not in _ENTRIES:
        close = difflib.get_close_matches(str(name), _ENTRIES, n=1, cutoff=0.4)
        hint = f" (did you mean {close[0]}?)" if close else ""
        raise InputError("name", name, f"one of {', '.join(registered())}{hint}")
    module, _, attribute = _ENTRIES[name].partition(":")
    cls = getattr(importlib.import_module(module), attribute)
    fields = [f.name for f in dataclasses.fields(cls)]
    for argument, value in shape.items():
        if argument not in fields:
            raise InputError(argument, value, f"one of the fields of {name}: {', '.join(fields)}")
    env = cls(**shape)
    return env, env.default_params
