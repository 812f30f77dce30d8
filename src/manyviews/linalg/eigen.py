"""Leading eigenvectors of symmetric matrices: one entry point, the solver chosen by size, signs fixed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import LinAlgError, eigh
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

__all__ = ["column_signs", "fix_signs", "top_eigenpairs"]

Array = NDArray[np.float64]
DENSE_LIMIT = 500
SPARSE_LIMIT = 128
# of sparse matrices: beyond so many restarts the dense solver is faster
LANCZOS_TOL, LANCZOS_RESTARTS = 1e-12, 30


def top_eigenpairs(
    A: Any, k: int, *, known: NDArray[Any] | None = None, start: NDArray[Any] | None = None
) -> tuple[Array, Array]:
    """Return the k algebraically largest eigenpairs of a symmetric matrix.

    A dense solver for small matrices or where k is a large part of n, else Lanczos iterations from a fixed vector, so
    the result is reproducible.

    Parameters
    ----------
    A : ndarray or sparse matrix of shape (n, n)
        Symmetric matrix. Lanczos iterations take over above n = 500, or above 128 if it is sparse.
    k : int
        Number of eigenpairs, at most n.
    known : ndarray of shape (n, c), default=None
        Orthonormal eigenvectors that are known already and to be left out; the eigenvalues sought are at least 0.
    start : ndarray of shape (n,), default=None
        Start of the Lanczos iterations instead of the fixed one.

    Returns
    -------
    values : ndarray of shape (k,)
        Eigenvalues in descending order.
    vectors : ndarray of shape (n, k)
        Orthonormal eigenvectors; the entry of largest modulus in each is positive.
    """
    n = A.shape[0]
    dense = n <= (SPARSE_LIMIT if sparse.issparse(A) else DENSE_LIMIT) or k > n // 4
    if not dense:
        try:
            values, vectors = _lanczos(A, k, known, start)
        except ArpackNoConvergence:  # eigenvalues too close together
            dense = True
    if dense:
        full = A.toarray() if sparse.issparse(A) else A
        if known is not None:
            full = full - 2.0 * (known @ known.T)  # below every eigenvalue sought
        values, vectors = _dense(full, k)
    order = np.argsort(values)[::-1]
    return values[order], fix_signs(vectors[:, order])


def _dense(A: NDArray[Any], k: int) -> tuple[NDArray[Any], NDArray[Any]]:
    n = A.shape[0]
    try:
        return eigh(A, subset_by_index=[n - k, n - 1], check_finite=False)  # type: ignore[no-any-return]
    except LinAlgError:  # LAPACK's subset solver gives up on some matrices of low rank
        values, vectors = eigh(A, driver="evd", check_finite=False)
        return values[n - k :], vectors[:, n - k :]


def _lanczos(
    A: Any, k: int, known: NDArray[Any] | None, start: NDArray[Any] | None
) -> tuple[NDArray[Any], NDArray[Any]]:
    n = A.shape[0]
    if start is None:
        start = np.random.default_rng(0).standard_normal(n)
    if not sparse.issparse(A):
        return eigsh(A, k=k, which="LA", v0=start)  # type: ignore[no-any-return]
    known = np.zeros((n, 0)) if known is None else known

    def without_known(x: NDArray[Any]) -> NDArray[Any]:
        x = x.ravel()
        return np.asarray(A @ x - 2.0 * (known @ (known.T @ x)))

    operator = LinearOperator(A.shape, matvec=without_known, dtype=np.float64)
    start = start - known @ (known.T @ start)
    ncv = min(n, max(2 * k + 20, 40))
    return eigsh(  # type: ignore[no-any-return]
        operator, k=k, which="LA", v0=start, ncv=ncv, tol=LANCZOS_TOL, maxiter=LANCZOS_RESTARTS
    )


def fix_signs(vectors: Array) -> Array:
    """Flip columns so that the entry of largest modulus in each is positive (the first one where several tie)."""
    return np.asarray(vectors * column_signs(vectors))


def column_signs(vectors: Array) -> Array:
    """Return the sign of the entry of largest modulus in each column, shape (k,)."""
    rows = np.abs(vectors).argmax(axis=0)
    return np.where(vectors[rows, np.arange(vectors.shape[1])] < 0, -1.0, 1.0)
