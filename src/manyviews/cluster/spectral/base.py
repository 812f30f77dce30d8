"""What the spectral baselines share: a graph per array, its leading eigenvectors, k-means on their unit rows."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from manyviews.cluster.balanced import BalancedClusterer
from manyviews.cluster.constraints import POSITIVE, POSITIVE_INT, one_of
from manyviews.cluster.memory import kmeans_bytes
from manyviews.cluster.result import FitResult
from manyviews.graphs.neighbors import gaussian_affinity, neighbor_graph
from manyviews.graphs.normalized_cut import normalized_cut
from manyviews.linalg.blocks import unit_rows
from manyviews.partitions.discretize import center_confidence, kmeans_rows
from manyviews.prototypes.kmeans import nearest_center_distances

__all__ = ["SpectralClusterer"]


class SpectralClusterer(BalancedClusterer):
    """Base of the methods that cut one graph over all views."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = BalancedClusterer._parameter_constraints | {
        "affinity": [one_of("nearest_neighbors", "gaussian")],
        "n_neighbors": [POSITIVE_INT],
        "width": [POSITIVE, None],
        "n_init": [POSITIVE_INT],
    }

    affinity: str
    n_neighbors: int
    width: float | None
    n_init: int

    def _graph_bytes(self, n: int, graphs: int) -> int:
        """Return the bytes for the sum of some graphs, its normalised form and the eigenvectors."""
        k = self.n_clusters
        vectors = 8 * n * max(4 * k + 1, 40) + kmeans_bytes(n, k) + 8 * n * k
        if self.affinity == "gaussian":
            return 8 * (3 + (graphs > 1)) * n * n + vectors
        entries = min(2 * self.n_neighbors * graphs, n) * n
        dense = 8 * 2 * n * n if k > n // 4 else 0  # for so many eigenvectors the graph is filled
        return 4 * 12 * entries + dense + vectors

    def _graph(self, X: Any) -> Any:
        if self.affinity == "gaussian":
            return gaussian_affinity(X, self.width)
        return neighbor_graph(X, self.n_neighbors)

    def _cut(self, graph: Any, rng: np.random.Generator) -> NDArray[np.int64]:
        values, vectors = normalized_cut(graph, self.n_clusters)
        result = kmeans_rows(vectors, self.n_clusters, rng, n_init=self.n_init)
        self.eigenvalues_, self.inertia_ = values, result.inertia
        confidence = center_confidence(nearest_center_distances(unit_rows(vectors), result.centers))
        return self._record(
            FitResult.of_one_step(result.labels, values.sum(), embedding=vectors, confidence=confidence)
        )
