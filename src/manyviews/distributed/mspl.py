"""MSPL over blocks: self-paced k-means, whose weights, labels and losses stay with the rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyviews.cluster.kmeans.mspl import PacedHistory
from manyviews.cluster.result import FitResult
from manyviews.distributed.door import BlockViews
from manyviews.distributed.fitted import as_dask
from manyviews.distributed.grouping import BlockSteps, PartRows
from manyviews.distributed.kmeans import means_over_blocks
from manyviews.distributed.mspl_blocks import (
    StackSource,
    StackTotals,
    assigned_pair,
    block_entries,
    block_labels,
    ended,
    loss_pair,
    loss_sums,
    losses_of,
    masses_of,
    merged_losses,
    paced_sums,
    paced_totals,
    row_losses,
    stack_confidence,
    started,
    swept,
    turned,
    view_rows,
    weights_of,
    without_sums,
)
from manyviews.distributed.parts import Parts
from manyviews.distributed.quantile import block_quantile
from manyviews.distributed.sample_weights import read_counts
from manyviews.distributed.scalings import block_balanced
from manyviews.optim.self_paced import PacingKind
from manyviews.prototypes.lloyd import lloyd
from manyviews.prototypes.pacing import Pacing, raise_pace
from manyviews.prototypes.starts import clustered_start, start_size
from manyviews.prototypes.weighted import (
    Stack,
    weighted_means,
)
from manyviews.views import Views

__all__ = ["fit_mspl"]

Array = NDArray[Any]
Labels = NDArray[np.int64]
Radii = tuple[float | None, ...]
TINY = float(np.finfo(np.float64).tiny)


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
    source = StackSource(model._balanced, model._radii(views.names), model._weights[:, None])
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
    run = PacedRun(views.parts.map(started, shared=(source, centers)), centers)

    def sweep(pace: float, scale: float) -> bool:
        return _sweep(views, source, run, pace, scale, pacing.kind) == 0

    raise_pace(pacing, _first_pace(views, run.blocks, pacing.share), sweep)
    _finish(views, source, run, tol=model.tol, max_iter=model.max_iter)
    return run


def _sample(views: BlockViews, source: StackSource, rows: Labels) -> Stack:
    """Return the stack of some rows, at the client."""
    arrays = [views.parts.read(rows, view_rows, (v,)) for v in range(len(views.names))]
    return source.stack(Views(arrays), read_counts(views.counts, rows))


def _sweep(views: BlockViews, source: StackSource, run: PacedRun, pace: float, scale: float, kind: PacingKind) -> int:
    """Make one sweep at a fixed pace, as ``paced_sweep`` does; return how many pairs are held back still."""
    k, shared = len(run.centers[0]), (source, pace, scale, kind)
    totals = views.parts.total(paced_totals, run.blocks, views.counts, shared=(*shared, k))
    run.centers = _means(totals, run.centers, source.radii)
    step = partial(swept, number=len(run.sweeps) + 1)
    given = (*shared, run.centers)
    found, weighed = views.parts.mapped(step, run.blocks, views.counts, shared=given, sums=paced_sums)
    run.blocks = found.map(without_sums)
    objective, mass, pairs, held_back = weighed
    run.sweeps.append((float(objective) / scale, pace, float(mass) / (float(pairs) or 1.0)))
    return int(held_back)


def _finish(views: BlockViews, source: StackSource, run: PacedRun, *, tol: float, max_iter: int) -> None:
    """Do what ``stack_kmeans`` does, with weight 1."""
    k = len(run.centers[0])
    steps = BlockSteps(
        views.parts,
        views.counts,
        assigned_pair,
        StackTotals(source),
        row_losses,
        lambda centers: (source, centers),
        lambda totals, masses, previous: _means(totals, previous, source.radii),
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
    run.blocks = run.blocks.map(ended, end.labels.pairs, views.parts, shared=(source.times, entered))  # type: ignore[attr-defined]
    run.centers, run.converged, run.loss = end.centers, end.converged, float(end.objective[-1])


def _first_pace(views: BlockViews, blocks: Parts, share: float) -> float:
    """Return what ``first_pace`` does, from blocks of losses."""
    tops, sums, counts = views.parts.total(loss_sums, blocks, views.counts, combine=merged_losses)
    told = np.flatnonzero(tops > 1e-12 * tops.max(initial=0.0))
    n = float(counts[told].sum())
    if n == 0:
        return 0.0
    pairs = views.parts.map(loss_pair, blocks, views.counts)
    pace = block_quantile(pairs, losses_of, (told,), n, share)
    return pace if pace > 1e-12 * tops[told].max() else float(sums[told].sum()) / n


def _store(model: Any, views: BlockViews, source: StackSource, run: PacedRun) -> Parts:
    V, k = len(views.names), model.n_clusters
    model.inertia_, model._centers = run.loss, run.centers
    model.selection_order_ = as_dask(run.blocks.map(block_entries), np.int64, V).T
    model._last_pace = pace = _first_pace(views, run.blocks, model.initial_share)
    scale = 6.0 / pace if pace > 0 else 1.0
    weights = views.parts.map(weights_of, run.blocks, shared=(source, pace, scale, model.pacing))
    model.sample_weights_ = as_dask(weights.map(turned), np.float64, V).T
    masses = weights.total(masses_of, views.counts)
    means = masses / np.maximum([held.n for held in views.summaries], TINY)
    labels = run.blocks.map(block_labels)
    model._means = means_over_blocks(views, labels, k)
    confidence = as_dask(views.parts.map(stack_confidence, shared=(source, run.centers)), np.float64)
    values, paces, shares = map(np.array, zip(*run.sweeps, strict=True))
    history = PacedHistory(values, len(values), run.converged, paces, shares)
    none = np.zeros(0, dtype=np.int64)
    model._record(FitResult(none, history, weights=model._weights * means, confidence=confidence))
    return labels


def _means(totals: list[tuple[Array, Array]], previous: list[Array], radii: Radii) -> list[Array]:
    parts = zip(totals, previous, radii, strict=True)
    return [weighted_means(mass, sums, last, radius) for (mass, sums), last, radius in parts]
