"""Files that workers read by blocks."""

import numpy as np
import pytest
import zarr

from manyviews.distributed import files


@pytest.fixture
def store(tmp_path):
    group = zarr.open_group(str(tmp_path / "x.zarr"), mode="w")
    make = group.create_array if hasattr(group, "create_array") else group.create_dataset
    X = np.arange(120.0).reshape(40, 3)
    for name, array in {"a": X, "b/c": -X}.items():
        make(name, shape=array.shape, chunks=(7, 2), dtype=array.dtype)[...] = array
    return tmp_path / "x.zarr", X


def test_arrays_of_a_store_are_read_by_rows(store, monkeypatch):
    monkeypatch.setattr(files, "BLOCK_BYTES", 8 * 6 * 11)
    place, X = store
    views = files.open_blocks({"a": (str(place / "a"), None), "c": (str(place), ["b/c"])}).views
    assert views["a"].chunks == ((11, 11, 11, 7), (3,))
    assert np.array_equal(views["a"].compute(), X)
    assert np.array_equal(views["c"].compute(), -X)
    by_pattern = files.open_blocks({"c": (str(place), ["b*"])}).views
    assert np.array_equal(by_pattern["c"].compute(), -X)


def test_a_group_is_no_single_view(store):
    with pytest.raises(ValueError, match=r"2 arrays of two dimensions \(a, b/c\); name one"):
        files.open_blocks({"a": (str(store[0]), None)})
    with pytest.raises(ValueError, match="have no names"):
        files.open_blocks({"a": (str(store[0] / "a"), ["0"])})
