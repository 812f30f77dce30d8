"""Fits in processes of their own: limits, interruptions, and what a rerun repeats."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from manyviews import ConcatKMeans, datasets
from manyviews.metrics import evaluate
from manyviews.runs import pool
from manyviews.runs.outcomes import Limits, data_checksum, resampled_rows, run_key
from manyviews.runs.runner import Run, run_all
from manyviews.runs.store import Store, StoreInUseError
from manyviews.runs.worker import fit_once

PLAIN = {"n_init": 1}


@pytest.fixture(scope="module")
def blobs():
    return datasets.make_blobs_views(90, n_clusters=3, view_noise=0.9, random_state=0)


def runs_of(seeds, **changes):
    return [Run(**{"method": "concat-kmeans", "data": "blobs", "seed": seed, "parameters": PLAIN, "n_clusters": 3}
                | changes) for seed in seeds]  # fmt: skip


def lines(store):
    return [json.loads(line) for line in store.read_bytes().splitlines()]


def test_scores_are_those_of_the_estimator_and_a_rerun_fits_nothing(blobs, tmp_path):
    store, told = tmp_path / "new" / "runs.jsonl", []
    runs = [*runs_of(range(3)), *runs_of([7], rows=(1, 50)), *runs_of([0], method="cca", parameters={})]
    outcomes = run_all([*runs, runs[0]], {"blobs": blobs}, store, n_jobs=2, keep_labels=True, progress=told.append)

    assert [outcome.run for outcome in outcomes] == [*runs, runs[0]]
    assert {outcome.status for outcome in outcomes} == {"ok"}
    model = ConcatKMeans(3, n_init=1, random_state=1).fit(blobs.views)
    assert outcomes[1].labels == model.labels_.tolist()
    assert outcomes[1].scores == evaluate(blobs.labels, model.labels_)
    assert len(outcomes[3].labels) == 45
    assert outcomes[0].peak_bytes > 2**20
    assert outcomes[0].seconds > 0
    assert (told[0].done, told[-1].done, told[-1].total, told[-1].remaining) == (0, 5, 5, 0.0)
    assert len(lines(store)) == 5

    again = run_all(runs, {"blobs": blobs}, store, progress=told.append)
    assert again == outcomes[:5]
    assert (told[-1].reused, len(lines(store))) == (5, 5)


def test_a_machine_too_busy_to_start_a_process_is_said(blobs, tmp_path, monkeypatch):
    monkeypatch.setattr(pool, "_FOR_A_START", 0.0)
    with pytest.raises(TimeoutError, match="too much other work; start again"):
        run_all(runs_of([0]), {"blobs": blobs}, tmp_path / "runs.jsonl")


def test_changed_parameters_data_or_version_make_another_key(blobs, monkeypatch):
    other = datasets.make_blobs_views(90, n_clusters=3, view_noise=0.9, random_state=1)
    checksum = data_checksum(blobs)
    (run,) = runs_of([0])
    key = run_key(run, checksum)
    variants = [*runs_of([1]), *runs_of([0], parameters={"n_init": 2}), *runs_of([0], n_clusters=4),
                *runs_of([0], rows=(0, 80)), *runs_of([0], method="cca")]  # fmt: skip
    assert len({key, run_key(run, data_checksum(other)), *(run_key(each, checksum) for each in variants)}) == 7
    assert run_key(runs_of([0], data="other name", parameters={"n_init": np.int64(1)})[0], checksum) == key
    monkeypatch.setattr("manyviews.runs.outcomes.__version__", "0.0.0")
    assert run_key(run, checksum) != key


def test_limits_and_errors_end_a_fit_and_the_rest_goes_on(blobs, tmp_path):
    large = datasets.make_blobs_views(2500, (40, 40), 5, random_state=0)
    slow = Run("rsec", "large", 0, {}, 5)
    wrong = [*runs_of([0], parameters={"n_init": "many"}), *runs_of([0], parameters={"no_such": 1})]
    data, store, told = {"blobs": blobs, "large": large}, tmp_path / "runs.jsonl", []
    outcomes = run_all([slow, *wrong, *runs_of([0])], data, store, time_limit=1, progress=told.append)
    assert [outcome.status for outcome in outcomes] == ["timeout", "failed", "failed", "ok"]
    assert outcomes[0].message == "not done after 1 s"
    assert outcomes[0].seconds > 0.9
    assert "n_init" in outcomes[1].message
    assert outcomes[1].scores == {}
    assert run_all([slow, *wrong], data, store, time_limit=0.5, progress=told.append) == outcomes[:3]
    assert told[-1].reused == 3

    (outcome,) = run_all([slow], data, store, time_limit=3, memory_limit=2**20)
    assert outcome.status == ("memory" if sys.platform == "linux" else "timeout")


def test_refused_memory_and_warnings_are_told(blobs, monkeypatch):
    def fit(self, views):
        raise MemoryError("1 TB")

    monkeypatch.setattr(ConcatKMeans, "fit", fit)
    outcome = fit_once(runs_of([0])[0], blobs)
    assert (outcome.status, outcome.message) == ("memory", "not enough memory: 1 TB")


def test_a_fit_stored_without_labels_is_made_again_for_them(blobs, tmp_path):
    run, store = runs_of([0])[0], tmp_path / "runs.jsonl"
    without = fit_once(run, blobs)
    with Store(store) as kept:
        kept.append(run_key(run, data_checksum(blobs)), without)
    assert run_all([run], {"blobs": blobs}, store) == [without]
    (outcome,) = run_all([run], {"blobs": blobs}, store, keep_labels=True)
    assert (len(outcome.labels), outcome.scores) == (90, without.scores)
    assert run_all([run], {"blobs": blobs}, store) == [outcome]


def test_a_torn_line_is_taken_off_and_damaged_ones_are_passed_over(blobs, tmp_path):
    path = tmp_path / "runs.jsonl"
    outcomes = {str(run.seed): fit_once(run, blobs) for run in runs_of(range(3))}
    with Store(path) as kept:
        for key, outcome in outcomes.items():
            kept.append(key, outcome)
    whole = path.read_bytes()
    path.write_bytes(b"{}\n\xff\n" + whole[:-30])
    with Store(path) as kept:
        assert set(kept.outcomes) == {"0", "1"}
        kept.append("2", outcomes["2"])
    assert path.read_bytes() == b"{}\n\xff\n" + whole
    with Store(path) as kept:
        assert kept.outcomes == outcomes


def test_the_store_has_one_writer(tmp_path):
    pytest.importorskip("fcntl")
    with Store(tmp_path / "runs.jsonl"), pytest.raises(StoreInUseError, match="another run is writing to"):
        Store(tmp_path / "runs.jsonl")


@pytest.mark.parametrize(
    ("changes", "message"),
    [({"method": "fastmicee"}, "did you mean 'fastmice'"), ({"data": "other"}, "no data set 'other'")],
)
def test_unknown_names_are_refused_before_any_fit(blobs, tmp_path, changes, message):
    with pytest.raises(ValueError, match=message):
        run_all(runs_of([0], **changes), {"blobs": blobs}, tmp_path / "runs.jsonl")
    assert not Path(tmp_path / "runs.jsonl").exists()


def test_n_jobs_is_checked(blobs, tmp_path):
    with pytest.raises(ValueError, match="n_jobs must be -1"):
        run_all(runs_of([0]), {"blobs": blobs}, tmp_path / "runs.jsonl", n_jobs=0)


def test_limits_that_allow_more():
    assert Limits(time=2).allow_more_than(Limits(time=1), "timeout")
    assert Limits().allow_more_than(Limits(time=1), "timeout")
    assert not Limits(time=1).allow_more_than(Limits(time=1), "timeout")
    assert not Limits(time=2).allow_more_than(Limits(time=1), "failed")
    assert Limits(memory=2).allow_more_than(Limits(memory=1), "memory")
    assert not Limits().allow_more_than(Limits(), "memory")


def test_resampled_rows_are_distinct_and_ascending():
    rows = resampled_rows(50, (3, 80))
    assert len(rows) == 40
    assert (np.diff(rows) > 0).all()
    assert (rows == resampled_rows(50, (3, 80))).all()
    assert resampled_rows(50, None) is None


def test_a_script_needs_no_guard(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import pathlib\n"
        "from manyviews import datasets\n"
        "from manyviews.runs.runner import Run, run_all\n"
        "data = {'blobs': datasets.make_blobs_views(30, (3, 2), 2, random_state=0)}\n"
        "runs = [Run('concat-kmeans', 'blobs', 0, {'n_init': 1}, 2)]\n"
        f"print(run_all(runs, data, pathlib.Path({str(tmp_path / 'runs.jsonl')!r}))[0].status)\n"
    )
    ended = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert ended.stdout == "ok\n", ended.stderr
