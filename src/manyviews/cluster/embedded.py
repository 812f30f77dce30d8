"""What methods share that end with k-means on the rows of an embedding."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from manyviews.cluster.base import MultiViewClusterer
from manyviews.cluster.constraints import POSITIVE_INT
from manyviews.cluster.result import FitResult
from manyviews.optim.history import History
from manyviews.partitions.discretize import center_confidence
from manyviews.prototypes.kmeans import kmeans, nearest_center_distances

__all__ = ["EmbeddingClusterer"]

Array = NDArray[Any]


class EmbeddingClusterer(MultiViewClusterer):
    """Base of the methods whose labels come from k-means on the rows of an embedding."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = MultiViewClusterer._parameter_constraints | {
        "n_init": [POSITIVE_INT],
    }

    n_init: int
    inertia_: float

    def _group(
        self,
        rows: Array,
        history: History,
        rng: np.random.Generator,
        *,
        embedding: Array | None = None,
        weights: Array | None = None,
    ) -> NDArray[np.int64]:
        """Group rows by k-means and record what was found.

        ``embedding`` (n, q) is stored instead of the rows where these were made from it, such as unit rows. Rows beyond
        its n, such as those of anchors, take part in the k-means and have no labels.
        """
        embedding = rows if embedding is None else embedding
        n = len(embedding)
        result = kmeans(rows, self.n_clusters, rng, n_init=self.n_init)
        self._centers, self.inertia_ = result.centers, result.inertia
        confidence = center_confidence(nearest_center_distances(rows[:n], result.centers))
        return self._record(FitResult(result.labels[:n], history, weights, embedding, confidence))
