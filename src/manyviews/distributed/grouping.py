"""k-means over blocks: the loop of ``prototypes.lloyd`` with labels and losses that stay where the rows are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from manyviews.distributed.parts import Parts
from manyviews.distributed.sample_weights import are_counted, uncounted
from manyviews.linalg.blocks import squared_lengths, sums_by_label
from manyviews.partitions.discretize import EmbeddingRule
from manyviews.prototypes.block_kmeans import (
    Metric,
    assign_rows,
    coincident,
    count_distinct,
    draw_start,
    last_assigned,
    means_of,
)
from manyviews.prototypes.lloyd import emptied

__all__ = ["BlockSteps", "Grouped", "PartRows", "RowSource", "discretize_parts", "row_steps"]

Array = NDArray[Any]
Labels = NDArray[np.int64]


class BlockSums(NamedTuple):
    """What the loop of k-means asks of a block: sum of losses, sizes of clusters (k,), and what centres are made of.

    ``masses`` (k,) are the sizes with rows as often as they count, as they do in losses and totals. ``mark`` is a
    digest of the labels, 16 bytes a block, one after the other: equal where no label differs.
    """

    loss: float
    sizes: Labels
    masses: Array
    totals: Any
    mark: bytes


@dataclass(frozen=True)
class Grouped:
    """Labels and losses of all rows, held by blocks as pairs, and their sums."""

    pairs: Parts
    sums: BlockSums


class BlockSteps(NamedTuple):
    """The steps of k-means over blocks.

    ``parts`` hold the rows, ``counts`` how often they count. ``assign`` takes a block and what ``prepare`` makes of
    centres, and returns labels and losses; ``totals`` takes a block, labels, the number of clusters and how often rows
    count, and returns what is added up over blocks; ``finish`` takes the sum, masses and the last centres to new ones;
    ``losses`` takes a block and losses as ``assign`` gives them to the loss of each row. All but ``prepare`` and
    ``finish`` are functions of the module level.
    """

    parts: Parts
    counts: Parts
    assign_block: Callable[..., Any]
    totals_block: Callable[..., Any]
    losses_block: Callable[..., Any]
    prepare: Callable[[Any], tuple[Any, ...]]
    finish: Callable[[Any, Array, Any], Any]
    count: Callable[[Any], int] = len

    def assign(self, centers: Any) -> tuple[Grouped, Grouped]:
        """Return the nearest centre of every row and the losses, both in one."""
        k = self.count(centers)
        sums = partial(_sums, k=k, totals=self.totals_block)
        shared = self.prepare(centers)
        found = Grouped(*self.parts.mapped(self.assign_block, shared=shared, sums=sums, beside=(self.counts,)))
        return found, found

    def update(self, labels: Grouped, previous: Any) -> Any:
        """Return the best centres for these labels."""
        return self.finish(labels.sums.totals, labels.sums.masses, previous)

    def losses(self, losses: Grouped) -> Grouped:
        """Return the same; what single rows lose is asked for only where a cluster is empty."""
        return losses

    def moved(self, labels: Grouped, rows: Labels, clusters: Labels) -> Grouped:
        """Return the labels with some rows, by number, in other clusters."""
        assert self.parts.sizes is not None
        starts = np.cumsum(self.parts.sizes) - self.parts.sizes
        numbered = replace(self.parts, values=tuple(self.parts.home.share(int(start)) for start in starts))
        pairs = labels.pairs.map(_moved, numbered, shared=(rows, clusters))
        shared = labels.sums.sizes.size, self.totals_block
        return Grouped(pairs, self.parts.total(_sums, pairs, self.counts, shared=shared))


class PartRows(NamedTuple):
    """What the loop of k-means asks of labels and losses that are held by blocks."""

    steps: BlockSteps

    def total(self, losses: Grouped) -> float:
        """Return the sum of the losses."""
        return losses.sums.loss

    def sizes(self, labels: Grouped, k: int) -> Labels:
        """Return how many rows each cluster has."""
        return labels.sums.sizes

    def fill(self, labels: Grouped, losses: Grouped, k: int, *, fill_all: bool) -> tuple[Grouped, bool]:
        """Return labels without empty clusters, and whether a row was moved."""
        sizes = labels.sums.sizes
        if sizes.all():
            return labels, False
        parts = self.steps.parts
        assert parts.sizes is not None
        wanted = int((sizes == 0).sum()) + k  # of each cluster one row has to stay
        found = parts.gather(_worst, labels.pairs, self.steps.counts, shared=(wanted, self.steps.losses_block))
        starts = np.cumsum(parts.sizes) - parts.sizes
        rows = np.concatenate([start + places for start, (places, _, _) in zip(starts, found, strict=True)])
        own, lost = (np.concatenate([part[i] for part in found]) for i in (1, 2))
        order = np.argsort(-lost, kind="stable")
        moved, clusters = emptied(sizes, own[order], lost[order], fill_all=fill_all)
        if moved.size == 0:
            return labels, False
        return self.steps.moved(labels, rows[order[moved]], clusters), True

    def rest(self, labels: Grouped, last: Grouped) -> bool:
        """Say whether no label has changed."""
        return labels.sums.mark == last.sums.mark


class RowSource(NamedTuple):
    """How rows of a block are made: a function of the module level and what it takes besides the block."""

    function: Callable[..., Array]
    shared: tuple[Any, ...] = ()

    def rows(self, value: Any) -> Array:
        """Return the rows of a block."""
        return self.function(value, *self.shared)


def row_steps(parts: Parts, metric: Metric, source: RowSource | None = None, counts: Parts | None = None) -> BlockSteps:
    """Return the steps of k-means on rows, of unit length for the cosine.

    ``source`` makes them of the blocks; ``counts`` say how often they count, by default once.
    """
    read = RowSource(_as_given) if source is None else source
    return BlockSteps(
        parts,
        uncounted(parts) if counts is None else counts,
        _assign_rows,
        _RowTotals(read),
        _RowLosses(read, metric),
        lambda centers: (read, centers, metric),
        lambda totals, masses, previous: means_of(totals, masses, previous, metric),
    )


def discretize_parts(
    E: Parts, counts: Parts, distinct: Array, k: int, rng: np.random.Generator, rule: EmbeddingRule
) -> Array:
    """Return the centres that cut an embedding, as ``discretize_embedding`` does; rows nearest to them are clusters.

    Parameters
    ----------
    E : Parts
        Rows of the embedding, of unit length.
    counts : Parts
        How often they count.
    distinct : ndarray of shape (s, q)
        The first ``distinct_points`` of each block.
    k : int
        Number of clusters.
    rng : Generator
        Source of the starts.
    rule : EmbeddingRule
        Of kind "cosine".

    Returns
    -------
    ndarray of shape (k', q)
        Fewer than k where there are fewer distinct rows.
    """
    k = count_distinct(distinct, k)
    steps, n = row_steps(E, rule.metric, counts=counts), E.n_rows
    mass = float(counts.total(_mass) if are_counted(counts) else n)
    best, least = None, np.inf
    for _ in range(rule.n_init):
        start = draw_start(E.read, n, k, rng, distinct=True)
        run = last_assigned(steps, start, max_iter=rule.max_iter, rows=PartRows(steps))
        # the sum of 1 - cosine
        score = mass + float(run.gaps.sums.loss)  # type: ignore[attr-defined]
        if best is None or score < least:
            best, least = run, score
    assert best is not None
    centers = best.centers if best.filled else best.rule
    return np.asarray(centers[np.unique(coincident(centers))])


@dataclass(frozen=True)
class _RowTotals:
    source: RowSource

    def __call__(self, value: Any, labels: Labels, k: int, counts: Array | None) -> Array:
        rows = self.source.rows(value)
        counts = np.ones(labels.size) if counts is None else counts
        return sums_by_label(rows, labels, k, counts.astype(rows.dtype))


@dataclass(frozen=True)
class _RowLosses:
    source: RowSource
    metric: Metric

    def __call__(self, value: Any, gaps: Array) -> Array:
        return np.asarray(gaps + (squared_lengths(self.source.rows(value)) if self.metric == "euclidean" else 1))


def _as_given(value: Array) -> Array:
    return value


def _assign_rows(value: Any, source: RowSource, centers: Array, metric: Metric) -> tuple[Labels, Array]:
    return assign_rows(source.rows(value), centers, metric)


def _sums(
    value: Any, pair: tuple[Labels, Array], counts: Array | None, k: int, totals: Callable[..., Any]
) -> BlockSums:
    labels, losses = pair
    loss = float((losses if counts is None else losses * counts).sum(dtype=np.float64))
    mark = blake2b(labels.tobytes(), digest_size=16).digest()
    sizes = np.bincount(labels, minlength=k)
    masses = sizes if counts is None else np.bincount(labels, counts, minlength=k)
    return BlockSums(loss, sizes, masses, totals(value, labels, k, counts), mark)


def _worst(
    value: Any, pair: tuple[Labels, Array], counts: Array | None, wanted: int, losses: Callable[..., Array]
) -> tuple[Array, ...]:
    """Return places, labels and losses of the rows of a block that fit worst."""
    lost = losses(value, pair[1])
    lost = lost if counts is None else lost * counts
    places = np.argsort(-lost, kind="stable")[:wanted]
    return places, pair[0][places], lost[places]


def _mass(counts: Array) -> float:
    return float(counts.sum())


def _moved(pair: tuple[Labels, Array], start: tuple[int], rows: Labels, clusters: Labels) -> tuple[Labels, Array]:
    labels = pair[0].copy()
    places = rows - start[0]
    here = (places >= 0) & (places < labels.size)
    labels[places[here]] = clusters[here]
    return labels, pair[1]
