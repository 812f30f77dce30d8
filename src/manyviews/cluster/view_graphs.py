"""The views as unlabelled witnesses: for each a graph of nearest neighbours and the space that it was made in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manyviews.metrics import adjusted_rand_index
from manyviews.partitions.onehot import cluster_order
from manyviews.prototypes.view_treatment import as_sparse_if_so, fit_treatment
from manyviews.views import Views

__all__ = ["ViewGraph", "predictability", "silhouette", "view_graphs"]

Array = NDArray[Any]

# As usual where neighbours vote; clusters may be small.
NEIGHBORS = 5
# Beyond this, a random part of the samples tells as much in less time.
MOST_SAMPLES = 4000
LEAST_SAMPLES = 3
# Distances that differ by less are the same but for rounding.
TIE = 1e-6
# Memory of one block of distances.
MEGABYTES = 64


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
        Row i has ones at the nearest neighbours of sample i; samples at the same distance share a place.
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
    n_neighbors : int, default=5
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
    """Return the votes of the nearest neighbours; those at the same distance share what is left for them.

    Without that, the order of the samples would decide wherever many are alike, as in views of links or of few values.
    """
    from sklearn.metrics import pairwise_distances_chunked

    k = min(n_neighbors, (space.shape[0] - 1) // 2 or 1)
    blocks, start = [], 0
    for distances in pairwise_distances_chunked(space, working_memory=MEGABYTES):
        rows = np.arange(distances.shape[0])
        distances[rows, start + rows] = np.inf
        blocks.append(sparse.csr_array(_votes(distances, k)))
        start += rows.size
    return sparse.csr_array(sparse.vstack(blocks))


def _votes(distances: Array, k: int) -> Array:
    farthest = np.partition(distances, k - 1, axis=1)[:, k - 1 : k]
    nearer = distances < farthest * (1 - TIE)
    tied = ~nearer & (distances <= farthest * (1 + TIE))
    left = k - nearer.sum(axis=1, keepdims=True)
    votes: Array = nearer + tied * (left / tied.sum(axis=1, keepdims=True))
    return votes


def predictability(view: ViewGraph, labels: Array) -> float:
    """Return how well the cluster of a sample can be guessed from its nearest neighbours in one view alone.

    Every sample is given the commonest cluster among its neighbours, itself not asked. The adjusted Rand index between
    these guesses and the grouping is 1 where every guess is right, about 0 for a random grouping, and 0 where one
    cluster has all samples: for a degenerate grouping, which is easy to guess, nothing is gained.

    Parameters
    ----------
    view : ViewGraph
        Samples and their neighbours.
    labels : ndarray of shape (m,)
        Clusters of these samples.

    Returns
    -------
    float
        At most 1. Cost O(m · neighbours).
    """
    names, clusters = np.unique(labels, return_inverse=True)
    k, m = names.size, labels.size
    if k < 2:
        return 0.0
    # of two clusters with as many neighbours the larger is guessed, whatever they are called
    clusters = cluster_order(clusters, k)[clusters]
    members = sparse.csr_array((np.ones(m), clusters, np.arange(m + 1)), shape=(m, k))
    guessed = (view.graph @ members).toarray().argmax(axis=1)
    return float(adjusted_rand_index(clusters, guessed))


def silhouette(view: ViewGraph, labels: Array) -> float | None:
    """Return the mean silhouette of a grouping in a view, None where it has one cluster or all are of one sample."""
    from sklearn.metrics import silhouette_score

    if not 2 <= np.unique(labels).size < labels.size:
        return None
    return float(silhouette_score(view.space, labels))
