"""Invariances that hold for any input."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from manyviews.linalg.blocks import unit_rows
from manyviews.linalg.polar import polar
from manyviews.linalg.scaling import apply_scaling, fit_scaling
from manyviews.partitions.onehot import cluster_order, cluster_sums

numbers = st.floats(-1e6, 1e6, width=32)
matrices = st.tuples(st.integers(1, 12), st.integers(1, 5)).flatmap(lambda s: arrays(np.float64, s, elements=numbers))
labellings = st.lists(st.integers(0, 6), min_size=1, max_size=40).map(np.array)


@given(matrices)
@settings(deadline=None)
def test_polar_factors_are_orthonormal(A):
    A = A if A.shape[0] >= A.shape[1] else A.T
    Q = polar(A)
    np.testing.assert_allclose(Q.T @ Q, np.eye(A.shape[1]), atol=1e-9)


@given(matrices, st.sampled_from(["standard", "minmax", "unit", None]))
@settings(deadline=None)
def test_scaling_never_makes_nan_and_is_bounded(X, kind):
    Z = apply_scaling(X, fit_scaling(X, kind))
    assert np.isfinite(Z).all()
    assert Z.shape[0] == X.shape[0]
    if kind == "minmax":
        assert Z.min() >= -1e-9
        assert Z.max() <= 1 + 1e-9
    if kind == "standard":
        assert np.abs(Z).max() <= np.sqrt(X.shape[0]) * (1 + 1e-6)


@given(matrices)
@settings(deadline=None)
def test_unit_rows_have_length_one_or_zero(X):
    lengths = np.linalg.norm(unit_rows(X), axis=1)
    assert np.all(np.isclose(lengths, 1) | (lengths == 0))


@given(labellings)
def test_renumbering_is_by_size_and_keeps_the_groups(labels):
    new = cluster_order(labels, 7)[labels]
    sizes = np.bincount(new)
    assert (np.diff(sizes) <= 0).all()
    assert len(set(zip(labels, new, strict=True))) == len(set(labels))
    np.testing.assert_array_equal(cluster_order(new, 7)[new], new)


@given(labellings)
def test_cluster_sums_of_ones_are_sizes(labels):
    sums = cluster_sums(labels[None], np.ones((labels.size, 1)), 7)
    np.testing.assert_array_equal(sums[0, :, 0], np.bincount(labels, minlength=7))
