"""k-means with the settings of this field, over scikit-learn."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["KMeansResult", "kmeans", "nearest_center_distances"]


class KMeansResult(NamedTuple):
    """Labels (n,), centres (k, d), the sum of squared distances to them, and the iterations of the best start."""

    labels: NDArray[np.int64]
    centers: NDArray[Any]
    inertia: float
    n_iter: int


def kmeans(
    X: NDArray[Any],
    k: int,
    rng: np.random.Generator,
    *,
    n_init: int = 10,
    max_iter: int = 300,
    weights: NDArray[Any] | None = None,
) -> KMeansResult:
    """Group rows by squared Euclidean distance, best of ``n_init`` k-means++ starts.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Rows to group.
    k : int
        Number of clusters.
    rng : Generator
        Source of the starts.
    n_init : int, default=10
        Starts; more of them find a lower inertia.
    max_iter : int, default=300
        Most iterations of a start.
    weights : ndarray of shape (n,), default=None
        What each row counts; 1 by default.

    Returns
    -------
    KMeansResult
        Labels, centres, inertia.
    """
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    seed = int(rng.integers(2**31 - 1))
    with warnings.catch_warnings():
        # fewer distinct rows than clusters: the caller reports empty clusters in its own words
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = KMeans(k, n_init=n_init, max_iter=max_iter, random_state=seed).fit(X, sample_weight=weights)
    labels = model.labels_.astype(np.int64)
    return KMeansResult(labels, model.cluster_centers_, float(model.inertia_), int(model.n_iter_))


def nearest_center_distances(X: NDArray[Any], centers: NDArray[Any]) -> NDArray[np.float64]:
    """Return the Euclidean distances of every row to every centre, shape (n, k)."""
    squares = (X**2).sum(axis=1)[:, None] - 2 * X @ centers.T + (centers**2).sum(axis=1)
    return np.asarray(np.sqrt(np.maximum(squares, 0.0)))
