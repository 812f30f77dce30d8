r"""The iterations of SEC: weighted k-means on one-hot rows, or the eigenvectors it stands for."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manyviews.linalg.eigen import leading_subspace, top_eigenpairs
from manyviews.linalg.scaling import row_blocks, unit_rows
from manyviews.optim.history import History
from manyviews.partition.coassociation import Coassociation, indicator_matrix

__all__ = ["EnsembleRun", "association_weights", "spectral_embedding", "weighted_kmeans"]

Array = NDArray[Any]
Labels = NDArray[np.int64]
DENSE_LIMIT = 300
SPARE_VECTORS = 8


class EnsembleRun(NamedTuple):
    """Labels (n,), centroids (k, D) and history of the objective."""

    labels: Labels
    centers: Array
    history: History


def association_weights(B: Any) -> Array:
    """Return w = B Bᵀ 1 (n,): r times the row sums of the co-association matrix."""
    return np.asarray(B @ np.asarray(B.sum(axis=0)).ravel())


def weighted_kmeans(B: Any, centers: Array, *, max_iter: int = 100) -> EnsembleRun:
    r"""Minimise :math:`\sum_l w_l \|b_l / w_l - m_{k(l)}\|^2` from given centroids until the labels repeat.

    Parameters
    ----------
    B : csr_array of shape (n, D)
        One-hot rows of all partitions.
    centers : ndarray of shape (k, D)
        Start.
    max_iter : int, default=100
        Most iterations.

    Returns
    -------
    EnsembleRun
        Labels nearest to the centroids, centroids, objective after each iteration.
    """
    w = association_weights(B)
    constant = float((np.diff(B.indptr) / w).sum())
    labels, gaps = _nearest(B, w, centers)
    objective: list[float] = []
    for _ in range(max_iter):
        centers = _centers(B, w, _refilled(labels, gaps, w, len(centers), B), len(centers))
        last = labels
        labels, gaps = _nearest(B, w, centers)
        objective.append(constant + float(w @ gaps))
        if np.array_equal(labels, last):
            return EnsembleRun(labels, centers, History(np.array(objective), len(objective), True))
    return EnsembleRun(labels, centers, History(np.array(objective), max_iter, False))


def _nearest(B: Any, w: Array, centers: Array) -> tuple[Labels, Array]:
    """Return the nearest centroid of each row, and its squared distance less the squared length of the row."""
    squares = np.einsum("ij,ij->i", centers, centers)
    columns = np.ascontiguousarray(centers.T)
    labels, gaps = np.empty(B.shape[0], dtype=np.int64), np.empty(B.shape[0])
    for rows in row_blocks(B.shape[0]):
        part = squares - (2 / w[rows])[:, None] * (B[rows] @ columns)
        labels[rows], gaps[rows] = part.argmin(axis=1), part.min(axis=1)
    return labels, gaps


def _refilled(labels: Labels, gaps: Array, w: Array, k: int, B: Any) -> Labels:
    """Give each empty cluster the row with the largest weighted distance, one row per cluster."""
    empty = np.flatnonzero(np.bincount(labels, minlength=k) == 0)
    if empty.size == 0:
        return labels
    labels = labels.copy()
    distances = np.diff(B.indptr) / w + w * gaps
    labels[np.argsort(-distances, kind="stable")[: empty.size]] = empty
    return labels


def _cluster_rows(B: Any, labels: Labels, k: int) -> Array:
    n = B.shape[0]
    members = sparse.csc_array((np.ones(n), labels, np.arange(n + 1)), shape=(k, n))
    return np.asarray((members @ B).toarray())


def _centers(B: Any, w: Array, labels: Labels, k: int) -> Array:
    weights = np.bincount(labels, weights=w, minlength=k)
    return _cluster_rows(B, labels, k) / np.where(weights > 0, weights, 1)[:, None]


def spectral_embedding(labels: Labels, k: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return the k leading eigenvectors of the normalised co-association matrix, and what gives new samples theirs.

    Parameters
    ----------
    labels : ndarray of shape (n, M) of int
        Base labels, -1 for none.
    k : int
        Number of eigenvectors.
    rng : Generator
        Start of the iterations.

    Returns
    -------
    rows : ndarray of shape (n, k)
        Rows of the embedding, of unit length.
    projection : ndarray of shape (D, k)
        One-hot base labels times it, brought to unit length, are rows of the embedding.
    """
    n = len(labels)
    B = indicator_matrix(labels)
    factor = 1 / np.sqrt(association_weights(B) / labels.shape[1])
    if n <= DENSE_LIMIT:
        dense = (B @ B.T).toarray() / labels.shape[1]
        values, vectors = top_eigenpairs(factor[:, None] * dense * factor, k)
    else:
        S = Coassociation(labels)
        start = rng.standard_normal((n, min(n, k + SPARE_VECTORS)))
        values, vectors = leading_subspace(lambda X: factor[:, None] * (S @ (factor[:, None] * X)), start, k, tol=1e-6)
    usable = values[:k] > 1e-10
    scale = np.where(usable, 1 / np.where(usable, values[:k], 1), 0)
    projection = np.asarray(B.T @ (factor[:, None] * vectors[:, :k])) * scale
    return unit_rows(np.asarray(B @ projection)), projection
