"""FastMICE over blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyviews.cluster.anchors.base import EnsembleSettings
from manyviews.cluster.parallel import one_blas_thread
from manyviews.cluster.result import FitResult
from manyviews.distributed.agreement import agreement_over_blocks, completed, fallback_over_blocks
from manyviews.distributed.anchor_cuts import ensemble_over_blocks
from manyviews.distributed.door import BlockViews
from manyviews.distributed.fitted import as_dask
from manyviews.distributed.parts import Parts
from manyviews.distributed.scalings import block_treatments, refuse_texts
from manyviews.partitions.ensemble_cut import ensemble_gram, mean_reliability

__all__ = ["fit_fastmice", "held"]


def fit_fastmice(model: Any, views: BlockViews, rng: np.random.Generator) -> Parts:
    """Fit a ``FastMICE`` and return its labels, before they are numbered."""
    if model.final != "agreement" or model.discretization != "cosine":
        raise ValueError(
            "FastMICE over blocks makes its last cut by agreement, with cosine k-means: leave final='agreement' and "
            "discretization='cosine', or fit in memory"
        )
    names = views.head.names
    metrics = [metric or "auto" for metric in model._of_each(model.metric, names, "metric")]
    scalings = model._scalings(names)
    refuse_texts(views, scalings, metrics)
    model._sparse_views = (False,) * len(names)
    model._told = model._telling(views.head)
    told = views.select(model._told)
    treatments = block_treatments(views, scalings, metrics)
    model.scalings_ = tuple(treatment.scaling.kind for treatment in treatments)
    draw_rng, fit_rng = rng.spawn(2)
    settings = model._settings(len(views), len(model._told), draw_rng)
    return _fit_ensemble(model, told, [treatments[v] for v in model._told], settings, fit_rng)


def _fit_ensemble(
    model: Any, views: BlockViews, treatments: list[Any], settings: EnsembleSettings, rng: np.random.Generator
) -> Parts:
    ensemble_rng, consensus_rng, fallback_rng = rng.spawn(3)
    k, draws = model.n_clusters, settings.draws
    model._say(f"{draws.n_clusters.size} base clusterings of {len(views)} samples")
    ensemble = ensemble_over_blocks(views, treatments, draws, settings.recipe, ensemble_rng, chances=model._chances())
    base, sizes = ensemble.labels, ensemble.sizes
    model._say(f"consensus over {int(sizes.sum())} base clusters")
    weights = None
    if settings.weighting == "reliability":
        weights = mean_reliability(base.total(_gram, views.counts, shared=(sizes,)), sizes)
    with one_blas_thread():
        labels, cut = agreement_over_blocks(base, views.counts, sizes, k, consensus_rng, weights=weights)
        model._fallback = fallback_over_blocks(views, treatments, labels, k, fallback_rng)
    model._consensus, model._cuts = cut, ensemble.cuts
    confidence = base.map(held, labels, shared=(cut,))
    model.base_labels_ = as_dask(base, np.int32, sizes.size)
    model.n_base_clusters_ = sizes
    found = FitResult.of_one_step(
        np.zeros(0, dtype=np.int64), cut.objective, confidence=as_dask(confidence, np.float64)
    )
    model._record(found)
    return completed(views.parts, labels, model._fallback)


def held(base_labels: NDArray[Any], labels: NDArray[np.int64], cut: Any) -> NDArray[np.float64]:
    """Return how firmly the base clusterings of a block put its samples in their clusters."""
    confidence: NDArray[np.float64] = cut.confidence(base_labels, labels)
    return confidence


def _gram(base_labels: NDArray[Any], counts: NDArray[Any] | None, sizes: NDArray[np.int64]) -> Any:
    return ensemble_gram(base_labels, sizes, np.ones(int(sizes.sum())), counts)
