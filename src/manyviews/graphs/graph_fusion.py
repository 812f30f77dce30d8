r"""The steps of UDBGL beside its graph search: view graphs Z, the weights of the views, what they come to.

They minimise
:math:`\sum_v \bigl(\|X_v - Z_v A_v\|_F^2 + \alpha\|Z_v\|_F^2\bigr) + \beta\|\sum_v \delta_v Z_v - P\|_F^2`
for a common graph P.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from manyviews.graphs.anchor_views import ViewProducts
from manyviews.graphs.rank_graph import RankGraph
from manyviews.linalg.eigen import eigenvalues
from manyviews.linalg.simplex_qp import solve_simplex_qp
from manyviews.optim.history import History

__all__ = [
    "BipartiteFusion",
    "FusionStep",
    "fused_graph",
    "fusion_objective",
    "settled_fusion",
    "solved_weights",
    "update_view_graph",
    "update_view_weights",
    "weight_products",
]

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


def update_view_graph(
    view: ViewProducts, Z: Array | None, d: float, rest: Array | float, alpha: float, beta: float
) -> Array:
    """Z-step: row i minimises zᵀ[(α+βδ²)I + AAᵀ]z + zᵀ[-2Ax_i + 2βδ rest_i] over the simplex."""
    H = 2.0 * (view.gram + (alpha + beta * d**2) * np.eye(len(view.gram)))
    F = (2.0 * beta * d) * rest - 2.0 * view.cross
    return solve_simplex_qp(H, F, start=Z)


def update_view_weights(Z: Sequence[Array], P: Array) -> Array:
    """δ-step: minimise ‖Σ δ_v Z_v - P‖² over the simplex."""
    return solved_weights(*weight_products(Z, P))


def weight_products(Z: Sequence[Array], P: Array) -> tuple[Array, Array]:
    """Return the products of the view graphs with each other, (V, V), and with P, (1, V)."""
    flat = [Z_v.ravel() for Z_v in Z]
    return np.array([[x @ y for y in flat] for x in flat]), np.array([[x @ P.ravel() for x in flat]])


def solved_weights(gram: Array, target: Array) -> Array:
    """Return the weights (V,) of the δ-step from ``weight_products``."""
    size = float(np.trace(gram))
    if eigenvalues(gram)[-1] < 1e-12 * size:
        # equal views: this ridge shares the weight evenly between them
        gram = gram + 1e-8 * size * np.eye(len(gram))
    return np.asarray(solve_simplex_qp(gram, -target)[0])


def fused_graph(Z: Sequence[Array], delta: Array) -> Array:
    """Return the graph of all views, Σ δ_v Z_v."""
    return np.asarray(sum(d * Z_v for d, Z_v in zip(delta, Z, strict=True)))


def fusion_objective(
    products: Sequence[ViewProducts], Z: Sequence[Array], B: Array, P: Array, alpha: float, beta: float
) -> float:
    """Return the objective for view graphs Z, their fusion B and the common graph P."""
    errors = (view.error(Z_v) + alpha * float(np.vdot(Z_v, Z_v)) for view, Z_v in zip(products, Z, strict=True))
    return beta * float(np.square(B - P).sum()) + sum(errors)


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
