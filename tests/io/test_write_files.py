"""Output appears whole or not at all, and nothing of the user's is ever lost."""

import io
import json
import os

import numpy as np
import pytest

from manyviews.io.write import (
    OutputError,
    atomic_file,
    atomic_folder,
    read_record,
    to_plain,
    write_json,
)
from manyviews.io.write_labels import write_labels


def fill(folder, content="new"):
    (folder / "labels.csv").write_text(content)
    (folder / "model").mkdir()
    (folder / "model" / "model.json").write_text("{}")
    write_json(folder / "run.json", {"manyviews": "0", "command": "cluster"})


def make_output(path, content="old"):
    with atomic_folder(path) as folder:
        fill(folder, content)


def test_folder_appears_at_the_end(tmp_path):
    target = tmp_path / "deep" / "er" / "out"
    with atomic_folder(target) as folder:
        fill(folder)
        assert not target.exists()
        assert folder.name.startswith(".out.")
    assert (target / "labels.csv").read_text() == "new"
    assert [entry.name for entry in target.parent.iterdir()] == ["out"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("existing", [False, True])
def test_failure_leaves_what_was_there(tmp_path, error, existing):
    target = tmp_path / "deep" / "out"
    if existing:
        make_output(target)

    def fail():
        with atomic_folder(target, force=True) as folder:
            fill(folder)
            raise error

    with pytest.raises(error):
        fail()
    if existing:
        assert (target / "labels.csv").read_text() == "old"
        assert os.listdir(tmp_path / "deep") == ["out"]
    else:
        assert os.listdir(tmp_path) == []


def test_existing_folder_is_refused_and_replaced_with_force(tmp_path):
    target = tmp_path / "out"
    make_output(target)
    with pytest.raises(OutputError, match=r"exists already; .*--force"), atomic_folder(target):
        pass
    assert (target / "labels.csv").read_text() == "old"
    with atomic_folder(target, force=True) as folder:
        fill(folder)
    assert (target / "labels.csv").read_text() == "new"
    assert os.listdir(tmp_path) == ["out"]


def test_force_replaces_only_what_is_ours(tmp_path):
    target = tmp_path / "out"
    target.mkdir()
    (target / "thesis.tex").write_text("years of work")
    with pytest.raises(OutputError, match="not an output folder"), atomic_folder(target, force=True):
        pass
    (target / "run.json").write_text('{"other": "tool"}')
    with pytest.raises(OutputError, match="not an output folder"), atomic_folder(target, force=True):
        pass
    write_json(target / "run.json", {"manyviews": "0"})
    with (
        pytest.raises(OutputError, match=r"did not write \(thesis.tex\)"),
        atomic_folder(target, force=True),
    ):
        pass
    assert (target / "thesis.tex").read_text() == "years of work"
    (tmp_path / "file").write_text("x")
    with pytest.raises(OutputError, match="is a file"), atomic_folder(tmp_path / "file", force=True):
        pass
    (tmp_path / "empty").mkdir()
    with atomic_folder(tmp_path / "empty", force=True) as folder:
        fill(folder)
    assert (tmp_path / "empty" / "labels.csv").exists()


def test_what_a_linked_model_leads_to_is_not_ours(tmp_path):
    make_output(tmp_path / "out")
    kept = tmp_path / "kept"
    (tmp_path / "out" / "model").rename(kept)
    names = ["labels.csv", "model.json", "report.html", "run.json"]
    for name in names:
        (kept / name).write_text("mine")
    (tmp_path / "out" / "model").symlink_to(kept)
    with atomic_folder(tmp_path / "out", force=True) as folder:
        fill(folder)
    assert not (tmp_path / "out" / "model").is_symlink()
    assert sorted(os.listdir(kept)) == names
    assert sorted(os.listdir(tmp_path)) == ["kept", "out"]


def test_a_folder_that_appears_meanwhile_is_not_overwritten(tmp_path):
    target = tmp_path / "out"

    def write():
        with atomic_folder(target) as folder:
            fill(folder)
            target.mkdir()

    with pytest.raises(OutputError, match="exists already"):
        write()
    assert os.listdir(target) == []
    assert os.listdir(tmp_path) == ["out"]


def test_failed_rename_puts_the_old_output_back(tmp_path, monkeypatch):
    target, rename, calls = tmp_path / "out", os.rename, []
    make_output(target)

    def second_fails(source, destination):
        calls.append(source)
        if len(calls) == 2:
            raise OSError(28, "No space left on device")
        rename(source, destination)

    monkeypatch.setattr(os, "rename", second_fails)
    with pytest.raises(OSError, match="No space"), atomic_folder(target, force=True) as folder:
        fill(folder)
    assert (target / "labels.csv").read_text() == "old"
    assert os.listdir(tmp_path) == ["out"]


def test_places_that_cannot_be_written(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("x")
    for target in (tmp_path / "file" / "out", tmp_path / "file" / "deep" / "out"):
        with pytest.raises(OutputError, match="cannot be written"), atomic_folder(target):
            pass
        with pytest.raises(OutputError, match="cannot be written"), atomic_file(target):
            pass

    def deny(*args, **kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.mkdir", deny)
    with pytest.raises(OutputError, match="out cannot be written \\(Permission denied\\)"), atomic_folder("out"):
        pass


def test_links_are_followed(tmp_path):
    (tmp_path / "real").mkdir()
    make_output(tmp_path / "real" / "out")
    (tmp_path / "link").symlink_to(tmp_path / "real" / "out")
    with atomic_folder(tmp_path / "link", force=True) as folder:
        fill(folder)
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real" / "out" / "labels.csv").read_text() == "new"


def test_single_file(tmp_path):
    target = tmp_path / "sub" / "labels.csv"
    with atomic_file(target) as path:
        path.write_text("one")
        assert not target.exists()
    with pytest.raises(OutputError, match="exists already"), atomic_file(target):
        pass

    def interrupted():
        with atomic_file(target, force=True) as path:
            path.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert target.read_text() == "one"
    with atomic_file(target, force=True) as path:
        path.write_text("two")
    assert target.read_text() == "two"
    with pytest.raises(OutputError, match="is a folder"), atomic_file(tmp_path / "sub", force=True):
        pass
    assert os.listdir(tmp_path / "sub") == ["labels.csv"]


def test_labels():
    stream = io.StringIO()
    write_labels(stream, np.array([1, 0]))
    assert stream.getvalue() == "sample,cluster\n0,1\n1,0\n"
    stream = io.StringIO()
    write_labels(stream, [1, 0], samples=['0"7', "a,b"], confidence=[0.5, 1.0])
    assert stream.getvalue() == 'sample,cluster,confidence\n"0""7",1,0.5\n"a,b",0,1\n'


def test_record(tmp_path):
    value = {"a": np.float32(np.nan), "b": np.arange(2), "c": (np.int64(1), True, None), 5: float("inf"), "d": "\udcff"}
    write_json(tmp_path / "run.json", {"manyviews": "0"} | value)
    text = (tmp_path / "run.json").read_text(encoding="utf-8")
    expected = {"a": None, "b": [0, 1], "c": [1, True, None], "5": None, "d": "\\udcff"}
    assert json.loads(text) == {"manyviews": "0"} | expected == read_record(tmp_path)
    assert to_plain(np.array(["x"])) == ["x"]
    assert read_record(tmp_path / "nope") is None
