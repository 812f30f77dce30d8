r"""UDBGL: view graphs Z, their fusion P with exactly c components, and view weights δ, learned together.

minimise :math:`\sum_v \bigl(\|X_v - Z_v A_v\|_F^2 + \alpha\|Z_v\|_F^2\bigr) + \beta\|\sum_v \delta_v Z_v - P\|_F^2`
over :math:`Z_v` and P with rows in the simplex, :math:`\delta` in the simplex, P with exactly c connected components.

Views enter only through the products :math:`X_v A_v^\top` (n, m), so sparse and dense ones are alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manyviews.cluster.parallel import in_threads
from manyviews.graphs.anchor_views import ViewProducts, initial_graph
from manyviews.graphs.graph_fusion import fused_graph, fusion_objective, update_view_graph, update_view_weights
from manyviews.graphs.rank_graph import RankGraph, rank_constrained_graph
from manyviews.optim.history import History

__all__ = ["BipartiteFusion", "FusionStep", "fusion_steps", "initial_graphs", "settled_fusion", "solve_udbgl"]

Array = NDArray[Any]


class FusionStep(NamedTuple):
    """After an iteration: its graph search, view graphs Z, weights δ (V,), fused graph B = Σ δ Z, objective."""

    search: RankGraph
    Z: Any
    delta: Array
    B: Any
    objective: float


class BipartiteFusion(NamedTuple):
    """Final graph search, view graphs Z (one (n, m) per view), weights δ (V,), B = Σ δ Z, and the history."""

    graph: RankGraph
    Z: Any
    delta: Array
    B: Any
    history: History


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


def settled_fusion(
    steps: Iterator[FusionStep],
    search: Callable[[Any], RankGraph],
    c: int,
    *,
    tol: float,
    max_iter: int,
    released: bool,
    labels_of: Callable[[RankGraph], NDArray[np.int64]] | None = None,
) -> BipartiteFusion:
    """Take the steps until they settle, and search the graph of the last, wherever graphs are held.

    ``released`` keeps the last graph whatever number of components it has; see ``solve_udbgl`` for the rest.
    """
    last = next(steps)
    objective: list[float] = []
    labels: list[NDArray[np.int64]] = []
    settled, good = False, None
    for step in islice(steps, max_iter):
        objective.append(step.objective)
        change = abs(step.objective - last.objective)
        settled = bool(change < 1e-3 * tol * step.objective or np.linalg.norm(step.delta - last.delta) < tol)
        last = step
        if labels_of is not None:
            labels.append(labels_of(step.search))
        good = step.search if step.search.n_components == c else good
        if settled:
            break
    graph = search(last.B)
    if good is not None and graph.n_components != c and not released:
        graph = good
    history = History(np.array(objective), len(objective), settled)
    history = replace(history, labels=np.array(labels)) if labels else history
    return BipartiteFusion(graph, last.Z, last.delta, last.B, history)


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
