"""The door of every estimator: whatever a user gives comes out as checked views, and is remembered for new samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from manyviews.cluster.view_weights import relative_weights, wanted_weights
from manyviews.views import Views, frames
from manyviews.views.alignment import check_paired
from manyviews.views.caller import relayed_warnings
from manyviews.views.cells import Labelled, check_tells
from manyviews.views.check import (
    Accepts,
    as_views,
    check_kind,
    check_numbers,
    check_table,
    cut_frame,
    is_table,
    per_view,
)
from manyviews.views.columns import column_groups, cut_columns
from manyviews.views.foreign import is_foreign, to_numpy
from manyviews.views.new_samples import FittedViews, match_views
from manyviews.views.structure import as_2d

__all__ = ["ViewsReader"]


class ViewsReader(BaseEstimator):
    """Adds ``_check_views``, and the attributes that say what was seen in the fit."""

    _accepts_sparse: ClassVar[bool] = True
    _accepts_missing: ClassVar[bool] = False

    views: Any
    view_weights: Any = None  # methods from outside may have no such parameter
    # weights of the views that count, of mean 1, and their places among all that were given
    _weights: NDArray[np.float64]
    _counted: NDArray[np.int64]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._accepts_sparse
        tags.input_tags.allow_nan = False  # a row of NaN marks an unobserved sample; a single NaN is an error
        return tags

    def _check_views(self, X: Any, *, reset: bool) -> Views:
        """Return checked views and, with ``reset``, remember their names and widths."""
        _refuse_dask(X, type(self).__name__, "fit" if reset else "predict")
        table, by_name = is_table(X), self._is_cut_by_name(X)
        if table:
            views = cut_frame(X, self.views) if by_name else self._cut_table(X, reset)
        else:
            views = as_views(X, self.views)
        if reset:
            whole, wanted = views, wanted_weights(self.view_weights, views.names)
            self._weights, self._counted = relative_weights(wanted), np.flatnonzero(wanted)
            # what is left out may hold anything
            views = check_numbers(whole if wanted.all() else self._of_counted(whole), self._accepts())
            for view, observed in zip(views.items(), views.observed.T, strict=True):
                check_tells(Labelled(*view), observed)
            check_paired(views.names, views.observed)
            self._remember_views(whole, views, table=table, by_name=by_name)
            return views
        views = match_views(self._without_left_out(views), self._fitted_views, partial=self._accepts_missing)
        return check_numbers(views, self._accepts())

    def _cut_table(self, X: Any, reset: bool) -> Views:
        if is_foreign(X) and not frames.is_frame(X):
            X = to_numpy(X, "X")
        if isinstance(X, np.ndarray) and (X.ndim == 3 or X.dtype.kind in "mMV" or isinstance(X, np.ma.MaskedArray)):
            X = check_kind("X", as_2d(X, "X"))  # scikit-learn would take dates, records and masked entries for numbers
        elif np.iscomplexobj(X if hasattr(X, "dtype") else np.asarray(X)):
            raise ValueError("X: Complex data not supported; give real and imaginary part as two columns")
        check_table(X)
        with relayed_warnings():
            array = validate_data(
                self, X, reset=reset, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_all_finite=False
            )
        return Views(cut_columns(array, column_groups(array, self.views)))

    def _is_cut_by_name(self, X: Any) -> bool:
        """Tell whether a table's columns belong to views by name, or are no plain numbers: scikit-learn has no rule."""
        return frames.is_frame(X) and (isinstance(self.views, Mapping) or not frames.is_plain(X, "X"))

    def _of_counted(self, views: Views) -> Views:
        return views.select([views.names[v] for v in self._counted])

    def _without_left_out(self, views: Views) -> Views:
        """Return views of the fit, or of new samples, without those that ``view_weights`` left out."""
        known = tuple(self.view_names_in_.tolist())
        if len(known) == self._counted.size:
            return views
        if not (views.has_names and self._fitted_views.named):
            return self._of_counted(views) if len(views.names) == len(known) else views
        left_out = set(known).difference(self._fitted_views.names)
        kept = [name for name in views.names if name not in left_out]
        return views.select(kept) if kept else views

    def _of_each(self, value: Any, names: Sequence[str], parameter: str) -> tuple[Any, ...]:
        """Return the values of some views from a parameter that has one for all, or one for each that was given."""
        given = tuple(map(str, getattr(self, "view_names_in_", names)))
        chosen = dict(zip(given, per_view(value, given, parameter), strict=True))
        return tuple(chosen[name] for name in names)

    def _remember_views(self, whole: Views, views: Views, *, table: bool, by_name: bool) -> None:
        """Store what was given, and of the views that count what new samples are matched to."""
        self.n_views_in_ = len(whole.names)
        self.view_names_in_ = np.array(whole.names)
        self.n_view_features_in_ = np.array([array.shape[1] for array in whole.arrays])
        named = by_name or isinstance(self.views, Mapping) if table else whole.has_names
        self._fitted_views = FittedViews.of(views, named=named)
        if not table or by_name:
            self.n_features_in_ = whole.shape[1]
            self.__dict__.pop("feature_names_in_", None)
        if by_name:
            names = [name for columns in whole.feature_names for name in columns or ()]
            self.feature_names_in_ = np.array(names, dtype=object)

    def _accepts(self) -> Accepts:
        name = type(self).__name__
        hint = "" if self._accepts_missing else f", or use {self._alternatives().takers_of_missing()}"
        return Accepts(self._accepts_sparse, self._accepts_missing, name, hint, huge=False)

    @staticmethod
    def _alternatives() -> Any:
        """Return the module that knows all methods; it stands above this one, so it is looked up when it is needed."""
        return import_module("manyviews.cluster.alternatives")


def _refuse_dask(X: Any, method: str, verb: str) -> None:
    """Refuse collections of Dask, which would be read into memory whole, by naming what takes them."""
    held = X.values() if isinstance(X, Mapping) else X if isinstance(X, list | tuple) else (X,)
    if any(type(item).__module__.startswith("dask") for item in held):
        raise TypeError(
            f"{method}.{verb} takes data in memory: give Dask collections to manyviews.distributed.{verb}(model, views)"
        )
