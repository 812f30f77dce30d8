r"""Euclidean projection onto the probability simplex, of all rows of a matrix at once.

The projection of v is :math:`\max(v - \theta, 0)` with :math:`\theta` the root of
:math:`\sum_j \max(v_j - \theta, 0) = s`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["project_columns", "project_rows", "simplex_threshold"]

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
    return _project(V, support, axis=1, total=total)


def project_columns(V: NDArray[Any], support: NDArray[np.bool_] | None = None, *, total: float = 1.0) -> Array:
    """Return the nearest point of the simplex to every column; see ``project_rows``."""
    return _project(V, support, axis=0, total=total)


def _project(V: NDArray[Any], support: NDArray[np.bool_] | None, *, axis: int, total: float) -> Array:
    W = np.array(V, dtype=np.float64)
    if support is not None:
        W[~support] = -np.inf
    theta = simplex_threshold(W, axis=axis, total=total)
    W -= np.expand_dims(theta, axis)
    return np.maximum(W, 0.0, out=W)


def simplex_threshold(V: Array, *, axis: int = 1, total: float = 1.0) -> Array:
    """Return the θ of every row (or column, ``axis=0``); entries of -inf do not take part.

    The sum is convex and piecewise linear in θ, so Newton's iterations from the left end at the exact root after
    finitely many steps, each a pass over the entries instead of a sort.

    Parameters
    ----------
    V : ndarray of shape (n, m)
        Vectors along ``axis``.
    axis : {0, 1}, default=1
        0: every column is a vector.
    total : float, default=1.0
        What the entries above θ add up to.

    Returns
    -------
    ndarray of shape (n,) or (m,)
        Thresholds; 0 where a vector has no finite entry.
    """
    theta = V.max(axis=axis, initial=-np.inf) - total
    empty = np.isneginf(theta)
    theta[empty] = 0.0
    taking_part = np.full(theta.shape, -1)
    while True:
        above = np.expand_dims(theta, axis) < V
        count = np.count_nonzero(above, axis=axis)
        if np.array_equal(count, taking_part):
            return np.asarray(theta)
        taking_part = count
        sums = np.where(above, V, 0.0).sum(axis=axis)
        # from the left θ only rises, so an unchanged count means an unchanged set
        theta = np.where(empty, 0.0, (sums - total) / np.maximum(count, 1))
