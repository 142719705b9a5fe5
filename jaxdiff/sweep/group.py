"""A labelled dataset inside a store folder: a zarr group that is either whole or absent.

Results that are made of a sweep lie beside its rewards in the same folder. A group is written under another name and moved into place;
its kind, format and a digest of its arrays are attributes, so that another kind is refused and a flipped bit is noticed.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from jaxdiff.core.errors import InputError, require
from jaxdiff.sweep import labelled

if TYPE_CHECKING:
    import xarray as xr


def save(dataset: xr.Dataset, store: str | Path, group: str, kind: str) -> Path:
    """Write a dataset as a group of a store, over one of the same name.

    Args:
        dataset: what to write.
        store: the store's folder; made if it is not there.
        group: name of the group, one word.
        kind: what sort of results these are, such as `item-bank`.

    Returns:
        the group's folder.

    Raises:
        InputError: a group name that is no word, or a folder that cannot be made or written.
    """
    import zarr

    require(group.isidentifier(), "group", group, "one word of letters, digits and _")
    folder, place = Path(store), Path(store) / group
    dataset = dataset.assign_attrs(jaxdiff_kind=kind, jaxdiff_format=labelled.FORMAT, jaxdiff_digest=digest(dataset))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / "zarr.json").exists():
            zarr.open_group(folder, mode="a")
        beside = Path(tempfile.mkdtemp(prefix=f".{group}-", dir=folder))
    except OSError as error:
        raise InputError("store", str(folder), f"a folder that can be made and written ({error.strerror})") from error
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # texts have no settled form in the zarr 3 specification; this version reads its own
            dataset.to_zarr(beside / "new", mode="w", consolidated=False)
        if place.exists():
            place.rename(beside / "old")
        (beside / "new").rename(place)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return place


def load(store: str | Path, group: str, kind: str) -> xr.Dataset:
    """Read a group into memory.

    Args:
        store: the store's folder.
        group: name of the group.
        kind: what sort of results is expected.

    Raises:
        InputError: no such store or group, of another kind or format, cut short or damaged.
    """
    import xarray as xr

    place = Path(store) / group
    if not (place / "zarr.json").is_file():
        there = f"{store}, without {group}" if Path(store).is_dir() else f"{store}, which is no folder"
        raise InputError("store", there, f"a store that holds {group}; `jaxdiff sweep` makes them, unless it is told not to")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            dataset = xr.open_zarr(place, consolidated=False).load()
    except Exception as error:  # what a damaged file raises depends on the codec that meets it
        raise InputError("store", f"{place}, not readable ({type(error).__name__})", "a whole store") from error
    labelled.check_kind(dataset, str(place), kind, "store")
    if dataset.attrs.get("jaxdiff_digest") != digest(dataset):
        raise InputError("store", f"{place}, damaged: its numbers are not those that were written", "a whole store")
    return dataset


def digest(dataset: xr.Dataset) -> str:
    """Checksum of names, shapes and values of all variables and of the attributes, but for its own (SHA-256, hexadecimal)."""
    sha = hashlib.sha256()
    own = {name: value for name, value in dataset.attrs.items() if not str(name).startswith("jaxdiff_")}
    sha.update(json.dumps(own, sort_keys=True, default=lambda value: value.tolist()).encode())
    for name in sorted(map(str, dataset.variables)):
        value = np.ascontiguousarray(dataset[name].values)
        texts = value.dtype.kind in "OUT"
        sha.update(f"{name} {value.shape} {'text' if texts else value.dtype.str}".encode())
        sha.update("\n".join(map(str, value.reshape(-1))).encode() if texts else value.tobytes())
    return sha.hexdigest()
