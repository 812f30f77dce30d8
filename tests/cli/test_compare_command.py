"""``manyviews compare``: what it writes and prints, and what it refuses."""

import csv
import json
import re
import shlex

import pytest
from command_data import CLASSES, TWO_VIEWS

from manyviews.cli.compare import chosen_methods
from manyviews.cli.console import UsageError
from manyviews.cluster.registry import METHODS

FEW = ("--methods", "concat-kmeans,Average-KKM,u-spec", "--seeds", "2", "--parts", "2")


def test_output(folder, run):
    result = run("compare", *TWO_VIEWS, "-k", "3", *FEW, "--out", "out", "--json")
    assert result.code == 0, result.err
    record = json.loads(result.out)
    stored = json.loads((folder / "out/run.json").read_text())
    assert stored == {key: value for key, value in record.items() if key != "out"}
    assert [row["name"] for row in record["methods"]][-1] == "u-spec"
    best = record["methods"][0]
    assert best["name"] == record["recommendation"]["method"]
    assert best["scores"]["acc"]["mean"] == 1.0
    assert set(best["criteria"]["structures"]) == {"a", "b"}
    assert sorted(path.name for path in (folder / "out").iterdir()) == [
        "labels.csv",
        "methods.csv",
        "report.html",
        "run.json",
        "runs.jsonl",
    ]
    with open("out/labels.csv", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["id"] for row in rows[:2]] == ["000", "001"]
    assert len({(row[best["name"]], kind) for row, kind in zip(rows, CLASSES, strict=True)}) == 3
    with open("out/methods.csv", newline="") as stream:
        table = list(csv.DictReader(stream))
    assert [row["place"] for row in table] == ["1", "2", ""]
    assert float(table[0]["structure a"]) == best["criteria"]["structures"]["a"]
    assert table[2]["reason"] == "takes a single view; there are 2"

    page = (folder / "out/report.html").read_text()
    command = re.search(r'<pre class="command">(manyviews cluster .*?)</pre>', page).group(1).replace("&#39;", "'")
    again = run(*shlex.split(command)[1:], "--out", "clustered", "--refit-seconds", "0")
    assert again.code == 0, again.err
    with open("clustered/labels.csv", newline="") as stream:
        assert [row["cluster"] for row in csv.DictReader(stream)] == [row[best["name"]] for row in rows]

    replaced = run("compare", "m.npz", "-k", "3", *FEW, "--out", "out")
    assert replaced.code == 2
    assert "is not the output of compare with -k 3 on these data" in replaced.err


def test_what_is_printed(folder, run):
    result = run("compare", "m.npz", "-k", "3", *FEW[:2], "--seeds", "1", "--parts", "0", "--truth", "labels")
    assert result.code == 0, result.err
    lines = result.out.splitlines()
    assert lines[0] == "m: 36 samples in 2 views, 3 clusters"
    assert lines[1].split()[:4] == ["method", "score", "structure", "seeds"]
    assert "u-spec: not tried: takes a single view; there are 2" in lines
    assert any(line.endswith("of 2 methods, as far as can be told without classes.") for line in lines)
    assert any(line.startswith("Fairly sure. ") for line in lines)
    assert lines[-1] == "report: manyviews-compare-m/report.html (open it in a browser)"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["m.npz", "-k", "40"], "number of clusters must be between 1 and the number of samples, 36"),
        (["m.npz", "-k", "1"], "nothing to compare"),
        (["m.npz", "-k", "3", "--methods", "fastmise"], "did you mean 'fastmice'"),
        (["m.npz", "-k", "3", "--methods", " , "], "--methods is empty"),
        (["m.npz", "-k", "3", "--methods", "mspl", "--family", "all"], "not both"),
        (["m.npz", "-k", "3", "--family", "kmeans"], "choose main, all, consensus, anchor ensemble"),
        (["m.npz", "-k", "3", "--seeds", "0"], "--seeds 0: give 1 or more"),
        (["m.npz", "-k", "3", "--parts", "-1"], "--parts -1: give 0 or more"),
        (["m.npz", "-k", "3", "--time-limit", "0"], "--time-limit 0: give a positive number of seconds"),
        (["m.npz", "-k", "3", "--truth", "colour"], "colour"),
        (["no.npz", "-k", "3"], "no.npz"),
        (["-k", "3"], "nothing was given"),
    ],
)
def test_refused(folder, run, arguments, words):
    result = run("compare", *arguments)
    assert result.code == 2
    assert words in result.err
    assert result.err.count("\n") == 1
    assert not list(folder.glob("manyviews-compare*"))


def test_no_method_has_a_result(folder, run):
    result = run("compare", "m.npz", "-k", "3", "--methods", "u-spec", "--out", "out")
    assert result.code == 2
    assert "u-spec: not tried: takes a single view; there are 2" in result.out
    assert "no method had a result" in result.err
    assert "No method had a result" in (folder / "out/report.html").read_text()


def test_choice_of_methods():
    assert [method.name for method in chosen_methods(None, None)] == [
        "fastmice", "op-lfmvc", "mvec", "mspl", "udbgl",
        "average-kkm", "concat-kmeans", "best-single-view", "concat-spectral", "sum-spectral",
    ]  # fmt: skip
    assert [method.name for method in chosen_methods("mspl,MSPL, udbgl", None)] == ["mspl", "udbgl"]
    assert [method.name for method in chosen_methods(None, "late fusion")] == ["op-lfmvc", "tp-lfmvc", "lf-mvc"]
    assert len(chosen_methods(None, "all")) == len(METHODS)
    with pytest.raises(UsageError, match="there is no family of methods 'families'"):
        chosen_methods(None, "families")
