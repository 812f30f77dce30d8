"""Every kind of file comes back as the numbers that went in; rows are matched, nothing is dropped."""

import gzip
import hashlib

import numpy as np
import polars as pl
import pytest
from scipy import io as scipy_io
from scipy import sparse

from manyviews.io import read_views

RNG = np.random.default_rng(0)
A = RNG.normal(size=(6, 3)).round(3)
IDS = ["007", "7", "a b", "x,y", 'q"q', "é"]


def frame(array=A, **extra):
    return pl.DataFrame({**extra, **{f"f{i}": array[:, i] for i in range(array.shape[1])}})


def write(path, table):
    """Write a frame in the kind of its suffix."""
    name = path.name
    if name.endswith(".gz"):
        with gzip.open(path, "wb") as stream:
            stream.write(table.write_csv(separator="\t" if ".tsv" in name else ",").encode())
    elif name.endswith((".csv", ".tsv")):
        table.write_csv(path, separator="\t" if name.endswith(".tsv") else ",")
    elif name.endswith(".parquet"):
        table.write_parquet(path)
    else:
        table.write_ipc(path)
    return path


@pytest.mark.parametrize(
    "suffix", [".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet", ".arrow", ".feather", ".ipc", ".CSV"]
)
def test_table_round_trip(tmp_path, suffix):
    table = frame(id=IDS, kind=["u", "u", "v", "v", "w", "w"])
    path = write(tmp_path / f"t{suffix.lower()}", table)
    path = path.rename(tmp_path / f"t{suffix}")
    loaded = read_views(path, id_column="id", truth="kind")
    np.testing.assert_allclose(loaded.views.arrays[0], A)
    assert loaded.views.names == ("t",)
    assert loaded.views.feature_names == (("f0", "f1", "f2"),)
    assert loaded.views.sample_names.tolist() == IDS
    assert loaded.labels.tolist() == ["u", "u", "v", "v", "w", "w"]
    assert loaded.name == "t"
    assert loaded.checksums == {str(path): hashlib.sha256(path.read_bytes()).hexdigest()}


def save_array(path, array):
    if path.suffix == ".npy":
        np.save(path, array)
    elif path.suffix == ".npz":
        np.savez(path, array)
    elif path.name.endswith(".mtx.gz"):
        scipy_io.mmwrite(path.with_suffix(""), array)
        path.write_bytes(gzip.compress(path.with_suffix("").read_bytes()))
    elif path.suffix == ".mtx":
        scipy_io.mmwrite(path, array)
    else:
        scipy_io.savemat(path, {"X": array})
    return path


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".mtx", ".mtx.gz", ".mat"])
def test_array_round_trip(tmp_path, suffix):
    loaded = read_views(save_array(tmp_path / f"a{suffix}", A))
    np.testing.assert_allclose(loaded.views.arrays[0], A)
    assert loaded.views.names == ("a",)
    assert loaded.labels is None
    assert loaded.views.sample_names is None


@pytest.mark.parametrize("suffix", [".npz", ".mtx", ".mtx.gz", ".mat"])
def test_sparse_round_trip(tmp_path, suffix):
    matrix = sparse.random(8, 5, density=0.4, random_state=0, format="csr")
    path = tmp_path / f"s{suffix}"
    if suffix == ".npz":
        sparse.save_npz(path, matrix)
    else:
        save_array(path, matrix)
    array = read_views(path).views.arrays[0]
    assert sparse.issparse(array)
    assert array.format == "csr"
    np.testing.assert_allclose(array.toarray(), matrix.toarray())


def test_npy_is_mapped_not_copied_and_float32_is_kept(tmp_path):
    np.save(tmp_path / "a.npy", A.astype(np.float32))
    array = read_views(tmp_path / "a.npy").views.arrays[0]
    assert isinstance(array, np.memmap)
    assert array.dtype == np.float32


def test_float32_table_stays_float32(tmp_path):
    frame(A.astype(np.float32)).write_parquet(tmp_path / "t.parquet")
    assert read_views(tmp_path / "t.parquet").views.arrays[0].dtype == np.float32


def test_one_file_per_view_by_position(tmp_path):
    np.save(tmp_path / "a.npy", A)
    frame(A * 2).write_csv(tmp_path / "b.csv")
    loaded = read_views({"first": tmp_path / "a.npy", "second": tmp_path / "b.csv"})
    assert loaded.views.names == ("first", "second")
    assert loaded.name == "first-second"
    np.testing.assert_allclose(loaded.views.view("second"), A * 2)


def test_ids_match_rows_in_another_order(tmp_path):
    order = [3, 1, 5, 0, 4, 2]
    frame(id=IDS).write_csv(tmp_path / "a.csv")
    frame(A[order] * 2, id=[IDS[i] for i in order], kind=order).write_parquet(tmp_path / "b.parquet")
    loaded = read_views({"a": tmp_path / "a.csv", "b": tmp_path / "b.parquet"}, id_column="id", truth="kind")
    np.testing.assert_allclose(loaded.views.view("b"), 2 * loaded.views.view("a"))
    assert loaded.labels.tolist() == list(range(6))
    assert loaded.views.sample_names.tolist() == IDS
    assert "another order" in loaded.notes[0]


def test_number_ids_of_a_parquet_file_meet_text_ids_of_a_csv(tmp_path):
    frame(id=[3, 1, 2, 5, 4, 6]).write_parquet(tmp_path / "a.parquet")
    frame(id=["1", "2", "3", "4", "5", "6"]).write_csv(tmp_path / "b.csv")
    loaded = read_views({"a": tmp_path / "a.parquet", "b": tmp_path / "b.csv"}, id_column="id")
    assert loaded.views.sample_names.tolist() == ["3", "1", "2", "5", "4", "6"]


@pytest.mark.parametrize("name", ["truth.csv", "truth.npy"])
def test_truth_from_a_file_of_its_own(tmp_path, name):
    frame().write_csv(tmp_path / "a.csv")
    if name.endswith("npy"):
        np.save(tmp_path / name, np.arange(6))
    else:
        pl.DataFrame({"class": range(6)}).write_csv(tmp_path / name)
    loaded = read_views(tmp_path / "a.csv", truth=str(tmp_path / name))
    assert loaded.labels.tolist() == list(range(6))
    assert str(tmp_path / name) in loaded.checksums


def test_truth_file_is_matched_by_id(tmp_path):
    frame(id=IDS).write_csv(tmp_path / "a.csv")
    pl.DataFrame({"id": IDS[::-1], "class": ["f", "e", "d", "c", "b", "a"]}).write_csv(tmp_path / "y.csv")
    loaded = read_views(tmp_path / "a.csv", id_column="id", truth=str(tmp_path / "y.csv"))
    assert loaded.labels.tolist() == list("abcdef")


def test_missing_cells_make_an_unobserved_row_or_an_error(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,2\n,\nNA,nan\n5,6\n")
    (tmp_path / "b.csv").write_text("x\n1\n2\n3\n4\n")
    loaded = read_views({"a": tmp_path / "a.csv", "b": tmp_path / "b.csv"})
    assert loaded.views.observed[:, 0].tolist() == [True, False, False, True]
    (tmp_path / "a.csv").write_text("x,y\n1,2\n3,\n")
    with pytest.raises(ValueError, match=r"NaN.*view 'a', row 1, column 1"):
        read_views(tmp_path / "a.csv")


@pytest.mark.parametrize(
    ("text", "first_row", "names"),
    [
        ("1,2\n3,4\n", [1, 2], ("column_0", "column_1")),
        ("0,1,2\n3,4,5\n", [3, 4, 5], ("0", "1", "2")),
        ("a;b\n1;2\n", [1, 2], ("a", "b")),
        ("\ufeffa,b\n1,2\n", [1, 2], ("a", "b")),
        ('"a,1","b\n2"\r\n 1 ,2e1\r\n', [1, 20], ("a,1", "b\n2")),
        ("a,b\ntrue,1\n", [1, 1], ("a", "b")),
        ("a,b\n1,2\n\n\r\n", [1, 2], ("a", "b")),
        ('a,b\n"1","2"', [1, 2], ("a", "b")),
    ],
)
def test_shapes_of_csv(tmp_path, text, first_row, names):
    (tmp_path / "a.csv").write_bytes(text.encode())
    loaded = read_views(tmp_path / "a.csv")
    assert loaded.views.arrays[0][0].tolist() == first_row
    assert not np.isnan(loaded.views.arrays[0]).any()
    assert loaded.views.feature_names[0] == names
    assert bool(loaded.notes) == (names[0] == "column_0")


def test_a_csv_without_header_loses_no_row(tmp_path):
    np.savetxt(tmp_path / "a.csv", A, delimiter=",")
    np.testing.assert_allclose(read_views(tmp_path / "a.csv").views.arrays[0], A)


def test_suspicious_columns_are_noted(tmp_path):
    frame(id=range(6), Label=range(6)).write_csv(tmp_path / "a.csv")
    notes = read_views(tmp_path / "a.csv").notes
    assert len(notes) == 2
    assert "--id id" in notes[0]
    assert "--truth Label" in notes[1]


def test_paths_that_look_like_patterns(tmp_path):
    for name in ("a[1].csv", "a[1].parquet", "a*.parquet"):
        write(tmp_path / name, frame())
        np.testing.assert_allclose(read_views(tmp_path / name).views.arrays[0], A)
