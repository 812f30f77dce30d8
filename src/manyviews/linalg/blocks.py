"""Rows of a view: in blocks that fit the cache, and brought to length 1."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

__all__ = ["ROWS_PER_BLOCK", "row_blocks", "smallest_scale", "squared_lengths", "unit_rows", "with_data"]

ROWS_PER_BLOCK = 8_192


def row_blocks(n: int, size: int = ROWS_PER_BLOCK) -> Iterator[slice]:
    """Yield slices that cover n rows in blocks of ``size``."""
    for start in range(0, n, size):
        yield slice(start, min(start + size, n))


def squared_lengths(X: Any, dtype: Any = None) -> NDArray[Any]:
    """Return the squared Euclidean length of each row of a dense array or CSR, summed in ``dtype`` (that of X)."""
    if sparse.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1), dtype=dtype).ravel()
    return np.asarray(np.einsum("ij,ij->i", X, X, dtype=dtype))


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
