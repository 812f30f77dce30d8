"""What is done to every view by itself: any scikit-learn transformer, and filling in empty cells."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.utils.validation import check_is_fitted

from manyviews.new_samples import FittedViews, match_views
from manyviews.structure import as_2d
from manyviews.validation import Accepts, as_views, check_numbers, is_table
from manyviews.views import Views

__all__ = ["IMPUTE_STRATEGIES", "PerView", "ViewImputer", "count_gaps"]

IMPUTE_STRATEGIES = ("median", "knn")


class PerView(TransformerMixin, BaseEstimator):
    """Apply a transformer to each view.

    Parameters
    ----------
    transformer : transformer or mapping of str to transformer
        One transformer, cloned for every view, or view name to transformer; views that a mapping leaves out pass
        unchanged.

    Attributes
    ----------
    transformers_ : dict of str to transformer
        The fitted transformers.
    view_names_in_ : ndarray of shape (V,)
        Names of the views.

    Notes
    -----
    Takes ``Views``, a sequence or mapping of 2-D arrays, or one table, which counts as a single view, and returns
    ``Views``. Samples not observed in a view (rows of NaN) are left out of the fit and stay unobserved.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from manyviews import OPLFMVC, PerView, datasets
    >>> data = datasets.make_blobs_views(n_samples=90, n_features=(5, 4), n_clusters=3, random_state=0)
    >>> model = make_pipeline(PerView(StandardScaler()), OPLFMVC(3, scaling=None, random_state=0)).fit(data.views)
    >>> model[-1].labels_.shape
    (90,)
    """

    def __init__(self, transformer: Any) -> None:
        self.transformer = transformer

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit one clone of the transformer per view.

        Parameters
        ----------
        X : Views, sequence, mapping or table
            The views.
        y : None or array of shape (n,)
            Handed to the transformers.

        Returns
        -------
        self
            The fitted transformer.

        Raises
        ------
        ValueError
            If a mapping of transformers names an unknown view.
        """
        views = _views(X)
        given = self.transformer
        chosen = given if isinstance(given, Mapping) else dict.fromkeys(views.names, given)
        unknown = [name for name in chosen if name not in views.names]
        if unknown:
            raise ValueError(f"PerView names the views {unknown}; the views are {list(views.names)}")
        self.transformers_, self._widths = {}, {}
        for i, (name, array) in enumerate(views.items()):
            if name in chosen:
                seen = views.observed[:, i]
                target = None if y is None else _target(y, len(views))[seen]
                self.transformers_[name] = clone(chosen[name]).fit(array[seen], target)
                self._widths[name] = self.transformers_[name].transform(array[seen][:1]).shape[1]
        self.view_names_in_ = np.array(views.names)
        self._fitted_views = FittedViews.of(views, named=views.has_names)
        return self

    def transform(self, X: Any) -> Views:
        """Transform every view.

        Parameters
        ----------
        X : Views, sequence, mapping or table
            The same views as in ``fit``, matched by name where both sides have names.

        Returns
        -------
        Views
            Transformed views.

        Raises
        ------
        ValueError
            If views are missing, unknown or of another width.
        """
        return self._transform(_views(X), partial=False)

    def _transform(self, views: Views, *, partial: bool) -> Views:
        """Transform every view; with ``partial``, named views may be lacking and stay unobserved."""
        check_is_fitted(self)
        views = match_views(views, self._fitted_views, partial=partial)
        arrays = {}
        for known, seen, (name, array) in zip(self._fitted_views.names, views.observed.T, views.items(), strict=True):
            if known in self.transformers_:
                arrays[name] = _transform_view(self.transformers_[known], array, seen, self._widths[known])
            else:
                arrays[name] = array
        return Views(arrays, sample_names=views.sample_names, observed=views.observed)


def _transform_view(transformer: Any, array: Any, observed: NDArray[Any], width: int) -> Any:
    """Return the transformed rows; samples not observed stay rows of NaN, or empty rows where the result is sparse."""
    if not observed.any():
        return np.broadcast_to(np.float64(np.nan), (array.shape[0], width))
    part = as_2d(transformer.transform(array if observed.all() else array[observed]), "transformed")
    if observed.all():
        return part
    if sparse.issparse(part):
        place = sparse.csr_matrix((np.ones(len(part.indptr) - 1), (np.flatnonzero(observed), range(part.shape[0]))))
        place.resize(array.shape[0], part.shape[0])
        return (place @ part).tocsr()
    whole = np.full((array.shape[0], part.shape[1]), np.nan, dtype=part.dtype if part.dtype.kind == "f" else np.float64)
    whole[observed] = part
    return whole


def _target(y: Any, n: int) -> NDArray[Any]:
    target = np.asarray(y)
    if target.shape[:1] != (n,):
        raise ValueError(f"y must have one entry per sample, shape ({n},), got shape {target.shape}")
    return target


def _views(X: Any) -> Views:
    return Views([X]) if is_table(X) else as_views(X)


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
        return self._per_view._transform(_with_gaps(X), partial=True)


def count_gaps(views: Views) -> dict[str, int]:
    """Return the number of empty cells of each view; samples that it lacks as a whole do not count."""
    return {
        name: 0 if sparse.issparse(array) else int(np.isnan(array[observed]).sum())
        for observed, (name, array) in zip(views.observed.T, views.items(), strict=True)
    }


def _with_gaps(X: Any) -> Views:
    return check_numbers(_views(X), Accepts(gaps=True, huge=False))
