"""The views as unlabelled witnesses: for each a graph of nearest neighbours and the space that it was made in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manyviews.cluster.view_treatment import as_sparse_if_so, fit_treatment
from manyviews.views import Views

__all__ = ["ViewGraph", "modularity", "silhouette", "view_graphs"]

Array = NDArray[Any]

NEIGHBORS = 10
# Beyond this, a random part of the samples tells as much in less time.
MOST_SAMPLES = 4000
LEAST_SAMPLES = 3


@dataclass(frozen=True)
class ViewGraph:
    """One view of the samples that are looked at.

    Attributes
    ----------
    name : str
        Name of the view.
    rows : ndarray of shape (m,)
        Positions of the samples, all observed in this view.
    space : ndarray or CSR of shape (m, d)
        Their features on a common scale.
    graph : CSR of shape (m, m)
        1 where one of two samples is among the nearest neighbours of the other.
    """

    name: str
    rows: NDArray[np.int64]
    space: Any
    graph: Any


def view_graphs(views: Views, *, n_neighbors: int = NEIGHBORS, random_state: int = 0) -> list[ViewGraph]:
    """Join each sample with its nearest neighbours, in each view by itself.

    Dense columns are standardised; sparse views are compared by the cosine, after tf-idf where they hold counts. This
    takes no side between the methods, which scale in ways of their own.

    Parameters
    ----------
    views : Views
        The data. Samples that a view did not observe, or that are empty in it, are left out of its graph.
    n_neighbors : int, default=10
        Neighbours of each sample. More blur small clusters, fewer follow the noise.
    random_state : int, default=0
        Seed of the choice of 4000 samples where there are more.

    Returns
    -------
    list of ViewGraph
        One per view; views that say something of fewer than three samples are left out. Cost O(m² d) each.
    """
    chosen = np.arange(len(views))
    if chosen.size > MOST_SAMPLES:
        rng = np.random.default_rng(random_state)
        chosen = np.sort(rng.choice(chosen, MOST_SAMPLES, replace=False))
    found = []
    for (name, array), observed in zip(views.items(), views.observed.T, strict=True):
        rows = chosen[observed[chosen]]
        if rows.size < LEAST_SAMPLES:
            continue
        space, speaking = _common_scale(array[rows])
        if speaking.size >= LEAST_SAMPLES:
            space = space[speaking]
            found.append(ViewGraph(name, rows[speaking], space, _neighbor_graph(space, n_neighbors)))
    return found


def _common_scale(X: Any) -> tuple[Any, NDArray[np.int64]]:
    """Return the scaled rows, and which of them say anything: an empty text is no neighbour of another."""
    X = as_sparse_if_so(X)
    treatment = fit_treatment(X, "auto" if sparse.issparse(X) else "standard", "auto")
    scaled = treatment.apply(X)
    if treatment.metric != "cosine":
        return scaled, np.arange(X.shape[0])
    return scaled, np.flatnonzero(np.diff(scaled.indptr))


def _neighbor_graph(space: Any, n_neighbors: int) -> Any:
    from sklearn.neighbors import kneighbors_graph

    m = space.shape[0]
    graph = kneighbors_graph(space, min(n_neighbors, (m - 1) // 2 or 1), include_self=False)
    return sparse.csr_array(graph.maximum(graph.T))


def modularity(graph: Any, labels: Array) -> float:
    r"""Return the modularity of a grouping in a graph (Newman and Girvan, 2004).

    .. math:: Q = \sum_{c} \frac{e_c}{2m} - \Big(\frac{d_c}{2m}\Big)^2

    with :math:`e_c` twice the weight of the edges inside cluster c, :math:`d_c` the degrees of its samples and
    :math:`m` the weight of all edges: the share of neighbours that are kept together, less the share that would be
    by chance with clusters of these sizes. One cluster for nearly all samples has a value near 0, as has a random
    grouping; the most that k clusters can have is 1 - 1/k.

    Parameters
    ----------
    graph : CSR of shape (m, m)
        Symmetric, non-negative.
    labels : ndarray of shape (m,)
        Clusters.

    Returns
    -------
    float
        Less than 1; 0 where the graph has no edge. Cost O(edges).
    """
    _, clusters = np.unique(labels, return_inverse=True)
    degrees = np.asarray(graph.sum(axis=1)).ravel()
    total = float(degrees.sum())
    if total == 0:
        return 0.0
    edges = graph.tocoo()
    kept = float(edges.data[clusters[edges.row] == clusters[edges.col]].sum())
    share = np.bincount(clusters, weights=degrees) / total
    return kept / total - float(share @ share)


def silhouette(view: ViewGraph, labels: Array) -> float | None:
    """Return the mean silhouette of a grouping in a view, None where it has one cluster or all are of one sample."""
    from sklearn.metrics import silhouette_score

    if not 2 <= np.unique(labels).size < labels.size:
        return None
    return float(silhouette_score(view.space, labels))
