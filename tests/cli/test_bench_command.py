"""The command bench: the folder it writes, going on after a kill, and its errors."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest

from manyviews import __version__
from manyviews.cli import fit_progress
from manyviews.cli.console import UsageError
from manyviews.cli.fit_progress import shown_fits
from manyviews.cli.output import open_folder
from manyviews.papers.protocols import PROTOCOLS

OUTPUTS = {"runs.jsonl", "run.json", "table.md", "table.tex", "table.csv", "report.html"}
TINY = ("bench", "mspl", "--datasets", "mfeat", "--methods", "MOR,FAC", "--seeds", "6")


def finished_runs(folder):
    path = folder / "runs.jsonl"
    content = path.read_bytes() if path.exists() else b""
    return content[: content.rfind(b"\n") + 1].splitlines()


def test_a_killed_start_goes_on_and_ends_with_the_table_of_an_uninterrupted_one(folder, run):
    command = [sys.executable, "-m", "manyviews", *TINY, "--quiet"]
    process = subprocess.Popen([*command, "--out", "killed"])
    deadline = time.monotonic() + 120
    while len(finished_runs(folder / "killed")) < 3 and time.monotonic() < deadline:
        time.sleep(0.005)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    before = finished_runs(folder / "killed")
    assert 3 <= len(before) < 12
    assert json.loads((folder / "killed" / "run.json").read_text())["finished"] is False

    result = run(*TINY, "--out", "killed")
    assert (result.code, result.err.splitlines()[0]) == (0, f"{len(before)} of 12 fits are there from an earlier start")
    after = finished_runs(folder / "killed")
    assert after[: len(before)] == before
    assert len({json.loads(line)["key"] for line in after}) == len(after) == 12
    assert {path.name for path in (folder / "killed").iterdir()} == OUTPUTS
    record = json.loads((folder / "killed" / "run.json").read_text())
    assert (record["manyviews"], record["finished"], record["seeds"]) == (__version__, True, 6)
    assert "MOR  mfeat  0.643 ± 0.034" in result.out
    assert "Con-MC | mfeat | 0.739 ± 0.039 | - | - | not comparable | not asked for" in (
        folder / "killed" / "table.md"
    ).read_text(encoding="utf-8")

    result = run(*TINY, "--out", "whole", "--jobs", "2", "--json")
    assert json.loads(result.out)["counts"] == record["counts"]
    for name in ("table.md", "table.tex"):
        assert (folder / "killed" / name).read_bytes() == (folder / "whole" / name).read_bytes()

    result = run(*TINY, "--out", "whole")
    assert result.err.startswith("12 of 12 fits are there")


def test_data_that_are_not_there_are_told_and_the_rest_runs(folder, run, monkeypatch):
    asked = []
    monkeypatch.setattr("manyviews.runs.runner.run_all", lambda runs, *_, **__: asked.extend(runs) or 1 / 0)
    result = run("bench", "mvec", "--methods", "Spectral_BSV", "--seeds", "1")
    assert "without 3sources, 4areas, bbcsport, caltech101_20, notting_hill, whose files are not there" in result.err
    assert [call.data for call in asked] == ["mfeat:weighted:fourier", "mfeat:weighted:pixel_averages"]


def test_figures_are_written_and_their_cost_is_told_first(folder, run, monkeypatch):
    from manyviews.papers import drawn
    from manyviews.papers.figure_parts import Line, Score, line_figure

    def figures(task):
        fits = {name: task.fits("concat-kmeans", "mfeat", {"n_init": 1}) for name in ("here", "there")}
        yield line_figure("one", "Figure 7, dots", "A note.", [Line("dots", fits)], "where", Score("nmi", "NMI"))

    monkeypatch.setitem(drawn.FIGURES, "mspl", figures)
    result = run(
        "bench", "mspl", "--datasets", "mfeat", "--methods", "MOR,MSPL", "--seeds", "1", "--figures", "--out", "f"
    )
    assert result.code == 0
    assert "1 figure: 2 fits beside the 3 of the tables, 1 seed at each point" in result.err.splitlines()[0]
    assert "reproduced, 1 run" in result.out or "better, 1 run" in result.out or "worse, 1 run" in result.out
    assert {path.name for path in (folder / "f").iterdir()} == OUTPUTS | {"figures.html", "figures.csv"}
    assert json.loads((folder / "f" / "run.json").read_text())["figures"] == ["Figure 7, dots"]
    for name in ("figures.html", "report.html"):
        assert "Figure 7, dots" in (folder / "f" / name).read_text(encoding="utf-8")
    assert (folder / "f" / "figures.csv").read_text().startswith('figure,line,x,y,value,deviation\n"Figure 7, dots",')


CASES = {
    "no paper": (("bench",), "requires an argument"),
    "unknown paper": (("bench", "fastmise"), "did you mean 'fastmice'"),
    "unknown data": (("bench", "mvec", "--datasets", "bbcsports"), "did you mean 'bbcsport'"),
    "unknown row": (("bench", "mvec", "--datasets", "mfeat", "--methods", "kc"), "did you mean 'kcc'"),
    "data that are not there": (
        ("bench", "mspl", "--datasets", "mfeat,cornell"),
        "Put it into a folder as cornell.npz",
    ),
    "no data at all": (("bench", "op-lfmvc", "--data", "."), "no data set of op-lfmvc is there: .*3Sources.mat"),
    "no such folder": (("bench", "mspl", "--data", "nope"), "--data nope: there is no such folder"),
    "figures of no method": (("bench", "mspl", "--methods", "MOR", "--figures"), "--methods leaves out mspl"),
    "no seeds": (("bench", "mspl", "--seeds", "0"), "give at least 1"),
    "no jobs": (("bench", "mspl", "--jobs", "0"), "give -1 for one process per core"),
    "no time": (("bench", "mspl", "--time-limit", "0"), "--time-limit 0: give a positive number of seconds"),
    "empty list": (("bench", "mspl", "--methods", ","), "--methods is empty"),
    "a file in the way": (("bench", "mspl", "--datasets", "mfeat", "--out", "a.csv"), "a.csv exists and is a file"),
    "a folder of others": (("bench", "mspl", "--datasets", "mfeat", "--out", "."), "not the output of bench mspl"),
}


@pytest.mark.parametrize("case", CASES)
def test_mistakes_are_one_line_and_write_nothing(folder, run, case):
    argv, message = CASES[case]
    before = sorted(folder.iterdir())
    result = run(*argv)
    assert result.code == 2
    assert re.search(message, result.err), result.err
    assert result.err.count("\n") == 1
    assert result.out == ""
    assert sorted(folder.iterdir()) == before


def test_a_row_without_a_method_is_told(folder, run, monkeypatch):
    whole = PROTOCOLS["mvec"]
    setups = tuple(setup for setup in whole.setups if setup.row != "CRSC")
    monkeypatch.setitem(PROTOCOLS, "mvec", replace(whole, setups=setups))
    result = run("bench", "mvec", "--datasets", "mfeat", "--methods", "CRSC")
    assert result.code == 2
    assert "the method of the row 'CRSC' is not in this library" in result.err


def test_a_folder_is_gone_on_with_or_started_anew_but_only_if_it_is_ours(tmp_path):
    out, identity = tmp_path / "out", {"command": "bench", "paper": "mvec"}
    folder = open_folder(str(out), identity, ("runs.jsonl", "run.json"), work="bench mspl", force=False)
    (folder / "runs.jsonl").write_text("kept")
    assert open_folder(str(out), identity, ("runs.jsonl", "run.json"), work="bench mspl", force=False) == folder
    assert (folder / "runs.jsonl").read_text() == "kept"
    with pytest.raises(UsageError, match="is not the output of bench mspl"):
        open_folder(str(out), identity | {"paper": "mspl"}, ("runs.jsonl", "run.json"), work="bench mspl", force=True)
    open_folder(str(out), identity, ("runs.jsonl", "run.json"), work="bench mspl", force=True)
    assert sorted(path.name for path in folder.iterdir()) == ["run.json", "runs.jsonl"]
    assert (folder / "runs.jsonl").read_bytes() == b""
    (folder / "thesis.txt").write_text("mine")
    with pytest.raises(UsageError, match=r"holds thesis\.txt"):
        open_folder(str(out), identity, ("runs.jsonl", "run.json"), work="bench mspl", force=True)
    assert (folder / "thesis.txt").exists()


def test_progress_lines_tell_the_remaining_time(capsys, monkeypatch):
    from manyviews.runs.runner import Progress

    monkeypatch.setattr(fit_progress, "_SECONDS_BETWEEN_LINES", 3600)
    with shown_fits(quiet=False) as tell:
        tell(Progress(0, 3, 0, None, None))
        tell(Progress(1, 3, 0, None, 7300.0))
        tell(Progress(3, 3, 0, None, 0.0))
    assert capsys.readouterr().err.splitlines() == [
        "0 of 3 fits, remaining time not known yet",
        "3 of 3 fits, all done",
    ]
    with shown_fits(quiet=True) as tell:
        assert tell is None
    with pytest.raises(KeyboardInterrupt), shown_fits(quiet=False, kept=True):
        raise KeyboardInterrupt
    assert "the same command goes on from there" in capsys.readouterr().err
    assert fit_progress._left(Progress(1, 3, 0, None, 7300.0)) == "about 2 h 1 min left"
