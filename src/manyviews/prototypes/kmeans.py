"""k-means with the settings of this field, over scikit-learn."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from manyviews.linalg.blocks import sums_by_label
from manyviews.linalg.coordinates import has_few_rows, row_coordinates
from manyviews.prototypes.block_kmeans import means_of

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

    Few rows of many columns are brought to as many coordinates as there are rows first, which keeps their distances;
    the labels are the same but for rounding, and no copy of the rows is made.

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

    seed, wide = int(rng.integers(2**31 - 1)), type(X) is np.ndarray and has_few_rows(X)
    # a tolerance is a share of the variance per column, of which there are fewer then: iterate until labels rest
    model = KMeans(k, n_init=n_init, max_iter=max_iter, random_state=seed, tol=0.0 if wide else 1e-4)
    rows = row_coordinates(X) if wide else X
    with warnings.catch_warnings():
        # fewer distinct rows than clusters: the caller reports empty clusters in its own words
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(rows, sample_weight=weights)
    labels = model.labels_.astype(np.int64)
    centers = _means(X, labels, rows, model.cluster_centers_, weights) if wide else model.cluster_centers_
    return KMeansResult(labels, centers, float(model.inertia_), int(model.n_iter_))


def _means(
    X: NDArray[Any],
    labels: NDArray[np.int64],
    rows: NDArray[Any],
    found: NDArray[Any],
    weights: NDArray[Any] | None,
) -> NDArray[Any]:
    """Return the means of the clusters (k, d); for one without rows, the row that its centre in coordinates is at."""
    k, counts = len(found), np.ones(labels.size) if weights is None else np.asarray(weights, dtype=np.float64)
    sizes = np.bincount(labels, counts, minlength=k)
    totals = sums_by_label(X, labels, k, counts.astype(X.dtype))
    for cluster in np.flatnonzero(sizes == 0):
        totals[cluster] = X[np.square(rows - found[cluster]).sum(axis=1).argmin()]
    return means_of(totals, sizes, totals, "euclidean")


def nearest_center_distances(X: NDArray[Any], centers: NDArray[Any]) -> NDArray[np.float64]:
    """Return the Euclidean distances of every row to every centre, shape (n, k)."""
    squares = (X**2).sum(axis=1)[:, None] - 2 * X @ centers.T + (centers**2).sum(axis=1)
    return np.asarray(np.sqrt(np.maximum(squares, 0.0)))
