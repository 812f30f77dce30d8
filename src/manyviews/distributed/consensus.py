"""Consensus over blocks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyviews.cluster.consensus import make_ballot, vote_columns
from manyviews.cluster.consensus_members import SYSTEMS, treated_as, treatments_of, votes
from manyviews.cluster.parallel import one_blas_thread
from manyviews.cluster.result import FitResult
from manyviews.distributed.agreement import (
    agreement_over_blocks,
    completed,
    counts_taken,
    fallback_over_blocks,
    known_sample,
)
from manyviews.distributed.anchor_cuts import ensemble_over_blocks
from manyviews.distributed.door import BlockViews
from manyviews.distributed.fastmice import held
from manyviews.distributed.fitted import as_dask
from manyviews.distributed.parts import Parts
from manyviews.distributed.sample_weights import are_counted
from manyviews.distributed.scalings import block_treatments, refuse_texts
from manyviews.metrics.contingency import counted_table
from manyviews.metrics.information import normalized_information
from manyviews.partitions.agreement_cut import changed_without
from manyviews.views import Views

__all__ = ["fit_consensus"]

Array = NDArray[Any]
Labels = NDArray[np.int64]


def fit_consensus(model: Any, views: BlockViews, rng: np.random.Generator) -> Parts:
    """Fit a ``Consensus`` and return its labels, before they are numbered.

    Up to the number of samples at which other methods take part, the client reads the views for them.
    """
    anchor_rng, system_rng, cut_rng, fallback_rng = rng.spawn(4)
    names = views.head.names
    scalings = model._scalings(names)
    refuse_texts(views, ["auto"] * len(names), ["auto"] * len(names), hint="leave the view out, or fit in memory")
    model._told = model._telling(views.head)
    model._sparse_views = (False,) * len(names)
    told, chosen = views.select(list(map(int, model._told))), [scalings[v] for v in model._told]
    weights = model._weights[model._told]
    chances = weights / weights.sum()
    heads = told.head.arrays
    treatments = treatments_of(heads, chosen)
    learned = [_learned(told, chosen, treatment) for treatment in treatments]
    kinds = {v: treatment.scaling.kind for v, treatment in zip(model._told, learned[0], strict=True)}
    model.scalings_ = tuple(kinds.get(v) for v in range(len(names)))
    drawn = model._draws(len(views), len(heads), treatments, anchor_rng)
    ensembles = [
        ensemble_over_blocks(told, rules, draws, recipe, child, chances=chances)
        for rules, (_, draws, recipe, child) in zip(learned, drawn, strict=True)
    ]
    model._cuts = tuple(cut for ensemble in ensembles for cut in ensemble.cuts)
    asked = model.system_weight != 0 and model.n_clusters > 1
    found = _votes(told, model.n_clusters, chosen, system_rng, weights) if asked else []
    sizes, uses = [ensemble.sizes for ensemble in ensembles], [ensemble.uses(len(heads)) for ensemble in ensembles]
    ballot = make_ballot(sizes, uses, treatments, found, model.system_weight)
    columns = [ensemble.labels for ensemble in ensembles] + [_cut(told.parts, column) for column in vote_columns(found)]
    base_labels = columns[0].map(_stacked, *columns[1:])
    model._say(f"{ballot.sizes.size} partitions, {len(found)} of other methods")
    with one_blas_thread():
        return _elected(model, told, base_labels, ballot, learned[0], (cut_rng, fallback_rng))


def _learned(views: BlockViews, scalings: list[str | None], treatment: Any) -> list[Any]:
    effects = treated_as(views.head.arrays, scalings, treatment)
    return block_treatments(views, [scaling for scaling, _ in effects], [metric for _, metric in effects])


def _elected(
    model: Any, views: BlockViews, base_labels: Parts, ballot: Any, treatments: list[Any], rngs: tuple[Any, Any]
) -> Parts:
    k, sizes = model.n_clusters, ballot.sizes
    labels, cut = agreement_over_blocks(base_labels, views.counts, sizes, k, rngs[0], weights=ballot.weights)
    confidence = base_labels.map(held, labels, shared=(cut,))
    model._fallback = fallback_over_blocks(views, treatments, labels, k, rngs[1])
    changed = changed_without(*known_sample(base_labels, labels), cut, ballot.uses)
    counts = base_labels.total(counts_taken, labels, shared=(sizes, k))
    parts = np.split(counts, np.cumsum(sizes)[:-1])
    agreements = [normalized_information(counted_table(part)) if part.any() else 0.0 for part in parts]
    weights = model._keep(cut, ballot, agreements, changed)
    model.base_labels_ = as_dask(base_labels, np.int32, sizes.size)
    none = np.zeros(0, dtype=np.int64)
    confidence = as_dask(confidence, np.float64)
    model._record(FitResult.of_one_step(none, cut.objective, confidence=confidence, weights=weights))
    return completed(views.parts, labels, model._fallback)


def _votes(
    views: BlockViews, k: int, scalings: list[str | None], rng: np.random.Generator, weights: Array
) -> list[tuple[str, str, Labels]]:
    """Return the partitions of the other methods, which are made in memory."""
    if len(views) > max(system.most_samples for system in SYSTEMS):
        return []
    blocks = views.parts.home.fetch(views.parts.values)
    arrays = [np.concatenate(column) for column in zip(*(block.arrays for block in blocks), strict=True)]
    counts = np.concatenate(views.parts.home.fetch(views.counts.values)) if are_counted(views.counts) else None
    return list(votes(Views(dict(zip(views.head.names, arrays, strict=True))), k, scalings, rng, weights, counts))


def _cut(parts: Parts, labels: Array) -> Parts:
    """Send labels (n, r) to where the blocks of their rows are."""
    from dask import delayed

    assert parts.sizes is not None
    pieces = np.split(labels, np.cumsum(parts.sizes)[:-1])
    return replace(parts, values=parts.home.hold([delayed(np.array, pure=False)(piece) for piece in pieces]))


def _stacked(*columns: Array) -> Array:
    return np.hstack(columns)
