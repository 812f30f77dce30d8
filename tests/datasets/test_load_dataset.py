import json
import os
from dataclasses import FrozenInstanceError
from pathlib import Path

import numpy as np
import pytest
import scipy.io
from scipy import sparse

from manyviews import Views, datasets

RNG = np.random.default_rng(0)
DENSE = RNG.normal(size=(6, 4)).astype(np.float32)
COUNTS = sparse.csr_matrix(np.eye(6, 5, dtype=np.float32))
LABELS = np.array([0, 0, 1, 1, 2, 2])


def csr_parts(matrix, v):
    return {
        f"view_{v}_data": matrix.data,
        f"view_{v}_indices": matrix.indices,
        f"view_{v}_indptr": matrix.indptr,
        f"view_{v}_shape": np.array(matrix.shape),
    }


def save(path, **arrays):
    np.savez_compressed(path, **({"view_0": DENSE, **csr_parts(COUNTS, 1)} | arrays))
    return path


@pytest.fixture
def full(tmp_path):
    meta = {"name": "toy", "class_names": ["a", "b", "c"], "publisher": "us", "licence": "CC0"}
    names = np.array(["image", "text"])
    return save(tmp_path / "any.npz", labels=LABELS, view_names=names, meta=np.array(json.dumps(meta)))


def test_uniform_layout(full):
    data = datasets.load(full)
    assert isinstance(data.views, Views)
    assert data.views.names == ("image", "text")
    np.testing.assert_array_equal(data.views.view("image"), DENSE)
    assert data.views.view("image").dtype == np.float32
    text = data.views.view("text")
    assert sparse.issparse(text)
    assert text.format == "csr"
    np.testing.assert_array_equal(text.toarray(), COUNTS.toarray())
    np.testing.assert_array_equal(data.labels, LABELS)
    assert data.labels.dtype == np.int64
    assert (data.name, data.class_names, data.source, data.licence) == ("toy", ("a", "b", "c"), "us", "CC0")
    assert repr(data) == "Dataset('toy': 6 samples, 2 views, 3 classes)"


def test_path_may_be_text_or_path(full):
    for path in (str(full), os.path.relpath(full), Path(full)):
        assert datasets.load(path).name == "toy"


def test_upper_case_suffix(full):
    assert datasets.load(full.rename(full.with_suffix(".NPZ"))).name == "toy"


def test_labels_names_and_meta_are_optional(tmp_path):
    path = save(tmp_path / "bare.npz")
    data = datasets.load(path)
    assert data.views.names == ("view_0", "view_1")
    assert data.labels is None
    assert data.class_names == ()
    assert (data.name, data.source, data.licence) == ("bare", str(path), "unknown")
    assert repr(data) == "Dataset('bare': 6 samples, 2 views, no labels)"


@pytest.mark.parametrize(
    ("labels", "stored", "codes", "class_names"),
    [
        ([1, 1, 2, 2, 3, 3], None, LABELS, ("1", "2", "3")),
        ([1, 1, 2, 2, 3, 3], ["x", "y", "z"], LABELS, ("x", "y", "z")),
        ([0, 0, 2, 2, 0, 0], ["x", "y", "z"], [0, 0, 1, 1, 0, 0], ("x", "z")),
        ([-1, -1, 5, 5, 9, 9], None, LABELS, ("-1", "5", "9")),
        ([0, 0, 1, 1, 7, 7], ["x", "y"], LABELS, ("0", "1", "7")),
        (["b", "b", "a", "a", "c", "c"], ["x", "y", "z"], [1, 1, 0, 0, 2, 2], ("a", "b", "c")),
        ([1.0, 1.0, 2.0, 2.0, 3.0, 3.0], None, LABELS, ("1", "2", "3")),
    ],
)
def test_classes_are_numbered_from_zero(tmp_path, labels, stored, codes, class_names):
    meta = np.array(json.dumps({"class_names": stored} if stored else {}))
    data = datasets.load(save(tmp_path / "a.npz", labels=np.array(labels), meta=meta))
    np.testing.assert_array_equal(data.labels, codes)
    assert data.labels.dtype == np.int64
    assert data.class_names == class_names


def test_matlab_cell_array(tmp_path):
    cells = np.empty((1, 2), dtype=object)
    cells[0, 0], cells[0, 1] = DENSE.astype(float), RNG.normal(size=(6, 3))
    path = tmp_path / "toy.mat"
    scipy.io.savemat(path, {"X": cells, "Y": (LABELS + 1)[:, None]})
    data = datasets.load(path)
    assert [array.shape for array in data.views.arrays] == [(6, 4), (6, 3)]
    np.testing.assert_array_equal(data.labels, LABELS)
    assert data.class_names == ("1", "2", "3")


def test_registered_file_takes_source_and_licence_from_the_registry(tmp_path):
    entry = datasets.info("cornell")
    views = {f"view_{v}": np.ones((entry.n_samples, 2)) for v in range(2)}
    np.savez(tmp_path / "Cornell.npz", **views)
    data = datasets.load(tmp_path / "Cornell.npz")
    assert (data.source, data.licence) == (entry.source, entry.licence)


def test_file_of_another_size_is_not_taken_for_the_registered_set(tmp_path):
    assert datasets.load(save(tmp_path / "cornell.npz")).licence == "unknown"


def test_registered_set_that_is_not_bundled_says_where_to_get_it():
    with pytest.raises(ValueError, match="'3sources' is known but does not come with manyviews") as caught:
        datasets.load("3sources")
    for words in ("research-only", "https://github.com/cswanghao/gbs", "load('path/to/3sources.npz')"):
        assert words in str(caught.value)


def test_name_wins_over_a_folder_called_the_same(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mfeat").mkdir()
    assert len(datasets.load("mfeat").views) == 2000


def test_unknown_name():
    with pytest.raises(ValueError, match=r"no data set is called 'mfet'\. Did you mean 'mfeat'"):
        datasets.load("mfet")


@pytest.mark.parametrize("name", ["data.csv", "folder/mfeat", Path("mfeat"), "notes.txt", "a.npz.bak"])
def test_unsupported_file_lists_what_is_supported(name):
    with pytest.raises(ValueError, match=r"supported are \.npz and \.mat"):
        datasets.load(name)


@pytest.mark.parametrize("wrong", [None, 3, b"mfeat", ["mfeat"]])
def test_neither_name_nor_path(wrong):
    with pytest.raises(TypeError, match="load takes the name of a data set or the path of a file"):
        datasets.load(wrong)


def test_missing_file_is_named(tmp_path):
    for name in ("gone.npz", "gone.mat"):
        with pytest.raises(ValueError, match=name):
            datasets.load(tmp_path / name)


@pytest.mark.parametrize("keep", [0, 10, 200, -30])
def test_truncated_file_is_named(full, keep):
    full.write_bytes(full.read_bytes()[:keep])
    with pytest.raises(ValueError, match=r"any\.npz"):
        datasets.load(full)


def test_damaged_file_is_named(full):
    content = bytearray(full.read_bytes())
    content[60:120] = b"x" * 60
    full.write_bytes(bytes(content))
    with pytest.raises(ValueError, match=r"any\.npz"):
        datasets.load(full)


def test_pickled_arrays_are_refused(tmp_path):
    path = tmp_path / "pickled.npz"
    np.savez(path, view_0=np.array([{"a": 1}, None], dtype=object))
    with pytest.raises(ValueError, match=r"pickled\.npz"):
        datasets.load(path)


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"view_3": DENSE}, "view_2"),
        ({"view_0": DENSE[:4]}, "rows"),
        ({"view_0": DENSE[0]}, "view_0"),
        ({"view_names": np.array(["one"])}, "view_names"),
        ({"view_names": np.array(["one", "one"])}, "view_names"),
        ({"labels": LABELS[:4]}, "labels"),
        ({"meta": np.array("{")}, "meta"),
        ({"view_1_indices": np.array([0, 1, 2, 3, 99], dtype=np.int32)}, "view_1"),
    ],
)
def test_inconsistent_file_names_file_and_problem(tmp_path, arrays, words):
    path = save(tmp_path / "odd.npz", **arrays)
    with pytest.raises(ValueError, match=words) as caught:
        datasets.load(path)
    assert "odd.npz" in str(caught.value)


def test_missing_csr_part(tmp_path):
    parts = csr_parts(COUNTS, 0)
    parts.pop("view_0_indptr")
    path = tmp_path / "part.npz"
    np.savez(path, **parts)
    with pytest.raises(ValueError, match=r"part\.npz lacks view_0_indptr"):
        datasets.load(path)


def test_dataset_is_frozen(full):
    with pytest.raises(FrozenInstanceError):
        datasets.load(full).name = "mine"
