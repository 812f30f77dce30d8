"""``manyviews predict`` writes labels as they come."""

import io
import sys
from contextlib import nullcontext

import numpy as np

from manyviews.cli import console, main
from manyviews.cluster import predicting

N = 9_000


def test_labels_of_blocks_are_one_table(tmp_path, monkeypatch, capsys):
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=N)
    paths = {name: tmp_path / f"{name}.npy" for name in "ab"}
    few = {name: tmp_path / f"few-{name}.npy" for name in "ab"}
    for name, width in (("a", 4), ("b", 2)):
        X = 6 * y[:, None] + rng.normal(size=(N, width))
        np.save(paths[name], X)
        np.save(few[name], X[:90])
    views = [f"--view={name}={path}" for name, path in paths.items()]
    fitted, out = str(tmp_path / "out"), tmp_path / "labels.csv"
    options = ["-k", "3", "--method", "concat-kmeans", "--out", fitted, "--refit-seconds", "0", "--quiet"]
    assert main(["cluster", *(f"--view={name}={path}" for name, path in few.items()), *options]) == 0
    assert main(["predict", fitted, *views, "--out", str(out), "--quiet"]) == 0
    whole = out.read_text()
    monkeypatch.setattr(predicting, "MOST_CELLS", 1)
    assert main(["predict", fitted, *views, "--out", str(out), "--force", "--quiet"]) == 0
    assert out.read_text() == whole
    capsys.readouterr()
    assert main(["predict", fitted, *views, "--safe-csv", "--quiet"]) == 0
    assert capsys.readouterr().out == whole
    lines = whole.splitlines()
    assert lines[0] == "sample,cluster"
    assert [line.split(",")[0] for line in lines[1:]] == list(map(str, range(N)))
    labels = np.array([int(line.split(",")[1]) for line in lines[1:]])
    assert len({(a, b) for a, b in zip(y.tolist(), labels.tolist(), strict=True)}) == 3


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_nothing_moves_between_labels_on_a_terminal(tmp_path, monkeypatch):
    X = np.random.default_rng(0).normal(size=(30, 3))
    np.save(tmp_path / "a.npy", X)
    fitted, view = str(tmp_path / "out"), f"--view=a={tmp_path / 'a.npy'}"
    options = ["-k", "2", "--method", "concat-kmeans", "--out", fitted, "--refit-seconds", "0", "--quiet"]
    assert main(["cluster", view, *options]) == 0
    said = []
    monkeypatch.setattr(console, "_shown_if_slow", lambda text: said.append(text) or nullcontext())
    for number, words in enumerate([[], ["--out", str(tmp_path / "labels.csv")]]):
        monkeypatch.setattr(sys, "stdout", Terminal())
        assert main(["predict", fitted, view, *words]) == 0
        assert sum("labelling" in text for text in said) == number
