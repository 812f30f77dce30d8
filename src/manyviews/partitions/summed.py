"""Basic partitions of few rows of many columns: k-means by the products of the rows, centres as sums of rows.

All centres of all partitions together are many more than the rows that they are means of; these are kept once instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manyviews.linalg.coordinates import has_few_rows, middle_numbers, products_of_rows
from manyviews.partitions.basic import RUN_ITER, BasicPartition
from manyviews.prototypes.block_kmeans import Metric
from manyviews.prototypes.lloyd import lloyd, rows_counted
from manyviews.prototypes.row_means import ProductSteps

__all__ = ["ComparedRows", "SummedCenters", "compared_rows", "sum_centers", "summed_partition"]

Array = NDArray[Any]
Labels = NDArray[np.int64]


class ComparedRows(NamedTuple):
    """Rows (n, d) in single precision, the center taken off them (None for the cosine), and their products (n, n).

    The rows are divided by ``unit``, a power of two, so that none leaves the range of single precision. The center is
    the middle number of each column: with the mean, one row far off would take digits from all others.
    """

    rows: NDArray[np.float32]
    center: Array | None
    unit: float
    G: NDArray[np.float64]


@dataclass(frozen=True)
class SummedCenters:
    """Centres (k, d) less ``center``: ``weights`` (k, n), CSR, times the rows; ``bias`` (k,), half squared lengths."""

    rows: NDArray[np.float32]
    center: Array | None
    weights: sparse.csr_array
    bias: NDArray[np.float64]

    def similarities(self, X: Array) -> Array:
        r"""Return :math:`x^\top c - \tfrac12 \|c\|^2`, or :math:`x^\top c` for the cosine, (b, k), of prepared rows."""
        if self.center is None:
            products: Array = (X.astype(np.float32, copy=False) @ self.rows.T).astype(np.float64)
        else:
            near, units = _in_range(X - self.center.astype(X.dtype, copy=False), axis=1)
            products = (near @ self.rows.T) * units[:, None]
        return np.asarray((self.weights @ products.T).T - self.bias)


def compared_rows(X: Any, metric: Metric) -> ComparedRows | None:
    """Return few rows of many columns, ready to be compared by their products; None for others.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Prepared rows: of unit length for the cosine. Other kinds of rows give None.
    metric : {"cosine", "euclidean"}
        What near means.

    Returns
    -------
    ComparedRows or None
        The rows in single precision, O(n d), and their products, O(n²).
    """
    if type(X) is not np.ndarray or not has_few_rows(X):
        return None
    if metric == "cosine":
        return ComparedRows(X.astype(np.float32, copy=False), None, 1.0, products_of_rows(X, centered=False))
    center = middle_numbers(X)
    near = X - center
    G = products_of_rows(near, centered=False)
    rows, unit = _in_range(near)
    return ComparedRows(rows, center, float(unit), G)


def _in_range(near: Array, axis: int | None = None) -> tuple[NDArray[np.float32], Array]:
    """Return rows in single precision, and the powers of two that they, or each, were divided by; ``near`` is lost."""
    _, exponents = np.frexp(np.maximum(near.max(axis=axis), -near.min(axis=axis)))
    np.ldexp(near, -exponents if axis is None else -exponents[:, None], out=near)
    return near.astype(np.float32, copy=False), np.ldexp(1.0, exponents)


def summed_partition(
    compared: ComparedRows,
    k: int,
    rng: np.random.Generator,
    *,
    candidates: Labels,
    metric: Metric,
    max_iter: int = RUN_ITER,
    counts: Array | None = None,
) -> BasicPartition:
    """Run k-means once as ``random_partition`` does, with its parameters, in O(n² k) per iteration.

    The centres are weights of the rows, (k, n), CSR.
    """
    start = np.zeros((k, len(compared.G)))
    start[np.arange(k), rng.choice(candidates, k, replace=False)] = 1.0
    steps, rows = ProductSteps(compared.G, metric, counts), rows_counted(counts)
    run = lloyd(steps.assign, steps.update, start, k, max_iter=max_iter, each=steps.losses, rows=rows)
    return BasicPartition(run.labels, sparse.csr_array(run.centers))


def sum_centers(compared: ComparedRows, weights: list[sparse.csr_array], metric: Metric) -> SummedCenters:
    """Return the centres of several partitions of the same rows."""
    A = sparse.csr_array(sparse.vstack(weights, format="csr"))
    bias = (
        np.zeros(A.shape[0]) if metric == "cosine" else 0.5 * np.asarray(A.multiply(A @ compared.G).sum(axis=1)).ravel()
    )
    return SummedCenters(compared.rows, compared.center, A * compared.unit, bias)
