"""``manyviews cluster`` and ``predict``: what they write and print."""

import csv
import hashlib
import html
import json
import os
import re
import shlex
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from command_data import CLASSES, TWO_VIEWS, table

from manyviews.cli import clustering
from manyviews.cluster.registry import METHODS


def read(path):
    return Path(path).read_text(encoding="utf-8")


def labels(path):
    with open(path, newline="") as stream:
        rows = list(csv.DictReader(stream))
    return {next(iter(row.values())): int(row["cluster"]) for row in rows}


def agrees(found):
    """Tell whether clusters by id are the three groups."""
    pairs = {(cluster, CLASSES[int(sample)]) for sample, cluster in found.items()}
    return len(found) == 36 and len(pairs) == 3


def test_output_folder(folder, drawn, run):
    result = run(
        "cluster",
        *TWO_VIEWS,
        "-k",
        3,
        "--out",
        "out",
        "--seed",
        5,
        "--method",
        "op-lfmvc",
        "--set",
        "n_init=3",
        "--set",
        "tol=1e-5",
    )
    assert (result.code, result.err) == (0, "")
    assert sorted(os.listdir("out")) == ["labels.csv", "model", "report.html", "run.json"]
    assert agrees(labels("out/labels.csv"))
    assert read("out/labels.csv").startswith("id,cluster,confidence\n")
    record = json.loads(read("out/run.json"))
    assert record["inputs"] == {
        path: hashlib.sha256((folder / path).read_bytes()).hexdigest() for path in ("a.csv", "b.parquet")
    }
    assert record["scores"]["acc"] == 1.0
    assert (record["seed"], record["n_clusters"], record["method"]) == (5, 3, "op-lfmvc")
    assert record["parameters"]["n_init"] == 3
    assert record["parameters"]["tol"] == 1e-5
    assert sum(record["view_weights"].values()) == pytest.approx(1)
    assert record["scalings"] == {"a": "standard", "b": "standard"}
    assert "scaling: standard\n" in result.out
    assert set(record["timings"]) == {"read", "fit", "write", "report"}
    assert set(record["versions"]) == {"python", "numpy", "scipy", "scikit-learn"}
    assert record["cluster_sizes"] == [12, 12, 12]
    page = read("out/report.html")
    assert "<html" in page
    assert "OPLFMVC" in result.out
    assert re.search(r"acc +1\.0000", result.out)
    assert os.path.join("out", "report.html") in result.out


def test_the_record_says_how_to_repeat_the_run(folder, run):
    run("cluster", *TWO_VIEWS, "-k", 3, "--out", "my out")
    before, record = read("my out/labels.csv"), json.loads(read("my out/run.json"))
    assert record["repeat"].startswith("manyviews cluster --view a=a.csv")
    assert record["repeat"].endswith("--out 'my out' --method consensus --seed 0 --force")
    assert html.unescape(read("my out/report.html")).count(record["repeat"]) == 1
    assert run(*shlex.split(record["repeat"])[1:]).code == 0
    assert read("my out/labels.csv") == before
    again = run("cluster", *TWO_VIEWS, "-k", 3, "--seed=7", "--method", "lf-mvc", "--out", "my out", "--force")
    assert again.code == 0
    repeat = json.loads(read("my out/run.json"))["repeat"]
    assert [repeat.count(word) for word in ("--seed", "--method", "--force")] == [1, 1, 1]


def test_stability_and_memory_are_in_the_record(folder, run):
    result = run("cluster", *TWO_VIEWS, "-k", 3, "--out", "out", "--method", "op-lfmvc", "--refit-seconds", 60)
    record = json.loads(read("out/run.json"))
    assert record["stability"]["number"] == 1.0
    assert [len(record["stability"][kind]) for kind in ("seeds", "parts")] == [5, 5]
    assert "stability: 1.00 of 1, very stable" in result.out
    peaks = [record["peak_memory"][stage] for stage in ("read", "fit", "write", "report")]
    assert peaks == sorted(peaks)
    assert 10e6 < peaks[0] < 1e12


def test_rows_in_another_order_give_the_same_clusters(folder, run):
    order = np.random.default_rng(0).permutation(36)
    table(2, order=order).write_csv("shuffled.csv")
    assert run("cluster", *TWO_VIEWS, "-k", 3, "--out", "one").code == 0
    result = run(
        "cluster", "--view", "a=a.csv", "--view", "b=shuffled.csv", "--id", "id", "-k", 3, "--out", "two"
    )  # fmt: skip
    assert result.code == 0
    assert re.fullmatch("manyviews: note: view 'b' has its rows in another order.*\n", result.err)
    assert labels("one/labels.csv") == labels("two/labels.csv")


def test_one_file_with_all_views_and_the_default_folder(folder, run):
    result = run("cluster", "m.npz", "-k", 3)
    assert (result.code, result.err) == (0, "")
    assert agrees(labels("manyviews-m/labels.csv"))
    assert json.loads(read("manyviews-m/run.json"))["scores"]["nmi"] == pytest.approx(1)


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_every_method_runs_and_predicts_as_its_row_says(folder, run, method):
    result = run("cluster", "m.npz", "-k", 3, "--method", method.name, "--out", "out", "--json")
    assert (result.code, result.err) == (0, "")
    assert json.loads(result.out)["class"] == method.class_name
    assert agrees(labels("out/labels.csv"))
    predicted = run("predict", "out", "m.npz")
    assert predicted.code == (0 if method.predicts else 2)


def test_json_is_one_object_and_nothing_else(folder, run):
    result = run("cluster", *TWO_VIEWS, "-k", 3, "--json", "--set", "verbose=1", "--out", "o")
    record = json.loads(result.out)
    assert record.pop("out") == "o"
    assert record == json.loads(read("o/run.json"))


def test_quiet(folder, run):
    result = run("cluster", "m.npz", "-k", 3, "--quiet")
    assert (result.code, result.out, result.err) == (0, "", "")


def test_force_replaces_an_earlier_output(folder, run):
    assert run("cluster", "m.npz", "-k", 3, "--out", "o").code == 0
    before = read("o/run.json")
    assert run("cluster", "m.npz", "-k", 2, "--out", "o").code == 2
    assert read("o/run.json") == before
    assert run("cluster", "m.npz", "-k", 2, "--out", "o", "--force").code == 0
    assert json.loads(read("o/run.json"))["n_clusters"] == 2
    assert [name for name in os.listdir() if name.startswith(".")] == []


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ((), "auto"),
        (("--scaling", "none"), None),
        (("--scaling", "unit"), "unit"),
        (("--scaling", "view_1=minmax"), {"view_0": "auto", "view_1": "minmax"}),
        (("--scaling", "view_1=none", "--scaling", "view_0=unit"), {"view_0": "unit", "view_1": None}),
    ],
)
def test_scaling(folder, run, given, expected):
    result = run("cluster", "m.npz", "-k", 3, "--json", *given)
    assert result.code == 0
    assert json.loads(result.out)["parameters"]["scaling"] == expected


def test_predict_prints_or_writes_labels(folder, run):
    assert run("cluster", *TWO_VIEWS, "-k", 3, "--out", "o").code == 0
    table(1, order=range(5, 30)).write_csv("new_a.csv")
    table(2, order=range(5, 30)).write_csv("new_b.csv")
    views = ("--view", "b=new_b.csv", "--view", "a=new_a.csv", "--id", "id")
    printed = run("predict", "o", *views)
    assert (printed.code, printed.err) == (0, "")
    assert printed.out.startswith("id,cluster\n")
    assert run("predict", "o", *views, "--out", "-").out == run("predict", "o", *views, "--out=-").out == printed.out
    assert not (folder / "-").exists()
    assert run("predict", "o", *views, "--out", "new/labels.csv").out == ""
    assert read("new/labels.csv") == printed.out
    known = labels("o/labels.csv")
    found = labels("new/labels.csv")
    assert list(found) == [f"{i:03d}" for i in range(5, 30)]
    assert all(known[sample] == cluster for sample, cluster in found.items())
    refused = run("predict", "o", *views, "--out", "new/labels.csv")
    assert refused.code == 2
    assert "exists already" in refused.err
    assert run("predict", "o", *views, "--out", "new/labels.csv", "--force").code == 0


def test_without_a_model_the_folder_has_all_else_and_predict_says_why_it_cannot(folder, run):
    assert run("cluster", *TWO_VIEWS, "-k", 3, "--out", "o", "--no-model", "--refit-seconds", 0).code == 0
    assert sorted(os.listdir("o")) == ["labels.csv", "report.html", "run.json"]
    refused = run("predict", "o", "--view", "a=a.csv", "--view", "b=b.parquet", "--id", "id")
    assert refused.code == 2
    assert "--no-model" in refused.err


def test_the_size_of_a_large_model_is_said_before_it_is_written(folder, run, monkeypatch):
    monkeypatch.setattr(clustering, "LARGE_MODEL", 1_000)
    result = run("cluster", *TWO_VIEWS, "-k", 3, "--out", "o", "--refit-seconds", 0)
    said = re.search(r"the model takes about ([\d.]+) kB; --no-model leaves it out", result.err)
    written = sum(path.stat().st_size for path in Path("o/model").iterdir())
    assert 0.1 * written < 1000 * float(said[1]) < written


def test_predict_refuses_what_does_not_fit(folder, run):
    assert run("cluster", *TWO_VIEWS, "-k", 3, "--method", "op-lfmvc", "--out", "o").code == 0
    pl.read_csv("a.csv").rename({"f1": "other"}).write_csv("renamed.csv")
    for argv, text in [
        (("o", "m.npz"), "missing here: ['a', 'b']"),
        (("o", "--view", "a=a.csv", "--id", "id"), "missing here: ['b']"),
        (("o", "--view", "a=renamed.csv", "--view", "b=plain.csv"), "view 'a' has other columns"),
        (("nope", "m.npz"), "nope/model: there is no such model folder"),
        (("o",), "nothing was given"),
    ]:
        result = run("predict", *argv)
        assert result.code == 2
        assert text in result.err
        assert result.err.count("\n") == 1
        assert result.out == ""


def test_damaged_model_is_refused(folder, run):
    assert run("cluster", "m.npz", "-k", 3, "--out", "o").code == 0
    body = folder / "o" / "model" / "model.skops"
    body.write_bytes(body.read_bytes()[:-100])
    result = run("predict", "o", "m.npz", "--out", "l.csv")
    assert result.code == 2
    assert "damaged" in result.err
    assert not os.path.exists("l.csv")


def test_predicting_a_single_view_does_not_depend_on_the_file_name(folder, run):
    assert run("cluster", "plain.csv", "-k", 3, "--out", "o").code == 0
    columns = pl.read_csv("plain.csv").columns
    pl.read_csv("plain.csv").select(columns[::-1]).write_csv("other.csv")
    result = run("predict", "o", "other.csv")
    assert result.code == 0
    assert result.out.splitlines()[1:] == [
        ",".join(line.split(",")[:2]) for line in read("o/labels.csv").splitlines()[1:]
    ]


def test_names_are_shown_as_they_are(folder, run):
    pl.read_csv("a.csv").drop("id").write_csv("more.csv")
    result = run(
        *("cluster", "--view", "a [red]b[/red]=plain.csv", "--view", "\x1b[31mb=more.csv"),
        *("-k", 3, "--method", "op-lfmvc", "--out", "o"),
    )
    assert result.code == 0
    assert "a [red]b[/red]" in result.out
    assert "\x1b" not in result.out
    assert "\\x1b[31mb" in result.out


def test_a_warning_is_one_plain_line(folder, run):
    result = run("cluster", "m.npz", "-k", 5, "--method", "op-lfmvc", "--set", "max_iter=1", "--out", "o")
    assert result.code == 0
    assert re.fullmatch("manyviews: warning: OPLFMVC stopped after 1 iteration.*\n", result.err)
    assert ".py" not in result.err
