"""The cut of an affinity that changes little from one call to the next: eigenvectors from where they were before."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyviews.linalg.eigen import leading_subspace, top_eigenpairs

__all__ = ["AffinityCut"]

Array = NDArray[Any]
DENSE_LIMIT = 64
SPARE_VECTORS = 6
# residuals of the eigenvectors: what is left at the end of one call is made up for in the next
EIGEN_TOL = {np.dtype(np.float32): 3e-5, np.dtype(np.float64): 1e-7}


class AffinityCut:
    """Eigenvectors of the smallest eigenvalues of the Laplacian of (Z + Zᵀ)/2.

    Parameters
    ----------
    u : int
        Rows of Z.
    k : int
        Eigenvectors.
    sizes : ndarray of shape (u,)
        Samples that each row stands for.
    dtype : dtype
        Of Z.
    rng : Generator
        Source of the first vectors.
    normalized : bool
        Whether the Laplacian is divided by the degrees.
    """

    def __init__(
        self, u: int, k: int, sizes: Array, dtype: np.dtype[Any], rng: np.random.Generator, *, normalized: bool
    ) -> None:
        self._k, self._normalized = k, normalized
        self._weights, self._root = sizes.astype(dtype), np.sqrt(sizes).astype(dtype)
        self._vectors = rng.standard_normal((u, min(u, k + SPARE_VECTORS))).astype(dtype)

    def partition(self, Z: Array) -> Array:
        """Return the eigenvectors, (u, k), with the square root of the sizes divided out. O(u² k) for a sweep."""
        degrees = (Z @ self._weights + Z.T @ self._weights) / 2
        if self._normalized:
            factor = self._root / np.sqrt(np.where(degrees > 0, degrees, 1))
            shift = np.zeros_like(degrees)
        else:
            factor, shift = self._root, 2 * degrees.max() - degrees
        if Z.shape[0] <= DENSE_LIMIT:
            W = factor[:, None] * (Z + Z.T) / 2 * factor + np.diag(shift)
            vectors = top_eigenpairs(W, self._k)[1]
            return np.asarray(vectors / self._root[:, None], dtype=Z.dtype)

        def apply(X: Array) -> Array:
            Y = factor[:, None] * X
            return np.asarray(factor[:, None] * (Z @ Y + Z.T @ Y) / 2 + shift[:, None] * X)

        self._vectors = leading_subspace(apply, self._vectors, self._k, tol=EIGEN_TOL[Z.dtype])[1]
        return np.asarray(self._vectors[:, : self._k] / self._root[:, None])
