"""Multi-view ensemble clustering: the estimator; see ``mvec_solver`` for the iterations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from manyviews.cluster.constraints import ABOVE_ONE, INT_FROM_TWO, NON_NEGATIVE, POSITIVE_INT, one_of
from manyviews.cluster.ensemble.base import EnsembleClusterer
from manyviews.cluster.ensemble.mvec_solver import MVECOptions, MVECResult, MVECState, solve_mvec
from manyviews.cluster.published import PublishedRecipes
from manyviews.cluster.result import FitResult
from manyviews.linalg.blocks import unit_rows
from manyviews.optim.alm import Penalty
from manyviews.partitions.coassociation import Coassociation
from manyviews.partitions.consensus_vote import ConsensusVote, ShareVote
from manyviews.partitions.discretize import center_confidence
from manyviews.partitions.low_rank import affinity_embedding
from manyviews.partitions.merging import all_equal, every_row, group_labels, merge_rows
from manyviews.prototypes.kmeans import kmeans, nearest_center_distances
from manyviews.views import Views
from manyviews.views.cells import first_equals

__all__ = ["MVEC"]

Array = NDArray[Any]
# up to this many groups precision="auto" is double
DOUBLE_LIMIT = 300


class MVEC(EnsembleClusterer, PublishedRecipes):
    r"""Multi-view ensemble clustering (MVEC).

    Each view is clustered many times; :math:`S_v` holds how often two samples share a cluster of view v. One affinity
    Z that explains all views but for sparse errors :math:`E_v` is sought together with a partition H, which in turn
    sharpens every :math:`S_v`:

    .. math::

        \min_{H, Z, E_v} \operatorname{tr}(H^\top L_Z H) + \lambda_1 \|Z\|_* + \lambda_2 \sum_v \|E_v\|_1
        \quad\text{s.t. } H^\top H = I,\; S_v + H H^\top = S_v Z + E_v,\; Z \ge 0,\; Z 1 = 1.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters k.
    base : {"features", "labels"}, default="features"
        What each view holds: features (n, d_v), or labels (n, r_v) of r_v partitions made elsewhere, -1 where a
        partition lacks a sample.
    n_base_clusterings : int, default=100
        k-means runs r per view; more make the result steadier, from about 50 on little.
    base_cluster_range : tuple of int, default=None
        Smallest and largest number of clusters of a run, drawn at random; raising them makes the partitions finer. By
        default ``n_clusters`` and :math:`\lceil\sqrt n\rceil`.
    metric : {"auto", "cosine", "euclidean"}, default="auto"
        Similarity in the k-means runs. "auto": the cosine for sparse views, else the Euclidean distance.
    nuclear_weight : float, default=1.0
        :math:`\lambda_1`: raising it lowers the rank of Z.
    noise_weight : float, default=0.01
        :math:`\lambda_2`: raising it leaves less to the errors.
    penalty_growth : float, default=1.2
        Growth of the penalty per iteration; from 1.5 on faster, but worse.
    simplex : {"project", "alm"}, default="project"
        How Z1 = 1 is kept: by projection, which is exact, or by a multiplier, as in the paper.
    laplacian : {"normalized", "unnormalized"}, default="normalized"
        Laplacian in the H step. The paper's is unnormalized, which locks in on single samples of low degree.
    step : {"tight", "paper"}, default="tight"
        Inverse step size of Z: a bound of the curvature, or the paper's larger constant.
    final : {"lrr", "spectral", "kmeans_h"}, default="lrr"
        How labels are drawn: from the low-rank part of Z with powered cosines, as the authors do; from the unit rows of
        H; from the rows of H.
    n_init : int, default=20
        Starts of the final k-means.
    max_groups : int, default=None
        Samples with equal base labels are always merged, which changes nothing but the cost. With a number, samples
        that share most of their clusters are merged too, by k-means on their base labels, so that at most so many
        groups are left, each of which then counts as one sample. Each base cluster then votes with the shares of its
        samples whose groups are in the clusters, and each sample gets the cluster with the largest sum of votes; a
        cluster that would be left without samples keeps those of its groups. An approximation for large n; raising it
        comes closer to the exact result at cubic cost.
    precision : {"auto", "single", "double"}, default="auto"
        Of the n × n arrays; "auto" is single above 300 groups.
    stop : {"views", "paper"}, default="views"
        Which residual ends the iterations. "views":
        :math:`\max_v \|S_v + HH^\top - S_v Z - E_v\|_F / \|S_v\|_F`, which the paper plots. "paper", as in its
        Algorithm 1: the largest of that, of :math:`|Z - J|` with J the low-rank part of Z, and of :math:`|Z 1 - 1|`; it
        takes up to twice the iterations, so raise ``max_iter``.
    tol : float, default=1e-4
        Residual that ends the iterations.
    max_iter : int, default=100
        Most iterations.
    keep_labels : bool, default=False
        Whether ``history_.labels`` holds the labels of each iteration, at the cost of the final step in each; it
        changes nothing else.
    view_weights : mapping or sequence of float, default=None
        What each view counts, relative to the others: 2 counts its co-association as if it were given twice; 0 leaves
        it out. Views that a mapping leaves out get 1. By default all alike.
    scaling : {"auto", "standard", "minmax", "unit", "tfidf", "tfidf_plain"}, mapping or None, default="auto"
        What is done to each view first. "auto": standardised if dense; tf-idf and unit rows if sparse ("tfidf_plain":
        terms that all samples have do not count), or unit rows where more than half of the entries are not 0.
    views : list of int or mapping, default=None
        How one table is cut into views.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the partitions and of the final k-means.
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
        Rows that the final k-means grouped.
    confidence_ : ndarray of shape (n,)
        1 - nearest / second nearest distance to the centres: 0 is a tie, or a sample that the vote puts to another
        cluster than that of its group.
    affinity_ : ndarray of shape (u, u)
        Z between the groups of merged samples; that of samples i and j is ``affinity_[groups_[i], groups_[j]]``.
    groups_ : ndarray of shape (n,), int64
        Group of each sample, in order of first appearance.
    history_ : History
        Residual after each iteration, as ``residual``; the objective is not computed. With ``keep_labels`` the labels
        that the ``final`` step gives after each iteration.
    n_iter_, converged_ : int, bool
        Iterations, and whether the residual of ``stop`` fell below ``tol``. With "views" that says nothing of Z and its
        low-rank part J, which then still differ by 0.1 in some entries.
    scalings_ : tuple of str or None
        What was done to each view first; None for nothing.
    n_views_in_, n_features_in_ : int
        Number of views and of columns in all.
    view_names_in_, n_view_features_in_ : ndarray of shape (m,)
        Names of the views and their numbers of columns.

    See Also
    --------
    SEC : Spectral clustering of the mean co-association, linear in n.
    RSEC : The method for a single co-association matrix.

    Notes
    -----
    Memory: about (7 + 2 m) u² numbers of 4 bytes for u distinct samples; ``max_groups`` bounds u. Cost per iteration:
    2 m products with :math:`S_v`, each O(n² r) at most and by merging partitions pairwise about a quarter of that, and
    a partial singular value decomposition, O(n² q) for rank q of the low-rank part. Samples not observed in a view, or
    with a row of zeros where the metric is the cosine, are in none of its partitions.

    New samples get base labels from the nearest stored centres. One whose base labels equal those of a training sample
    gets its label; others get that of the cluster with the largest sum of fourth powers of their mean co-association
    with the training samples. With ``max_groups`` below the number of distinct samples they get it by the same vote as
    the training samples.

    No code was released. ``MVEC.as_published(k)`` is what gives the printed figures; ``MVEC.as_printed(k)`` the letter
    of Algorithm 1, whose unnormalised Laplacian often locks in on single samples.

    References
    ----------
    Z. Tao, H. Liu, S. Li, Z. Ding, Y. Fu. From Ensemble Clustering to Multi-View Clustering. IJCAI 2017, 2843-2849.
    https://doi.org/10.24963/ijcai.2017/396

    Examples
    --------
    >>> from manyviews import MVEC, datasets
    >>> data = datasets.make_blobs_views(n_samples=90, n_features=(5, 4), n_clusters=3, random_state=0)
    >>> MVEC(n_clusters=3, random_state=0).fit(data.views).labels_.shape
    (90,)
    """

    _published: ClassVar[dict[str, Any]] = {"metric": "cosine", "scaling": None}
    _printed = _published | {
        "simplex": "alm",
        "laplacian": "unnormalized",
        "step": "paper",
        "final": "kmeans_h",
        "stop": "paper",
        "max_iter": 200,
    }
    _draws_by_weight: ClassVar[bool] = False  # every view has one co-association, which counts by its weight
    _memory_hint: ClassVar[str] = "set max_groups, which merges similar samples"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = EnsembleClusterer._parameter_constraints | {
        "nuclear_weight": [NON_NEGATIVE],
        "noise_weight": [NON_NEGATIVE],
        "penalty_growth": [ABOVE_ONE],
        "simplex": [one_of("project", "alm")],
        "laplacian": [one_of("normalized", "unnormalized")],
        "step": [one_of("tight", "paper")],
        "stop": [one_of("views", "paper")],
        "final": [one_of("lrr", "spectral", "kmeans_h")],
        "n_init": [POSITIVE_INT],
        "max_groups": [INT_FROM_TWO, None],
        "precision": [one_of("auto", "single", "double")],
        "tol": [NON_NEGATIVE],
        "max_iter": [POSITIVE_INT],
        "keep_labels": ["boolean"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        base: str = "features",
        n_base_clusterings: int = 100,
        base_cluster_range: Any = None,
        metric: str = "auto",
        nuclear_weight: float = 1.0,
        noise_weight: float = 0.01,
        penalty_growth: float = 1.2,
        simplex: Any = "project",
        laplacian: Any = "normalized",
        step: Any = "tight",
        final: str = "lrr",
        n_init: int = 20,
        max_groups: int | None = None,
        precision: str = "auto",
        stop: Any = "views",
        tol: float = 1e-4,
        max_iter: int = 100,
        keep_labels: bool = False,
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
        self.base, self.metric = base, metric
        self.n_base_clusterings, self.base_cluster_range = n_base_clusterings, base_cluster_range
        self.nuclear_weight, self.noise_weight = nuclear_weight, noise_weight
        self.penalty_growth = penalty_growth
        self.simplex, self.laplacian, self.step, self.stop = simplex, laplacian, step, stop
        self.final, self.n_init = final, n_init
        self.max_groups, self.precision = max_groups, precision
        self.tol, self.max_iter, self.keep_labels = tol, max_iter, keep_labels

    def _memory_estimate(self, views: Views) -> int:
        u = len(views)  # groups of samples with equal base labels, which identical samples have
        if self.laplacian != "unnormalized":
            u = int(np.count_nonzero(first_equals(views.arrays) == np.arange(u)))
            u = u if self.max_groups is None else min(u, max(self.max_groups, self.n_clusters))
        return super()._memory_estimate(views) + int((7 + 2.25 * len(views.names)) * self._dtype(u).itemsize * u**2)

    def _dtype(self, u: int) -> np.dtype[Any]:
        """Return the type of the arrays of u groups."""
        double = self.precision == "double" or (self.precision == "auto" and u <= DOUBLE_LIMIT)
        return np.dtype(np.float64 if double else np.float32)

    def _fit(self, views: Views, rng: np.random.Generator) -> NDArray[np.int64]:
        partition_rng, solver_rng, final_rng, history_rng = rng.spawn(4)
        partitions = self._make_partitions(views, partition_rng)
        # the unnormalized Laplacian tells samples of one group apart
        whole = self.laplacian == "unnormalized"
        most = None if self.max_groups is None else max(self.max_groups, self.n_clusters)
        groups = every_row(len(views)) if whole else merge_rows(self.base_labels_, most, partition_rng)
        merged = [group_labels(labels, groups) for labels in partitions]
        equal = all_equal(self.base_labels_, groups)
        # samples that are only alike are not as many equal ones: as such a large group would be a cluster of its own
        counts = groups.sizes if equal else np.ones_like(groups.sizes)

        def vote_of(labels: NDArray[np.int64]) -> ConsensusVote | ShareVote:
            """Return what labels samples by these clusters of the groups."""
            if equal:
                return ConsensusVote(np.hstack(merged), groups.sizes, labels, self.n_clusters)
            return ShareVote(self.base_labels_, labels[groups.of_sample], self.n_clusters)

        def of_samples(labels: NDArray[np.int64]) -> NDArray[np.int64]:
            """Return the clusters of the samples from those of the groups."""
            return labels[groups.of_sample] if equal else vote_of(labels)(self.base_labels_)

        result = self._solve(merged, counts, solver_rng, history_rng, of_samples)
        self.affinity_, self.groups_ = result.Z, groups.of_sample
        rows = self._final_rows(result, counts, final_rng)
        clusters = kmeans(rows, result.H.shape[1], final_rng, n_init=self.n_init, weights=counts)
        self._vote = vote_of(clusters.labels)
        labels = clusters.labels[groups.of_sample] if equal else self._vote(self.base_labels_)
        self.embedding_ = rows[groups.of_sample]
        sure = center_confidence(nearest_center_distances(rows, clusters.centers))[groups.of_sample]
        self.confidence_ = np.where(labels == clusters.labels[groups.of_sample], sure, 0.0)
        return self._record(FitResult(labels, result.history))

    def _solve(
        self,
        labels: list[NDArray[np.int64]],
        counts: NDArray[np.int64],
        rng: np.random.Generator,
        history_rng: np.random.Generator,
        of_samples: Callable[[NDArray[np.int64]], NDArray[np.int64]],
    ) -> MVECResult:
        u, dtype = counts.size, self._dtype(counts.size)
        self._say(f"{u} groups of samples, {dtype}")
        operators = [Coassociation(part, counts, dtype) for part in labels]
        weights = tuple(self._weights[self._made].tolist())
        options = MVECOptions(
            self.nuclear_weight, self.noise_weight, self.simplex, self.laplacian, self.step, self.stop, weights
        )
        state = MVECState(operators, min(self.n_clusters, u), options, rng)

        def labels_of(now: MVECState) -> NDArray[np.int64]:
            rows = self._final_rows(now, counts, history_rng)
            found = kmeans(rows, now.H.shape[1], history_rng, n_init=self.n_init, weights=counts)
            return of_samples(found.labels)

        return solve_mvec(
            state,
            Penalty(growth=self.penalty_growth),
            tol=self.tol,
            max_iter=self.max_iter,
            labels_of=labels_of if self.keep_labels else None,
        )

    def _final_rows(self, found: MVECResult | MVECState, counts: NDArray[np.int64], rng: np.random.Generator) -> Array:
        """Return the rows of the groups that the final k-means takes."""
        if self.final == "lrr":
            return affinity_embedding(found.J, found.Z, found.H.shape[1], rng, counts)
        return unit_rows(found.H) if self.final == "spectral" else found.H

    def _predict(self, views: Views) -> NDArray[np.int64]:
        return self._vote(self._new_base_labels(views))
