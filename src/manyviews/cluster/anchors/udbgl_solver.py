r"""Solver of UDBGL: view graphs Z, their fusion P with exactly c components, and view weights δ, learned together.

minimise :math:`\sum_v \bigl(\|X_v - Z_v A_v\|_F^2 + \alpha\|Z_v\|_F^2\bigr) + \beta\|\sum_v \delta_v Z_v - P\|_F^2`
over :math:`Z_v` and P with rows in the simplex, :math:`\delta` in the simplex, P with exactly c connected components.

Views enter only through the products :math:`X_v A_v^\top` (n, m), so sparse and dense ones are alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manyviews.graphs.anchor_views import ViewProducts
from manyviews.graphs.rank_graph import RankGraph, rank_constrained_graph
from manyviews.linalg.eigen import eigenvalues
from manyviews.linalg.simplex_qp import solve_simplex_qp
from manyviews.optim.history import History

__all__ = [
    "BipartiteFusion",
    "FusionStep",
    "fusion_steps",
    "initial_graph",
    "initial_graphs",
    "solve_udbgl",
    "update_view_graph",
    "update_view_weights",
]

Array = NDArray[np.float64]


class FusionStep(NamedTuple):
    """After an iteration: its graph search, view graphs Z, weights δ (V,), fused graph B = Σ δ Z, objective."""

    search: RankGraph
    Z: list[Array]
    delta: Array
    B: Array
    objective: float


class BipartiteFusion(NamedTuple):
    """Final graph search, view graphs Z (one (n, m) per view), weights δ (V,), B = Σ δ Z, and the history."""

    graph: RankGraph
    Z: list[Array]
    delta: Array
    B: Array
    history: History


def initial_graph(distances: Array, n_neighbors: int) -> Array:
    r"""Link each sample to its nearest anchors with weights :math:`\exp(-D_{ij} / 2s^2)`, s the mean of all D."""
    m = distances.shape[1]
    r = min(n_neighbors, m)
    s = float(distances.mean()) or 1.0
    nearest = np.argpartition(distances, r - 1, axis=1)[:, :r] if r < m else np.tile(np.arange(m), (len(distances), 1))
    kept = np.take_along_axis(distances, nearest, axis=1)
    # a common factor of a row does not change its shares, and keeps them from underflowing
    weights = np.exp(-(kept - kept.min(axis=1, keepdims=True)) / s / (2.0 * s))
    Z = np.zeros_like(distances)
    np.put_along_axis(Z, nearest, weights / weights.sum(axis=1, keepdims=True), axis=1)
    return Z


def solve_udbgl(
    products: Sequence[ViewProducts],
    c: int,
    *,
    alpha: float = 1e-3,
    beta: float = 1e-5,
    n_neighbors: int = 5,
    tol: float = 1e-5,
    max_iter: int = 20,
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
    **search : object
        Passed to ``rank_constrained_graph``.

    Returns
    -------
    BipartiteFusion
        ``history.converged`` tells of the iterations, not of the number of components. Should the last search not
        reach c components, the last graph of an iteration that did is returned.
    """
    steps = fusion_steps(products, initial_graphs(products, n_neighbors), c, alpha=alpha, beta=beta, **search)
    last = next(steps)
    objective: list[float] = []
    settled, good = False, None
    for step in islice(steps, max_iter):
        objective.append(step.objective)
        change = abs(step.objective - last.objective)
        settled = bool(change < 1e-3 * tol * step.objective or np.linalg.norm(step.delta - last.delta) < tol)
        last = step
        good = step.search if step.search.n_components == c else good
        if settled:
            break
    graph = rank_constrained_graph(last.B, c, **search)
    if good is not None and graph.n_components != c and search.get("rank_rule") != "released":
        graph = good
    return BipartiteFusion(graph, last.Z, last.delta, last.B, History(np.array(objective), len(objective), settled))


def initial_graphs(products: Sequence[ViewProducts], n_neighbors: int) -> list[Array]:
    """Return the view graphs of the start."""
    return [initial_graph(view.distances, n_neighbors) for view in products]


def fusion_steps(
    products: Sequence[ViewProducts], Z: list[Array], c: int, *, alpha: float, beta: float, **search: Any
) -> Iterator[FusionStep]:
    """Yield the start (with its B in place of a searched graph) and then every iteration, without end."""
    delta = np.full(len(Z), 1.0 / len(Z))
    B = _fuse(Z, delta)
    empty = np.zeros(0)
    start = RankGraph(sparse.csr_array(B), empty, empty, 0, empty, empty)
    yield FusionStep(start, Z, delta, B, _objective(products, Z, B, B, alpha, beta))
    while True:
        found = rank_constrained_graph(B, c, **search)
        P = found.P.toarray()
        # all views from the old Z, as in the released code
        Z = [
            update_view_graph(view, Z_v, d, B - d * Z_v - P, alpha, beta)
            for view, Z_v, d in zip(products, Z, delta, strict=True)
        ]
        delta = update_view_weights(Z, P)
        B = _fuse(Z, delta)
        yield FusionStep(found, Z, delta, B, _objective(products, Z, B, P, alpha, beta))


def update_view_graph(
    view: ViewProducts, Z: Array | None, d: float, rest: Array | float, alpha: float, beta: float
) -> Array:
    """Z-step: row i minimises zᵀ[(α+βδ²)I + AAᵀ]z + zᵀ[-2Ax_i + 2βδ rest_i] over the simplex."""
    H = 2.0 * (view.gram + (alpha + beta * d**2) * np.eye(len(view.gram)))
    F = (2.0 * beta * d) * rest - 2.0 * view.cross
    return solve_simplex_qp(H, F, start=Z)


def update_view_weights(Z: Sequence[Array], P: Array) -> Array:
    """δ-step: minimise ‖Σ δ_v Z_v - P‖² over the simplex."""
    flat = [Z_v.ravel() for Z_v in Z]
    gram = np.array([[x @ y for y in flat] for x in flat])
    size = float(np.trace(gram))
    if eigenvalues(gram)[-1] < 1e-12 * size:
        # equal views: this ridge shares the weight evenly between them
        gram = gram + 1e-8 * size * np.eye(len(gram))
    target = np.array([[x @ P.ravel() for x in flat]])
    return np.asarray(solve_simplex_qp(gram, -target)[0])


def _fuse(Z: Sequence[Array], delta: Array) -> Array:
    B = delta[0] * Z[0]
    for d, Z_v in zip(delta[1:], Z[1:], strict=True):
        B += d * Z_v
    return np.asarray(B)


def _objective(
    products: Sequence[ViewProducts], Z: Sequence[Array], B: Array, P: Array, alpha: float, beta: float
) -> float:
    value = beta * float(np.square(B - P).sum())
    for view, Z_v in zip(products, Z, strict=True):
        value += float(view.squares.sum()) - 2.0 * float(np.vdot(view.cross, Z_v))
        value += float(np.vdot(view.gram, Z_v.T @ Z_v)) + alpha * float(np.vdot(Z_v, Z_v))
    return value
