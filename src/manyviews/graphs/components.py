"""Connected components of a bipartite graph between samples and anchors."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

__all__ = ["Components", "bipartite_components", "largest_components"]


class Components(NamedTuple):
    """Number of components that hold a sample, and those of the samples (n,) and anchors (m,), -1 if without samples.

    Components are numbered by their first sample.
    """

    n_found: int
    samples: NDArray[np.int64]
    anchors: NDArray[np.int64]


def bipartite_components(P: Any) -> Components:
    """Split a bipartite graph into its connected components.

    Parameters
    ----------
    P : ndarray or CSR of shape (n, m)
        Weights between samples and anchors; positive entries are edges.

    Returns
    -------
    Components
        An anchor without edges belongs to no component; a sample without edges is one by itself.

    Examples
    --------
    >>> import numpy as np
    >>> from manyviews.graphs.components import bipartite_components
    >>> bipartite_components(np.array([[0.0, 1.0, 0.0], [0.5, 0.0, 0.0], [0.0, 1.0, 0.0]]))
    Components(n_found=2, samples=array([0, 1, 0]), anchors=array([ 1,  0, -1]))
    """
    edges = sparse.csr_array(P, copy=True)
    edges.eliminate_zeros()
    n, m = edges.shape
    indptr = np.concatenate([edges.indptr, np.full(m, edges.indptr[-1], edges.indptr.dtype)])
    graph = sparse.csr_array((edges.data, edges.indices + n, indptr), shape=(n + m, n + m))
    _, found = connected_components(graph, directed=False)
    present, first = np.unique(found[:n], return_index=True)
    number = np.full(n + m, -1)
    number[present[np.argsort(first)]] = np.arange(present.size)
    return Components(present.size, number[found[:n]], number[found[n:]])


def largest_components(found: Components, most: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the components of anchors and samples as at most so many clusters: beyond, the smallest ones are one."""
    if found.n_found <= most:
        return found.anchors, found.samples
    order = np.argsort(-np.bincount(found.samples, minlength=found.n_found), kind="stable")
    cluster = np.empty(found.n_found + 1, dtype=np.int64)
    cluster[order] = np.minimum(np.arange(found.n_found), most - 1)
    cluster[-1] = -1  # of anchors without samples
    return cluster[found.anchors], cluster[found.samples]
