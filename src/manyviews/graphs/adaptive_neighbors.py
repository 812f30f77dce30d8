"""The graph of adaptive neighbours: weights that fall to zero at the (K+1)-th nearest sample, with no width to set."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manyviews.linalg.blocks import row_blocks

__all__ = ["adaptive_graph"]

Array = NDArray[Any]
# distances are computed in blocks of this size
BLOCK_MIB = 64
# squared distances below this share of the largest are the rounding of distances between copies
COPIES = 1e-13


def adaptive_graph(X: Any, n_neighbors: int, *, metric: str = "euclidean") -> sparse.csr_array:
    r"""Return the symmetric graph of adaptive neighbours.

    With the squared distances :math:`d_1 \le \dots \le d_{K+1}` of a sample to its nearest others, the j-th of its K
    neighbours has the weight :math:`(d_{K+1} - d_j) / (K d_{K+1} - \sum_{l \le K} d_l)`; these sum to 1, and the graph
    is the mean of that matrix and its transpose.

    Parameters
    ----------
    X : ndarray or CSR of shape (n, d)
        Samples.
    n_neighbors : int
        Neighbours K of a sample, itself not included; at most n - 2 are taken, and at least one.
    metric : {"euclidean", "precomputed"}, default="euclidean"
        "precomputed": X is (n, n) and holds the distances.

    Returns
    -------
    CSR of shape (n, n), float64
        Without self-loops. Where all K + 1 distances are equal, as between copies, the K weights are equal too.

    Examples
    --------
    >>> import numpy as np
    >>> from manyviews.graphs.adaptive_neighbors import adaptive_graph
    >>> adaptive_graph(np.array([[0.0], [1.0], [3.0], [9.0]]), 1).toarray()
    array([[0. , 1. , 0. , 0. ],
           [1. , 0. , 0.5, 0. ],
           [0. , 0.5, 0. , 0.5],
           [0. , 0. , 0.5, 0. ]])
    """
    n = X.shape[0]
    K = max(1, min(n_neighbors, n - 2))
    if n == 1:
        return sparse.csr_array((1, 1))
    indices, squares = _nearest_others(X, min(K + 1, n - 1), metric)
    weights = _weights(squares, K)
    rows = np.repeat(np.arange(n), weights.shape[1])
    graph = sparse.csr_array((weights.ravel(), (rows, indices[:, : weights.shape[1]].ravel())), shape=(n, n))
    graph = sparse.csr_array(0.5 * (graph + graph.T))
    graph.eliminate_zeros()
    return graph


def _weights(squares: Array, K: int) -> Array:
    """Return the weights (n, K) of neighbours at ascending squared distances (n, K + 1)."""
    if squares.shape[1] <= K:  # no farther sample to compare with
        return np.full(squares.shape, 1.0 / squares.shape[1])
    farther = squares[:, [K]] - squares[:, :K]
    total = farther.sum(axis=1, keepdims=True)
    copies = total <= COPIES * squares.max(initial=0.0)
    return np.where(copies, 1.0 / K, farther / np.where(copies, 1.0, total))


def _nearest_others(X: Any, count: int, metric: str) -> tuple[NDArray[np.int64], Array]:
    """Return the nearest other samples, nearest and then lower index first, and their squared distances."""
    from sklearn import config_context
    from sklearn.metrics import pairwise_distances_chunked

    def nearest(block: Array, start: int) -> tuple[NDArray[np.int64], Array]:
        rows = np.arange(len(block))
        block[rows, start + rows] = np.inf  # a copy of the sample may come before itself
        kept = np.argpartition(block, count - 1, axis=1)[:, :count]
        kept.sort(axis=1)
        values = np.take_along_axis(block, kept, axis=1).astype(np.float64)
        order = np.argsort(values, axis=1, kind="stable")
        return np.take_along_axis(kept, order, axis=1), np.take_along_axis(values, order, axis=1)

    if metric == "precomputed":
        blocks = row_blocks(X.shape[0], max(1, (BLOCK_MIB << 20) // (8 * X.shape[0])))
        parts = [nearest(np.square(X[rows], dtype=np.float64), rows.start) for rows in blocks]
        return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])
    with config_context(working_memory=BLOCK_MIB):
        parts = list(pairwise_distances_chunked(X, reduce_func=nearest, metric="euclidean", squared=True))
    return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])
