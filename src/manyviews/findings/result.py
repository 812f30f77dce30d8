"""A fitted model and its views, read once: checked views, clusters by size, what was done to each view."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from manyviews.findings.spaces import scalings_of
from manyviews.pages.wording import plain
from manyviews.views import Views
from manyviews.views.check import check_views, is_table
from manyviews.views.new_samples import match_views

__all__ = ["GroupedResult", "read_result"]

Array = NDArray[Any]


class GroupedResult(NamedTuple):
    """What was clustered and how.

    Attributes
    ----------
    views : Views
        Checked, in the order of the fit.
    labels : ndarray of shape (n,)
        As the model has them.
    names : list of str
        Names of the clusters, largest first.
    positions : ndarray of shape (n,)
        Cluster of each sample, as a position in ``names``.
    scalings : list of (str or None)
        What was done to each view first.
    """

    views: Views
    labels: Array
    names: list[str]
    positions: Array
    scalings: list[str | None]

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return len(self.names)


def read_result(model: Any, views: Any) -> GroupedResult:
    """Return the groups of a fitted model.

    Parameters
    ----------
    model : estimator
        Fitted; only ``labels_`` is needed.
    views : Views, sequence, mapping or table
        What the model was fitted on.

    Returns
    -------
    GroupedResult
        Checked views and clusters by size.

    Raises
    ------
    ValueError
        If the model is not fitted, or does not have one label per sample.
    """
    checked = check_views(views, views=getattr(model, "views", None) if is_table(views) else None)
    if hasattr(model, "_without_left_out"):
        checked = model._without_left_out(checked)
    if hasattr(model, "_fitted_views"):  # of others than those of the fit another story would be told
        checked = match_views(checked, model._fitted_views)
    labels = _labels(model, len(checked))
    names, positions = _by_size(labels)
    return GroupedResult(checked, labels, names, positions, scalings_of(model, checked))


def _labels(model: Any, n_samples: int) -> Array:
    labels = getattr(model, "labels_", None)
    if labels is None:
        raise ValueError(f"{type(model).__name__} is not fitted (it has no labels_); call fit on the views first")
    labels = np.asarray(labels)
    if labels.shape != (n_samples,):
        raise ValueError(
            f"labels_ has shape {labels.shape} but there are {n_samples} samples; "
            "give the views that the model was fitted on"
        )
    return labels


def _by_size(labels: Array) -> tuple[list[str], Array]:
    """Return the names of the clusters, largest first, and each sample's position among them.

    Numbers get a letter in front, C0, so that nobody takes them for classes, which are digits in some data.
    """
    values, positions, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    order = np.argsort(-sizes, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(order.size)
    letter = "C" if values.dtype.kind in "iu" else ""
    return [letter + plain(values[i], 40) for i in order], rank[positions.ravel()]
