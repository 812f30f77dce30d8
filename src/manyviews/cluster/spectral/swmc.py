r"""SwMC: one graph near those of all views that has exactly k components, each view weighted by how near it is.

minimise :math:`\sum_v \|S - A_v\|_F` over S with rows on the simplex and :math:`\operatorname{rank}(L_S) = n - k`
(eq. 5 of the paper).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manyviews.cluster.constraints import NON_NEGATIVE, POSITIVE_INT, one_of
from manyviews.cluster.memory import kmeans_bytes
from manyviews.cluster.result import FitResult
from manyviews.cluster.spectral.base import ADAPTIVE_CONSTRAINTS, GraphsClusterer
from manyviews.graphs.laplacian import smallest_laplacian_vectors
from manyviews.linalg.eigen import DENSE_LIMIT, all_eigenpairs
from manyviews.linalg.simplex import project_segments
from manyviews.optim.alternating import alternate
from manyviews.optim.history import History
from manyviews.partitions.discretize import kmeans_rows
from manyviews.views import Views

__all__ = ["ComponentGraph", "SwMC", "SwMCResult", "solve_swmc"]

Array = NDArray[np.float64]
RankRule = Literal["components", "released"]
# sums of eigenvalues below this count as zero in the released code
ZERO = 1e-10
# a view that equals the common graph would get an infinite weight
LEAST_DISTANCE = 1e-12


class ComponentGraph(NamedTuple):
    """Graph S on the support, embedding F (n, k), component of each sample, number of components, passes made."""

    S: sparse.csr_array
    F: Array
    components: NDArray[np.int64]
    n_components: int
    n_passes: int


class SwMCResult(NamedTuple):
    """Last search, weights α (V,), objective history."""

    graph: ComponentGraph
    alpha: Array
    history: History


class SwMCState(NamedTuple):
    """Weights for the next iteration, and the graph of this one."""

    alpha: Array
    graph: ComponentGraph | None = None


def solve_swmc(
    graphs: Sequence[Any],
    k: int,
    *,
    alpha: Array | None = None,
    wanted: Array | None = None,
    rank_rule: RankRule = "components",
    tol: float = 1e-8,
    max_iter: int = 50,
    max_passes: int = 50,
) -> SwMCResult:
    """Run the reweighted iterations.

    Parameters
    ----------
    graphs : sequence of CSR of shape (n, n)
        One symmetric, non-negative affinity per view; the common graph has no links that none of them has.
    k : int
        Number of components sought.
    alpha : ndarray of shape (V,), default=None
        Weights at the start; equal by default.
    rank_rule : {"components", "released"}, default="components"
        How the passes learn whether there are k components: by counting, or by sums of eigenvalues.
    tol : float, default=1e-8
        Relative change of the objective that ends the iterations.
    max_iter : int, default=50
        Most iterations.
    max_passes : int, default=50
        Most passes of a search, each with another rank penalty.

    Returns
    -------
    SwMCResult
        Result of the last search.
    """
    views = on_support(graphs)
    pattern, values = views
    wanted = np.ones(len(graphs)) if wanted is None else wanted
    start = wanted / wanted.sum() if alpha is None else alpha

    def step(state: SwMCState) -> tuple[SwMCState, float]:
        alpha, found = state
        M = alpha @ values
        first = _with_data(pattern, M) if found is None else found.S
        found = component_graph(M, float(alpha.sum()), first, k, rank_rule=rank_rule, max_passes=max_passes)
        distances = np.maximum(np.linalg.norm(found.S.data - values, axis=1), LEAST_DISTANCE)
        return SwMCState(wanted * (0.5 / distances), found), float(wanted @ distances)

    (alpha, found), history = alternate(step, SwMCState(start), tol=tol, max_iter=max_iter)
    assert found is not None
    found.S.eliminate_zeros()
    return SwMCResult(found, alpha, history)


def on_support(graphs: Sequence[Any]) -> tuple[sparse.csr_array, Array]:
    """Return the union of the links of some graphs as CSR with sorted indices, and the links of each, (V, links)."""
    pattern = sparse.csr_array(sum(graphs))
    pattern.sort_indices()
    if pattern.nnz == 0:  # a single sample
        return pattern, np.zeros((len(graphs), 0))
    rows = np.repeat(np.arange(pattern.shape[0]), np.diff(pattern.indptr))
    return pattern, np.array([np.asarray(sparse.csr_array(graph)[rows, pattern.indices]).ravel() for graph in graphs])


def component_graph(
    M: Array,
    total: float,
    start: sparse.csr_array,
    k: int,
    *,
    rank_rule: RankRule = "components",
    max_passes: int = 50,
) -> ComponentGraph:
    """Seek the rank penalty that leaves k components.

    Parameters
    ----------
    M : ndarray of shape (links,)
        Weighted sum of the views' links.
    total : float
        Sum of the weights.
    start : CSR of shape (n, n)
        Graph whose eigenvectors the first pass uses.
    k : int
        Number of components.
    rank_rule : {"components", "released"}, default="components"
        See ``solve_swmc``.
    max_passes : int, default=50
        Most passes.

    Returns
    -------
    ComponentGraph
        Where no penalty gave k components, the graph of the last pass.
    """
    spectrum = _counted if rank_rule == "components" else _summed
    S, sizes = start, np.diff(start.indptr)
    rows = np.repeat(np.arange(S.shape[0]), sizes)
    F, components, _ = spectrum(_symmetric(S), k)
    penalty, passes = 1.0, 0
    for passes in range(1, max_passes + 1):  # noqa: B007 (read after the loop)
        gaps = np.square(F[rows] - F[S.indices]).sum(axis=1)
        S = _with_data(S, project_segments((M - 0.5 * penalty * gaps) / total, sizes))  # eq. 13
        new, components, sign = spectrum(_symmetric(S), k)
        if sign == 0:
            F = new
            break
        penalty, F = (2 * penalty, new) if sign < 0 else (penalty / 2, F)
    return ComponentGraph(S, F, components, int(components.max()) + 1, passes)


def _counted(A: sparse.csr_array, k: int) -> tuple[Array, NDArray[np.int64], int]:
    """Return eigenvectors, components, and whether these are too few (-1), k, or too many (1)."""
    F, components = smallest_laplacian_vectors(A, k)
    return F, components, int(np.sign(components.max() + 1 - k))


def _summed(A: sparse.csr_array, k: int) -> tuple[Array, NDArray[np.int64], int]:
    """Return the same, judged by the sums of the k and k + 1 smallest eigenvalues."""
    dense = A.toarray()
    values, vectors = all_eigenpairs(dense - np.diag(dense.sum(axis=0)))
    values = -values[: k + 1]
    components = sparse.csgraph.connected_components(A, directed=False)[1]
    sign = -1 if values[:k].sum() > ZERO else int(values.sum() < ZERO and values.size > k)
    return vectors[:, :k], components, sign


def _symmetric(S: sparse.csr_array) -> sparse.csr_array:
    A = S - sparse.diags_array(S.diagonal())
    A = sparse.csr_array(0.5 * (A + A.T))
    A.eliminate_zeros()
    return A


def _with_data(pattern: sparse.csr_array, data: Array) -> sparse.csr_array:
    return sparse.csr_array((data, pattern.indices, pattern.indptr), shape=pattern.shape)


class SwMC(GraphsClusterer):
    r"""Self-weighted multi-view clustering with multiple graphs (SwMC).

    One graph S lies near the graphs :math:`A_v` of all views and has exactly k connected components, which are the
    clusters; a view counts the more, the nearer it is:

    .. math:: \min_S \sum_v \|S - A_v\|_F
              \quad \text{s.t. } S \ge 0,\ S 1 = 1,\ \operatorname{rank}(L_S) = n - k

    with the Laplacian :math:`L_S` of :math:`(S + S^\top) / 2`. There is no weight to set, and no k-means at the end.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters k.
    affinity : {"adaptive", "distance"}, default="adaptive"
        The graph of each view. "distance": each view holds the n × n distances between samples, of which the graph of
        adaptive neighbours is made.
    n_neighbors : int, default=5
        Neighbours K of a sample in the graph of each view; raising it joins clusters that are close.
    graph_rule : {"joined", "released"}, default="joined"
        "joined": ``n_neighbors`` is doubled until the graphs of all views together have at most k components, as S has
        no links that none of them has and cannot join components. "released": it is taken as given.
    rank_rule : {"components", "released"}, default="components"
        How the search for the rank penalty learns whether there are k components. "components": it counts them.
        "released": by sums of eigenvalues below 1e-10, with a full decomposition in every pass.
    max_samples : int, default=3000
        Most samples for which a fit is started. Up to ``max_iter`` times ``max_passes`` eigenproblems are solved, and
        beyond some thousands of samples that takes hours; raise it to wait for them.
    n_init : int, default=10
        Starts of the k-means that stands in where no penalty gives k components.
    tol : float, default=1e-8
        Relative change of the objective that ends the iterations; raising it ends them earlier.
    max_iter : int, default=50
        Most iterations; raising it lets slow cases converge.
    max_passes : int, default=50
        Most penalties tried in each search.
    view_weights : mapping or sequence of float, default=None
        What each view counts, relative to the others: 2 counts its graph as if it were given twice, beside the weight
        that is learned; 0 leaves it out. Views that a mapping leaves out get 1. By default all alike.
    scaling : {"auto", "standard", "minmax", "unit", "tfidf"}, mapping or None, default="auto"
        What is done to each view first. "auto": dense views to 0..1 in every column, tf-idf and unit rows if sparse.
    views : list of int or mapping, default=None
        How one table is cut into views.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the k-means that stands in where no penalty gives k components; nothing else is random.
    n_jobs : int, default=None
        Graphs made at the same time; the result is the same for any number.
    verbose : int, default=0
        1 prints what is being done.

    Attributes
    ----------
    labels_ : ndarray of shape (n,), int64
        Cluster of each sample, 0 .. k-1, largest cluster first.
    view_weights_ : ndarray of shape (V,)
        Weights :math:`1 / 2\|S - A_v\|_F` of the views, brought to sum 1.
    graph_ : CSR array of shape (n, n)
        The common graph S.
    n_components_ : int
        Connected components of the graph.
    embedding_ : ndarray of shape (n, k)
        Eigenvectors of the k smallest eigenvalues of the Laplacian, equal for all samples of a component.
    n_neighbors_ : int
        Neighbours of a sample in the graphs that were used.
    confidence_ : ndarray of shape (n,)
        Share of the weighted links :math:`\sum_v \alpha_v A_v` of a sample that stay in its own cluster.
    history_ : History
        Objective after each iteration. From the second on it did not rise in any case tried; as S is the outcome of a
        search, that is not proved.
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
        If there are more than ``max_samples`` samples; the message names methods for so many.

    See Also
    --------
    AMGL : The same graphs, cut by k-means on their common embedding.
    UDBGL : A graph with exactly k components between samples and a few anchors.

    Notes
    -----
    There is no rule for new samples. Cost: O(n² Σ d_v) for the neighbours, then up to ``max_iter`` times ``max_passes``
    eigenproblems of a sparse n × n matrix and projections of its rows onto the simplex.

    The views begin with equal weights, where the released code draws them. Where no penalty gives exactly k components,
    the labels are those of k-means on the unit rows of ``embedding_``, ``converged_`` is False and a
    ``ConvergenceWarning`` says so. A component has two samples at least, so that more than n / 2 clusters are always
    found in that way. Of the paper this is SwMC; PwMC, which has a weight to set, is left out.

    References
    ----------
    F. Nie, J. Li, X. Li. Self-weighted Multiview Clustering with Multiple Graphs. IJCAI 2017, 2564-2570.
    https://doi.org/10.24963/ijcai.2017/357

    Examples
    --------
    >>> from manyviews import SwMC, datasets
    >>> data = datasets.make_blobs_views(n_samples=90, n_features=(5, 4), n_clusters=3, random_state=0)
    >>> SwMC(n_clusters=3, random_state=0).fit(data.views).n_components_
    3
    """

    _dense_scaling: ClassVar[str] = "minmax"
    _sample_axes = GraphsClusterer._sample_axes | {"graph_": (0, 1)}
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = (
        GraphsClusterer._parameter_constraints
        | ADAPTIVE_CONSTRAINTS
        | {
            "graph_rule": [one_of("joined", "released")],
            "rank_rule": [one_of("components", "released")],
            "max_samples": [POSITIVE_INT],
            "tol": [NON_NEGATIVE],
            "max_iter": [POSITIVE_INT],
            "max_passes": [POSITIVE_INT],
        }
    )

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        affinity: str = "adaptive",
        n_neighbors: int = 5,
        graph_rule: str = "joined",
        rank_rule: RankRule = "components",
        max_samples: int = 3_000,
        n_init: int = 10,
        tol: float = 1e-8,
        max_iter: int = 50,
        max_passes: int = 50,
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
        self.affinity = affinity
        self.view_weights = view_weights
        self.n_neighbors = n_neighbors
        self.graph_rule = graph_rule
        self.rank_rule = rank_rule
        self.max_samples = max_samples
        self.n_init = n_init
        self.tol = tol
        self.max_iter = max_iter
        self.max_passes = max_passes

    def _most_samples(self) -> int:
        return self.max_samples

    def _memory_estimate(self, views: Views) -> int:
        n, k = len(views), self.n_clusters
        links = 2 * self.n_neighbors * len(views.names) * n
        dense = 8 * 4 * n * n if self.rank_rule == "released" or n <= DENSE_LIMIT else 0
        search = 8 * links * (len(views.names) + 8) + 8 * links * k + dense
        return self._adaptive_bytes(views, self.n_neighbors) + search + kmeans_bytes(n, k)

    def _fit(self, views: Views, rng: np.random.Generator) -> NDArray[np.int64]:
        self._say("making the graphs")
        graphs = self._adaptive_graphs(views, self.n_neighbors, joined=self.graph_rule == "joined")
        self._say("joining them")
        found = solve_swmc(
            graphs,
            self.n_clusters,
            wanted=self._weights,
            rank_rule=self.rank_rule,
            tol=self.tol,
            max_iter=self.max_iter,
            max_passes=self.max_passes,
        )
        self.n_components_ = found.graph.n_components
        self.graph_ = found.graph.S
        labels = found.graph.components
        if self.n_components_ != self.n_clusters:
            labels = kmeans_rows(found.graph.F, self.n_clusters, rng, n_init=self.n_init).labels
        links = sum(a * A for a, A in zip(found.alpha, graphs, strict=True))
        confidence = own_share(links, labels)
        self._record(FitResult(labels, found.history, found.alpha, found.graph.F, confidence))
        cut = self.n_components_ == self.n_clusters or self._too_many_clusters()
        self.converged_ = found.history.converged and cut
        return labels

    def _too_many_clusters(self) -> bool:
        return bool(2 * self.n_clusters > len(self.embedding_))

    def _why_unconverged(self) -> str:
        if self.n_components_ == self.n_clusters or self._too_many_clusters():
            return super()._why_unconverged()
        return (
            f"learned a graph of {self.n_components_} connected components instead of {self.n_clusters}; the labels "
            "are those of k-means on its embedding: more n_neighbors or more max_passes may help"
        )


def own_share(graph: Any, labels: NDArray[np.int64]) -> Array:
    """Return which share of the links of each sample stay in its cluster, (n,); 1 where it has none."""
    links = sparse.coo_array(graph)
    rows, columns = links.row, links.col
    own = np.where(labels[rows] == labels[columns], links.data, 0.0)
    total = np.bincount(rows, weights=links.data, minlength=labels.size)
    inside = np.bincount(rows, weights=own, minlength=labels.size)
    return np.clip(np.divide(inside, total, out=np.ones(labels.size), where=total > 0), 0.0, 1.0)
