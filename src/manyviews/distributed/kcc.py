"""KCC over blocks: many k-means runs of each view, and k-means on their one-hot labels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyviews.cluster.ensemble.base import telling_rows
from manyviews.cluster.ensemble.base_labels import LearnedPartitions, prepared_rows
from manyviews.cluster.parallel import in_threads
from manyviews.cluster.result import FitResult
from manyviews.distributed.agreement import consensus_over_blocks
from manyviews.distributed.door import BlockViews
from manyviews.distributed.fitted import as_dask
from manyviews.distributed.grouping import PartRows, RowSource, row_steps
from manyviews.distributed.parts import Parts
from manyviews.distributed.sample_weights import are_counted
from manyviews.distributed.scalings import block_scalings
from manyviews.linalg.scaling import Scaling
from manyviews.partitions.basic import RUN_ITER, cluster_numbers, distinct_rows
from manyviews.partitions.coassociation import OneHotRows
from manyviews.partitions.discretize import center_confidence
from manyviews.partitions.utility_kmeans import TINY, assign_one_hot, base_cluster_sizes, block_costs, scales_of
from manyviews.prototypes.lloyd import lloyd
from manyviews.prototypes.sampled_kmeans import START_ROWS
from manyviews.views import Views

__all__ = ["fit_kcc"]

Array = NDArray[Any]
Labels = NDArray[np.int64]
# runs of k-means at a time: while the client waits for the sums of one, workers are busy with others
SIDE_BY_SIDE = 8


def fit_kcc(model: Any, views: BlockViews, rng: np.random.Generator) -> Parts:
    """Fit a ``KCC`` and return its labels, before they are numbered."""
    if model.base != "features":
        raise ValueError("KCC over blocks makes its partitions from features: leave base='features', or fit in memory")
    partition_rng, start_rng = rng.spawn(2)
    base = _partitions(model, views, partition_rng)
    widths = np.max(base.gather(_largest), axis=0) + 1
    model._widths = widths
    weights = model._partition_weights(widths.size)
    if model.normalize_utility:
        sizes = base.total(_sizes, views.counts, shared=(widths,))
        scales = scales_of(sizes, widths, model.utility, model.utility_power)
        weights = weights / np.maximum(scales, TINY)
    runs = (_run(model, base, views.counts, weights, child) for child in start_rng.spawn(model.n_init))
    best = min(runs, key=lambda run: run.history.objective[-1])
    model._costs = block_costs(best.centers, widths, weights, model.utility, model.utility_power)
    labels = base.map(_assigned, shared=(widths, model._costs))
    confidence = as_dask(base.map(_confidence, shared=(widths, model._costs)), np.float64)
    model.base_labels_ = as_dask(base, np.int64, widths.size)
    model._record(FitResult(np.zeros(0, dtype=np.int64), best.history, confidence=confidence))
    return labels


def _run(model: Any, base: Parts, counts: Parts, weights: Array, rng: np.random.Generator) -> Any:
    widths = model._widths
    seeds = base.read(np.sort(rng.choice(base.n_rows, model.n_clusters, replace=False)))
    centers = OneHotRows(seeds, widths)[:].toarray().astype(np.float64)
    return consensus_over_blocks(
        base,
        counts,
        widths,
        centers,
        weights=weights,
        utility=model.utility,
        power=model.utility_power,
        tol=model.tol,
        max_iter=model.max_iter,
    )


def _partitions(model: Any, views: BlockViews, rng: np.random.Generator) -> Parts:
    """Return the base labels (b, M) of all views that tell samples apart, and remember how to label new samples."""
    names = views.head.names
    scalings = block_scalings(views, model._choose_scalings(views.head))
    metrics = [model._metric_of(X) for X in views.head.arrays]
    directed = {v: scalings[v] for v, metric in enumerate(metrics) if metric == "cosine"}
    model._sources, made, silent = [], [], []
    counts = model._base_numbers()
    for v, child in enumerate(rng.spawn(len(names))):
        rows = SeenRows(v, scalings[v], metrics[v], directed)
        found = _learned(model, views, rows, counts[v], child)
        if found is None:
            silent.append(names[v])
            continue
        model._sources.append((v, found))
        made.append(views.parts.map(_labels, shared=(rows, found)))
    model._made = [v for v, _ in model._sources] or [0]
    model._check_silent(views, silent, made)
    base = made[0].map(_side_by_side, *made[1:]) if made else views.parts.map(_nothing)
    outside = int(base.total(_outside))
    if outside:
        raise ValueError(
            f"{outside} sample(s) are in no partition of the fit: observed in views without clusters only; drop them"
        )
    return base


@dataclass(frozen=True)
class SeenRows:
    """The rows of a view that say something, as k-means reads them, of any block."""

    view: int
    scaling: Scaling
    metric: Any
    directed: dict[int, Scaling]

    def seen(self, block: Views) -> NDArray[np.bool_]:
        """Return which rows of a block say something in the view."""
        told: NDArray[np.bool_] = telling_rows(block, self.directed)[:, self.view]
        return told

    def __call__(self, block: Views) -> Array:
        seen = self.seen(block)
        return np.asarray(prepared_rows(block.arrays[self.view][seen], self.scaling, self.metric))


def _learned(
    model: Any, views: BlockViews, rows: SeenRows, count: int, rng: np.random.Generator
) -> LearnedPartitions | None:
    """Run k-means so often on the rows of a view that say something."""
    sizes = np.array(views.parts.gather(_seen_count, shared=(rows,)), dtype=np.int64)
    seen = replace(views.parts, sizes=sizes)
    n = seen.n_rows
    some = np.arange(n) if n <= START_ROWS else np.sort(rng.choice(n, START_ROWS, replace=False))
    sample = seen.read(some, _seen_rows, (rows,))
    candidates = some[distinct_rows(sample)]
    if candidates.size < 2:
        return None
    low, high = model._range(len(views))
    children = rng.spawn(count + 1)
    numbers = np.clip(cluster_numbers(count, low, high, children[-1]), 2, candidates.size)
    model._say(f"{count} partitions of a view, {numbers.min()} to {numbers.max()} clusters")
    counts = views.counts
    if are_counted(counts):
        counts = views.parts.map(_seen_counts, counts, shared=(rows,))
    steps = row_steps(seen, rows.metric, RowSource(rows), counts)

    def one(k: int, child: np.random.Generator) -> Array:
        start = sample[np.searchsorted(some, child.choice(candidates, k, replace=False))]
        run = lloyd(steps.assign, steps.update, start, k, max_iter=RUN_ITER, each=steps.losses, rows=PartRows(steps))
        return np.asarray(run.centers)

    items = zip(map(int, numbers), children, strict=False)
    centers = list(in_threads(one, items, min(SIDE_BY_SIDE, count)))
    return LearnedPartitions(rows.scaling, rows.metric, np.vstack(centers), tuple(map(int, numbers)))


def _seen_count(block: Views, rows: SeenRows) -> int:
    return int(np.count_nonzero(rows.seen(block)))


def _seen_counts(block: Views, counts: Array, rows: SeenRows) -> Array:
    return np.asarray(counts[rows.seen(block)])


def _seen_rows(block: Views, places: Labels, rows: SeenRows) -> Array:
    return rows(block)[places]


def _labels(block: Views, rows: SeenRows, source: LearnedPartitions) -> Labels:
    return source.labels(block.arrays[rows.view], rows.seen(block))


def _side_by_side(*labels: Labels) -> Labels:
    return np.hstack(labels)


def _nothing(block: Views) -> Labels:
    return np.zeros((len(block), 1), dtype=np.int64)


def _outside(base_labels: Labels) -> int:
    return int(np.count_nonzero((base_labels < 0).all(axis=1)))


def _largest(base_labels: Labels) -> Labels:
    return np.asarray(base_labels.max(axis=0), dtype=np.int64)


def _sizes(base_labels: Labels, counts: Array | None, widths: Labels) -> Array:
    return base_cluster_sizes(OneHotRows(base_labels, widths), counts)


def _assigned(base_labels: Labels, widths: Labels, costs: Array) -> Labels:
    return assign_one_hot(OneHotRows(base_labels, widths), costs)[0]


def _confidence(base_labels: Labels, widths: Labels, costs: Array) -> NDArray[np.float64]:
    distances = OneHotRows(base_labels, widths)[:] @ costs
    return center_confidence(np.maximum(distances, 0.0))
