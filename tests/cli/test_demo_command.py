"""``manyviews demo``, ``methods``, ``data``, ``--help``, ``--version``."""

import json
import os
import subprocess
import sys

import pytest

from manyviews import __version__, datasets
from manyviews.cluster.registry import DEFAULT_METHOD, METHODS

QUICK = ("--method", "concat-kmeans")


@pytest.fixture
def small_demo(monkeypatch, tmp_path):
    """Make the demo quick: every tenth digit, in two views."""
    load, folder = datasets.load, tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)

    def every_tenth(name):
        data = load(name)
        rows = slice(None, None, 10)
        views = data.views.select(data.views.names[:2])[rows]
        return datasets.Dataset(data.name, views, data.labels[rows], data.class_names, data.source, data.licence)

    monkeypatch.setattr(datasets, "load", every_tenth)
    return folder


def test_demo_twice(small_demo, run):
    for _ in range(2):
        result = run("demo")
        assert (result.code, result.err) == (0, "")
        assert "acc" in result.out
        assert os.path.join("manyviews-demo", "report.html") in result.out
        assert os.listdir() == ["manyviews-demo"]
    record = json.loads((small_demo / "manyviews-demo" / "run.json").read_text())
    assert record["command"] == "demo"
    assert record["scores"]["acc"] > 0.6


def test_demo_of_another_method(small_demo, run):
    result = run("demo", "--method", "op-lfmvc", "--seed", 3)
    assert (result.code, result.err) == (0, "")
    assert "OPLFMVC: 200 samples" in result.out
    record = json.loads((small_demo / "manyviews-demo" / "run.json").read_text())
    assert (record["method"], record["seed"]) == ("op-lfmvc", 3)
    assert run("demo", "--method", "nope").code == 2
    assert run("demo", "--seed", "-1").code == 2


@pytest.mark.parametrize("case", ["file", "foreign folder", "other run", "own file inside"])
def test_demo_never_replaces_what_it_did_not_make(small_demo, run, case):
    target = small_demo / "manyviews-demo"
    if case == "file":
        target.write_text("mine")
    elif case == "foreign folder":
        target.mkdir()
    elif case == "other run":
        assert run("cluster", "mfeat", "-k", 3, *QUICK, "--out", "manyviews-demo").code == 0
    else:
        assert run("demo", *QUICK).code == 0
        (target / "notes.txt").write_text("mine")
    before = sorted(small_demo.rglob("*"))
    result = run("demo")
    assert result.code == 2
    assert result.err.count("\n") == 1
    assert sorted(small_demo.rglob("*")) == before
    assert run("demo", *QUICK, "--out", "elsewhere").code == 0


def test_methods(run):
    listed = run("methods")
    assert listed.code == 0
    assert len(listed.out.splitlines()) == len(METHODS) + 1
    found = json.loads(run("methods", "--json").out)
    assert [row["name"] for row in found["methods"]] == [row.name for row in METHODS]
    assert found["default"] in {row.name for row in METHODS}


def test_data(run):
    assert run("data").out == run("data", "list").out
    assert "mfeat" in run("data").out
    assert [row["name"] for row in json.loads(run("data", "--json").out)["datasets"]] == list(datasets.names())
    shown = run("data", "show", "mfeat")
    assert "licence: CC BY 4.0" in shown.out
    assert json.loads(run("data", "show", "mfeat", "--json").out)["n_samples"] == 2000
    refused = run("data", "show", "mfaet")
    assert refused.code == 2
    assert "'mfeat'" in refused.err


def test_help_and_version(run):
    assert run("--version").out.strip() == f"manyviews {__version__}"
    assert run().out == run("--help").out
    for command in ("demo", "cluster", "predict", "methods", "data"):
        assert command in run("--help").out
        assert f"manyviews {command}" in run(command, "--help").out
    assert DEFAULT_METHOD in run("cluster", "--help").out


@pytest.mark.parametrize("argv", [["--help"], ["cluster", "--help"], ["--version"], ["methods"]])
def test_help_loads_nothing_heavy(argv):
    code = (
        "import sys; from manyviews.cli import main; code = main(sys.argv[1:]); "
        "heavy = {'numpy', 'scipy', 'sklearn', 'polars', 'pandas', 'plotly', 'skops'} & set(sys.modules); "
        "assert not heavy, heavy; sys.exit(code)"
    )
    subprocess.run([sys.executable, "-c", code, *argv], check=True, capture_output=True)


def test_module_is_the_command():
    done = subprocess.run([sys.executable, "-m", "manyviews", "--version"], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == f"manyviews {__version__}"


def test_without_the_extra(monkeypatch, run):
    monkeypatch.setattr("manyviews.cli.find_spec", lambda name: None if name in ("rich", "skops") else object())
    result = run("demo")
    assert result.code == 2
    assert result.err == 'manyviews: the command line needs rich, skops; run: pip install "manyviews[cli]"\n'
