"""Views of new samples, matched to those that a method was fitted on."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from manyviews.views.container import Views

__all__ = ["FittedViews", "match_views"]


class FittedViews(NamedTuple):
    """What is remembered of the training views: names, whether they were given, widths, column names, sparse or not."""

    names: tuple[str, ...]
    named: bool
    widths: tuple[int, ...]
    columns: tuple[tuple[str, ...] | None, ...]
    sparse: tuple[bool, ...]

    @classmethod
    def of(cls, views: Views, *, named: bool) -> FittedViews:
        """Describe training views."""
        widths = tuple(int(array.shape[1]) for array in views.arrays)
        return cls(views.names, named, widths, views.feature_names, tuple(map(sparse.issparse, views.arrays)))


def match_views(new: Views, fitted: FittedViews, *, partial: bool = False) -> Views:
    """Return the views of new samples in the order in which the training views came.

    Parameters
    ----------
    new : Views
        Views of the new samples.
    fitted : FittedViews
        Description of the training views.
    partial : bool, default=False
        Whether named views may be lacking; every sample then counts as not observed in them.

    Returns
    -------
    Views
        The new samples, views and columns matched by name where both sides have names, else by position. A lacking
        view is an array of NaN that takes no memory.

    Raises
    ------
    ValueError
        If views or columns are missing or unknown, or a width differs.
    TypeError
        If a view is sparse that was dense in training.
    """
    names = fitted.names
    if new.has_names and fitted.named and new.names != names:
        lacking = [name for name in names if name not in new.names]
        unknown = [name for name in new.names if name not in names]
        if unknown or (lacking and (not partial or len(lacking) == len(names))):
            raise ValueError(
                f"the model was fitted on the views {list(names)}; missing here: {lacking}, unknown here: {unknown}"
            )
        new = _with_lacking_views(new, fitted) if lacking else new.select(names)
    if len(new.names) != len(names):
        raise ValueError(f"the model was fitted on {len(names)} views, got {len(new.names)}")
    matched = (_match_columns(i, array, new.feature_names[i], fitted) for i, array in enumerate(new.arrays))
    arrays = dict(zip(new.names, matched, strict=True))
    return new.map(lambda name, _: arrays[name])


def _match_columns(i: int, array: Any, columns: tuple[str, ...] | None, fitted: FittedViews) -> Any:
    """Return the columns of a view in the order of the training view."""
    name, width, expected = fitted.names[i], fitted.widths[i], fitted.columns[i]
    if array.shape[1] != width:
        raise ValueError(f"view {name!r} has {array.shape[1]} features, but was fitted with {width}")
    if columns is not None and expected is not None and columns != expected:
        if sorted(columns) != sorted(expected):
            lacking = [column for column in expected if column not in columns]
            unknown = [column for column in columns if column not in expected]
            raise ValueError(
                f"view {name!r} has other columns than in the fit; "
                f"missing here: {lacking[:5]}, unknown here: {unknown[:5]}"
            )
        array = array[:, [columns.index(column) for column in expected]]
    if fitted.sparse[i] and not sparse.issparse(array) and not np.isnan(array[:1]).any():
        return sparse.csr_matrix(array)
    if sparse.issparse(array) and not fitted.sparse[i]:
        raise TypeError(f"view {name!r} is sparse, but was dense in the fit; write .toarray() if it fits in memory")
    return array


def _with_lacking_views(new: Views, fitted: FittedViews) -> Views:
    arrays, observed = {}, np.zeros((len(new), len(fitted.names)), dtype=bool)
    for i, (name, width) in enumerate(zip(fitted.names, fitted.widths, strict=True)):
        if name in new.names:
            arrays[name] = new.view(name)
            observed[:, i] = new.observed[:, new.names.index(name)]
        else:
            arrays[name] = np.broadcast_to(np.float64(np.nan), (len(new), width))
    return Views(arrays, sample_names=new.sample_names, observed=observed)
