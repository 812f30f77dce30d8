"""Agreement of groupings of the same samples, without making large tables dense."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyviews.metrics import adjusted_rand_index, clustering_accuracy
from manyviews.metrics.contingency import contingency_table

__all__ = ["ari", "jaccards", "moved_share"]

Array = NDArray[Any]


def ari(first: Array, second: Array) -> float:
    """Return the adjusted Rand index of two groupings: 1 for the same, about 0 for chance."""
    return float(adjusted_rand_index(first, second))


def moved_share(before: Array, after: Array) -> float:
    """Return the share of samples that change cluster when clusters are matched one to one as well as can be."""
    return 1.0 - float(clustering_accuracy(before, after))


def jaccards(positions: Array, n_clusters: int, other: Array) -> Array:
    """Return for each cluster its Jaccard overlap with the most alike group of another grouping.

    Parameters
    ----------
    positions : ndarray of shape (m,)
        Clusters, 0 .. n_clusters - 1.
    n_clusters : int
        Number of clusters.
    other : ndarray of shape (m,)
        The other grouping of the same samples.

    Returns
    -------
    ndarray of shape (n_clusters,)
        Overlaps of 0 to 1; NaN where no sample of the cluster is among the m.
    """
    best = np.full(n_clusters, np.nan)
    table = contingency_table(positions, other)
    present = np.unique(positions)
    union = table.row_sums[table.rows] + table.col_sums[table.cols] - table.counts
    found = np.zeros(present.size)
    np.maximum.at(found, table.rows, table.counts / union)
    best[present] = found
    return best
