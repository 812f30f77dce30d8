"""Graphs between samples for spectral clustering: nearest neighbours, or Gaussians of median width."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import starmap
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manyviews.linalg.blocks import row_blocks

__all__ = ["gaussian_affinity", "median_distance", "neighbor_bytes", "neighbor_graph"]

Array = NDArray[Any]
Run = Callable[[Callable[..., Any], list[tuple[Any, ...]]], Iterable[Any]]
# distances between sparse rows are computed in blocks of this size; scikit-learn's 1024 MiB are no faster
BLOCK_MIB = 64
# of wide rows so many columns are multiplied at a time
COLUMNS_PER_BLOCK = 2_048
# scikit-learn copies two blocks of so many rows in single precision at a time, to double precision
ROWS_COPIED = 256


def neighbor_graph(X: Any, n_neighbors: int, run: Run = starmap, *, metric: str = "euclidean") -> Any:
    """Return the symmetric graph of nearest neighbours, a sample being a neighbour of itself.

    Parameters
    ----------
    X : ndarray or CSR of shape (n, d)
        Samples.
    n_neighbors : int
        Neighbours of each sample, itself included; at most half of the samples are taken, as a graph that joins all
        tells nothing.
    run : callable, default=itertools.starmap
        Calls a function with each of a list of tuples of arguments, in order or side by side, and gives the results in
        order; the function seeks the neighbours of a block of samples.
    metric : {"euclidean", "precomputed"}, default="euclidean"
        "precomputed": X is (n, n) and holds the distances.

    Returns
    -------
    CSR of shape (n, n)
        1 where both are neighbours of each other, ½ where one is of the other.
    """
    from sklearn import config_context
    from sklearn.neighbors import NearestNeighbors

    if metric == "euclidean" and _is_wide(X):
        X, metric = squared_distances(X), "precomputed"  # which are in the same order
    index = NearestNeighbors(n_neighbors=min(n_neighbors, (X.shape[0] + 1) // 2), metric=metric).fit(X)

    def of_block(rows: slice) -> Any:
        with config_context(working_memory=BLOCK_MIB):
            return index.kneighbors_graph(X[rows])

    graph = sparse.vstack(list(run(of_block, [(rows,) for rows in row_blocks(X.shape[0])])), format="csr")
    return sparse.csr_array(0.5 * (graph + graph.T))


def _is_wide(X: Any) -> bool:
    """Tell rows so long, and so few, that all their distances take less memory than scikit-learn's copies of some."""
    if sparse.issparse(X) or X.dtype != np.float32 or X.shape[1] <= COLUMNS_PER_BLOCK:
        return False
    return bool(_distance_bytes(X.shape[0]) <= 8 * 2 * ROWS_COPIED * X.shape[1])


def _distance_bytes(n: int) -> int:
    """Return the bytes that ``squared_distances`` of wide rows holds: the sum, a product, and a block of columns."""
    return 8 * n * (2 * n + COLUMNS_PER_BLOCK)


def squared_distances(X: Any) -> NDArray[np.float64]:
    """Return the squared Euclidean distances between dense rows, (n, n), in double precision by blocks of columns."""
    n = X.shape[0]
    products = np.zeros((n, n))
    for columns in row_blocks(X.shape[1], COLUMNS_PER_BLOCK):
        block = X[:, columns].astype(np.float64)
        products += block @ block.T
    lengths = products.diagonal().copy()
    products *= -2.0
    products += lengths
    products += lengths[:, None]
    np.fill_diagonal(products, 0.0)
    return np.maximum(products, 0.0, out=products)


def neighbor_bytes(X: Any) -> int:
    """Return the bytes of the distances that ``neighbor_graph`` holds at a time, as CSR and dense for sparse rows."""
    if sparse.issparse(X):
        return int(min(BLOCK_MIB * 2**20, 8 * X.shape[0] ** 2) * 2.5)
    return _distance_bytes(X.shape[0]) if _is_wide(X) else 0


def gaussian_affinity(X: Any, width: float | None = None, *, metric: str = "euclidean") -> NDArray[np.float64]:
    r"""Return :math:`\exp(-\|x - y\|^2 / 2\sigma^2)` between all samples, (n, n).

    Parameters
    ----------
    X : ndarray or CSR of shape (n, d)
        Samples.
    width : float, default=None
        σ; by default the median distance.
    metric : {"euclidean", "precomputed"}, default="euclidean"
        "precomputed": X is (n, n) and holds the distances.

    Returns
    -------
    ndarray of shape (n, n)
        Affinity with ones on the diagonal.
    """
    from sklearn.metrics import pairwise_distances

    if metric == "precomputed":
        distances = np.array(X, dtype=np.float64)
    else:
        distances = np.asarray(pairwise_distances(X), dtype=np.float64)
    width = median_distance(distances) if width is None else width
    distances /= width
    np.square(distances, out=distances)
    distances *= -0.5
    return np.asarray(np.exp(distances, out=distances))


def median_distance(distances: Array) -> float:
    """Return the median of all n² distances, zeros of the diagonal included; if that is 0, the mean of the others."""
    width = float(np.median(distances))
    if width > 0:
        return width
    positive = distances[distances > 0]
    return float(positive.mean()) if positive.size else 1.0
