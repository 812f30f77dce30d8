"""The columns of a view that vary most, as is usual for tables of many thousands of genes."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from manyviews.views.cells import constant_columns

__all__ = ["TopVariance"]

# Columns whose variance is computed at a time, so that no second copy of a wide table is made.
_COLUMNS_PER_BLOCK = 2048
# Bits of the variance that decide the order: the rest is rounding, which differs between dense and sparse sums.
_BITS = 36


class TopVariance(SelectorMixin, BaseEstimator):  # type: ignore[misc] # scikit-learn is untyped
    r"""Keep the columns of largest variance of one table.

    Of the d columns those ``n_features`` are kept for which

    .. math:: v_j = \frac{1}{n_j} \sum_{i} (x_{ij} - \bar x_j)^2

    is largest, over the :math:`n_j` samples with a number in column j; they stay in the order of the table. Variance
    depends on units: the columns of one view should have the same, as expression on a log scale has.

    Parameters
    ----------
    n_features : int, default=2000
        Columns to keep; more of them keep more of the noise, fewer may lose a group that few columns show. A table
        that has no more keeps all that vary.

    Attributes
    ----------
    variances_ : ndarray of shape (d,)
        Variance of each column; 0 for one without numbers.
    n_features_in_ : int
        Number of columns in ``fit``.
    feature_names_in_ : ndarray of shape (d,)
        Their names, where the table had text ones.

    Notes
    -----
    Of columns that vary the same, the first ones are kept. Columns that hold one number are never kept, unless no
    column varies: then the first ``n_features`` are. Empty cells (NaN) do not count. Sparse tables stay sparse. One
    pass, :math:`O(n d)`, and a second one over blocks of columns.

    It is for one table; :class:`manyviews.PerView` applies it to each view. What was kept in ``fit`` is kept in
    ``transform``, so new samples are given with all their columns.

    References
    ----------
    R. Bourgon, R. Gentleman, W. Huber. Independent filtering increases detection power for high-throughput
    experiments. PNAS 107(21), 2010, 9546-9551. https://doi.org/10.1073/pnas.0914005107

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from manyviews import ConcatKMeans, PerView, datasets
    >>> from manyviews.preprocessing import TopVariance
    >>> data = datasets.make_blobs_views(n_samples=90, n_features=(50, 4), n_clusters=3, random_state=0)
    >>> PerView(TopVariance(n_features=10)).fit_transform(data.views)
    Views(90 samples; view_0: 10, view_1: 4)
    >>> model = make_pipeline(PerView(TopVariance(10)), ConcatKMeans(3, random_state=0)).fit(data.views)
    >>> model.predict(data.views[:2]).shape
    (2,)
    """

    def __init__(self, n_features: int = 2000) -> None:
        self.n_features = n_features

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the columns to keep.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
            One table.
        y : None
            Ignored.

        Returns
        -------
        self
            The fitted transformer.

        Raises
        ------
        ValueError
            If ``n_features`` is no whole number of at least 1, or the table holds infinities.
        """
        n_kept = self.n_features
        if isinstance(n_kept, bool) or not isinstance(n_kept, int | np.integer) or n_kept < 1:
            raise ValueError(f"n_features must be a whole number of at least 1, got {n_kept!r}")
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_all_finite="allow-nan")
        self.variances_ = _variances(X)
        varies = ~constant_columns(X, np.ones(X.shape[0], dtype=bool))
        candidates = np.flatnonzero(varies) if varies.any() else np.arange(X.shape[1])
        # stable: of equal ones the first
        order = candidates[np.argsort(-_without_rounding(self.variances_[candidates]), kind="stable")]
        self._kept = np.zeros(X.shape[1], dtype=bool)
        self._kept[order[:n_kept]] = True
        return self

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        return self._kept

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags


def _variances(X: Any) -> NDArray[np.float64]:
    """Return the variance of each column over its numbers."""
    found = np.zeros(X.shape[1])
    # a column without numbers, and numbers whose squares are no longer finite
    with warnings.catch_warnings(), np.errstate(over="ignore", invalid="ignore"):
        warnings.simplefilter("ignore", RuntimeWarning)
        for start in range(0, X.shape[1], _COLUMNS_PER_BLOCK):
            columns = slice(start, start + _COLUMNS_PER_BLOCK)
            found[columns] = _of_sparse(X[:, columns]) if sparse.issparse(X) else _of_dense(X[:, columns])
    return np.nan_to_num(found, nan=0.0, posinf=np.inf)


def _of_dense(X: NDArray[Any]) -> NDArray[np.float64]:
    # nanvar subtracts the mean in the type of the numbers, whatever type it sums in
    return np.asarray(np.nanvar(X.astype(np.float64), axis=0))


def _of_sparse(X: Any) -> NDArray[np.float64]:
    """Return the variances of a sparse table: around the mean, so that large numbers lose no digits."""
    n, d = X.shape
    X = X.tocsc()
    column = np.repeat(np.arange(d), np.diff(X.indptr))
    values = X.data.astype(np.float64)
    known = ~np.isnan(values)
    column, values = column[known], values[known]
    numbers = n - np.bincount(np.repeat(np.arange(d), np.diff(X.indptr))[~known], minlength=d)
    stored = np.bincount(column, minlength=d)
    mean = np.bincount(column, values, minlength=d) / numbers
    squares = np.bincount(column, (values - mean[column]) ** 2, minlength=d)
    return np.asarray((squares + (numbers - stored) * mean**2) / numbers)


def _without_rounding(variances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the variances with so few bits that columns of the same numbers in another order are equal."""
    mantissa, exponent = np.frexp(variances)
    return np.asarray(np.ldexp(np.round(mantissa * 2.0**_BITS), exponent - _BITS))
