"""The door of every estimator: whatever a user gives comes out as checked views, and is remembered for new samples."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

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
)
from manyviews.views.columns import column_groups, cut_columns
from manyviews.views.new_samples import FittedViews, match_views
from manyviews.views.structure import as_2d

__all__ = ["ViewsReader"]


class ViewsReader(BaseEstimator):
    """Adds ``_check_views``, and the attributes that say what was seen in the fit."""

    _accepts_sparse: ClassVar[bool] = True
    _accepts_missing: ClassVar[bool] = False

    views: Any

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
            views = check_numbers(views, self._accepts())
            for view, observed in zip(views.items(), views.observed.T, strict=True):
                check_tells(Labelled(*view), observed)
            check_paired(views.names, views.observed)
            self._remember_views(views, table=table, by_name=by_name)
            return views
        views = match_views(views, self._fitted_views, partial=self._accepts_missing)
        return check_numbers(views, self._accepts())

    def _cut_table(self, X: Any, reset: bool) -> Views:
        if isinstance(X, np.ndarray) and (X.ndim == 3 or X.dtype.kind in "mM" or isinstance(X, np.ma.MaskedArray)):
            X = check_kind("X", as_2d(X, "X"))  # scikit-learn would take dates and masked entries for numbers
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

    def _remember_views(self, views: Views, *, table: bool, by_name: bool) -> None:
        self.n_views_in_ = len(views.names)
        self.view_names_in_ = np.array(views.names)
        self.n_view_features_in_ = np.array([array.shape[1] for array in views.arrays])
        named = by_name or isinstance(self.views, Mapping) if table else views.has_names
        self._fitted_views = FittedViews.of(views, named=named)
        if not table or by_name:
            self.n_features_in_ = views.shape[1]
            self.__dict__.pop("feature_names_in_", None)
        if by_name:
            names = [name for columns in views.feature_names for name in columns or ()]
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
