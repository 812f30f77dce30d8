"""Filling in single empty cells of views."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.utils.validation import check_is_fitted

from manyviews.views.check import Accepts, check_numbers
from manyviews.views.container import Views
from manyviews.views.per_view import PerView, as_given_views

__all__ = ["IMPUTE_STRATEGIES", "ViewImputer", "count_gaps"]

IMPUTE_STRATEGIES = ("median", "knn")


class ViewImputer(TransformerMixin, BaseEstimator):
    """Fill single empty (NaN) cells from the other samples of the same view.

    Samples that a view lacks as a whole (rows of NaN) are left as they are, since nothing in the view speaks about
    them; methods that take missing views deal with them.

    Parameters
    ----------
    strategy : {"median", "knn"}, default="median"
        "median": the median of the column. "knn": the mean of the column over the samples nearest in the cells that
        both have, for O(n d) time per sample with empty cells; scale the columns first, as large ones decide.
    n_neighbors : int, default=5
        Samples that "knn" takes the mean of; more of them smooth more.

    Attributes
    ----------
    n_filled_ : dict of str to int
        Empty cells that each view had in ``fit``, unobserved samples not counted.
    view_names_in_ : ndarray of shape (V,)
        Names of the views.

    Notes
    -----
    Columns with no number at all are filled with 0. Sparse views, which have no empty cells, pass unchanged.

    References
    ----------
    O. Troyanskaya, M. Cantor, G. Sherlock, P. Brown, T. Hastie, R. Tibshirani, D. Botstein, R. Altman. Missing Value
    Estimation Methods for DNA Microarrays. Bioinformatics 17(6), 2001, 520-525.
    https://doi.org/10.1093/bioinformatics/17.6.520

    Examples
    --------
    >>> import numpy as np
    >>> from manyviews import ViewImputer
    >>> views = {"a": np.array([[1.0, 2.0], [np.nan, 4.0], [3.0, 9.0]]), "b": np.eye(3)}
    >>> ViewImputer().fit_transform(views).view("a")[1]
    array([2., 4.])
    """

    def __init__(self, strategy: str = "median", *, n_neighbors: int = 5) -> None:
        self.strategy = strategy
        self.n_neighbors = n_neighbors

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn what empty cells are filled with.

        Parameters
        ----------
        X : Views, sequence, mapping or table
            The views.
        y : None
            Ignored.

        Returns
        -------
        self
            The fitted imputer.

        Raises
        ------
        ValueError
            If the strategy is unknown, a number is infinite, or a view is no table of numbers.
        """
        if self.strategy not in IMPUTE_STRATEGIES:
            raise ValueError(f"the 'strategy' parameter must be one of {IMPUTE_STRATEGIES}, got {self.strategy!r}")
        views = _with_gaps(X)
        one = (
            SimpleImputer(strategy="median", keep_empty_features=True)
            if self.strategy == "median"
            else KNNImputer(n_neighbors=self.n_neighbors, keep_empty_features=True)
        )
        dense = {name: one for name, array in views.items() if not sparse.issparse(array)}
        self.n_filled_ = count_gaps(views)
        self._per_view = PerView(dense).fit(views)
        self.view_names_in_ = self._per_view.view_names_in_
        return self

    def transform(self, X: Any) -> Views:
        """Fill the empty cells.

        Parameters
        ----------
        X : Views, sequence, mapping or table
            The same views as in ``fit``, matched by name where both sides have names; named views may be lacking.

        Returns
        -------
        Views
            The views without empty cells; samples stay unobserved in lacking views.

        Raises
        ------
        ValueError
            If views are unknown or of another width.
        """
        check_is_fitted(self)
        return self._per_view.transform_part(_with_gaps(X), partial=True)


def count_gaps(views: Views) -> dict[str, int]:
    """Return the number of empty cells of each view; samples that it lacks as a whole do not count."""
    return {
        name: 0 if sparse.issparse(array) else int(np.isnan(array[observed]).sum())
        for observed, (name, array) in zip(views.observed.T, views.items(), strict=True)
    }


def _with_gaps(X: Any) -> Views:
    return check_numbers(as_given_views(X), Accepts(gaps=True, huge=False))
