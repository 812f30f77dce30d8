"""k-means of very many rows: its starts are compared on some of them, and only the best is run on all."""

from __future__ import annotations

from typing import Any

import numpy as np

from manyviews.linalg.blocks import squared_lengths
from manyviews.prototypes.block_kmeans import row_kmeans
from manyviews.prototypes.kmeans import KMeansResult, kmeans

__all__ = ["START_ROWS", "sampled_kmeans"]

START_ROWS = 20_000


def sampled_kmeans(
    X: Any, k: int, rng: np.random.Generator, *, n_init: int = 10, max_iter: int = 100, weights: Any = None
) -> KMeansResult:
    """Group rows by squared Euclidean distance.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Rows to group: dense, CSR or read by blocks.
    k : int
        Number of clusters.
    rng : Generator
        Draws the rows and the starts.
    n_init : int, default=10
        k-means++ starts, compared on at most 20 000 random rows.
    max_iter : int, default=100
        Most iterations of a start, and of the run on all rows.
    weights : ndarray of shape (n,), default=None
        How often each row counts, above 0; once by default.

    Returns
    -------
    KMeansResult
        Labels, centres, inertia, iterations.
    """
    n = X.shape[0]
    if n <= START_ROWS:
        return kmeans(X[:], k, rng, n_init=n_init, max_iter=max_iter, weights=weights)
    drawn = np.sort(rng.choice(n, START_ROWS, replace=False))
    own = None if weights is None else weights[drawn]
    some = kmeans(X[drawn], k, rng, n_init=n_init, max_iter=max_iter, weights=own)
    run = row_kmeans(X, some.centers.astype(X.dtype), "euclidean", max_iter=max_iter, weights=weights)
    lengths = squared_lengths(X, np.float64)
    inertia = float(run.objective[-1]) + float(lengths.sum() if weights is None else lengths @ weights)
    return KMeansResult(run.labels, run.centers, inertia, run.n_iter)
