r"""Multi-view ensemble clustering: one affinity behind the co-association matrices of all views.

minimise over H, Z, E: tr(Hᵀ L_Z H) + λ₁‖Z‖_* + λ₂ Σ_v ‖E_v‖₁, subject to HᵀH = I, S_v + HHᵀ = S_v Z + E_v for every
view, Z ≥ 0 and Z1 = 1 (eq. 3 of the paper), by the inexact augmented-Lagrangian method with the split Z = J, on samples
whose equals have been merged.

Three arrays carry the state, Λ/μ and, per view, :math:`T_v = S_v + HH^\top + Y_v/μ` and
:math:`R_v = S_v Z + E_v - T_v`: the error and the multiplier follow from them, and each product with S_v is formed
once. A group of N equal samples is one row and column; its size enters the products, the norms, the nuclear norm
(through :math:`N^{1/2} Z N^{1/2}`) and the simplex.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from manyviews.cluster.constraints import ABOVE_ONE, INT_FROM_TWO, NON_NEGATIVE, POSITIVE_INT, one_of
from manyviews.cluster.ensemble.base import EnsembleClusterer
from manyviews.cluster.published import PublishedRecipes
from manyviews.cluster.result import FitResult
from manyviews.graphs.affinity_cut import AffinityCut
from manyviews.linalg.blocks import row_blocks, unit_rows
from manyviews.linalg.eigen import positive_norm
from manyviews.linalg.shrinkage import LowRank, SingularValueShrinker
from manyviews.linalg.simplex import project_rows
from manyviews.optim.alm import Penalty, augmented_lagrangian
from manyviews.optim.history import History
from manyviews.partitions.coassociation import Coassociation
from manyviews.partitions.consensus_vote import ConsensusVote
from manyviews.partitions.discretize import center_confidence
from manyviews.partitions.low_rank import affinity_embedding, distance_norm
from manyviews.partitions.merging import Groups, every_row, group_labels, merge_rows
from manyviews.prototypes.kmeans import kmeans, nearest_center_distances
from manyviews.views import Views
from manyviews.views.cells import first_equals

__all__ = ["MVEC", "MVECOptions", "MVECResult", "MVECState", "solve_mvec"]

Array = NDArray[Any]
# a block of rows of this size stays in the cache while all steps pass over it
BLOCK_BYTES = 1 << 19
# with the small penalty of the first iterations J and E are 0, which says nothing about convergence
MIN_ITER = 5
# the bound of the curvature is found by iteration, from below
STEP_MARGIN = 1.01
# up to this many groups precision="auto" is double
DOUBLE_LIMIT = 300


@dataclass(frozen=True)
class MVECOptions:
    """Weights λ₁ and λ₂, and the variants of the steps; see ``MVEC``."""

    nuclear_weight: float = 1.0
    noise_weight: float = 0.01
    simplex: Literal["project", "alm"] = "project"
    laplacian: Literal["normalized", "unnormalized"] = "normalized"
    step: Literal["tight", "paper"] = "tight"
    view_weights: tuple[float, ...] = ()


class MVECResult(NamedTuple):
    """Affinity Z (u, u), its low-rank part N^½ J N^½ in factors, partition H (u, k) and history."""

    Z: Array
    J: LowRank
    H: Array
    history: History


class MVECState:
    """Variables of the iterations and the steps that update them in place.

    Parameters
    ----------
    operators : list of Coassociation
        One per view, all with the same sizes.
    n_clusters : int
        Columns of H.
    options : MVECOptions
        Weights and variants.
    rng : Generator
        Source of random starts of the partial decompositions.
    """

    def __init__(
        self, operators: list[Coassociation], n_clusters: int, options: MVECOptions, rng: np.random.Generator
    ) -> None:
        self.operators, self.options, self.k = operators, options, n_clusters
        self.wanted = options.view_weights or (1.0,) * len(operators)
        u, dtype = operators[0].shape[0], operators[0].dtype
        self.sizes = operators[0].sizes
        self.root = np.sqrt(self.sizes).astype(dtype)
        self.merged = bool((self.sizes > 1).any())
        self.Z = np.zeros((u, u), dtype)
        self.scaled_lambda = np.zeros((u, u), dtype)  # Λ/μ, and Z - J + Λ/μ while Z is updated
        self.scaled_w = np.zeros(u, dtype)  # w/μ
        self.H = np.zeros((u, n_clusters), dtype)
        self.J = LowRank(np.zeros((u, 0), dtype), np.zeros(0), np.zeros((u, 0), dtype))
        self.counts = [operator.counts() for operator in operators]
        self.T = [
            (counts / operator.n_base_clusterings).astype(dtype)
            for counts, operator in zip(self.counts, operators, strict=True)
        ]
        self.R = [-T for T in self.T]
        self.norms = [self._norm(T) for T in self.T]
        self.bound = positive_norm(*operators, weights=self.wanted)
        pairs = zip(self.wanted, operators, strict=True)
        self.view_bounds = [w * positive_norm(S) for w, S in pairs] if options.step == "paper" else []
        self.eta = 0.0
        self.shrink: Callable[[Array, float], LowRank] = SingularValueShrinker(rng)
        self._cut = AffinityCut(u, n_clusters, self.sizes, dtype, rng, normalized=options.laplacian == "normalized")

    def _blocks(self) -> Iterator[slice]:
        u, itemsize = self.Z.shape[0], self.Z.itemsize
        yield from row_blocks(u, max(8, BLOCK_BYTES // (u * itemsize)))

    def _norm(self, X: Array) -> float:
        """Return the Frobenius norm over all samples."""
        return float(np.sqrt(sum(self._squares(X[rows], rows) for rows in self._blocks())))

    def _squares(self, block: Array, rows: slice) -> float:
        if not self.merged:
            return float(np.vdot(block, block))
        return float(self.sizes[rows] @ (np.square(block) @ self.sizes))

    def iterate(self, mu: float, following: float) -> float:
        """Make one iteration and return the largest relative residual of a view."""
        self.update_low_rank_part(mu)
        self.update_affinity(self.gradient(), mu, following)
        old, self.H = self.H, self._cut.partition(self.Z)
        return max(self._update_view(v, old, mu, following) for v in range(len(self.operators)))

    def update_low_rank_part(self, mu: float) -> None:
        """J step: singular value threshold of Z + Λ/μ; leaves Z + Λ/μ - J in ``scaled_lambda``."""
        M = self.scaled_lambda
        M += self.Z
        tau = self.options.nuclear_weight / mu
        scaled = M * self.root[:, None] * self.root if self.merged else M
        self.J = self.shrink(scaled, tau)
        if self.J.values.size:
            left = self.J.U * (self.J.values.astype(M.dtype) / self.root[:, None])
            right = (self.J.V / self.root[:, None]).T
            for rows in self._blocks():
                M[rows] -= left[rows] @ right

    def gradient(self) -> Array:
        """Return Σ_v w_v S_vᵀ (S_v Z + E_v - S_v - HHᵀ - Y_v/μ), the part of the gradient that costs products."""
        total = np.zeros_like(self.Z)
        for operator, R, weight in zip(self.operators, self.R, self.wanted, strict=True):
            part = operator.dot(R)
            part *= weight
            total += part
        return total

    def gradient_rows(self, total: Array, rows: slice, mu: float) -> Array:
        """Return rows of the gradient of the augmented Lagrangian in Z, divided by μ."""
        squares = np.einsum("ij,ij->i", self.H, self.H)
        F = self.H[rows] @ (self.H.T * self.Z.dtype.type(-1 / mu))
        F += (squares[rows, None] + squares) * self.Z.dtype.type(0.5 / mu)  # F = P / (2μ)
        F += total[rows]
        F += self.scaled_lambda[rows]
        if self.options.simplex == "alm":
            F += (self.Z[rows] @ self.sizes.astype(F.dtype) - 1 + self.scaled_w[rows])[:, None]
        return np.asarray(F)

    def update_affinity(self, total: Array, mu: float, following: float) -> None:
        """Z step: one linearised, projected gradient step (eq. 11), and the multipliers of Z = J and Z1 = 1."""
        dtype = self.Z.dtype.type
        self.eta = self.step_constant()
        decay = dtype(mu / following)
        project = self.options.simplex == "project"
        weights = self.sizes if self.merged else None
        for rows in self._blocks():
            target = self.gradient_rows(total, rows, mu)
            target *= dtype(-1 / self.eta)
            target += self.Z[rows]
            new = project_rows(target, weights) if project else np.maximum(target, 0)
            multiplier = self.scaled_lambda[rows]
            multiplier += new
            multiplier -= self.Z[rows]
            multiplier *= decay
            self.Z[rows] = new
        self.scaled_w = decay * (self.scaled_w + self.Z @ self.sizes.astype(self.Z.dtype) - 1)

    def step_constant(self) -> float:
        """Return η, a bound of the curvature of the smooth terms in Z."""
        row_sums = self.sizes.sum() if self.options.simplex == "alm" else 0.0
        if self.options.step == "tight":
            return float(STEP_MARGIN * self.bound + 1 + row_sums)
        return float(distance_norm(self.H, self.sizes) ** 2 + sum(self.view_bounds) + 1 + row_sums)

    def _update_view(self, v: int, old: Array, mu: float, following: float) -> float:
        """E step of a view with the old H, its multiplier with the new one; returns the relative residual."""
        operator, counts, T, R = self.operators[v], self.counts[v], self.T[v], self.R[v]
        dtype = self.Z.dtype.type
        tau, decay = dtype(self.options.noise_weight / mu), dtype(mu / following)
        right = np.hstack([(1 + decay) * self.H, -decay * old]).T
        both = np.hstack([self.H, old])
        operator.dot(self.Z, out=R)  # S_v Z
        missed = 0.0
        for rows in self._blocks():
            clipped = np.clip(T[rows] - R[rows], -tau, tau)
            fitted = T[rows] - clipped  # S_v Z + E_v
            S = counts[rows] * dtype(1 / operator.n_base_clusterings)
            missed += self._squares(S + self.H[rows] @ self.H.T - fitted, rows)
            clipped *= decay
            clipped += S
            clipped += both[rows] @ right  # S_v + HHᵀ + Y_v/μ with the new H, Y_v and μ
            T[rows] = clipped
            np.subtract(fitted, clipped, out=R[rows])
        return float(np.sqrt(missed)) / self.norms[v]


def solve_mvec(state: MVECState, penalty: Penalty, *, tol: float, max_iter: int) -> MVECResult:
    """Run the iterations until the constraints of all views hold to ``tol``, relative to the norm of S_v."""
    history = augmented_lagrangian(state.iterate, penalty, tol=tol, max_iter=max_iter, min_iter=MIN_ITER)
    if state.options.simplex == "alm":
        sums = state.Z @ state.sizes.astype(state.Z.dtype)
        state.Z /= np.where(sums > 0, sums, 1)[:, None]
    return MVECResult(state.Z, state.J, state.H, history)


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
        groups are left: an approximation for large n; raising it comes closer to the exact result at cubic cost.
    precision : {"auto", "single", "double"}, default="auto"
        Of the n × n arrays; "auto" is single above 300 groups.
    tol : float, default=1e-4
        Residual :math:`\max_v \|S_v + HH^\top - S_v Z - E_v\|_F / \|S_v\|_F` that ends the iterations.
    max_iter : int, default=100
        Most iterations.
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
        1 - nearest / second nearest distance to the centres: 0 is a tie.
    affinity_ : ndarray of shape (u, u)
        Z between the groups of merged samples; that of samples i and j is ``affinity_[groups_[i], groups_[j]]``.
    groups_ : ndarray of shape (n,), int64
        Group of each sample, in order of first appearance.
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
    with the training samples.

    No code was released. ``MVEC.as_published(k)`` is what gives the printed figures; ``MVEC.as_printed(k)`` the letter
    of Algorithm 1, whose unnormalised Laplacian often locks in on single samples. ``converged_`` tells that the
    constraint of every view holds to ``tol``; Z and its low-rank part J may still differ, by 0.1 in some entries.

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
    _printed = _published | {"simplex": "alm", "laplacian": "unnormalized", "step": "paper", "final": "kmeans_h"}
    _draws_by_weight: ClassVar[bool] = False  # every view has one co-association, which counts by its weight
    _memory_hint: ClassVar[str] = "set max_groups, which merges similar samples"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = EnsembleClusterer._parameter_constraints | {
        "nuclear_weight": [NON_NEGATIVE],
        "noise_weight": [NON_NEGATIVE],
        "penalty_growth": [ABOVE_ONE],
        "simplex": [one_of("project", "alm")],
        "laplacian": [one_of("normalized", "unnormalized")],
        "step": [one_of("tight", "paper")],
        "final": [one_of("lrr", "spectral", "kmeans_h")],
        "n_init": [POSITIVE_INT],
        "max_groups": [INT_FROM_TWO, None],
        "precision": [one_of("auto", "single", "double")],
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
        tol: float = 1e-4,
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
        self.base, self.metric = base, metric
        self.n_base_clusterings, self.base_cluster_range = n_base_clusterings, base_cluster_range
        self.nuclear_weight, self.noise_weight = nuclear_weight, noise_weight
        self.penalty_growth, self.final = penalty_growth, final
        self.simplex, self.laplacian, self.step = simplex, laplacian, step
        self.n_init, self.tol, self.max_iter = n_init, tol, max_iter
        self.max_groups, self.precision = max_groups, precision

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
        partition_rng, solver_rng, final_rng = rng.spawn(3)
        partitions = self._make_partitions(views, partition_rng)
        # the unnormalized Laplacian tells samples of one group apart
        whole = self.laplacian == "unnormalized"
        most = None if self.max_groups is None else max(self.max_groups, self.n_clusters)
        groups = every_row(len(views)) if whole else merge_rows(self.base_labels_, most, partition_rng)
        merged = [group_labels(labels, groups) for labels in partitions]
        result = self._solve(merged, groups, solver_rng)
        self.affinity_, self.groups_ = result.Z, groups.of_sample
        labels = self._discretize(result, groups, final_rng)
        self._vote = ConsensusVote(np.hstack(merged), groups.sizes, labels, self.n_clusters)
        return self._record(FitResult(labels[groups.of_sample], result.history))

    def _solve(self, labels: list[NDArray[np.int64]], groups: Groups, rng: np.random.Generator) -> MVECResult:
        u, dtype = groups.first.size, self._dtype(groups.first.size)
        self._say(f"{u} groups of samples with distinct base labels, {dtype}")
        operators = [Coassociation(part, groups.sizes, dtype) for part in labels]
        weights = tuple(self._weights[self._made].tolist())
        options = MVECOptions(self.nuclear_weight, self.noise_weight, self.simplex, self.laplacian, self.step, weights)
        state = MVECState(operators, min(self.n_clusters, u), options, rng)
        return solve_mvec(state, Penalty(growth=self.penalty_growth), tol=self.tol, max_iter=self.max_iter)

    def _discretize(self, result: MVECResult, groups: Groups, rng: np.random.Generator) -> NDArray[np.int64]:
        """Return the label of each group."""
        k = result.H.shape[1]
        if self.final == "lrr":
            rows = affinity_embedding(result.J, result.Z, k, rng, groups.sizes)
        else:
            rows = unit_rows(result.H) if self.final == "spectral" else result.H
        clusters = kmeans(rows, k, rng, n_init=self.n_init, weights=groups.sizes)
        self.embedding_ = rows[groups.of_sample]
        self.confidence_ = center_confidence(nearest_center_distances(rows, clusters.centers))[groups.of_sample]
        return clusters.labels

    def _predict(self, views: Views) -> NDArray[np.int64]:
        return self._vote(self._new_base_labels(views))
