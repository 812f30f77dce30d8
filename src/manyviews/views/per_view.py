"""A scikit-learn transformer of one table, applied to every view."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from manyviews.views.check import as_views, is_table
from manyviews.views.container import Views
from manyviews.views.new_samples import FittedViews, match_views
from manyviews.views.structure import as_2d

__all__ = ["PerView", "as_given_views"]


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
        views = as_given_views(X)
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
        return self.transform_part(as_given_views(X), partial=False)

    def transform_part(self, views: Views, *, partial: bool) -> Views:
        """Transform every view; with ``partial``, named views may be lacking and stay unobserved."""
        check_is_fitted(self)
        views = match_views(views, self._fitted_views, partial=partial)
        arrays, columns = [], []
        given = zip(self._fitted_views.names, views.observed.T, views.arrays, views.feature_names, strict=True)
        for known, seen, array, names in given:
            if known not in self.transformers_:
                arrays.append(array)
                columns.append(names)
                continue
            arrays.append(_transform_view(self.transformers_[known], array, seen, self._widths[known]))
            columns.append(_names_after(self.transformers_[known], names, self._widths[known]))
        return views.replace_arrays(arrays, columns)


def _names_after(transformer: Any, names: tuple[str, ...] | None, width: int) -> tuple[str, ...] | None:
    """Return what the transformed columns are called, where the transformer says it."""
    if names is None or not hasattr(transformer, "get_feature_names_out"):
        return None
    try:
        after = tuple(map(str, transformer.get_feature_names_out(np.array(names, dtype=object))))
    except (ValueError, TypeError):  # a transformer that asks for names that it did not see
        return None
    return after if len(after) == width else None


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


def as_given_views(X: Any) -> Views:
    """Return views of whatever was given; one table counts as a single view."""
    return Views([X]) if is_table(X) else as_views(X)
