"""Spectral clustering of all views side by side, each scaled to the same total variance."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyviews.cluster.distances import joined_distances
from manyviews.cluster.memory import copy_bytes
from manyviews.cluster.parallel import in_threads, jobs_at_a_time
from manyviews.cluster.spectral.base import SpectralClusterer, metric_of
from manyviews.graphs.neighbors import neighbor_bytes, neighbor_graph
from manyviews.linalg.blocks import ROWS_PER_BLOCK
from manyviews.views import Views

__all__ = ["ConcatSpectral"]


class ConcatSpectral(SpectralClusterer):
    r"""Spectral clustering of the concatenated views.

    .. math:: \max_{U^\top U = I_k} \operatorname{Tr}\bigl(U^\top D^{-1/2} K D^{-1/2} U\bigr)

    with one graph K on the views side by side; then k-means on the unit rows of U. A strong reference: on the 2000
    digits of mfeat its accuracy is 0.98.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters k.
    affinity : {"nearest_neighbors", "gaussian", "distance"}, default="nearest_neighbors"
        The graph. "nearest_neighbors": sparse, and better on four of the five sets tried. "gaussian":
        :math:`\exp(-\|x-y\|^2 / 2\sigma^2)`, as in the papers' tables. "distance": each view holds the
        n × n distances between samples, of which the nearest neighbours are taken.
    n_neighbors : int, default=10
        Neighbours of a sample in the graph, itself included; raising it joins clusters that are close.
    width : float, default=None
        σ of "gaussian"; by default the median distance. Raising it blurs small clusters.
    n_init : int, default=10
        Starts of the final k-means.
    balance_views : bool, default=True
        Divide each view by the root of its total variance after scaling, so that views count alike. The
        papers' tables are False with ``scaling=None, affinity="gaussian"``.
    view_weights : mapping or sequence of float, default=None
        What each view counts, relative to the others: 2 doubles its squared distances, as if it were given twice; 0
        leaves it out. Views that a mapping leaves out get 1. By default all alike.
    scaling : {"auto", "standard", "minmax", "unit", "tfidf"}, mapping or None, default="auto"
        What is done to each view before. "auto": standardised if dense, tf-idf and unit rows if sparse.
    views : list of int or mapping, default=None
        How one table is cut into views.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the k-means starts.
    n_jobs : int, default=None
        Blocks of samples whose neighbours are sought at the same time.
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
    SumSpectral : One graph per view, added up.
    ConcatKMeans : Cheaper, with ``predict``.

    Notes
    -----
    There is no rule for new samples. Cost: neighbours O(n² Σ d_v) time at worst and O(n · n_neighbors) memory;
    "gaussian" O(n² Σ d_v + n² k) time and two n × n arrays.

    References
    ----------
    A. Y. Ng, M. I. Jordan, Y. Weiss. On Spectral Clustering: Analysis and an Algorithm. NIPS 2001, 849-856.
    https://papers.nips.cc/paper/2092-on-spectral-clustering-analysis-and-an-algorithm

    Examples
    --------
    >>> from manyviews import ConcatSpectral, datasets
    >>> data = datasets.make_blobs_views(n_samples=90, n_features=(5, 4), n_clusters=3, random_state=0)
    >>> ConcatSpectral(n_clusters=3, random_state=0).fit(data.views).labels_.shape
    (90,)
    """

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
        given = self.affinity == "distance"
        table = 2 * 8 * len(views) ** 2 if given else sum(map(copy_bytes, views.arrays))
        distances = max(map(neighbor_bytes, views.arrays)) if self.affinity == "nearest_neighbors" else 0
        distances *= jobs_at_a_time(self.n_jobs, -(-len(views) // ROWS_PER_BLOCK))
        return max(self._scaled_bytes(views) + table + distances, self._graph_bytes(len(views), 1) + table)

    def _fit(self, views: Views, rng: np.random.Generator) -> NDArray[np.int64]:
        if self.affinity == "distance":
            self._choose_scalings(views)
            X = joined_distances([views.arrays[v] for v in self._telling(views)], balance=self.balance_views)
        else:
            self._learn_scaling(views)
            X = self._concatenated(views)
        if self.affinity == "gaussian":
            return self._cut(self._graph(X), rng)
        run = partial(in_threads, n_jobs=self.n_jobs)
        return self._cut(neighbor_graph(X, self.n_neighbors, run, metric=metric_of(self.affinity)), rng)
