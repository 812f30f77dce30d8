"""Files that hold all views: the uniform .npz layout and .mat files."""

import json
import zipfile

import h5py
import numpy as np
import pytest
from scipy import sparse
from scipy.io import savemat

from manyviews.io import read_multiview_file, read_views

RNG = np.random.default_rng(0)
A, B = RNG.normal(size=(7, 3)), RNG.normal(size=(7, 5))
Y = np.array([1, 1, 2, 2, 3, 3, 3])


def cells(*items):
    out = np.empty(len(items), dtype=object)
    out[:] = items
    return out


def csr_parts(i, matrix):
    parts = {"data": matrix.data, "indices": matrix.indices, "indptr": matrix.indptr, "shape": matrix.shape}
    return {f"view_{i}_{part}": value for part, value in parts.items()}


def test_uniform_layout(tmp_path):
    matrix = sparse.csr_matrix(np.eye(7))
    np.savez(
        tmp_path / "m.npz",
        view_0=A.astype(np.float32),
        **csr_parts(1, matrix),
        labels=Y,
        labels_time=Y[::-1],
        view_names=["image", "text"],
        meta=json.dumps({"name": "toy"}),
    )
    file = read_multiview_file(tmp_path / "m.npz")
    assert list(file.views) == ["image", "text"]
    assert file.views["image"].dtype == np.float32
    assert sparse.issparse(file.views["text"])
    assert file.labels.tolist() == Y.tolist()
    assert file.meta == {"name": "toy"}
    assert list(file.other_labels) == ["labels_time"]
    loaded = read_views(tmp_path / "m.npz")
    assert loaded.labels.tolist() == Y.tolist()
    assert read_views(tmp_path / "m.npz", truth="labels_time").labels.tolist() == Y[::-1].tolist()


def test_everything_but_the_first_view_is_optional(tmp_path):
    np.savez(tmp_path / "m.npz", view_0=A)
    file = read_multiview_file(tmp_path / "m.npz")
    assert (list(file.views), file.labels, file.meta) == (["view_0"], None, {})


@pytest.mark.parametrize(
    ("arrays", "match"),
    [
        ({"view_0": A, "view_2": A}, "has view_2, but no view_1"),
        ({"view_99999999": A}, "has view_99999999, but no view_0"),
        ({"view_0": A, "view_1": A[:3]}, "different numbers of rows"),
        ({"view_0": A, "labels": Y[:3]}, r"labels has shape \(3,\) for 7 samples"),
        ({"view_0": A, "view_names": ["a", "b"]}, "view_names must be 1 different names"),
        ({"view_0": A, "view_1": B, "view_names": ["a", "a"]}, "view_names must be 2 different names"),
        ({"view_0": A, "meta": "{"}, "meta is not JSON"),
        ({"a": A, "b": B[1:]}, r"holds 2 two-dimensional arrays with different numbers of rows \('a' "),
        ({"a": Y}, "holds no two-dimensional array"),
        ({"view_0": np.ones(3)}, "view_0 holds an array of shape"),
    ],
)
def test_layouts_that_are_refused(tmp_path, arrays, match):
    np.savez(tmp_path / "m.npz", **arrays)
    with pytest.raises(ValueError, match=match):
        read_multiview_file(tmp_path / "m.npz")


@pytest.mark.parametrize(
    "change", [{"indices": [0, 99]}, {"indptr": [0, 1]}, {"indptr": [0, 2, 1]}, {"indices": [-5, 0]}]
)
def test_csr_parts_that_point_outside_are_refused(tmp_path, change):
    parts = csr_parts(0, sparse.csr_matrix(np.eye(2)))
    np.savez(tmp_path / "m.npz", **parts | {f"view_0_{key}": np.array(value) for key, value in change.items()})
    with pytest.raises(ValueError, match="CSR parts of view_0 do not fit together"):
        read_multiview_file(tmp_path / "m.npz")


@pytest.mark.parametrize("name", ["X", "data", "fea", "views", "x", "Data", "something"])
@pytest.mark.parametrize("labels", ["gt", "Y", "truth", "labels", "gnd", "y"])
def test_cell_array_of_views(tmp_path, name, labels):
    savemat(tmp_path / "m.mat", {name: cells(A, sparse.csc_matrix(B)), labels: Y[:, None].astype(float)})
    file = read_multiview_file(tmp_path / "m.mat")
    assert list(file.views) == ["view_0", "view_1"]
    np.testing.assert_allclose(file.views["view_0"], A)
    np.testing.assert_allclose(file.views["view_1"].toarray(), B)
    assert file.labels.dtype == np.int64
    assert file.labels.tolist() == Y.tolist()


@pytest.mark.parametrize("with_labels", [True, False])
def test_transposed_views(tmp_path, with_labels):
    content = {"X": cells(A.T, B.T)} | ({"Y": Y[None, :]} if with_labels else {})
    savemat(tmp_path / "m.mat", content)
    views = read_multiview_file(tmp_path / "m.mat").views
    np.testing.assert_allclose(views["view_0"], A)
    np.testing.assert_allclose(views["view_1"], B)


def test_labels_decide_the_orientation_of_equal_shapes(tmp_path):
    savemat(tmp_path / "m.mat", {"X": cells(A.T, A.T), "Y": Y[:, None]})
    assert read_multiview_file(tmp_path / "m.mat").views["view_0"].shape == (7, 3)
    savemat(tmp_path / "m.mat", {"X": cells(A.T, A.T)})
    assert read_multiview_file(tmp_path / "m.mat").views["view_0"].shape == (3, 7)


@pytest.mark.parametrize("pattern", ["X{}", "x_{}", "view{}", "V{}"])
def test_numbered_variables(tmp_path, pattern):
    content = {pattern.format(i): RNG.normal(size=(7, i)) for i in range(1, 12)}
    savemat(tmp_path / "m.mat", content | {"gt": Y})
    views = read_multiview_file(tmp_path / "m.mat").views
    assert [view.shape for view in views.values()] == [(7, i) for i in range(1, 12)]


def test_names_text_labels_and_one_hot_labels(tmp_path):
    savemat(tmp_path / "m.mat", {"X": cells(A, B), "view_names": cells("image", "text"), "gt": cells(*"aabbccc")})
    file = read_multiview_file(tmp_path / "m.mat")
    assert list(file.views) == ["image", "text"]
    assert file.labels.tolist() == list("aabbccc")
    savemat(tmp_path / "m.mat", {"X": cells(A, B), "Y": np.eye(3)[Y - 1]})
    assert read_multiview_file(tmp_path / "m.mat").labels.tolist() == (Y - 1).tolist()


def test_labels_stored_once_per_view(tmp_path):
    savemat(tmp_path / "m.mat", {"X": cells(A, B), "truelabel": cells(Y[:, None], Y[:, None])})
    assert read_multiview_file(tmp_path / "m.mat").labels.tolist() == Y.tolist()


@pytest.mark.parametrize(
    ("content", "match"),
    [
        ({"note": "nothing here"}, "no views found among its variables"),
        ({"X": cells(A, B[:4])}, "do not fit together"),
        ({"X": cells(A, B), "Y": Y[:5]}, "one side of 5"),
        ({"a": A, "b": B}, "no views found"),
    ],
)
def test_matlab_files_that_are_refused(tmp_path, content, match):
    savemat(tmp_path / "m.mat", content)
    with pytest.raises(ValueError, match=match):
        read_multiview_file(tmp_path / "m.mat")


def test_hdf5_matlab_file_without_h5py_says_so(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "h5py", None)
    (tmp_path / "m.mat").write_bytes(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(512) + b"\x89HDF\r\n\x1a\n")
    with pytest.raises(ValueError, match="needs h5py: pip install h5py"):
        read_multiview_file(tmp_path / "m.mat")


def test_hdf5_matlab_file(tmp_path):
    with h5py.File(tmp_path / "m.mat", "w", userblock_size=512) as file:
        refs = file.create_dataset("X", (2, 1), dtype=h5py.ref_dtype)
        refs.attrs["MATLAB_class"] = np.bytes_("cell")
        file["#refs#/a"] = A.T
        group = file.create_group("#refs#/b")
        matrix = sparse.csc_matrix(B)
        group["data"], group["ir"], group["jc"] = matrix.data, matrix.indices, matrix.indptr
        group.attrs["MATLAB_sparse"] = np.uint64(7)
        refs[0, 0], refs[1, 0] = file["#refs#/a"].ref, group.ref
        file["gt"] = Y[None, :].astype(float)
    with (tmp_path / "m.mat").open("r+b") as stream:
        stream.write(b"MATLAB 7.3 MAT-file".ljust(116))
    content = read_multiview_file(tmp_path / "m.mat")
    np.testing.assert_allclose(content.views["view_0"], A)
    np.testing.assert_allclose(content.views["view_1"].toarray(), B)
    assert content.labels.tolist() == Y.tolist()


def test_nothing_outside_of_a_hdf5_file_is_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with h5py.File("outside.h5", "w") as file:
        file["secret"] = A
    (tmp_path / "raw.bin").write_bytes(np.ascontiguousarray(A).tobytes())

    def virtual(file):
        layout = h5py.VirtualLayout(A.shape, dtype=float)
        layout[:] = h5py.VirtualSource("outside.h5", "secret", A.shape)
        file.create_virtual_dataset("X", layout)

    def in_a_cell(file):
        refs = file.create_dataset("X", (1, 1), dtype=h5py.ref_dtype)
        refs.attrs["MATLAB_class"] = np.bytes_("cell")
        refs[0, 0] = file.create_dataset("#refs#/a", A.shape, dtype=float, external=[("raw.bin", 0, A.nbytes)]).ref

    def in_a_sparse_matrix(file):
        group = file.create_group("X")
        group.attrs["MATLAB_sparse"] = np.uint64(3)
        group["jc"], group["ir"] = np.arange(4), np.arange(3)
        group["data"] = h5py.ExternalLink("outside.h5", "/secret")

    reaching = {
        "link": lambda file: file.__setitem__("X", h5py.ExternalLink("outside.h5", "/secret")),
        "whole path": lambda file: file.__setitem__("X", h5py.ExternalLink(str(tmp_path / "outside.h5"), "/secret")),
        "raw file": lambda file: file.create_dataset("X", A.shape, dtype=float, external=[("raw.bin", 0, A.nbytes)]),
        "virtual": virtual,
        "cell": in_a_cell,
        "sparse": in_a_sparse_matrix,
    }
    for way, write in reaching.items():
        with h5py.File("m.mat", "w", userblock_size=512) as file:
            write(file)
        with open("m.mat", "r+b") as stream:
            stream.write(b"MATLAB 7.3 MAT-file".ljust(116))
        with pytest.raises(ValueError, match="only what lies in the file itself is read"):
            print(way, read_multiview_file("m.mat"))


@pytest.mark.parametrize("member", ["../outside.npy", "/abs/outside.npy", "note.txt", "../../etc/passwd"])
def test_members_of_an_archive_are_names_not_paths(tmp_path, member):
    (tmp_path / "in").mkdir()
    path = tmp_path / "in" / "m.npz"
    np.savez(path, view_0=A)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(member, b"some text")
    before = sorted(tmp_path.rglob("*"))
    assert list(read_multiview_file(path).views) == ["view_0"]
    assert sorted(tmp_path.rglob("*")) == before
