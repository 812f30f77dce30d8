r"""Co-regularised spectral clustering: an embedding per view, each pulled towards those of the others.

Pairwise: maximise :math:`\sum_v \operatorname{tr}(U_v^\top L_v U_v) + \lambda \sum_{v<w} \|U_v^\top U_w\|_F^2`;
centroid: maximise :math:`\sum_v \operatorname{tr}(U_v^\top L_v U_v) + \lambda \sum_v \|U_v^\top U_*\|_F^2`, over
matrices with orthonormal columns. :math:`L_v = D_v^{-1/2} K_v D_v^{-1/2}`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manyviews.cluster.constraints import NON_NEGATIVE, POSITIVE_INT, one_of
from manyviews.cluster.memory import kmeans_bytes
from manyviews.cluster.spectral.base import GRAPH_CONSTRAINTS, GraphsClusterer, affinity_graph
from manyviews.graphs.laplacian import normalized_adjacency
from manyviews.kernels.embedding import common_projection
from manyviews.linalg.blocks import unit_rows
from manyviews.linalg.eigen import DENSE_LIMIT, fix_signs, leading_subspace, top_eigenpairs
from manyviews.optim.alternating import alternate
from manyviews.optim.history import History
from manyviews.views import Views

__all__ = ["CoRegSpectral", "CoRegularized", "solve_coreg"]

Array = NDArray[np.float64]
Scheme = Literal["pairwise", "centroid"]
SPARE_VECTORS = 6
EIGEN_TOL = 1e-7


class CoRegularized(NamedTuple):
    """Embedding of each view U (n, k), with "centroid" their common one (n, k), and the history."""

    U: list[Array]
    centroid: Array | None
    history: History


def solve_coreg(
    adjacencies: Sequence[Any],
    k: int,
    *,
    scheme: Scheme = "pairwise",
    coupling: float = 0.05,
    wanted: Array | None = None,
    tol: float = 1e-6,
    max_iter: int = 10,
) -> CoRegularized:
    """Run the sweeps; each step is the best for what it changes, so that the objective never falls.

    Parameters
    ----------
    adjacencies : sequence of (n, n) arrays, dense or CSR
        Normalised graph of each view.
    k : int
        Number of clusters.
    scheme : {"pairwise", "centroid"}, default="pairwise"
        Whether views are pulled towards one another, in the order 2, ..., V, 1, or towards a common embedding.
    coupling : float, default=0.05
        Weight λ of the agreement.
    tol : float, default=1e-6
        Relative change of the objective that ends the sweeps.
    max_iter : int, default=10
        Most sweeps.

    Returns
    -------
    CoRegularized
        The common embedding is that of the last embeddings of the views.
    """
    times = np.ones(len(adjacencies)) if wanted is None else wanted
    sweep = _pairwise_sweep if scheme == "pairwise" else _centroid_sweep
    blocks = [_leading(N, [], 0.0, k, None) for N in adjacencies]
    found, history = alternate(
        lambda blocks: sweep(adjacencies, blocks, k, coupling, times), blocks, tol=tol, max_iter=max_iter
    )
    U = [block[:, :k] for block in found]
    return CoRegularized(U, common_embedding(_rooted(U, times), k) if scheme == "centroid" else None, history)


def common_embedding(U: Sequence[Array], k: int) -> Array:
    """Return the leading eigenvectors of the sum of the projections onto some embeddings (n, k)."""
    stacked = np.hstack(list(U))
    return np.asarray(stacked @ common_projection(stacked, k))


def _pairwise_sweep(
    adjacencies: Sequence[Any], blocks: list[Array], k: int, coupling: float, times: Array
) -> tuple[list[Array], float]:
    V, blocks = len(blocks), list(blocks)
    for v in [*range(1, V), 0]:
        others = [times[w] ** 0.5 * blocks[w][:, :k] for w in range(V) if w != v]
        blocks[v] = _leading(adjacencies[v], others, coupling, k, blocks[v])
    U = [block[:, :k] for block in blocks]
    agreement = sum(times[v] * times[w] * _overlap(U[v], U[w]) for v in range(V) for w in range(v))
    return blocks, _fit(adjacencies, U, times) + coupling * float(agreement)


def _centroid_sweep(
    adjacencies: Sequence[Any], blocks: list[Array], k: int, coupling: float, times: Array
) -> tuple[list[Array], float]:
    common = common_embedding(_rooted([block[:, :k] for block in blocks], times), k)
    blocks = [_leading(N, [common], coupling, k, block) for N, block in zip(adjacencies, blocks, strict=True)]
    U = [block[:, :k] for block in blocks]
    shared = sum(w * _overlap(u, common) for w, u in zip(times, U, strict=True))
    return blocks, _fit(adjacencies, U, times) + coupling * float(shared)


def _rooted(U: Sequence[Array], times: Array) -> list[Array]:
    """Return each embedding times the root of how often its view is there."""
    return [w**0.5 * u for w, u in zip(times, U, strict=True)]


def _fit(adjacencies: Sequence[Any], U: list[Array], times: Array) -> float:
    return float(sum(w * np.vdot(u, N @ u) for N, u, w in zip(adjacencies, U, times, strict=True)))


def _overlap(A: Array, B: Array) -> float:
    return float(np.square(A.T @ B).sum())


def _leading(N: Any, others: list[Array], coupling: float, k: int, start: Array | None) -> Array:
    r"""Return the leading eigenvectors of :math:`N + λ \sum_w U_w U_w^\top`, some more than k as the next start."""
    n = N.shape[0]
    width = k + SPARE_VECTORS
    if n <= DENSE_LIMIT or width > n // 4:
        full = N.toarray() if sparse.issparse(N) else N
        for other in others:
            full = full + coupling * (other @ other.T)
        return top_eigenpairs(full, k)[1]
    if start is None:
        start = np.random.default_rng(0).standard_normal((n, width))

    def apply(X: Array) -> Array:
        Y = N @ X
        for other in others:
            Y += coupling * (other @ (other.T @ X))
        return np.asarray(Y)

    return fix_signs(leading_subspace(apply, start, k, tol=EIGEN_TOL)[1])


class CoRegSpectral(GraphsClusterer):
    r"""Co-regularised multi-view spectral clustering (CRSC; pairwise SC and centroid SC).

    Every view has a spectral embedding of its own, and they are pulled towards one another
    (``scheme="pairwise"``) or towards a common one (``scheme="centroid"``):

    .. math:: \max_{U_v^\top U_v = I_k} \sum_v \operatorname{tr}(U_v^\top L_v U_v)
              + \lambda \sum_{v < w} \|U_v^\top U_w\|_F^2
              \quad\text{or}\quad
              \max_{U_v, U_*} \sum_v \operatorname{tr}(U_v^\top L_v U_v) + \lambda \sum_v \|U_v^\top U_*\|_F^2

    with :math:`L_v = D_v^{-1/2} K_v D_v^{-1/2}` for a graph :math:`K_v`. k-means on unit rows gives the clusters.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters k.
    scheme : {"pairwise", "centroid"}, default="pairwise"
        What the embeddings are pulled towards.
    coupling : float, default=0.05
        Weight λ of the agreement. Raising it makes the views more alike; from about 0.5 on all follow one of them.
    affinity : {"nearest_neighbors", "gaussian", "distance"}, default="nearest_neighbors"
        The graph of a view. "nearest_neighbors": sparse. "gaussian": :math:`\exp(-\|x-y\|^2 / 2\sigma^2)`, as in the
        paper. "distance": each view holds the
        n × n distances between samples, of which the nearest neighbours are taken.
    n_neighbors : int, default=10
        Neighbours of a sample in the graph, itself included; raising it joins clusters that are close.
    width : float, default=None
        σ of "gaussian"; by default the median distance in each view. Raising it blurs small clusters.
    cluster_view : str, default=None
        With "pairwise", the name of the view whose embedding is grouped. None: all side by side.
    n_init : int, default=20
        Starts of k-means; raising it makes the labels depend less on the seed.
    tol : float, default=1e-6
        Relative change of the objective that ends the sweeps; raising it ends them earlier.
    max_iter : int, default=100
        Most sweeps; the released code makes 5. Raising it lets slow cases converge.
    view_weights : mapping or sequence of float, default=None
        What each view counts, relative to the others: 2 draws the other views to it twice as much; 0 leaves it out.
        Views that a mapping leaves out get 1. By default all alike.
    scaling : {"auto", "standard", "minmax", "unit", "tfidf"}, mapping or None, default="auto"
        What is done to each view first. "auto": standardised if dense, tf-idf and unit rows if sparse.
    views : list of int or mapping, default=None
        How one table is cut into views.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the k-means starts.
    n_jobs : int, default=None
        Graphs made at the same time; the result is the same for any number.
    verbose : int, default=0
        1 prints what is being done.

    Attributes
    ----------
    labels_ : ndarray of shape (n,), int64
        Cluster of each sample, 0 .. k-1, largest cluster first.
    view_embeddings_ : dict of str to ndarray of shape (n, k)
        Embedding U of each view, with orthonormal columns.
    embedding_ : ndarray of shape (n, q)
        What was grouped, before its rows were brought to unit length: the embeddings side by side or that of one
        view, or with "centroid" the common one.
    inertia_ : float
        Sum of squared distances of the unit rows to the centres of k-means.
    confidence_ : ndarray of shape (n,)
        1 - nearest / second nearest distance to the centres: 0 is a tie.
    history_ : History
        Objective after each sweep, which is maximised; it never falls.
    n_iter_, converged_ : int, bool
        Sweeps made, and whether ``tol`` was met.
    scalings_ : tuple of str or None
        What was done to each view first; None for nothing.
    n_views_in_, n_features_in_ : int
        Number of views and of columns in all.
    view_names_in_, n_view_features_in_ : ndarray of shape (V,)
        Names of the views and their numbers of columns.

    See Also
    --------
    SumSpectral : One embedding of the added graphs.
    RMSC : One graph that the views share but for sparse errors.

    Notes
    -----
    There is no rule for new samples. Cost: V graphs, O(n² Σ d_v); per sweep V problems of k eigenvectors each, started
    from those of the sweep before, O(n² k) with "gaussian", which keeps V arrays of n × n, and O(n n_neighbors k) with
    "nearest_neighbors", which keeps none.

    In the tables of later papers: "CRSC" with ``affinity="gaussian", scaling=None`` is the pairwise scheme, "centroid
    SC" the other one. The released code of the pairwise scheme passes only the first k columns of the embeddings side
    by side to k-means; here all are used.

    References
    ----------
    A. Kumar, P. Rai, H. Daumé III. Co-regularized Multi-view Spectral Clustering. NIPS 2011, 1413-1421.
    https://papers.nips.cc/paper/2011/hash/31839b036f63806cba3f47b93af8ccb5-Abstract.html

    Examples
    --------
    >>> from manyviews import CoRegSpectral, datasets
    >>> data = datasets.make_blobs_views(n_samples=90, n_features=(5, 4), n_clusters=3, random_state=0)
    >>> CoRegSpectral(n_clusters=3, random_state=0).fit(data.views).embedding_.shape
    (90, 6)
    """

    _sample_axes = GraphsClusterer._sample_axes | {"view_embeddings_": (0,)}
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = (
        GraphsClusterer._parameter_constraints
        | GRAPH_CONSTRAINTS
        | {
            "scheme": [one_of("pairwise", "centroid")],
            "coupling": [NON_NEGATIVE],
            "cluster_view": [str, None],
            "tol": [NON_NEGATIVE],
            "max_iter": [POSITIVE_INT],
        }
    )

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        scheme: Scheme = "pairwise",
        coupling: float = 0.05,
        affinity: str = "nearest_neighbors",
        n_neighbors: int = 10,
        width: float | None = None,
        cluster_view: str | None = None,
        n_init: int = 20,
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
        self.scheme = scheme
        self.coupling = coupling
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.width = width
        self.cluster_view = cluster_view
        self.n_init = n_init
        self.tol = tol
        self.max_iter = max_iter

    def _memory_estimate(self, views: Views) -> int:
        n, V, k = len(views), len(views.names), self.n_clusters
        blocks = 8 * n * (k + SPARE_VECTORS) * (V + 10) + kmeans_bytes(n, k * V)
        graphs = self._graph_bytes(views, self.affinity, self.n_neighbors)
        dense = 16 * n * n if n <= DENSE_LIMIT or k + SPARE_VECTORS > n // 4 else 0
        return graphs + blocks + dense

    def _fit(self, views: Views, rng: np.random.Generator) -> NDArray[np.int64]:
        if self.cluster_view is not None and (self.cluster_view not in views.names or self.scheme == "centroid"):
            raise ValueError(
                f"'cluster_view' must be None, or with scheme='pairwise' one of the views {list(views.names)}, "
                f"got {self.cluster_view!r} with scheme={self.scheme!r}"
            )
        self._say("making the graphs")
        make = affinity_graph(self.affinity, self.n_neighbors, self.width)
        adjacencies = self._per_view(views, lambda X: normalized_adjacency(make(X)))
        self._say("bringing the embeddings together")
        found = solve_coreg(
            adjacencies,
            self.n_clusters,
            scheme=self.scheme,
            coupling=self.coupling,
            wanted=self._weights,
            tol=self.tol,
            max_iter=self.max_iter,
        )
        self.view_embeddings_ = dict(zip(views.names, found.U, strict=True))
        embedding = np.hstack(_rooted(found.U, self._weights)) if found.centroid is None else found.centroid
        if self.cluster_view is not None:
            embedding = self.view_embeddings_[self.cluster_view]
        return self._group(unit_rows(embedding), found.history, rng, embedding=embedding)
