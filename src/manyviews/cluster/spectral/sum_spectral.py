"""Spectral clustering of the sum of the views' graphs."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from manyviews.cluster.memory import copy_bytes
from manyviews.cluster.parallel import in_threads, jobs_at_a_time
from manyviews.cluster.spectral.base import SpectralClusterer
from manyviews.graphs.neighbors import neighbor_bytes
from manyviews.views import Views

__all__ = ["SumSpectral"]


class SumSpectral(SpectralClusterer):
    r"""Spectral clustering of the summed affinities of the views.

    .. math:: \max_{U^\top U = I_k} \operatorname{Tr}\bigl(U^\top D^{-1/2} K D^{-1/2} U\bigr),
              \qquad K = \sum_v K_v

    with a graph :math:`K_v` per view; then k-means on the unit rows of U.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters k.
    affinity : {"nearest_neighbors", "gaussian", "distance"}, default="nearest_neighbors"
        Graph of each view. "nearest_neighbors": sparse. "gaussian": :math:`\exp(-\|x-y\|^2 / 2\sigma^2)`, as in the
        papers' tables. "distance": each view holds the
        n × n distances between samples, of which the nearest neighbours are taken.
    n_neighbors : int, default=10
        Neighbours of a sample in the graph, itself included; raising it joins clusters that are close.
    width : float, default=None
        σ of "gaussian"; by default the median distance. Raising it blurs small clusters.
    n_init : int, default=10
        Starts of the final k-means.
    balance_views : bool, default=True
        Divide each view by the root of its total variance after scaling, so that views count alike: it
        matters for "gaussian" with a given ``width`` only.
    view_weights : mapping or sequence of float, default=None
        What each view counts, relative to the others: 2 adds its graph twice; 0 leaves it out. Views that a mapping
        leaves out get 1. By default all alike.
    scaling : {"auto", "standard", "minmax", "unit", "tfidf"}, mapping or None, default="auto"
        What is done to each view. "auto": standardised if dense, tf-idf and unit rows if sparse. The papers' tables
        are None with ``affinity="gaussian"``.
    views : list of int or mapping, default=None
        How one table is cut into views.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the k-means starts.
    n_jobs : int, default=None
        Views whose graphs are made at the same time.
    verbose : int, default=0
        1 prints what is being done.

    Attributes
    ----------
    labels_ : ndarray of shape (n,), int64
        Cluster of each sample, 0 .. k-1, largest cluster first.
    embedding_ : ndarray of shape (n, k)
        Leading eigenvectors.
    eigenvalues_ : ndarray of shape (k,)
        Their eigenvalues, descending.
    inertia_ : float
        Sum of squared distances of the unit rows to the centres of k-means.
    confidence_ : ndarray of shape (n,)
        1 - nearest / second nearest distance to the centres: 0 is a tie.
    history_ : History
        The sum of the eigenvalues; there is nothing to iterate.
    n_iter_, converged_ : int, bool
        1 and True.
    scalings_ : tuple of str or None
        What was done to each view first; None for nothing.
    n_views_in_, n_features_in_ : int
        Number of views and of columns in all.
    view_names_in_, n_view_features_in_ : ndarray of shape (V,)
        Names of the views and their numbers of columns.

    See Also
    --------
    ConcatSpectral : One graph on all views side by side.
    AverageKKM : The mean of centred kernels instead.

    Notes
    -----
    There is no rule for new samples. Cost: as ``ConcatSpectral``, with V graphs.

    References
    ----------
    A. Y. Ng, M. I. Jordan, Y. Weiss. On Spectral Clustering: Analysis and an Algorithm. NIPS 2001, 849-856.
    https://papers.nips.cc/paper/2092-on-spectral-clustering-analysis-and-an-algorithm

    Examples
    --------
    >>> from manyviews import SumSpectral, datasets
    >>> data = datasets.make_blobs_views(n_samples=90, n_features=(5, 4), n_clusters=3, random_state=0)
    >>> SumSpectral(n_clusters=3, random_state=0).fit(data.views).labels_.shape
    (90,)
    """

    _weighs_columns: ClassVar[bool] = False  # a graph does not change with the scale of its view

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        affinity: str = "nearest_neighbors",
        n_neighbors: int = 10,
        width: float | None = None,
        n_init: int = 10,
        balance_views: bool = True,
        view_weights: Any = None,
        scaling: Any = "auto",
        views: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            n_clusters, scaling=scaling, views=views, random_state=random_state, n_jobs=n_jobs, verbose=verbose
        )
        self.view_weights = view_weights
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.width = width
        self.n_init = n_init
        self.balance_views = balance_views

    def _memory_estimate(self, views: Views) -> int:
        n, V = len(views), len(views.names)
        jobs, largest = jobs_at_a_time(self.n_jobs, V), max(map(copy_bytes, views.arrays))
        nearest = self.affinity == "nearest_neighbors"
        making = jobs * max(map(neighbor_bytes, views.arrays)) if nearest else 8 * 2 * (jobs - 1) * n**2
        return max(self._scaled_bytes(views) + making, self._graph_bytes(n, V) + largest)

    def _fit(self, views: Views, rng: np.random.Generator) -> NDArray[np.int64]:
        total: Any = None
        if self.affinity == "distance":
            self._choose_scalings(views)
        arrays = views.arrays if self.affinity == "distance" else self._fit_scaled(views)
        told = self._telling(views)
        graphs = in_threads(self._graph, [(arrays[v],) for v in told], self.n_jobs)
        for graph, weight in zip(graphs, self._weights[told].tolist(), strict=True):
            counted = graph if weight == 1.0 else weight * graph
            total = counted if total is None else total + counted
        return self._cut(total, rng)
