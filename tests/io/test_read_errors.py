"""What cannot be read is refused in one line that names the file and the remedy; nothing is ever executed."""

import gzip
import os
import pickle

import numpy as np
import polars as pl
import pytest
from scipy import sparse

from manyviews.io import read_multiview_file, read_views


class Bomb:
    """Leaves a trace when it is unpickled."""

    def __reduce__(self):
        return (exec, ("open('executed', 'w').close()",))


def csv(path, text="x,y\n1,2\n3,4\n"):
    path.write_text(text)
    return path


def refused(match, *args, **kwargs):
    with pytest.raises(ValueError, match=match) as caught:
        read_views(*args, **kwargs)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_missing_file_folder_empty_file_and_foreign_suffix(tmp_path):
    refused("nope.csv: there is no such file", tmp_path / "nope.csv")
    (tmp_path / "folder.csv").mkdir()
    refused("folder.csv is a folder", tmp_path / "folder.csv")
    for name in ("e.csv", "e.npy", "e.npz", "e.parquet", "e.mat", "e.mtx", "e.csv.gz"):
        (tmp_path / name).touch()
        refused("is empty", tmp_path / name)
    csv(tmp_path / "a.docx")
    refused(r"'\.docx' cannot be read; convert it to one of", tmp_path / "a.docx")
    csv(tmp_path / "a.xlsx")
    refused("a.xlsx cannot be read as an Excel file", tmp_path / "a.xlsx")
    refused("at least one", {})


def test_unreadable_file(tmp_path, monkeypatch):
    path = csv(tmp_path / "a.csv")

    def deny(*args, **kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.open", deny)
    refused("a.csv cannot be read: Permission denied", path)


@pytest.mark.parametrize("name", ["a.npy", "a.npz", "a.parquet", "a.arrow", "a.mat", "a.mtx", "a.csv.gz", "a.mtx.gz"])
@pytest.mark.parametrize("content", [b"garbage garbage garbage", b"\x00" * 600, b"\x93NUMPY\x01\x00"])
def test_garbage(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    refused(name, tmp_path / name)


@pytest.mark.parametrize("name", ["a.npy", "a.npz", "a.parquet", "a.arrow", "a.csv.gz", "a.mat", "sparse.npz"])
@pytest.mark.parametrize("kept", [0.3, 0.6, 0.95])
def test_truncated(tmp_path, name, kept):
    array = np.random.default_rng(0).normal(size=(50, 4))
    path = tmp_path / name
    if name == "a.npy":
        np.save(path, array)
    elif name == "a.npz":
        np.savez_compressed(path, view_0=array)
    elif name == "sparse.npz":
        sparse.save_npz(path, sparse.csr_matrix(array))
    elif name == "a.parquet":
        pl.DataFrame(array).write_parquet(path)
    elif name == "a.arrow":
        pl.DataFrame(array).write_ipc(path)
    elif name == "a.mat":
        from scipy.io import savemat

        savemat(path, {"X": array})
    else:
        path.write_bytes(gzip.compress(pl.DataFrame(array).write_csv().encode()))
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * kept)])
    refused(name, path)


def test_pickles_are_never_executed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    bomb = np.array([[Bomb()]], dtype=object)
    np.save("a.npy", bomb, allow_pickle=True)
    np.savez("b.npz", view_0=bomb)
    np.savez("c.npz", view_0=np.eye(2), meta=bomb)
    (tmp_path / "d.npy").write_bytes(pickle.dumps(Bomb()))
    (tmp_path / "d.npz").write_bytes(pickle.dumps(Bomb()))
    sparse.save_npz("e.npz", sparse.csr_matrix(np.eye(2)))
    parts = dict(np.load("e.npz"))
    np.savez("e.npz", **parts | {"data": np.array([Bomb(), Bomb()])})
    for name in ("a.npy", "b.npz", "c.npz", "d.npy", "d.npz", "e.npz"):
        refused(f"{name} .*pickled Python objects, which are never loaded", name)
    assert not (tmp_path / "executed").exists()


@pytest.mark.parametrize(
    ("array", "match"),
    [
        (np.ones(3), r"shape \(3,\).*two dimensions"),
        (np.ones((2, 2, 2)), "two dimensions"),
        (np.ones((0, 3)), "0 rows"),
        (np.ones((3, 0)), "0 columns"),
        (np.array([["a"]]), "type <U1"),
        (np.ones((2, 2), dtype=complex), "type complex128"),
    ],
)
def test_arrays_that_are_no_view(tmp_path, array, match):
    np.save(tmp_path / "a.npy", array)
    refused(match, tmp_path / "a.npy")


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("x,y\n", "header but no rows"),
        ("x,y\n1,2\n1,2,3\n", "line 3, has 3 cells where the first line has 2"),
        ("x,x\n1,2\n", "more than once, as 'x'"),
        (",x\n7,2\n7,3\n", "column 1 has no name and its values are empty or repeat"),
        ("x,\n7,2\n7,3\n", "column 2 has no name"),
        ("x,colour\n1,red\n2,blue\n", r"column 'colour' cannot be used as numbers .*'red'.*--id or --truth"),
        ("x,y\n1,2\n3,oops\n", r"\('y' holds 'oops' in row 1\)"),
        ("x,y\n1,2\n\n3,4\n", "line 3, is blank"),
        ("x,y\n1,2\n3\n4,5\n", "line 3, has 1 cells where the first line has 2"),
        ("\n\n\n", "holds no table"),
    ],
)
def test_tables_that_are_no_view(tmp_path, text, match):
    refused(match, csv(tmp_path / "a.csv", text))


def test_text_that_is_not_utf8(tmp_path):
    (tmp_path / "a.csv").write_bytes("x,y\n1,2\ngröße,2\n".encode("latin-1"))
    refused(r"a.csv holds text that is not UTF-8 \(line 3\); save it as UTF-8", tmp_path / "a.csv")
    (tmp_path / "a.csv").write_bytes("x,y\n1,2\n".encode("utf-16")[:-1])
    refused("a.csv cannot be read as a table of UTF-16 text", tmp_path / "a.csv")


def test_dates_and_the_index_of_pandas(tmp_path):
    pl.DataFrame({"x": [1.0], "day": ["2020-01-01"]}).with_columns(pl.col("day").str.to_date()).write_parquet(
        tmp_path / "a.parquet"
    )
    refused("'day' cannot be used as numbers", tmp_path / "a.parquet")
    pl.DataFrame({"x": [1.0, 2.0], "__index_level_0__": [5, 6]}).write_parquet(tmp_path / "a.parquet")
    assert read_views(tmp_path / "a.parquet").views.sample_names.tolist() == ["5", "6"]
    assert read_views(tmp_path / "a.parquet", id_column="__index_level_0__").views.shape == (2, 1)


@pytest.mark.parametrize("kind", [pl.Null, pl.String, pl.Float64, pl.Date, pl.Categorical, pl.List(pl.Float64)])
def test_a_column_without_a_value_is_told_to_be_empty_in_every_kind_of_file(tmp_path, kind):
    table = pl.DataFrame({"x": [1.0, 2.0, 3.0], "none": pl.Series([None] * 3, dtype=kind)})
    table.write_parquet(tmp_path / "a.parquet")
    table.write_ipc(tmp_path / "a.feather")
    table.with_columns(none=pl.lit(None)).write_csv(tmp_path / "a.csv")
    for file in ("a.parquet", "a.feather", "a.csv"):
        refused(r"'none' \(3: every sample\); leave out columns that are empty in every sample", tmp_path / file)
        assert read_views(tmp_path / file, drop=["none"]).views.shape == (3, 1)


def test_unequal_rows_name_views_counts_and_remedy(tmp_path):
    a, b = csv(tmp_path / "a.csv"), csv(tmp_path / "b.csv", "z\n1\n2\n3\n")
    refused("'one' has 2 rows, 'two' has 3 rows; .*--id", {"one": a, "two": b})


def test_ids(tmp_path):
    a = csv(tmp_path / "a.csv", "id,x\n01,1\n02,2\n")
    refused("has no column 'idx' to match rows by; did you mean 'id'", a, id_column="idx")
    refused("has no column 'rowname'.*its columns are 'id', 'x'", a, id_column="rowname")
    refused("no column left for features", csv(tmp_path / "c.csv", "id\n1\n"), id_column="id")
    refused("id column 'id' is empty in row 1", csv(tmp_path / "c.csv", "id,x\n1,1\n,2\n"), id_column="id")
    refused(r"c.csv, column 'id': 1 id\(s\) occur more than once, first '1' \(2 times\)",
            csv(tmp_path / "c.csv", "id,x\n1,1\n1,2\n2,4\n"), id_column="id")  # fmt: skip
    np.save(tmp_path / "d.npy", np.eye(2))
    refused("d.npy has no column 'id'.*--id", {"a": a, "d": tmp_path / "d.npy"}, id_column="id")
    b = csv(tmp_path / "b.csv", "id,y\n01,1\n2,2\n3,3\n")
    refused(
        "of 4 ids, view 'a' lacks 2, such as '2', '3'; view 'b' lacks 1, such as '02'", {"a": a, "b": b}, id_column="id"
    )


def test_truth(tmp_path):
    a = csv(tmp_path / "a.csv", "x,kind\n1,u\n2,\n")
    assert read_views(a, truth="kind").labels.tolist() == ["u", None]
    refused("no class for any sample", csv(tmp_path / "a.csv", "x,kind\n1,\n2,\n"), truth="kind")
    refused("no column, labelling or file 'nope'", csv(tmp_path / "b.csv"), truth="nope")
    csv(tmp_path / "c.csv", "x,kind\n1,1\n2,2\n")
    csv(tmp_path / "d.csv", "y,kind\n1,1\n2,1\n")
    refused("disagree about the classes", {"c": tmp_path / "c.csv", "d": tmp_path / "d.csv"}, truth="kind")
    refused("holds fractions", csv(tmp_path / "e.csv", "x,kind\n1,0.5\n2,1\n"), truth="kind")
    two = csv(tmp_path / "two.csv", "p,q\n1,2\n3,4\n")
    refused("a file of classes has one column", csv(tmp_path / "b.csv"), truth=str(two))
    short = csv(tmp_path / "short.csv", "p\n1\n")
    refused("one class per sample", csv(tmp_path / "b.csv"), truth=str(short))


def test_several_views_in_a_file_given_as_one(tmp_path):
    np.savez(tmp_path / "m.npz", view_0=np.eye(2), view_1=np.eye(2))
    refused("holds 2 views, but was given as the one view 'a'; give the file alone", {"a": tmp_path / "m.npz"})


def test_single_views_are_no_multiview_file(tmp_path):
    with pytest.raises(ValueError, match="one view at most"):
        read_multiview_file(csv(tmp_path / "a.csv"))


def test_a_pipe_is_refused_rather_than_waited_for(tmp_path):
    path = tmp_path / "pipe.npy"
    os.mkfifo(path)
    with pytest.raises(ValueError, match="not a regular file"):
        read_views(path)


def test_a_part_of_a_file_without_the_name_of_a_view_is_told_how_to_be_written(tmp_path):
    path = tmp_path / "products.csv"
    path.write_text("a,b\n1,2\n3,4\n5,6\n")
    with pytest.raises(ValueError, match=r"belong to a view, as --view NAME=.*products\.csv:a\*"):
        read_views(f"{path}:a*")
    (tmp_path / "products.foo").write_text("1")
    with pytest.raises(ValueError, match=r"files of the kind '\.foo' cannot be read"):
        read_views(tmp_path / "products.foo")
