"""k-means of very many rows: its starts are compared on some of them, and only the best is run on all."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from manyviews.prototypes.block_kmeans import row_kmeans
from manyviews.prototypes.kmeans import kmeans

__all__ = ["RowGroups", "sampled_kmeans"]

START_ROWS = 20_000


class RowGroups(NamedTuple):
    """Labels (n,) and the centres (k, d) to which the rows are nearest."""

    labels: NDArray[np.int64]
    centers: NDArray[Any]


def sampled_kmeans(
    X: NDArray[Any], k: int, rng: np.random.Generator, *, n_init: int = 10, max_iter: int = 100
) -> RowGroups:
    """Group rows by squared Euclidean distance.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Rows to group.
    k : int
        Number of clusters.
    rng : Generator
        Draws the rows and the starts.
    n_init : int, default=10
        k-means++ starts, compared on at most 20 000 random rows.
    max_iter : int, default=100
        Most iterations of a start, and of the run on all rows.

    Returns
    -------
    RowGroups
        Labels and centres.
    """
    n = X.shape[0]
    if n <= START_ROWS:
        found = kmeans(X, k, rng, n_init=n_init, max_iter=max_iter)
        return RowGroups(found.labels, found.centers)
    some = kmeans(X[np.sort(rng.choice(n, START_ROWS, replace=False))], k, rng, n_init=n_init, max_iter=max_iter)
    run = row_kmeans(X, some.centers.astype(X.dtype), "euclidean", max_iter=max_iter)
    return RowGroups(run.labels, run.centers)
