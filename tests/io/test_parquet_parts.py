"""Tables in parts: folders of parquet files, and tables whose numbers go to disk."""

import numpy as np
import polars as pl
import pytest

from manyviews.cli import main
from manyviews.io import parquet_parts, read_views
from manyviews.views import stored
from manyviews.views.mapped import MappedRows

N = 240


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=N)
    numbers = (3 * y[:, None] + rng.normal(size=(N, 4))).astype(np.float32)
    columns = {f"x{j}": numbers[:, j] for j in range(4)}
    return pl.DataFrame({"sample": [f"s{i}" for i in range(N)], "kind": y} | columns)


@pytest.fixture
def folder(table, tmp_path):
    """Twelve parts, whose order by name would be 0, 1, 10, 11, 2."""
    place = tmp_path / "a"
    place.mkdir()
    for i in range(12):
        table[20 * i : 20 * (i + 1)].write_parquet(place / f"part.{i}.parquet")
    (place / "_SUCCESS").write_text("")
    return place


@pytest.fixture(params=["small", "large"])
def size(request, monkeypatch):
    if request.param == "large":
        monkeypatch.setattr(parquet_parts, "LARGE_TABLE", 1_000)
        monkeypatch.setattr(parquet_parts, "BLOCK_BYTES", 700)
    return request.param


@pytest.mark.parametrize("whole", [False, True], ids=["folder", "one file"])
def test_parts_are_one_table_in_order(folder, table, size, whole, tmp_path):
    path = folder
    if whole:
        path = tmp_path / "a.parquet"
        table.write_parquet(path)
    data = read_views({"a": path}, id_column="sample", truth="kind", drop=["x2"])
    X = data.views.view("a")
    assert np.array_equal(X, table.select("x0", "x1", "x3").to_numpy())
    assert X.dtype == np.float32
    assert isinstance(X, MappedRows) == (size == "large")
    assert data.views.feature_names == (("x0", "x1", "x3"),)
    assert data.views.sample_names.tolist() == table["sample"].to_list()
    assert np.array_equal(data.labels, table["kind"])
    assert len(data.checksums) == (1 if whole else 12)
    assert any("temporary file" in note for note in data.notes) == (size == "large")


def test_row_numbers_of_dask_are_no_feature(folder, size):
    for i in range(12):
        part = pl.read_parquet(folder / f"part.{i}.parquet").drop("sample", "kind")
        part.with_columns(pl.Series("__null_dask_index__", range(20 * i, 20 * i + 20))).write_parquet(
            folder / f"part.{i}.parquet"
        )
    names = read_views({"a": folder}).views.feature_names[0]
    assert size == "small" or names == ("x0", "x1", "x2", "x3")


def test_parts_with_other_columns_are_refused(folder, size):
    pl.DataFrame({"x0": [1.0]}).write_parquet(folder / "part.5.parquet")
    with pytest.raises(ValueError, match=r"the columns of part\.5\.parquet are not those of part\.0\.parquet"):
        read_views({"a": folder})


def test_a_folder_without_parquet_is_refused(tmp_path):
    with pytest.raises(ValueError, match="is a folder; give the path of a file"):
        read_views({"a": tmp_path})


def test_a_large_table_is_not_turned(folder, monkeypatch):
    monkeypatch.setattr(parquet_parts, "LARGE_TABLE", 1_000)
    with pytest.raises(ValueError, match="too large to be transposed or encoded"):
        read_views({"a": folder}, transpose=["a"])


def test_a_full_disk_is_told_before_it_is_full(folder, monkeypatch):
    monkeypatch.setattr(parquet_parts, "LARGE_TABLE", 1_000)
    usage = type("Usage", (), {"free": 10})
    monkeypatch.setattr(stored.shutil, "disk_usage", lambda place: usage)
    with pytest.raises(ValueError, match="let the environment variable TMPDIR name a folder"):
        read_views({"a": folder}, id_column="sample", drop=["kind"])


def test_cluster_and_predict_read_folders(folder, size, tmp_path):
    options = ["--id", "sample", "--drop", "kind", "--quiet"]
    out = str(tmp_path / "out")
    fit = ["cluster", "--view", f"a={folder}", "--n-clusters", "3", "--method", "mspl", "--out", out]
    assert main([*fit, "--refit-seconds", "0", *options]) == 0
    assert main(["predict", out, "--view", f"a={folder}", "--out", str(tmp_path / "new.csv"), *options]) == 0
    fitted = pl.read_csv(tmp_path / "out" / "labels.csv")
    new = pl.read_csv(tmp_path / "new.csv")
    assert fitted["sample"].to_list() == [f"s{i}" for i in range(N)]
    assert fitted.columns[1] == new.columns[1]
    assert np.mean(fitted[fitted.columns[1]].to_numpy() == new[new.columns[1]].to_numpy()) > 0.99
