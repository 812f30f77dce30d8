"""Views of new samples, matched to those that a method was fitted on."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from manyviews.views.caller import warn_user
from manyviews.views.container import Views

__all__ = ["FittedViews", "match_views"]


class FittedViews(NamedTuple):
    """What is remembered of the training views: names, whether given, widths, column names, sparse or not, dtypes.

    The last two are empty where they are not known.
    """

    names: tuple[str, ...]
    named: bool
    widths: tuple[int, ...]
    columns: tuple[tuple[str, ...] | None, ...]
    sparse: tuple[bool, ...] = ()
    dtypes: tuple[str, ...] = ()

    @classmethod
    def of(cls, views: Views, *, named: bool) -> FittedViews:
        """Describe training views."""
        widths = tuple(int(array.shape[1]) for array in views.arrays)
        kinds = tuple(map(sparse.issparse, views.arrays))
        dtypes = tuple(array.dtype.str if array.dtype.kind == "f" else "" for array in views.arrays)
        return cls(views.names, named, widths, views.feature_names, kinds, dtypes)


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
        The new samples, views and columns matched by name where both sides have names, else by position, in the dtype
        of the training. A lacking view is an array of NaN that takes no memory.

    Raises
    ------
    ValueError
        If views or columns are missing or unknown, or a width differs.
    TypeError
        If a view is sparse that was dense in training.

    Warns
    -----
    UserWarning
        If views are lacking, or views or columns are left out that the model does not know.
    """
    if new.has_names and fitted.named and new.names != fitted.names:
        new = _by_name(new, fitted, partial)
    if len(new.names) != len(fitted.names):
        raise ValueError(f"the model was fitted on {len(fitted.names)} views, got {len(new.names)}")
    matched = zip(new.arrays, new.feature_names, strict=True)
    arrays = tuple(_match_columns(i, array, columns, fitted) for i, (array, columns) in enumerate(matched))
    given = zip(fitted.columns, new.feature_names, strict=True)
    names = tuple(known if known is not None else columns for known, columns in given)
    return new.replace_arrays(arrays, names)


def _by_name(new: Views, fitted: FittedViews, partial: bool) -> Views:
    names = fitted.names
    lacking = [name for name in names if name not in new.names]
    unknown = [name for name in new.names if name not in names]
    if lacking and (unknown or not partial or len(lacking) == len(names)):
        raise ValueError(
            f"the model was fitted on the views {list(names)}; missing here: {lacking}, unknown here: {unknown}"
            f"{_close(unknown, lacking)}; give each view as --view NAME=FILE, or views={{name: array}}"
        )
    if unknown:
        warn_user(f"views {unknown} are left out, because the model was fitted on the views {list(names)} only")
    if not lacking:
        return new.select(names)
    warn_user(f"views {lacking} are not given; every sample counts as not observed in them")
    return _with_lacking_views(new, fitted)


def _close(unknown: Sequence[str], lacking: Sequence[str]) -> str:
    """Guess which unknown name was meant for a missing one."""
    for name in unknown:
        near = difflib.get_close_matches(name, lacking, n=1)
        if near:
            return f" (is {name!r} meant for {near[0]!r}?)"
    return ""


def _match_columns(i: int, array: Any, columns: tuple[str, ...] | None, fitted: FittedViews) -> Any:
    """Return the columns of a view in the order, the form and the type of the training view."""
    name, width, expected = fitted.names[i], fitted.widths[i], fitted.columns[i]
    if columns is not None and expected is not None and columns != expected:
        array = _reorder(name, array, columns, expected)
    elif array.shape[1] != width:
        raise ValueError(f"view {name!r} has {array.shape[1]} features, but was fitted with {width}")
    if fitted.sparse:
        if fitted.sparse[i] and not sparse.issparse(array) and not np.isnan(array[:1]).any():
            array = sparse.csr_matrix(array)
        if sparse.issparse(array) and not fitted.sparse[i]:
            raise TypeError(f"view {name!r} is sparse, but was dense in the fit; write .toarray() if it fits in memory")
    return _as_trained(array, fitted.dtypes[i] if fitted.dtypes else "")


def _as_trained(array: Any, dtype: str) -> Any:
    """Return numbers in the type of the training, which compiled code may insist on."""
    if not dtype or array.dtype == np.dtype(dtype) or array.dtype.kind not in "buif":
        return array
    if not sparse.issparse(array) and 0 in array.strides and np.isnan(array.flat[0]):
        return np.broadcast_to(np.array(np.nan, dtype=dtype), array.shape)
    with np.errstate(over="ignore"):  # what becomes infinite is refused with its place
        return array.astype(dtype)


def _reorder(name: str, array: Any, columns: tuple[str, ...], expected: tuple[str, ...]) -> Any:
    """Return the columns by name; those of categories that do not occur are 0, unknown ones are left out."""
    place = {column: position for position, column in enumerate(columns)}
    if len(place) < len(columns):
        raise ValueError(f"view {name!r} has columns of the same name, which cannot be matched to those of the fit")
    encoded = {column.partition("=")[0] for column in columns if "=" in column}
    absent = {column for column in expected if column not in place and column.partition("=")[0] in encoded}
    known = set(expected)
    unknown = [column for column in columns if column not in known]
    lacking = [column for column in expected if column not in place and column not in absent]
    if lacking:
        raise ValueError(
            f"view {name!r} has other columns than in the fit; missing here: {lacking[:5]}, unknown here: "
            f"{unknown[:5]}{_close(unknown[:100], lacking)}"
        )
    if unknown:
        warn_user(f"view {name!r}: {len(unknown)} column(s) that the model does not know are left out: {unknown[:5]}")
    if absent:
        blank = sparse.csr_matrix((array.shape[0], 1)) if sparse.issparse(array) else np.zeros((array.shape[0], 1))
        array = sparse.hstack([array, blank], format="csr") if sparse.issparse(array) else np.hstack([array, blank])
    return array[:, [place.get(column, len(columns)) for column in expected]]


def _with_lacking_views(new: Views, fitted: FittedViews) -> Views:
    arrays, observed = [], np.zeros((len(new), len(fitted.names)), dtype=bool)
    columns: list[tuple[str, ...] | None] = []
    for i, (name, width) in enumerate(zip(fitted.names, fitted.widths, strict=True)):
        if name in new.names:
            position = new.names.index(name)
            arrays.append(new.arrays[position])
            columns.append(new.feature_names[position])
            observed[:, i] = new.observed[:, position]
        else:
            arrays.append(np.broadcast_to(np.float64(np.nan), (len(new), width)))
            columns.append(fitted.columns[i])
    views = Views(dict(zip(fitted.names, arrays, strict=True)), sample_names=new.sample_names, observed=observed)
    return views.replace_arrays(arrays, columns)
