r"""AMGL: one embedding for the graphs of all views, each weighted by how well it fits, with nothing to set.

minimise :math:`\sum_v \sqrt{\operatorname{tr}(F^\top L_v F)}` over F with orthonormal columns (eq. 4 of the paper).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from manyviews.cluster.constraints import NON_NEGATIVE, POSITIVE_INT, one_of
from manyviews.cluster.memory import kmeans_bytes
from manyviews.cluster.spectral.base import ADAPTIVE_CONSTRAINTS, GraphsClusterer
from manyviews.graphs.laplacian import normalized_adjacency
from manyviews.graphs.normalized_cut import leading_eigenpairs
from manyviews.linalg.blocks import unit_rows
from manyviews.optim.alternating import alternate
from manyviews.optim.history import History
from manyviews.views import Views

__all__ = ["AMGL", "GraphFusion", "solve_amgl"]

Array = NDArray[np.float64]
# a view that k components fit without loss would get an infinite weight
LEAST_LOSS = 1e-12


class GraphFusion(NamedTuple):
    """Embedding F (n, k), weights α (V,), and the history."""

    F: Array
    alpha: Array
    history: History


def solve_amgl(
    graphs: Sequence[Any], k: int, *, wanted: Array | None = None, tol: float = 1e-8, max_iter: int = 100
) -> GraphFusion:
    r"""Run the reweighted iterations.

    Parameters
    ----------
    graphs : sequence of CSR of shape (n, n)
        One symmetric, non-negative affinity per view.
    k : int
        Number of clusters.
    wanted : ndarray of shape (V,), default=None
        How often each graph is there; once by default.
    tol : float, default=1e-8
        Relative change of the objective that ends the iterations.
    max_iter : int, default=100
        Most iterations.

    Returns
    -------
    GraphFusion
        The weights are :math:`1 / 2\sqrt{\operatorname{tr}(F^\top L_v F)}` (eq. 6), times how often a view
        is there, not normalised.
    """
    V = len(graphs)
    wanted = np.ones(V) if wanted is None else wanted
    adjacencies = [normalized_adjacency(graph) for graph in graphs]

    def step(state: tuple[Array, Array]) -> tuple[tuple[Array, Array], float]:
        alpha = state[0] / state[0].sum()
        F = leading_eigenpairs(sum(a * N for a, N in zip(alpha, adjacencies, strict=True)), k)[1]
        losses = np.array([k - np.einsum("ij,ij->", F, N @ F) for N in adjacencies])
        roots = np.sqrt(np.maximum(losses, LEAST_LOSS))
        return (wanted * (0.5 / roots), F), float(wanted @ roots)

    (alpha, F), history = alternate(step, (wanted / wanted.sum(), np.zeros((0, k))), tol=tol, max_iter=max_iter)
    return GraphFusion(F, alpha, history)


class AMGL(GraphsClusterer):
    r"""Parameter-free auto-weighted multiple graph learning (AMGL).

    One embedding fits the graphs of all views; a view counts the more, the better it fits:

    .. math:: \min_{F^\top F = I_k} \sum_v \sqrt{\operatorname{tr}(F^\top L_v F)}

    with the normalised Laplacians :math:`L_v` of graphs of adaptive neighbours. k-means on the rows of F gives the
    clusters. There is no weight to set.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters k.
    affinity : {"adaptive", "distance"}, default="adaptive"
        The graph of each view. "distance": each view holds the n × n distances between samples, of which the graph of
        adaptive neighbours is made.
    n_neighbors : int, default=5
        Neighbours K of a sample in each graph; raising it joins clusters that are close.
    graph_rule : {"joined", "released"}, default="joined"
        "joined": ``n_neighbors`` is doubled until all graphs together have at most k components, as samples of
        further components would have no place in F and end in one cluster. "released": it is taken as given.
    unit_rows : bool, default=False
        Whether the rows of F are brought to unit length before k-means, which ignores how central a sample is.
    n_init : int, default=20
        Starts of k-means, the released code has 1; raising it makes the labels depend less on the seed.
    tol : float, default=1e-6
        Relative change of the objective that ends the iterations; raising it ends them earlier. The released code has
        1e-8, which takes hundreds of iterations where one view fits without loss.
    max_iter : int, default=100
        Most iterations; raising it lets slow cases converge.
    view_weights : mapping or sequence of float, default=None
        What each view counts, relative to the others: 2 counts its graph as if it were given twice, beside the weight
        that is learned; 0 leaves it out. Views that a mapping leaves out get 1. By default all alike.
    scaling : {"auto", "standard", "minmax", "unit", "tfidf"}, mapping or None, default="auto"
        What is done to each view first. "auto": dense views to 0..1 in every column, tf-idf and unit rows if sparse.
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
    view_weights_ : ndarray of shape (V,)
        Weights :math:`1 / 2\sqrt{\operatorname{tr}(F^\top L_v F)}` of the views, brought to sum 1.
    embedding_ : ndarray of shape (n, k)
        F, with orthonormal columns.
    n_neighbors_ : int
        Neighbours of a sample in the graphs that were used.
    inertia_ : float
        Sum of squared distances to the centres of k-means.
    confidence_ : ndarray of shape (n,)
        1 - nearest / second nearest distance to the centres: 0 is a tie.
    history_ : History
        Objective after each iteration; it never rises.
    n_iter_, converged_ : int, bool
        Iterations made, and whether ``tol`` was met.
    scalings_ : tuple of str or None
        What was done to each view first; None for nothing.
    n_views_in_, n_features_in_ : int
        Number of views and of columns in all.
    view_names_in_, n_view_features_in_ : ndarray of shape (V,)
        Names of the views and their numbers of columns.

    See Also
    --------
    SwMC : The same graphs, joined into one with exactly k components.
    SumSpectral : Graphs of equal weight.

    Notes
    -----
    There is no rule for new samples. Cost: O(n² Σ d_v) for the neighbours, then k eigenvectors of a sparse matrix of
    at most 2 n K V entries per iteration, about ten of them; no n × n array is made.

    A view whose graph has k components by itself has no loss; its weight is that of a loss of 1e-12. Copies of a
    sample count as its neighbours with equal weights, where the released code divides 0 by 0. Of the paper, this is
    the clustering part.

    References
    ----------
    F. Nie, J. Li, X. Li. Parameter-Free Auto-Weighted Multiple Graph Learning: A Framework for Multiview Clustering
    and Semi-Supervised Classification. IJCAI 2016, 1881-1887. https://www.ijcai.org/Abstract/16/269

    Examples
    --------
    >>> from manyviews import AMGL, datasets
    >>> data = datasets.make_blobs_views(n_samples=90, n_features=(5, 4), n_clusters=3, random_state=0)
    >>> AMGL(n_clusters=3, random_state=0).fit(data.views).labels_.shape
    (90,)
    """

    _dense_scaling: ClassVar[str] = "minmax"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = (
        GraphsClusterer._parameter_constraints
        | ADAPTIVE_CONSTRAINTS
        | {
            "graph_rule": [one_of("joined", "released")],
            "unit_rows": ["boolean"],
            "tol": [NON_NEGATIVE],
            "max_iter": [POSITIVE_INT],
        }
    )

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        affinity: str = "adaptive",
        n_neighbors: int = 5,
        graph_rule: str = "joined",
        unit_rows: bool = False,
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
        self.affinity = affinity
        self.view_weights = view_weights
        self.n_neighbors = n_neighbors
        self.graph_rule = graph_rule
        self.unit_rows = unit_rows
        self.n_init = n_init
        self.tol = tol
        self.max_iter = max_iter

    def _memory_estimate(self, views: Views) -> int:
        n, k = len(views), self.n_clusters
        vectors = 8 * n * max(4 * k + 1, 40) + kmeans_bytes(n, k)
        return self._adaptive_bytes(views, self.n_neighbors) + vectors

    def _fit(self, views: Views, rng: np.random.Generator) -> NDArray[np.int64]:
        self._say("making the graphs")
        graphs = self._adaptive_graphs(views, self.n_neighbors, joined=self.graph_rule == "joined")
        self._say("weighting them")
        found = solve_amgl(graphs, self.n_clusters, wanted=self._weights, tol=self.tol, max_iter=self.max_iter)
        rows = unit_rows(found.F) if self.unit_rows else found.F
        return self._group(rows, found.history, rng, embedding=found.F, weights=found.alpha)
