"""The store of a sweep: one zarr group whose arrays are written a chunk at a time, every chunk either whole or absent.

A chunk is written beside its place and moved there, and ends with a checksum, so that one which was cut short or whose bits have
flipped is noticed and computed again. Chunks are not compressed: the same results are the same bytes, whoever writes them. The
group's attributes say which sweep the store belongs to; another sweep is refused. xarray opens the store as it is.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import uuid
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from jaxdiff.core.errors import InputError
from jaxdiff.core.held import HeldError, held
from jaxdiff.sweep import group

if TYPE_CHECKING:
    import xarray as xr
    import zarr

KIND = "sweep"
FORMAT = 2
_DIGEST, _META = "jaxdiff_digest", "zarr.json"
_WHOLE = "a whole store; the command that made it repairs it"
Region = tuple[slice, ...]


@dataclass(frozen=True)
class Variable:
    """One array of a store.

    Attributes:
        dims: names of its axes.
        shape, chunks: sizes.
        dtype: NumPy's name.
        missing: a value that no result has; what is read where no chunk is.
        long_name: what it is, with its unit.
    """

    dims: tuple[str, ...]
    shape: tuple[int, ...]
    chunks: tuple[int, ...]
    dtype: str
    missing: int
    long_name: str


@dataclass(frozen=True)
class Layout:
    """All arrays of a store.

    Attributes:
        variables: by name.
        coordinates: labels of the axes, by name.
        attributes: of the group; JSON.
        identity: what makes two sweeps the same, JSON: results under equal identities are equal.
    """

    variables: Mapping[str, Variable]
    coordinates: Mapping[str, Any] = field(default_factory=dict)
    attributes: Mapping[str, Any] = field(default_factory=dict)
    identity: Mapping[str, Any] = field(default_factory=dict)


class Store:
    """An opened store, see `open_for_writing`."""

    def __init__(self, path: Path, layout: Layout) -> None:
        self.path = path
        self._layout = layout
        self._arrays = _arrays(path, layout)

    def whole(self, regions: Mapping[str, Region]) -> bool | None:
        """Whether regions that consist of whole chunks are there: None where something is missing, False where a chunk is damaged."""
        for name, region in regions.items():
            try:
                value = self._arrays[name][region]
            except (ValueError, RuntimeError):  # a checksum that does not match
                return False
            if np.any(np.asarray(value) == self._layout.variables[name].missing):
                return None
        return True

    def write(self, regions: Mapping[str, Region], values: Mapping[str, np.ndarray]) -> None:
        """Write regions that consist of whole chunks.

        Raises:
            OSError: the disk is full or the like; chunks that are there stay whole.
        """
        import zarr

        with zarr.config.set({"array.write_empty_chunks": True}):
            for name, region in regions.items():
                self._arrays[name][region] = np.asarray(values[name], self._layout.variables[name].dtype)


def open_for_writing(path: str | Path, layout: Layout, sweep_up: bool = True) -> Store:
    """Open the store of a sweep, or make it.

    Args:
        path: folder.
        layout: what it must contain.
        sweep_up: remove what a killed process left beside its chunks, and put back labels and descriptions that are damaged; only
            where nobody else is writing.

    Raises:
        InputError: there is something else: a folder that is no store, a store of another sweep, format or version.
    """
    path = Path(path)
    if not path.exists():
        _create(path, layout)
    attributes = _attributes(path)
    _check(path, attributes, layout)
    if sweep_up:
        for left in path.rglob("*.partial"):
            left.unlink(missing_ok=True)
        if not _described(path, layout):
            _repair(path, layout)
    return Store(path, layout)


def load(path: str | Path) -> xr.Dataset:
    """A finished sweep, lazily: chunks are read, and their checksums checked, when values are asked for.

    Raises:
        InputError: no store of a sweep, one of another format, or with damaged labels.
    """
    path = Path(path)
    attributes = _attributes(path)
    if attributes.get("jaxdiff_format") != FORMAT:
        raise InputError("store", f"{path}, format {attributes.get('jaxdiff_format')}", f"format {FORMAT}, written by this version")
    return _labels(path)


def load_whole(path: str | Path) -> xr.Dataset:
    """A finished sweep in memory.

    Raises:
        InputError: as for `load`, and a store in which results are missing or damaged.
    """
    dataset = load(path)
    unfinished = "a finished store; the command that made it goes on where it stopped"
    try:
        dataset = dataset.load()
    except (ValueError, RuntimeError) as error:
        raise InputError("store", f"{path}, with damaged results", unfinished) from error
    for name in dataset.data_vars:
        if bool((dataset[name] == dataset[name].attrs["missing"]).any()):
            raise InputError("store", f"{path}, without all of its results", unfinished)
    return dataset


@contextmanager
def lock(path: str | Path) -> Iterator[None]:
    """Hold the store for this process; the operating system lets go of it when the process ends, however it ends.

    Raises:
        InputError: another process holds it (who is said), or the folder cannot be written.
    """
    path = Path(path)
    try:
        with held(path.with_name(f".{path.name}.lock"), f"process {os.getpid()} on {socket.gethostname()}"):
            yield
    except HeldError as error:
        holder = str(error) or "another process"
        raise InputError("out", str(path), f"a store that nobody else is writing; {holder} is writing this one") from error


@contextmanager
def _empty(path: Path, layout: Layout) -> Iterator[Path]:
    """A store without results, beside its place; what is left of it is removed in the end."""
    import xarray as xr
    import zarr
    from zarr.codecs import BytesCodec, Crc32cCodec

    beside = path.with_name(f".{path.name}.{uuid.uuid4().hex}.partial")
    attributes = {
        **layout.attributes,
        "jaxdiff_kind": KIND,
        "jaxdiff_format": FORMAT,
        "jaxdiff_identity": json.dumps(layout.identity, sort_keys=True),
    }
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        for left in path.parent.glob(f".{path.name}.*.partial"):
            shutil.rmtree(left, ignore_errors=True)
        coordinates = {name: np.asarray(v, object) if isinstance(v[0], str) else np.asarray(v) for name, v in layout.coordinates.items()}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # zarr's on the specification of strings
            labels = xr.Dataset(coords=coordinates, attrs=attributes)
            labels.attrs[_DIGEST] = group.digest(labels)
            labels.to_zarr(beside, consolidated=False, zarr_format=3)
        made = zarr.open_group(beside, mode="r+", zarr_format=3)
        for name, variable in layout.variables.items():
            made.create_array(
                name,
                shape=variable.shape,
                chunks=variable.chunks,
                dtype=variable.dtype,
                fill_value=variable.missing,
                filters=None,
                serializer=BytesCodec(endian="little"),
                compressors=[Crc32cCodec()],
                dimension_names=variable.dims,
                attributes={"long_name": variable.long_name, "missing": variable.missing},
            )
        yield beside
    except OSError as error:
        raise InputError("out", str(path), f"a place that can be written ({error.strerror})") from error
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _create(path: Path, layout: Layout) -> None:
    """Make the store beside its place and move it there, so that it is whole or absent too."""
    with _empty(path, layout) as beside:
        beside.rename(path)


def _repair(path: Path, layout: Layout) -> None:
    """Put back everything but results: labels, attributes and the description of every array."""
    with _empty(path, layout) as beside:
        for name in layout.coordinates:
            shutil.rmtree(path / name, ignore_errors=True)
            (beside / name).rename(path / name)
        for name in layout.variables:
            (path / name).mkdir(exist_ok=True)
            (beside / name / _META).replace(path / name / _META)
        (beside / _META).replace(path / _META)


def _described(path: Path, layout: Layout) -> bool:
    """Whether labels, attributes and descriptions are those that were written."""
    try:
        _labels(path)
        _arrays(path, layout)
    except InputError:
        return False
    return True


def _arrays(path: Path, layout: Layout) -> dict[str, zarr.Array]:
    """The arrays of results.

    Raises:
        InputError: one is missing, or is described as something else.
    """
    import zarr

    try:
        opened = zarr.open_group(path, mode="r+", zarr_format=3)
        found = {name: opened[name] for name in layout.variables}
    except Exception as error:  # what damaged text raises depends on who reads it
        raise InputError("store", f"{path}, with arrays that cannot be read ({type(error).__name__})", _WHOLE) from error
    for name, variable in layout.variables.items():
        array = found[name]
        same = isinstance(array, zarr.Array) and (array.shape, array.chunks, array.dtype.name, int(array.fill_value)) == (
            variable.shape, variable.chunks, variable.dtype, variable.missing,
        )  # fmt: skip
        if not same:
            raise InputError("store", f"{path}, in which {name} is another array", _WHOLE)
    return found  # pyright: ignore[reportReturnType]


def _labels(path: Path) -> xr.Dataset:
    """The whole store, lazily, with labels that are those that were written.

    Raises:
        InputError: they cannot be read, or are not.
    """
    import xarray as xr

    try:
        dataset = xr.open_zarr(path, consolidated=False, chunks=None)
        # Zarr's own strings are made NumPy's usual ones.
        texts = {name: np.array(c.values.tolist()) for name, c in dataset.coords.items() if c.dtype.kind in "OT"}
        dataset = dataset.assign_coords(texts)
        digest = group.digest(dataset.drop_vars(list(dataset.data_vars)))
    except Exception as error:  # what a damaged file raises depends on the codec that meets it
        raise InputError("store", f"{path}, with labels that cannot be read ({type(error).__name__})", _WHOLE) from error
    if dataset.attrs.get(_DIGEST) != digest:
        raise InputError("store", f"{path}, damaged: its labels are not those that were written", _WHOLE)
    return dataset


def _attributes(path: Path) -> dict[str, Any]:
    """Attributes of a sweep's store."""
    what = "a store made by jaxdiff sweep"
    if not path.exists():
        raise InputError("store", f"{path}, which does not exist", what)
    try:
        attributes = json.loads((path / _META).read_text())["attributes"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError("store", f"{path}, without a readable zarr.json ({type(error).__name__})", what) from error
    if not isinstance(attributes, dict):
        raise InputError("store", f"{path}, with a zarr.json that makes no sense", what)
    if attributes.get("jaxdiff_kind") != KIND:
        raise InputError("store", f"{path}, a store of kind {attributes.get('jaxdiff_kind')!r}", what)
    return attributes


def _check(path: Path, attributes: Mapping[str, Any], layout: Layout) -> None:
    found = attributes.get("jaxdiff_format")
    if found != FORMAT:
        raise InputError("out", f"{path}, a store of format {found}", f"another name, or a store of format {FORMAT}")
    there, here = json.loads(attributes["jaxdiff_identity"]), json.loads(json.dumps(layout.identity))
    different = [name for name in sorted({*there, *here}) if there.get(name) != here.get(name)]
    if different:
        shown = "; ".join(f"{name} {_short(there.get(name))}, not {_short(here.get(name))}" for name in different)
        raise InputError("out", str(path), f"another name, or the same sweep; the one there has {shown}")


def _short(value: Any) -> str:
    text = " ".join(map(str, value)) if isinstance(value, list) else str(value)
    return text if len(text) <= 40 else text[:37] + "..."
