r"""How often two samples share a cluster, over many partitions: a matrix S that need never be written down.

With B the one-hot labels of r partitions side by side, :math:`S = B B^\top / r`. B is applied as a chain of sparse
factors: partitions that resemble each other are merged pairwise into cells (samples with the same labels in both), so a
product with S adds up far fewer rows than the r per sample that B itself has.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manyviews.linalg.blocks import row_blocks

__all__ = ["Coassociation", "OneHotRows", "coassociation", "indicator_matrix"]

Array = NDArray[Any]
Labels = NDArray[np.int64]
# blocks of columns whose intermediate sums stay in the cache
BLOCK_BYTES = 2 << 20
# a dense product does this many multiplications in the time in which a sparse one adds up one entry
DENSE_ADVANTAGE = 25


def indicator_matrix(labels: Labels, *, n_columns: NDArray[np.int64] | None = None, dtype: Any = np.float64) -> Any:
    """Return B, the one-hot labels of all partitions side by side.

    Parameters
    ----------
    labels : ndarray of shape (n, r) of int
        Labels; -1 gives no entry.
    n_columns : ndarray of shape (r,), default=None
        Columns of each partition. By default its largest label plus 1.
    dtype : dtype, default=float64
        Type of the ones.

    Returns
    -------
    csr_array of shape (n, sum of n_columns)
        Rows hold one 1 per partition the sample is in.
    """
    n, _ = labels.shape
    widths = labels.max(axis=0, initial=-1) + 1 if n_columns is None else n_columns
    offsets = np.concatenate([[0], np.cumsum(widths)])
    inside = labels >= 0
    indptr = np.concatenate([[0], np.cumsum(inside.sum(axis=1))])
    columns = (labels + offsets[:-1])[inside]
    return sparse.csr_array((np.ones(columns.size, dtype), columns, indptr), shape=(n, int(offsets[-1])))


class OneHotRows:
    """B of ``indicator_matrix``, of which blocks of rows are made when they are asked for.

    Parameters
    ----------
    labels : ndarray of shape (n, r) of int
        Labels; -1 gives no entry.
    n_columns : ndarray of shape (r,)
        Columns of each partition.
    """

    def __init__(self, labels: NDArray[Any], n_columns: NDArray[np.int64]) -> None:
        self.labels, self.n_columns = labels, n_columns
        self.shape = labels.shape[0], int(n_columns.sum())

    def __getitem__(self, rows: Any) -> Any:
        return indicator_matrix(self.labels[rows], n_columns=self.n_columns, dtype=np.float32)


def coassociation(labels: Labels) -> Array:
    """Return the dense co-association matrix.

    Parameters
    ----------
    labels : ndarray of shape (n, r) of int
        Labels; a sample that a partition lacks (-1) shares no cluster in it.

    Returns
    -------
    ndarray of shape (n, n)
        Share of the r partitions in which two samples are together.

    Examples
    --------
    >>> import numpy as np
    >>> from manyviews.partitions.coassociation import coassociation
    >>> coassociation(np.array([[0, 0], [0, 1], [1, 1]]))
    array([[1. , 0.5, 0. ],
           [0.5, 1. , 0.5],
           [0. , 0.5, 1. ]])
    """
    return np.asarray(Coassociation(labels).counts() / labels.shape[1])


class Coassociation:
    r"""The operator :math:`S \operatorname{diag}(sizes)`, symmetric in the inner product that the sizes define.

    Parameters
    ----------
    labels : ndarray of shape (u, r) of int
        Labels of u samples, or of one representative for each of u groups of equal samples; -1 for none.
    sizes : ndarray of shape (u,), default=None
        Sizes of the groups; 1 by default.
    dtype : dtype, default=float64
        Type of the products.
    """

    def __init__(self, labels: Labels, sizes: Array | None = None, dtype: Any = np.float64) -> None:
        self.n_base_clusterings = labels.shape[1]
        self.shape = (labels.shape[0], labels.shape[0])
        self.dtype = np.dtype(dtype)
        self.sizes = np.ones(labels.shape[0]) if sizes is None else np.asarray(sizes, dtype=np.float64)
        # samples that share clusters lie side by side, so that what is summed up next is in the cache still
        self._order = np.lexsort(labels[:, np.argsort(-labels.max(axis=0, initial=-1), kind="stable")].T)
        factors = _cell_factors(_renumbered(labels[self._order]), self.dtype)
        self.nnz = sum(factor.nnz for factor in factors)
        self._down = [factor.T.tocsr() for factor in factors]
        weights = self.sizes[self._order].astype(self.dtype)
        self._down_weighted = [(self._down[0] * weights).tocsr(), *self._down[1:]]
        top = factors[0].copy()
        top.data *= 1.0 / self.n_base_clusterings
        self._up = [*factors[:0:-1], top]
        rows = max(factor.shape[0] for factor in self._down)
        self._block = int(np.clip(BLOCK_BYTES // (rows * self.dtype.itemsize), 16, 256))
        self._counts: Array | None = None
        self._dense: Array | None = None
        if self.nnz * DENSE_ADVANTAGE > labels.shape[0] ** 2:
            self._counts = self.counts()
            self._dense = (self._counts * (self.sizes / self.n_base_clusterings)).astype(self.dtype)

    def __matmul__(self, X: Array) -> Array:
        """Return S diag(sizes) X, shape (u, q)."""
        return self.dot(X)

    def dot(self, X: Array, out: Array | None = None) -> Array:
        """Return S diag(sizes) X, written to ``out`` (u, q) where given, which must not be X."""
        if self._dense is not None:
            return np.asarray(np.matmul(self._dense, X, out=out))
        if out is None:
            out = np.empty(X.shape, self.dtype)
        for columns in row_blocks(X.shape[1], self._block):
            part = np.take(X[:, columns], self._order, axis=0)
            for factor in (*self._down_weighted, *self._up):
                part = factor @ part
            out[self._order, columns] = part
        return out

    def counts(self) -> Array:
        """Return r S without the sizes, dense, in the smallest unsigned type that holds r; not to be written to."""
        if self._counts is not None:
            return self._counts
        n = self.shape[0]
        out = np.empty((n, n), dtype=np.min_scalar_type(self.n_base_clusterings))
        top = self._down[0].T
        for columns in row_blocks(n, self._block):
            X = self._down[0][:, columns].toarray()
            for factor in self._down[1:]:
                X = factor @ X
            for factor in self._up[:-1]:
                X = factor @ X
            out[np.ix_(self._order, self._order[columns])] = np.rint(top @ X)
        return out


def _renumbered(labels: Labels) -> Labels:
    """Return the labels of each partition in order of first appearance, so that its clusters lie as the samples do."""
    out = np.full_like(labels, -1)
    for old, new in zip(labels.T, out.T, strict=True):
        inside = np.flatnonzero(old >= 0)
        _, first, cluster = np.unique(old[inside], return_index=True, return_inverse=True)
        rank = np.empty_like(first)
        rank[np.argsort(first)] = np.arange(first.size)
        new[inside] = rank[cluster]
    return out


def _cell_factors(labels: Labels, dtype: Any) -> list[Any]:
    """Return sparse 0/1 factors whose product is B up to its empty columns, the (n, ·) one first."""
    n = labels.shape[0]
    # partitions of like fineness share more cells
    codes, lower = labels[:, np.argsort(labels.max(axis=0, initial=-1), kind="stable")], []
    while codes.shape[1] > 1:
        merged, cells = _merge_pairs(codes)
        if 2 * sum(len(cell) for cell in cells) >= n * (codes.shape[1] - merged.shape[1]):
            break
        widths = codes.max(axis=0, initial=-1) + 1
        lower.append(_cell_matrix(cells, widths, dtype))
        codes = merged
    return [indicator_matrix(codes, dtype=dtype), *lower[::-1]]


def _merge_pairs(codes: Labels) -> tuple[Labels, list[Labels]]:
    """Merge columns 2i and 2i+1 into one; return the new labels and, for each, what its cells were in the two."""
    merged, cells = [], []
    for i in range(0, codes.shape[1] - 1, 2):
        a, b = codes[:, i] + 1, codes[:, i + 1] + 1
        base = int(b.max()) + 1
        keys, inverse = np.unique(a * base + b, return_inverse=True)
        pair = np.stack(np.divmod(keys, base), axis=1) - 1
        nowhere = int(keys[0] == 0)  # in neither of the two
        merged.append(inverse.ravel() - nowhere)
        cells.append(pair[nowhere:])
    if codes.shape[1] % 2:
        merged.append(codes[:, -1])
        cells.append(np.arange(codes[:, -1].max() + 1)[:, None])
    return np.stack(merged, axis=1), cells


def _cell_matrix(cells: list[Labels], widths: Labels, dtype: Any) -> Any:
    """Return the (cells, columns) matrix of ones that splits cells into the columns they were merged from."""
    blocks, at = [], 0
    for pair in cells:
        blocks.append(indicator_matrix(pair, n_columns=widths[at : at + pair.shape[1]], dtype=dtype))
        at += pair.shape[1]
    matrix: Any = sparse.block_diag(blocks, format="csr")
    return matrix
