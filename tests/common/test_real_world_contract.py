"""What every method keeps whatever form the data come in, and from one run to the next."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics import pairwise_distances

from few_members import quick
from manyviews.cluster import memory

# The same whole numbers are exact in every type; printed labels of all methods, to be compared between processes.
DATA = """
import json, sys
import numpy as np
rng = np.random.default_rng(5)
labels = np.repeat(np.arange(3), 20)
views = [np.round(rng.normal(0, 8, (3, d))[labels] + rng.normal(0, 3, (60, d))) for d in (5, 3, 4)]
"""
FITS = """
from pytest import MonkeyPatch
from few_members import few_votes, quick
from manyviews.cluster.registry import METHODS
few_votes(MonkeyPatch())
print(json.dumps({row.name: quick(row, random_state=0).fit(views).labels_.tolist() for row in METHODS}))
"""


def whole_numbers():
    space = {}
    exec(DATA, space)
    return space["views"]


@pytest.fixture(scope="module")
def _labels():
    return {}


@pytest.fixture
def expected(row, _labels):
    """The labels of the whole numbers, from one fit that all tests here are held against."""
    if row.name not in _labels:
        _labels[row.name] = quick(row, random_state=0).fit(whole_numbers()).labels_
    return _labels[row.name]


def test_equal_labels_for_equal_data_in_every_form(model, expected, tmp_path):
    views = whole_numbers()
    for dtype in ("float64", "float32"):
        for i, X in enumerate(views):
            np.save(tmp_path / f"{dtype}-{i}.npy", X.astype(dtype))
    forms = {
        "float32": [X.astype(np.float32) for X in views],
        "int64": [X.astype(np.int64) for X in views],
        "int8": [X.astype(np.int8) for X in views],
        "Fortran": [np.asfortranarray(X) for X in views],
        "strides": [np.repeat(X, 2, axis=0)[::2] for X in views],
        "map": [np.load(tmp_path / f"float64-{i}.npy", mmap_mode="r") for i in range(3)],
        "float32 map": [np.load(tmp_path / f"float32-{i}.npy", mmap_mode="r") for i in range(3)],
        "pandas": [pd.DataFrame(X.astype(int)) for X in views],
        "polars": [pl.DataFrame(X) for X in views],
        "arrow": [pa.table({str(j): X[:, j] for j in range(X.shape[1])}) for X in views],
        "lists": [X.tolist() for X in views],
    }
    for form, given in forms.items():
        np.testing.assert_array_equal(clone(model).fit(given).labels_, expected, err_msg=form)


@pytest.mark.filterwarnings("ignore:view .* has all the weight")  # MKKM, of a kernel with k directions
@pytest.mark.parametrize("scaling", ["unit", "tfidf", None])
def test_equal_labels_for_a_csr_view_with_the_same_settings(row, scaling):
    if not row.sparse:
        pytest.skip("takes dense views only")
    model = quick(row, random_state=0)
    if "n_base_clusterings" in model.get_params():
        model.set_params(n_base_clusterings=30)  # fewer would be moved by a last digit
    # "auto" takes a CSR view for counts, and "standard" and "minmax" do not shift it, so that the settings are stated
    stated = {"scaling": scaling, "kernel": "cosine", "metric": "cosine"}
    model.set_params(**{name: value for name, value in stated.items() if name in model.get_params()})
    views = [np.abs(X) for X in whole_numbers()] if scaling == "tfidf" else whole_numbers()
    expected = clone(model).fit(views).labels_
    for make in (sparse.csr_array, sparse.csc_matrix)[: 2 if scaling == "unit" else 1]:
        found = clone(model).fit([make(X) for X in views]).labels_
        # sums of logarithms differ in the last digits, which may move a sample between two groups that overlap
        assert np.count_nonzero(found != expected) <= (3 if scaling == "tfidf" else 0)


@pytest.mark.filterwarnings("ignore:view .* has all the weight")  # MKKM, of a kernel with k directions
def test_the_scaling_of_each_view_is_told(row, model, fitted, three_views):
    views = three_views[0]
    assert set(fitted.scalings_) <= {"standard", "minmax", None}
    stated = clone(model).set_params(scaling={"view_0": "minmax", "view_1": None, "view_2": "unit"}).fit(views)
    assert stated.scalings_ == ("minmax", None, "unit")
    if row.sparse:
        counts = [sparse.csr_matrix(np.where(X > 0, np.ceil(X), 0)) for X in views]
        assert set(model.fit(counts).scalings_) <= {"tfidf", "tfidf_plain", "unit"}
    for base in row.base_inputs[1:]:
        square = views[0] @ views[0].T if base == "kernel" else np.linalg.qr(views[0])[0][:, :3]
        square = np.round(square * 9) if base == "labels" else square
        given = np.abs(square) if base == "labels" else pairwise_distances(views[0]) if base == "distance" else square
        assert clone(model).set_params(base=base).fit([given]).scalings_ == (None,)


@pytest.fixture(scope="module")
def labels_elsewhere():
    """Labels of all methods from fresh processes with 1 and with 2 threads."""
    found = []
    for threads in ("1", "2"):
        names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
        environment = os.environ | dict.fromkeys(names, threads) | {"PYTHONHASHSEED": threads}
        command = [sys.executable, "-W", "ignore", "-c", DATA + FITS]
        tests = Path(__file__).parents[1]
        out = subprocess.run(command, capture_output=True, text=True, check=True, env=environment, cwd=tests)
        found.append(json.loads(out.stdout))
    return found


def test_equal_labels_in_a_fresh_process_with_one_or_two_threads(row, expected, labels_elsewhere):
    here = expected.tolist()
    assert [found[row.name] for found in labels_elsewhere] == [here, here]


def test_a_model_fitted_again_and_again_gives_the_labels_of_one_fitted_once(model, expected):
    """With the eleven forms above these are more than ten fits of one process."""
    views = whole_numbers()
    for _ in range(3):
        np.testing.assert_array_equal(model.fit(views).labels_, expected)


def test_identical_samples_share_a_cluster(model, three_views):
    views = [X.copy() for X in three_views[0]]
    for X in views:
        X[::6] = X[0]
    assert len(set(model.fit(views).labels_[::6].tolist())) == 1


@pytest.mark.parametrize("copies", [2, 9])
def test_as_many_clusters_as_distinct_samples(model, copies):
    rows = np.array([[0.0, 1.0, 9.0], [5.0, 2.0, -4.0], [-7.0, 3.0, 1.0]])
    X = np.tile(rows, (copies, 1))
    np.testing.assert_array_equal(model.fit([X, X[:, :2]]).labels_, np.tile([0, 1, 2], copies))


def test_copies_that_a_solver_parts_are_brought_together(model, three_views, monkeypatch):
    views = [np.vstack([X, X[:9]]) for X in three_views[0]]
    solve = type(model)._fit

    def parting(self, *args):
        raw = solve(self, *args)
        raw[60:] = (raw[60:] + 1) % 3
        return raw

    monkeypatch.setattr(type(model), "_fit", parting)
    labels = model.fit(views).labels_
    np.testing.assert_array_equal(labels[60:], labels[:9])


def test_more_clusters_than_distinct_samples_are_refused_with_their_number(model):
    X = np.repeat([[0.0, 1.0], [5.0, 2.0]], 6, axis=0)
    for given in (X, X.astype(np.float32), np.where(X == 0, -0.0, X)):
        with pytest.raises(ValueError, match=r"n_clusters=3 .* distinct samples: 2 of n_samples=12, .*n_clusters=2 at"):
            model.fit([given, X[:, :1]])


def test_two_samples(model):
    assert model.set_params(n_clusters=2).fit([np.array([[0.0, 1.0], [4.0, 2.0]])]).labels_.tolist() == [0, 1]


def test_earlier_cluster_numbers_are_kept(row, model, fitted, three_views):
    views, first = dict(zip("abc", three_views[0], strict=True)), fitted.labels_
    earlier = np.array([2, 0, 1])[first]
    earlier[7] = -1
    model.fit(views, match_to=earlier)
    np.testing.assert_array_equal(model.labels_, np.array([2, 0, 1])[first])
    if row.predicts:
        np.testing.assert_array_equal(model.predict(views), np.array([2, 0, 1])[fitted.predict(views)])


@pytest.mark.parametrize(
    ("earlier", "match"),
    [
        (np.zeros(59, int), r"earlier cluster of each of the 60 samples.*shape \(59,\)"),
        (np.zeros(60), "whole numbers.*float64"),
        (np.full(60, -2), "numbers from -1"),
        (np.full(60, 3), "match_to has a cluster 3, .*n_clusters=3; give n_clusters=4 at least"),
    ],
)
def test_earlier_labels_that_cannot_be_kept(model, three_views, earlier, match):
    with pytest.raises(ValueError, match=match):
        model.fit(three_views[0], match_to=earlier)


def test_memory_is_estimated_before_the_fit(model, three_views, monkeypatch):
    monkeypatch.setattr(memory, "machine_memory", lambda: (1, 1))
    monkeypatch.setattr(type(model), "_memory_estimate", lambda self, views: 5 * 10**9)
    monkeypatch.setattr(type(model), "_fit", lambda *args: pytest.fail("the fit was started"))
    with pytest.raises(ValueError, match=r"needs about 5\.0 GB of memory for 60 samples, more than the 0\.0 MB"):
        model.fit(three_views[0])
