"""Libraries that a plain installation does not have."""

from __future__ import annotations

import importlib
from types import ModuleType

from jaxdiff.core.errors import InputError


def needed(module: str, extra: str) -> ModuleType:
    """Import an optional library.

    Raises:
        InputError: it is not installed; says which extra brings it.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise InputError(module, f"not installed ({error})", f"an installation with it: pip install 'jaxdiff[{extra}]'") from error
