r"""Robust spectral ensemble clustering: a low-rank affinity behind one co-association matrix, and its partition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from manyviews.cluster.constraints import ABOVE_ONE, NON_NEGATIVE, POSITIVE_INT, one_of
from manyviews.cluster.ensemble.base import EnsembleClusterer
from manyviews.cluster.result import FitResult
from manyviews.linalg.eigen import all_eigenpairs, leading_subspace, top_eigenpairs
from manyviews.linalg.products import add_product
from manyviews.linalg.shrinkage import LowRank, SingularValueShrinker, singular_value_threshold, threshold_columns
from manyviews.optim.alm import Penalty, augmented_lagrangian
from manyviews.optim.history import History
from manyviews.partitions.coassociation import coassociation
from manyviews.partitions.consensus_vote import ConsensusVote
from manyviews.partitions.discretize import center_confidence
from manyviews.partitions.low_rank import PoweredAffinity, low_rank_embedding
from manyviews.partitions.merging import merge_equal_rows
from manyviews.prototypes.kmeans import kmeans, nearest_center_distances
from manyviews.views import Views

__all__ = ["RSEC", "RSECOptions", "RSECResult", "RSECState", "solve_rsec"]

Array = NDArray[Any]
DENSE_LIMIT = 300
SPARE_VECTORS = 6
SMALLEST_DEGREE = 1e-12


@dataclass(frozen=True)
class RSECOptions:
    """Weights λ₁ and λ₂ and which graph H is read from."""

    nuclear_weight: float = 0.1
    noise_weight: float = 0.01
    graph: Literal["released", "paper"] = "released"


class RSECResult(NamedTuple):
    """Affinity Z (n, n), its low-rank part J in factors, partition H (n, k) and history."""

    Z: Array
    J: LowRank
    H: Array
    history: History


class RSECState:
    """Variables of the iterations on a co-association matrix S (n, n), updated in place."""

    def __init__(self, S: Array, n_clusters: int, options: RSECOptions, rng: np.random.Generator) -> None:
        n = len(S)
        self.S, self.k, self.options = S, n_clusters, options
        values, Q = all_eigenpairs(S)
        self.norm = float(np.abs(values).max())
        self.inverse = (Q / (1 + values**2)) @ Q.T  # (SᵀS + I)⁻¹
        self.Z, self.E, self.Y1, self.Y2 = (np.zeros((n, n)) for _ in range(4))
        self._room = np.empty((n, n)), np.empty((n, n))
        self.J = LowRank(np.zeros((n, 0)), np.zeros(0), np.zeros((n, 0)))
        self.H, self.degrees = np.zeros((n, n_clusters)), np.ones(n)
        self._shrink = SingularValueShrinker(rng, sweeps=2)
        # the graph only leads to H, for which single precision is enough as soon as it saves time
        small = n <= DENSE_LIMIT
        self._graph_dtype = np.dtype(np.float64 if small else np.float32)
        self._eigen_tol = 1e-8 if small else 1e-5
        self._powered = PoweredAffinity(rng)
        self._start = rng.standard_normal((n, min(n, n_clusters + SPARE_VECTORS))).astype(self._graph_dtype)

    def iterate(self, mu: float, following: float) -> float:
        """Make one iteration and return the largest entry by which a constraint is missed."""
        S, room, other = self.S, *self._room
        np.divide(self.Y2, mu, out=room)
        room += self.Z
        self.J = self._shrink(room, self.options.nuclear_weight / mu)
        J = (self.J.U * self.J.values) @ self.J.V.T
        np.divide(self.Y1, mu, out=other)
        other -= self.E
        other += S
        right = np.matmul(S, other, out=room)
        right += J
        right -= np.divide(self.Y2, mu, out=other)
        scaled = self.H / np.sqrt(self.degrees)[:, None]
        add_product(right, scaled, np.ascontiguousarray(scaled.T), 1 / mu)
        np.matmul(self.inverse, right, out=self.Z)
        missed = np.matmul(S, self.Z, out=room)
        np.subtract(S, missed, out=missed)
        np.divide(self.Y1, mu, out=other)
        other += missed
        self.E = threshold_columns(other, self.options.noise_weight / mu)
        self._update_partition()
        missed -= self.E
        gap = np.subtract(self.Z, J, out=J)
        self.Y1 += np.multiply(missed, mu, out=other)
        self.Y2 += np.multiply(gap, mu, out=other)
        return float(max(_largest(missed), _largest(gap)))

    def _update_partition(self) -> None:
        """H step: leading eigenvectors of the normalised graph of Z and HHᵀ."""
        Z, H = (np.asarray(X, self._graph_dtype) for X in (self.Z, self.H))
        A = Z + Z.T
        A *= 0.5
        add_product(A, H, np.ascontiguousarray(H.T))
        if self.options.graph == "released":
            A = self._powered(A)
        self.degrees = np.maximum(A.sum(axis=1, dtype=np.float64), SMALLEST_DEGREE)
        factor = (1 / np.sqrt(self.degrees)).astype(A.dtype)
        if len(A) <= DENSE_LIMIT:
            vectors = top_eigenpairs(factor[:, None] * A * factor, self.k)[1]
        else:
            self._start = leading_subspace(
                lambda X: factor[:, None] * (A @ (factor[:, None] * X)), self._start, self.k, tol=self._eigen_tol
            )[1]
            vectors = self._start[:, : self.k].astype(np.float64)
        self.H = factor[:, None] * vectors if self.options.graph == "released" else vectors


def _largest(X: Array) -> float:
    return max(float(X.max()), -float(X.min()))


def solve_rsec(
    S: Array,
    n_clusters: int,
    *,
    options: RSECOptions,
    rng: np.random.Generator,
    growth: float = 1.1,
    tol: float = 1e-6,
    max_iter: int = 300,
) -> RSECResult:
    r"""Minimise :math:`\operatorname{tr}(H^\top L_Z H) + λ_1\|Z\|_* + λ_2\|E\|_{2,1}` subject to S = SZ + E, HᵀH = I.

    Parameters
    ----------
    S : ndarray of shape (n, n)
        Co-association matrix.
    n_clusters : int
        Columns of H.
    options : RSECOptions
        Weights and graph.
    rng : Generator
        Starts of partial decompositions.
    growth : float, default=1.1
        Growth of the penalty.
    tol : float, default=1e-6
        Largest entry of S - SZ - E and Z - J that ends the iterations.
    max_iter : int, default=300
        Most iterations.

    Returns
    -------
    RSECResult
        Affinity, partition, history of the residual.
    """
    state = RSECState(S, n_clusters, options, rng)
    penalty = Penalty(start=1.5 / state.norm, growth=growth)
    history = augmented_lagrangian(state.iterate, penalty, tol=tol, max_iter=max_iter)
    return RSECResult(state.Z, state.J, state.H, history)


class RSEC(EnsembleClusterer):
    r"""Robust spectral ensemble clustering (RSEC).

    Each view is clustered many times; S holds how often two samples share a cluster, over all views. A low-rank
    affinity Z that explains S but for the errors E of some samples is sought together with its spectral partition H:

    .. math::

        \min_{H, Z, E} \operatorname{tr}(H^\top L_Z H) + \lambda_1 \|Z\|_* + \lambda_2 \|E\|_{2,1}
        \quad\text{s.t. } H^\top H = I,\; S = S Z + E.

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
    nuclear_weight : float, default=0.1
        :math:`\lambda_1`: raising it lowers the rank of Z.
    noise_weight : float, default=0.01
        :math:`\lambda_2`: raising it lets fewer samples have errors. The paper has 0.1 to 1; 0.01 was better.
    penalty_growth : float, default=1.1
        Growth of the penalty per iteration; raising it is faster and less exact.
    graph : {"released", "paper"}, default="released"
        What H is read from: powered cosines of the low-rank rows of Z + HHᵀ, as in the authors' code, or Z + HHᵀ
        itself, as in the paper, with which the partition is poor.
    final : {"kmeans_h", "lrr"}, default="kmeans_h"
        How labels are drawn: k-means on the rows of H, or from the low-rank part of Z, as in MVEC.
    n_init : int, default=20
        Starts of the final k-means.
    tol : float, default=1e-6
        Largest entry of S - SZ - E and Z - J that ends the iterations.
    max_iter : int, default=300
        Most iterations.
    view_weights : mapping or sequence of float, default=None
        What each view counts, relative to the others: how many of the base clusterings are made of it; with
        base="labels" only 0 and equal ones; 0 leaves it out. Views that a mapping leaves out get 1. By default all
        alike.
    scaling : {"auto", "standard", "minmax", "unit", "tfidf", "tfidf_plain"}, mapping or None, default="auto"
        What is done to each view first; see ``MVEC``.
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
        1 - nearest / second nearest distance to the centres: 0 is a tie.
    affinity_ : ndarray of shape (n, n)
        Z.
    history_ : History
        Residual after each iteration, as ``residual``; the objective is not computed.
    n_iter_, converged_ : int, bool
        Iterations, and whether ``tol`` was met.
    scalings_ : tuple of str or None
        What was done to each view first; None for nothing.
    n_views_in_, n_features_in_ : int
        Number of views and of columns in all.
    view_names_in_, n_view_features_in_ : ndarray of shape (m,)
        Names of the views and their numbers of columns.

    See Also
    --------
    MVEC : Keeps the views apart and feeds the partition back into each.

    Notes
    -----
    Cost: O(n³) per iteration, for three products and the eigenvectors of the graph whose eigenvalues exceed 1e-4 of the
    largest. In the first iterations these are nearly all; once they are fewer than a fifth, as in about half of the
    iterations where it was measured, they are found from those of the iteration before in O(n² q) for q of them. So
    the whole grows a little less than n³. Above 300 samples the graph is in single precision. About 14 n² numbers of
    8 bytes in memory.
    New samples are labelled as by ``MVEC``.

    References
    ----------
    Z. Tao, H. Liu, S. Li, Y. Fu. Robust Spectral Ensemble Clustering. CIKM 2016, 367-376.
    https://doi.org/10.1145/2983323.2983745

    Examples
    --------
    >>> from manyviews import RSEC, datasets
    >>> data = datasets.make_blobs_views(n_samples=90, n_features=(5, 4), n_clusters=3, random_state=0)
    >>> RSEC(n_clusters=3, n_base_clusterings=20, random_state=0).fit(data.views).labels_.shape
    (90,)
    """

    _sample_axes = EnsembleClusterer._sample_axes | {"affinity_": (0, 1)}
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = EnsembleClusterer._parameter_constraints | {
        "nuclear_weight": [NON_NEGATIVE],
        "noise_weight": [NON_NEGATIVE],
        "penalty_growth": [ABOVE_ONE],
        "graph": [one_of("released", "paper")],
        "final": [one_of("kmeans_h", "lrr")],
        "n_init": [POSITIVE_INT],
        "tol": [NON_NEGATIVE],
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
        nuclear_weight: float = 0.1,
        noise_weight: float = 0.01,
        penalty_growth: float = 1.1,
        graph: Any = "released",
        final: str = "kmeans_h",
        n_init: int = 20,
        tol: float = 1e-6,
        max_iter: int = 300,
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
        self.nuclear_weight = nuclear_weight
        self.noise_weight = noise_weight
        self.penalty_growth = penalty_growth
        self.graph = graph
        self.final = final
        self.n_init = n_init
        self.tol = tol
        self.max_iter = max_iter

    def _memory_estimate(self, views: Views) -> int:
        return super()._memory_estimate(views) + 14 * 8 * len(views) ** 2

    def _fit(self, views: Views, rng: np.random.Generator) -> NDArray[np.int64]:
        partition_rng, solver_rng, final_rng = rng.spawn(3)
        self._make_partitions(views, partition_rng)
        base_labels = self.base_labels_
        k = min(self.n_clusters, merge_equal_rows(base_labels).first.size)
        options = RSECOptions(self.nuclear_weight, self.noise_weight, self.graph)
        result = solve_rsec(
            coassociation(base_labels),
            k,
            options=options,
            rng=solver_rng,
            growth=self.penalty_growth,
            tol=self.tol,
            max_iter=self.max_iter,
        )
        self.affinity_ = result.Z
        labels = self._discretize(result, final_rng)
        self._vote = ConsensusVote(base_labels, np.ones(len(views)), labels, self.n_clusters)
        return self._record(FitResult(labels, result.history))

    def _discretize(self, result: RSECResult, rng: np.random.Generator) -> NDArray[np.int64]:
        rows, k = result.H, result.H.shape[1]
        if self.final == "lrr":
            enough = result.J.values.size >= k
            rows = low_rank_embedding(result.J if enough else singular_value_threshold(result.Z, 0.0), k, rng)
        clusters = kmeans(rows, k, rng, n_init=self.n_init)
        self.embedding_ = rows
        self.confidence_ = center_confidence(nearest_center_distances(rows, clusters.centers))
        return clusters.labels

    def _predict(self, views: Views) -> NDArray[np.int64]:
        return self._vote(self._new_base_labels(views))
