"""Coordinates of few rows of many columns: the same distances, whatever the numbers are like."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from manyviews.linalg.coordinates import has_few_rows, products_of_rows, row_coordinates
from manyviews.prototypes import kmeans as module
from manyviews.prototypes.kmeans import kmeans

RNG = np.random.default_rng(0)
TABLES = {
    "plain": RNG.standard_normal((20, 300)),
    "single precision": RNG.standard_normal((20, 300)).astype(np.float32),
    "far from zero": 1e6 + RNG.standard_normal((20, 300)),
    "huge": 1e200 * RNG.standard_normal((20, 300)),
    "tiny": 1e-200 * RNG.standard_normal((20, 300)),
    "equal rows": np.repeat(RNG.standard_normal((3, 50)), 4, axis=0),
    "one row": RNG.standard_normal((1, 4)),
}


@pytest.mark.parametrize("name", TABLES)
def test_distances_are_kept(name):
    X = TABLES[name]
    found = row_coordinates(X)
    assert found.dtype == np.float64
    assert 1 <= found.shape[1] <= len(X)
    scale = np.abs(X).max().astype(np.float64)
    np.testing.assert_allclose(pdist(found / scale), pdist(X / scale), rtol=1e-6, atol=1e-7)


def test_equal_rows_have_equal_coordinates():
    found = row_coordinates(TABLES["equal rows"])
    assert np.unique(found, axis=0).shape[0] == 3


@pytest.mark.parametrize("value", [0.0, 0.1, 1e6])
def test_rows_that_are_all_the_same_have_one_coordinate(value):
    found = row_coordinates(np.full((7, 40), value))
    np.testing.assert_array_equal(found, np.zeros((7, 1)))


@pytest.mark.parametrize("factor", [1e3, 1e8, 1e50])
def test_rows_far_off_take_no_digits_from_the_others(factor):
    X = TABLES["plain"].copy()
    X[:3] *= factor
    found = row_coordinates(X)
    np.testing.assert_allclose(pdist(found[3:]), pdist(X[3:]), rtol=1e-12)
    np.testing.assert_allclose(pdist(found / factor), pdist(X / factor), rtol=1e-12)


def test_products_are_those_of_the_rows_less_middle_numbers():
    X = TABLES["far from zero"]
    centred = X - np.sort(X, axis=0)[10]
    np.testing.assert_allclose(products_of_rows(X), centred @ centred.T, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(products_of_rows(X, centered=False), X @ X.T)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_kmeans_of_wide_rows_is_that_of_all_columns(monkeypatch, dtype, weighted):
    rng = np.random.default_rng(1)
    X = (rng.standard_normal((60, 200)) + rng.standard_normal((4, 200))[np.arange(60) % 4] * 0.3).astype(dtype)
    weights = rng.integers(1, 4, 60).astype(float) if weighted else None
    assert has_few_rows(X)
    short = kmeans(X, 4, np.random.default_rng(2), weights=weights)
    monkeypatch.setattr(module, "has_few_rows", lambda X: False)
    whole = kmeans(X, 4, np.random.default_rng(2), weights=weights)
    np.testing.assert_array_equal(short.labels, whole.labels)
    np.testing.assert_allclose(short.centers, whole.centers, atol=1e-5)
    assert short.centers.dtype == dtype
    assert short.inertia == pytest.approx(whole.inertia, rel=1e-5)


def test_kmeans_of_fewer_distinct_rows_than_clusters_has_finite_centres():
    X = np.repeat(np.random.default_rng(3).standard_normal((3, 50)), 4, axis=0)
    found = kmeans(X, 5, np.random.default_rng(0))
    assert np.isfinite(found.centers).all()
    assert np.unique(found.labels).size == 3
