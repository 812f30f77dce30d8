"""``--workers``: files that are read, clustered and labelled by blocks, in processes of their own."""

import csv
import json

import numpy as np
import pytest

from manyviews import FastMICE, datasets
from manyviews.cli import main

pytest.importorskip("distributed")
pd = pytest.importorskip("pandas")
SETTINGS = ["--set", "n_base_clusterings=3", "--set", "n_anchors=30", "--method", "fastmice", "-k", "3", "--quiet"]


@pytest.fixture(scope="module")
def arrays():
    data = datasets.make_blobs_views(n_samples=200, n_features=(6, 5), n_clusters=3, random_state=0)
    return [np.array(X) for X in data.views.arrays]


@pytest.fixture(scope="module")
def scheduler():
    """Address of a cluster of one worker, so that the commands need not start one each."""
    from distributed import LocalCluster

    with LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0") as cluster:
        yield cluster.scheduler_address


def labels_of(path):
    rows = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
    return [next(iter(row.values())) for row in rows], np.array([int(row["cluster"]) for row in rows])


def own_labels(arrays):
    return FastMICE(3, n_base_clusterings=3, n_anchors=30, random_state=0).fit(arrays).labels_


def test_parquet_folders_with_ids(arrays, scheduler, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ids = [f"s{i}" for i in range(200)]
    for name, X in zip("ab", arrays, strict=True):
        (tmp_path / name).mkdir()
        table = pd.DataFrame(X, columns=[f"{name}{j}" for j in range(X.shape[1])]).assign(key=ids)
        for part in range(4):  # part-10 comes after part-2
            table[part * 50 : part * 50 + 50].to_parquet(tmp_path / name / f"part-{[0, 2, 10, 11][part]}.parquet")
    given = ["--view", "a=a", "--view", "b=b", "--id", "key", "--dask", scheduler]
    assert main(["cluster", *given, *SETTINGS, "--out", "out"]) == 0
    names, labels = labels_of(tmp_path / "out" / "labels.csv")
    assert names == ids
    assert np.array_equal(labels, own_labels(arrays))
    record = json.loads((tmp_path / "out" / "run.json").read_text(encoding="utf-8"))
    assert record["data"]["n_samples"] == 200
    assert sum(record["cluster_sizes"]) == 200
    assert main(["predict", "out", *given, "--out", "new.csv", "--quiet"]) == 0
    assert [list(part) for part in labels_of(tmp_path / "new.csv")] == [ids, labels.tolist()]
    # the model is that of any run
    assert main(["predict", "out", "--view", "a=a", "--view", "b=b", "--id", "key", "--out", "same.csv"]) == 0
    assert np.array_equal(labels_of(tmp_path / "same.csv")[1], labels)


def test_arrays_and_text_by_position(arrays, scheduler, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("manyviews.distributed.files.BLOCK_BYTES", 8 * 11 * 60)
    np.save("a.npy", arrays[0])
    pd.DataFrame(arrays[1]).to_csv("b.csv", index=False, float_format="%.17g")
    assert (
        main(["cluster", "--view", "a=a.npy", "--view", "b=b.csv", "--dask", scheduler, *SETTINGS, "--out", "o"]) == 0
    )
    names, labels = labels_of(tmp_path / "o" / "labels.csv")
    assert names == [str(i) for i in range(200)]
    assert np.array_equal(labels, own_labels(arrays))
    before, given = (tmp_path / "b.csv").read_bytes(), ["--view", "a=a.npy", "--view", "b=b.csv"]
    assert main(["predict", "o", *given, "--dask", scheduler, "--out", "b.csv", "--force", "--quiet"]) == 2
    assert "would replace b.csv, which is an input" in capsys.readouterr().err
    assert (tmp_path / "b.csv").read_bytes() == before
    assert main(["predict", "o", "--dask", scheduler, "--out", "new.csv", "--quiet"]) == 2
    assert "--view NAME=FILE" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["mfeat", "--workers", "1"], "give --view NAME=FILE in place of mfeat"),
        (["--view", "a=a.npy", "--workers", "0"], "--workers 0: give a number of 1 or more"),
        (["--view", "a=a.npy", "--workers", "1", "--truth", "c"], "--truth needs all samples in memory"),
        (["--view", "a=a.npy", "--dask", "tcp://h:1", "--transpose", "a"], "--transpose needs all samples in memory"),
        (["--view", "a=a.npy", "--workers", "1", "-k", "2-5"], "give -k one number"),
    ],
)
def test_options_that_need_all_samples_in_memory(options, words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    np.save("a.npy", np.ones((4, 2)))
    k = [] if "-k" in options else ["-k", "2"]
    assert main(["cluster", *options, *k]) == 2
    assert words in capsys.readouterr().err
    assert [place.name for place in tmp_path.iterdir()] == ["a.npy"]


@pytest.mark.parametrize(
    ("view", "words"),
    [
        ("a=table.xlsx", "are not read by blocks"),
        ("a=nowhere.npy", "nowhere.npy"),
        ("a=flat.npy", "must be 2-D"),
        ("a=empty", "no .parquet files"),
    ],
)
def test_files_that_are_not_read_by_blocks(view, words, scheduler, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "table.xlsx").write_bytes(b"PK")
    (tmp_path / "empty").mkdir()
    np.save("flat.npy", np.ones(4))
    assert main(["cluster", "--view", view, "--dask", scheduler, "-k", "2", "--out", "o"]) == 2
    assert words in capsys.readouterr().err
    assert not (tmp_path / "o").exists()
