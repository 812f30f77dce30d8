"""Project rows onto a simplex whose corners have weights, as they have when equal samples are merged."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["project_rows_weighted"]

Array = NDArray[Any]
MAX_STEPS = 100


def project_rows_weighted(A: Array, weights: Array | None = None) -> Array:
    r"""Return for each row a the nearest point of the simplex.

    It is the z that minimises :math:`\sum_j w_j (z_j - a_j)^2` over z ≥ 0, :math:`\sum_j w_j z_j = 1`, which is
    max(a - c, 0). The level c is the zero of a convex decreasing function, found by Newton steps from below, which end
    after finitely many: no row is sorted.

    Parameters
    ----------
    A : ndarray of shape (b, n)
        Rows to project; a block of rows that fits in the cache is fastest.
    weights : ndarray of shape (n,), default=None
        Positive weights; all 1 by default.

    Returns
    -------
    ndarray of shape (b, n)
        Rows on the simplex, in the type of A.
    """
    w = np.ones(A.shape[1], A.dtype) if weights is None else weights.astype(A.dtype)
    level = (A @ w - 1) / w.sum()
    Z = np.empty_like(A)
    for _ in range(MAX_STEPS):
        np.subtract(A, level[:, None], out=Z)
        np.maximum(Z, 0, out=Z)
        excess = Z @ w - 1
        step = excess / np.maximum((Z > 0) @ w, np.finfo(A.dtype).tiny)
        moved = level + np.maximum(step, 0)
        if np.array_equal(moved, level) or (excess <= 4 * np.finfo(A.dtype).eps).all():
            break
        level = moved
    return Z
