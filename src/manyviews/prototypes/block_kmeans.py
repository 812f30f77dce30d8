"""k-means of rows in blocks: its steps, and the form of the released anchor codes, random rows and few iterations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manyviews.linalg.blocks import row_blocks, squared_lengths, sums_by_label, unit_rows
from manyviews.prototypes.lloyd import ArrayRows, LloydRun, Rows, lloyd, rows_counted

__all__ = [
    "BlockKMeans",
    "Metric",
    "RowSteps",
    "assign_rows",
    "block_kmeans",
    "coincident",
    "count_distinct",
    "distinct_points",
    "draw_start",
    "last_assigned",
    "means_of",
    "row_kmeans",
    "similarity_blocks",
]

Array = NDArray[Any]
Metric = Literal["euclidean", "cosine"]
# a block of similarities should stay in the second cache level
CELLS_PER_BLOCK = 1 << 18
FEWEST_ROWS, MOST_ROWS = 256, 8_192
START_DRAWS = 4
# squared distance, relative to the longer one, up to which two vectors differ by rounding only
COINCIDENT = 1e-10


class BlockKMeans(NamedTuple):
    """Result of ``block_kmeans``.

    ``labels`` (n,) and ``centers`` (k, d), the means of the labelled rows; ``rule`` (k, d) holds the centres whose
    nearest rows the labels are, one update behind unless the labels have settled; ``score`` is the criterion;
    ``filled`` says that the last update gave a row to an empty cluster, against the rule.
    """

    labels: NDArray[np.int64]
    centers: Array
    rule: Array
    score: float
    filled: bool = False


def similarity_blocks(X: Any, centers: Any, metric: Metric, size: int) -> Iterator[tuple[slice, Array]]:
    r"""Yield similarities of blocks of rows to all centres.

    Parameters
    ----------
    X : ndarray or CSR of shape (n, d)
        Rows.
    centers : ndarray or CSR of shape (k, d)
        Centres.
    metric : {"euclidean", "cosine"}
        :math:`x^\top c - \tfrac12 \|c\|^2`, or :math:`x^\top c`.
    size : int
        Rows in a block.

    Yields
    ------
    rows : slice
        The block.
    S : ndarray of shape (b, k)
        Its similarities, in a buffer that the next block overwrites.
    """
    points = np.ascontiguousarray((centers.toarray() if sparse.issparse(centers) else centers).T)
    bias = -0.5 * np.einsum("ij,ij->j", points, points) if metric == "euclidean" else None
    if sparse.issparse(X):
        for rows in row_blocks(X.shape[0], size):
            S = np.asarray((X if X.shape[0] <= size else X[rows]) @ points)
            yield rows, S if bias is None else np.add(S, bias, out=S)
        return
    (n, d), k = X.shape, points.shape[1]
    size = max(1, min(size, n))
    part = None
    if bias is not None and k > d:
        # one more column in the product costs less than adding to each of many results
        part, points, bias = np.ones((size, d + 1), X.dtype), np.vstack([points, bias]), None
    S = np.empty((size, k), np.result_type(X, points))
    for rows in row_blocks(n, size):
        block, out = X[rows], S[: rows.stop - rows.start]
        if part is not None:
            part[: len(block), :d] = block
            block = part[: len(block)]
        np.matmul(block, points, out=out)
        yield rows, out if bias is None else np.add(out, bias, out=out)


def assign_rows(X: Any, centers: Any, metric: Metric) -> tuple[NDArray[np.int64], Array]:
    """Return the nearest centre of every row and how far it is, up to what no centre changes.

    Parameters
    ----------
    X : ndarray or CSR of shape (n, d)
        Rows; of unit length for "cosine".
    centers : ndarray or CSR of shape (k, d)
        Centres without NaN.
    metric : {"euclidean", "cosine"}
        What near means.

    Returns
    -------
    labels : ndarray of shape (n,), int64
        Nearest centre, the lowest index on ties.
    gaps : ndarray of shape (n,)
        Squared distance to it less the squared length of the row ("euclidean"), or minus the cosine; see ``RowSteps``.
    """
    n, k = X.shape[0], centers.shape[0]
    labels = np.empty(n, dtype=np.int64)
    gaps = np.empty(n, dtype=X.dtype)
    for rows, S in similarity_blocks(X, centers, metric, int(np.clip(CELLS_PER_BLOCK // k, FEWEST_ROWS, MOST_ROWS))):
        best = S.argmax(axis=1)
        labels[rows] = best
        best += np.arange(best.size) * k
        gaps[rows] = S.reshape(-1)[best]
    gaps *= -2 if metric == "euclidean" else -1
    return labels, gaps


class RowSteps(NamedTuple):
    """The steps of k-means on rows X (n, d), dense or CSR, of unit length for the cosine; centres are (k, d), dense.

    ``weights`` (n,), above 0, say how often each row counts; once by default.
    """

    X: Any
    metric: Metric
    weights: Array | None = None

    def assign(self, centers: Array) -> tuple[NDArray[np.int64], Array]:
        """Return labels and gaps of ``assign_rows``."""
        return assign_rows(self.X, centers, self.metric)

    def losses(self, gaps: Array) -> Array:
        """Return squared distances, or 1 - cosine, (n,)."""
        return np.asarray(gaps + (squared_lengths(self.X) if self.metric == "euclidean" else 1))

    def update(self, labels: NDArray[np.int64], previous: Array) -> Array:
        """Return the means of the clusters, of unit length for the cosine."""
        k = previous.shape[0]
        counts = np.ones(labels.size) if self.weights is None else self.weights
        totals = sums_by_label(self.X, labels, k, counts.astype(self.X.dtype))
        return means_of(totals, np.bincount(labels, self.weights, minlength=k), previous, self.metric)


def means_of(totals: Array, sizes: Array, previous: Array, metric: Metric) -> Array:
    """Return centres (k, d) from the sums and sizes of clusters; empty ones keep their previous centre."""
    filled = np.where(sizes > 0, sizes, 1).astype(totals.dtype)
    means = unit_rows(totals) if metric == "cosine" else totals / filled[:, None]
    if not sizes.all():
        means[sizes == 0] = previous[sizes == 0]
    return np.asarray(means)


def row_kmeans(
    X: Any, centers: Array, metric: Metric, *, max_iter: int = 100, weights: Array | None = None
) -> LloydRun[Array]:
    """Run k-means from given centres until the labels repeat.

    Parameters
    ----------
    X : ndarray or CSR of shape (n, d)
        Rows; of unit length for "cosine".
    centers : ndarray of shape (k, d)
        Start.
    metric : {"euclidean", "cosine"}
        Squared Euclidean distance, or the angle, with centres of unit length.
    max_iter : int, default=100
        Most iterations.
    weights : ndarray of shape (n,), default=None
        How often each row counts, above 0; once by default.

    Returns
    -------
    LloydRun
        Centres and the labels nearest to them; the losses are the gaps of ``assign_rows``.
    """
    steps, rows = RowSteps(X, metric, weights), rows_counted(weights)
    return lloyd(steps.assign, steps.update, centers, centers.shape[0], max_iter=max_iter, each=steps.losses, rows=rows)


def block_kmeans(
    X: Any,
    k: int,
    rng: np.random.Generator,
    *,
    metric: Metric = "euclidean",
    max_iter: int = 100,
    n_init: int = 1,
    start: Array | None = None,
    distinct: bool = False,
    weights: Array | None = None,
) -> BlockKMeans:
    """Group rows around k centres from k distinct random rows.

    A cluster that runs empty takes over the worst-fitted row of those whose cluster has other rows left; so every
    cluster has a row, and no centre is NaN.

    Parameters
    ----------
    X : ndarray or CSR of shape (n, d)
        Rows, k or more of them; of unit length for "cosine".
    k : int
        Number of clusters.
    rng : Generator
        Source of the starts.
    metric : {"euclidean", "cosine"}, default="euclidean"
        Squared Euclidean distance, or the angle, with centres of unit length.
    max_iter : int, default=100
        Most iterations; a run ends before where no label changes.
    n_init : int, default=1
        Starts; the one with the smallest criterion is kept: the sum of distances (not squared) or of 1 - cosine.
    start : ndarray of shape (k, d), default=None
        Given centres; there is one start then.
    distinct : bool, default=False
        Draw other rows for those of a start that equal another one but for rounding.
    weights : ndarray of shape (n,), default=None
        How often each row counts, above 0; once by default.

    Returns
    -------
    BlockKMeans
        Labels, centres, the rule behind the labels, criterion.
    """
    best: BlockKMeans | None = None
    for _ in range(1 if start is not None else n_init):
        first = draw_start(lambda rows: X[rows], X.shape[0], k, rng, distinct=distinct) if start is None else start
        run = _one_run(RowSteps(X, metric, weights), first, max_iter)
        if best is None or run.score < best.score:
            best = run
    assert best is not None
    return best


def draw_start(
    read: Callable[[NDArray[np.int64]], Any], n: int, k: int, rng: np.random.Generator, *, distinct: bool
) -> Array:
    """Draw k rows and, where asked for, others for those that repeat an earlier one, if a few more draws find any.

    ``read`` returns the rows with some numbers, in that order.
    """
    start: Array | None = None
    for turn in range(START_DRAWS if distinct else 1):
        chosen = read(rng.choice(n, min(n, k << turn), replace=False))
        chosen = chosen.toarray() if sparse.issparse(chosen) else chosen
        start = chosen if start is None else np.vstack([start, chosen])
        if not distinct:
            break
        same = coincident(start)
        # distinct rows come first, in the order drawn
        start = start[np.argsort(same != np.arange(same.size), kind="stable")]
        if np.unique(same).size >= k:
            break
    assert start is not None
    return start[:k]


def coincident(points: Array) -> NDArray[np.int64]:
    """Return for each point the first one that equals it but for rounding."""
    if points.shape[0] == 0:
        return np.zeros(0, dtype=np.int64)
    return np.asarray(_same(points, points).argmax(axis=1))


def count_distinct(X: Array, enough: int) -> int:
    """Count the rows that differ by more than rounding, and stop at ``enough`` of them."""
    return min(int(distinct_points(X, enough).shape[0]), enough)


def distinct_points(X: Array, enough: int) -> Array:
    """Return rows that differ by more than rounding, the first ones: all there are, or ``enough`` and a few more."""
    found = X[:0]
    for rows in row_blocks(X.shape[0], max(64, 2 * enough)):
        fresh = X[rows][~_same(X[rows], found).any(axis=1)]
        found = np.vstack([found, fresh[np.unique(coincident(fresh))]])
        if found.shape[0] >= enough:
            break
    return found


def _same(A: Array, B: Array) -> NDArray[np.bool_]:
    A, B = A.astype(np.float64), B.astype(np.float64)
    a, b = np.einsum("ij,ij->i", A, A), np.einsum("ij,ij->i", B, B)
    return np.asarray(a[:, None] + b - 2 * (A @ B.T) <= COINCIDENT * np.maximum(a[:, None], b))


class LastAssigned(NamedTuple):
    """Labels, their means, the centres that the labels are nearest to, gaps, and whether a cluster was filled last."""

    labels: NDArray[np.int64]
    centers: Array
    rule: Array
    gaps: Array
    filled: bool


def last_assigned(steps: Any, start: Array, *, max_iter: int, rows: Rows | None = None) -> LastAssigned:
    """Assign ``max_iter`` times and end with the means of the labels, as the released codes do.

    Parameters
    ----------
    steps : RowSteps or alike
        The steps of k-means.
    start : ndarray of shape (k, d)
        First centres.
    max_iter : int
        Most assignments.
    rows : Rows, default=None
        How labels and losses are held; by default they are arrays in memory.

    Returns
    -------
    LastAssigned
        No cluster is empty.
    """
    k, rows = start.shape[0], ArrayRows() if rows is None else rows
    run = lloyd(
        steps.assign, steps.update, start, k, max_iter=max_iter - 1, each=steps.losses, fill_all=True, rows=rows
    )
    if run.converged:
        return LastAssigned(run.labels, run.centers, run.centers, run.losses, False)
    labels, filled = rows.fill(run.labels, steps.losses(run.losses), k, fill_all=True)
    return LastAssigned(labels, steps.update(labels, run.centers), run.centers, run.losses, filled)


def _one_run(steps: RowSteps, start: Array, max_iter: int) -> BlockKMeans:
    run = last_assigned(steps, start, max_iter=max_iter, rows=rows_counted(steps.weights))
    score = _score(steps, run)
    return BlockKMeans(run.labels, run.centers, run.rule, score, run.filled)


def _score(steps: RowSteps, run: LastAssigned) -> float:
    X, labels, centers, weights = steps.X, run.labels, run.centers, steps.weights
    if steps.metric == "cosine":
        losses = 1.0 + run.gaps if weights is None else (1.0 + run.gaps) * weights
        return float(np.sum(losses, dtype=np.float64))
    total, lengths = 0.0, squared_lengths(centers)
    for rows in row_blocks(labels.size):
        own = centers[labels[rows]]
        products = X[rows].multiply(own).sum(axis=1) if sparse.issparse(X) else np.einsum("ij,ij->i", X[rows], own)
        squares = squared_lengths(X[rows]) - 2 * np.asarray(products).ravel() + lengths[labels[rows]]
        distances = np.sqrt(np.maximum(squares, 0.0))
        total += float((distances if weights is None else distances * weights[rows]).sum(dtype=np.float64))
    return total
