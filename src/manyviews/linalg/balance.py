"""Scale every view and then give all of them the same total variance, so that none drowns the others."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manyviews.linalg.blocks import row_blocks, smallest_scale, squared_lengths
from manyviews.linalg.scaling import Scaling, apply_scaling, column_sums, fit_scaling, observed_weighted

__all__ = ["BalancedScaling", "apply_balanced", "concatenate", "fit_balanced"]

Array = NDArray[Any]
UNIT_ROWS = ("unit", "tfidf")
# a view whose variance is below this share of its mean squared row length varies by rounding only
CONSTANT = 1e-20


class BalancedScaling(NamedTuple):
    """How one view is brought to the common scale.

    Its own scaling; the length of its rows where that makes unit rows, else None; and whether it is constant.
    """

    scaling: Scaling
    radius: float | None
    constant: bool


def fit_balanced(X: Any, kind: str | None, *, balance: bool = True, weights: Array | None = None) -> BalancedScaling:
    """Learn a scaling after which the view is centred (dense views) and has total variance 1.

    Parameters
    ----------
    X : ndarray or CSR of shape (n, d)
        A view; rows of NaN (unobserved samples) are left out.
    kind : {"standard", "minmax", "unit", "tfidf"} or None
        What is done to the columns or rows first; see ``fit_scaling``.
    balance : bool, default=True
        Divide the view by the root of its total variance, the mean squared distance to its mean.
    weights : ndarray of shape (n,), default=None
        How often each row counts, above 0; once by default.

    Returns
    -------
    BalancedScaling
        What ``apply_balanced`` needs.
    """
    X, weights = observed_weighted(X, weights)
    scaling = fit_scaling(X, kind, weights)
    mean, variance, size = _moments(X, scaling, weights)
    constant = bool(variance <= max(CONSTANT * size, smallest_scale(X.dtype) ** 2))
    factor = 1.0 if constant or not balance else variance**-0.5
    if kind in UNIT_ROWS:
        return BalancedScaling(scaling, factor, constant)
    scale = np.ones(mean.size) if scaling.scale is None else scaling.scale
    shift = mean * scale if scaling.shift is None else scaling.shift + mean * scale
    merged = Scaling(kind, None if sparse.issparse(X) else shift, scale / factor, scaling.columns)
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


def _moments(X: Any, scaling: Scaling, weights: Array | None) -> tuple[Array, float, float]:
    """Return mean, total variance and mean squared length of the scaled rows, by blocks."""
    n = X.shape[0] if weights is None else float(weights.sum())
    total: Any = 0.0
    for rows in row_blocks(X.shape[0]):
        total = total + column_sums(apply_scaling(X[rows], scaling), None if weights is None else weights[rows])
    mean = np.asarray(total) / n
    variance, size = 0.0, 0.0
    for rows in row_blocks(X.shape[0]):
        Z = apply_scaling(X[rows], scaling)
        size += _weighted_size(Z, None if weights is None else weights[rows])
        if sparse.issparse(Z):
            variance = size - n * float(mean @ mean)
        else:
            squares = np.square(Z - mean)
            variance += float(squares.sum() if weights is None else (weights[rows] @ squares).sum())
    return mean, max(variance, 0.0) / n, size / n


def _weighted_size(Z: Any, weights: Array | None) -> float:
    """Return the sum of the squares of all numbers, those of a row times its weight."""
    if weights is not None:
        return float(weights @ squared_lengths(Z, np.float64))
    if sparse.issparse(Z):
        return float(Z.multiply(Z).sum(dtype=np.float64))
    return float(np.einsum("ij,ij->", Z, Z, dtype=np.float64))


def concatenate(arrays: tuple[Any, ...]) -> Any:
    """Return scaled views side by side, CSR if any is sparse."""
    if any(map(sparse.issparse, arrays)):
        return sparse.hstack(arrays, format="csr")
    return np.hstack(arrays)
