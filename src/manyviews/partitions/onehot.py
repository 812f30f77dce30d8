"""Labels and the sums they imply, without ever building a dense membership matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

__all__ = ["cluster_order", "cluster_sums"]

Array = NDArray[Any]


def cluster_sums(labels: NDArray[np.int64], X: Array, k: int) -> Array:
    r"""Return :math:`Y^\top X`: the sum of the rows of X in every cluster, for several labellings at once.

    Parameters
    ----------
    labels : ndarray of shape (R, n) of int
        R labellings with values 0 .. k-1.
    X : ndarray of shape (n, q)
        Rows to add up.
    k : int
        Number of clusters.

    Returns
    -------
    ndarray of shape (R, k, q)
        Sums; zeros for an empty cluster.
    """
    count, n = labels.shape
    rows = (labels + k * np.arange(count)[:, None]).T.ravel()
    # one column per sample with an entry per labelling: each row of X is read once
    Y = sparse.csc_array((np.ones(rows.size, X.dtype), rows, np.arange(0, rows.size + 1, count)), shape=(count * k, n))
    return np.asarray(Y @ X).reshape(count, k, X.shape[1])


def cluster_order(labels: NDArray[np.int64], k: int) -> NDArray[np.int64]:
    """Return the new number of each cluster: largest first, ties by first appearance, empty ones last.

    Parameters
    ----------
    labels : ndarray of shape (n,)
        Values 0 .. k-1.
    k : int
        Number of clusters.

    Returns
    -------
    ndarray of shape (k,)
        ``cluster_order(labels, k)[labels]`` are the renumbered labels.
    """
    sizes = np.bincount(labels, minlength=k)
    first = np.full(k, labels.size)
    found, index = np.unique(labels, return_index=True)
    first[found] = index
    return size_order(sizes, first)


def size_order(sizes: NDArray[np.int64], first: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the new number of each cluster, (k,), from their sizes and first samples; see ``cluster_order``."""
    order = np.empty(sizes.size, dtype=np.int64)
    order[np.lexsort((first, -sizes))] = np.arange(sizes.size)
    return order
