"""Rules for new samples: what ``predict`` does in every method that has one, block by block."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from manyviews.cluster.distances import check_distances
from manyviews.cluster.parameters import plain_integers
from manyviews.cluster.view_graphs import predictability, view_graphs
from manyviews.linalg.blocks import row_blocks
from manyviews.views import Views

__all__ = ["PredictMixin", "label_blocks"]

# numbers of new samples, in all views, that are labelled at a time
MOST_CELLS = 1 << 23


class PredictMixin:
    """Adds ``predict`` and ``score`` to a method whose ``_predict(views)`` gives labels as ``_fit``."""

    def _can_predict(self) -> bool:
        return True

    @available_if(lambda self: self._can_predict())
    def predict(self, X: Any) -> NDArray[np.int64]:
        """Return the clusters of new samples.

        Parameters
        ----------
        X : Views, sequence, mapping or table
            The same views of new samples, matched by name where both sides have names.

        Returns
        -------
        ndarray of shape (n_new,), int64
            Labels, numbered as ``labels_``.

        Raises
        ------
        ValueError
            If views are missing, unknown or of another width.
        """
        return self._label_new(X)[1]

    @available_if(lambda self: self._can_predict())
    def score(self, X: Any, y: Any = None) -> float:
        """Return how much of the grouping of samples their nearest neighbours know, without any classes.

        The samples are labelled by ``predict``. Then, in each view by itself, every sample is given the commonest
        cluster among its 5 nearest neighbours; the score is the adjusted Rand index of these guesses and the labels,
        mean over the views: the ``structure`` of ``manyviews.compare``.

        Parameters
        ----------
        X : Views, sequence, mapping or table
            The same views of samples, those of the fit or held out. At least 3; where there are more than 4000, the
            same random 4000 are looked at.
        y : None
            Ignored.

        Returns
        -------
        float
            Higher is better: 1 where every guess is right, about 0 for a random grouping, 0 for a single cluster.

        Raises
        ------
        ValueError
            If views are missing, unknown or of another width, or no view says something of three samples.

        Notes
        -----
        What scikit-learn's searches go by where no ``scoring`` is given, so that parameters can be chosen on held-out
        samples. For the number of clusters take ``manyviews.choose_k``: it asks for stability too, and says where there
        is no clear number. Cost O(m² d) per view for m samples.
        """
        views, labels = self._label_new(X)
        known = [predictability(view, labels[view.rows]) for view in view_graphs(views)]
        if not known:
            raise ValueError(f"score needs a view that says something of 3 samples or more, got {len(views)} samples")
        return float(np.mean(known))

    def _label_new(self: Any, X: Any) -> tuple[Views, NDArray[np.int64]]:
        views = self._new_views(X)
        return views, np.concatenate(list(self._label_blocks(views)))

    def _new_views(self: Any, X: Any) -> Views:
        """Return checked views of new samples."""
        check_is_fitted(self)
        with plain_integers(self):
            views: Views = self._check_views(X, reset=False)
            if given := self._given_distances():
                check_distances(views, given, square=False)
            return views

    def _label_blocks(self: Any, views: Views) -> Iterator[NDArray[np.int64]]:
        """Yield the clusters of checked samples, block by block: what a rule holds of each is given back after it."""
        n, size = len(views), _rows_at_a_time(views)
        for rows in row_blocks(n, size):
            with plain_integers(self):
                labels = self._order[self._predict(views if size >= n else views[rows])]
            yield labels


def label_blocks(estimator: Any, X: Any) -> Iterator[NDArray[np.int64]]:
    """Yield the labels that ``predict`` of a fitted method gives, block by block of rows, so that none are held.

    Parameters
    ----------
    estimator : MultiViewClusterer
        A fitted method that has ``predict``.
    X : Views, sequence, mapping or table
        Views of new samples, as for ``predict``. They are checked whole, before the first block.

    Yields
    ------
    ndarray of shape (b,), int64
        Labels of the next rows.
    """
    yield from estimator._label_blocks(estimator._new_views(X))


def _rows_at_a_time(views: Views) -> int:
    """Return of how many rows a block is labelled: a power of two, which the blocks of the rules divide."""
    width = max(1, views.shape[1])
    return 1 << int(np.clip(np.log2(MOST_CELLS / width), 13, 17))
