"""Eigenvectors of symmetric matrices and singular vectors of others: the one place where a solver is chosen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import LinAlgError, eigh
from scipy.linalg.blas import dsymv
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh, splu, svds

__all__ = [
    "all_eigenpairs",
    "column_signs",
    "eigenpairs_above",
    "eigenvalues",
    "fix_signs",
    "leading_singular",
    "leading_subspace",
    "positive_norm",
    "smallest_eigenpairs",
    "top_eigenpairs",
]

Array = NDArray[np.float64]
DENSE_LIMIT = 500
SPARSE_LIMIT = 256
# of sparse matrices: beyond so many restarts the dense solver is faster
LANCZOS_TOL, LANCZOS_RESTARTS = 1e-12, 30
# a sparse matrix up to this size with more than this part of its entries filled is worth filling up
SYMMETRIC_LIMIT, FILLED = 4_096, 0.1
# a multiple of the identity that makes a semi-definite matrix invertible, relative to its largest diagonal entry
SHIFT = 1e-7
# more than this part of all eigenpairs take less time by the dense solver
FEW = 1 / 16
POWER_ITERATIONS = 1_000


def top_eigenpairs(
    A: Any,
    k: int,
    *,
    known: NDArray[Any] | None = None,
    start: NDArray[Any] | None = None,
    basis: int | None = None,
    restarts: int = LANCZOS_RESTARTS,
) -> tuple[Array, Array]:
    """Return the k algebraically largest eigenpairs of a symmetric matrix.

    A dense solver for small matrices or where k is a large part of n, else Lanczos iterations from a fixed vector, so
    the result is reproducible.

    Parameters
    ----------
    A : ndarray or sparse matrix of shape (n, n)
        Symmetric matrix. Lanczos iterations take over above n = 500, or above 256 if it is sparse.
    k : int
        Number of eigenpairs, at most n.
    known : ndarray of shape (n, c), default=None
        Orthonormal eigenvectors that are known already and to be left out; the eigenvalues sought are at least 0.
    start : ndarray of shape (n,), default=None
        Start of the Lanczos iterations instead of the fixed one.
    basis : int, default=None
        Vectors that the iterations keep for a sparse matrix, 2k + 20 by default; more of them tell close eigenvalues
        apart sooner.
    restarts : int, default=30
        Restarts for a sparse matrix after which a dense solver takes over; to be raised where the filled matrix would
        be too large.

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
            values, vectors = _lanczos(A, k, known, start, basis, restarts)
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
    # LAPACK's subset solver gives up on some matrices with equal eigenvalues, or returns too few
    with suppress(LinAlgError):
        values, vectors = eigh(A, subset_by_index=[n - k, n - 1], check_finite=False)
        if values.size == k:
            return values, vectors
    values, vectors = all_eigenpairs(A)
    return values[:k], vectors[:, :k]


def _lanczos(
    A: Any,
    k: int,
    known: NDArray[Any] | None,
    start: NDArray[Any] | None,
    basis: int | None,
    restarts: int,
) -> tuple[NDArray[Any], NDArray[Any]]:
    n = A.shape[0]
    if start is None:
        start = np.random.default_rng(0).standard_normal(n)
    if not sparse.issparse(A):
        return eigsh(A, k=k, which="LA", v0=start)  # type: ignore[no-any-return]
    known = np.zeros((n, 0)) if known is None else known
    operator = LinearOperator(A.shape, matvec=_without_known(A, known), dtype=np.float64)
    start = start - known @ (known.T @ start)
    ncv = min(n, max(2 * k + 20, 40) if basis is None else basis)
    return eigsh(  # type: ignore[no-any-return]
        operator, k=k, which="LA", v0=start, ncv=ncv, tol=LANCZOS_TOL, maxiter=restarts
    )


def _without_known(A: Any, known: NDArray[Any]) -> Callable[[NDArray[Any]], NDArray[Any]]:
    """Return the product with A once its known eigenvalues are moved below all others."""
    if A.shape[0] <= SYMMETRIC_LIMIT and A.nnz > FILLED * A.shape[0] ** 2:
        # reading half of a full matrix in order takes less time than looking up the entries
        full = np.asfortranarray(A.toarray() - 2.0 * (known @ known.T), dtype=np.float64)
        return lambda x: np.asarray(dsymv(1.0, full, x.ravel()))

    def product(x: NDArray[Any]) -> NDArray[Any]:
        x = x.ravel()
        return np.asarray(A @ x - 2.0 * (known @ (known.T @ x)))

    return product


def all_eigenpairs(A: NDArray[Any], *, overwrite: bool = False) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return all eigenvalues of a symmetric matrix (n, n), descending, and eigenvectors, in its precision.

    Signs are as the solver leaves them: it is for matrices put together from all eigenvectors, where they cancel.
    ``overwrite`` spares a copy of A.
    """
    # SciPy before 1.13 asks the quick solver for too little room where there is a single number
    driver = "evd" if len(A) > 1 else "ev"
    values, vectors = eigh(A, driver=driver, overwrite_a=overwrite, check_finite=False)
    return values[::-1], vectors[:, ::-1]


def eigenpairs_above(A: NDArray[Any], threshold: float, least: int, guess: int) -> tuple[Array, Array]:
    """Return the eigenpairs of a symmetric matrix above a threshold, descending, and ``least`` of them at least.

    ``guess`` says about how many there are: Lanczos iterations where these are few, else the dense solver. The entry of
    largest modulus in each vector is positive.
    """
    n = len(A)
    values, vectors = np.zeros(0), np.zeros((n, 0))
    if n > DENSE_LIMIT and guess <= FEW * n:
        values, vectors = top_eigenpairs(A, guess + 10)
    if len(values) < least or values[-1] > threshold:
        with suppress(LinAlgError):  # of some matrices with equal eigenvalues
            values, vectors = eigh(A, subset_by_value=(threshold, np.inf), check_finite=False)
            values, vectors = values[::-1], vectors[:, ::-1]
        if len(values) < least:
            values, vectors = all_eigenpairs(A)
        vectors = fix_signs(vectors)
    keep = max(least, int(np.count_nonzero(values > threshold)))
    return values[:keep], vectors[:, :keep]


def eigenvalues(A: NDArray[Any]) -> NDArray[Any]:
    """Return the eigenvalues of a symmetric matrix (n, n), descending."""
    values: NDArray[Any] = eigh(A, eigvals_only=True, check_finite=False)
    return values[::-1]


def smallest_eigenpairs(A: Any, k: int, known: NDArray[Any]) -> tuple[Array, Array]:
    """Return the k smallest eigenpairs of a positive semi-definite sparse matrix that are orthogonal to known ones.

    Lanczos iterations with its inverse, which part small eigenvalues that those with the matrix itself confuse.

    Parameters
    ----------
    A : CSC of shape (n, n)
        The matrix.
    k : int
        Number of eigenpairs, with ``known`` at most n.
    known : ndarray of shape (n, c)
        Orthonormal eigenvectors that are left out.

    Returns
    -------
    values : ndarray of shape (k,)
        Eigenvalues in ascending order.
    vectors : ndarray of shape (n, k)
        Orthonormal eigenvectors; the entry of largest modulus in each is positive.
    """
    n, top = A.shape[0], float(A.diagonal().max())
    if n <= SPARSE_LIMIT or k > n // 4:
        # the known vectors go beyond the other end of the spectrum
        values, vectors = _dense(-A.toarray() - (4.0 * top + 1.0) * (known @ known.T), k)
    else:
        solve = splu(A + SHIFT * top * sparse.eye_array(n, format="csc")).solve

        def inverse(x: Array) -> Array:
            y = solve(x.ravel() - known @ (known.T @ x.ravel()))
            return np.asarray(y - known @ (known.T @ y))

        start = inverse(np.random.default_rng(0).standard_normal(n))
        operator = LinearOperator((n, n), matvec=inverse, dtype=np.float64)
        values, vectors = eigsh(operator, k=k, which="LA", v0=start)
        values = SHIFT * top - 1.0 / values
    order = np.argsort(-values)
    return -values[order], fix_signs(vectors[:, order])


def leading_singular(A: Any, k: int, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """Return the k leading singular triplets of a matrix by Lanczos iterations, in double precision.

    Parameters
    ----------
    A : ndarray, sparse matrix or LinearOperator of shape (n, d)
        The matrix.
    k : int
        Number of triplets, below n and d.
    rng : Generator
        Start of the iterations.

    Returns
    -------
    U : ndarray of shape (n, k)
        Left singular vectors; the entry of largest modulus in each is positive.
    values : ndarray of shape (k,)
        Singular values, descending.
    V : ndarray of shape (d, k)
        Right singular vectors.
    """
    U, values, Vt = svds(A, k=k, v0=rng.uniform(0.5, 1.5, min(A.shape)))
    order = np.argsort(values)[::-1]
    signs = column_signs(U[:, order])
    return U[:, order] * signs, values[order], Vt[order].T * signs


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
        ritz, W = all_eigenpairs((small + small.T) / 2, overwrite=True)
        values, W = ritz[:b], W[:, :b].astype(X.dtype)
        X, AX = basis @ W, images @ W
        residual = np.linalg.norm(AX[:, :k] - X[:, :k] * values[:k].astype(X.dtype), axis=0)
        if residual.max() <= tol * np.abs(ritz).max():
            break
    return values, X


def positive_norm(*operators: Any, weights: Sequence[float] | None = None) -> float:
    """Return the largest eigenvalue of Σ w SᵀS for operators S without negative entries, by power iteration.

    Its eigenvector is positive, so a start of ones finds it. Operators have ``shape``, ``dtype`` and ``dot``.
    """
    x = np.ones((operators[0].shape[0], 1), operators[0].dtype)
    factors = [x.dtype.type(1 if weights is None else weights[i]) for i in range(len(operators))]
    norm = 0.0
    for _ in range(POWER_ITERATIONS):
        y = sum(w * operator.dot(operator.dot(x)) for w, operator in zip(factors, operators, strict=True))
        last, norm = norm, float(np.abs(y).max())
        if norm == 0.0 or abs(norm - last) <= np.finfo(x.dtype).eps * norm:
            break
        x = np.asarray(y / x.dtype.type(norm))
    return norm


def fix_signs(vectors: Array) -> Array:
    """Flip columns so that the entry of largest modulus in each is positive (the first one where several tie)."""
    return np.asarray(vectors * column_signs(vectors))


def column_signs(vectors: Array) -> Array:
    """Return the sign of the entry of largest modulus in each column, shape (k,)."""
    rows = np.abs(vectors).argmax(axis=0)
    return np.where(vectors[rows, np.arange(vectors.shape[1])] < 0, -1.0, 1.0)
