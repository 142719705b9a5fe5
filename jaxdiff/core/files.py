"""Files that are either whole or absent."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from jaxdiff.core.errors import InputError


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """A name beside `path` to write to; what is there in the end is moved to `path`, and after an error nothing is left.

    Raises:
        InputError: the folder does not exist or cannot be written.
    """
    suffix = "".join(path.suffixes)
    try:
        descriptor, name = tempfile.mkstemp(suffix=suffix, prefix=".", dir=path.parent)
    except OSError as error:
        raise InputError("out", str(path.parent), f"a folder that can be written ({error.strerror})") from error
    os.close(descriptor)
    beside = Path(name)
    try:
        yield beside
        umask = os.umask(0)  # a temporary file is private; this one shall have the usual permissions
        os.umask(umask)
        beside.chmod(0o666 & ~umask)
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
