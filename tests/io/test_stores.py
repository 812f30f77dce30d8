"""Zarr stores as views: files and arrays, small and large."""

import json
import pickle
import sys

import numpy as np
import pytest
import zarr

from manyviews import ConcatKMeans, FastMICE, Views
from manyviews.cli import main
from manyviews.io import read_views
from manyviews.views import stored
from manyviews.views.mapped import MappedRows

N = 150
# chunks that fit neither the rows nor the columns; wholes columns; rows in which a block is no multiple
CHUNKS = {"image": (37, 3), "rna/counts": (N, 1), "rna/atac": (11, 4)}


@pytest.fixture(scope="module")
def arrays():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=N)
    numbers = {"image": np.float32, "rna/counts": np.float64, "rna/atac": np.int16}
    return y, {
        name: (6 * (y[:, None] + 1) + rng.normal(size=(N, 4 + i))).astype(kind)
        for i, (name, kind) in enumerate(numbers.items())
    }


def save(group, name, array, chunks):
    made = empty_array(group, name, array, chunks=chunks)
    made[...] = array


def empty_array(group, name, like, **options):
    make = group.create_array if hasattr(group, "create_array") else group.create_dataset
    return make(name, shape=like.shape, dtype=like.dtype, **options)


@pytest.fixture
def store(arrays, tmp_path):
    y, views = arrays
    group = zarr.open_group(str(tmp_path / "x.zarr"), mode="w")
    for name, array in views.items():
        save(group, name, array, CHUNKS[name])
    save(group, "labels", y, (50,))
    return tmp_path / "x.zarr"


@pytest.fixture(params=["small", "large"])
def size(request, monkeypatch):
    if request.param == "large":
        monkeypatch.setattr(stored, "LARGE_STORE", 100)
        monkeypatch.setattr(stored, "BLOCK_BYTES", 700)
    return request.param


def check(views, arrays, size):
    for name, array in arrays.items():
        assert np.array_equal(views.view(name), array)
        assert isinstance(views.view(name), MappedRows) == (size == "large")


def test_a_group_holds_views_and_classes(store, arrays, size):
    data = read_views(store)
    assert data.views.names == ("image", "rna/atac", "rna/counts")
    check(data.views, arrays[1], size)
    assert data.views.view("image").dtype == np.float32
    assert np.array_equal(data.labels, arrays[0])
    assert list(data.checksums) == [str(store)]
    assert any("temporary file" in note for note in data.notes) == (size == "large")


def test_one_array_of_a_group_is_a_view(store, arrays, size):
    views = read_views({"a": (store, ["image"]), "b": (store, ["rna/counts"]), "c": store / "rna" / "atac"}).views
    check(views, dict(zip("abc", arrays[1].values(), strict=True)), size)


def test_columns_of_a_store_of_one_array(store, arrays, size):
    X = read_views({"a": (store / "image", ["1..2"])}).views.view("a")
    assert np.array_equal(X, arrays[1]["image"][:, 1:3])


def test_arrays_in_python_give_the_labels_of_the_same_numbers(store, arrays, size):
    group = zarr.open_group(str(store), mode="r")
    wanted = FastMICE(3, n_base_clusterings=3, random_state=0).fit(arrays[1])
    model = FastMICE(3, n_base_clusterings=3, random_state=0).fit({name: group[name] for name in arrays[1]})
    assert np.array_equal(model.labels_, wanted.labels_)
    assert np.array_equal(model.predict([group[name] for name in arrays[1]]), wanted.predict(list(arrays[1].values())))
    alone = FastMICE(3, n_base_clusterings=3, random_state=0)
    assert np.array_equal(alone.fit(group["image"]).labels_, alone.fit(arrays[1]["image"]).labels_)
    assert alone.fit(group).n_views_in_ == 3


def test_cluster_and_predict_write_what_npy_files_give(store, arrays, monkeypatch, tmp_path):
    monkeypatch.setattr(stored, "LARGE_STORE", 100)
    np.save(tmp_path / "image.npy", arrays[1]["image"])
    np.save(tmp_path / "rna.npy", arrays[1]["rna/counts"])
    sources = {
        "zarr": (f"--view=image={store}:image", f"--view=rna={store}/rna:counts"),
        "npy": (f"--view=image={tmp_path}/image.npy", f"--view=rna={tmp_path}/rna.npy"),
    }
    for kind, views in sources.items():
        out = str(tmp_path / kind)
        options = ["-k", "3", "--method", "fastmice", "--set", "n_base_clusterings=3", "--out", out, "--quiet"]
        assert main(["cluster", *views, *options]) == 0
        assert main(["predict", out, *views, "--out", f"{out}.csv", "--quiet"]) == 0
    for name in ("/labels.csv", ".csv"):
        assert len({(tmp_path / f"{kind}{name}").read_text() for kind in sources}) == 1
    assert (tmp_path / "npy.csv").read_text().count("\n") == N + 1


def test_chunks_that_are_not_stored_are_said(tmp_path, size):
    group = zarr.open_group(str(tmp_path / "x.zarr"), mode="w")
    X = np.zeros((40, 3))
    X[:30] = np.arange(1.0, 91.0).reshape(30, 3)
    save(group, "x", X, (10, 3))
    for place in (tmp_path / "x.zarr" / "x").rglob("*"):
        if place.is_file() and place.name in ("0.0", "0") and "c/1" not in place.as_posix() and "c/2" not in str(place):
            place.unlink()
    data = read_views(tmp_path / "x.zarr")
    assert any("chunks are not stored, and count as 0" in note for note in data.notes)
    assert not data.views.view("x")[:10].any()


@pytest.mark.filterwarnings("ignore")  # zarr says that others may not read bytes
def test_ids_and_classes_as_text_of_any_kind(arrays, tmp_path):
    y, views = arrays
    group = zarr.open_group(str(tmp_path / "x.zarr"), mode="w")
    save(group, "image", views["image"], (50, 2))
    ids = [f"sample ü{i}" for i in range(N)]
    if hasattr(group, "create_array"):
        group.create_array("ids", shape=(N,), dtype=str)[...] = np.array(ids, dtype=object)
    else:
        from numcodecs import VLenUTF8

        group.create_dataset("ids", data=np.array(ids, dtype=object), object_codec=VLenUTF8())
    save(group, "labels", np.array([f"class {i}" for i in y]).astype("S"), (50,))
    np.savez(tmp_path / "x.npz", image=views["image"], ids=np.char.encode(ids, "utf-8"), labels=y.astype("S"))
    for name in ("x.zarr", "x.npz"):
        data = read_views(tmp_path / name)
        assert data.views.sample_names.tolist() == ids
        assert [str(label).removeprefix("class ") for label in data.labels] == list(map(str, y))


def test_what_an_array_is_called_and_told_of_is_no_matter(arrays, tmp_path):
    views = arrays[1]
    group = zarr.open_group(str(tmp_path / "x.zarr"), mode="w")
    for name in ("chunks", "groups"):
        save(group, name, views["image"], (50, 2))
    group["chunks"].attrs["about"] = "cucumbers, pickled"
    assert read_views(tmp_path / "x.zarr").views.names == ("chunks", "groups")
    assert stored.is_group(group)
    assert not stored.is_store(group)


def test_what_is_neither_number_nor_text_is_said(arrays, tmp_path):
    group = zarr.open_group(str(tmp_path / "x.zarr"), mode="w")
    save(group, "image", arrays[1]["image"], (50, 2))
    save(group, "phase", np.ones(N, dtype=complex), (50,))
    assert any("phase is not used" in note and "complex" in note for note in read_views(tmp_path / "x.zarr").notes)
    save(group, "wave", np.ones((N, 2), dtype=complex), (50, 2))
    for place in (tmp_path / "x.zarr", tmp_path / "x.zarr" / "wave"):
        with pytest.raises(ValueError, match="values of type complex128; save real numbers"):
            read_views(place)
    assert read_views({"a": (tmp_path / "x.zarr", ["image"])}).views.names == ("a",)


def test_wrong_stores_are_refused_in_one_line(tmp_path, monkeypatch):
    (tmp_path / "empty.zarr").mkdir()
    group = zarr.open_group(str(tmp_path / "flat.zarr"), mode="w")
    save(group, "x", np.arange(5.0), (5,))
    save(group, "deep", np.zeros((2, 2, 2)), (2, 2, 2))
    save(group, "short", np.zeros((2, 2)), (2, 2))
    save(group, "long", np.zeros((3, 2)), (2, 2))
    annotated = zarr.open_group(str(tmp_path / "cells.zarr"), mode="w")
    annotated.attrs["encoding-type"] = "anndata"
    cases = {
        "nothing.zarr": "there is no such folder",
        "empty.zarr": "cannot be read as a zarr store",
        "flat.zarr/deep": "holds no two-dimensional array|shape",
        "flat.zarr/x": "1|two",
        "flat.zarr": "different numbers of rows",
        "flat.zarr:short": r"belong to a view, as --view NAME=.*flat\.zarr:short",
        "cells.zarr": r"save it as \.h5ad",
    }
    for name, words in cases.items():
        with pytest.raises(ValueError, match=words) as caught:
            read_views(tmp_path / name)
        assert "\n" not in str(caught.value)
    with pytest.raises(ValueError, match="'lang'"):
        read_views({"a": (tmp_path / "flat.zarr", ["lang"])})
    with pytest.raises(ValueError, match="got a 3-D array"):
        Views([group["deep"]])
    monkeypatch.setitem(sys.modules, "zarr", None)
    with pytest.raises(ValueError, match=r"pip install 'manyviews\[zarr\]'"):
        read_views(tmp_path / "flat.zarr")


def test_a_store_that_is_damaged_or_promises_too_much(tmp_path):
    for name, shape, chunks in (("many", 10**15, 1000), ("chunk", 10**12, 10**12)):
        place = tmp_path / f"{name}.zarr"
        place.mkdir()
        about = {"zarr_format": 2, "shape": [shape, 4], "chunks": [chunks, 4], "dtype": "<f8", "order": "C"}
        about |= {"compressor": None, "filters": None, "fill_value": 0}
        (place / ".zarray").write_text(json.dumps(about))
        with pytest.raises(ValueError, match=r"TMPDIR|more than the"):
            read_views(place)
    (place / ".zarray").write_text("{")
    with pytest.raises(ValueError, match="cannot be read"):
        read_views(place)


def in_stores(array, store):
    """Yield the array as one of h5py and one of zarr."""
    h5py = pytest.importorskip("h5py")
    array = np.asarray(array)
    with h5py.File(store / "x.h5", "w") as file:
        yield file.create_dataset("x", data=array)
    yield empty_array(zarr.open_group(str(store / "y.zarr"), mode="w"), "x", array)


@pytest.mark.parametrize(
    ("array", "words"),
    [(1.0, "single number"), (np.arange(3.0), r"1-D of shape \(3,\)"), (np.zeros((3, 2, 2)), "a 3-D array")],
)
def test_arrays_of_stores_that_are_no_matrix_are_refused_by_their_dimensions(tmp_path, array, words):
    """In every form that views may be given in, also where a list might be a table of rows."""
    for stored_array in in_stores(array, tmp_path):
        for given in ([stored_array], [np.zeros((3, 2)), stored_array], {"a": stored_array}):
            with pytest.raises(ValueError, match=rf"view '.*' must be 2-D \(samples × features\), got .*{words}"):
                ConcatKMeans(2).fit(given)
    with pytest.raises(ValueError, match=r"y\.zarr: x holds an array of shape"):
        read_views({"a": (tmp_path / "y.zarr", ["x"])})
    np.savez(tmp_path / "z.npz", x=array, y=np.zeros((3, 2)))
    with pytest.raises(ValueError, match=r"z\.npz: x holds an array of shape"):
        read_views({"a": (tmp_path / "z.npz", ["x"])})


def test_groups_and_arrays_without_numbers_are_no_view(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["none"] = h5py.Empty("f8")
        for item in (file.create_group("g"), file["none"], zarr.open_group(str(tmp_path / "y.zarr"), mode="w")):
            for given in ([item], {"a": item}):
                with pytest.raises(TypeError, match="without numbers of its own"):
                    ConcatKMeans(2).fit(given)
    records = np.zeros((3, 2), dtype=[("a", float)])
    for given in (records, [records]):
        with pytest.raises(TypeError, match="not numeric"):
            ConcatKMeans(2).fit(given)


class Fires:
    def __reduce__(self):
        return pytest.fail, ("a pickle was loaded",)


def test_pickles_are_never_loaded(tmp_path):
    place = tmp_path / "x.zarr"
    place.mkdir()
    about = {"zarr_format": 2, "shape": [2, 2], "chunks": [2, 2], "dtype": "<f8", "order": "C", "fill_value": 0}
    about |= {"compressor": None, "filters": [{"id": "pickle", "protocol": 5}]}
    (place / ".zarray").write_text(json.dumps(about))
    (place / "0.0").write_bytes(pickle.dumps(Fires()))
    with pytest.raises(ValueError, match="pickle"):
        read_views(place)
