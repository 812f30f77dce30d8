"""Leading eigenvectors of symmetric matrices: one entry point, the solver chosen by size, signs fixed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.sparse.linalg import eigsh

__all__ = ["column_signs", "fix_signs", "top_eigenpairs"]

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


def fix_signs(vectors: Array) -> Array:
    """Flip columns so that the entry of largest modulus in each is positive (the first one where several tie)."""
    return np.asarray(vectors * column_signs(vectors))


def column_signs(vectors: Array) -> Array:
    """Return the sign of the entry of largest modulus in each column, shape (k,)."""
    rows = np.abs(vectors).argmax(axis=0)
    return np.where(vectors[rows, np.arange(vectors.shape[1])] < 0, -1.0, 1.0)
