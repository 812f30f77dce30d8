"""``-k 2-10`` and ``-k auto``: the number that is chosen, and what is refused."""

import json
from pathlib import Path

import numpy as np
import pytest
from command_data import CLASSES

FAST = ("--method", "concat-kmeans", "--out", "out")


def noise(n):
    rng = np.random.default_rng(3)
    np.savez("noise.npz", view_0=rng.normal(size=(n, 6)), view_1=rng.normal(size=(n, 4)))


@pytest.mark.parametrize("given", ["2-5", "auto"])
def test_the_number_is_chosen_and_its_reason_said(folder, drawn, run, given):
    result = run("cluster", "m.npz", "-k", given, *FAST)
    assert (result.code, result.err) == (0, "")
    record = json.loads(Path("out/run.json").read_text())
    assert record["n_clusters"] == record["choice"]["n_clusters"] == len(set(CLASSES))
    assert [int(k) for k in record["choice"]["scores"]] == list(range(2, 6 if given == "2-5" else 11))
    reason = record["choice"]["reason"]
    assert f"number of clusters: {reason}" in result.out
    page = Path("out/report.html").read_text()
    assert reason in page
    assert 'id="choice"' in page


def test_a_number_that_is_given_is_not_explained(folder, run):
    result = run("cluster", "m.npz", "-k", 4, *FAST, "--json")
    record = json.loads(result.out)
    assert (record["n_clusters"], record["choice"]) == (4, None)
    assert "How many clusters" not in Path("out/report.html").read_text()


def test_noise_has_no_clear_number(folder, run):
    noise(120)
    result = run("cluster", "noise.npz", "-k", "auto", *FAST)
    assert result.code == 2
    assert result.err.count("\n") == 1
    assert "no clear number of clusters from 2 to 10" in result.err
    assert not Path("out").exists()


def test_compare_chooses_too(folder, run):
    result = run(
        "compare", "m.npz", "-k", "2-4", "--methods", "concat-kmeans", "--seeds", 1, "--parts", 0, "--out", "c"
    )
    assert result.code == 0
    record = json.loads(Path("c/run.json").read_text())
    assert record["n_clusters"] == 3
    assert record["choice"]["reason"] in result.out
    page = Path("c/report.html").read_text()
    assert record["choice"]["reason"] in page
    assert 'id="choice"' in page
    assert 'id="splits"' in page


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("5-2", "'5-2' is no range of numbers of clusters"),
        ("1-1", "'1-1' is no range of numbers of clusters"),
        ("1-4", "'1-4' is no range of numbers of clusters"),
        ("many", "'many' is not a whole number, nor a range such as 2-10, nor auto"),
        ("2.5", "'2.5' is not a whole number"),
        ("2-36", "must be below the number of samples, 36"),
    ],
)
@pytest.mark.parametrize("command", ["cluster", "compare"])
def test_one_line_says_what_is_wrong(folder, run, command, given, words):
    result = run(command, "m.npz", "-k", given)
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
    assert words in result.err
