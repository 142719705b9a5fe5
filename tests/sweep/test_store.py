import json
import shutil
import warnings

import numpy as np
import pytest

from jaxdiff.core.errors import InputError
from jaxdiff.sweep import store as stores
from jaxdiff.sweep.store import Layout, Variable

pytestmark = pytest.mark.host

LAYOUT = Layout(
    {"x": Variable(("row", "column"), (4, 6), (2, 3), "int32", -1, "a number")}, {"row": ["a", "b", "c", "d"]}, {"scale": 8}, {"seed": 0}
)
REGIONS = {"x": (slice(2, 4), slice(0, 6))}
VALUES = {"x": np.arange(12).reshape(2, 6)}


def made(path):
    opened = stores.open_for_writing(path, LAYOUT)
    opened.write(REGIONS, VALUES)
    return opened


def test_what_is_written_is_read_again_by_xarray_and_the_rest_is_missing(tmp_path):
    opened = made(tmp_path / "a.zarr")
    assert opened.whole(REGIONS) is True
    assert opened.whole({"x": (slice(0, 2), slice(0, 3))}) is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dataset = stores.load(tmp_path / "a.zarr")
    assert (dataset.x.sel(row=["c", "d"]).values == VALUES["x"]).all()
    assert (dataset.x.sel(row=["a", "b"]).values == -1).all()
    assert dataset.attrs["scale"] == 8
    assert dataset.x.attrs["long_name"] == "a number"


def test_values_equal_to_what_storage_would_leave_out_are_chunks_too(tmp_path):
    opened = stores.open_for_writing(tmp_path / "a.zarr", LAYOUT)
    opened.write(REGIONS, {"x": np.zeros((2, 6))})
    assert opened.whole(REGIONS) is True


@pytest.mark.parametrize("damage", ["cut short", "flipped bit", "empty"])
def test_damage_is_noticed(tmp_path, damage):
    opened = made(tmp_path / "a.zarr")
    chunk = tmp_path / "a.zarr" / "x" / "c" / "1" / "1"
    data = bytearray(chunk.read_bytes())
    if damage == "flipped bit":
        data[5] ^= 16
    chunk.write_bytes({"cut short": data[:-3], "flipped bit": data, "empty": b""}[damage])
    assert opened.whole(REGIONS) is False
    assert opened.whole({"x": (slice(2, 4), slice(0, 3))}) is True
    opened.write(REGIONS, VALUES)
    assert opened.whole(REGIONS) is True


@pytest.mark.parametrize(
    ("identity", "said"), [({"seed": 1}, "seed 0, not 1"), ({"seed": 0, "rules": [1, 2]}, "rules None, not 1 2"), ({}, "seed 0, not None")]
)
def test_another_sweep_is_refused_and_left_alone(tmp_path, identity, said):
    made(tmp_path / "a.zarr")
    other = Layout(LAYOUT.variables, LAYOUT.coordinates, LAYOUT.attributes, identity)
    with pytest.raises(InputError, match=said):
        stores.open_for_writing(tmp_path / "a.zarr", other)
    assert stores.open_for_writing(tmp_path / "a.zarr", LAYOUT).whole(REGIONS) is True


def test_what_is_no_store_is_refused(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("something")
    for name in ("folder", "file"):
        with pytest.raises(InputError, match=r"without a readable zarr\.json"):
            stores.open_for_writing(tmp_path / name, LAYOUT)
    with pytest.raises(InputError, match="does not exist"):
        stores.load(tmp_path / "nothing")


def test_another_format_or_kind_is_refused(tmp_path):
    made(tmp_path / "a.zarr")
    description = tmp_path / "a.zarr" / "zarr.json"
    original = json.loads(description.read_text())
    for name, value, said in (("jaxdiff_format", 7, "format 7"), ("jaxdiff_kind", "weather", "kind 'weather'")):
        changed = json.loads(json.dumps(original))
        changed["attributes"][name] = value
        description.write_text(json.dumps(changed))
        with pytest.raises(InputError, match=said):
            stores.open_for_writing(tmp_path / "a.zarr", LAYOUT)
        with pytest.raises(InputError, match=said):
            stores.load(tmp_path / "a.zarr")


def test_what_a_killed_process_left_is_swept_up(tmp_path):
    made(tmp_path / "a.zarr")
    left = tmp_path / "a.zarr" / "x" / "c" / "0" / "0.1234.partial"
    left.parent.mkdir(parents=True, exist_ok=True)
    left.write_bytes(b"half")
    creating = tmp_path / ".b.zarr.1234.partial"
    shutil.copytree(tmp_path / "a.zarr", creating)
    stores.open_for_writing(tmp_path / "a.zarr", LAYOUT)
    stores.open_for_writing(tmp_path / "b.zarr", LAYOUT)
    assert not left.exists()
    assert not creating.exists()


def test_a_store_has_one_writer(tmp_path):
    with (
        stores.lock(tmp_path / "a.zarr"),
        pytest.raises(InputError, match=r"process \d+ on .* is writing this one"),
        stores.lock(tmp_path / "a.zarr"),
    ):
        pass
    with stores.lock(tmp_path / "a.zarr"):
        pass
    assert list(tmp_path.iterdir()) == []


def flip(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize(
    "harm",
    [
        lambda store: flip(store / "row" / "c" / "0"),
        lambda store: shutil.rmtree(store / "row" / "c"),
        lambda store: (store / "zarr.json").write_text((store / "zarr.json").read_text().replace('"scale": 8', '"scale": 4')),
        lambda store: (store / "x" / "zarr.json").unlink(),
        lambda store: (store / "x" / "zarr.json").write_text('{"shape": ['),
        lambda store: (store / "x" / "zarr.json").write_text((store / "x" / "zarr.json").read_text().replace('"int32"', '"uint32"')),
    ],
    ids=["label flipped", "label missing", "attribute changed", "description missing", "description cut short", "another description"],
)
def test_labels_and_descriptions_that_are_damaged_are_refused_and_repaired(tmp_path, harm):
    """A flipped bit in a label would give results to another world without a word."""
    path = tmp_path / "a.zarr"
    made(path)
    before = {f.relative_to(path): f.read_bytes() for f in path.rglob("*") if f.is_file()}
    harm(path)
    with pytest.raises(InputError, match=r"repairs it|damaged|all of its"):
        stores.load_whole(path)
    opened = stores.open_for_writing(path, LAYOUT)
    assert opened.whole(REGIONS) is True, "results are kept"
    assert {f.relative_to(path): f.read_bytes() for f in path.rglob("*") if f.is_file()} == before


@pytest.mark.parametrize("text", ["[1]", '{"attributes": [1]}', '{"attributes": {}}', "{", ""])
def test_nonsense_in_the_place_of_metadata_is_refused(tmp_path, text):
    made(tmp_path / "a.zarr")
    (tmp_path / "a.zarr" / "zarr.json").write_text(text)
    for call in (lambda: stores.load(tmp_path / "a.zarr"), lambda: stores.open_for_writing(tmp_path / "a.zarr", LAYOUT)):
        with pytest.raises(InputError, match=r"zarr\.json|kind"):
            call()


def test_a_lock_that_was_just_removed_is_not_held_by_two(tmp_path, monkeypatch):
    """Whoever opened the file before its holder removed it must not take the removed one for the lock."""
    from jaxdiff.core import held

    path, taken = tmp_path / "lock", []
    path.write_text("")
    real = held._take

    def removed_meanwhile(descriptor):
        if not taken:
            path.unlink()  # the holder is done
        taken.append(descriptor)
        return real(descriptor)

    monkeypatch.setattr(held, "_take", removed_meanwhile)
    with held.held(path, "me"):
        assert len(taken) == 2, "opened anew"
        assert path.read_text() == "me"
        assert held.is_held(path)
    assert not path.exists()
    with pytest.raises(InputError), stores.lock(tmp_path / "a.zarr"):
        raise InputError("a", 1, "2")
    assert not (tmp_path / ".a.zarr.lock").exists(), "nor is it left after an error"


def test_a_place_that_cannot_be_written_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="out is"):
        stores.open_for_writing(tmp_path / "file" / "a.zarr", LAYOUT)
    with pytest.raises(InputError, match="out is"), stores.lock(tmp_path / "file" / "a.zarr"):
        pass
