"""Proximal steps of sparse and low-rank models: column threshold, singular value threshold."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cholesky, qr, solve_triangular, svd

from manyviews.linalg.eigen import all_eigenpairs

__all__ = [
    "LowRank",
    "SingularValueShrinker",
    "orthonormal_columns",
    "singular_value_threshold",
    "threshold_columns",
]

Array = NDArray[Any]
# above this share of the full rank a partial factorisation costs more than a full one
PARTIAL_SHARE = 0.45
SPARE_COLUMNS = 12
POWER_STEPS = 30
# the check of a partial decomposition: random columns, multiplications, and how far it may be off
CHECK_COLUMNS = 8
CHECK_STEPS = 4
SLACK = 0.25
# more multiplications for the first matrix, whose singular vectors are not known from the one before
COLD_SWEEPS = 3


class LowRank(NamedTuple):
    """U diag(values) Vᵀ with U (n, q) and V (d, q) of orthonormal columns."""

    U: Array
    values: Array
    V: Array


def threshold_columns(X: Array, tau: float) -> Array:
    """Return the minimiser of ½‖Y - X‖² + τ Σ_j ‖Y_j‖: columns shortened by τ, those shorter than τ set to 0."""
    norms = np.linalg.norm(X, axis=0)
    return np.asarray(X * (np.maximum(norms - tau, 0.0) / np.where(norms > 0, norms, 1.0)).astype(X.dtype))


def singular_value_threshold(M: Array, tau: float) -> LowRank:
    """Return the minimiser of ½‖J - M‖² + τ‖J‖_* by a full decomposition.

    Parameters
    ----------
    M : ndarray of shape (n, d)
        Any matrix.
    tau : float
        Taken off each singular value; those below it vanish.

    Returns
    -------
    LowRank
        J in factors; rank 0 where all singular values are at most τ.
    """
    U, values, Vt = svd(M, full_matrices=False, check_finite=False)
    rank = int(np.count_nonzero(values > tau))
    return LowRank(U[:, :rank], values[:rank] - tau, Vt[:rank].T)


class SingularValueShrinker:
    """Singular value threshold of a sequence of matrices that change little from one to the next.

    Only the singular vectors above the threshold are computed, by block subspace iteration that starts from those of
    the matrix before and some random columns. As long as nothing has been above the threshold, a bound on the norm
    mostly tells so, and nothing is computed. The result is checked: where all singular values found lie above the
    threshold, or power iterations find that what is left of the matrix has a norm above it by more than a quarter, the
    subspace is enlarged; where the rank comes near that of a full decomposition, that is done instead.

    Parameters
    ----------
    rng : Generator
        Source of the random columns.
    sweeps : int, default=1
        Multiplications by MᵀM for each matrix; more of them are more exact.
    """

    def __init__(self, rng: np.random.Generator, *, sweeps: int = 1) -> None:
        self.rng = rng
        self.sweeps = sweeps
        self._basis: Array | None = None
        self._growth = SPARE_COLUMNS

    def __call__(self, M: Array, tau: float) -> LowRank:
        """Return the singular value threshold of M, in factors.

        Parameters
        ----------
        M : ndarray of shape (n, d)
            The matrix.
        tau : float
            Threshold.

        Returns
        -------
        LowRank
            J in factors; rank 0 where nothing lies above the threshold.
        """
        n, d = M.shape
        if self._basis is None and (_norm_at_most(M, tau) or self._norm(M) <= tau):
            return LowRank(np.zeros((n, 0), M.dtype), np.zeros(0), np.zeros((d, 0), M.dtype))
        start = np.zeros((d, 0), M.dtype) if self._basis is None else self._basis
        while True:
            width = start.shape[1] + self._growth
            if width > PARTIAL_SHARE * min(n, d):
                return self._full(M, tau)
            spare = self.rng.standard_normal((d, self._growth), dtype=np.float64).astype(M.dtype)
            found = self._subspace(M, np.hstack([start, spare]))
            rank = int(np.count_nonzero(found.values > tau))
            if rank < width and self._remainder(M, found.V) <= (1 + SLACK) * tau:
                break
            start, self._growth = found.V, 2 * self._growth
        self._growth = max(SPARE_COLUMNS, rank - start.shape[1] + SPARE_COLUMNS)
        self._basis = found.V[:, : rank + SPARE_COLUMNS]
        return LowRank(found.U[:, :rank], found.values[:rank] - tau, found.V[:, :rank])

    def _norm(self, M: Array) -> float:
        """Return the largest singular value by power iteration."""
        v = self.rng.standard_normal((M.shape[1], 1)).astype(M.dtype)
        square = 0.0
        for _ in range(POWER_STEPS):
            v = M.T @ (M @ v)
            last, square = square, float(np.linalg.norm(v))
            if square == 0.0 or abs(square - last) <= 1e-6 * square:
                break
            v /= M.dtype.type(square)
        return math.sqrt(square)

    def _remainder(self, M: Array, V: Array) -> float:
        """Return about the largest singular value of M among the vectors orthogonal to the columns of V."""
        W = self.rng.standard_normal((M.shape[1], CHECK_COLUMNS)).astype(M.dtype)
        squares = np.zeros(CHECK_COLUMNS)
        for _ in range(CHECK_STEPS):
            W -= V @ (V.T @ W)
            W /= np.maximum(np.linalg.norm(W, axis=0), np.finfo(M.dtype).tiny)
            W = M.T @ (M @ W)
            W -= V @ (V.T @ W)
            squares = np.linalg.norm(W, axis=0)
        return math.sqrt(float(squares.max()))

    def _subspace(self, M: Array, V: Array) -> LowRank:
        """Return the singular triplets that M has in the subspace that V is led to."""
        Q = orthonormal_columns(V)
        for _ in range(self.sweeps if self._basis is not None else COLD_SWEEPS + self.sweeps):
            Q = orthonormal_columns(M.T @ orthonormal_columns(M @ Q))
        B = M @ Q
        return _small_decomposition(B, Q)

    def _full(self, M: Array, tau: float) -> LowRank:
        found = _small_decomposition(M, None)
        rank = int(np.count_nonzero(found.values > tau))
        self._basis = found.V[:, : rank + SPARE_COLUMNS]
        return LowRank(found.U[:, :rank], found.values[:rank] - tau, found.V[:, :rank])


def orthonormal_columns(X: Array) -> Array:
    """Return an orthonormal basis of the columns of X (n, q), q <= n: Cholesky where that is safe, else QR."""
    lengths = np.linalg.norm(X, axis=0)
    X = X / np.where(lengths > 0, lengths, 1.0).astype(X.dtype)
    for _ in range(2):
        gram = X.T @ X
        try:
            R = cholesky(gram, check_finite=False)
        except LinAlgError:
            return np.asarray(qr(X, mode="economic", check_finite=False)[0])
        if np.diagonal(R).min() < 1e-2:
            return np.asarray(qr(X, mode="economic", check_finite=False)[0])
        X = solve_triangular(R, X.T, trans="T", check_finite=False).T
        if np.abs(gram - np.eye(len(gram), dtype=gram.dtype)).max() < 1e-2:
            break
    return np.asarray(X)


def _norm_at_most(M: Array, tau: float) -> bool:
    """Tell whether the Frobenius norm, or else the sums of rows and columns, show that no singular value is above."""
    if float(np.linalg.norm(M)) <= tau:
        return True
    sizes = np.abs(M)
    return math.sqrt(float(sizes.sum(axis=0).max()) * float(sizes.sum(axis=1).max())) <= tau


def _small_decomposition(B: Array, Q: Array | None) -> LowRank:
    """Return the singular triplets of B Qᵀ, Q with orthonormal columns, through the eigenvectors of BᵀB."""
    gram = B.astype(np.float64)
    gram = gram.T @ gram
    squares, W = all_eigenpairs(gram, overwrite=True)
    W = W.astype(B.dtype)
    values = np.sqrt(np.maximum(squares, 0.0))
    U = (B @ W) / np.where(values > 0, values, 1.0).astype(B.dtype)
    return LowRank(U, values, W if Q is None else Q @ W)
