import re
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

import manyviews
from manyviews.linalg.eigen import (
    all_eigenpairs,
    column_signs,
    eigenvalues,
    fix_signs,
    leading_singular,
    top_eigenpairs,
)
from manyviews.linalg.polar import polar, random_orthogonal


def test_polar_factor_by_hand():
    np.testing.assert_allclose(polar(np.diag([3.0, -2.0])), np.diag([1.0, -1.0]))
    np.testing.assert_allclose(polar(np.array([[0.0, 5.0], [-5.0, 0.0]])), [[0, 1], [-1, 0]], atol=1e-12)


def test_polar_factor_reaches_the_nuclear_norm_and_nothing_beats_it():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(4, 9, 3))
    Q = polar(A)
    np.testing.assert_allclose(Q.transpose(0, 2, 1) @ Q, np.tile(np.eye(3), (4, 1, 1)), atol=1e-12)
    reached = np.einsum("bij,bij->b", Q, A)
    np.testing.assert_allclose(reached, np.linalg.svd(A, compute_uv=False).sum(axis=1))
    other = np.linalg.qr(rng.normal(size=(4, 9, 3)))[0]
    assert (np.einsum("bij,bij->b", other, A) <= reached).all()


def test_polar_factor_of_a_rank_deficient_matrix_is_orthonormal():
    Q = polar(np.zeros((5, 2)))
    np.testing.assert_allclose(Q.T @ Q, np.eye(2), atol=1e-12)


def test_random_rotations_are_orthogonal_and_spread_evenly():
    Q = random_orthogonal(4000, 3, np.random.default_rng(0))
    np.testing.assert_allclose(Q @ Q.transpose(0, 2, 1), np.tile(np.eye(3), (4000, 1, 1)), atol=1e-12)
    np.testing.assert_allclose(Q.mean(axis=0), 0, atol=0.05)
    assert 0.45 < (np.linalg.det(Q) > 0).mean() < 0.55
    assert random_orthogonal(0, 3, np.random.default_rng(0)).shape == (0, 3, 3)


@pytest.mark.parametrize("n", [40, 700])
def test_both_solvers_give_the_leading_eigenpairs(n):
    rng = np.random.default_rng(1)
    Q = np.linalg.qr(rng.normal(size=(n, n)))[0]
    spectrum = np.r_[9.0, 7, 5, rng.uniform(-1, 1, n - 3)]
    A = (Q * spectrum) @ Q.T
    values, vectors = top_eigenpairs(A, 3)
    np.testing.assert_allclose(values, [9, 7, 5])
    np.testing.assert_allclose(vectors, fix_signs(Q[:, :3]), atol=1e-8)
    np.testing.assert_array_equal(top_eigenpairs(A, 3)[1], vectors)


def test_signs():
    vectors = np.array([[1.0, -2.0, 0.0], [-3.0, 2.0, 0.0]])
    np.testing.assert_array_equal(column_signs(vectors), [-1, -1, 1])
    np.testing.assert_array_equal(fix_signs(vectors), [[-1, 2, 0], [3, -2, 0]])


def test_low_rank_matrices_that_defeat_the_subset_solver():
    w = np.ones((7, 1)) / np.sqrt(7)
    rng = np.random.default_rng(0)
    for rank in (0, 1, 3):
        Q = np.linalg.qr(np.hstack([w, rng.normal(size=(7, rank))]))[0]
        A = sparse.csr_array((Q * np.linspace(1, 0.5, rank + 1)) @ Q.T)
        values, vectors = top_eigenpairs(A, 6, known=w)
        expected = np.zeros(6)
        expected[:rank] = np.linspace(1, 0.5, rank + 1)[1:]
        np.testing.assert_allclose(values, expected, atol=1e-12)
        np.testing.assert_allclose(vectors.T @ vectors, np.eye(6), atol=1e-12)


def test_sparse_matrices_with_close_eigenvalues_fall_back_to_the_dense_solver():
    # many nearly separate groups: eigenvalues crowd at 1
    rng = np.random.default_rng(1)
    M = sparse.block_diag([np.full((5, 5), 0.2)] * 60).tolil()
    M[0, 299] = M[299, 0] = 1e-13
    values, vectors = top_eigenpairs(sparse.csr_array(M), 8, start=rng.normal(size=300))
    np.testing.assert_allclose(values, 1.0)
    np.testing.assert_allclose(M @ vectors, vectors, atol=1e-9)


def test_well_filled_sparse_matrices_give_what_dense_ones_give():
    rng = np.random.default_rng(2)
    B = rng.random((400, 200)) * (rng.random((400, 200)) < 0.1)
    A = B.T @ B
    A /= np.sqrt(np.outer(A.sum(axis=0), A.sum(axis=0)))
    w = np.sqrt((B.T @ B).sum(axis=0))[:, None]
    w /= np.linalg.norm(w)
    values, vectors = top_eigenpairs(sparse.csr_array(A), 4, known=w, start=rng.normal(size=200))
    expected, U = np.linalg.eigh(A - w @ w.T)
    np.testing.assert_allclose(values, expected[:-5:-1])
    np.testing.assert_allclose(vectors @ vectors.T, U[:, -4:] @ U[:, -4:].T, atol=1e-9)


def test_all_eigenpairs_are_descending_and_rebuild_the_matrix():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(30, 30))
    A = A + A.T
    values, vectors = all_eigenpairs(A)
    assert (np.diff(values) <= 0).all()
    np.testing.assert_allclose((vectors * values) @ vectors.T, A, atol=1e-12)
    np.testing.assert_allclose(eigenvalues(A), values, atol=1e-12)
    np.testing.assert_allclose(values[:3], top_eigenpairs(A, 3)[0])
    assert all_eigenpairs(A.astype(np.float32))[1].dtype == np.float32
    copy = A.copy()
    all_eigenpairs(copy, overwrite=True)
    np.testing.assert_array_equal(A, A.T)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_leading_singular_triplets_equal_those_of_a_full_decomposition(kind):
    A = np.random.default_rng(1).normal(size=(40, 15))
    U, values, V = leading_singular(kind(A), 4, np.random.default_rng(2))
    _, s, Vt = np.linalg.svd(A)
    np.testing.assert_allclose(values, s[:4])
    np.testing.assert_allclose(np.abs(V.T @ Vt[:4].T), np.eye(4), atol=1e-8)
    np.testing.assert_allclose(A @ V, U * values, atol=1e-10)
    np.testing.assert_array_equal(column_signs(U), np.ones(4))


def test_a_sparse_matrix_may_take_more_restarts_than_filling_it_up_would_pay():
    path = sparse.diags_array([np.ones(1499), np.ones(1499)], offsets=[-1, 1]).tocsr() / 2
    values, vectors = top_eigenpairs(path, 3, basis=60, restarts=30_000)
    np.testing.assert_allclose(values, np.cos(np.pi * np.arange(1, 4) / 1501), atol=1e-10)
    np.testing.assert_allclose(path @ vectors, vectors * values, atol=1e-8)


def test_no_other_module_chooses_an_eigensolver():
    root = Path(manyviews.__file__).parent
    solver = re.compile(
        r"linalg\.(eigh|eigvalsh|eig|eigvals)\b|\b(eigsh|svds|lobpcg|eigvalsh)\b|scipy\.linalg import [^\n]*\beigh"
    )
    users = [p.relative_to(root).as_posix() for p in root.rglob("*.py") if solver.search(p.read_text(encoding="utf-8"))]
    assert users == ["linalg/eigen.py"]
