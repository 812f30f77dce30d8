"""Rows of a view: in blocks that fit the cache, and brought to length 1."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

__all__ = [
    "ROWS_PER_BLOCK",
    "row_blocks",
    "rows_of_cells",
    "smallest_scale",
    "squared_lengths",
    "sums_by_label",
    "unit_rows",
    "with_data",
]

ROWS_PER_BLOCK = 8_192
# rows that are added up at a time
ROWS_PER_SUM = 16_384
# of wide rows a block holds fewer
CELLS_PER_BLOCK = 1 << 22


def row_blocks(n: int, size: int = ROWS_PER_BLOCK) -> Iterator[slice]:
    """Yield slices that cover n rows in blocks of ``size``."""
    for start in range(0, n, size):
        yield slice(start, min(start + size, n))


def rows_of_cells(width: int) -> int:
    """Return how many rows of so many numbers make a block."""
    return max(16, min(ROWS_PER_BLOCK, CELLS_PER_BLOCK // max(width, 1)))


def squared_lengths(X: Any, dtype: Any = None) -> NDArray[Any]:
    """Return the squared length of each row, dense, CSR or read from disk, summed in ``dtype`` (that of X)."""
    if sparse.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1), dtype=dtype).ravel()
    if type(X) is np.ndarray:
        return np.asarray(np.einsum("ij,ij->i", X, X, dtype=dtype))
    lengths = np.empty(X.shape[0], X.dtype if dtype is None else dtype)
    for rows in row_blocks(X.shape[0]):
        lengths[rows] = squared_lengths(np.asarray(X[rows]), dtype)
    return lengths


def sums_by_label(X: Any, labels: NDArray[np.int64], k: int, weights: NDArray[Any]) -> NDArray[Any]:
    """Return the weighted sums of the rows of each label, (k, d), dense.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Rows: dense, CSR or scaled when read.
    labels : ndarray of shape (n,)
        Labels below k.
    k : int
        Number of labels.
    weights : ndarray of shape (n,)
        Weights of the rows, in the type of X.

    Returns
    -------
    ndarray of shape (k, d)
        Sums in the type of X; every row is read once, in order.
    """
    n = labels.size
    if sparse.issparse(X):
        return np.asarray((_members(labels, k, weights).tocsr() @ X).toarray())
    total: Any = None
    for rows in row_blocks(n, ROWS_PER_SUM // ROWS_PER_BLOCK * rows_of_cells(X.shape[1])):
        sums = np.asarray(_members(labels[rows], k, weights[rows]) @ X[rows])
        total = sums if total is None else np.add(total, sums, dtype=np.float64)
    return np.zeros((k, X.shape[1]), X.dtype) if total is None else np.asarray(total, dtype=X.dtype)


def _members(labels: NDArray[np.int64], k: int, weights: NDArray[Any]) -> Any:
    """Return a sparse (k, n) matrix that has one column per row."""
    return sparse.csc_array((weights, labels, np.arange(labels.size + 1)), shape=(k, labels.size))


def unit_rows(X: Any) -> Any:
    """Return rows of Euclidean length 1; zero rows stay zero."""
    norms = np.sqrt(squared_lengths(X) if sparse.issparse(X) else squared_lengths(X, np.float64))
    factor = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > smallest_scale(X.dtype)).astype(X.dtype)
    if sparse.issparse(X):
        return with_data(X, X.data * np.repeat(factor, np.diff(X.indptr)))
    return X * factor[:, None]


def smallest_scale(dtype: Any) -> float:
    """Return the length below which a number of this type counts as zero, because its inverse overflows."""
    return 10.0 * float(np.finfo(dtype if np.dtype(dtype).kind == "f" else np.float64).tiny)


def with_data(X: Any, data: NDArray[Any]) -> Any:
    """Return a CSR matrix with the pattern of X and other values."""
    return type(X)((data, X.indices, X.indptr), shape=X.shape)
