import numpy as np
import pytest
import xarray as xr

from jaxdiff.core.errors import InputError
from jaxdiff.sweep import group

pytestmark = pytest.mark.host


@pytest.fixture
def dataset():
    return xr.Dataset({"x": ("a", np.arange(1000.0)), "name": ("b", ["one", "two"])}, attrs={"gamma": 0.1})


def test_written_read_and_written_over(dataset, tmp_path):
    store = tmp_path / "deep" / "bank.zarr"
    assert group.save(dataset, store, "items", "things") == store / "items"
    again = group.load(store, "items", "things")
    xr.testing.assert_equal(again, dataset)
    assert again.attrs["gamma"] == 0.1
    group.save(dataset + dataset.drop_vars("name"), store, "items", "things")
    np.testing.assert_array_equal(group.load(store, "items", "things").x, 2 * dataset.x)
    assert sorted(p.name for p in store.iterdir()) == ["items", "zarr.json"]


def test_an_existing_store_keeps_what_it_has(dataset, tmp_path):
    import zarr

    zarr.open_group(tmp_path / "s.zarr", mode="w", attributes={"mine": 1}).create_array("rewards", data=np.arange(5))
    group.save(dataset, tmp_path / "s.zarr", "items", "things")
    root = zarr.open_group(tmp_path / "s.zarr", mode="r")
    assert dict(root.attrs) == {"mine": 1}
    np.testing.assert_array_equal(np.asarray(root["rewards"]), np.arange(5))


def test_after_an_error_the_old_group_is_there_and_nothing_else(dataset, tmp_path, monkeypatch):
    store = tmp_path / "s.zarr"
    group.save(dataset, store, "items", "things")

    def full(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(xr.Dataset, "to_zarr", full)
    with pytest.raises(OSError, match="No space left"):
        group.save(dataset, store, "items", "things")
    assert sorted(p.name for p in store.iterdir()) == ["items", "zarr.json"]
    xr.testing.assert_equal(group.load(store, "items", "things"), dataset)


def test_damage_is_noticed(dataset, tmp_path):
    store = tmp_path / "s.zarr"
    group.save(dataset.assign(x=("a", np.random.default_rng(0).random(1000))), store, "items", "things")
    (chunk,) = (p for p in (store / "items" / "x").rglob("*") if p.is_file() and p.name != "zarr.json")
    data = bytearray(chunk.read_bytes())
    for place in (len(data) // 2, len(data) - 3):
        flipped = bytearray(data)
        flipped[place] ^= 0x10
        chunk.write_bytes(flipped)
        with pytest.raises(InputError, match=r"damaged|not readable"):
            group.load(store, "items", "things")


def test_refusals(dataset, tmp_path):
    with pytest.raises(InputError, match="group is 'a/b'"):
        group.save(dataset, tmp_path, "a/b", "things")
    with pytest.raises(InputError, match="a store that holds items"):
        group.load(tmp_path, "items", "things")
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="a folder that can be made"):
        group.save(dataset, tmp_path / "file", "items", "things")
    group.save(dataset, tmp_path / "s.zarr", "items", "things")
    with pytest.raises(InputError, match="kind 'things'"):
        group.load(tmp_path / "s.zarr", "items", "item-bank")
