"""Choose scaling and metric of each view from the look of its numbers, never from labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manyviews.linalg.blocks import row_blocks, rows_of_cells
from manyviews.linalg.row_sums import no_rows, row_sum
from manyviews.linalg.scaling import Scaling, fit_scaling
from manyviews.prototypes.block_kmeans import Metric
from manyviews.prototypes.sampled_rows import ViewTreatment

__all__ = ["METRICS", "SPARSE_DENSITY", "as_sparse_if_so", "auto_metric", "centred_treatment", "fit_treatment"]

Array = NDArray[Any]
METRICS = ("euclidean", "cosine")
SPARSE_DENSITY = 0.02
PROBE_ROWS = 10_000
# words that are merely present or absent have next to no entries above 1
REPEATED_COUNTS = 0.05


def fit_treatment(X: Any, scaling: str | None, metric: str, weights: Array | None = None) -> ViewTreatment:
    """Learn how one view is treated.

    Parameters
    ----------
    X : ndarray or CSR of shape (n, d)
        The view; rows of NaN are left out.
    scaling : {"auto", "standard", "minmax", "unit", "tfidf"} or None
        "auto": a dense view is standardised, so that the units of its columns do not matter; a sparse view of counts
        gets tf-idf and unit rows, one of presences or weights unit rows, one with negative entries is standardised.
    metric : {"auto", "euclidean", "cosine"}
        "auto": cosine for sparse views without negative entries, else Euclidean.
    weights : ndarray of shape (n,), default=None
        How often each row counts, above 0; once by default.

    Returns
    -------
    ViewTreatment
        With all columns.

    Raises
    ------
    ValueError
        If scaling or metric is unknown.
    """
    if metric not in ("auto", *METRICS):
        raise ValueError(f"the 'metric' parameter must be 'auto' or one of {METRICS}, got {metric!r}")
    chosen: Metric = auto_metric(X) if metric == "auto" else metric  # type: ignore[assignment]
    if scaling == "auto":
        scaling = _auto_sparse(X) if sparse.issparse(X) else "standard"
    fitted = fit_scaling(X, scaling, weights)
    if _wants_means(fitted, chosen) and not sparse.issparse(X):
        return centred_treatment(fitted, chosen, _means(X))
    width = X.shape[1] if fitted.columns is None else fitted.columns.size
    return ViewTreatment(fitted, chosen, width)


def centred_treatment(scaling: Scaling, metric: Metric, means: Array) -> ViewTreatment:
    """Return the treatment of a dense view with such a scaling and such means of its columns, (d,)."""
    if _wants_means(scaling, metric):
        scaling = Scaling(None, shift=means)
    return ViewTreatment(scaling, metric, means.size if scaling.columns is None else scaling.columns.size)


def _wants_means(scaling: Scaling, metric: Metric) -> bool:
    # distances do not change, but single-precision products keep more of them
    return scaling.kind is None and scaling.shift is None and metric == "euclidean"


def auto_metric(X: Any) -> Metric:
    """Return "cosine" for a sparse view without negative entries, else "euclidean"."""
    return "cosine" if sparse.issparse(X) and X.data.min(initial=0.0) >= 0 else "euclidean"


def _auto_sparse(X: Any) -> str:
    entries = X.data[X.data != 0]
    if entries.min(initial=0.0) < 0:
        return "standard"
    repeated = np.mean(entries > 1) if entries.size else 0.0
    counts = repeated > REPEATED_COUNTS and bool((entries == np.round(entries)).all())
    return "tfidf" if counts else "unit"


def as_sparse_if_so(X: Any) -> Any:
    """Return a dense view as CSR where fewer than 2 % of its entries are not zero and none is negative or NaN."""
    if sparse.issparse(X):
        return X
    probe = X[:: max(1, X.shape[0] // PROBE_ROWS)]
    if np.count_nonzero(probe) >= SPARSE_DENSITY * probe.size or not probe.min() >= 0:
        return X
    blocks, stored = [], 0
    for rows in row_blocks(X.shape[0], rows_of_cells(X.shape[1])):
        block = X[rows]
        stored += int(np.count_nonzero(block))
        if stored >= SPARSE_DENSITY * X.size or not block.min() >= 0:
            return X
        blocks.append(sparse.csr_array(block))
    return blocks[0] if len(blocks) == 1 else sparse.vstack(blocks, format="csr")


def _means(X: Array) -> NDArray[np.float64]:
    total, count = no_rows(X.shape[1]), 0
    for rows in row_blocks(X.shape[0]):
        block = X[rows]
        block = block[~np.isnan(block[:, 0])]
        total += row_sum(block)
        count += block.shape[0]
    return total.value / max(count, 1)
