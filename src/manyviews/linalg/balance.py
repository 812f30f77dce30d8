"""Scale every view and then give all of them the same total variance, so that none drowns the others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manyviews.linalg.blocks import row_blocks, smallest_scale, squared_lengths
from manyviews.linalg.row_sums import RowSum, no_rows, row_mass, row_sum
from manyviews.linalg.scaled_rows import RowsSideBySide, ScaledRows
from manyviews.linalg.scaling import Scaling, apply_scaling, column_sums, fit_scaling, row_count, weighted_blocks

__all__ = [
    "BalancedScaling",
    "ScaledMoments",
    "apply_balanced",
    "balanced_scaling",
    "concatenate",
    "fit_balanced",
    "mean_of",
    "moments_of",
    "scaled_squares",
    "scaled_sums",
]

Array = NDArray[Any]
UNIT_ROWS = ("unit", "tfidf")
# a view whose variance is below this share of its mean squared row length varies by rounding only
CONSTANT = 1e-20
TINY = float(np.finfo(np.float64).tiny)


class BalancedScaling(NamedTuple):
    """How one view is brought to the common scale.

    Its own scaling; the length of its rows where that makes unit rows, else None; and whether it is constant.
    """

    scaling: Scaling
    radius: float | None
    constant: bool


def fit_balanced(
    X: Any, kind: str | None, *, balance: bool = True, weight: float = 1.0, counts: Array | None = None
) -> BalancedScaling:
    """Learn a scaling after which the view is centred (dense views) and has total variance 1.

    Parameters
    ----------
    X : ndarray or CSR of shape (n, d)
        A view; rows of NaN (unobserved samples) are left out.
    kind : {"standard", "minmax", "unit", "tfidf"} or None
        What is done to the columns or rows first; see ``fit_scaling``.
    balance : bool, default=True
        Divide the view by the root of its total variance, the mean squared distance to its mean.
    weight : float, default=1.0
        What squared distances are multiplied with in the end.
    counts : ndarray of shape (n,), default=None
        How often each row counts, above 0; once by default.

    Returns
    -------
    BalancedScaling
        What ``apply_balanced`` needs.
    """
    scaling = fit_scaling(X, kind, counts)
    moments = _moments(X, scaling, counts)
    return balanced_scaling(scaling, moments, X.dtype, balance=balance, weight=weight, shifted=not sparse.issparse(X))


class ScaledMoments(NamedTuple):
    """Mean (d,), total variance and mean squared length of the scaled rows of a view."""

    mean: Array
    variance: float
    size: float


def balanced_scaling(
    scaling: Scaling,
    moments: ScaledMoments,
    dtype: Any,
    *,
    balance: bool,
    weight: float = 1.0,
    shifted: bool = True,
) -> BalancedScaling:
    """Return the common scale of a view of this type whose scaled rows have such moments; see ``fit_balanced``.

    ``shifted`` says whether columns are centred: those of dense views.
    """
    mean, variance, size = moments
    constant = bool(variance <= max(CONSTANT * size, smallest_scale(dtype) ** 2))
    factor = (1.0 if constant or not balance else variance**-0.5) * weight**0.5
    if scaling.kind in UNIT_ROWS:
        return BalancedScaling(scaling, factor, constant)
    scale = np.ones(mean.size) if scaling.scale is None else scaling.scale
    shift = mean * scale if scaling.shift is None else scaling.shift + mean * scale
    merged = Scaling(scaling.kind, shift if shifted else None, scale / factor, scaling.columns)
    return BalancedScaling(merged, None, constant)


def apply_balanced(X: Any, balanced: BalancedScaling) -> Any:
    """Return the scaled rows of a view; rows of NaN become zeros, the place of the mean.

    Parameters
    ----------
    X : ndarray or CSR of shape (b, d)
        Any rows of the view.
    balanced : BalancedScaling
        From ``fit_balanced``.

    Returns
    -------
    ndarray or CSR of shape (b, d')
        d' is smaller than d where constant columns were dropped; float32 stays float32.
    """
    scaled = apply_scaling(X, balanced.scaling)
    if balanced.radius is not None:
        scaled = scaled * X.dtype.type(balanced.radius)
    if not sparse.issparse(scaled):
        missing = np.isnan(scaled[:, 0])
        if missing.any():
            scaled = scaled if scaled is not X else scaled.copy()
            scaled[missing] = 0.0
    return scaled


def _moments(X: Any, scaling: Scaling, weights: Array | None) -> ScaledMoments:
    """Return mean, total variance and mean squared length of the scaled rows, by blocks."""
    if sparse.issparse(X):
        return _sparse_moments(X, scaling, weights)
    sums = scaled_sums(X, scaling, weights)
    return moments_of(*sums, *scaled_squares(X, scaling, mean_of(*sums), weights))


def _sparse_moments(X: Any, scaling: Scaling, weights: Array | None) -> ScaledMoments:
    n, total, size = 0.0, np.zeros(X.shape[1] if scaling.columns is None else scaling.columns.size), 0.0
    for Z, own in _scaled_blocks(X, scaling, weights):
        n += row_count(Z, own)
        total += column_sums(Z, own)
        lengths = squared_lengths(Z, np.float64)
        size += float(lengths.sum() if own is None else own @ lengths)
    mean = total / n
    return ScaledMoments(mean, max(size - n * float(mean @ mean), 0.0) / n, size / n)


def mean_of(count: RowSum, total: RowSum) -> Array:
    """Return the mean (d',) from ``scaled_sums``."""
    return np.asarray(total.value / max(float(count.value[0]), TINY))


def moments_of(count: RowSum, total: RowSum, deviations: RowSum, squares: RowSum) -> ScaledMoments:
    """Return the moments of a dense view from ``scaled_sums`` and ``scaled_squares``, those of all its blocks."""
    n = max(float(count.value[0]), TINY)
    return ScaledMoments(mean_of(count, total), float(deviations.value.sum()) / n, float(squares.value[0]) / n)


def scaled_sums(X: Any, scaling: Scaling, weights: Array | None = None) -> tuple[RowSum, RowSum]:
    """Return how many rows of a dense view are observed, (1,), and the sums of their scaled columns, (d',)."""
    count, total = no_rows(1), no_rows(X.shape[1] if scaling.columns is None else scaling.columns.size)
    for Z, own in _scaled_blocks(X, scaling, weights):
        count += row_mass(len(Z), own)
        total += row_sum(Z, own)
    return count, total


def scaled_squares(X: Any, scaling: Scaling, mean: Array, weights: Array | None = None) -> tuple[RowSum, RowSum]:
    """Return the sums of squared deviations of the scaled columns of a dense view, (d',), and of row lengths, (1,)."""
    deviations, lengths = no_rows(mean.size), no_rows(1)
    for Z, own in _scaled_blocks(X, scaling, weights):
        deviations += row_sum(Z, own, center=mean)
        lengths += row_sum(squared_lengths(Z, np.float64)[:, None], own)
    return deviations, lengths


def _scaled_blocks(X: Any, scaling: Scaling, weights: Array | None) -> Iterator[tuple[Any, Array | None]]:
    blocks: Iterator[tuple[Any, Array | None]]
    if sparse.issparse(X):
        blocks = ((X[rows], None if weights is None else weights[rows]) for rows in row_blocks(X.shape[0]))
    else:
        blocks = weighted_blocks(X, weights)
    return ((apply_scaling(block, scaling), own) for block, own in blocks)


def concatenate(arrays: tuple[Any, ...]) -> Any:
    """Return scaled views side by side: CSR if any is sparse, by blocks if any is scaled when it is read."""
    if any(map(sparse.issparse, arrays)):
        return sparse.hstack([X if sparse.issparse(X) else np.asarray(X) for X in arrays], format="csr")
    if any(isinstance(X, ScaledRows) for X in arrays):
        return RowsSideBySide(arrays)
    return np.hstack(arrays)


def joined(arrays: Iterable[Array], shape: tuple[int, int], dtype: Any) -> Array:
    """Return dense arrays side by side, each of which may be made when its columns are filled, so that no two are held.

    Parameters
    ----------
    arrays : iterable of ndarray of shape (n, d_v)
        The arrays, from left to right.
    shape : tuple of int
        (n, d), with d at least the number of their columns.
    dtype : dtype
        Type of the result.

    Returns
    -------
    ndarray of shape (n, Σ d_v)
        The same numbers.
    """
    table, end = np.empty(shape, dtype), 0
    for array in arrays:
        table[:, end : end + array.shape[1]] = array
        end += array.shape[1]
    return table if end == shape[1] else table[:, :end].copy()
