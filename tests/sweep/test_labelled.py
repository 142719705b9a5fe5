import os
import zipfile

import numpy as np
import pytest
import xarray as xr

from jaxdiff.core.errors import InputError
from jaxdiff.sweep import labelled

pytestmark = pytest.mark.host
DATA = xr.Dataset({"x": (("a", "b"), np.arange(6).reshape(2, 3)), "name": ("a", ["one", "two"])}, {"a": [3, 4]}, {"note": "text", "n": 3})


def test_what_is_saved_is_loaded(tmp_path):
    path = labelled.save(DATA, tmp_path / "things", "test")
    assert path == tmp_path / "things.zarr.zip"
    again = labelled.load(path, "test")
    xr.testing.assert_equal(again, DATA)
    assert again.attrs["note"] == "text"
    assert labelled.save(DATA, path, "test") == path, "a file is replaced"
    assert os.listdir(tmp_path) == ["things.zarr.zip"]


def test_a_failed_save_leaves_nothing(tmp_path):
    bad = xr.Dataset({"x": ("a", np.array([object()]))})
    with pytest.raises((TypeError, ValueError)):
        labelled.save(bad, tmp_path / "bad", "test")
    assert os.listdir(tmp_path) == []


def cut(path, tmp_path):
    out = tmp_path / "cut.zarr.zip"
    out.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    return out


def flipped(path, tmp_path):
    data = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        chunk = next(item for item in archive.infolist() if item.filename.startswith("x/c"))
    # A local header is 30 bytes, the name and an extra field whose length stands at byte 28.
    start = (
        chunk.header_offset + 30 + len(chunk.filename) + int.from_bytes(data[chunk.header_offset + 28 : chunk.header_offset + 30], "little")
    )
    data[start + chunk.compress_size // 2] ^= 0xFF
    out = tmp_path / "flipped.zarr.zip"
    out.write_bytes(bytes(data))
    return out


def text(path, tmp_path):
    out = tmp_path / "text.zarr.zip"
    out.write_text("hello")
    return out


def foreign(path, tmp_path):
    out = tmp_path / "foreign.zarr.zip"
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("a.txt", "hello")
    return out


@pytest.mark.parametrize(
    ("damage", "kind", "words"),
    [
        (cut, "test", "cut short"),
        (flipped, "test", "damaged at x/c"),
        (text, "test", "not a zip file"),
        (foreign, "test", "not readable"),
        (lambda path, tmp_path: path, "other", "a file of kind 'test'"),
        (lambda path, tmp_path: tmp_path / "none", "test", "an existing results file"),
        (lambda path, tmp_path: tmp_path, "test", "an existing results file"),
    ],
)
def test_bad_files(tmp_path, damage, kind, words):
    path = labelled.save(DATA, tmp_path / "things", "test")
    with pytest.raises(InputError, match=words):
        labelled.load(damage(path, tmp_path), kind)


def test_another_format(tmp_path, monkeypatch):
    monkeypatch.setattr(labelled, "FORMAT", 99)
    path = labelled.save(DATA, tmp_path / "things", "test")
    monkeypatch.undo()
    with pytest.raises(InputError, match="format 99"):
        labelled.load(path)


def test_no_such_folder(tmp_path):
    with pytest.raises(InputError, match="a folder that can be written"):
        labelled.save(DATA, tmp_path / "no" / "things", "test")
