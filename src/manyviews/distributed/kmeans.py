"""k-means over blocks: of the scaled views side by side, and what all methods with centres keep."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyviews.cluster.kmeans.concat_kmeans import distance_confidence
from manyviews.cluster.result import FitResult
from manyviews.distributed.door import BlockViews
from manyviews.distributed.fitted import as_dask
from manyviews.distributed.grouping import PartRows, RowSource, row_steps
from manyviews.distributed.parts import Parts
from manyviews.distributed.sample_weights import read_counts, uncounted
from manyviews.distributed.scalings import block_balanced
from manyviews.linalg.balance import BalancedScaling, apply_balanced, concatenate
from manyviews.linalg.blocks import squared_lengths
from manyviews.prototypes.block_kmeans import assign_rows
from manyviews.prototypes.kmeans import KMeansResult, kmeans
from manyviews.prototypes.lloyd import lloyd
from manyviews.prototypes.sampled_kmeans import START_ROWS
from manyviews.prototypes.weighted import weighted_means, weighted_totals
from manyviews.views import Views

__all__ = ["fit_concat_kmeans", "kmeans_over_blocks", "means_over_blocks", "nearest_rows", "scaled_side_by_side"]

Array = NDArray[Any]
Labels = NDArray[np.int64]


def fit_concat_kmeans(model: Any, views: BlockViews, rng: np.random.Generator) -> Parts:
    """Fit a ``ConcatKMeans`` and return its labels, before they are numbered."""
    kinds = model._choose_scalings(views.head)
    model._balanced = block_balanced(views, kinds, model._weights.tolist(), balance=model.balance_views)
    source = RowSource(scaled_side_by_side, (model._balanced,))
    options = {"n_init": model.n_init, "max_iter": model.max_iter, "counts": views.counts}
    found = kmeans_over_blocks(views.parts, source, model.n_clusters, rng, **options)
    history = model._keep(found)
    labels = views.parts.map(nearest_rows, shared=(source, found.centers))
    model._means = means_over_blocks(views, labels, model.n_clusters)
    confidence = views.parts.map(_confidence, shared=(source, found.centers))
    model._record(FitResult(found.labels, history, confidence=as_dask(confidence, np.float64)))
    return labels


def kmeans_over_blocks(
    parts: Parts,
    source: RowSource,
    k: int,
    rng: np.random.Generator,
    *,
    n_init: int = 10,
    max_iter: int = 100,
    counts: Parts | None = None,
) -> KMeansResult:
    """Group rows that ``source`` makes of blocks, as ``sampled_kmeans`` does; the labels are left to ``nearest_rows``.

    Starts are compared on at most 20 000 rows, at the client; the best is run on all rows, by sums over blocks.
    """
    n, none = parts.n_rows, np.zeros(0, dtype=np.int64)
    chosen = np.arange(n) if n <= START_ROWS else np.sort(rng.choice(n, START_ROWS, replace=False))
    counts = uncounted(parts) if counts is None else counts
    rows, own = parts.read(chosen, _read, (source,)), read_counts(counts, chosen)
    some = kmeans(rows, k, rng, n_init=n_init, max_iter=max_iter, weights=own)
    if n <= START_ROWS:
        return some._replace(labels=none)
    steps = row_steps(parts, "euclidean", source, counts)
    run = lloyd(
        steps.assign,
        steps.update,
        some.centers,
        k,
        max_iter=max_iter,
        each=steps.losses,
        rows=PartRows(steps),
    )
    inertia = float(run.objective[-1]) + float(parts.total(_squares, counts, shared=(source,)))
    return KMeansResult(none, run.centers, inertia, run.n_iter)


def means_over_blocks(views: BlockViews, labels: Parts, k: int) -> list[Array]:
    """Return the means of the clusters in each view, (k, d_v), in units of the data; NaN where no member was seen."""
    found = views.parts.total(_totals, labels, views.counts, shared=(k,))
    return [weighted_means(mass, sums, np.full(sums.shape, np.nan), None) for mass, sums in found]


def scaled_side_by_side(views: Views, balanced: list[BalancedScaling]) -> Array:
    """Return the scaled views of a block side by side, (b, d)."""
    rows: Array = concatenate(tuple(apply_balanced(X, how) for X, how in zip(views.arrays, balanced, strict=True)))
    return rows


def nearest_rows(value: Any, source: RowSource, centers: Array) -> Labels:
    """Return the nearest centre of each row of a block."""
    return assign_rows(source.rows(value), centers, "euclidean")[0]


def _confidence(value: Any, source: RowSource, centers: Array) -> NDArray[np.float64]:
    return distance_confidence(source.rows(value), centers)


def _read(value: Any, places: Labels, source: RowSource) -> Array:
    chosen: Array = source.rows(value[places])
    return chosen


def _squares(value: Any, counts: Array | None, source: RowSource) -> float:
    lengths = squared_lengths(source.rows(value), np.float64)
    return float(lengths.sum() if counts is None else lengths @ counts)


def _totals(views: Views, labels: Labels, counts: Array | None, k: int) -> list[tuple[Array, Array]]:
    seen = views.observed.T.astype(np.float64) * (1.0 if counts is None else counts)
    filled = (np.where(np.isnan(X[:, :1]), X.dtype.type(0), X) for X in views.arrays)
    return [weighted_totals(X, labels, k, w) for X, w in zip(filled, seen, strict=True)]
