"""Normalised spectral clustering: the leading eigenvectors of a graph, with rows of length 1."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from manyviews.graphs.laplacian import normalized_adjacency
from manyviews.linalg.eigen import DENSE_LIMIT, top_eigenpairs

__all__ = ["leading_eigenpairs", "normalized_cut"]

Array = NDArray[Any]


def normalized_cut(affinity: Any, k: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    r"""Return the k leading eigenpairs of :math:`D^{-1/2} K D^{-1/2}`.

    Parameters
    ----------
    affinity : ndarray or CSR of shape (n, n)
        Symmetric, non-negative, with self-loops.
    k : int
        Number of eigenvectors.

    Returns
    -------
    values : ndarray of shape (k,)
        Eigenvalues, descending; as many are 1 as the graph has components.
    vectors : ndarray of shape (n, k)
        Orthonormal eigenvectors.
    """
    L = normalized_adjacency(affinity)
    if sparse.issparse(L):
        return leading_eigenpairs(L, k)
    return top_eigenpairs(0.5 * (L + L.T), k)


def leading_eigenpairs(L: Any, k: int) -> tuple[Array, Array]:
    """Return the k largest eigenpairs of a symmetric CSR matrix (n, n), values descending.

    They are sought component by component, as Lanczos iterations alone miss repeated eigenvalues.
    """
    count, component = connected_components(L, directed=False)
    if count == 1:
        return _connected_eigenpairs(L, k)
    sizes = np.bincount(component)
    # where there are more components than eigenvectors, all with eigenvalue 1, the largest are taken
    order = np.argsort(-sizes, kind="stable")
    found = []
    for c in order:
        members = np.flatnonzero(component == c)
        values, vectors = _connected_eigenpairs(L[members][:, members], min(k, members.size))
        found += [(value, members, vector) for value, vector in zip(values, vectors.T, strict=True)]
    best = np.argsort([-round(value, 10) for value, _, _ in found], kind="stable")[:k]
    columns = np.zeros((L.shape[0], k))
    for j, i in enumerate(best):
        columns[found[i][1], j] = found[i][2]
    return np.array([found[i][0] for i in best]), columns


def _connected_eigenpairs(L: Any, k: int) -> tuple[Array, Array]:
    n = L.shape[0]
    if n <= DENSE_LIMIT or k > n // 4:
        return top_eigenpairs(L.toarray(), k)
    # graphs of neighbours have many eigenvalues close to 1
    return top_eigenpairs(L, k, basis=max(4 * k + 1, 40), restarts=20 * n)
