"""One labelled file for one study: an xarray dataset in a zipped zarr store.

A file is either whole or absent (`core.files`). What it is and which version wrote it are attributes,
so that a file of another kind is told apart and refused. A file cut short is noticed by the zip's directory, which stands at its end,
and a flipped bit by the zip's checksums.
"""

from __future__ import annotations

import warnings
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from jaxdiff.core.errors import InputError
from jaxdiff.core.files import whole

if TYPE_CHECKING:
    import xarray as xr

SUFFIX = ".zarr.zip"
FORMAT = 1


def save(dataset: xr.Dataset, path: str | Path, kind: str) -> Path:
    """Write a dataset.

    Args:
        dataset: what to write.
        path: file name; `.zarr.zip` is added where it is missing.
        kind: what sort of results these are, such as `complexity-distribution`.

    Returns:
        the file's path.

    Raises:
        InputError: the folder does not exist or cannot be written.
    """
    from zarr.storage import ZipStore

    path = Path(path)
    path = path if path.name.endswith(SUFFIX) else path.with_name(path.name + SUFFIX)
    dataset = dataset.assign_attrs(jaxdiff_kind=kind, jaxdiff_format=FORMAT)
    with whole(path) as beside, warnings.catch_warnings():
        # Zarr warns that zip stores cannot be consolidated in place and that a group written twice appears twice; neither happens here.
        warnings.simplefilter("ignore")
        with ZipStore(beside, mode="w") as store:
            dataset.to_zarr(store, mode="w", consolidated=False)
    return path


def load(path: str | Path, kind: str | None = None) -> xr.Dataset:
    """Read a dataset into memory.

    Args:
        path: file written by `save`.
        kind: what sort of results is expected; any when None.

    Raises:
        InputError: no such file, not a results file, cut short or damaged, of another kind or format.
    """
    import xarray as xr
    from zarr.storage import ZipStore

    path = Path(path)
    if not path.is_file():
        raise InputError("load", str(path), f"an existing results file (*{SUFFIX})")
    allowed = f"a whole results file (*{SUFFIX})"
    try:
        with zipfile.ZipFile(path) as archive:
            bad = archive.testzip()
        if bad is not None:
            raise InputError("load", f"{path}, damaged at {bad}", allowed)
        with ZipStore(path, mode="r") as store:
            dataset = xr.open_zarr(store, consolidated=False).load()
    except InputError:
        raise
    except zipfile.BadZipFile as error:
        raise InputError("load", f"{path}, not a zip file or cut short", allowed) from error
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        raise InputError("load", f"{path}, not readable ({type(error).__name__}: {error})", allowed) from error
    check_kind(dataset, str(path), kind)
    return dataset


def check_kind(dataset: xr.Dataset, path: str, kind: str | None, argument: str = "load") -> None:
    """Refuse a dataset from `path` that this version did not write, or that is of another kind (any kind will do when None)."""
    found = dataset.attrs.get("jaxdiff_kind")
    if found is None or (kind is not None and found != kind):
        allowed = f"a results file of kind {kind!r}" if kind else "a file written by jaxdiff"
        raise InputError(argument, f"{path}, a file of kind {found!r}", allowed)
    if dataset.attrs.get("jaxdiff_format") != FORMAT:
        raise InputError(argument, f"{path}, format {dataset.attrs.get('jaxdiff_format')}", f"format {FORMAT}, written by this version")
