import numpy as np
import pytest
from scipy.optimize import minimize

from manyviews.linalg.eigen import leading_subspace
from manyviews.linalg.shrinkage import (
    SingularValueShrinker,
    orthonormal_columns,
    singular_value_threshold,
    threshold_columns,
)
from manyviews.linalg.simplex import project_rows


def dense(J):
    return (J.U * J.values) @ J.V.T


def test_columns_are_shortened_and_short_ones_vanish():
    X = np.array([[3.0, 0.1, 0], [4, 0.1, 0]])
    np.testing.assert_allclose(threshold_columns(X, 1.0), [[2.4, 0, 0], [3.2, 0, 0]])


def test_singular_values_are_shortened():
    M = np.random.default_rng(0).normal(size=(9, 6))
    J = singular_value_threshold(M, 1.5)
    U, s, Vt = np.linalg.svd(M, full_matrices=False)
    np.testing.assert_allclose(dense(J), (U * np.maximum(s - 1.5, 0)) @ Vt, atol=1e-12)
    assert singular_value_threshold(M, 100.0).values.size == 0


def low_rank_sequence(seed, n=200, rank=20, steps=8):
    rng = np.random.default_rng(seed)
    U, V = (np.linalg.qr(rng.normal(size=(n, rank)))[0] for _ in range(2))
    noise = rng.normal(size=(n, n)) / np.sqrt(n)
    for step in range(steps):
        yield (U * np.linspace(20, 5, rank)) @ V.T + 0.3 * (1 + step / steps) * noise, 6 / (1 + step)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_partial_thresholds_follow_a_slow_sequence(dtype):
    shrink = SingularValueShrinker(np.random.default_rng(0))
    for M, tau in low_rank_sequence(0):
        J = shrink(M.astype(dtype), tau)
        exact = singular_value_threshold(M, tau)
        assert J.U.dtype == dtype
        # the check lets pass what is above the threshold by less than a quarter of it
        assert np.linalg.norm(dense(J) - dense(exact), 2) < (0.25 if tau < 0.9 else 1e-3) * tau
        np.testing.assert_allclose(J.U.T @ J.U, np.eye(J.values.size), atol=1e-3)


def test_a_jump_in_rank_is_caught_by_the_check():
    rng = np.random.default_rng(1)
    shrink = SingularValueShrinker(rng)
    Q = np.linalg.qr(rng.normal(size=(400, 120)))[0]
    first = np.concatenate([np.full(3, 9.0), np.full(117, 0.1)])
    then = np.full(120, 9.0)
    for values in (first, then):
        M = (Q * values) @ Q.T
        assert shrink(M, 1.0).values.size == np.count_nonzero(values > 1)


def test_nothing_above_the_threshold_and_full_rank():
    M = np.random.default_rng(0).normal(size=(50, 50))
    shrink = SingularValueShrinker(np.random.default_rng(0))
    assert shrink(M, 2 * np.linalg.norm(M, 2)).values.size == 0
    assert shrink(M, 1.01 * np.linalg.norm(M, 2)).values.size == 0
    np.testing.assert_allclose(dense(shrink(M, 1e-9)), M, atol=1e-6)
    assert shrink(np.zeros((50, 50)), 0.5).values.size == 0


@pytest.mark.parametrize("rank", [40, 7])
def test_orthonormal_columns_span_the_same_space(rank):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, rank)) @ rng.normal(size=(rank, 40)) * np.logspace(0, -3, 40)
    Q = orthonormal_columns(X)
    np.testing.assert_allclose(Q.T @ Q, np.eye(40), atol=1e-6)
    np.testing.assert_allclose(Q @ (Q.T @ X), X, atol=1e-8)


@pytest.mark.parametrize("weighted", [False, True])
def test_projection_onto_the_simplex_is_the_nearest_point(weighted):
    rng = np.random.default_rng(0)
    A = rng.normal(size=(6, 5))
    w = rng.integers(1, 4, 5).astype(float) if weighted else np.ones(5)
    Z = project_rows(A, w if weighted else None)
    np.testing.assert_allclose(Z @ w, 1)
    assert (Z >= 0).all()
    for a, z in zip(A, Z, strict=True):
        best = minimize(
            lambda x, a=a: w @ (x - a) ** 2,
            np.full(5, 1 / w.sum()),
            bounds=[(0, None)] * 5,
            constraints={"type": "eq", "fun": lambda x: w @ x - 1},
            options={"ftol": 1e-14},
        )
        assert w @ (z - a) ** 2 <= best.fun + 1e-9


@pytest.mark.parametrize("start", [-50.0, 0.1, 2.0, np.inf])
def test_any_level_to_start_from_leads_to_the_same_projection(start):
    rng = np.random.default_rng(3)
    A, w = rng.normal(size=(8, 30)), rng.integers(1, 4, 30)
    expected, levels = project_rows(A, w), np.full(8, start)
    np.testing.assert_allclose(project_rows(A, w, levels), expected, atol=1e-12)
    np.testing.assert_allclose(np.maximum(A - levels[:, None], 0), expected, atol=1e-12)
    np.testing.assert_allclose(project_rows(A + 1e-3, w, levels), expected, atol=1e-12)


def test_weights_stand_for_repeated_entries():
    rng = np.random.default_rng(1)
    A, w = rng.normal(size=(20, 7)), rng.integers(1, 5, 7)
    repeated = project_rows(np.repeat(A, w, axis=1))
    np.testing.assert_allclose(np.repeat(project_rows(A, w), w, axis=1), repeated, atol=1e-12)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_projection_at_any_scale_and_in_single_precision(scale):
    A = np.random.default_rng(2).normal(size=(50, 400)) * scale
    exact = project_rows(A)
    np.testing.assert_allclose(exact.sum(axis=1), 1, rtol=1e-9)
    single = project_rows(A.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single.sum(axis=1), 1, atol=1e-4 if scale <= 1 else 1)


@pytest.mark.parametrize("start_columns", [5, 9])
def test_leading_subspace_equals_a_dense_solver(start_columns):
    rng = np.random.default_rng(0)
    A = rng.normal(size=(120, 120))
    A = A + A.T
    values, vectors = leading_subspace(lambda X: A @ X, rng.normal(size=(120, start_columns)), 5, tol=1e-10)
    exact_values, exact = np.linalg.eigh(A)
    np.testing.assert_allclose(values[:5], exact_values[::-1][:5], atol=1e-8)
    P = exact[:, ::-1][:, :5]
    np.testing.assert_allclose(vectors[:, :5] @ vectors[:, :5].T, P @ P.T, atol=1e-6)


def test_leading_subspace_of_all_columns():
    A = np.diag(np.arange(6.0))
    values, _ = leading_subspace(lambda X: A @ X, np.random.default_rng(0).normal(size=(6, 6)), 6, tol=1e-10)
    np.testing.assert_allclose(values, np.arange(6.0)[::-1], atol=1e-10)
