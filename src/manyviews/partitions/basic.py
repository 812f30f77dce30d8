"""Basic partitions by random parameter selection: many k-means runs, each with its own random number of clusters."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manyviews.linalg.scaling import row_blocks, unit_rows

__all__ = [
    "METRICS",
    "BasicPartition",
    "assign_rows",
    "cluster_numbers",
    "distinct_rows",
    "lloyd",
    "random_partition",
]

Array = NDArray[Any]
Labels = NDArray[np.int64]
Metric = Literal["cosine", "euclidean"]
METRICS = ("cosine", "euclidean")


class BasicPartition(NamedTuple):
    """Labels (n,) and centres (K_i, d), dense or CSR like the rows."""

    labels: Labels
    centers: Any


def cluster_numbers(n_base_clusterings: int, low: int, high: int, rng: np.random.Generator) -> Labels:
    """Draw the number of clusters of each partition uniformly from low .. high; ``low`` for all where high <= low."""
    return rng.integers(low, max(low, high), size=n_base_clusterings, endpoint=True, dtype=np.int64)


def distinct_rows(X: Any) -> Labels:
    """Return the index of the first of each set of equal rows of X (n, d), dense or CSR."""
    if sparse.issparse(X):
        X = X.tocsr(copy=True)
        X.sum_duplicates()
        X.eliminate_zeros()
        parts = zip(X.indptr[:-1], X.indptr[1:], strict=True)
        first: dict[bytes, int] = {}
        for i, (a, b) in enumerate(parts):
            first.setdefault(X.indices[a:b].tobytes() + X.data[a:b].tobytes(), i)
        return np.fromiter(first.values(), dtype=np.int64)
    rows = np.ascontiguousarray(X + 0.0)  # -0.0 and 0.0 are equal
    keys = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()
    return np.sort(np.unique(keys, return_index=True)[1])


def random_partition(
    X: Any, k: int, rng: np.random.Generator, *, candidates: Labels, metric: Metric, max_iter: int = 100
) -> BasicPartition:
    """Run k-means once, from k random rows.

    Parameters
    ----------
    X : ndarray or CSR of shape (n, d)
        Rows; of unit length for the cosine.
    k : int
        Number of clusters, at most the number of candidates.
    rng : Generator
        Draws the start.
    candidates : ndarray of int
        Rows to start from, no two equal.
    metric : {"cosine", "euclidean"}
        Similarity.
    max_iter : int, default=100
        Most iterations.

    Returns
    -------
    BasicPartition
        Labels and centres.
    """
    return lloyd(X, _dense(X[rng.choice(candidates, k, replace=False)]), metric=metric, max_iter=max_iter)


def lloyd(X: Any, centers: Array, *, metric: Metric, max_iter: int = 100) -> BasicPartition:
    """Run k-means from given centres until the labels repeat.

    A cluster that loses all its members gets the sample that fits its own centre worst, one sample per such cluster.
    The labels returned are those nearest to the centres returned.

    Parameters
    ----------
    X : ndarray or CSR of shape (n, d)
        Rows; of unit length for the cosine.
    centers : ndarray of shape (k, d)
        Start.
    metric : {"cosine", "euclidean"}
        Similarity.
    max_iter : int, default=100
        Most iterations.

    Returns
    -------
    BasicPartition
        Labels and centres.
    """
    labels, fit = assign_rows(X, centers, metric=metric)
    for _ in range(max_iter):
        centers = _means(X, _refilled(labels, fit, len(centers)), len(centers), metric)
        last = labels
        labels, fit = assign_rows(X, centers, metric=metric)
        if np.array_equal(labels, last):
            break
    return BasicPartition(labels, sparse.csr_array(centers) if sparse.issparse(X) else centers)


def assign_rows(X: Any, centers: Any, *, metric: Metric) -> tuple[Labels, Array]:
    """Return the nearest of the centres (k, d) for each row of X, and how well it fits (larger is better).

    For "euclidean" the fit is minus half the squared distance, up to half the squared length of the row.
    """
    offset = 0.5 * np.asarray((centers * centers).sum(axis=1)).ravel() if metric == "euclidean" else None
    labels, fit = np.empty(X.shape[0], np.int64), np.empty(X.shape[0], X.dtype)
    for rows in row_blocks(X.shape[0]):
        block = X if rows.stop - rows.start == X.shape[0] else X[rows]
        similarity = _dense(block @ centers.T)
        if offset is not None:
            similarity -= offset.astype(similarity.dtype)
        labels[rows] = similarity.argmax(axis=1)
        fit[rows] = similarity[np.arange(similarity.shape[0]), labels[rows]]
    if offset is not None:
        fit -= (0.5 * _squared_lengths(X)).astype(fit.dtype)
    return labels, fit


def _refilled(labels: Labels, fit: Array, k: int) -> Labels:
    empty = np.flatnonzero(np.bincount(labels, minlength=k) == 0)
    if empty.size == 0:
        return labels
    labels = labels.copy()
    labels[np.argsort(fit, kind="stable")[: empty.size]] = empty
    return labels


def _means(X: Any, labels: Labels, k: int, metric: Metric) -> Array:
    n = X.shape[0]
    members = sparse.csc_array((np.ones(n, X.dtype), labels, np.arange(n + 1)), shape=(k, n))
    sums = _dense(members @ X)
    if metric == "cosine":
        return np.asarray(unit_rows(sums))
    sizes = np.maximum(np.bincount(labels, minlength=k), 1).astype(sums.dtype)
    return np.asarray(sums / sizes[:, None])


def _squared_lengths(X: Any) -> Array:
    if sparse.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return np.asarray(np.einsum("ij,ij->i", X, X))


def _dense(X: Any) -> Array:
    return np.asarray(X.toarray() if sparse.issparse(X) else X)
