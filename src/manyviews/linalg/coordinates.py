"""Rows of wide tables in as many coordinates as there are rows: what depends on distances alone needs no more."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import get_lapack_funcs

from manyviews.linalg.blocks import row_blocks

__all__ = [
    "CELLS_PER_BLOCK",
    "few_rows",
    "first_equal",
    "has_few_rows",
    "middle_numbers",
    "products_of_rows",
    "row_coordinates",
]

Array = NDArray[np.float64]
# columns per row from which products of rows are cheaper than what is done with the columns
COLUMNS_PER_ROW = 2
# above this the products of all rows, O(n² d), cost more than k-means, O(n d k)
MOST_ROWS = 1_000
# variance, against the mean square, that is due to rounding
NEGLIGIBLE = 1e-28
# squared distance, against the longer one's squared length, that is due to rounding
EQUAL = 1e-14
# columns in double precision at a time
CELLS_PER_BLOCK = 1 << 17


def few_rows(n: int, d: int) -> bool:
    """Tell whether n rows of d columns are few, with at least twice as many columns."""
    return n <= MOST_ROWS and d >= COLUMNS_PER_ROW * n


def has_few_rows(X: Any) -> bool:
    """Tell whether a table (n, d) has few rows, and at least twice as many columns."""
    return few_rows(*X.shape)


def products_of_rows(X: NDArray[Any], *, centered: bool = True, largest: float = 1.0) -> Array:
    """Return the products of all pairs of rows, summed in double precision by blocks of columns.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Finite numbers, in single or double precision.
    centered : bool, default=True
        Subtract the middle number of each column first, which changes no distance and keeps digits where numbers are
        far from 0; by the mean, one row far off would take digits from all others.
    largest : float, default=1.0
        What all numbers are divided by, so that squares neither overflow nor vanish.

    Returns
    -------
    ndarray of shape (n, n), float64
        Symmetric. Cost O(n² d), memory O(n²).
    """
    n, d = X.shape
    G = np.zeros((n, n))
    for columns in row_blocks(d, max(n, CELLS_PER_BLOCK // max(n, 1), 1)):
        block = X[:, columns].astype(np.float64, order="F")
        if largest != 1:
            block /= largest
        if centered:
            block -= middle_numbers(block)
        G += block @ block.T
    return G


def middle_numbers(X: NDArray[Any]) -> NDArray[Any]:
    """Return the middle number of each column, (d,), the upper one of two."""
    n, d = X.shape
    middle = np.empty(d, X.dtype)
    for columns in row_blocks(d, max(1, CELLS_PER_BLOCK // n)):
        block = np.array(X[:, columns].T, order="C")
        block.partition(n // 2, axis=1)
        middle[columns] = block[:, n // 2]
    return middle


def row_coordinates(X: NDArray[Any]) -> Array:
    r"""Return rows with the same distances, in at most as many columns as there are rows.

    The products of the rows, less the middle number m of each column and of unit length, are factored,
    :math:`D^{-1} G D^{-1} = L L^\top` with :math:`D_{ii} = \|x_i - m\|`, by Cholesky with pivots; the rows of D L have
    the distances of those of X, up to 1e-7 of the longer one's distance to m. Rows nearer than that are equal.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Finite numbers; d > n for this to be of use.

    Returns
    -------
    ndarray of shape (n, r), float64
        1 <= r <= n; a column of zeros where all rows are the same.
    """
    largest = max(float(X.max()), -float(X.min())) or 1.0
    G = products_of_rows(X, largest=largest)
    if np.trace(G) <= NEGLIGIBLE * _squares(X, largest):
        return np.zeros((len(X), 1))
    first, lengths = first_equal(G, EQUAL), np.sqrt(np.diagonal(G))
    # of unit length, as what is negligible for the pivots is so against the largest row
    inverse = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    G *= inverse[:, None] * inverse
    (factor,) = get_lapack_funcs(("pstrf",), (G,))
    L, pivots, rank, _ = factor(G, lower=1, overwrite_a=1)
    coordinates = np.empty((len(X), rank))
    coordinates[pivots - 1] = np.tril(L)[:, :rank]
    coordinates *= lengths[:, None] * largest
    return coordinates[first]


def _squares(X: NDArray[Any], largest: float) -> float:
    """Return the sum of the squares of X / largest."""
    blocks = (X[:, columns] for columns in row_blocks(X.shape[1], max(1, CELLS_PER_BLOCK // len(X))))
    return sum(float(np.square(block / largest, dtype=np.float64).sum()) for block in blocks)


def first_equal(G: NDArray[Any], tolerance: float) -> NDArray[np.int64]:
    """Return for each point the first one that is the same but for rounding, from the products (n, n) of the points.

    ``tolerance`` is the squared distance, against the longer one's squared length, that is due to rounding.
    """
    squares = np.diagonal(G)
    gaps = squares[:, None] + squares - 2 * G
    return np.asarray((gaps <= tolerance * np.maximum(squares[:, None], squares)).argmax(axis=1))
