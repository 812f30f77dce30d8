"""Anchors of wide views, as means of training rows that are kept once: products between rows stand for the columns.

Where a view has more columns than samples, everything that k-means and a search for neighbours ask of rows is in their
products, and an anchor is known by the rows that it is the mean of.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manyviews.linalg.blocks import row_blocks, smallest_scale
from manyviews.linalg.coordinates import first_equal
from manyviews.prototypes.block_kmeans import Metric, last_assigned
from manyviews.prototypes.lloyd import rows_counted
from manyviews.prototypes.sampled_rows import ColumnSample, ViewTreatment

__all__ = [
    "KeptRows",
    "RowMeans",
    "RowProducts",
    "StoredRows",
    "is_wide",
    "keep_rows",
    "keeps_rows",
    "kept_bytes",
    "mean_anchors",
    "own_anchors",
    "row_products",
    "store_rows",
]

Array = NDArray[Any]
ROWS_PER_BLOCK = 64
# half of the columns of a view are drawn, on average; those shall still be as many as there are samples
COLUMNS_PER_SAMPLE = 2
# squared distance, relative to the longer one, up to which single-precision products cannot tell anchors apart
COINCIDENT = 1e-6


@dataclass(frozen=True)
class StoredRows:
    """Rows of a view as given but for the mean of each column, (d, n): every treatment of the view is made of them.

    Transposed, so that some of the columns are taken in long pieces; single precision keeps what differs between rows.
    """

    transposed: Array
    center: NDArray[np.float64]


@dataclass(frozen=True)
class KeptRows:
    """Treated rows of a view; ``lengths`` (n,) is what each is divided by in the end, None where nothing is."""

    stored: StoredRows
    treatment: ViewTreatment
    lengths: Array | None = None

    def __len__(self) -> int:
        return int(self.stored.transposed.shape[1])

    def take(self, chosen: NDArray[np.int64] | None = None) -> Array:
        """Return some of the treated columns, or all, as rows (w, n); for the cosine without the length of samples."""
        scaling = self.treatment.scaling
        chosen = np.arange(self.treatment.width) if chosen is None else chosen
        columns = chosen if scaling.columns is None else scaling.columns[chosen]
        B = self.stored.transposed[columns]
        shift = self.stored.center[columns] - (0.0 if scaling.shift is None else scaling.shift[chosen])
        B += shift.astype(B.dtype)[:, None]
        if scaling.scale is not None:
            B *= (1.0 / scaling.scale[chosen]).astype(B.dtype)[:, None]
        if self.lengths is not None:
            B *= np.divide(1.0, self.lengths, out=np.zeros_like(self.lengths), where=self.lengths > 0)
        return B


@dataclass(frozen=True)
class RowMeans:
    """Anchors of some of the columns: number a is the sum of the kept rows of ``member`` a, (n,), times their weights.

    Rows of no anchor have member -1; ``squares`` (p,) are the squared lengths of the anchors.
    """

    rows: KeptRows
    columns: ColumnSample
    member: NDArray[np.int32]
    weight: Array
    squares: Array

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of anchors and of columns."""
        return self.squares.size, self.columns.width

    @property
    def dtype(self) -> Any:
        """Type of the anchors."""
        return self.weight.dtype

    def products(self, rows: Array) -> Array:
        """Return the products (b, n) of treated rows (b, d) with the kept rows."""
        return np.asarray(rows.astype(self.dtype, copy=False) @ self.rows.take(self.columns.chosen))

    def similarities(self, products: Array, metric: Metric) -> Array:
        r"""Return :math:`x^\top a - \tfrac12 \|a\|^2`, or :math:`x^\top a`, (b, p), from the products of rows x."""
        used = np.flatnonzero(self.member >= 0)
        means = sparse.csr_array(
            (self.weight[used], (self.member[used], used)), shape=(self.shape[0], len(self.member))
        )
        S = np.ascontiguousarray((means @ products.T).T)
        return S if metric == "cosine" else np.subtract(S, 0.5 * self.squares, out=S)


class RowProducts(NamedTuple):
    """Products G (n, n) of the rows of a view over some columns, and what brings each to length 1, or nothing does."""

    G: Array
    factor: Array

    def take(self, rows: NDArray[np.int64]) -> RowProducts:
        """Return the products of some rows."""
        return RowProducts(self.G[np.ix_(rows, rows)], self.factor[rows])


def keeps_rows(X: Any, n_anchors: int) -> bool:
    """Say whether the anchors of a view (n, d) are kept as row numbers: if dense, and wide for its few samples."""
    dense = isinstance(X, np.ndarray) or getattr(X, "is_dense", False)
    return dense and is_wide(X.shape[0], X.shape[1], n_anchors)


def is_wide(n: int, width: int, n_anchors: int) -> bool:
    """Say whether n samples of so many columns are few enough for anchors that are kept as row numbers."""
    return n <= n_anchors and width >= COLUMNS_PER_SAMPLE * n


def kept_bytes(n: int, widths: list[int], share: float, jobs: int) -> int:
    """Return the bytes of the rows of views of n samples that are kept, and of what jobs make of a share of columns."""
    # a copy of the columns; products, similarities and weights of rows and anchors
    return int(4 * n * sum(widths) + jobs * (4 * n * share * max(widths) + 6 * 4 * n**2)) if widths else 0


def store_rows(X: Array, observed: NDArray[np.bool_]) -> StoredRows:
    """Return the rows of a view, (n, d), once for all treatments; zeros in place of those that are not observed."""
    total = np.zeros(X.shape[1])
    for rows in row_blocks(X.shape[0], ROWS_PER_BLOCK):
        total += X[rows][observed[rows]].sum(axis=0, dtype=np.float64)
    center = total / max(int(observed.sum()), 1)
    transposed = np.zeros((X.shape[1], X.shape[0]), np.float32)
    for rows in row_blocks(X.shape[0], ROWS_PER_BLOCK):
        transposed[:, rows] = np.where(observed[rows, None], X[rows] - center, 0.0).T
    return StoredRows(transposed, center)


def keep_rows(stored: StoredRows, treatment: ViewTreatment) -> KeptRows:
    """Return the rows of a view under a treatment; for the cosine they get their length with the columns."""
    rows = KeptRows(stored, treatment)
    if treatment.metric == "cosine" or treatment.scaling.kind not in ("unit", "tfidf", "tfidf_plain"):
        return rows
    squares = np.zeros(len(rows))
    for columns in row_blocks(treatment.width):
        squares += np.square(rows.take(np.arange(columns.start, columns.stop)), dtype=np.float64).sum(axis=0)
    lengths = np.sqrt(squares)
    return replace(rows, lengths=np.where(lengths > smallest_scale(np.float32), lengths, 0.0).astype(np.float32))


def row_products(rows: KeptRows, columns: ColumnSample) -> RowProducts:
    """Return the products of all kept rows over some of the columns."""
    B = rows.take(columns.chosen)
    G = B.T @ B
    if columns.metric == "euclidean":
        return RowProducts(G, np.ones(len(G), G.dtype))
    lengths = np.sqrt(np.diagonal(G))
    factor = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > smallest_scale(G.dtype))
    G *= factor[:, None] * factor
    return RowProducts(G, factor)


def mean_anchors(
    rows: KeptRows,
    columns: ColumnSample,
    products: RowProducts,
    candidates: NDArray[np.int64],
    p: int,
    rng: np.random.Generator,
    *,
    max_iter: int = 5,
    weights: Array | None = None,
) -> RowMeans:
    """Select anchors as ``hybrid_anchors`` does, from the products of the rows alone.

    Parameters
    ----------
    rows : KeptRows
        Rows of the view.
    columns : ColumnSample
        Columns that count.
    products : RowProducts
        Of all rows over these columns.
    candidates : ndarray of int
        Rows that anchors are means of.
    p : int
        Number of anchors, at most that of the candidates.
    rng : Generator
        Source of the start.
    max_iter : int, default=5
        Iterations of the k-means.
    weights : ndarray of shape (n,), default=None
        How often each row counts, above 0; once by default.

    Returns
    -------
    RowMeans
        Anchors; fewer than p where candidates coincide.
    """
    part = products.take(candidates)
    steps = ProductSteps(part.G, columns.metric, None if weights is None else weights[candidates])
    start = np.eye(candidates.size, dtype=part.G.dtype)[rng.choice(candidates.size, p, replace=False)]
    labels = last_assigned(steps, start, max_iter=max_iter, rows=rows_counted(steps.counts)).labels
    A = steps.update(labels, start)
    first = first_equal(A @ part.G @ A.T, COINCIDENT)
    kept = np.flatnonzero(first == np.arange(p))
    number = np.full(p, -1, dtype=np.int32)
    number[kept] = np.arange(kept.size)
    n = products.factor.size
    member, weight = np.full(n, -1, dtype=np.int32), np.zeros(n, part.G.dtype)
    member[candidates] = number[labels]
    weight[candidates] = A[labels, np.arange(candidates.size)] * part.factor
    squares = np.einsum("ij,ij->i", A @ part.G, A)[kept]
    return RowMeans(rows, columns, member, weight, squares)


def own_anchors(rows: KeptRows, chosen: NDArray[np.int64]) -> RowMeans:
    """Return some of the kept rows, with all columns, as anchors."""
    squares = np.zeros(chosen.size, np.float32)
    for columns in row_blocks(rows.treatment.width):
        squares += np.square(rows.take(np.arange(columns.start, columns.stop))[:, chosen]).sum(axis=0)
    weights = np.ones_like(squares)
    if rows.treatment.metric == "cosine":
        lengths = np.sqrt(squares)
        weights = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > smallest_scale(squares.dtype))
        squares = np.square(weights) * squares
    n = len(rows)
    member, weight = np.full(n, -1, dtype=np.int32), np.zeros(n, squares.dtype)
    member[chosen], weight[chosen] = np.arange(chosen.size), weights
    return RowMeans(rows, ColumnSample.of(rows.treatment, np.arange(rows.treatment.width)), member, weight, squares)


class ProductSteps(NamedTuple):
    """The steps of k-means on rows known by their products G (c, c); a centre is a row of weights (k, c).

    ``counts`` (c,), above 0, say how often each row counts; once by default.
    """

    G: Array
    metric: Metric
    counts: Array | None = None

    def assign(self, centers: Array) -> tuple[NDArray[np.int64], Array]:
        """Return labels, and gaps as in ``assign_rows``."""
        products = centers @ self.G
        S = products if self.metric == "cosine" else products - 0.5 * np.einsum("ij,ij->i", products, centers)[:, None]
        labels = S.argmax(axis=0)
        gaps = S[labels, np.arange(labels.size)]
        return labels.astype(np.int64), gaps * (-2 if self.metric == "euclidean" else -1)

    def losses(self, gaps: Array) -> Array:
        """Return squared distances, or 1 - cosine, (c,)."""
        return np.asarray(gaps + (np.diagonal(self.G) if self.metric == "euclidean" else 1))

    def update(self, labels: NDArray[np.int64], previous: Array) -> Array:
        """Return the weights that make means of the clusters, of unit length for the cosine."""
        k, c = previous.shape
        sizes = np.bincount(labels, self.counts, minlength=k)
        A = np.zeros((k, c), self.G.dtype)
        A[labels, np.arange(c)] = (1.0 if self.counts is None else self.counts) / sizes[labels]
        if self.metric == "cosine":
            lengths = np.sqrt(np.maximum(np.einsum("ij,ij->i", A @ self.G, A), 0.0))
            A *= np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > smallest_scale(A.dtype))[:, None]
        A[sizes == 0] = previous[sizes == 0]
        return A
