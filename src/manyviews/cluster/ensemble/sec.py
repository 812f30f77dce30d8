r"""Spectral ensemble clustering: normalised cut of the co-association matrix as a weighted k-means."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manyviews.cluster.constraints import POSITIVE_INT, one_of
from manyviews.cluster.ensemble.base import EnsembleClusterer
from manyviews.cluster.result import FitResult
from manyviews.cluster.sample_weight import SampleWeightMixin
from manyviews.linalg.blocks import row_blocks, unit_rows
from manyviews.linalg.eigen import leading_subspace, top_eigenpairs
from manyviews.optim.history import History
from manyviews.partitions.coassociation import Coassociation, indicator_matrix
from manyviews.partitions.discretize import center_confidence, kmeans_rows
from manyviews.prototypes.kmeans import nearest_center_distances
from manyviews.prototypes.lloyd import lloyd
from manyviews.views import Views

__all__ = ["SEC", "EnsembleRun", "association_weights", "spectral_embedding", "spread_rows", "weighted_kmeans"]

Array = NDArray[Any]
Labels = NDArray[np.int64]
DENSE_LIMIT = 300
SPARE_VECTORS = 8


class EnsembleRun(NamedTuple):
    """Labels (n,), centroids (k, D) and history of the objective."""

    labels: Labels
    centers: Array
    history: History


def base_sizes(B: Any, counts: Array | None = None) -> Array:
    """Return how many samples the base clusters have, (D,), each sample as often as it counts."""
    return np.asarray(B.sum(axis=0)).ravel() if counts is None else np.asarray(B.T @ counts)


def association_weights(B: Any, counts: Array | None = None) -> Array:
    """Return w = B Bᵀ 1 (n,): r times the row sums of the co-association matrix, samples as often as they count."""
    return np.asarray(B @ base_sizes(B, counts))


def weighted_kmeans(B: Any, centers: Array, *, max_iter: int = 100, counts: Array | None = None) -> EnsembleRun:
    r"""Minimise :math:`\sum_l w_l \|b_l / w_l - m_{k(l)}\|^2` from given centroids until the labels repeat.

    Parameters
    ----------
    B : csr_array of shape (n, D)
        One-hot rows of all partitions.
    centers : ndarray of shape (k, D)
        Start.
    max_iter : int, default=100
        Most iterations.
    counts : ndarray of shape (n,), default=None
        How often each sample counts, above 0; once by default.

    Returns
    -------
    EnsembleRun
        Labels nearest to the centroids, centroids, objective after each iteration.
    """
    w = association_weights(B, counts)
    times = np.ones(len(w)) if counts is None else counts

    def update(labels: Labels, previous: Array) -> Array:
        return _centers(B, w, times, labels, previous)

    def assign(points: Array) -> tuple[Labels, Array]:
        labels, losses = _nearest(B, w, points)
        return labels, losses * times

    run = lloyd(assign, update, centers, len(centers), max_iter=max_iter)
    return EnsembleRun(run.labels, run.centers, History(run.objective[1:], run.n_iter, run.converged))


def spread_rows(B: Any, k: int, rng: np.random.Generator, counts: Array | None = None) -> Labels:
    """Return k rows that lie apart, to start the weighted k-means from: greedy k-means++ on b / w with weights w.

    Parameters
    ----------
    B : csr_array of shape (n, D)
        One-hot rows of all partitions.
    k : int
        Number of rows.
    rng : Generator
        Draws them.
    counts : ndarray of shape (n,), default=None
        How often each sample counts, above 0; once by default.

    Returns
    -------
    ndarray of shape (k,)
        Positions, ascending.
    """
    from sklearn.cluster import kmeans_plusplus

    w = association_weights(B, counts)
    points = sparse.csr_matrix(sparse.diags_array(1 / w) @ B)
    seed = int(rng.integers(2**31 - 1))
    _, rows = kmeans_plusplus(points, k, random_state=seed, sample_weight=w if counts is None else w * counts)
    return np.sort(np.asarray(rows, dtype=np.int64))


def _nearest(B: Any, w: Array, centers: Array) -> tuple[Labels, Array]:
    """Return the nearest centroid of each row, and its weighted squared distance."""
    squares = np.einsum("ij,ij->i", centers, centers)
    columns = np.ascontiguousarray(centers.T)
    labels, gaps = np.empty(B.shape[0], dtype=np.int64), np.empty(B.shape[0])
    for rows in row_blocks(B.shape[0]):
        part = squares - (2 / w[rows])[:, None] * (B[rows] @ columns)
        labels[rows], gaps[rows] = part.argmin(axis=1), part.min(axis=1)
    return labels, np.diff(B.indptr) / w + w * gaps


def _centers(B: Any, w: Array, times: Array, labels: Labels, previous: Array) -> Array:
    n, k = B.shape[0], len(previous)
    members = sparse.csc_array((times, labels, np.arange(n + 1)), shape=(k, n))
    weights = np.bincount(labels, weights=w * times, minlength=k)[:, None]
    return np.where(weights > 0, (members @ B).toarray() / np.where(weights > 0, weights, 1), previous)


def spectral_embedding(
    labels: Labels, k: int, rng: np.random.Generator, counts: Array | None = None
) -> tuple[Array, Array]:
    """Return the k leading eigenvectors of the normalised co-association matrix, and what gives new samples theirs.

    Parameters
    ----------
    labels : ndarray of shape (n, M) of int
        Base labels, -1 for none.
    k : int
        Number of eigenvectors.
    rng : Generator
        Start of the iterations.
    counts : ndarray of shape (n,), default=None
        How often each sample counts, above 0; once by default.

    Returns
    -------
    rows : ndarray of shape (n, k)
        Rows of the embedding, of unit length.
    projection : ndarray of shape (D, k)
        One-hot base labels times it, brought to unit length, are rows of the embedding.
    """
    n = len(labels)
    B = indicator_matrix(labels)
    factor = 1 / np.sqrt(association_weights(B, counts) / labels.shape[1])
    if counts is not None:
        factor *= np.sqrt(counts)
    if n <= DENSE_LIMIT:
        dense = (B @ B.T).toarray() / labels.shape[1]
        values, vectors = top_eigenpairs(factor[:, None] * dense * factor, k)
    else:
        S = Coassociation(labels)
        start = rng.standard_normal((n, min(n, k + SPARE_VECTORS)))
        values, vectors = leading_subspace(lambda X: factor[:, None] * (S @ (factor[:, None] * X)), start, k, tol=1e-6)
    usable = values[:k] > 1e-10
    scale = np.where(usable, 1 / np.where(usable, values[:k], 1), 0)
    projection = np.asarray(B.T @ (factor[:, None] * vectors[:, :k])) * scale
    return unit_rows(np.asarray(B @ projection)), projection


class SEC(SampleWeightMixin, EnsembleClusterer):
    r"""Spectral ensemble clustering (SEC).

    Each view is clustered many times; S holds how often two samples share a cluster, over all views. Its normalised cut
    is the weighted k-means of the one-hot rows :math:`b_l` of all partitions,

    .. math:: \min \sum_l w_l \bigl\| b_l / w_l - m_{k(l)} \bigr\|^2, \qquad w = B B^\top 1,

    which is linear in n.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters k.
    base : {"features", "labels"}, default="features"
        What each view holds: features (n, d_v), or labels (n, r_v) of partitions made elsewhere, -1 where a partition
        lacks a sample.
    n_base_clusterings : int, default=100
        k-means runs r per view; more make the result steadier.
    base_cluster_range : tuple of int, default=None
        Smallest and largest number of clusters of a run; raising them makes the partitions finer. By default
        ``n_clusters`` and :math:`\lceil\sqrt n\rceil`.
    metric : {"auto", "cosine", "euclidean"}, default="auto"
        Similarity in the k-means runs. "auto": the cosine for sparse views, else the Euclidean distance.
    solver : {"kmeans", "spectral"}, default="kmeans"
        Weighted k-means, as the paper; or the eigenvectors of the normalised S, then k-means on their unit rows, which
        depends less on the start.
    init : {"random", "k-means++"}, default="random"
        Rows that the weighted k-means starts from: any, or rows that lie apart, which ends at a smaller objective on
        partitions with many clusters and costs a few iterations more (3 to 4 with 10 clusters, 7 with 50).
    n_init : int, default=10
        Starts of which the one with the smallest objective is kept.
    max_iter : int, default=100
        Most iterations of a start.
    view_weights : mapping or sequence of float, default=None
        What each view counts, relative to the others: how many of the base clusterings are made of it; with
        base="labels" only 0 and equal ones; 0 leaves it out. Views that a mapping leaves out get 1. By default all
        alike.
    scaling : {"auto", "standard", "minmax", "unit", "tfidf", "tfidf_plain"}, mapping or None, default="auto"
        What is done to each view first; see ``MVEC``.
    views : list of int or mapping, default=None
        How one table is cut into views.
    random_state : int, RandomState, Generator or None, default=None
        Seed of partitions and starts.
    n_jobs : int, default=None
        Jobs for the partitions; -1 uses all cores.
    verbose : int, default=0
        1 prints what is being done.

    Attributes
    ----------
    labels_ : ndarray of shape (n,), int64
        Cluster of each sample, 0 .. k-1, largest cluster first.
    base_labels_ : ndarray of shape (n, M), int64
        Base labels in the partitions of all views, -1 for none.
    embedding_ : ndarray of shape (n, k)
        Unit rows of the eigenvectors; with ``solver="spectral"`` only.
    confidence_ : ndarray of shape (n,)
        1 - nearest / second nearest distance to the centroids: 0 is a tie.
    history_ : History
        Objective after each iteration of the best start; with "spectral" that of the final k-means.
    n_iter_, converged_ : int, bool
        Iterations of the best start, and whether its labels came to rest.
    scalings_ : tuple of str or None
        What was done to each view first; None for nothing.
    n_views_in_, n_features_in_ : int
        Number of views and of columns in all.
    view_names_in_, n_view_features_in_ : ndarray of shape (m,)
        Names of the views and their numbers of columns.

    See Also
    --------
    KCC : k-means with the distance of a utility.
    MVEC : Seeks one low-rank affinity behind the co-association of every view.

    Notes
    -----
    Cost: O(n M k) time per iteration and O(n M) memory for M partitions in all. Random rows often end well above the
    smallest objective where k is large: on two views of the 2000 digits 100 partitions each gave 13.7 for the best of
    10 random starts, 13.0 for the best of 6 by k-means++, 12.96 from the labels of ``solver="spectral"`` (normalised
    mutual information with the digits .775, .814, .813). A cluster that loses its members starts
    again from the row with the largest weighted distance. New samples get base labels from the nearest stored centres,
    then the nearest centroid ("spectral": in the embedding).

    References
    ----------
    H. Liu, J. Wu, T. Liu, D. Tao, Y. Fu. Spectral Ensemble Clustering via Weighted K-Means: Theoretical and Practical
    Evidence. IEEE Transactions on Knowledge and Data Engineering 29(5), 2017, 1129-1143.
    https://doi.org/10.1109/TKDE.2017.2650229

    Examples
    --------
    >>> from manyviews import SEC, datasets
    >>> data = datasets.make_blobs_views(n_samples=90, n_features=(5, 4), n_clusters=3, random_state=0)
    >>> SEC(n_clusters=3, random_state=0).fit(data.views).labels_.shape
    (90,)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = EnsembleClusterer._parameter_constraints | {
        "solver": [one_of("kmeans", "spectral")],
        "init": [one_of("random", "k-means++")],
        "n_init": [POSITIVE_INT],
        "max_iter": [POSITIVE_INT],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        base: str = "features",
        n_base_clusterings: int = 100,
        base_cluster_range: Any = None,
        metric: str = "auto",
        solver: str = "kmeans",
        init: str = "random",
        n_init: int = 10,
        max_iter: int = 100,
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
        self.base = base
        self.n_base_clusterings = n_base_clusterings
        self.base_cluster_range = base_cluster_range
        self.metric = metric
        self.solver = solver
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter

    def _fit(self, views: Views, rng: np.random.Generator, counts: Array | None = None) -> NDArray[np.int64]:
        partition_rng, start_rng = rng.spawn(2)
        self._make_partitions(views, partition_rng, counts)
        labels = self.base_labels_
        self._widths = labels.max(axis=0) + 1
        if self.solver == "spectral":
            return self._fit_spectral(labels, start_rng, counts)
        B = indicator_matrix(labels)
        self._sizes = base_sizes(B, counts)
        runs = (self._run(B, child, counts) for child in start_rng.spawn(self.n_init))
        best = min(runs, key=lambda run: run.history.objective[-1])
        self._centers = best.centers
        found, confidence = self._nearest_centers(B)
        return self._record(FitResult(found, best.history, confidence=confidence))

    def _run(self, B: Any, rng: np.random.Generator, counts: Array | None) -> EnsembleRun:
        if self.init == "random":
            seeds = np.sort(rng.choice(B.shape[0], self.n_clusters, replace=False))
        else:
            seeds = spread_rows(B, self.n_clusters, rng, counts)
        rows = B[seeds]
        start = rows.toarray() / (rows @ self._sizes)[:, None]
        return weighted_kmeans(B, start, max_iter=self.max_iter, counts=counts)

    def _nearest_centers(self, B: Any) -> tuple[Labels, Array]:
        """Return labels and confidence of one-hot rows, by their distances to the centroids."""
        w = B @ self._sizes
        labels, confidence = np.empty(B.shape[0], dtype=np.int64), np.empty(B.shape[0])
        squares, columns = (self._centers**2).sum(axis=1), np.ascontiguousarray(self._centers.T)
        for rows in row_blocks(B.shape[0]):
            own = np.where(w[rows] > 0, w[rows], 1)[:, None]
            lengths = np.diff(B.indptr)[rows][:, None] / own**2
            distances = np.sqrt(np.maximum(lengths + squares - 2 * (B[rows] @ columns) / own, 0))
            labels[rows], confidence[rows] = distances.argmin(axis=1), center_confidence(distances)
        return labels, confidence

    def _fit_spectral(self, labels: Labels, rng: np.random.Generator, counts: Array | None) -> Labels:
        embedding, self._projection = spectral_embedding(labels, min(self.n_clusters, len(labels)), rng, counts)
        clusters = kmeans_rows(embedding, self.n_clusters, rng, n_init=self.n_init, weights=counts)
        self._centers = clusters.centers
        confidence = center_confidence(nearest_center_distances(embedding, clusters.centers))
        found = FitResult.of_one_step(clusters.labels, clusters.inertia, embedding=embedding, confidence=confidence)
        return self._record(found)

    def _predict(self, views: Views) -> NDArray[np.int64]:
        B = indicator_matrix(self._new_base_labels(views), n_columns=self._widths)
        if self.solver == "kmeans":
            return self._nearest_centers(B)[0]
        return np.asarray(nearest_center_distances(self._embedded(B), self._centers).argmin(axis=1), dtype=np.int64)

    def _embedded(self, B: Any) -> Array:
        return np.asarray(unit_rows(np.asarray(B @ self._projection)))

    def _found_for(self, views: Views) -> dict[str, Array]:
        base_labels = self._new_base_labels(views)
        B = indicator_matrix(base_labels, n_columns=self._widths)
        if self.solver == "kmeans":
            return {"base_labels_": base_labels, "confidence_": self._nearest_centers(B)[1]}
        rows = self._embedded(B)
        confidence = center_confidence(nearest_center_distances(rows, self._centers))
        return {"base_labels_": base_labels, "confidence_": confidence, "embedding_": rows}
