"""Bring the features of a view to a common scale, remembering how, so that new samples get the same treatment."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manyviews.linalg.blocks import row_blocks, rows_of_cells, smallest_scale, unit_rows, with_data
from manyviews.linalg.row_sums import RowSum, no_rows, row_mass, row_sum

__all__ = [
    "SCALINGS",
    "Scaling",
    "apply_scaling",
    "column_sums",
    "fit_scaling",
    "idf_scaling",
    "is_constant",
    "minmax_scaling",
    "observed_blocks",
    "observed_only",
    "row_count",
    "squared_deviations",
    "standard_scaling",
    "usual_scaling",
    "weighted_blocks",
]

Array = NDArray[Any]
SCALINGS = ("standard", "minmax", "unit", "tfidf", "tfidf_plain")


class Scaling(NamedTuple):
    """How one view is scaled: kind, what is subtracted from and divided out of each column, columns kept."""

    kind: str | None
    shift: Array | None = None
    scale: Array | None = None
    columns: Array | None = None


def usual_scaling(X: Any, dense: str = "standard") -> str:
    """Return the scaling of a view when none is asked for: ``dense``, or for CSR tf-idf, unit rows if some are < 0."""
    if not sparse.issparse(X):
        return dense
    return "tfidf" if X.data.min(initial=0.0) >= 0 else "unit"


def fit_scaling(X: Any, kind: str | None, weights: Array | None = None) -> Scaling:
    r"""Learn a scaling from the rows of a view.

    Parameters
    ----------
    X : ndarray or CSR of shape (n, d)
        A view; rows of NaN (unobserved samples) are left out.
    kind : {"standard", "minmax", "unit", "tfidf", "tfidf_plain"} or None
        "standard": columns to mean 0 and variance 1, constant columns dropped. "minmax": columns to 0..1. Sparse
        columns are divided but not shifted, which would fill them: by the standard deviation or the largest modulus.
        "unit": rows to Euclidean length 1. "tfidf": counts times :math:`1 + \ln\frac{1 + n}{1 + n_j}`, with
        :math:`n_j` the samples having term j, then rows to length 1. None: as given.
    weights : ndarray of shape (n,), default=None
        How often each row counts, above 0; once by default.

    Returns
    -------
    Scaling
        What ``apply_scaling`` needs.

    Raises
    ------
    ValueError
        If the kind is unknown, or counts for "tfidf" are negative.
    """
    if kind is None or kind == "unit":
        return Scaling(kind)
    if kind in ("tfidf", "tfidf_plain"):
        return _idf(X, kind, weights)
    if kind == "standard":
        return _fit_standard(X, weights)
    if kind == "minmax":
        return _fit_minmax(X)
    raise ValueError(f"scaling must be one of {SCALINGS}, None or 'auto', got {kind!r}")


def apply_scaling(X: Any, scaling: Scaling, *, overwrite: bool = False) -> Any:
    """Return the scaled rows; float32 stays float32.

    Parameters
    ----------
    X : ndarray or CSR of shape (b, d)
        Any rows of the view.
    scaling : Scaling
        From ``fit_scaling``.
    overwrite : bool, default=False
        Whether dense rows may be changed in their place, so that no copy is made.

    Returns
    -------
    ndarray or CSR of shape (b, d')
        d' is smaller than d where constant columns were dropped.
    """
    if scaling.columns is not None:
        overwrite = True  # of what is made here
        # of a dense array, indexing would return its columns one after the other in memory, and take more time
        X = X[:, scaling.columns] if sparse.issparse(X) else np.take(X, scaling.columns, axis=1)
    if scaling.shift is not None and not sparse.issparse(X):
        X = np.subtract(X, scaling.shift.astype(X.dtype), out=X if overwrite else None)
        overwrite = True
    if scaling.scale is not None:
        factor = (1.0 / scaling.scale).astype(X.dtype)
        if sparse.issparse(X):
            X = with_data(X, X.data * factor[X.indices])
        else:
            X = np.multiply(X, factor, out=X if overwrite else None)
    return unit_rows(X) if scaling.kind in ("unit", "tfidf", "tfidf_plain") else X


def observed_only(X: Any) -> Any:
    """Return the rows that are not NaN; a sparse view as it is."""
    if sparse.issparse(X):
        return X
    missing = np.isnan(X[:, 0])
    return X[~missing] if missing.any() else X


def observed_blocks(X: Any) -> Iterator[Array]:
    """Yield the rows of a dense view that are not NaN, in blocks."""
    return (block for block, _ in weighted_blocks(X, None))


def weighted_blocks(X: Any, weights: Array | None) -> Iterator[tuple[Array, Array | None]]:
    """Yield the rows of a dense view that are not NaN, in blocks, with how often they count; None for once each."""
    for rows in row_blocks(X.shape[0], rows_of_cells(X.shape[1])):
        block = X[rows]
        seen = observed_only(block)
        if seen.shape[0] == 0:
            continue
        own = None if weights is None else weights[rows]
        yield seen, own if own is None or seen is block else own[~np.isnan(block[:, 0])]


def column_sums(X: Any, weights: Array | None) -> NDArray[np.float64]:
    """Return the sums of the columns (d,) of rows (n, d), dense or CSR, each as often as it counts."""
    if weights is None:
        return np.asarray(X.sum(axis=0, dtype=np.float64)).ravel()
    return np.asarray(X.T @ weights).ravel()


def row_count(block: Any, weights: Array | None) -> float:
    """Return how many rows a block has, each as often as it counts."""
    return block.shape[0] if weights is None else float(weights.sum())


def is_constant(X: Any) -> bool:
    """Return whether all rows of a view (n, d), dense or CSR, are equal up to rounding; rows of NaN are left out."""
    if sparse.issparse(X):
        X = sparse.csr_array(X)
        lengths = np.diff(X.indptr)
        if (lengths != lengths[0]).any():
            return X.nnz == 0 or not X.data.any()
        shape = (X.shape[0], int(lengths[0]))
        same_place = bool((X.indices.reshape(shape) == X.indices[: shape[1]]).all())
        return same_place and bool((X.data.reshape(shape) == X.data[: shape[1]]).all())
    first: Array | None = None
    for block in observed_blocks(X):
        first = block[0] if first is None else first
        if (abs(block - first) > 10 * np.finfo(block.dtype).eps * abs(first)).any():
            return False
    return True


def _fit_standard(X: Any, weights: Array | None) -> Scaling:
    if sparse.issparse(X):
        n = row_count(X, weights)
        mean = column_sums(X, weights) / n
        variance = np.maximum(column_sums(X.multiply(X), weights) / n - mean**2, 0.0)
    else:
        mean, variance = _column_moments(X, weights)
    return standard_scaling(mean, variance, X.dtype)


def standard_scaling(mean: Array, variance: Array, dtype: Any) -> Scaling:
    """Return the scaling "standard" of columns of this type with such means and variances, (d,)."""
    # below this a column varies only by the rounding of its own mean
    least = np.maximum(10 * np.finfo(dtype).eps * np.abs(mean), smallest_scale(dtype))
    columns = np.flatnonzero(np.sqrt(variance) > least)
    if columns.size == 0:
        columns = np.arange(1)
        variance = np.ones_like(variance)
    kept = None if columns.size == mean.size else columns
    return Scaling("standard", mean[columns], np.sqrt(variance[columns]), kept)


def _column_moments(X: Any, weights: Array | None) -> tuple[Array, Array]:
    """Return mean and variance of the columns of a dense view, in two passes."""
    count, total = no_rows(1), no_rows(X.shape[1])
    for block, own in weighted_blocks(X, weights):
        count += row_mass(len(block), own)
        total += row_sum(block, own)
    n = float(count.value[0]) or 1.0
    mean = total.value / n
    return mean, squared_deviations(X, mean, weights).value / n


def squared_deviations(X: Any, mean: Array, weights: Array | None = None) -> RowSum:
    """Return the sums of squared deviations of the columns of a dense view from such means, (d,)."""
    total = no_rows(X.shape[1])
    for block, own in weighted_blocks(X, weights):
        total += row_sum(block, own, center=mean)
    return total


def _fit_minmax(X: Any) -> Scaling:
    if sparse.issparse(X):
        top = np.asarray(abs(X).max(axis=0).todense()).ravel().astype(np.float64)
        return Scaling("minmax", scale=np.where(top > smallest_scale(X.dtype), top, 1.0))
    low, top = np.full(X.shape[1], np.inf), np.full(X.shape[1], -np.inf)
    for block in observed_blocks(X):
        low, top = np.minimum(low, block.min(axis=0)), np.maximum(top, block.max(axis=0))
    return minmax_scaling(low, top, X.dtype)


def minmax_scaling(low: Array, top: Array, dtype: Any) -> Scaling:
    """Return the scaling "minmax" of dense columns of this type with such extremes, (d,)."""
    return Scaling("minmax", low, np.where(top - low > smallest_scale(dtype), top - low, 1.0))


def _idf(X: Any, kind: str, weights: Array | None) -> Scaling:
    parts = (X.data,) if sparse.issparse(X) else observed_blocks(X)
    negative = any(part.min(initial=0.0) < 0 for part in parts)
    if sparse.issparse(X):
        present = X.data != 0 if weights is None else (X.data != 0) * np.repeat(weights, np.diff(X.indptr))
        having = np.bincount(X.indices, present, minlength=X.shape[1])
        return idf_scaling(kind, row_count(X, weights), having, negative=negative)
    count, filled = no_rows(1), no_rows(X.shape[1])
    for block, own in weighted_blocks(X, weights):
        count += row_mass(len(block), own)
        filled += row_sum(block != 0, own)
    return idf_scaling(kind, float(count.value[0]), filled.value, negative=negative)


def idf_scaling(kind: str, n: float, having: Array, *, negative: bool) -> Scaling:
    """Return the scaling "tfidf" or "tfidf_plain" where ``having`` (d,) of n samples have each term."""
    if negative:
        raise ValueError(f"scaling={kind!r} needs counts, but there are negative entries; use 'unit' or 'standard'")
    if kind == "tfidf":
        return Scaling(kind, scale=1.0 / (1.0 + np.log((1.0 + n) / (1.0 + having))))
    idf = np.log(n / np.where(having > 0, having, 1.0))
    return Scaling(kind, scale=np.divide(1.0, idf, out=np.full_like(idf, np.inf), where=idf > 0))
