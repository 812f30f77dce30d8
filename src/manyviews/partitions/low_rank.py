"""From a low-rank affinity to clusters, as the group of MVEC and RSEC does it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyviews.linalg.blocks import unit_rows
from manyviews.linalg.eigen import all_eigenpairs, leading_subspace, top_eigenpairs
from manyviews.linalg.shrinkage import LowRank, orthonormal_columns, singular_value_threshold

__all__ = ["PoweredAffinity", "affinity_embedding", "distance_norm", "low_rank_embedding", "powered_affinity"]

Array = NDArray[Any]
POWER = 4
# singular values below this share of the largest are noise
CUTOFF = 1e-4
DENSE_LIMIT = 500
SPARE_VECTORS = 6
# above this share of all eigenvectors a partial decomposition costs more than a full one
PARTIAL_SHARE = 0.2
PARTIAL_SWEEPS = 2


def powered_affinity(factors: LowRank) -> Array:
    r"""Return :math:`(M M^\top)^{\circ 4}` with M the rows of :math:`U Σ^{1/2}` brought to unit length.

    Parameters
    ----------
    factors : LowRank
        Singular value decomposition of an affinity (n, n); values below 1e-4 of the largest are left out.

    Returns
    -------
    ndarray of shape (n, n)
        Affinity between 0 and 1, in the type of the factors.
    """
    kept = factors.values > CUTOFF * max(factors.values.max(initial=0.0), np.finfo(float).tiny)
    M = unit_rows(factors.U[:, kept] * np.sqrt(factors.values[kept]).astype(factors.U.dtype))
    A = M @ M.T
    np.square(A, out=A)
    return np.asarray(np.square(A, out=A))


class PoweredAffinity:
    """Powered affinity of symmetric matrices (n, n) that change little from one to the next.

    Their singular vectors are their eigenvectors. Where the matrix before had few above the cutoff, subspace iteration
    starts from those, and from a few random vectors; where these turn out to be too few, all are computed.

    Parameters
    ----------
    rng : Generator
        Source of the random vectors.
    """

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng
        self._vectors: Array | None = None

    def __call__(self, A: Array) -> Array:
        """Return the powered affinity of A, in its type: O(n² q) where q values are kept, O(n³) where they are many."""
        found = self._partial(A)
        if found is None:
            values, vectors = all_eigenpairs(A)
            found = LowRank(vectors, np.abs(values), vectors)
        kept = found.values > CUTOFF * found.values.max()
        few = np.count_nonzero(kept) <= PARTIAL_SHARE * len(A)
        self._vectors = found.U[:, kept] if few else None
        return powered_affinity(found)

    def _partial(self, A: Array) -> LowRank | None:
        """Return the eigenpairs found from the vectors of before, or none where some above the cutoff may be missed."""
        if self._vectors is None:
            return None
        spare = self._rng.standard_normal((len(A), SPARE_VECTORS)).astype(A.dtype)
        Q = orthonormal_columns(np.hstack([self._vectors, spare]))
        for _ in range(PARTIAL_SWEEPS):
            Q = orthonormal_columns(A @ Q)
        values, W = all_eigenpairs(Q.T @ (A @ Q), overwrite=True)
        sizes = np.abs(values)
        if sizes.min() > CUTOFF * sizes.max():
            return None
        vectors = Q @ W
        return LowRank(vectors, sizes, vectors)


def low_rank_embedding(factors: LowRank, k: int, rng: np.random.Generator, sizes: Array | None = None) -> Array:
    r"""Return the rows :math:`D^{-1/2} Q`, Q the k leading eigenvectors of :math:`D^{-1/2} A D^{-1/2}`.

    Parameters
    ----------
    factors : LowRank
        Singular value decomposition of the affinity, from whose ``powered_affinity`` A comes. Where samples are merged,
        that of :math:`N^{1/2} Z N^{1/2}`, N holding the sizes.
    k : int
        Number of clusters.
    rng : Generator
        Start of the eigenvector iterations.
    sizes : ndarray of shape (n,), default=None
        How many samples each row stands for; 1 by default.

    Returns
    -------
    ndarray of shape (n, k)
        Rows for a k-means, weighted with the sizes.
    """
    A = powered_affinity(factors)
    weights = np.ones(len(A), A.dtype) if sizes is None else sizes.astype(A.dtype)
    degrees = A @ weights
    # a sample that nothing is like has no row in M: it stays at the origin
    factor = np.sqrt(weights / np.where(degrees > 0, degrees, 1))
    if len(A) <= DENSE_LIMIT:
        vectors = top_eigenpairs(factor[:, None] * A * factor, k)[1]
    else:
        start = rng.standard_normal((len(A), min(len(A), k + SPARE_VECTORS))).astype(A.dtype)
        tol = 1e-4 if A.dtype == np.float32 else 1e-7
        vectors = leading_subspace(lambda X: factor[:, None] * (A @ (factor[:, None] * X)), start, k, tol=tol)[1][:, :k]
    return np.asarray(vectors / np.sqrt(weights * np.where(degrees > 0, degrees, 1))[:, None])


def distance_norm(H: Array, sizes: Array) -> float:
    """Return the spectral norm of the squared distances between rows of H (n, k), P = g1ᵀ + 1gᵀ - 2HHᵀ, weighted.

    Row i stands for ``sizes[i]`` samples; O(n k²) from the factors of P.
    """
    g = np.einsum("ij,ij->i", H, H)
    root = np.sqrt(sizes)
    left = np.column_stack([g, np.ones_like(g), H]) * root[:, None]
    right = np.column_stack([np.ones_like(g), g, -2 * H]) * root[:, None]
    upper = np.linalg.qr(left)[1] @ np.linalg.qr(right)[1].T
    return float(np.linalg.norm(upper, 2))


def affinity_embedding(J: LowRank, Z: Array, k: int, rng: np.random.Generator, sizes: Array) -> Array:
    """Return the rows that ``low_rank_embedding`` makes of J, or of Z where J stopped before it had k directions."""
    if J.values.size < k:
        root = np.sqrt(sizes).astype(Z.dtype)
        J = singular_value_threshold(root[:, None] * Z * root, 0.0)
    return low_rank_embedding(J, k, rng, sizes)
