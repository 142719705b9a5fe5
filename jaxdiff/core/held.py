"""A file that one process holds: the operating system lets go of it when the process ends, however it ends."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from jaxdiff.core.errors import InputError


class HeldError(Exception):
    """Another process holds the file; the message is what that process wrote into it."""


@contextmanager
def held(path: Path, text: str) -> Iterator[None]:
    """Hold a file, made if need be and removed in the end.

    Args:
        path: the file.
        text: written into it, for others to read.

    Raises:
        HeldError: another process holds it.
        InputError: it cannot be made.
    """
    while True:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            raise InputError("out", str(path.parent), f"a place that can be written ({error.strerror})") from error
        if not _take(descriptor):
            holder = os.read(descriptor, 200).decode(errors="replace").strip()
            os.close(descriptor)
            raise HeldError(holder)
        if _is(descriptor, path):
            break
        os.close(descriptor)  # whoever held it has just removed it: a file of this name is another one now
    try:
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, text.encode(), 0)
        yield
    finally:
        path.unlink(missing_ok=True)  # before it is let go, so that nobody takes it in between
        os.close(descriptor)


def is_held(path: Path) -> bool:
    """Whether some process holds the file."""
    try:
        descriptor = os.open(path, os.O_RDWR)
    except OSError:
        return False
    taken = _take(descriptor)
    os.close(descriptor)
    return not taken


def _take(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _is(descriptor: int, path: Path) -> bool:
    """Whether the name still means the opened file."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False
