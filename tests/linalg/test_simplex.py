import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from manyviews.linalg.simplex import project_segments

matrices = arrays(np.float64, st.tuples(st.integers(1, 8), st.integers(1, 9)), elements=st.floats(-1e3, 1e3))


def by_sorting(v, total=1.0):
    """The textbook algorithm on one vector."""
    u = np.sort(v)[::-1]
    theta = (np.cumsum(u) - total) / np.arange(1, u.size + 1)
    return np.maximum(v - theta[np.flatnonzero(u > theta)[-1]], 0)


def of_rows(V, total=1.0):
    """All rows as vectors of one length."""
    return project_segments(V.ravel(), np.full(V.shape[0], V.shape[1]), total=total).reshape(V.shape)


def test_reference(reference):
    ref = reference("simplex/simplex_projection_and_qp.npz")
    np.testing.assert_allclose(of_rows(ref["V"]), ref["P"], atol=1e-14)
    mask = ref["mask"]
    masked = project_segments(ref["V"][mask], np.count_nonzero(mask, axis=1))
    np.testing.assert_allclose(masked, ref["P_masked"][mask], atol=1e-14)


@settings(max_examples=150, deadline=None)
@given(matrices, st.floats(0.1, 50))
def test_every_row_equals_the_projection_by_sorting(V, total):
    expected = np.array([by_sorting(v, total) for v in V])
    np.testing.assert_allclose(of_rows(V, total=total), expected, atol=1e-11 * (1 + np.abs(V).max()))


@settings(max_examples=60, deadline=None)
@given(matrices)
def test_the_projection_is_feasible_and_a_fixed_point(V):
    P = of_rows(V)
    assert (P >= 0).all()
    np.testing.assert_allclose(P.sum(axis=1), 1, atol=1e-11 * (1 + np.abs(V).max()))
    np.testing.assert_allclose(of_rows(P), P, atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_vectors_of_different_lengths_are_independent(seed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(0, 40, 30)
    values = rng.normal(0, rng.choice([0.01, 1, 100]), sizes.sum())
    parts = np.split(values, np.cumsum(sizes)[:-1])
    expected = [by_sorting(v) for v in parts if v.size]
    np.testing.assert_allclose(project_segments(values, sizes), np.concatenate(expected), atol=1e-12)


def test_vectors_without_entries():
    assert project_segments(np.ones(1), np.array([0, 1, 0])).tolist() == [1]
    assert project_segments(np.zeros(0), np.zeros(3, dtype=int)).size == 0
