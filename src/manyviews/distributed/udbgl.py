"""UDBGL over blocks: view graphs, their fusion and its components, with the links of samples at the workers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyviews.cluster.anchors.udbgl import GROUP_ITER, nearest_groups
from manyviews.cluster.result import FitResult
from manyviews.distributed.door import BlockViews
from manyviews.distributed.fitted import as_dask
from manyviews.distributed.grouping import RowSource
from manyviews.distributed.kmeans import kmeans_over_blocks, nearest_rows
from manyviews.distributed.parts import Parts
from manyviews.distributed.rank_search import (
    SearchSettings,
    components_over_blocks,
    first_components,
    graph_over_blocks,
)
from manyviews.distributed.scalings import block_scalings
from manyviews.graphs.anchor_views import ANCHOR_ROWS, ViewProducts, initial_graph, view_products
from manyviews.graphs.graph_fusion import (
    BipartiteFusion,
    FusionStep,
    fused_graph,
    fusion_objective,
    settled_fusion,
    solved_weights,
    update_view_graph,
    weight_products,
)
from manyviews.graphs.rank_graph import RankGraph
from manyviews.linalg.blocks import unit_rows
from manyviews.linalg.scaling import Scaling, apply_scaling
from manyviews.prototypes.concatenated_anchors import concatenated_anchors
from manyviews.views import Views

__all__ = ["fit_udbgl"]

Array = NDArray[Any]
Labels = NDArray[np.int64]


def fit_udbgl(model: Any, views: BlockViews, rng: np.random.Generator) -> Parts:
    """Fit a ``UDBGL`` and return its labels, before they are numbered."""
    if model.keep_labels:
        raise ValueError("UDBGL over blocks keeps no labels of iterations: leave keep_labels=False, or fit in memory")
    k, m = model.n_clusters, model._anchor_count(len(views))
    model._scaling = tuple(block_scalings(views, model._choose_scalings(views.head)))
    anchor_rng, label_rng, _ = rng.spawn(3)
    model._say(f"choosing {m} anchors")
    anchors = _anchors(model, views, m, anchor_rng)
    model.anchors_ = dict(zip(views.names, anchors, strict=True))
    model._say("learning the graph")
    settings = SearchSettings(model.projection, model.rank_rule, model.support, model.first_scales, model.max_passes)
    result = settled_fusion(
        _steps(model, views, anchors, settings),
        lambda B: graph_over_blocks(B, k, settings),
        k,
        tol=model.tol,
        max_iter=model.max_iter,
        released=model.rank_rule == "released",
    )
    labels = _groups(model, result.graph, label_rng)
    _store(model, result, labels, m)
    return labels


def _anchors(model: Any, views: BlockViews, m: int, rng: np.random.Generator) -> list[Array]:
    """Return the anchors of every view, chosen at the client from at most 10 000 rows."""
    n = len(views)
    rows = np.arange(n) if n <= ANCHOR_ROWS else np.sort(rng.choice(n, ANCHOR_ROWS, replace=False))
    scaled = [views.parts.read(rows, _scaled_rows, (v, scaling)) for v, scaling in enumerate(model._scaling)]
    return concatenated_anchors(
        scaled,
        m,
        rng,
        space=model.anchor_space,
        n_directions=2 * model.n_clusters,
        n_init=model.n_init,
        wanted=model._weights,
    )


def _steps(model: Any, views: BlockViews, anchors: list[Array], settings: SearchSettings) -> Iterator[FusionStep]:
    """Yield the steps of ``fusion_steps``."""
    k, alpha, beta = model.n_clusters, model.alpha, model.beta
    products = views.parts.map(_products, shared=(model._scaling, anchors))
    means = np.array(products.total(_distance_sums)) / (len(views) * len(anchors[0]))
    Z = products.map(_initial, shared=(model.n_neighbors, means))
    delta = model._weights / model._weights.sum()
    B = Z.map(fused_graph, shared=(delta,))
    none = np.zeros(0)
    start = RankGraph(None, none, none, 0, none, none)
    yield FusionStep(start, Z, delta, B, float(products.total(_first_objective, Z, B, shared=(alpha, beta))))
    while True:
        found = graph_over_blocks(B, k, settings)
        Z = products.map(_updated, Z, B, found.P, shared=(delta, alpha, beta))
        delta = solved_weights(*Z.total(_weight_products, found.P))
        B = Z.map(fused_graph, shared=(delta,))
        objective = float(products.total(_objective, Z, B, found.P, shared=(alpha, beta)))
        yield FusionStep(found, Z, delta, B, objective)


def _groups(model: Any, graph: RankGraph, rng: np.random.Generator) -> Parts:
    """Return the clusters of the samples, and store those of the anchors and the number of components."""
    k, found = model.n_clusters, components_over_blocks(graph.P)
    model.n_components_ = found.n_found
    if found.n_found == k or not model.fallback:
        order = np.lexsort((found.first, -found.sizes))
        cluster = np.full(order.size + 1, -1, dtype=np.int64)
        cluster[order] = np.minimum(np.arange(order.size), k - 1)
        model._anchor_clusters = cluster[found.anchors]
        # a sample without edges is a component by itself, one of the smallest
        labels: Parts = graph.P.map(_component_labels, shared=(found.anchors, cluster, k - 1))
        return labels
    samples: Parts = graph.U.map(_first)
    source = RowSource(_unit)
    centers = kmeans_over_blocks(samples, source, k, rng, max_iter=GROUP_ITER).centers
    model._anchor_clusters = nearest_groups(graph.V, centers)
    return samples.map(nearest_rows, shared=(source, centers))


def _store(model: Any, result: BipartiteFusion, labels: Parts, m: int) -> None:
    k, graph = model.n_clusters, result.graph
    model.graph_ = as_dask(graph.P.map(_dense), np.float64, m)
    confidence = as_dask(labels.map(_shares, result.B, shared=(model._anchor_clusters, k)), np.float64)
    embedding = as_dask(graph.U.map(_first), np.float64, k)
    none = np.zeros(0, dtype=np.int64)
    model._record(FitResult(none, result.history, result.delta, embedding, confidence))
    model.converged_ = result.history.converged and model.n_components_ == k


def _scaled_rows(views: Views, places: Labels, v: int, scaling: Scaling) -> Array:
    rows: Array = apply_scaling(views.arrays[v][places], scaling)
    return rows


def _products(views: Views, scalings: tuple[Scaling, ...], anchors: list[Array]) -> list[ViewProducts]:
    return [view_products(*parts) for parts in zip(views.arrays, scalings, anchors, strict=True)]


def _distance_sums(products: list[ViewProducts]) -> list[float]:
    return [float(view.distances.sum()) for view in products]


def _initial(products: list[ViewProducts], n_neighbors: int, means: Array) -> list[Array]:
    return [initial_graph(view.distances, n_neighbors, float(mean)) for view, mean in zip(products, means, strict=True)]


def _first_objective(products: list[ViewProducts], Z: list[Array], B: Array, alpha: float, beta: float) -> float:
    return fusion_objective(products, Z, B, B, alpha, beta)


def _objective(products: list[ViewProducts], Z: list[Array], B: Array, P: Any, alpha: float, beta: float) -> float:
    return fusion_objective(products, Z, B, P.toarray(), alpha, beta)


def _updated(
    products: list[ViewProducts], Z: list[Array], B: Array, P: Any, delta: Array, alpha: float, beta: float
) -> list[Array]:
    P = P.toarray()
    return [
        update_view_graph(view, Z_v, d, B - d * Z_v - P, alpha, beta)
        for view, Z_v, d in zip(products, Z, delta, strict=True)
    ]


def _weight_products(Z: list[Array], P: Any) -> tuple[Array, Array]:
    return weight_products(Z, P.toarray())


def _component_labels(P: Any, anchors: Labels, cluster: Labels, alone: int) -> Labels:
    own = first_components(P, anchors)
    return np.where(own >= 0, cluster[own], alone)


def _unit(rows: Array) -> Array:
    return np.asarray(unit_rows(rows))


def _first(samples: tuple[Array, Array]) -> Array:
    return samples[0]


def _dense(P: Any) -> Array:
    return np.asarray(P.toarray())


def _shares(labels: Labels, B: Array, clusters: Labels, k: int) -> Array:
    """Return which share of its links each sample has to the anchors of its own cluster."""
    members = (clusters[:, None] == np.arange(k)).astype(np.float64)
    return np.asarray((B @ members)[np.arange(labels.size), labels])
