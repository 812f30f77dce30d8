r"""UDBGL: view graphs Z, their fusion P with exactly c components, and view weights δ, learned together.

minimise :math:`\sum_v \bigl(\|X_v - Z_v A_v\|_F^2 + \alpha\|Z_v\|_F^2\bigr) + \beta\|\sum_v \delta_v Z_v - P\|_F^2`
over :math:`Z_v` and P with rows in the simplex, :math:`\delta` in the simplex, P with exactly c connected components.

Views enter only through the products :math:`X_v A_v^\top` (n, m), so sparse and dense ones are alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manyviews.cluster.anchors.checks import anchor_count, choice_bytes
from manyviews.cluster.base import MultiViewClusterer, PredictMixin
from manyviews.cluster.constraints import NON_NEGATIVE, POSITIVE, POSITIVE_INT, one_of
from manyviews.cluster.memory import center_bytes
from manyviews.cluster.parallel import in_threads
from manyviews.cluster.published import PublishedRecipes
from manyviews.cluster.result import FitResult
from manyviews.graphs.anchor_views import AnchorViews, ViewProducts, initial_graph
from manyviews.graphs.components import bipartite_components, largest_components
from manyviews.graphs.graph_fusion import (
    BipartiteFusion,
    FusionStep,
    fused_graph,
    fusion_objective,
    settled_fusion,
    update_view_graph,
    update_view_weights,
)
from manyviews.graphs.rank_graph import FirstScales, Projection, RankGraph, RankRule, Support, rank_constrained_graph
from manyviews.linalg.blocks import unit_rows
from manyviews.linalg.scaling import fit_scaling, usual_scaling
from manyviews.prototypes.concatenated_anchors import AnchorSpace
from manyviews.prototypes.sampled_kmeans import sampled_kmeans
from manyviews.views import Views

__all__ = [
    "GROUP_ITER",
    "UDBGL",
    "fusion_steps",
    "initial_graphs",
    "nearest_groups",
    "solve_udbgl",
]

Array = NDArray[Any]
# most iterations of the k-means on the embedding
GROUP_ITER = 300


def solve_udbgl(
    products: Sequence[ViewProducts],
    c: int,
    *,
    alpha: float = 1e-3,
    beta: float = 1e-5,
    n_neighbors: int = 5,
    tol: float = 1e-5,
    max_iter: int = 20,
    wanted: Array | None = None,
    n_jobs: int | None = None,
    labels_of: Callable[[RankGraph], NDArray[np.int64]] | None = None,
    **search: Any,
) -> BipartiteFusion:
    """Run the alternating updates.

    Parameters
    ----------
    products : sequence of ViewProducts
        One per view, with at least c anchors.
    c : int
        Number of components.
    alpha, beta : float
        Weights of the ridge on Z and of the fusion term.
    n_neighbors : int, default=5
        Anchors linked to each sample at the start.
    tol : float, default=1e-5
        Change of δ, or 1000 times the relative change of the objective, that ends the iterations.
    max_iter : int, default=20
        Most iterations.
    wanted : ndarray of shape (V,), default=None
        Weights δ of the first graph, up to a factor; equal by default.
    n_jobs : int, default=None
        Views whose graphs are updated at a time.
    labels_of : callable, default=None
        Takes a searched graph and returns labels (n,); with it the history holds those of each iteration.
    **search : object
        Passed to ``rank_constrained_graph``.

    Returns
    -------
    BipartiteFusion
        ``history.converged`` tells of the iterations, not of the number of components. Should the last search not
        reach c components, the last graph of an iteration that did is returned.
    """
    Z = initial_graphs(products, n_neighbors)
    steps = fusion_steps(products, Z, c, alpha=alpha, beta=beta, wanted=wanted, n_jobs=n_jobs, **search)
    released = search.get("rank_rule") == "released"
    return settled_fusion(
        steps,
        lambda B: rank_constrained_graph(B, c, **search),
        c,
        tol=tol,
        max_iter=max_iter,
        released=released,
        labels_of=labels_of,
    )


def initial_graphs(products: Sequence[ViewProducts], n_neighbors: int) -> list[Array]:
    """Return the view graphs of the start."""
    return [initial_graph(view.distances, n_neighbors) for view in products]


def fusion_steps(
    products: Sequence[ViewProducts],
    Z: list[Array],
    c: int,
    *,
    alpha: float,
    beta: float,
    wanted: Array | None = None,
    n_jobs: int | None = None,
    **search: Any,
) -> Iterator[FusionStep]:
    """Yield the start (with its B in place of a searched graph) and then every iteration, without end."""
    delta = np.full(len(Z), 1.0 / len(Z)) if wanted is None else wanted / wanted.sum()
    B = fused_graph(Z, delta)
    empty = np.zeros(0)
    start = RankGraph(sparse.csr_array(B), empty, empty, 0, empty, empty)
    yield FusionStep(start, Z, delta, B, fusion_objective(products, Z, B, B, alpha, beta))
    while True:
        found = rank_constrained_graph(B, c, **search)
        P = found.P.toarray()
        # all views from the old Z, as in the released code
        views = zip(products, Z, delta, strict=True)
        given = ((view, Z_v, d, B - d * Z_v - P, alpha, beta) for view, Z_v, d in views)
        Z = list(in_threads(update_view_graph, given, n_jobs))
        delta = update_view_weights(Z, P)
        B = fused_graph(Z, delta)
        yield FusionStep(found, Z, delta, B, fusion_objective(products, Z, B, P, alpha, beta))


def nearest_groups(V: Array, centers: Array) -> NDArray[np.int64]:
    """Return the nearest of the centres of groups of samples to each anchor, (m,), by their rows in the embedding."""
    nearness = unit_rows(V) @ centers.T - np.square(centers).sum(axis=1) / 2
    return np.asarray(nearness.argmax(axis=1), dtype=np.int64)


class UDBGL(MultiViewClusterer, PredictMixin, PublishedRecipes):
    r"""Unified and discrete bipartite graph learning (UDBGL).

    Every view links its samples to m anchors; the links of all views are fused, by learned weights, into one graph P
    that has exactly k connected components, which are the clusters:

    .. math:: \min_{Z_v, P, \delta} \sum_v \bigl(\|X_v - Z_v A_v\|_F^2 + \alpha \|Z_v\|_F^2\bigr)
              + \beta \bigl\|\textstyle\sum_v \delta_v Z_v - P\bigr\|_F^2

    over :math:`Z_v`, P and :math:`\delta` with nonnegative rows of sum 1, and :math:`\operatorname{rank}(\tilde L_P)
    = n + m - k` for the normalised Laplacian of P.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters k.
    n_anchors : int, default=None
        Number of anchors m, at least k and at most n. None: k. More of them describe the samples more finely, at
        quadratic cost, but the graph must be cut harder to leave k components; on most real sets k was best.
    anchor_space : {"balanced", "concatenated"}, default="balanced"
        Where k-means seeks the anchors. "balanced": every view divided by the root of its total variance, and the 2k
        leading principal directions of all views together. "concatenated": the scaled views side by side, as in the
        paper; views with many columns then decide (mean NMI over 16 real sets 0.46 against 0.49).
    n_init : int, default=10
        Starts of this k-means, of which the best is kept; raising it makes results depend less on the seed.
    alpha : float, default=1e-3
        Weight of the ridge on the view graphs; raising it spreads a sample over more anchors.
    beta : float, default=1e-5
        Weight of the fusion; raising it pulls the view graphs towards the common one.
    n_neighbors : int, default=5
        Anchors to which a sample is linked at the start.
    projection : {"both", "rows"}, default="both"
        How the common graph is kept feasible. "rows": links of every sample sum to 1, as in the paper. "both": the
        mean of that and of the same for anchors, as in the released code, which keeps every anchor in use.
    rank_rule : {"paper", "released"}, default="paper"
        "paper": the search for the rank penalty ends at exactly k components. "released": it makes all passes and
        keeps the last, as the released code, with whatever number of components.
    support : {"linked", "full"}, default="linked"
        Which links the common graph P may have. "linked": those of the fused graph :math:`\sum_v \delta_v Z_v`, as in
        the released code. "full": all, as in the paper, at more memory and time.
    first_scales : {"constant", "degrees"}, default="constant"
        What the distances in the first pass of each search are scaled with: "constant", 1 for samples and 10 for
        anchors, as in the released code, or "degrees", those of the fused graph, as in the paper and in all later
        passes.
    fallback : bool, default=True
        Whether k-means on the embedding gives the labels where the graph does not have k components. False: the labels
        are the components, as in the released code; where there are more than k, the largest k - 1 stand and all others
        are one cluster.
    tol : float, default=1e-5
        Change of the view weights, or 1000 times the relative change of the objective, that ends the iterations.
    max_iter : int, default=20
        Most iterations.
    max_passes : int, default=50
        Most penalties tried in each search.
    keep_labels : bool, default=False
        Whether ``history_.labels`` holds the labels of each iteration; it changes nothing else.
    view_weights : mapping or sequence of float, default=None
        What each view counts, relative to the others: 2 doubles its squared distances where anchors are chosen, and its
        part in the first graph; 0 leaves it out. Views that a mapping leaves out get 1. By default all alike.
    scaling : {"auto", "standard", "minmax", "unit", "tfidf"}, mapping or None, default="auto"
        What is done to each view first. "auto": dense views to 0..1 in every column, as in the paper, so a heavy tail
        squeezes a column; tf-idf and unit rows for sparse counts; unit rows for other sparse views.
    views : list of int or mapping, default=None
        How one table is cut into views.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the anchors.
    n_jobs : int, default=None
        Views whose graphs are updated at a time, in threads; -1 uses all cores. The labels do not depend on it.
    verbose : int, default=0
        1 prints what is being done.

    Attributes
    ----------
    labels_ : ndarray of shape (n,), int64
        Cluster of each sample, 0 .. k-1, largest cluster first.
    view_weights_ : ndarray of shape (V,)
        Weights δ of the views, of sum 1.
    anchors_ : dict of str to ndarray of shape (m, d_v)
        Anchors of each view, in the scaled features.
    anchor_labels_ : ndarray of shape (m,), int64
        Cluster of each anchor, -1 for one that no sample is linked to.
    graph_ : CSR array of shape (n, m)
        The common graph P.
    n_components_ : int
        Connected components of the graph.
    embedding_ : ndarray of shape (n, k)
        Leading singular vectors U of the normalised graph; within a component all rows point one way.
    confidence_ : ndarray of shape (n,)
        Share of the fused links :math:`\sum_v \delta_v Z_v` of a sample that go to anchors of its own cluster.
    history_ : History
        Objective after each iteration. It may rise, as P is the outcome of a search. With ``keep_labels`` the labels
        that the graph P of each iteration gives, by ``fallback`` where it does not have k components; ``labels_`` are
        those of one more search after the last.
    n_iter_, converged_ : int, bool
        Iterations made, and whether ``tol`` was met and the graph has k components.
    scalings_ : tuple of str or None
        What was done to each view first; None for nothing.
    n_views_in_, n_features_in_ : int
        Number of views and of columns in all.
    view_names_in_, n_view_features_in_ : ndarray of shape (V,)
        Names of the views and their numbers of columns.

    Raises
    ------
    ValueError
        If ``n_anchors`` is below ``n_clusters`` or above the number of samples.

    Notes
    -----
    Cost: O(n m (Σ d_v + V m)) per iteration and O(n m²) per pass of a search, linear in n; O(n m V) memory in float64
    besides the views, which are scaled in blocks. Anchors are chosen from at most 10 000 rows and decide much: with
    m = k the graph seldom groups better than the k-means that found them (mfeat: NMI 0.89 against 0.92).

    Where no penalty gives exactly k components, the labels are those of k-means on the unit rows of ``embedding_``,
    ``converged_`` is False and a ``ConvergenceWarning`` says so.

    New samples: their view graphs are solved against the stored anchors, without the fusion term, which vanishes
    where P is free; the cluster is the one whose anchors get the largest share of the fused links. On the training
    samples this differs from ``labels_`` for the few samples that the rank penalty has moved.

    ``UDBGL.as_published(k)`` is the released code, ``UDBGL.as_printed(k)`` the text, which projects rows only and ends
    the search at k components, lets P have any link and takes degrees from the first pass on. In one detail all follow
    the code: the graphs of all views are updated from those of the iteration before.

    References
    ----------
    S.-G. Fang, D. Huang, X.-S. Cai, C.-D. Wang, C. He, Y. Tang. Efficient Multi-view Clustering via Unified and
    Discrete Bipartite Graph Learning. IEEE Transactions on Neural Networks and Learning Systems, 2023.
    https://doi.org/10.1109/TNNLS.2023.3261460

    Examples
    --------
    >>> from manyviews import UDBGL, datasets
    >>> data = datasets.make_blobs_views(n_samples=90, n_features=(5, 4), n_clusters=3, random_state=0)
    >>> UDBGL(n_clusters=3, random_state=0).fit(data.views).n_components_
    3
    """

    _shared: ClassVar[dict[str, Any]] = {
        "anchor_space": "concatenated",
        "n_init": 2,
        "scaling": "minmax",
    }
    _published = _shared | {"rank_rule": "released", "fallback": False}
    _printed = _shared | {"projection": "rows", "support": "full", "first_scales": "degrees"}
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = MultiViewClusterer._parameter_constraints | {
        "n_anchors": [POSITIVE_INT, None],
        "anchor_space": [one_of("balanced", "concatenated")],
        "n_init": [POSITIVE_INT],
        "alpha": [POSITIVE],
        "beta": [NON_NEGATIVE],
        "n_neighbors": [POSITIVE_INT],
        "projection": [one_of("both", "rows")],
        "rank_rule": [one_of("paper", "released")],
        "support": [one_of("linked", "full")],
        "first_scales": [one_of("constant", "degrees")],
        "fallback": ["boolean"],
        "tol": [NON_NEGATIVE],
        "max_iter": [POSITIVE_INT],
        "max_passes": [POSITIVE_INT],
        "keep_labels": ["boolean"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_anchors: int | None = None,
        anchor_space: AnchorSpace = "balanced",
        n_init: int = 10,
        alpha: float = 1e-3,
        beta: float = 1e-5,
        n_neighbors: int = 5,
        projection: Projection = "both",
        rank_rule: RankRule = "paper",
        support: Support = "linked",
        first_scales: FirstScales = "constant",
        fallback: bool = True,
        tol: float = 1e-5,
        max_iter: int = 20,
        max_passes: int = 50,
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
        self.n_anchors, self.anchor_space, self.n_init = n_anchors, anchor_space, n_init
        self.alpha, self.beta = alpha, beta
        self.n_neighbors = n_neighbors
        self.projection = projection
        self.rank_rule = rank_rule
        self.support = support
        self.first_scales = first_scales
        self.fallback = fallback
        self.tol, self.max_iter, self.max_passes = tol, max_iter, max_passes
        self.keep_labels = keep_labels

    def _memory_estimate(self, views: Views) -> int:
        n, m, V = len(views), self._anchor_count(len(views)), len(views.names)
        # products and graph of each view, and what one step holds: the fused graph, its links, the quadratic programs
        choice = choice_bytes(views) + 4 * (center_bytes(views, m) + center_bytes(views, self.n_clusters))
        return max(choice, 8 * n * (m * (2 * V + 14) + V))

    def _fit(self, views: Views, rng: np.random.Generator) -> NDArray[np.int64]:
        m, k = self._anchor_count(len(views)), self.n_clusters
        self._scaling = tuple(map(fit_scaling, views.arrays, self._choose_scalings(views)))
        read = AnchorViews(views.arrays, self._scaling)
        anchor_rng, label_rng, history_rng = rng.spawn(3)
        self._say(f"choosing {m} anchors")
        anchors = read.shared_anchors(
            m, anchor_rng, space=self.anchor_space, n_directions=2 * k, n_init=self.n_init, wanted=self._weights
        )
        self.anchors_ = dict(zip(views.names, anchors, strict=True))
        self._say("learning the graph")
        result = solve_udbgl(
            read.products(anchors),
            self.n_clusters,
            alpha=self.alpha,
            beta=self.beta,
            n_neighbors=self.n_neighbors,
            wanted=self._weights,
            tol=self.tol,
            max_iter=self.max_iter,
            n_jobs=self.n_jobs,
            labels_of=(lambda graph: self._groups(graph, history_rng)[0]) if self.keep_labels else None,
            projection=self.projection,
            rank_rule=self.rank_rule,
            support=self.support,
            first_scales=self.first_scales,
            max_passes=self.max_passes,
        )
        labels, self._anchor_clusters, self.n_components_ = self._groups(result.graph, label_rng)
        return self._store(result, labels)

    def _auto_scaling(self, X: Any) -> str:
        fractions = sparse.issparse(X) and not np.array_equal(X.data, np.floor(X.data))
        return "unit" if fractions else usual_scaling(X, "minmax")

    def _anchor_count(self, n: int) -> int:
        return anchor_count(self.n_anchors, self.n_clusters, n)

    def _products(self, views: Views) -> list[ViewProducts]:
        return AnchorViews(views.arrays, self._scaling).products(list(self.anchors_.values()))

    def _groups(self, graph: RankGraph, rng: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
        """Return clusters of samples and anchors, and the number of components.

        Where there are not k components, the clusters come from k-means on the embedding.
        """
        found = bipartite_components(graph.P)
        if found.n_found == self.n_clusters or not self.fallback:
            anchors, samples = largest_components(found, self.n_clusters)
            return samples, anchors, found.n_found
        groups = sampled_kmeans(unit_rows(graph.U), self.n_clusters, rng, max_iter=GROUP_ITER)
        return groups.labels, nearest_groups(graph.V, groups.centers), found.n_found

    def _why_unconverged(self) -> str:
        if self.n_components_ == self.n_clusters:
            return super()._why_unconverged()
        labels = "those of k-means on its embedding" if self.fallback else "its components"
        return (
            f"learned a graph of {self.n_components_} connected components instead of {self.n_clusters}; the labels "
            f"are {labels}: another random_state, more anchors or more max_passes may help"
        )

    def _store(self, result: BipartiteFusion, labels: NDArray[np.int64]) -> NDArray[np.int64]:
        self.graph_ = result.graph.P
        self.graph_.eliminate_zeros()
        confidence = self._shares(result.B)[np.arange(labels.size), labels]
        self._record(FitResult(labels, result.history, result.delta, result.graph.U, confidence))
        self.converged_ = result.history.converged and self.n_components_ == self.n_clusters
        return labels

    @property
    def anchor_labels_(self) -> NDArray[np.int64]:
        """Clusters of the anchors, numbered as ``labels_``, shape (m,)."""
        clusters = self._anchor_clusters
        return np.where(clusters >= 0, self._order[clusters], -1)

    def _shares(self, B: Array) -> Array:
        """Return which share of the links (n, m) goes to the anchors of each cluster, shape (n, k)."""
        members = self._anchor_clusters[:, None] == np.arange(self.n_clusters)
        return np.asarray(B @ members.astype(np.float64))

    def _predict(self, views: Views) -> NDArray[np.int64]:
        B = np.zeros((len(views), self._anchor_clusters.size))
        for view, d in zip(self._products(views), self.view_weights_[self._counted], strict=True):
            B += d * update_view_graph(view, None, d, 0.0, self.alpha, 0.0)
        return np.asarray(self._shares(B).argmax(axis=1))
