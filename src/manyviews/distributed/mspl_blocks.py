"""MSPL on one block of rows: weights, sums, labels and losses of a sweep."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from manyviews.cluster.kmeans.mspl import ALL_IN, ENTRY_WEIGHT
from manyviews.linalg.balance import BalancedScaling, apply_balanced
from manyviews.optim.self_paced import PacingKind, paced_losses, paced_weights
from manyviews.partitions.discretize import center_confidence
from manyviews.prototypes.weighted import Assignment, Stack, assign, center_distances, make_stack, weighted_totals
from manyviews.views import Views

__all__ = [
    "PacedBlock",
    "StackSource",
    "StackTotals",
    "assigned_pair",
    "block_entries",
    "block_labels",
    "ended",
    "loss_pair",
    "loss_sums",
    "losses_of",
    "masses_of",
    "merged_losses",
    "paced_sums",
    "paced_totals",
    "row_losses",
    "stack_confidence",
    "stack_totals",
    "started",
    "swept",
    "turned",
    "view_rows",
    "weights_of",
    "without_sums",
]

Array = NDArray[Any]
Labels = NDArray[np.int64]
Radii = tuple[float | None, ...]


class StackSource(NamedTuple):
    """How a block becomes a stack of scaled views; ``times`` (V, 1) says how often each view is there."""

    balanced: list[BalancedScaling]
    radii: Radii
    times: Array

    def stack(self, views: Views, counts: Array | None = None) -> Stack:
        """Return the stack of a block, whose samples count so often."""
        arrays = tuple(apply_balanced(X, how) for X, how in zip(views.arrays, self.balanced, strict=True))
        return make_stack(arrays, views.observed.T, self.radii, counts)


class PacedBlock(NamedTuple):
    """Labels (b,), losses (V, b) of one copy of each view, and the sweep in which each pair came in, (V, b)."""

    labels: Labels
    losses: Array
    entries: Labels


class StackTotals:
    """Sums of the rows of a block in clusters, per view, as often as they count."""

    def __init__(self, source: StackSource) -> None:
        self.source = source

    def __call__(self, views: Views, labels: Labels, k: int, counts: Array | None) -> list[tuple[Array, Array]]:
        """Return weights and sums of each cluster."""
        stack = self.source.stack(views, counts)
        return stack_totals(stack, labels, stack.mass, k)


def stack_totals(stack: Stack, labels: Labels, weights: Array, k: int) -> list[tuple[Array, Array]]:
    """Return weights and weighted sums of the rows in clusters, per view."""
    return [weighted_totals(X, labels, k, w) for X, w in zip(stack.arrays, weights, strict=True)]


def started(views: Views, source: StackSource, centers: list[Array]) -> PacedBlock:
    """Return labels and losses for the centres of a start."""
    found = assign(source.stack(views), centers)
    return PacedBlock(found.labels, found.losses / source.times, np.zeros(found.losses.shape, dtype=np.int64))


def weights_of(
    views: Views, block: PacedBlock, source: StackSource, pace: float, scale: float, kind: PacingKind
) -> Array:
    """Return the weights (V, b) of a sweep at a pace, 0 for unobserved pairs."""
    weights = paced_weights(block.losses * scale, pace * scale, kind)
    return weights if views.observed.all() else weights * views.observed.T


def paced_totals(
    views: Views,
    block: PacedBlock,
    counts: Array | None,
    source: StackSource,
    pace: float,
    scale: float,
    kind: PacingKind,
    k: int,
) -> list[tuple[Array, Array]]:
    """Return what the centres of a sweep are made of."""
    stack, weights = source.stack(views, counts), weights_of(views, block, source, pace, scale, kind)
    return stack_totals(stack, block.labels, stack.counted(weights), k)


def swept(
    views: Views,
    block: PacedBlock,
    counts: Array | None,
    source: StackSource,
    pace: float,
    scale: float,
    kind: PacingKind,
    centers: list[Array],
    *,
    number: int,
) -> tuple[PacedBlock, tuple[float, float, float, int]]:
    """Assign a block with its weights, and return also objective, mass, pairs and how many of them are held back."""
    weights, observed = weights_of(views, block, source, pace, scale, kind), views.observed.T
    stack = source.stack(views, counts)
    found: Assignment = assign(stack, centers, weights)
    entries = block.entries.copy()
    entries[(weights >= ENTRY_WEIGHT) & (entries == 0)] = number
    losses = found.losses / source.times
    objective = float(stack.counted(source.times * paced_losses(losses * scale, pace * scale, kind)).sum())
    held_back = int(np.count_nonzero((weights <= ALL_IN) & observed))
    sums = objective, float(stack.counted(weights).sum()), float(stack.mass.sum()), held_back
    return PacedBlock(found.labels, losses, entries), sums


def paced_sums(views: Views, found: tuple[PacedBlock, tuple[float, float, float, int]]) -> tuple[Any, ...]:
    """Return what ``swept`` adds up."""
    return found[1]


def without_sums(found: tuple[PacedBlock, Any]) -> PacedBlock:
    """Return the block without what was added up."""
    return found[0]


def assigned_pair(views: Views, source: StackSource, centers: list[Array]) -> tuple[Labels, Array]:
    """Return labels and losses with weight 1."""
    found = assign(source.stack(views), centers)
    return found.labels, found.losses


def row_losses(views: Views, losses: Array) -> Array:
    """Return the loss of each row, (b,)."""
    return np.asarray(losses.sum(axis=0))


def ended(block: PacedBlock, pair: tuple[Labels, Array], views: Views, times: Array, entered: int) -> PacedBlock:
    """Return the block with the labels and losses of the last k-means, in whose first sweep late pairs came in."""
    late = (block.entries == 0) & views.observed.T
    return PacedBlock(pair[0], pair[1] / times, np.where(late, entered, block.entries))


def loss_sums(views: Views, block: PacedBlock, counts: Array | None) -> tuple[Array, Array, Array]:
    """Return the largest loss, the sum of losses and the number of pairs of each view, (V,), as often as they count."""
    own = np.ones(len(views)) if counts is None else counts
    return block.losses.max(axis=1, initial=0.0), block.losses @ own, views.observed.T @ own


def merged_losses(found: list[tuple[Array, Array, Array]]) -> tuple[Array, Array, Array]:
    """Return the ``loss_sums`` of several blocks."""
    tops, sums, counts = zip(*found, strict=True)
    return np.max(tops, axis=0), np.sum(sums, axis=0), np.sum(counts, axis=0)


def loss_pair(views: Views, block: PacedBlock, counts: Array | None) -> tuple[Array, Array, Array | None]:
    """Return losses (V, b), where samples were observed, and how often they count."""
    return block.losses, views.observed.T, counts


def losses_of(held: tuple[Array, Array, Array | None], told: Labels) -> tuple[Array, Array | None]:
    """Return the losses of the observed pairs of some views, and how often they count."""
    losses, observed, counts = held
    seen = observed[told]
    own = None if counts is None else np.broadcast_to(counts, observed.shape)[told][seen]
    return losses[told][seen], own


def view_rows(views: Views, places: Labels, v: int) -> Array:
    """Return some rows of a view, by place."""
    rows: Array = views.arrays[v][places]
    return rows


def block_labels(block: PacedBlock) -> Labels:
    """Return the labels (b,)."""
    return block.labels


def block_entries(block: PacedBlock) -> Labels:
    """Return in which sweep each pair came in, (b, V)."""
    return block.entries.T


def turned(weights: Array) -> Array:
    """Return weights with samples as rows."""
    return weights.T


def masses_of(weights: Array, counts: Array | None) -> Array:
    """Return the sum of weights of each view, (V,), as often as samples count."""
    return np.asarray(weights.sum(axis=1) if counts is None else weights @ counts)


def stack_confidence(views: Views, source: StackSource, centers: list[Array]) -> NDArray[np.float64]:
    """Return how clearly each sample of a block is nearest to its centre."""
    stack = source.stack(views)
    return center_confidence(center_distances(stack, centers, slice(0, len(stack))))
