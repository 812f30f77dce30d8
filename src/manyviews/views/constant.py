"""Views that tell no samples apart."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manyviews.views.container import Views

__all__ = ["constant_views"]

# differences of so many units in the last place are rounding
_ROUNDING = 4.0
_FIRST_ROWS = 64


def constant_views(views: Views) -> list[str]:
    """Return the names of the views in which all samples observed there are alike.

    Parameters
    ----------
    views : Views
        Checked views; rows of NaN are not observed.

    Returns
    -------
    list of str
        Names in the order of the views. Most views differ in their first rows, and are not read further.
    """
    found = []
    for v, (name, X) in enumerate(views.items()):
        rows = np.flatnonzero(views.observed[:, v])
        if _is_constant(X[rows[:_FIRST_ROWS]]) and _is_constant(X[rows]):
            found.append(name)
    return found


def _is_constant(X: Any) -> bool:
    if X.shape[0] < 2:
        return True
    low, high = _ends(X)
    largest = np.maximum(np.abs(low), np.abs(high))
    return bool((high - low <= _ROUNDING * np.finfo(X.dtype).eps * largest).all())


def _ends(X: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the smallest and the largest number of each column."""
    if sparse.issparse(X):
        low, high = (np.asarray(ends.todense()).ravel() for ends in (X.min(axis=0), X.max(axis=0)))
        return low, high
    return X.min(axis=0), X.max(axis=0)
