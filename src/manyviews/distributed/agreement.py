"""The last cut over blocks, and what comes after it: samples without base labels, confidence, numbers of clusters."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyviews.distributed.anchor_cuts import read_treated, speaking_places
from manyviews.distributed.door import BlockViews
from manyviews.distributed.grouping import BlockSteps, PartRows
from manyviews.distributed.parts import Parts
from manyviews.distributed.sample_weights import are_counted, read_counts
from manyviews.graphs.anchor_graph import AnchorIndex, build_index
from manyviews.optim.history import History
from manyviews.partitions.agreement_cut import (
    MOST_ITERATIONS,
    SAMPLE_ROWS,
    TOLERANCE,
    AgreementCut,
    best_start,
)
from manyviews.partitions.coassociation import OneHotRows
from manyviews.partitions.ensemble_cut import part_of, taken_counts
from manyviews.partitions.fallback import REFERENCES, VOTERS, Fallback
from manyviews.partitions.utility_kmeans import ConsensusRun, assign_one_hot, block_costs, share_counts, shares_of
from manyviews.prototypes.lloyd import lloyd
from manyviews.prototypes.sampled_rows import ViewTreatment
from manyviews.views import Views

__all__ = [
    "agreement_over_blocks",
    "completed",
    "consensus_over_blocks",
    "counts_taken",
    "fallback_over_blocks",
    "known_sample",
]

Array = NDArray[Any]
Labels = NDArray[np.int64]


def agreement_over_blocks(
    base_labels: Parts, counts: Parts, sizes: Labels, k: int, rng: np.random.Generator, *, weights: Array | None = None
) -> tuple[Parts, AgreementCut]:
    """Find the partition that shares most with the base clusterings, as ``fit_agreement_cut`` does.

    Parameters
    ----------
    base_labels : Parts
        Base labels (b, M) of every block; -1 for none.
    counts : Parts
        How often samples count.
    sizes : ndarray of shape (M,)
        Numbers of clusters of the base clusterings.
    k : int
        Number of clusters.
    rng : Generator
        Source of the starts.
    weights : ndarray of shape (M,), default=None
        What each base clustering counts; 1 by default.

    Returns
    -------
    labels : Parts
        Labels, -1 for samples without a base label.
    cut : AgreementCut
        The rule.
    """
    weights = np.ones(sizes.size) if weights is None else np.asarray(weights, dtype=np.float64)
    every, linked = counts, replace(base_labels, sizes=np.array(base_labels.gather(_known_count), dtype=np.int64))
    n = linked.n_rows
    if n == 0:
        blank = np.zeros((int(sizes.sum()), k))
        cut = AgreementCut(sizes, weights, blank, blank, 0.0)
        return base_labels.map(_voted, shared=(cut,)), cut
    part = np.arange(n) if n <= SAMPLE_ROWS else np.sort(rng.choice(n, SAMPLE_ROWS, replace=False))
    mass = float(n)
    if are_counted(counts):
        counts = replace(base_labels.map(_known_counts, counts), sizes=linked.sizes)
        mass = float(counts.total(_sum))
    best = best_start(linked.read(part, _known_rows), sizes, k, weights, rng, read_counts(counts, part))
    if part.size < n:
        options: dict[str, Any] = {"weights": weights, "tol": TOLERANCE, "max_iter": MOST_ITERATIONS}
        best = consensus_over_blocks(linked, counts, sizes, best.centers, **options)
    costs = block_costs(best.centers, sizes, weights, "categorical", 2.0)
    cut = AgreementCut(sizes, weights, costs, costs, float(best.history.objective[-1]) / mass)
    labels = base_labels.map(_voted, shared=(cut,))
    taken = base_labels.total(_counts_taken, labels, every, shared=(sizes, k))
    return labels, cut._replace(share=part_of(taken))


def consensus_over_blocks(
    base_labels: Parts,
    counts: Parts,
    sizes: Labels,
    centers: Array,
    *,
    weights: Array,
    utility: str = "categorical",
    power: float = 2.0,
    tol: float,
    max_iter: int,
) -> ConsensusRun:
    """Run ``consensus_kmeans`` over blocks of base labels; the labels found are those of the rule, not returned.

    ``counts`` say how often the samples count that have a base label.
    """
    steps = BlockSteps(
        base_labels,
        counts,
        _assign_votes,
        _VoteTotals(sizes),
        _as_losses,
        lambda points: (sizes, block_costs(points, sizes, weights, utility, power)),
        lambda totals, masses, previous: shares_of(totals, masses, sizes, previous),
    )
    run = lloyd(
        steps.assign,
        steps.update,
        centers,
        len(centers),
        max_iter=max_iter - 1,
        settled=lambda last, now: last - now < tol,
        rows=PartRows(steps),
    )
    history = History(run.objective, run.objective.size, run.converged)
    return ConsensusRun(np.zeros(0, dtype=np.int64), run.centers, history)


def fallback_over_blocks(
    views: BlockViews, treatments: list[ViewTreatment], labels: Parts, k: int, rng: np.random.Generator
) -> Fallback:
    """Keep up to 1000 labelled samples of each view, as ``fit_fallback`` does."""
    references: list[tuple[AnchorIndex, Array] | None] = []
    pairs = views.parts.map(_pair, labels)
    for view, treatment in enumerate(treatments):
        counts = np.array(pairs.gather(_usable_count, shared=(view, treatment)), dtype=np.int64)
        source = replace(pairs, sizes=counts)
        n = source.n_rows
        if n == 0:
            references.append(None)
            continue
        kept = np.sort(rng.choice(n, min(REFERENCES, n), replace=False))
        points = source.read(kept, _usable_rows, (view, treatment))
        index = build_index(points, treatment.metric, VOTERS)
        references.append((index, source.read(kept, _usable_labels, (view, treatment))))
    sizes = labels.total(_counted, shared=(k,))
    return Fallback(tuple(treatments), tuple(references), k, int(sizes.argmax()))


def known_sample(base_labels: Parts, labels: Parts) -> tuple[Array, Labels]:
    """Return base labels and labels of the samples at which ``changed_without`` looks."""
    linked = replace(base_labels, sizes=np.array(base_labels.gather(_known_count), dtype=np.int64))
    rows = np.arange(linked.n_rows)[:: max(1, linked.n_rows // SAMPLE_ROWS)]
    pairs = replace(base_labels.map(_both, labels), sizes=linked.sizes)
    return linked.read(rows, _known_rows), pairs.read(rows, _known_labels)


def completed(views: Parts, labels: Parts, fallback: Fallback) -> Parts:
    """Label the samples that no base clustering could label."""
    if int(labels.total(_silent_count)) == 0:
        return labels
    return views.map(_placed, labels, shared=(fallback,))


class _VoteTotals:
    """Counts of base clusters in clusters, of a block of base labels."""

    def __init__(self, sizes: Labels) -> None:
        self.sizes = sizes

    def __call__(self, value: Array, labels: Labels, k: int, counts: Array | None) -> Array:
        return share_counts(_votes(value, self.sizes), labels, k, counts)


def _votes(base_labels: Array, sizes: Labels) -> OneHotRows:
    return OneHotRows(base_labels[_known(base_labels)], sizes)


def _known(base_labels: Array) -> Labels:
    return np.flatnonzero((base_labels >= 0).any(axis=1))


def _both(base_labels: Array, labels: Labels) -> tuple[Array, Labels]:
    return base_labels, labels


def _known_labels(pair: tuple[Array, Labels], places: Labels) -> Labels:
    return pair[1][_known(pair[0])[places]]


def _known_counts(base_labels: Array, counts: Array) -> Array:
    return np.asarray(counts[_known(base_labels)])


def _sum(counts: Array) -> float:
    return float(counts.sum())


def _known_count(base_labels: Array) -> int:
    return int(_known(base_labels).size)


def _known_rows(base_labels: Array, places: Labels) -> Array:
    return np.asarray(base_labels[_known(base_labels)[places]])


def _assign_votes(base_labels: Array, sizes: Labels, costs: Array) -> tuple[Labels, Array]:
    return assign_one_hot(_votes(base_labels, sizes), costs)


def _as_losses(value: Array, losses: Array) -> Array:
    return losses


def _voted(base_labels: Array, cut: Any) -> Labels:
    labels: Labels = cut.predict(base_labels)
    return labels


def counts_taken(base_labels: Array, labels: Labels, sizes: Labels, k: int) -> Array:
    """Return the ``taken_counts`` of a block, in which samples count once."""
    return taken_counts(base_labels, sizes, labels, k)


def _counts_taken(base_labels: Array, labels: Labels, counts: Array | None, sizes: Labels, k: int) -> Array:
    return taken_counts(base_labels, sizes, labels, k, counts)


def _pair(block: Views, labels: Labels) -> tuple[Views, Labels]:
    return block, labels


def _usable(pair: tuple[Views, Labels], view: int, treatment: ViewTreatment) -> Labels:
    """Return the rows of a block that say something in a view and have a label."""
    speaking = speaking_places(pair[0], view, treatment)
    return speaking[pair[1][speaking] >= 0]


def _usable_count(pair: tuple[Views, Labels], view: int, treatment: ViewTreatment) -> int:
    return int(_usable(pair, view, treatment).size)


def _usable_rows(pair: tuple[Views, Labels], places: Labels, view: int, treatment: ViewTreatment) -> Array:
    return read_treated(pair[0], _usable(pair, view, treatment)[places], view, treatment)


def _usable_labels(pair: tuple[Views, Labels], places: Labels, view: int, treatment: ViewTreatment) -> Labels:
    return pair[1][_usable(pair, view, treatment)[places]]


def _counted(labels: Labels, k: int) -> Labels:
    return np.bincount(labels[labels >= 0], minlength=k)


def _silent_count(labels: Labels) -> int:
    return int(np.count_nonzero(labels < 0))


def _placed(block: Views, labels: Labels, fallback: Fallback) -> Labels:
    silent = np.flatnonzero(labels < 0)
    if silent.size == 0:
        return labels
    labels = labels.copy()
    labels[silent] = fallback.place(block.arrays, block.observed, silent)
    return labels
