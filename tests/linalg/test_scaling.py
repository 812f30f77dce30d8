import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer

from manyviews.linalg.balance import apply_balanced, fit_balanced
from manyviews.linalg.blocks import unit_rows
from manyviews.linalg.scaling import apply_scaling, fit_scaling, is_constant


def both(X, kind):
    return apply_scaling(X, fit_scaling(X, kind))


def test_standard_columns_and_constant_ones_dropped():
    X = np.random.default_rng(0).normal(5, 3, (50, 4))
    X[:, 2] = 0.1
    Z = both(X, "standard")
    assert Z.shape == (50, 3)
    np.testing.assert_allclose(Z.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(Z.std(axis=0), 1)
    assert not both(np.full((5, 2), 3.3), "standard").any()


def test_standard_of_large_offsets_in_single_precision():
    X = (1e4 + np.random.default_rng(0).normal(size=(20_000, 2))).astype(np.float32)
    Z = both(X, "standard")
    assert Z.dtype == np.float32
    np.testing.assert_allclose(Z.std(axis=0), 1, rtol=1e-3)


def test_minmax():
    np.testing.assert_allclose(both(np.array([[1.0, 4], [3, 4], [2, 4]]), "minmax"), [[0, 0], [1, 0], [0.5, 0]])


def test_unit_rows_leave_zero_rows():
    X = np.array([[3.0, 4], [0, 0]])
    np.testing.assert_allclose(both(X, "unit"), [[0.6, 0.8], [0, 0]])
    np.testing.assert_allclose(unit_rows(sparse.csr_array(X)).toarray(), [[0.6, 0.8], [0, 0]])


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array, sparse.csr_matrix])
def test_tfidf_is_the_usual_one(make):
    counts = np.random.default_rng(0).poisson(0.8, (30, 7)).astype(float)
    expected = TfidfTransformer().fit_transform(sparse.csr_matrix(counts)).toarray()
    found = both(make(counts), "tfidf")
    np.testing.assert_allclose(found.toarray() if sparse.issparse(found) else found, expected)
    with pytest.raises(ValueError, match="needs counts"):
        fit_scaling(make(-counts), "tfidf")


@pytest.mark.parametrize("kind", ["standard", "minmax"])
def test_sparse_columns_are_divided_as_dense_ones_but_not_shifted(kind):
    X = np.random.default_rng(0).poisson(0.7, (40, 5)).astype(float)
    X[:, 3] = 0
    dense = both(X, kind)
    stays = both(sparse.csr_array(X), kind).toarray()
    np.testing.assert_allclose(stays - stays.mean(axis=0), dense - dense.mean(axis=0), atol=1e-12)


def test_unobserved_rows_are_left_out():
    X = np.random.default_rng(0).normal(size=(20, 3))
    holes = np.vstack([X, np.full((4, 3), np.nan)])
    np.testing.assert_allclose(both(holes, "standard")[:20], both(X, "standard"))
    np.testing.assert_allclose(both(holes, "minmax")[:20], both(X, "minmax"))


def test_new_rows_get_the_scale_of_the_old():
    X = np.random.default_rng(0).normal(size=(20, 3))
    for kind in ("standard", "minmax", "unit", "tfidf", None):
        scaling = fit_scaling(np.abs(X), kind)
        np.testing.assert_allclose(apply_scaling(np.abs(X)[:3], scaling), apply_scaling(np.abs(X), scaling)[:3])
    with pytest.raises(ValueError, match="'zscore'"):
        fit_scaling(X, "zscore")


@pytest.mark.parametrize("kind", ["standard", "minmax", "unit"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix])
def test_numbers_whose_inverse_overflows_count_as_zero(kind, dtype, make):
    X = np.zeros((4, 2), dtype)
    X[0] = np.finfo(dtype).smallest_subnormal, 1.0
    Z = apply_scaling(make(X), fit_scaling(make(X), kind))
    assert np.isfinite(Z.data if sparse.issparse(Z) else Z).all()


@pytest.mark.parametrize("X", [np.array([[1e-45], [0.0]], np.float32), np.array([[5e-324], [0.0]])])
def test_a_view_too_narrow_to_be_divided_by_its_spread_counts_as_constant(X):
    balanced = fit_balanced(X, "standard")
    assert balanced.constant
    assert np.isfinite(apply_balanced(X, balanced)).all()


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_constant_views_are_known_as_such(make):
    X = np.tile([0.0, 0.1, 5.0], (9, 1))
    assert is_constant(make(X))
    assert is_constant(make(np.zeros((4, 2))))
    assert not is_constant(make(X + np.eye(9, 3)))
    assert not is_constant(make(X * np.arange(1.0, 10.0)[:, None]))
    assert not is_constant(make(np.array([[0.0, 1.0], [1.0, 0.0]])))


def test_rounding_and_unobserved_rows_do_not_make_a_view_vary():
    X = np.full((5, 2), 0.3)
    X[2] = 0.1 + 0.2
    X[0] = np.nan
    assert is_constant(X)
    assert not is_constant(X + np.arange(5.0)[:, None])
