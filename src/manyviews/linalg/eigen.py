"""Leading eigenvectors of symmetric matrices: one entry point, the solver chosen by size, signs fixed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.sparse.linalg import eigsh

__all__ = ["column_signs", "fix_signs", "leading_subspace", "top_eigenpairs"]

Array = NDArray[np.float64]
DENSE_LIMIT = 500


def top_eigenpairs(A: NDArray[Any], k: int) -> tuple[Array, Array]:
    """Return the k algebraically largest eigenpairs of a symmetric matrix.

    A dense solver up to n = 500 or where k is a large part of n, else Lanczos iterations from a fixed vector, so the
    result is reproducible.

    Parameters
    ----------
    A : ndarray of shape (n, n)
        Symmetric matrix.
    k : int
        Number of eigenpairs, at most n.

    Returns
    -------
    values : ndarray of shape (k,)
        Eigenvalues in descending order.
    vectors : ndarray of shape (n, k)
        Orthonormal eigenvectors; the entry of largest modulus in each is positive.
    """
    n = A.shape[0]
    if n <= DENSE_LIMIT or k > n // 4:
        values, vectors = eigh(A, subset_by_index=[n - k, n - 1], check_finite=False)
    else:
        start = np.random.default_rng(0).standard_normal(n)
        values, vectors = eigsh(A, k=k, which="LA", v0=start)
    order = np.argsort(values)[::-1]
    return values[order], fix_signs(vectors[:, order])


def leading_subspace(
    apply: Callable[[NDArray[Any]], NDArray[Any]],
    start: NDArray[Any],
    k: int,
    *,
    tol: float,
    depth: int = 4,
    max_restarts: int = 50,
) -> tuple[Array, NDArray[Any]]:
    """Return the largest eigenpairs of a symmetric operator by restarted block Lanczos iterations.

    A block of vectors costs one pass over a matrix, as a single vector does; and where the matrix changes little from
    one call to the next, starting from the vectors returned before leaves little to do.

    Parameters
    ----------
    apply : callable
        Returns the product of the operator with a block of columns (n, b).
    start : ndarray of shape (n, b)
        Columns to start from, b >= k; a few more than k make convergence faster.
    k : int
        Number of eigenpairs that must converge.
    tol : float
        Largest norm of the residual of an eigenvector, relative to the largest modulus of an eigenvalue found.
    depth : int, default=4
        Blocks in the Krylov space of one restart.
    max_restarts : int, default=50
        Restarts after which the vectors are returned as they are.

    Returns
    -------
    values : ndarray of shape (b,)
        Ritz values in descending order.
    vectors : ndarray of shape (n, b)
        Orthonormal Ritz vectors; the first k are eigenvectors to ``tol``.
    """
    b = start.shape[1]
    X = np.linalg.qr(start)[0]
    values, AX = np.zeros(b), apply(X)
    for _ in range(max_restarts):
        basis, images = X, AX
        for _ in range(min(depth, X.shape[0] // b) - 1):
            new = images[:, -b:]
            for _ in range(2):
                new = new - basis @ (basis.T @ new)
            basis = np.hstack([basis, np.linalg.qr(new)[0]])
            images = np.hstack([images, apply(basis[:, -b:])])
        small = (basis.T @ images).astype(np.float64)
        ritz, W = eigh((small + small.T) / 2, check_finite=False)
        values, W = ritz[: -b - 1 : -1], W[:, : -b - 1 : -1].astype(X.dtype)
        X, AX = basis @ W, images @ W
        residual = np.linalg.norm(AX[:, :k] - X[:, :k] * values[:k].astype(X.dtype), axis=0)
        if residual.max() <= tol * np.abs(ritz).max():
            break
    return values, X


def fix_signs(vectors: Array) -> Array:
    """Flip columns so that the entry of largest modulus in each is positive (the first one where several tie)."""
    return np.asarray(vectors * column_signs(vectors))


def column_signs(vectors: Array) -> Array:
    """Return the sign of the entry of largest modulus in each column, shape (k,)."""
    rows = np.abs(vectors).argmax(axis=0)
    return np.where(vectors[rows, np.arange(vectors.shape[1])] < 0, -1.0, 1.0)
