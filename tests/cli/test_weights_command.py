"""``--weight NAME=W`` in ``cluster``, ``compare`` and ``sweep``; folders that are in the way are said at once."""

import csv
import json
from pathlib import Path

import pytest
from command_data import TWO_VIEWS

ONLY_A = ("--view", "a=a.csv", "--id", "id")
QUICK = ("--method", "concat-kmeans")


def clusters(folder):
    with open(f"{folder}/labels.csv", newline="") as stream:
        return [row["cluster"] for row in csv.DictReader(stream)]


def test_weights_are_in_the_record_the_page_and_the_model(folder, run):
    result = run("cluster", *TWO_VIEWS, "-k", 3, *QUICK, "--weight", "a=3", "--weight", "b=0", "--out", "out")
    assert result.code == 0, result.err
    record = json.loads(Path("out/run.json").read_text())
    assert record["parameters"]["view_weights"] == {"a": 3.0, "b": 0.0}
    assert list(record["scalings"]) == ["a"]
    assert "--weight a=3 --weight b=0" in record["repeat"]
    page = Path("out/report.html").read_text()
    assert "a 3; left out: b." in page
    alone = run("cluster", *ONLY_A, "-k", 3, *QUICK, "--out", "alone")
    assert alone.code == 0, alone.err
    assert clusters("out") == clusters("alone")
    for given in ((*ONLY_A, "--view", "b=b.parquet:f0..f3"), ONLY_A):
        labelled = run("predict", "out", *given)
        assert labelled.code == 0, labelled.err
        assert [line.split(",")[1] for line in labelled.out.splitlines()[1:]] == clusters("out")


def test_refits_and_baselines_of_a_report_keep_the_weights(folder, run):
    given = ("--weight", "a=0", "--refit-seconds", 5, "--method", "fastmice", "--set", "n_base_clusterings=5")
    result = run("cluster", *TWO_VIEWS, "-k", 3, *given, "--out", "out")
    assert result.code == 0, result.err
    stability = json.loads(Path("out/run.json").read_text())["stability"]
    assert stability["seeds"]
    assert all(each["agreement"] is not None for each in stability["baselines"])
    assert not [note for note in stability["notes"] if "not possible" in note or "Not fitted" in note]


def test_the_number_of_clusters_is_chosen_by_the_views_that_count(folder, run):
    both = run("cluster", *TWO_VIEWS, "-k", "2-4", *QUICK, "--weight", "b=0", "--out", "out")
    one = run("cluster", *ONLY_A, "-k", "2-4", *QUICK, "--out", "one")
    assert (both.code, both.err) == (one.code, one.err)
    if both.code == 0:  # whether a number is clear on so few samples hangs on the last digits
        choices = [json.loads(Path(f"{out}/run.json").read_text())["choice"] for out in ("out", "one")]
        assert choices[0] == choices[1]
    else:
        assert "There is no clear number of clusters from 2 to 4" in both.err


def test_compare_by_weighted_views(folder, run):
    wanted = ("--weight", "a=2", "--methods", "concat-kmeans,cca", "--seeds", 2, "--parts", 0)
    result = run("compare", *TWO_VIEWS, "-k", 3, *wanted, "--out", "out")
    assert result.code == 0, result.err
    record = json.loads(Path("out/run.json").read_text())
    assert "has no place for weights of views" in record["methods"][1]["reason"]
    assert "--weight a=2" in record["repeat_with"]
    with open("out/runs.jsonl") as stream:
        assert {tuple(json.loads(line)["run"]["parameters"]["view_weights"]) for line in stream} == {("a", "b")}
    other = run("compare", *TWO_VIEWS, "-k", 3, *wanted[2:], "--out", "out")
    assert (other.code, "is not the output of compare with -k 3 on these data" in other.err) == (2, True)


def test_sweep_with_weights(folder, run):
    given = ("--vary", "n_init=1,2", *QUICK, "--seeds", 1, "--weight", "b=0.5", "--out", "out")
    result = run("sweep", *TWO_VIEWS, "-k", 3, *given)
    assert result.code == 0, result.err
    with open("out/runs.jsonl") as stream:
        assert {json.loads(line)["run"]["parameters"]["view_weights"]["b"] for line in stream} == {0.5}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["c=2"], "--weight c=2: there is no view 'c'; the views are a, b"),
        (["a"], "--weight a: write --weight NAME=NUMBER, such as --weight a=2"),
        (["a=much"], "--weight a=much: 'much' is no number of 0 or more; 1 is usual, 0 leaves the view out"),
        (["a=-1"], "'-1' is no number of 0 or more"),
        (["a=nan"], "'nan' is no number of 0 or more"),
        (["a=1", "a=2"], "--weight a=2: view 'a' was given a weight already"),
        (["a=0", "b=0"], "--weight leaves all views out; give at least one a weight above 0"),
    ],
)
@pytest.mark.parametrize("command", ["cluster", "compare", "sweep"])
def test_one_line_says_what_is_wrong(folder, run, command, given, words):
    more = ["--vary", "n_neighbors=3"] if command == "sweep" else []
    result = run(command, *TWO_VIEWS, "-k", 3, *more, *(word for pair in given for word in ("--weight", pair)))
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
    assert words in result.err


@pytest.mark.parametrize(
    ("command", "name"), [("cluster", "manyviews-"), ("compare", "manyviews-compare-"), ("sweep", "manyviews-sweep-")]
)
@pytest.mark.parametrize(
    ("source", "rest"), [(["m.npz"], "m"), (["--view", "a=a.csv", "--view", "b=none.csv"], "a-b"), (["mfeat"], "mfeat")]
)
def test_a_default_folder_in_the_way_is_said_before_anything_is_read(
    folder, run, monkeypatch, command, name, source, rest
):
    Path(name + rest).mkdir()
    Path(name + rest, "mine.txt").write_text("precious")
    reader = "read_known" if command == "cluster" else "read_data"
    monkeypatch.setattr(f"manyviews.cli.{command}.{reader}", None)
    more = ["--vary", "n_neighbors=3"] if command == "sweep" else []
    result = run(command, *source, "-k", 3, *more)
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
    assert f"{name}{rest} exists" in result.err
    assert Path(name + rest, "mine.txt").read_text() == "precious"
