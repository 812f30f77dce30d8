"""Anchors: a few points that stand for the samples, and the regions that anchors form."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manyviews.prototypes.block_kmeans import Metric, block_kmeans

__all__ = ["AnchorRegions", "anchor_regions", "hybrid_anchors"]

Array = NDArray[Any]
CANDIDATES_PER_ANCHOR = 10
SPARSE_BELOW = 0.2


class AnchorRegions(NamedTuple):
    """Region of each anchor, (p,), and the centres of the regions, (z, d); each region has an anchor."""

    labels: NDArray[np.int64]
    centers: Array


def hybrid_anchors(
    candidates: Any, p: int, rng: np.random.Generator, metric: Metric, *, max_iter: int = 5, weights: Any = None
) -> Any:
    """Select anchors as centres of a random subset: cheaper than k-means of all rows, better than random rows.

    Parameters
    ----------
    candidates : ndarray or CSR of shape (c, d)
        Random rows, ten per anchor where there are enough; of unit length for "cosine".
    p : int
        Number of anchors, at most c.
    rng : Generator
        Source of the start.
    metric : {"euclidean", "cosine"}
        Metric of the k-means.
    max_iter : int, default=5
        Iterations of the k-means.
    weights : ndarray of shape (c,), default=None
        How often each candidate counts, above 0; once by default.

    Returns
    -------
    ndarray or CSR of shape (p', d)
        Anchors; fewer than p where the candidates have fewer distinct rows. CSR where the candidates are and the
        anchors turn out sparse.
    """
    found = block_kmeans(candidates, p, rng, metric=metric, max_iter=max_iter, weights=weights)
    centers = _distinct(found.centers)
    if sparse.issparse(candidates) and np.count_nonzero(centers) < SPARSE_BELOW * centers.size:
        return sparse.csr_array(centers)
    return centers


def anchor_regions(anchors: Any, rng: np.random.Generator, metric: Metric, *, max_iter: int = 5) -> AnchorRegions:
    """Group p anchors into at most √p regions by k-means of ``max_iter`` iterations."""
    result = block_kmeans(anchors, max(1, int(np.sqrt(anchors.shape[0]))), rng, metric=metric, max_iter=max_iter)
    return AnchorRegions(result.labels, result.centers)


def _distinct(points: Array) -> Array:
    """Drop repeated rows, keeping the first ones in order."""
    # equal rows have equal projections, which are quickly compared
    key = points @ np.linspace(1.0, 2.0, points.shape[1], dtype=points.dtype)
    if np.unique(key).size == key.size:
        return points
    # adding 0 makes the two zeros one
    first = {row.tobytes(): i for i, row in reversed(list(enumerate(points + 0.0)))}
    return np.asarray(points[np.sort(list(first.values()))])
