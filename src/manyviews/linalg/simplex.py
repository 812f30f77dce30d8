r"""Euclidean projection onto the probability simplex, of many vectors at once.

The projection of v is :math:`\max(v - \theta, 0)` with :math:`\theta` the root of
:math:`\sum_j \max(v_j - \theta, 0) = s`. The sum is convex and piecewise linear in θ, so Newton's iterations from the
left end at the exact root after finitely many steps, each a pass over the entries still above θ instead of a sort.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["project_rows", "project_segments"]

Array = NDArray[np.float64]
MAX_STEPS = 100


def project_rows(
    A: NDArray[Any], weights: NDArray[Any] | None = None, levels: NDArray[Any] | None = None
) -> NDArray[Any]:
    r"""Return for each row the nearest point of the simplex, whose corners may have weights.

    It is the z that minimises :math:`\sum_j w_j (z_j - a_j)^2` over z ≥ 0, :math:`\sum_j w_j z_j = 1`: as many equal
    entries, merged into one, as its weight says. All rows take their steps together, in the type of A.

    Parameters
    ----------
    A : ndarray of shape (b, n)
        Rows to project; a block of rows that fits in the cache is fastest.
    weights : ndarray of shape (n,), default=None
        Positive weights; all 1 by default.
    levels : ndarray of shape (b,), default=None
        Where to start looking for θ, and overwritten with the one found. Those of rows that differ little from these
        leave fewer steps to take than the start of its own that each row gets by default.

    Returns
    -------
    ndarray of shape (b, n)
        Rows on the simplex, in the type of A.
    """
    w = np.ones(A.shape[1], A.dtype) if weights is None else weights.astype(A.dtype)
    enough, tiny = 4 * np.finfo(A.dtype).eps, np.finfo(A.dtype).tiny
    level = (A @ w - 1) / w.sum() if levels is None else levels.copy()
    Z = np.empty_like(A)
    for step in range(MAX_STEPS):
        np.subtract(A, level[:, None], out=Z)
        np.maximum(Z, 0, out=Z)
        excess = Z @ w - 1
        if (np.abs(excess) if step == 0 else excess).max() <= enough:
            break
        count = (Z > 0) @ w
        # from the left θ only rises; a start to the right of it is led to the left by the first step
        change = excess / np.maximum(count, tiny)
        moved = level + (change if step == 0 else np.maximum(change, 0))
        if step == 0 and not count.all():  # a start above all entries, where there is no slope
            moved = np.where(count > 0, moved, (A @ w - 1) / w.sum())
        if np.array_equal(moved, level):
            break
        level = moved
    if levels is not None:
        levels[:] = level
    return Z


def project_segments(values: Array, sizes: NDArray[np.int64], *, total: float = 1.0) -> Array:
    """Return the nearest point of the simplex to every vector, the vectors lying one after the other, exactly.

    Parameters
    ----------
    values : ndarray of shape (Σ sizes,)
        Entries of all vectors, such as the stored entries of a sparse matrix.
    sizes : ndarray of shape (n,)
        Number of entries of each; 0 is allowed.
    total : float, default=1.0
        What the entries of each projected vector sum to, positive.

    Returns
    -------
    ndarray of shape (Σ sizes,), float64
        Projected entries.
    """
    theta = np.zeros(len(sizes))
    active = np.flatnonzero(sizes)
    if active.size == 0:
        return np.zeros(0)
    length = sizes[active]
    # counted from the largest entry of each vector, so that huge entries do not swallow the total
    top = np.maximum.reduceat(values, _starts(length))
    shifted = values - np.repeat(top, length)
    v = shifted
    # two points left of the root: the one of all entries, and the one of the largest alone
    theta[active] = np.maximum((np.add.reduceat(v, _starts(length)) - total) / length, -total)
    while active.size:
        above = v > np.repeat(theta[active], length)
        v = v[above]
        count = np.add.reduceat(above, _starts(length), dtype=np.intp)
        theta[active] = (np.add.reduceat(v, _starts(count)) - total) / count
        # from the left θ only rises: where no entry fell out the set is final, and so is its θ
        going_on = count < length
        v, active, length = v[np.repeat(going_on, count)], active[going_on], count[going_on]
    return np.asarray(np.maximum(shifted - np.repeat(theta, sizes), 0.0))


def _starts(length: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.cumsum(length) - length
