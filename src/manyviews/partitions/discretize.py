"""From a soft partition to labels."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from manyviews.linalg.blocks import row_blocks, unit_rows
from manyviews.prototypes.block_kmeans import BlockKMeans, Metric, assign_rows, block_kmeans, coincident, count_distinct
from manyviews.prototypes.kmeans import KMeansResult, kmeans, nearest_center_distances

__all__ = [
    "EmbeddingRule",
    "center_confidence",
    "direction_confidence",
    "discretize_embedding",
    "embedding_confidence",
    "embedding_labels",
    "kmeans_rows",
]

Discretization = Literal["cosine", "kmeans", "paper"]


class EmbeddingRule(NamedTuple):
    """How an embedding is cut into clusters.

    "cosine": unit rows, cosine k-means from random rows, as FastMICE is released. "kmeans": unit rows, squared
    Euclidean k-means from k-means++, as U-SPEC and U-SENC are released. "paper": the text of the papers, rows of any
    length, squared Euclidean k-means from random rows.
    """

    kind: Discretization
    max_iter: int
    n_init: int

    @property
    def embedding(self) -> Literal["unit", "paper"]:
        """Which embedding is cut."""
        return "paper" if self.kind == "paper" else "unit"

    @property
    def metric(self) -> Metric:
        """Metric in which the nearest centre is sought."""
        return "cosine" if self.kind == "cosine" else "euclidean"


def discretize_embedding(
    E: NDArray[Any], k: int, rng: np.random.Generator, rule: EmbeddingRule, counts: NDArray[Any] | None = None
) -> BlockKMeans:
    """Cut an embedding (n, q) into k clusters, or fewer where it has fewer distinct rows.

    Equal rows share a cluster, and the rows nearest to ``rule`` have its labels: a row that k-means gave to an empty
    cluster in its last step goes back, and centres that coincide are one. ``counts`` (n,) say how often rows count.
    """
    k = count_distinct(E, k)
    if rule.kind == "kmeans":
        plain = kmeans(E, k, rng, n_init=rule.n_init, max_iter=rule.max_iter, weights=counts)
        found = BlockKMeans(plain.labels, plain.centers, plain.centers, plain.inertia)
    else:
        max_iter, n_init = rule.max_iter, rule.n_init
        found = block_kmeans(
            E, k, rng, metric=rule.metric, max_iter=max_iter, n_init=n_init, distinct=True, weights=counts
        )
    if found.filled:
        labels, _ = assign_rows(E, found.centers, rule.metric)
        found = found._replace(labels=labels, rule=found.centers)
    first = coincident(found.rule)
    used, labels = np.unique(first[found.labels], return_inverse=True)
    if used.size == k:
        return found
    return found._replace(labels=labels.ravel(), centers=found.centers[used], rule=found.rule[used])


def embedding_labels(E: NDArray[Any], centers: NDArray[Any], rule: EmbeddingRule) -> NDArray[np.int64]:
    """Return the nearest centre of new rows of an embedding."""
    return assign_rows(E, centers, rule.metric)[0]


def kmeans_rows(
    H: NDArray[Any], k: int, rng: np.random.Generator, *, n_init: int = 10, weights: NDArray[Any] | None = None
) -> KMeansResult:
    """Group the rows of a partition (n, q), brought to unit length, by k-means; see there for ``weights``."""
    return kmeans(unit_rows(H), k, rng, n_init=n_init, weights=weights)


def center_confidence(distances: NDArray[Any]) -> NDArray[np.float64]:
    """Return 1 - nearest / second nearest distance (n, k): 0 halfway between two centres, 1 on a centre."""
    if distances.shape[1] == 1:
        return np.ones(distances.shape[0])
    nearest, second = np.partition(distances, 1, axis=1)[:, :2].T
    return np.asarray(1.0 - np.divide(nearest, second, out=np.ones_like(nearest), where=second > 0))


def embedding_confidence(E: NDArray[Any], centers: NDArray[Any]) -> NDArray[np.float64]:
    """Return ``center_confidence`` of the rows of an embedding (n, q), by blocks."""
    blocks = (nearest_center_distances(E[rows], centers) for rows in row_blocks(E.shape[0]))
    return np.concatenate([center_confidence(distances) for distances in blocks])


def direction_confidence(R: NDArray[Any], C: NDArray[Any]) -> NDArray[np.float64]:
    """Return the gap between the two largest squared cosines of each row of R (n, k) to orthonormal centroids C."""
    if C.shape[0] == 1:
        return np.ones(R.shape[0])
    cosines = np.square(np.maximum(unit_rows(R) @ C.T, 0.0))
    second, first = np.partition(cosines, -2, axis=1)[:, -2:].T
    return np.asarray(np.clip(first - second, 0.0, 1.0))
