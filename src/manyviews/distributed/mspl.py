"""MSPL over blocks: self-paced k-means, whose weights, labels and losses stay with the rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from manyviews.cluster.kmeans.mspl import ALL_IN, ENTRY_WEIGHT, MAX_STAGES, PacedHistory
from manyviews.cluster.result import FitResult
from manyviews.distributed.door import BlockViews
from manyviews.distributed.fitted import as_dask
from manyviews.distributed.grouping import BlockSteps, PartRows
from manyviews.distributed.kmeans import means_over_blocks
from manyviews.distributed.parts import Parts
from manyviews.distributed.quantile import block_quantile
from manyviews.distributed.scalings import block_balanced
from manyviews.linalg.balance import BalancedScaling, apply_balanced
from manyviews.optim.self_paced import PacingKind, paced_losses, paced_weights
from manyviews.partitions.discretize import center_confidence
from manyviews.prototypes.lloyd import lloyd
from manyviews.prototypes.pacing import Pacing, loss_factor
from manyviews.prototypes.starts import clustered_start, start_size
from manyviews.prototypes.weighted import (
    Assignment,
    Stack,
    assign,
    center_distances,
    make_stack,
    weighted_means,
    weighted_totals,
)
from manyviews.views import Views

__all__ = ["fit_mspl"]

Array = NDArray[Any]
Labels = NDArray[np.int64]
Radii = tuple[float | None, ...]


class StackSource(NamedTuple):
    """How a block becomes a stack of scaled views."""

    balanced: list[BalancedScaling]
    radii: Radii

    def stack(self, views: Views) -> Stack:
        """Return the stack of a block."""
        arrays = tuple(apply_balanced(X, how) for X, how in zip(views.arrays, self.balanced, strict=True))
        return make_stack(arrays, views.observed.T, self.radii)


class PacedBlock(NamedTuple):
    """Labels (b,), losses (V, b) and the sweep in which each pair came in, (V, b)."""

    labels: Labels
    losses: Array
    entries: Labels


@dataclass
class PacedRun:
    """One start on its way: blocks, centres, and objective, pace and mean weight of each sweep."""

    blocks: Parts
    centers: list[Array]
    sweeps: list[tuple[float, float, float]] = field(default_factory=list)
    converged: bool = False
    loss: float = np.inf


def fit_mspl(model: Any, views: BlockViews, rng: np.random.Generator) -> Parts:
    """Fit an ``MSPL`` and return its labels, before they are numbered."""
    _, start_rng = rng.spawn(2)
    kinds = model._choose_scalings(views.head)
    model._balanced = block_balanced(views, kinds, model._weights.tolist(), balance=model.balance_views)
    source = StackSource(model._balanced, model._radii(views.names))
    _check(model, source.radii)
    pacing = Pacing(model.pacing, model.initial_share, model.growth, model.n_sweeps, model.loss_scale)
    model._say(f"{model.n_init} start(s) over {len(views.names)} views")
    best: PacedRun | None = None
    for child in start_rng.spawn(model.n_init):
        run = _run(model, views, source, pacing, child)
        if best is None or run.loss < best.loss:
            best = run
    assert best is not None
    return _store(model, views, source, best)


def _check(model: Any, radii: Radii) -> None:
    if model.keep_labels:
        raise ValueError("MSPL over blocks keeps no labels of sweeps: leave keep_labels=False, or fit in memory")
    if np.ptp(model._weights) > 0:
        raise ValueError("MSPL over blocks has no place for view_weights that differ: leave them out, or fit in memory")
    if model.init not in ("auto", "k-means++", "random") or (model.init == "auto" and any(radii)):
        raise ValueError(
            f"MSPL over blocks starts from clusterings of some samples, and init={model.init!r} would look at the "
            "directions of all here: say init='k-means++', or fit in memory"
        )


def _run(model: Any, views: BlockViews, source: StackSource, pacing: Pacing, rng: np.random.Generator) -> PacedRun:
    """Do what ``self_paced_kmeans`` does, from one start."""
    n, k, spread = len(views), model.n_clusters, model.init != "random"
    size = start_size(n, k, fraction=model.init_fraction, spread=spread)
    rows = np.arange(n) if size == n else np.sort(rng.choice(n, size, replace=False))
    centers = clustered_start(_sample(views, source, rows), k, rng, spread=spread)
    run = PacedRun(views.parts.map(_started, shared=(source, centers)), centers)
    pace = _first_pace(views, run.blocks, pacing.share)
    if pacing.kind != "none" and pace > 0:
        scale = loss_factor(pacing, pace)
        for _ in range(MAX_STAGES):
            held_back = 0
            for _ in range(pacing.n_sweeps):
                held_back = _sweep(views, source, run, pace, scale, pacing.kind)
            pace *= pacing.growth
            if held_back == 0:
                break
    _finish(views, source, run, tol=model.tol, max_iter=model.max_iter)
    return run


def _sample(views: BlockViews, source: StackSource, rows: Labels) -> Stack:
    """Return the stack of some rows, at the client."""
    arrays = [views.parts.read(rows, _view_rows, (v,)) for v in range(len(views.names))]
    return source.stack(Views(arrays))


def _sweep(views: BlockViews, source: StackSource, run: PacedRun, pace: float, scale: float, kind: PacingKind) -> int:
    """Make one sweep at a fixed pace, as ``paced_sweep`` does; return how many pairs are held back still."""
    k, shared = len(run.centers[0]), (source, pace, scale, kind)
    totals = views.parts.total(_paced_totals, run.blocks, shared=(*shared, k))
    run.centers = _means(totals, run.centers, source.radii)
    step = partial(_swept, number=len(run.sweeps) + 1)
    found, weighed = views.parts.mapped(step, run.blocks, shared=(*shared, run.centers), sums=_paced_sums)
    run.blocks = found.map(_without_weights)
    objective, mass, pairs, held_back = weighed
    run.sweeps.append((float(objective) / scale, pace, float(mass) / max(pairs, 1)))
    return int(held_back)


def _finish(views: BlockViews, source: StackSource, run: PacedRun, *, tol: float, max_iter: int) -> None:
    """Do what ``stack_kmeans`` does, with weight 1."""
    k = len(run.centers[0])
    steps = BlockSteps(
        views.parts,
        _assign,
        _Totals(source),
        _row_losses,
        lambda centers: (source, centers),
        lambda totals, sizes, previous: _means(totals, previous, source.radii),
        lambda centers: len(centers[0]),
    )
    end = lloyd(
        steps.assign,
        steps.update,
        run.centers,
        k,
        max_iter=max_iter,
        each=steps.losses,
        settled=lambda last, now: last - now < tol * last,
        rows=PartRows(steps),
    )
    n_paced = len(run.sweeps)
    run.sweeps += [(float(value), np.inf, 1.0) for value in end.objective[1:]]
    entered = n_paced + 1 if len(run.sweeps) > n_paced else 0
    run.blocks = run.blocks.map(_ended, end.labels.pairs, views.parts, shared=(entered,))  # type: ignore[attr-defined]
    run.centers, run.converged, run.loss = end.centers, end.converged, float(end.objective[-1])


def _first_pace(views: BlockViews, blocks: Parts, share: float) -> float:
    """Return what ``first_pace`` does, from blocks of losses."""
    tops, sums, counts = views.parts.total(_loss_sums, blocks, combine=_merged_losses)
    told = np.flatnonzero(tops > 1e-12 * tops.max(initial=0.0))
    n = int(counts[told].sum())
    if n == 0:
        return 0.0
    pairs = views.parts.map(_pair, blocks)
    pace = block_quantile(pairs, _losses_of, (told,), n, share)
    return pace if pace > 1e-12 * tops[told].max() else float(sums[told].sum()) / n


def _store(model: Any, views: BlockViews, source: StackSource, run: PacedRun) -> Parts:
    V, k = len(views.names), model.n_clusters
    model.inertia_, model._centers = run.loss, run.centers
    model.selection_order_ = as_dask(run.blocks.map(_entries), np.int64, V).T
    pace = _first_pace(views, run.blocks, model.initial_share)
    scale = 6.0 / pace if pace > 0 else 1.0
    weights = views.parts.map(_weights, run.blocks, shared=(source, pace, scale, model.pacing))
    model.sample_weights_ = as_dask(weights.map(_turned), np.float64, V).T
    masses = weights.total(_masses)
    means = masses / np.maximum([held.observed for held in views.summaries], 1)
    labels = run.blocks.map(_labels)
    model._means = means_over_blocks(views, labels, k)
    confidence = as_dask(views.parts.map(_confidence, shared=(source, run.centers)), np.float64)
    values, paces, shares = map(np.array, zip(*run.sweeps, strict=True))
    history = PacedHistory(values, len(values), run.converged, paces, shares)
    none = np.zeros(0, dtype=np.int64)
    model._record(FitResult(none, history, weights=means, confidence=confidence))
    return labels


def _means(totals: list[tuple[Array, Array]], previous: list[Array], radii: Radii) -> list[Array]:
    parts = zip(totals, previous, radii, strict=True)
    return [weighted_means(mass, sums, last, radius) for (mass, sums), last, radius in parts]


class _Totals:
    """Sums of the rows of a block in clusters, per view, with weight 1."""

    def __init__(self, source: StackSource) -> None:
        self.source = source

    def __call__(self, views: Views, labels: Labels, k: int) -> list[tuple[Array, Array]]:
        stack = self.source.stack(views)
        return _stack_totals(stack, labels, stack.ones, k)


def _stack_totals(stack: Stack, labels: Labels, weights: Array, k: int) -> list[tuple[Array, Array]]:
    return [weighted_totals(X, labels, k, w) for X, w in zip(stack.arrays, weights, strict=True)]


def _started(views: Views, source: StackSource, centers: list[Array]) -> PacedBlock:
    found = assign(source.stack(views), centers)
    return PacedBlock(found.labels, found.losses, np.zeros(found.losses.shape, dtype=np.int64))


def _weights(
    views: Views, block: PacedBlock, source: StackSource, pace: float, scale: float, kind: PacingKind
) -> Array:
    weights = paced_weights(block.losses * scale, pace * scale, kind)
    return weights if views.observed.all() else weights * views.observed.T


def _paced_totals(
    views: Views, block: PacedBlock, source: StackSource, pace: float, scale: float, kind: PacingKind, k: int
) -> list[tuple[Array, Array]]:
    weights = _weights(views, block, source, pace, scale, kind)
    return _stack_totals(source.stack(views), block.labels, weights, k)


def _swept(
    views: Views,
    block: PacedBlock,
    source: StackSource,
    pace: float,
    scale: float,
    kind: PacingKind,
    centers: list[Array],
    *,
    number: int,
) -> tuple[PacedBlock, tuple[float, float, int, int]]:
    """Assign a block with its weights, and return also objective, mass, pairs and how many of them are held back."""
    weights, observed = _weights(views, block, source, pace, scale, kind), views.observed.T
    found: Assignment = assign(source.stack(views), centers, weights)
    entries = block.entries.copy()
    entries[(weights >= ENTRY_WEIGHT) & (entries == 0)] = number
    objective = float(paced_losses(found.losses * scale, pace * scale, kind).sum())
    held_back = int(np.count_nonzero((weights <= ALL_IN) & observed))
    sums = objective, float(weights.sum()), int(np.count_nonzero(observed)), held_back
    return PacedBlock(found.labels, found.losses, entries), sums


def _paced_sums(views: Views, found: tuple[PacedBlock, tuple[float, float, int, int]]) -> tuple[Any, ...]:
    return found[1]


def _without_weights(found: tuple[PacedBlock, Any]) -> PacedBlock:
    return found[0]


def _assign(views: Views, source: StackSource, centers: list[Array]) -> tuple[Labels, Array]:
    found = assign(source.stack(views), centers)
    return found.labels, found.losses


def _row_losses(views: Views, losses: Array) -> Array:
    return np.asarray(losses.sum(axis=0))


def _ended(block: PacedBlock, pair: tuple[Labels, Array], views: Views, entered: int) -> PacedBlock:
    late = (block.entries == 0) & views.observed.T
    return PacedBlock(pair[0], pair[1], np.where(late, entered, block.entries))


def _loss_sums(views: Views, block: PacedBlock) -> tuple[Array, Array, Array]:
    """Return the largest loss, the sum of losses and the number of pairs of each view, (V,)."""
    return block.losses.max(axis=1, initial=0.0), block.losses.sum(axis=1), views.observed.sum(axis=0)


def _merged_losses(found: list[tuple[Array, Array, Array]]) -> tuple[Array, Array, Array]:
    tops, sums, counts = zip(*found, strict=True)
    return np.max(tops, axis=0), np.sum(sums, axis=0), np.sum(counts, axis=0)


def _pair(views: Views, block: PacedBlock) -> tuple[Array, NDArray[np.bool_]]:
    return block.losses, views.observed.T


def _losses_of(pair: tuple[Array, NDArray[np.bool_]], told: Labels) -> Array:
    return pair[0][told][pair[1][told]]


def _view_rows(views: Views, places: Labels, v: int) -> Array:
    rows: Array = views.arrays[v][places]
    return rows


def _labels(block: PacedBlock) -> Labels:
    return block.labels


def _entries(block: PacedBlock) -> Labels:
    return block.entries.T


def _turned(weights: Array) -> Array:
    return weights.T


def _masses(weights: Array) -> Array:
    return np.asarray(weights.sum(axis=1))


def _confidence(views: Views, source: StackSource, centers: list[Array]) -> NDArray[np.float64]:
    stack = source.stack(views)
    return center_confidence(center_distances(stack, centers, slice(0, len(stack))))
