"""Nothing that a person owns is lost, and nothing ends without a sentence."""

import json
import os
import signal
import subprocess
import sys
import time
from functools import partial
from types import SimpleNamespace

import polars as pl
import pytest
from command_data import table

from manyviews.cli.console import UsageError
from manyviews.cli.options import memory_size
from manyviews.cli.output import blas_kernels, open_folder
from manyviews.io.write import OutputError, atomic_file, atomic_folder, check_folder
from manyviews.runs.store import Store

COMMAND = [sys.executable, "-m", "manyviews"]
NO_MODEL = ("--no-model",)  # of processes that are not about it: what writes models takes a second to load
QUICK = ("--method", "concat-kmeans", "--refit-seconds", "0", "--quiet")
TINY = ("bench", "mspl", "--datasets", "mfeat", "--methods", "MOR", "--seeds", "2", "--quiet")
FEW = ("--methods", "concat-kmeans,average-kkm", "--seeds", "2", "--parts", "0", "--quiet")
BENCH = {"command": "bench", "paper": "mspl"}
FILES = ("runs.jsonl", "run.json", "table.md", "table.tex", "table.csv", "report.html")


@pytest.fixture
def clustered(folder, run):
    assert run("cluster", "m.npz", "-k", "3", *QUICK, "--out", "out").code == 0
    return folder / "out"


@pytest.mark.parametrize("out", ["m.npz", "link.npz", "out/model/model.json", "out/run.json", "out/labels.csv"])
def test_predict_replaces_neither_its_input_nor_its_model(clustered, folder, run, out):
    os.symlink("m.npz", "link.npz")
    before = (folder / out).read_bytes()
    result = run("predict", "out", "m.npz", "--out", out, "--force")
    assert (result.code, result.err.count("\n")) == (2, 1)
    assert "would replace" in result.err
    assert (folder / out).read_bytes() == before


def test_predict_replaces_no_view_file_and_no_model_link(folder, run):
    views = ("--view", "a=a.csv", "--view", "b=c.csv", "--id", "id")
    table(2).write_csv("c.csv")
    assert run("cluster", *views, "-k", "3", *QUICK, "--out", "out").code == 0
    before = (folder / "a.csv").read_bytes()
    os.link("a.csv", "same.csv")
    result = run("predict", "out", *views, "--out", "same.csv", "--force")
    assert result.code == 2
    assert "would replace" in result.err
    assert (folder / "a.csv").read_bytes() == before
    assert run("predict", "out", *views, "--out", "out/model/new.csv").code == 2


def test_predict_replaces_no_pipe_or_device(clustered, run):
    os.mkfifo("pipe")
    for out in ("pipe", "/dev/null"):
        result = run("predict", "out", "m.npz", "--out", out, "--force")
        assert result.code == 2
        assert "is no regular file" in result.err
    assert os.path.exists("/dev/null")
    assert not os.path.isfile("pipe")


def test_force_replaces_only_what_manyviews_wrote(clustered, run):
    (clustered / "model" / "notes.txt").write_text("mine")
    result = run("cluster", "m.npz", "-k", "3", *QUICK, "--out", "out", "--force")
    assert result.code == 2
    assert "model/notes.txt" in result.err
    assert (clustered / "model" / "notes.txt").read_text() == "mine"
    (clustered / "model" / "notes.txt").unlink()
    assert run("cluster", "m.npz", "-k", "3", *QUICK, "--out", "out", "--force").code == 0


def test_an_input_in_the_output_folder_is_not_replaced(clustered, folder, run):
    os.rename("m.npz", "out/labels.csv.npz")
    os.symlink("out/labels.csv.npz", "m.npz")
    result = run("cluster", "m.npz", "-k", "3", *QUICK, "--out", "out", "--force")
    assert result.code == 2
    assert (clustered / "labels.csv.npz").exists()


def test_what_a_kill_between_two_renames_moved_aside_is_put_back(tmp_path):
    out = tmp_path / "out"
    with atomic_folder(out) as folder:
        (folder / "run.json").write_text('{"manyviews": "0"}')
    os.rename(out, tmp_path / ".out.0123abcd.old")
    with pytest.raises(OutputError, match="exists already"), atomic_folder(out):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    # the kill came after the second rename
    (tmp_path / ".out.0123abcd.old").mkdir()
    (tmp_path / ".out.0123abcd.old" / "mine.txt").write_text("kept")
    (tmp_path / ".out.0123abce.old").mkdir()
    (tmp_path / ".out.0123abce.old" / "labels.csv").write_text("ours")
    with atomic_folder(out, force=True):
        pass
    assert sorted(path.name for path in tmp_path.iterdir()) == [".out.0123abcd.old", "out"]


@pytest.mark.parametrize("left", ["", '{\n  "many', '{\n  "manyviews": "0.1.0",\n  "command": "bench",\n  "pap'])
@pytest.mark.parametrize("force", [False, True])
def test_a_run_record_that_was_cut_short_is_still_ours(tmp_path, left, force):
    folder = open_folder(str(tmp_path / "out"), BENCH, FILES, work="bench mspl", force=False)
    (folder / "runs.jsonl").write_text("kept\n")
    (folder / "run.json").write_text(left)
    (folder / ".table.md.0123abcd.partial").write_text("half")
    open_folder(str(folder), BENCH, FILES, work="bench mspl", force=force)
    assert sorted(path.name for path in folder.iterdir()) == ["run.json", "runs.jsonl"]
    assert (folder / "runs.jsonl").read_text() == ("" if force else "kept\n")
    (folder / "run.json").write_text('{\n  "manyviews": "0.1.0",\n  "command": "compare",\n')
    with pytest.raises(UsageError, match="is not the output of bench mspl"):
        open_folder(str(folder), BENCH, FILES, work="bench mspl", force=force)
    (folder / "run.json").write_text("something else")
    with pytest.raises(UsageError, match="is not the output of bench mspl"):
        open_folder(str(folder), BENCH, FILES, work="bench mspl", force=force)


def test_a_bench_that_is_running_is_not_started_anew(tmp_path):
    folder = open_folder(str(tmp_path / "out"), BENCH, FILES, work="bench mspl", force=False)
    with Store(folder / "runs.jsonl"), pytest.raises(UsageError, match="another run is writing"):
        open_folder(str(folder), BENCH, FILES, work="bench mspl", force=True)
    assert (folder / "run.json").exists()


def test_a_comparison_that_was_killed_goes_on_and_ends_as_one_that_was_not(folder, run):
    argv = ["compare", "m.npz", "-k", "3", *FEW]
    process = subprocess.Popen([*COMMAND, *argv, "--out", "killed"])
    store, deadline = folder / "killed" / "runs.jsonl", time.monotonic() + 120
    while not (store.exists() and store.read_bytes().count(b"\n") >= 1) and time.monotonic() < deadline:
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    before = store.read_bytes()
    before = before[: before.rfind(b"\n") + 1]
    assert before
    assert run(*argv, "--out", "killed").code == 0
    assert store.read_bytes().startswith(before)
    assert run(*argv, "--out", "whole").code == 0
    for name in ("labels.csv",):
        assert (folder / "killed" / name).read_bytes() == (folder / "whole" / name).read_bytes()
    found = [json.loads((folder / out / "run.json").read_text())["recommendation"] for out in ("killed", "whole")]
    assert found[0] == found[1]


def test_a_page_that_cannot_be_written_loses_no_fit(folder, run, monkeypatch):
    def full(record):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("manyviews.recommend.page.render_comparison", full)
        assert run("compare", "m.npz", "-k", "3", *FEW, "--out", "out").code == 1
    stored = (folder / "out/runs.jsonl").read_bytes()
    assert stored.count(b"\n") == 4
    assert run("compare", "m.npz", "-k", "3", *FEW, "--out", "out").code == 0
    assert (folder / "out/runs.jsonl").read_bytes() == stored


def test_names_that_are_no_text_do_not_lose_a_run(folder, run):
    name = os.fsdecode(b"\xff.npz")
    os.rename("m.npz", name)
    table(4).drop("id").write_csv("other.csv")
    views = ["--view", "\udcfe=plain.csv", "--view", "b=other.csv"]
    for argv in (["cluster", name, *QUICK], ["compare", name, *FEW], ["compare", *views, *FEW]):
        result = run(*argv, "-k", "3", "--out", f"out {argv[0]} {len(argv)}")
        assert (result.code, result.err) == (0, "")
    # and as the system hands them over
    command = [*COMMAND, "cluster", *views, *QUICK, *NO_MODEL, "-k", "3", "--out", "process"]
    done = subprocess.run(command, capture_output=True, check=False, timeout=120)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize(
    "argv", [("cluster", "m.npz", "-k", "3", *QUICK, *NO_MODEL), TINY, ("compare", "m.npz", "-k", "3", *FEW)]
)
def test_without_standard_output(folder, argv):
    command = [*COMMAND, *argv, "--out", "out"]
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" >&-', "sh", *command], stderr=subprocess.PIPE, check=False, timeout=120
    )
    assert (done.returncode, done.stderr) == (0, b"")
    if (folder / "out/runs.jsonl").exists():
        lines = (folder / "out/runs.jsonl").read_text().splitlines()
        assert {json.loads(line)["status"] for line in lines} == {"ok"}


def test_predict_without_standard_output_says_so(clustered):
    command = [*COMMAND, "predict", "out", "m.npz"]
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" >&-', "sh", *command], stderr=subprocess.PIPE, check=False, timeout=120
    )
    assert done.returncode == 2
    assert b"standard output is closed" in done.stderr
    assert done.stderr.count(b"\n") == 1


def test_an_interrupt_while_modules_are_loaded_is_one_line(folder):
    (folder / "cyclopts.py").write_text("raise KeyboardInterrupt")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(folder), *sys.path])}
    done = subprocess.run(
        [*COMMAND, "methods"], capture_output=True, check=False, text=True, env=environment, timeout=60
    )
    assert (done.returncode, done.stderr) == (130, "manyviews: interrupted\n")


def test_a_terminal_that_closes_leaves_no_hidden_folder(folder):
    waits = "import pathlib, time; from manyviews.cli import clustering, main\n"
    waits += "clustering.save_record = lambda *_: pathlib.Path('there').touch() or time.sleep(60)"
    argv = ["cluster", "m.npz", "-k", "3", *QUICK, *NO_MODEL, "--out", "out"]
    # where the tests themselves were started without a terminal the signal is ignored
    default = partial(signal.signal, signal.SIGHUP, signal.SIG_DFL)
    command = [sys.executable, "-c", f"{waits}; main()", *argv]
    process = subprocess.Popen(command, preexec_fn=default)  # noqa: PLW1509
    deadline = time.monotonic() + 60
    while not (folder / "there").exists() and time.monotonic() < deadline:
        time.sleep(0.005)
    assert list(folder.glob(".out.*.partial"))
    process.send_signal(signal.SIGHUP)
    assert process.wait(timeout=60) == 128 + signal.SIGHUP
    assert not list(folder.glob(".out.*"))
    assert not (folder / "out").exists()


@pytest.mark.parametrize("columns", ["1", "0", "-3", "19"])
def test_no_terminal_is_too_narrow_for_help(columns):
    environment = os.environ | {"COLUMNS": columns}
    done = subprocess.run(
        [*COMMAND, "cluster", "--help"], capture_output=True, check=False, text=True, env=environment, timeout=30
    )
    assert done.returncode == 0
    assert "--refit-seconds" in done.stdout


@pytest.mark.parametrize(("text", "size"), [("8GB", 8 * 10**9), ("500MB", 5 * 10**8), ("1.5gib", 3 * 2**29)])
def test_a_memory_limit_has_its_unit(text, size):
    assert memory_size(int, [SimpleNamespace(value=text)]) == size


@pytest.mark.parametrize("text", ["8", "GB", "-1GB", "8 parsecs", "0GB"])
@pytest.mark.parametrize("argv", [("compare", "m.npz", "-k", "3"), TINY[:-1]])
def test_a_memory_limit_without_unit_is_refused(folder, run, argv, text):
    result = run(*argv, f"--memory-limit={text}")
    assert result.code == 2
    assert "give a number with its unit, such as 8GB or 500MB" in result.err
    assert result.err.count("\n") == 1


def test_what_a_killed_start_left_half_written_goes_at_the_next(tmp_path):
    out = tmp_path / "out"
    (tmp_path / ".out.0123abcd.partial" / "model").mkdir(parents=True)
    (tmp_path / ".out.0123abcd.partial" / "labels.csv").write_text("half")
    (tmp_path / ".out.0123abcd.partial" / "model" / ".model.skops.0123abcd.partial").write_text("half")
    (tmp_path / ".out.0123abce.partial").mkdir()
    (tmp_path / ".out.0123abce.partial" / "mine.txt").write_text("kept")
    (tmp_path / ".labels.csv.0123abcd.partial").write_text("half")
    with atomic_folder(out) as folder:
        # what this process is at work on stays, for others that start meanwhile
        check_folder(out)
        assert folder.is_dir()
        (folder / "run.json").write_text('{"manyviews": "0"}')
    with atomic_file(tmp_path / "labels.csv") as path:
        path.write_text("all")
    assert sorted(path.name for path in tmp_path.iterdir()) == [".out.0123abce.partial", "labels.csv", "out"]


def test_a_killed_run_leaves_nothing_after_the_next(folder, run):
    """SIGKILL while the output is written, then the same command again."""
    argv = ["cluster", "m.npz", "-k", "3", *QUICK, "--out", "out"]
    started = subprocess.Popen([*COMMAND, *argv])
    deadline = time.monotonic() + 60
    while not list(folder.glob(".out.*.partial")) and started.poll() is None and time.monotonic() < deadline:
        time.sleep(0.002)
    started.kill()
    started.wait()
    assert run(*argv, "--force").code == 0
    assert [path.name for path in folder.iterdir() if path.name.startswith(".")] == []


def test_ids_that_look_like_formulas(folder, run):
    ids = ["=1+1", "+2", "-3", "@x", *(f"s{i}" for i in range(32))]
    frame = table(1).with_columns(pl.Series("id", ids))
    frame.write_csv("formulas.csv")
    given = ("formulas.csv", "--id", "id")
    assert run("cluster", *given, "-k", "3", *QUICK, "--out", "plain").code == 0
    assert run("cluster", *given, "-k", "3", *QUICK, "--out", "safe", "--safe-csv").code == 0
    plain, safe = (pl.read_csv(f"{out}/labels.csv", infer_schema=False) for out in ("plain", "safe"))
    assert plain["id"].to_list() == ids
    assert safe["id"].to_list() == ["'=1+1", "'+2", "'-3", "'@x", *ids[4:]]
    assert plain["cluster"].to_list() == safe["cluster"].to_list()
    result = run("predict", "safe", *given, "--safe-csv")
    assert [line.split(",")[0] for line in result.out.splitlines()[1:5]] == ["'=1+1", "'+2", "'-3", "'@x"]


def test_the_record_names_the_kernel_of_linear_algebra(clustered):
    record = json.loads((clustered / "run.json").read_text())
    assert record["blas"] == blas_kernels()
    assert record["blas"]
