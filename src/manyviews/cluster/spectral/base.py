"""What the spectral baselines share: a graph per array, its leading eigenvectors, k-means on their unit rows."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from manyviews.cluster.balanced import BalancedClusterer
from manyviews.cluster.constraints import POSITIVE, POSITIVE_INT, one_of
from manyviews.cluster.embedded import EmbeddingClusterer
from manyviews.cluster.memory import copy_bytes, kmeans_bytes
from manyviews.cluster.parallel import in_threads, jobs_at_a_time
from manyviews.graphs.adaptive_neighbors import adaptive_graph
from manyviews.graphs.neighbors import gaussian_affinity, neighbor_bytes, neighbor_graph
from manyviews.graphs.normalized_cut import normalized_cut
from manyviews.linalg.blocks import unit_rows
from manyviews.linalg.scaling import apply_scaling, fit_scaling
from manyviews.optim.history import History
from manyviews.views import Views

__all__ = ["ADAPTIVE_CONSTRAINTS", "GraphsClusterer", "SpectralClusterer", "metric_of"]

Graph = TypeVar("Graph")
# distances to all samples are there in blocks of 64 MiB, and once more while the nearest are sought
DISTANCE_BYTES = 2 * 64 * 2**20


GRAPH_CONSTRAINTS: dict[str, list[Any]] = {
    "affinity": [one_of("nearest_neighbors", "gaussian", "distance")],
    "n_neighbors": [POSITIVE_INT],
    "width": [POSITIVE, None],
}


ADAPTIVE_CONSTRAINTS: dict[str, list[Any]] = {
    "affinity": [one_of("adaptive", "distance")],
    "n_neighbors": [POSITIVE_INT],
}


def affinity_graph(affinity: str, n_neighbors: int, width: float | None) -> Callable[[Any], Any]:
    """Return what makes the graph of a scaled view: nearest neighbours as CSR, or a Gaussian as an array.

    "distance": nearest neighbours by the distances that the view holds.
    """
    if affinity == "gaussian":
        return lambda X: gaussian_affinity(X, width)
    metric = metric_of(affinity)
    return lambda X: neighbor_graph(X, n_neighbors, metric=metric)


def metric_of(affinity: str) -> str:
    """Return the metric by which neighbours are sought."""
    return "precomputed" if affinity == "distance" else "euclidean"


class SpectralClusterer(BalancedClusterer, EmbeddingClusterer):
    """Base of the methods that cut one graph over all views."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = (
        BalancedClusterer._parameter_constraints | EmbeddingClusterer._parameter_constraints | GRAPH_CONSTRAINTS
    )

    affinity: str
    n_neighbors: int
    width: float | None

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
        return affinity_graph(self.affinity, self.n_neighbors, self.width)(X)

    def _cut(self, graph: Any, rng: np.random.Generator) -> NDArray[np.int64]:
        values, vectors = normalized_cut(graph, self.n_clusters)
        self.eigenvalues_ = values
        history = History(np.array([values.sum()]), 1, True)
        return self._group(unit_rows(vectors), history, rng, embedding=vectors)


class GraphsClusterer(EmbeddingClusterer):
    """Base of the methods that take one graph per view."""

    affinity: str

    def _per_view(self, views: Views, make: Callable[[Any], Graph]) -> list[Graph]:
        """Return what ``make`` gives for each view, scaled; views at the same time where ``n_jobs`` allows."""
        items = [(X, fit_scaling(X, kind)) for X, kind in zip(views.arrays, self._choose_scalings(views), strict=True)]
        return list(in_threads(lambda X, scaling: make(apply_scaling(X, scaling)), items, self.n_jobs))

    def _graph_bytes(self, views: Views, affinity: str, n_neighbors: int) -> int:
        """Return the bytes of normalised graphs of all views, and of what is there while one is made."""
        n, V = len(views), len(views.names)
        if affinity == "gaussian":
            return 8 * (V + 2 * self._at_once(V)) * n * n + self._scaled_bytes(views)
        searching = max(map(neighbor_bytes, views.arrays)) * self._at_once(V)
        return int(12 * 2 * n_neighbors * n * (V + 3)) + self._scaled_bytes(views) + searching

    def _at_once(self, V: int) -> int:
        return jobs_at_a_time(self.n_jobs, V)

    def _scaled_bytes(self, views: Views) -> int:
        """Return the bytes of the scaled views that are there at the same time, twice while they are made."""
        return 2 * sum(sorted(map(copy_bytes, views.arrays))[-self._at_once(len(views.names)) :])

    def _adaptive_graphs(self, views: Views, n_neighbors: int, *, joined: bool) -> list[Any]:
        """Return the graph of adaptive neighbours of each view.

        With ``joined`` the number of neighbours is doubled until all graphs together have at most k components: more
        of them cannot become k clusters. ``n_neighbors_`` says how many it came to.
        """
        while True:
            metric = metric_of(self.affinity)
            graphs = self._per_view(views, partial(adaptive_graph, n_neighbors=n_neighbors, metric=metric))
            count = connected_components(sum(graphs), directed=False)[0]
            if not joined or count <= self.n_clusters or n_neighbors >= len(views) - 2:
                self.n_neighbors_ = max(1, min(n_neighbors, len(views) - 2))
                return graphs
            n_neighbors *= 2

    def _adaptive_bytes(self, views: Views, n_neighbors: int) -> int:
        """Return the bytes of the graphs of adaptive neighbours, and of what is there while one is made."""
        n, V = len(views), len(views.names)
        making = self._scaled_bytes(views) + DISTANCE_BYTES * self._at_once(V)
        return int(24 * n * n_neighbors * (V + 4)) + making
