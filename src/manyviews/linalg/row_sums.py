"""Sums over rows that come out the same, bit for bit, in whatever blocks the rows are read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyviews.linalg.blocks import row_blocks

__all__ = ["RowSum", "no_rows", "row_mass", "row_sum"]

Array = NDArray[Any]
# numbers that are added at a time: they, their sums and what these lose stay in the second cache level
CELLS_PER_BLOCK = 1 << 14


@dataclass(frozen=True)
class RowSum:
    """Sums (d,) and what rounding has taken from each so far, (d,): together about 32 digits.

    Sums of blocks add up with ``+``. As the error lies far below the last digit of ``value``, that does not depend on
    the order of the rows, nor on how they were cut into blocks, but for about one sum in 2⁴⁰.
    """

    high: Array
    low: Array

    def __add__(self, other: RowSum) -> RowSum:
        high = self.high + other.high
        return RowSum(high, self.low + other.low + _lost(self.high, other.high, high))

    @property
    def value(self) -> NDArray[np.float64]:
        """The sums, (d,), each rounded once."""
        return np.asarray(self.high + self.low)


def no_rows(width: int) -> RowSum:
    """Return the sums of no rows of so many columns."""
    return RowSum(np.zeros(width), np.zeros(width))


def row_mass(n: int, weights: Array | None) -> RowSum:
    """Return how many rows n are, each as often as it counts, as one sum."""
    return RowSum(np.array([float(n)]), np.zeros(1)) if weights is None else row_sum(weights[:, None])


def row_sum(X: Array, weights: Array | None = None, *, center: Array | None = None) -> RowSum:
    r"""Add up the rows of a dense array without loss.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Rows of finite numbers.
    weights : ndarray of shape (n,), default=None
        How often each row counts; once by default.
    center : ndarray of shape (d,), default=None
        With it, squared deviations from it are added up.

    Returns
    -------
    RowSum
        Sums of the columns in float64.

    Notes
    -----
    With :math:`s` the rounded sum of a and b and :math:`t = s - a`, the rounding error :math:`(a - (s - t)) + (b - t)`
    is a floating-point number and found exactly [1]_. O(n d) time, seven operations a number.

    References
    ----------
    .. [1] O. Møller. Quasi double-precision in floating point addition. BIT Numerical Mathematics 5, 1965, 37-50.
       https://doi.org/10.1007/BF01975722
    """
    n, d = X.shape
    size = max(1, min(n, CELLS_PER_BLOCK // max(d, 1)))
    high, low = np.zeros((size, d)), np.zeros((size, d))
    for rows in row_blocks(n, size):
        block = X[rows].astype(np.float64, copy=False) if center is None else np.square(X[rows] - center)
        block = block if weights is None else block * weights[rows, None]
        held, lost = high[: len(block)], low[: len(block)]
        total = held + block
        lost += _lost(held, block, total)
        held[:] = total
    # what lies side by side is added up by halves
    while len(high) > 1:
        half = (len(high) + 1) // 2
        rest = len(high) - half
        total = high[:rest] + high[half:]
        low[:rest] += low[half:] + _lost(high[:rest], high[half:], total)
        high[:rest] = total
        high, low = high[:half], low[:half]
    return RowSum(high[0].copy(), low[0].copy())


def _lost(a: Array, b: Array, total: Array) -> Array:
    """Return what rounding took from ``total``, the sum of two numbers."""
    part = total - a
    lost = total - part
    np.subtract(a, lost, out=lost)
    np.subtract(b, part, out=part)
    return np.asarray(np.add(lost, part, out=lost))
