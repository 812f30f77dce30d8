"""What the user wants each view to count: weights by name or in order, checked once for all methods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyviews.views import Views
from manyviews.views.check import per_view

__all__ = ["counted_views", "relative_weights", "wanted_weights"]


def wanted_weights(given: Any, names: Sequence[str]) -> NDArray[np.float64]:
    """Return the weights (V,) that a user wants.

    Parameters
    ----------
    given : mapping, sequence or None
        Weight of each view by name, where views that are left out get 1, or of all views in order; None for 1 each.
    names : sequence of str
        Names of the views.

    Returns
    -------
    ndarray of shape (V,)
        Weights as given.

    Raises
    ------
    ValueError
        If a name is unknown, the number of weights is another, or they are no finite numbers of 0 or more of which one
        is above 0.
    """
    if given is None:
        return np.ones(len(names))
    if isinstance(given, dict):
        given = dict.fromkeys(names, 1.0) | given
    elif isinstance(given, np.ndarray):
        given = given.tolist()
    chosen = per_view(given, names, "view_weights")
    try:
        wanted = np.array([float(weight) for weight in chosen])
    except (TypeError, ValueError):
        wanted = np.array([np.nan])
    if not (np.isfinite(wanted).all() and (wanted >= 0).all() and wanted.any()):
        raise ValueError(
            f"the 'view_weights' parameter must be numbers of 0 or more, not all of them 0, got {given!r}; "
            "1 is usual, 2 counts a view as if it were given twice, 0 leaves it out"
        )
    return wanted


def counted_views(views: Views, given: Any) -> tuple[Views, dict[str, float]]:
    """Return the views whose weight is not 0, and the weights of all of them by name where they differ, else none."""
    wanted = wanted_weights(given, views.names)
    names = [name for name, weight in zip(views.names, wanted, strict=True) if weight > 0]
    weights = relative_weights(wanted)
    kept = views if len(names) == len(views.names) else views.select(names)
    return kept, dict(zip(names, weights.tolist(), strict=True)) if np.ptp(weights) > 0 else {}


def relative_weights(wanted: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the weights of the views that count, with the mean 1; exactly 1 where all are alike."""
    counted = wanted[wanted > 0]
    if np.ptp(counted) <= 1e-12 * counted.max():
        return np.ones(counted.size)
    return np.asarray(counted / counted.max() / (counted / counted.max()).mean())
