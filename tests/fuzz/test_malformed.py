"""Whatever is thrown at the library or the command: it works, or it says in words what to change."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from malformed import ODD_NUMBERS, make_array_case, make_file_case
from outcomes import fresh, run_command, run_fit
from scipy import sparse
from spoiled import spoil_model

from manyviews.cluster.registry import METHODS

ANY_NUMBER = st.floats(width=64) | st.sampled_from(ODD_NUMBERS)
FEW_NUMBERS = st.sampled_from([0.0, 1.0, -1.0, 2.5])
MILD_NUMBERS = st.floats(-1e3, 1e3)
HOLDERS = (
    lambda X: X,
    lambda X: X.astype(np.float32),
    np.asfortranarray,
    lambda X: X.tolist(),
    lambda X: sparse.csr_matrix(np.nan_to_num(X)),
    np.ma.masked_invalid,
)


@st.composite
def views(draw):
    """Draw views of one length: of any numbers, mild ones, or few different ones, so that many rows are equal."""
    n = draw(st.integers(1, 10))
    found = []
    for _ in range(draw(st.integers(1, 3))):
        elements = draw(st.sampled_from([ANY_NUMBER, MILD_NUMBERS, MILD_NUMBERS, FEW_NUMBERS]))
        X = draw(arrays(np.float64, (n, draw(st.integers(1, 4))), elements=elements))
        with np.errstate(over="ignore"):
            found.append(draw(st.sampled_from(HOLDERS))(X))
    return found


PARAMETERS = st.fixed_dictionaries(
    {
        "n_clusters": st.integers(1, 4),
        "scaling": st.sampled_from(["auto", "auto", "standard", "minmax", "unit", "tfidf", None]),
        "random_state": st.integers(0, 3),
    }
)


def check_library(method, X, parameters):
    outcome, fault = run_fit(method.load(), X, parameters)
    assert fault is None, f"{method.name} {parameters}: {outcome}: {fault}"


@given(st.sampled_from(METHODS), views(), PARAMETERS)
@settings(deadline=None, max_examples=80, suppress_health_check=[HealthCheck.too_slow])
def test_any_views_are_clustered_or_refused(method, X, parameters):
    check_library(method, X, parameters)


@pytest.mark.slow
@given(st.sampled_from(METHODS), views(), PARAMETERS)
@settings(deadline=None, max_examples=5000, suppress_health_check=[HealthCheck.too_slow])
def test_thousands_of_views_are_clustered_or_refused(method, X, parameters):
    check_library(method, X, parameters)


@pytest.mark.parametrize("seed", range(8))
def test_tables_of_every_kind_are_clustered_or_refused(seed):
    for number in range(15):
        kind, X, parameters = make_array_case(np.random.default_rng([seed, number]))
        outcome, fault = run_fit(METHODS[(15 * seed + number) % len(METHODS)].load(), X, parameters)
        assert fault is None, f"case {seed}, {number} ({kind}): {outcome}: {fault}"


def check_files(seed, count, folder):
    for number in range(count):
        kind, argv = make_file_case(np.random.default_rng([seed, number]), fresh(folder))
        outcome, fault = run_command([*argv, "--refit-seconds", "0", "--out", "out", "--force"])
        assert fault is None, f"case {seed}, {number} ({kind}): {outcome} of {argv}: {fault}"


@pytest.mark.parametrize("seed", range(2))
def test_any_files_are_clustered_or_refused(seed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    check_files(seed, 25, Path(tmp_path))


@pytest.mark.slow
def test_thousands_of_files_are_clustered_or_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    check_files(100, 2000, Path(tmp_path))


def check_models(seed, count, folder):
    X = np.random.default_rng(0).normal(size=(12, 3))
    np.savez(folder / "m.npz", view_0=X, view_1=X[:, :2])
    filling = ["--impute", "knn"] if seed % 2 else []
    assert (
        run_command(["cluster", "m.npz", "-k", "2", "--out", "sound", "--refit-seconds", "0", *filling])[0] == "success"
    )
    for number in range(count):
        shutil.rmtree(folder / "o", ignore_errors=True)
        shutil.copytree(folder / "sound", folder / "o")
        spoil_model(np.random.default_rng([seed, number]), folder / "o" / "model")
        outcome, fault = run_command(["predict", "o", "m.npz"])
        assert fault is None, f"model {seed}, {number}: {outcome}: {fault}"


@pytest.mark.parametrize("seed", range(1))
def test_any_model_folder_is_used_or_refused(seed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    check_models(seed, 25, Path(tmp_path))


@pytest.mark.slow
def test_thousands_of_model_folders_are_used_or_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    check_models(100, 2000, Path(tmp_path))
