"""A start of k-means over several views from the neighbourhood graph of some samples."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyviews.graphs.neighbors import neighbor_graph
from manyviews.graphs.normalized_cut import normalized_cut
from manyviews.linalg.balance import concatenate
from manyviews.partitions.discretize import kmeans_rows
from manyviews.prototypes.weighted import Stack, centroids

__all__ = ["MOST_ROWS", "NEIGHBORS", "spectral_start"]

Array = NDArray[Any]
# the graph is built on so many samples at most, which keeps the cost of a start linear in n
MOST_ROWS = 2_000
# sizes of neighbourhoods, taken in turn: none suits all data, and the objective tells which was best
NEIGHBORS = (10, 5, 15)


def spectral_start(stack: Stack, k: int, rng: np.random.Generator, *, n_neighbors: int) -> list[Array]:
    """Return the centres of a spectral clustering of the samples, or of 2000 of them.

    Parameters
    ----------
    stack : Stack
        The views.
    k : int
        Number of clusters.
    rng : Generator
        Draws the samples and the starts of the k-means that ends the spectral clustering.
    n_neighbors : int
        Neighbours of a sample in the graph on the views side by side.

    Returns
    -------
    list of ndarray of shape (k, d_v)
        Centres in each view.
    """
    n, size = len(stack), max(MOST_ROWS, 2 * k)
    part = stack.take(np.sort(rng.choice(n, size, replace=False))) if n > size else stack
    _, vectors = normalized_cut(neighbor_graph(concatenate(part.arrays), n_neighbors), k)
    labels = kmeans_rows(vectors, k, rng).labels
    return centroids(part, labels, None, [np.zeros((k, X.shape[1]), X.dtype) for X in part.arrays])
