"""``manyviews sweep``: what it writes and prints, and what it refuses."""

import csv
import json

import pytest
from command_data import TWO_VIEWS

SMALL = ("--method", "concat-kmeans", "--seeds", "2", "--set", "n_init=1")


def test_output_and_going_on(folder, run):
    result = run("sweep", "m.npz", "-k", "3", *SMALL, "--vary", "n_clusters=2,3", "--truth", "labels", "--out", "out")
    assert result.code == 0, result.err
    assert sorted(path.name for path in (folder / "out").iterdir()) == [
        "run.json",
        "runs.jsonl",
        "sweep.csv",
        "sweep.html",
    ]
    with open("out/sweep.csv", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["n_clusters"] for row in rows] == ["2", "3"]
    assert float(rows[1]["acc"]) == 1.0
    page = (folder / "out/sweep.html").read_text()
    assert "All points" in page
    assert "<h2>Structure</h2>" in page
    assert result.out.splitlines()[0].split()[:2] == ["n_clusters", "nmi"]

    more = ("--vary", "n_clusters=2,3,4", "--memory-limit", "8GB", "--out", "out", "--json")
    again = run("sweep", "m.npz", "-k", "3", *SMALL, *more)
    assert again.code == 0, again.err
    assert json.loads(again.out)["table"]["n_clusters"] == [2, 3, 4]
    assert len((folder / "out/runs.jsonl").read_text().splitlines()) == 6


def test_files_are_read_as_the_other_commands_read_them(folder, run):
    (folder / "turned.csv").write_text(
        "gene," + ",".join(f"s{i}" for i in range(12)) + "\nx," + ",".join("0" * 6 + "9" * 6)
    )
    given = (
        "--view",
        "a=turned.csv",
        "--transpose",
        "a",
        "-k",
        "2",
        *SMALL,
        "--vary",
        "n_clusters=1,2",
        "--out",
        "out",
    )
    result = run("sweep", *given)
    assert result.code == 0, result.err


@pytest.mark.parametrize(
    ("vary", "match"),
    [
        (["n_starts=1,2"], "has no parameter 'n_starts'"),
        (["n_init"], "write --vary PARAM=VALUE,VALUE"),
        (["n_init=1", "n_init=2"], "give all its values at once"),
        (["n_clusters=two"], "'two' is no number of clusters"),
        (["n_clusters=2,500"], "500"),
        (["n_init=1", "tol=1", "max_iter=2"], "one or two parameters"),
    ],
)
def test_refusals(folder, run, vary, match):
    given = [word for pair in vary for word in ("--vary", pair)]
    result = run("sweep", *TWO_VIEWS, "-k", "3", "--method", "mspl", *given, "--out", "out")
    assert result.code == 2
    assert match in result.err
    assert len(result.err.splitlines()) == 1
