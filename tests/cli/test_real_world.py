"""The command on files as they come: gaps, differing ids, odd writings, earlier runs, too little memory."""

import json
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from command_data import CLASSES, table
from scipy import sparse

from manyviews.cluster import memory

IDS = [f"{i:03d}" for i in range(36)]
PAIR = ("--view", "a=a.csv", "--view", "b=other.csv", "--id", "id", "-k", 3, "--out", "o")


def clusters(path="o/labels.csv"):
    rows = [line.split(",") for line in Path(path).read_text(encoding="utf-8").splitlines()[1:]]
    return {row[0]: int(row[1]) for row in rows}


def agrees(found):
    return len({(cluster, CLASSES[int(key)]) for key, cluster in found.items()}) == 3


def holed(*cells):
    values = table(2).drop("id").to_numpy().copy()
    for row, column in cells:
        values[row, column] = np.nan
    frame = pl.DataFrame({"id": IDS, **{f"f{j}": values[:, j] for j in range(4)}})
    frame.with_columns(pl.col("f0", "f1", "f2", "f3").fill_nan(None)).write_csv("other.csv")


def test_differing_ids_are_kept_in_common_and_tabled(folder, run):
    table(2, order=[*range(33, 5, -1), 3]).write_csv("other.csv")
    refused = run("cluster", *PAIR)
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert "view 'b' lacks 7, such as '000', '001', '002'" in refused.err
    result = run("cluster", *PAIR, "--missing", "intersection")
    assert result.code == 0
    assert "of 36 ids 29 are in every view; the other 7 are left out" in result.err
    assert re.search(
        r"^a +b +samples +such as\nyes +yes +29 +003, 006, 007\nyes +- +7 +000, 001, 002$", result.err, re.M
    )
    assert len(clusters()) == 29
    assert agrees(clusters())
    assert any("29 are in every view" in note for note in json.loads(Path("o/run.json").read_text())["data"]["notes"])


def test_the_union_needs_a_method_that_takes_missing_views(folder, run):
    table(2, order=range(30)).write_csv("other.csv")
    result = run("cluster", *PAIR, "--missing", "union", "--method", "fastmice")
    assert result.code == 0
    assert len(clusters()) == 36
    assert agrees(clusters())
    result = run("cluster", *PAIR, "--missing", "union", "--method", "op-lfmvc", "--force")
    assert result.code == 2
    assert "view 'b' has 6 unobserved sample(s) (rows of NaN), first 030" in result.err
    assert "--missing intersection keeps those that every view has" in result.err


@pytest.mark.parametrize("strategy", ["median", "knn"])
def test_single_empty_cells_are_named_and_can_be_filled(folder, run, strategy):
    holed((3, 1), (5, 2), (9, 2))
    refused = run("cluster", *PAIR)
    assert refused.code == 2
    assert "view 'b', row 3, column 1 (sample '003', column 'f1'), the first of 3 empty cells in 2 of 4" in refused.err
    assert "'f1' (1: '003'), 'f2' (2: '005', '009')" in refused.err
    assert "--impute median or knn" in refused.err
    result = run("cluster", *PAIR, "--impute", strategy)
    assert result.code == 0
    source = "the column's median" if strategy == "median" else "the mean of the 5 nearest samples"
    assert f"view 'b': 3 empty cells filled with {source} (--impute {strategy})" in result.err
    assert agrees(clusters())


@pytest.mark.parametrize("strategy", ["median", "knn"])
def test_new_samples_are_filled_as_the_training_samples_were(folder, run, strategy):
    holed((3, 1), (5, 2))
    assert run("cluster", *PAIR, "--impute", strategy).code == 0
    assert sorted(path.name for path in Path("o/model").iterdir()) == ["imputer.skops", "model.json", "model.skops"]
    again = run("predict", "o", *PAIR[:-4])
    source = "the column's median" if strategy == "median" else "the mean of the 5 nearest samples"
    assert f"view 'b': 2 empty cells filled with {source} (--impute {strategy})" in again.err
    assert dict(line.split(",") for line in again.out.splitlines()[1:]) == {
        key: str(cluster) for key, cluster in clusters().items()
    }
    # a view may be lacking as a whole
    one = run("predict", "o", "--view", "a=a.csv", "--id", "id")
    assert (one.code, len(one.out.splitlines())) == (0, 37)


def test_without_imputation_in_the_fit_new_samples_need_full_cells(folder, run):
    holed()
    assert run("cluster", *PAIR).code == 0
    holed((3, 1))
    refused = run("predict", "o", *PAIR[:-4])
    assert refused.code == 2
    assert "NaN: view 'b', row 3, column 1" in refused.err


@pytest.mark.parametrize("damage", ["gone", "changed", "another", "other class"])
def test_a_damaged_imputer_is_refused(folder, run, damage):
    holed((3, 1))
    assert run("cluster", *PAIR, "--impute", "median").code == 0
    place, header = Path("o/model/imputer.skops"), Path("o/model/model.json")
    if damage == "gone":
        place.unlink()
    elif damage == "changed":
        place.write_bytes(place.read_bytes()[:-1])
    elif damage == "another":
        place.write_bytes(Path("o/model/model.skops").read_bytes())
    else:
        header.write_text(header.read_text().replace("ViewImputer", "FastMICE"))
    result = run("predict", "o", *PAIR[:-4])
    assert result.code == 2
    assert "fit and save the model again" in result.err
    assert result.err.count("\n") == 1


def test_empty_rows_are_missing_views_and_are_not_imputed(folder, run):
    holed(*((3, column) for column in range(4)))
    for extra in ((), ("--impute", "median")):
        result = run("cluster", *PAIR, *extra, "--method", "op-lfmvc")
        assert result.code == 2
        assert "view 'b' has 1 unobserved sample(s) (rows of NaN), first 003 (row 3)" in result.err


def test_infinities_constants_and_text_are_said(folder, run):
    table(2).with_columns(f1=pl.Series([np.inf, *range(35)])).write_csv("other.csv")
    assert "infinity: view 'b', row 0, column 1 (sample '000', column 'f1')" in run("cluster", *PAIR).err
    table(2).with_columns(f1=pl.lit(7.0)).write_csv("other.csv")
    result = run("cluster", *PAIR)
    assert result.code == 0
    assert "view 'b': 1 of 4 columns hold one number for all samples and say nothing about them: 'f1'" in result.err
    table(2).with_columns(pl.lit(7.0).alias(f"f{j}") for j in range(4)).write_csv("other.csv")
    result = run("cluster", *PAIR, "--method", "op-lfmvc", "--force")
    assert result.code == 0
    assert "view 'b' is constant" in result.err
    assert json.loads(Path("o/run.json").read_text())["view_weights"] == {"a": 1, "b": 0}
    table(2).with_columns(colour=pl.lit("red")).write_csv("other.csv")
    result = run("cluster", *PAIR, "--force")
    assert re.search(r"column 'colour' cannot be used as numbers .*'red'.*--id or --truth", result.err)


def test_more_clusters_than_distinct_samples(folder, run):
    values = np.repeat(table(1).drop("id").to_numpy()[[0, 20]], 9, axis=0)
    np.save("twice.npy", values)
    result = run("cluster", "twice.npy", "-k", 3)
    assert (result.code, result.err.count("\n")) == (2, 1)
    assert "-k 3: only 2 of the 18 samples are distinct" in result.err
    assert "give -k 2 at most" in result.err
    assert run("cluster", "twice.npy", "-k", 2, "--out", "o").code == 0
    assert list(clusters().values()) == [0] * 9 + [1] * 9


def test_two_samples_one_view_and_twenty_views(folder, run):
    np.save("two.npy", np.array([[0.0, 1.0], [4.0, 2.0]]))
    for k in (1, 2):
        assert run("cluster", "two.npy", "-k", k, "--out", f"two{k}").code == 0
        assert len(set(clusters(f"two{k}/labels.csv").values())) == k
    views = []
    for i in range(20):
        table(i).write_csv(f"v{i}.csv")
        views += ["--view", f"v{i}=v{i}.csv"]
    assert run("cluster", *views, "--id", "id", "-k", 3, "--out", "o").code == 0
    assert agrees(clusters())


def test_a_text_file_of_another_country_gives_the_same_clusters(folder, run):
    assert run("cluster", "a.csv", "--id", "id", "-k", 3, "--out", "one").code == 0
    text = Path("a.csv").read_text().replace(",", ";").replace(".", ",").replace("\n", "\r\n")
    Path("excel.csv").write_bytes(text.encode("utf-16"))
    result = run("cluster", "excel.csv", "--id", "id", "-k", 3, "--out", "two")
    assert result.code == 0
    assert "read as UTF-16 text" in result.err
    assert "commas in numbers are read as decimal points" in result.err
    assert clusters("one/labels.csv") == clusters("two/labels.csv")


def test_a_header_can_be_stated(folder, run):
    lines = Path("a.csv").read_text().splitlines()[1:]
    Path("bare.csv").write_text("\n".join("s" + line for line in lines) + "\n")
    result = run("cluster", "bare.csv", "--id", "column_0", "-k", 3, "--out", "o")
    assert result.code == 0
    assert len(clusters()) == 36
    assert run("cluster", "bare.csv", "--id", "column_0", "-k", 3, "--header", "no", "--out", "p").err == ""
    assert "'no', 'maybe'" not in (wrong := run("cluster", "bare.csv", "-k", 3, "--header", "maybe")).err
    assert wrong.code == 2


def test_earlier_cluster_numbers_are_kept(folder, run):
    assert run("cluster", "a.csv", "--id", "id", "-k", 3, "--out", "o").code == 0
    first = clusters()
    turned = {key: (cluster + 1) % 3 for key, cluster in first.items() if key != "004"}
    Path("earlier.csv").write_text("sample,cluster\n" + "".join(f"{key},{c}\n" for key, c in turned.items()))
    result = run("cluster", "a.csv", "--id", "id", "-k", 3, "--match-to", "earlier.csv", "--seed", 3, "--out", "p")
    assert result.code == 0
    assert clusters("p/labels.csv") == {key: (cluster + 1) % 3 for key, cluster in first.items()}
    assert "clusters keep the numbers of earlier.csv, which has 35 of the 36 samples" in result.err
    assert "earlier.csv" in json.loads(Path("p/run.json").read_text())["inputs"]
    predicted = run("predict", "p", "a.csv", "--id", "id")
    assert [int(line.split(",")[1]) for line in predicted.out.splitlines()[1:]] == list(
        clusters("p/labels.csv").values()
    )
    assert run("cluster", "a.csv", "--id", "id", "-k", 3, "--match-to", "p", "--out", "q").code == 0
    assert clusters("q/labels.csv") == clusters("p/labels.csv")


@pytest.mark.parametrize(
    ("content", "match"),
    [
        ("sample,cluster\n000,0\n", None),
        ("sample,cluster\n000,5\n", "match_to has a cluster 5.*give n_clusters=6 at least"),
        ("sample,group\n000,0\n", "has no column 'cluster'; give the labels.csv of an earlier run"),
        ("sample,cluster\n000,x\n", "row 0 has the cluster 'x'; clusters are whole numbers"),
        ("sample,cluster\n000,-1\n", "row 0 has the cluster -1"),
        ("sample,cluster\n000,0.5\n", r"row 0 has the cluster 0\.5"),
        ("sample,cluster\n0,0\n", "has none of the samples; check that the ids are written alike"),
        ("sample,cluster\n000,0\n000,1\n", "occur more than once"),
    ],
)
def test_earlier_labels_that_cannot_be_used(folder, run, content, match):
    Path("e.csv").write_text(content)
    result = run("cluster", "a.csv", "--id", "id", "-k", 3, "--match-to", "e.csv", "--out", "o", "--quiet")
    assert result.code == (0 if match is None else 2)
    assert match is None or re.search(match, result.err)
    assert result.err.count("\n") == (match is not None)


def test_too_little_memory_is_said_before_the_fit(folder, run, monkeypatch):
    np.save("many.npy", np.arange(40_000.0).reshape(20_000, 2))
    monkeypatch.setattr(memory, "machine_memory", lambda: (3 * 10**9, 10**9))
    result = run("cluster", "many.npy", "-k", 2, "--method", "op-lfmvc", "--set", "approximation=exact")
    assert (result.code, result.err.count("\n")) == (2, 1)
    assert "OPLFMVC needs about 9.6 GB of memory for 20000 samples, more than the 3.0 GB of this machine" in result.err
    assert "with default parameters OPLFMVC (op-lfmvc) about" in result.err


def test_a_wide_table_and_a_sparse_one(folder, run):
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1, 2], 40)
    wide = rng.normal(size=(120, 5_000)).astype(np.float32)
    wide[:, :50] += 4 * rng.normal(size=(3, 50))[labels]
    np.save("wide.npy", wide)
    words = sparse.random(120, 20_000, density=0.001, format="csr", random_state=0)
    sparse.save_npz("words.npz", words + sparse.csr_matrix(np.eye(3)[labels] @ np.eye(3, 20_000)))
    result = run("cluster", "--view", "a=wide.npy", "--view", "b=words.npz", "-k", 3, "--out", "o")
    assert result.code == 0
    assert len({(c, labels[int(key)]) for key, c in clusters().items()}) == 3


@pytest.mark.slow
def test_a_sparse_view_of_100_000_samples_and_50_000_columns(folder, run):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 10, 100_000)
    rows = np.repeat(np.arange(100_000), 60)
    own = labels[rows] * 500 + rng.integers(0, 500, rows.size)
    columns = np.where(rng.random(rows.size) < 0.3, own, rng.integers(0, 50_000, rows.size))
    sparse.save_npz("s.npz", sparse.csr_matrix((np.ones(rows.size), (rows, columns)), shape=(100_000, 50_000)))
    np.save("truth.npy", labels)
    assert run("cluster", "s.npz", "-k", 10, "--truth", "truth.npy", "--out", "o").code == 0
    assert json.loads(Path("o/run.json").read_text())["scores"]["acc"] > 0.95
