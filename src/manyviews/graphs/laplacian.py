"""Laplacians of graphs and their eigenvectors, where several components make the smallest eigenvalue repeat."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from manyviews.linalg.eigen import smallest_eigenpairs

__all__ = ["component_indicators", "normalized_adjacency", "smallest_laplacian_vectors"]

Array = NDArray[np.float64]


def normalized_adjacency(graph: Any) -> Any:
    r"""Return :math:`D^{-1/2} W D^{-1/2}` of a symmetric graph, dense or CSR; rows without edges stay zero."""
    degrees = np.asarray(graph.sum(axis=0), dtype=np.float64).ravel()
    root = np.divide(1.0, np.sqrt(degrees), out=np.zeros(degrees.size), where=degrees > 0)
    if not sparse.issparse(graph):
        return graph * root[:, None] * root
    return sparse.csr_array(sparse.diags_array(root) @ graph @ sparse.diags_array(root))


def component_indicators(components: NDArray[np.int64], count: int) -> Array:
    """Return orthonormal indicators (n, count) of the largest components, the earlier numbered first on ties."""
    sizes = np.bincount(components)
    largest = np.argsort(-sizes, kind="stable")[:count]
    return np.asarray((components[:, None] == largest) / np.sqrt(sizes[largest]))


def smallest_laplacian_vectors(graph: sparse.csr_array, k: int) -> tuple[Array, NDArray[np.int64]]:
    r"""Return eigenvectors of the k smallest eigenvalues of :math:`D - W`, and the components of the graph.

    As many eigenvalues are 0 as there are components, with their indicators as eigenvectors; the others are found by
    inverse iterations orthogonal to these.

    Parameters
    ----------
    graph : CSR of shape (n, n)
        Symmetric and non-negative, without self-loops.
    k : int
        Number of eigenvectors, at most n.

    Returns
    -------
    vectors : ndarray of shape (n, k)
        Orthonormal; where there are more than k components, indicators of the largest ones.
    components : ndarray of shape (n,), int64
        Number of the component of each sample.
    """
    count, components = connected_components(graph, directed=False)
    known = component_indicators(components, min(count, k))
    missing = k - known.shape[1]
    if missing == 0:
        return known, components
    L = sparse.diags_array(np.asarray(graph.sum(axis=0)).ravel()) - graph
    return np.hstack([known, smallest_eigenpairs(sparse.csc_array(L), missing, known)[1]]), components
