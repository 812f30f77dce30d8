r"""MVSC: spectral clustering of the weighted sum of the views' graphs between samples and anchors.

minimise :math:`\sum_v \alpha_v^r \operatorname{tr}(G^\top L_v G)` over :math:`G^\top G = I` and α in the simplex, with
:math:`G = [U; W] / \sqrt 2`, so that :math:`\operatorname{tr}(G^\top L_v G) = k - \operatorname{tr}(U^\top Z_v W)`
for the normalised graph :math:`Z_v` (n, p) of a view (eq. 11 of the paper).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manyviews.cluster.base import PredictMixin
from manyviews.cluster.constraints import ABOVE_ONE, NON_NEGATIVE, POSITIVE_INT, one_of
from manyviews.cluster.embedded import EmbeddingClusterer
from manyviews.cluster.memory import copy_bytes, kmeans_bytes
from manyviews.cluster.parallel import in_threads
from manyviews.graphs.anchor_graph import Neighbors, build_index, find_anchors
from manyviews.graphs.anchor_views import ANCHOR_ROWS, AnchorViews
from manyviews.graphs.components import bipartite_components
from manyviews.linalg.blocks import ROWS_PER_BLOCK, row_blocks, squared_lengths, unit_rows
from manyviews.linalg.eigen import top_eigenpairs
from manyviews.linalg.scaling import fit_scaling
from manyviews.optim.alternating import alternate
from manyviews.optim.history import History
from manyviews.prototypes.concatenated_anchors import AnchorSpace
from manyviews.prototypes.kmeans import nearest_center_distances
from manyviews.views import Views

__all__ = [
    "MVSC",
    "BipartiteEmbedding",
    "MVSCResult",
    "bipartite_embedding",
    "neighbor_links",
    "normalize_columns",
    "solve_mvsc",
]

Array = NDArray[np.float64]
WeightRule = Literal["paper", "released"]
# eigenvalues of ZᵀZ below this share of the largest are rounding
NEGLIGIBLE = 1e-10
LEAST = 1e-12
USUAL_ANCHORS = 400
# what the search for the nearest anchors holds at a time
SEARCH_BYTES = 8_000_000


class BipartiteEmbedding(NamedTuple):
    """Singular vectors U (n, k) and W (p, k) of a graph, and their singular values (k,); zeros beyond its rank."""

    U: Array
    W: Array
    values: Array


class MVSCResult(NamedTuple):
    """Embedding, the factors (V,) of the graphs whose sum it is of, weights α (V,) after it, and the history."""

    embedding: BipartiteEmbedding
    factors: Array
    alpha: Array
    history: History


def neighbor_links(neighbors: Neighbors, n_anchors: int, width: float) -> sparse.csr_array:
    r"""Link samples to their nearest anchors with weights :math:`\exp(-D_{ij} / 2 s^2)` that sum to 1.

    Parameters
    ----------
    neighbors : Neighbors
        The K nearest anchors of each sample and their distances :math:`\sqrt{D_{ij}}`, (b, K).
    n_anchors : int
        Number of anchors p.
    width : float
        s, the mean of all squared distances D in the training data, as in the released code.

    Returns
    -------
    CSR of shape (b, p)
        Rows of sum 1.
    """
    b, K = neighbors.index.shape
    squares = np.square(neighbors.distance, dtype=np.float64)
    # a common factor of a row does not change its shares, and keeps them from underflowing
    weights = np.exp(-(squares - squares[:, :1]) / width / (2.0 * width))
    weights /= weights.sum(axis=1, keepdims=True)
    parts = (weights.ravel(), neighbors.index.ravel().astype(np.int32), np.arange(b + 1) * K)
    return sparse.csr_array(parts, shape=(b, n_anchors))


def normalize_columns(Z: sparse.csr_array, sums: Array) -> sparse.csr_array:
    """Divide columns by the roots of their sums: with rows of sum 1 the normalised graph."""
    return sparse.csr_array(Z @ sparse.diags_array(1.0 / np.maximum(np.sqrt(sums), LEAST)))


def bipartite_embedding(Z: sparse.csr_array, k: int) -> BipartiteEmbedding:
    """Return the singular vectors that tell clusters apart.

    The first ones are equal in all samples where the graph is connected, and left out; where it has several components
    the leading vectors tell these apart, and all are kept. They are also kept where there would be too few others.

    Parameters
    ----------
    Z : CSR of shape (n, p)
        Graph.
    k : int
        Number of vectors.

    Returns
    -------
    BipartiteEmbedding
        Singular values descend.
    """
    gram = sparse.csr_array(Z.T @ Z).toarray()
    count = min(k + 1, len(gram))
    values, W = top_eigenpairs(gram, count)
    rank = int(np.count_nonzero(values > NEGLIGIBLE * values[0]))
    values, W = np.sqrt(values[:rank]), W[:, :rank]
    first = int(rank > k and bipartite_components(Z).n_found == 1)
    values, W = values[first : first + k], W[:, first : first + k]
    missing = ((0, 0), (0, k - values.size))
    found = BipartiteEmbedding(np.zeros((0, k)), np.pad(W, missing), np.pad(values, missing[1]))
    return found._replace(U=projected(Z, found))


def projected(Z: sparse.csr_array, found: BipartiteEmbedding) -> Array:
    """Return rows of U for rows Z (b, p) of the graph, those of the training samples or new ones."""
    rows = np.asarray(Z @ found.W)
    return np.asarray(np.divide(rows, found.values, out=np.zeros_like(rows), where=found.values > 0))


def solve_mvsc(
    graphs: Sequence[sparse.csr_array],
    k: int,
    *,
    exponent: float = 2.0,
    weight_rule: WeightRule = "paper",
    wanted: Array | None = None,
    tol: float = 1e-6,
    max_iter: int = 50,
) -> MVSCResult:
    r"""Run the alternating updates.

    Parameters
    ----------
    graphs : sequence of CSR of shape (n, p)
        Normalised graph of each view.
    k : int
        Number of clusters.
    exponent : float, default=2.0
        Exponent r of the weights; not 1.
    weight_rule : {"paper", "released"}, default="paper"
        "paper": by the loss :math:`k - \operatorname{tr}(U^\top Z_v W)`. "released": by
        :math:`\operatorname{tr}(U^\top Z_v Z_v^\top U)` with unit rows of U, which gives agreeing views less weight.
    tol : float, default=1e-6
        Relative change of the objective that ends the iterations.
    max_iter : int, default=50
        Most iterations.

    Returns
    -------
    MVSCResult
        The embedding of the last graph, and the weights after it.
    """
    wanted = np.ones(len(graphs)) if wanted is None else wanted
    losses_of = _losses if weight_rule == "paper" else _released_losses

    def step(state: MVSCState) -> tuple[MVSCState, float]:
        factors = wanted * (state.alpha / wanted) ** exponent  # of the copies of a view, which share its weight
        found = bipartite_embedding(weighted_graph(graphs, factors), k)
        losses = losses_of(graphs, found)
        powers = (exponent * losses) ** (1.0 / (1.0 - exponent))
        alpha = wanted * powers / (wanted @ powers)
        return MVSCState(alpha, factors, found), float(wanted * (alpha / wanted) ** exponent @ losses)

    start = MVSCState(wanted / wanted.sum())
    # by the released rule the objective may rise, and go on doing so every other time
    last, history = alternate(step, start, tol=tol, max_iter=max_iter, rising=weight_rule == "paper")
    assert last.embedding is not None
    assert last.factors is not None
    return MVSCResult(last.embedding, last.factors, last.alpha, history)


class MVSCState(NamedTuple):
    """Weights for the next iteration; factors and embedding of this one."""

    alpha: Array
    factors: Array | None = None
    embedding: BipartiteEmbedding | None = None


def weighted_graph(graphs: Sequence[sparse.csr_array], factors: Array) -> sparse.csr_array:
    """Return the sum of the graphs, each times its factor."""
    return sparse.csr_array(sum(a * Z for a, Z in zip(factors, graphs, strict=True)))


def _losses(graphs: Sequence[sparse.csr_array], found: BipartiteEmbedding) -> Array:
    k = found.values.size
    return np.array([max(k - np.vdot(found.U, Z @ found.W), LEAST) for Z in graphs])


def _released_losses(graphs: Sequence[sparse.csr_array], found: BipartiteEmbedding) -> Array:
    rows = unit_rows(found.U)
    return np.array([np.square(Z.T @ rows).sum() for Z in graphs])


class MVSC(EmbeddingClusterer, PredictMixin):
    r"""Large-scale multi-view spectral clustering via bipartite graphs (MVSC).

    Every view links its samples to a few anchors; the weighted sum of these graphs is cut by spectral clustering, and
    a view counts the more, the better the common embedding fits it:

    .. math:: \min_{G^\top G = I,\, \alpha \in \Delta} \sum_v \alpha_v^r \operatorname{tr}(G^\top L_v G)

    with the normalised Laplacians :math:`L_v` of graphs of n samples and p anchors. k-means on the unit rows of the
    part U of G that belongs to the samples, together with those of the anchors, gives the clusters.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters k.
    n_anchors : int, default=None
        Number of anchors p, more than k. None: 400, or a fifth of the samples where that is less, but at least
        2 k n_neighbors, so that samples find their neighbours among the anchors of their own cluster. More of them
        describe the samples more finely, at cubic cost.
    anchor_space : {"concatenated", "balanced"}, default="concatenated"
        Where k-means seeks the anchors. "concatenated": the scaled views side by side, as in the paper, where views
        with many columns decide. "balanced": every view divided by the root of its total variance, and the 2k leading
        principal directions of all views together; faster for wide views, and no better (mean NMI over 15 real sets
        0.49 against 0.50).
    n_neighbors : int, default=5
        Anchors to which a sample is linked in each view; raising it joins clusters that are close.
    weight_exponent : float, default=2.0
        Exponent r of the weights, above 1; raising it makes them more equal. The paper chose it for each data set by
        the true classes, the released default of 1 is undefined.
    weight_rule : {"paper", "released"}, default="paper"
        "paper": a view counts by its loss :math:`\operatorname{tr}(G^\top L_v G)`. "released": by a quantity that is
        large for views that agree, so that these count less.
    n_init : int, default=10
        Starts of the final k-means; raising it makes the labels depend less on the seed.
    tol : float, default=1e-6
        Relative change of the objective that ends the iterations; raising it ends them earlier.
    max_iter : int, default=100
        Most iterations.
    view_weights : mapping or sequence of float, default=None
        What each view counts, relative to the others: 2 counts its graph as if it were given twice, beside the weight
        that is learned; 0 leaves it out. Views that a mapping leaves out get 1. By default all alike.
    scaling : {"auto", "standard", "minmax", "unit", "tfidf"}, mapping or None, default="auto"
        What is done to each view first. "auto": dense views to 0..1 in every column, tf-idf and unit rows if sparse.
    views : list of int or mapping, default=None
        How one table is cut into views.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the anchors and of the k-means starts.
    n_jobs : int, default=None
        Views whose samples are linked to anchors at a time; -1 uses all cores.
    verbose : int, default=0
        1 prints what is being done.

    Attributes
    ----------
    labels_ : ndarray of shape (n,), int64
        Cluster of each sample, 0 .. k-1, largest cluster first.
    view_weights_ : ndarray of shape (V,)
        Weights α of the views, of sum 1.
    anchors_ : dict of str to ndarray of shape (p, d_v)
        Anchors of each view, in the scaled features.
    anchor_labels_ : ndarray of shape (p,), int64
        Cluster of each anchor.
    embedding_ : ndarray of shape (n, k)
        Singular vectors U of the weighted graph.
    inertia_ : float
        Sum of squared distances of the unit rows, with those of the anchors, to the centres of k-means.
    confidence_ : ndarray of shape (n,)
        1 - nearest / second nearest distance to the centres: 0 is a tie.
    history_ : History
        Objective after each iteration. With ``weight_rule="paper"`` it never rises while the graph stays connected.
    n_iter_, converged_ : int, bool
        Iterations made, and whether ``tol`` was met.
    scalings_ : tuple of str or None
        What was done to each view first; None for nothing.
    n_views_in_, n_features_in_ : int
        Number of views and of columns in all.
    view_names_in_, n_view_features_in_ : ndarray of shape (V,)
        Names of the views and their numbers of columns.

    Raises
    ------
    ValueError
        If ``n_anchors`` is at most k or above the number of samples that are observed in all views.

    See Also
    --------
    FastMICE : An ensemble of such graphs; faster and more stable.
    LMVSC : Links found by least squares.

    Notes
    -----
    Cost: O(n p Σ d_v) for the links, O(n K² V²) and O(p³) per iteration, of which there are about ten: linear in n. No
    n × p array is made. Anchors are chosen from at most 10 000 rows.

    The first singular vectors are left out, as in the paper, where the graph is connected; otherwise they tell
    clusters apart and are kept. A sample that was not observed in a view has no links there; anchors are chosen from
    samples observed in all.

    New samples: their links to the stored anchors give rows of U as they do for the training samples, whose labels they
    repeat. The paper lets the anchors linked to a sample vote by ``anchor_labels_`` instead, which may differ for
    training samples.

    References
    ----------
    Y. Li, F. Nie, H. Huang, J. Huang. Large-Scale Multi-View Spectral Clustering via Bipartite Graph. AAAI 2015,
    2750-2756. https://doi.org/10.1609/aaai.v29i1.9598

    Examples
    --------
    >>> from manyviews import MVSC, datasets
    >>> data = datasets.make_blobs_views(n_samples=90, n_features=(5, 4), n_clusters=3, random_state=0)
    >>> model = MVSC(n_clusters=3, random_state=0).fit(data.views)
    >>> bool((model.predict(data.views) == model.labels_).all())
    True
    """

    _accepts_missing: ClassVar[bool] = True
    _dense_scaling: ClassVar[str] = "minmax"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = EmbeddingClusterer._parameter_constraints | {
        "n_anchors": [POSITIVE_INT, None],
        "anchor_space": [one_of("balanced", "concatenated")],
        "n_neighbors": [POSITIVE_INT],
        "weight_exponent": [ABOVE_ONE],
        "weight_rule": [one_of("paper", "released")],
        "tol": [NON_NEGATIVE],
        "max_iter": [POSITIVE_INT],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_anchors: int | None = None,
        anchor_space: AnchorSpace = "concatenated",
        n_neighbors: int = 5,
        weight_exponent: float = 2.0,
        weight_rule: WeightRule = "paper",
        n_init: int = 10,
        tol: float = 1e-6,
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
        self.n_anchors = n_anchors
        self.anchor_space = anchor_space
        self.n_neighbors = n_neighbors
        self.weight_exponent = weight_exponent
        self.weight_rule = weight_rule
        self.n_init = n_init
        self.tol = tol
        self.max_iter = max_iter

    def _memory_estimate(self, views: Views) -> int:
        n, V, k = len(views), len(views.names), self.n_clusters
        p = self._anchor_count(n)
        anchors = int(4 * min(1.0, ANCHOR_ROWS / n) * sum(map(copy_bytes, views.arrays)))
        links = 12 * n * min(self.n_neighbors, p) * (3 * V + 2)
        blocks = 2 * max(copy_bytes(X) * min(1.0, ROWS_PER_BLOCK / n) for X in views.arrays) + SEARCH_BYTES
        rows = 8 * (n + p) * 4 * k + kmeans_bytes(n + p, k)
        stored = 16 * p * sum(int(X.shape[1]) for X in views.arrays)
        return int(max(anchors, links + blocks + 4 * 8 * p * p + rows) + stored)

    def _fit(self, views: Views, rng: np.random.Generator) -> NDArray[np.int64]:
        whole, self._told, scalings = views, self._telling(views), self._choose_scalings(views)
        views = self._told_views(whole)
        self._scaling = tuple(fit_scaling(X, scalings[v]) for v, X in zip(self._told, views.arrays, strict=True))
        anchor_rng, label_rng = rng.spawn(2)
        self._say("choosing anchors")
        self.anchors_ = dict(zip(views.names, self._choose_anchors(views, anchor_rng), strict=True))
        given = self._anchor_views(views)
        self._widths = [_mean_square(given, v, A) for v, A in enumerate(self.anchors_.values())]
        self._say("linking the samples to them")
        graphs = self._links(given)
        self._column_sums = [np.asarray(Z.sum(axis=0)).ravel() for Z in graphs]
        graphs = [normalize_columns(*parts) for parts in zip(graphs, self._column_sums, strict=True)]
        self._say("weighting the views")
        found = solve_mvsc(
            graphs,
            self.n_clusters,
            exponent=self.weight_exponent,
            weight_rule=self.weight_rule,
            wanted=self._weights[self._told],
            tol=self.tol,
            max_iter=self.max_iter,
        )
        self._solution, self._factors = found.embedding, found.factors
        anchor_rows = unit_rows(found.embedding.W)
        rows = np.vstack([unit_rows(found.embedding.U), anchor_rows])
        weights = np.zeros(len(whole.names))
        weights[self._told] = found.alpha
        labels = self._group(rows, found.history, label_rng, embedding=found.embedding.U, weights=weights)
        self._anchor_clusters = nearest_center_distances(anchor_rows, self._centers).argmin(axis=1)
        return labels

    def _told_views(self, views: Views) -> Views:
        return views.select([views.names[v] for v in self._told])

    def _anchor_views(self, views: Views) -> AnchorViews:
        return AnchorViews(views.arrays, self._scaling, views.observed)

    def _anchor_count(self, n: int) -> int:
        if self.n_anchors is not None:
            return self.n_anchors
        k = self.n_clusters
        return min(n, max(k + 1, 2 * k * self.n_neighbors, min(USUAL_ANCHORS, n // 5)))

    def _choose_anchors(self, views: Views, rng: np.random.Generator) -> list[Array]:
        complete = np.flatnonzero(views.observed.all(axis=1))
        n, k = complete.size, self.n_clusters
        p = self._anchor_count(n)
        # of as few samples as clusters each is an anchor
        if not min(k + 1, len(views)) <= p <= n:
            raise ValueError(
                f"n_anchors={p} must be more than n_clusters={k} and at most the number of samples observed in all "
                f"views, which is {n} of n_samples={len(views)}"
            )
        whole = views if n == len(views) else views[complete]
        given = AnchorViews(whole.arrays, self._scaling)
        wanted = self._weights[self._told]
        return given.shared_anchors(p, rng, space=self.anchor_space, n_directions=2 * k, n_init=1, wanted=wanted)

    def _links(self, given: AnchorViews) -> list[sparse.csr_array]:
        """Return the links of every sample to its nearest anchors in each view; none where it was not observed."""

        def of_view(v: int, A: Array, width: float) -> sparse.csr_array:
            K = min(self.n_neighbors, len(A))
            index = build_index(A, "euclidean", K)
            parts = []
            for rows in row_blocks(len(given)):
                near = find_anchors(index, given.block(v, rows).astype(np.float64, copy=False), K)
                links, seen = neighbor_links(near, len(A), width), given.seen(v, rows)
                parts.append(links if seen is None else sparse.diags_array(seen.astype(np.float64)) @ links)
            return sparse.csr_array(sparse.vstack(parts, format="csr"))

        views = zip(range(len(self._widths)), self.anchors_.values(), self._widths, strict=True)
        return list(in_threads(of_view, views, self.n_jobs))

    @property
    def anchor_labels_(self) -> NDArray[np.int64]:
        """Clusters of the anchors, numbered as ``labels_``, shape (p,)."""
        return np.asarray(self._order[self._anchor_clusters])

    def _predict(self, views: Views) -> NDArray[np.int64]:
        graphs = self._links(self._anchor_views(self._told_views(views)))
        graphs = [normalize_columns(*parts) for parts in zip(graphs, self._column_sums, strict=True)]
        U = projected(weighted_graph(graphs, self._factors), self._solution)
        return np.asarray(nearest_center_distances(unit_rows(U), self._centers).argmin(axis=1))


def _mean_square(given: AnchorViews, v: int, A: Array) -> float:
    """Return the mean squared distance of the observed samples of a view to its anchors, without any of these."""
    seen = given.seen(v)
    n = len(given) if seen is None else int(seen.sum())
    total, squares = np.zeros(A.shape[1]), 0.0
    for rows in row_blocks(len(given)):
        block = given.block(v, rows)
        total += np.asarray(block.sum(axis=0, dtype=np.float64)).ravel()
        squares += float(squared_lengths(block).sum())
    mean = squares / n + float(np.square(A).sum(axis=1).mean()) - 2.0 * float(total / n @ A.mean(axis=0))
    return mean if mean > np.finfo(float).tiny else 1.0
