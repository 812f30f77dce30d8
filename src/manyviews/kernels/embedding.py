"""Kernel k-means relaxed: the leading eigenvectors of a kernel as a soft partition of the samples."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from manyviews.linalg.eigen import column_signs, top_eigenpairs

__all__ = ["RANK_CUTOFF", "SpectralPartition", "common_projection", "factor_partition", "spectral_partition"]

Array = NDArray[Any]
RANK_CUTOFF = 1e-10


class SpectralPartition(NamedTuple):
    """Eigenvalues (k,), descending, and a matrix whose columns give the partition."""

    values: Array
    vectors: Array


def spectral_partition(K: Array, k: int) -> SpectralPartition:
    """Return the k leading eigenvectors of a kernel, (n, k), columns orthonormal, signs fixed."""
    return SpectralPartition(*top_eigenpairs(K, k))


def factor_partition(gram: Array, k: int) -> SpectralPartition:
    r"""Return what turns features into a partition, from their Gram matrix :math:`Z^\top Z` (r, r).

    With the leading eigenpairs :math:`(\lambda, V)` of the Gram matrix the partition of the kernel :math:`ZZ^\top` is
    :math:`H = Z V \lambda^{-1/2}`; the matrix returned is :math:`V \lambda^{-1/2}` (r, k). Directions without
    variance, and those beyond r, are columns of zeros.
    """
    if gram.shape[0] == 0:
        return SpectralPartition(np.zeros(k), np.zeros((0, k)))
    rank = min(k, gram.shape[0])
    values, V = top_eigenpairs(gram, rank)
    usable = values > RANK_CUTOFF * max(values[0], np.finfo(float).tiny)
    vectors = np.zeros((gram.shape[0], k))
    vectors[:, :rank][:, usable] = V[:, usable] / np.sqrt(values[usable])
    return SpectralPartition(np.concatenate([values, np.zeros(k - rank)]), vectors)


def common_projection(stacked: Array, k: int) -> Array:
    """Return what turns partitions side by side (n, m·k) into their k leading left singular vectors, signs fixed."""
    projection = factor_partition(stacked.T @ stacked, k).vectors
    return np.asarray(projection * column_signs(stacked @ projection))
