"""From a soft partition to labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyviews.linalg.scaling import unit_rows
from manyviews.prototypes.kmeans import KMeansResult, kmeans

__all__ = ["center_confidence", "direction_confidence", "kmeans_rows"]


def kmeans_rows(H: NDArray[Any], k: int, rng: np.random.Generator, *, n_init: int = 10) -> KMeansResult:
    """Group the rows of a partition (n, q), brought to unit length, by k-means."""
    return kmeans(unit_rows(H), k, rng, n_init=n_init)


def center_confidence(distances: NDArray[Any]) -> NDArray[np.float64]:
    """Return 1 - nearest / second nearest distance (n, k): 0 halfway between two centres, 1 on a centre."""
    if distances.shape[1] == 1:
        return np.ones(distances.shape[0])
    nearest, second = np.partition(distances, 1, axis=1)[:, :2].T
    return np.asarray(1.0 - np.divide(nearest, second, out=np.ones_like(nearest), where=second > 0))


def direction_confidence(R: NDArray[Any], C: NDArray[Any]) -> NDArray[np.float64]:
    """Return the gap between the two largest squared cosines of each row of R (n, k) to orthonormal centroids C."""
    if C.shape[0] == 1:
        return np.ones(R.shape[0])
    cosines = np.square(np.maximum(unit_rows(R) @ C.T, 0.0))
    second, first = np.partition(cosines, -2, axis=1)[:, -2:].T
    return np.asarray(np.clip(first - second, 0.0, 1.0))
