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


def project_rows(V: NDArray[Any], support: NDArray[np.bool_] | None = None, *, total: float = 1.0) -> Array:
    """Return the nearest point of the simplex to every row.

    Parameters
    ----------
    V : ndarray of shape (n, m)
        Rows to project.
    support : ndarray of shape (n, m) of bool, default=None
        Entries that may differ from 0; None allows all. A row without any stays 0.
    total : float, default=1.0
        What the entries of a projected row sum to, positive.

    Returns
    -------
    ndarray of shape (n, m), float64
        Rows that are nonnegative and sum to ``total``, with exact zeros.

    Examples
    --------
    >>> import numpy as np
    >>> from manyviews.linalg.simplex import project_rows
    >>> project_rows(np.array([[0.5, 0.5, -1.0], [2.0, 0.0, 0.0]]))
    array([[0.5, 0.5, 0. ],
           [1. , 0. , 0. ]])
    """
    V = np.asarray(V, dtype=np.float64)
    if support is None:
        sizes = np.full(V.shape[0], V.shape[1])
        return project_segments(V.ravel(), sizes, total=total).reshape(V.shape)
    P = np.zeros(V.shape)
    P[support] = project_segments(V[support], np.count_nonzero(support, axis=1), total=total)
    return P


def project_segments(values: Array, sizes: NDArray[np.int64], *, total: float = 1.0) -> Array:
    """Return the nearest point of the simplex to every vector, the vectors lying one after the other.

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
