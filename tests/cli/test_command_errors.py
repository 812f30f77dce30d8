"""Every mistake ends with exit code 2 and one line on stderr that says what to change; nothing is written."""

import errno
import os
import pickle
import re

import numpy as np
import polars as pl
import pytest
from command_data import TWO_VIEWS, table

from manyviews.cli import main
from manyviews.cluster.consensus import Consensus


def everything(folder):
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*")}


@pytest.fixture
def fails(folder, run):
    def _fails(*argv, match, code=2):
        before = everything(folder)
        result = run(*argv)
        assert result.code == code
        assert re.search(match, result.err), result.err
        assert result.err.startswith("manyviews: ")
        assert result.err.count("\n") == 1
        assert "Traceback" not in result.err
        assert result.out == ""
        assert everything(folder) == before

    return _fails


CASES = {
    "nothing": ((), "requires an argument"),
    "no data": (("-k", 3), "nothing was given"),
    "two sources": (("m.npz", "--view", "a=a.csv", "-k", 3), "both were given"),
    "missing file": (("nope.csv", "-k", 3), "nope.csv: there is no such file"),
    "missing name": (("mfaet", "-k", 3), "Did you mean 'mfeat'"),
    "set without data": (("cora", "-k", 3), "does not come with manyviews"),
    "folder": ((".", "-k", 3), "\\. is a folder"),
    "text column": (("b.parquet", "--id", "id", "-k", 3), "'kind' cannot be used as numbers"),
    "unknown id": ((*TWO_VIEWS[:4], "--id", "nope", "-k", 3), "no column 'nope'"),
    "id of an array": (("m.npz", "--id", "id", "-k", 3), "has no column 'id'"),
    "unknown truth": (("plain.csv", "--truth", "nope", "-k", 3), "'nope' to take the classes from"),
    "bad pair": (("--view", "a.csv", "-k", 3), "write --view NAME=FILE"),
    "no name": (("--view", "=a.csv", "-k", 3), "write --view NAME=FILE"),
    "repeated view": (("--view", "a=a.csv", "--view", "a=a.csv", "-k", 3), "there is a view 'a' already"),
    "zero clusters": (("m.npz", "-k", 0), "between 1 and the number of samples, 36"),
    "negative clusters": (("m.npz", "-k", -1), "between 1 and the number of samples, 36"),
    "too many clusters": (("m.npz", "-k", 37), "between 1 and the number of samples, 36"),
    "half a cluster": (("m.npz", "-k", 2.5), "2.5"),
    "no number": (("m.npz", "-k", "many"), "many"),
    "unknown method": (("m.npz", "-k", 3, "--method", "op-lfmv"), "did you mean 'op-lfmvc'"),
    "unknown parameter": (
        ("m.npz", "-k", 3, "--method", "mspl", "--set", "n_int=3"),
        "has no parameter 'n_int'; did you mean n_init",
    ),
    "parameter without value": (("m.npz", "-k", 3, "--set", "n_init"), "write --set PARAM=VALUE"),
    "parameter twice": (
        ("m.npz", "-k", 3, "--method", "mspl", "--set", "n_init=1", "--set", "n_init=2"),
        "was set already",
    ),
    "parameter with an option": (("m.npz", "-k", 3, "--set", "random_state=1"), "an option of its own, --seed"),
    "bad parameter": (("m.npz", "-k", 3, "--method", "mspl", "--set", "n_init=-1"), "'n_init' parameter"),
    "bad scaling": (("m.npz", "-k", 3, "--scaling", "huge"), "choose one of auto"),
    "scaling of no view": (("m.npz", "-k", 3, "--scaling", "x=unit"), "the views are view_0, view_1"),
    "negative seed": (("m.npz", "-k", 3, "--seed", -1), "the seed must be 0 or more"),
    "unknown option": (("m.npz", "-k", 3, "--sed", 1), "--sed"),
    "stray argument": (("m.npz", "n.npz", "-k", 3), "n.npz"),
    "truth of a set": (("mfeat", "-k", 3, "--truth", "x"), "leave --id and --truth out"),
    "below a file": (("m.npz", "-k", 3, "--out", "a.csv/out"), "cannot be written"),
    "out is a file": (("m.npz", "-k", 3, "--out", "a.csv"), "is a file"),
    "out exists": (("m.npz", "-k", 3, "--out", "."), "exists already"),
}


@pytest.mark.parametrize("case", CASES)
def test_mistakes(fails, case):
    argv, match = CASES[case]
    fails("cluster", *argv, match=match)


def test_unknown_command(fails):
    fails("klaster", match=r"klaster.*\(see: manyviews --help\)")


def test_unequal_rows(fails):
    table(1, order=range(30)).drop("id").write_csv("short.csv")
    argv = ("cluster", "--view", "a=plain.csv", "--view", "b=short.csv", "-k", 3)
    fails(*argv, match="'a' has 36 rows, 'b' has 30 rows.*--id")


def test_repeated_and_differing_ids(fails):
    ids = [f"{i:03d}" for i in range(36)]
    table(1).with_columns(id=pl.Series(["000", *ids[:-1]])).write_csv("twice.csv")
    argv = ("cluster", "--id", "id", "-k", 3, "--view", "a=a.csv", "--view")
    fails(*argv, "b=twice.csv", match="occur more than once, first '000'")
    table(1).with_columns(id=pl.Series([str(i) for i in range(36)])).write_csv("zeros.csv")
    fails(*argv, "b=zeros.csv", match="no id is in two views: .* agree but for .* leading zeros, which count")


def test_one_missing_cell(fails):
    table(1).drop("id").with_columns(f1=pl.Series([None, *range(35)])).write_csv("hole.csv")
    fails("cluster", "hole.csv", "-k", 3, match="NaN: view 'hole', row 0, column 1")


def test_damaged_and_pickled_files(fails, folder):
    (folder / "cut.npz").write_bytes((folder / "m.npz").read_bytes()[:-50])
    fails("cluster", "cut.npz", "-k", 3, match="cut.npz cannot be read")
    np.save("o.npy", np.array([[{}]], dtype=object), allow_pickle=True)
    fails("cluster", "o.npy", "-k", 3, match="o.npy .*pickled Python objects")
    (folder / "p.npy").write_bytes(pickle.dumps([1]))
    fails("cluster", "p.npy", "-k", 3, match="p.npy .*pickled Python objects")


def test_folder_that_cannot_be_written(fails, monkeypatch):
    def deny(*args, **kwargs):
        raise PermissionError(errno.EACCES, "Permission denied")

    def no_fit(*args, **kwargs):
        raise AssertionError("the fit was started")

    monkeypatch.setattr("pathlib.Path.mkdir", deny)
    monkeypatch.setattr(Consensus, "fit", no_fit)
    fails("cluster", "m.npz", "-k", 3, "--out", "out", match=r"out cannot be written \(Permission denied\)")


def raising(error):
    def fit(self, X, y=None):
        raise error

    return fit


@pytest.mark.parametrize(
    ("error", "code", "match"),
    [
        (ValueError("two\nlines \x1b[31m"), 2, r"error: two lines \\x1b\[31m"),
        (TypeError("wrong kind"), 2, "wrong kind"),
        (
            KeyError("depths"),
            1,
            "KeyError: 'depths' - this is a bug in manyviews.*MANYVIEWS_TRACEBACK=1",
        ),
        (MemoryError("Unable to allocate 7 TiB"), 1, "not enough memory .*7 TiB.*fewer samples"),
        (OSError(errno.ENOSPC, "No space left on device", "x"), 2, "cannot be written: no space left"),
        (OSError(errno.EIO, "Input/output error", "x"), 1, "the system refused"),
        (KeyboardInterrupt(), 130, "interrupted"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_exit_codes(fails, monkeypatch, error, code, match):
    monkeypatch.setattr(Consensus, "fit", raising(error))
    fails("cluster", "m.npz", "-k", 3, match=match, code=code)


def test_traceback_on_request(folder, run, monkeypatch):
    monkeypatch.setattr(Consensus, "fit", raising(KeyError("depths")))
    monkeypatch.setenv("MANYVIEWS_TRACEBACK", "1")
    result = run("cluster", "m.npz", "-k", 3)
    assert result.code == 1
    assert "Traceback" in result.err


def test_failure_of_the_report_leaves_nothing(fails, monkeypatch):
    def fail(*args, **kwargs):
        raise ValueError("a bug in the report is no fault of the user")

    monkeypatch.setattr("manyviews.report.notebook.report", fail)
    fails("cluster", "m.npz", "-k", 3, match="bug in manyviews", code=1)


def test_method_without_predict(folder, run, monkeypatch):
    assert main(["cluster", "m.npz", "-k", "3", "--out", "o", "--quiet"]) == 0
    monkeypatch.setattr("manyviews.io.model.load_model", lambda *args, **kwargs: object())
    result = run("predict", "o", "m.npz")
    assert result.code == 2
    assert "gives no labels to new samples" in result.err
    assert not os.path.exists("labels.csv")


@pytest.mark.parametrize(
    "command",
    [
        ("cluster", "m.npz", "-k", 3),
        ("cluster", "--view", "a=a.csv", "-k", 3, "--workers", 1),
        ("compare", "m.npz", "-k", 3),
        ("sweep", "m.npz", "-k", 3, "--method", "concat-kmeans", "--vary", "n_init=1,2"),
        ("bench", "mspl", "--datasets", "mfeat"),
        ("demo",),
    ],
    ids=lambda command: " ".join(map(str, command[:2])),
)
@pytest.mark.parametrize("out", [("--out=-",), ("--out", "-"), ("--out", "")])
def test_a_folder_cannot_go_to_standard_output(fails, command, out):
    """Where a single file is written, as by predict, - is standard output; see there."""
    fails(*command, *out, match="cannot go to standard output; name the folder" if out[-1] else "is empty")
