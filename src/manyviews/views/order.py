"""An order of the samples that depends on what they hold, not on how they were put in rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

__all__ = ["put_back", "sample_order"]

Array = NDArray[Any]
Positions = NDArray[np.int64]


def sample_order(arrays: Sequence[Any], first: Positions) -> Positions:
    """Return an order of the samples that is the same, sample for sample, however the rows were permuted.

    Parameters
    ----------
    arrays : sequence of ndarray or CSR of shape (n, d_v)
        The views; rows of NaN where a sample was not observed.
    first : ndarray of shape (n,)
        The first sample that equals each, as ``first_equals`` gives it.

    Returns
    -------
    ndarray of shape (n,), int64
        Positions of the samples. They are sorted by their columns, the fullest first, then shuffled in a fixed way, so
        that neighbours in the order are not alike; copies of a sample stand together, the first one in front.

    Notes
    -----
    Only the order within each column matters: neither units nor the last digits change it, nor whether a view is stored
    sparsely. Columns are read until all distinct samples are told apart, mostly one or two of dense views.
    """
    distinct = np.flatnonzero(first == np.arange(first.size))
    place = np.zeros(distinct.size, dtype=np.int64)
    tied = np.arange(distinct.size)
    for column in _columns(arrays, distinct):
        values = column[tied]
        sequence = np.lexsort((values, place[tied]))
        tied, values = tied[sequence], values[sequence]
        before = place[tied]
        opens_group = np.append(True, before[1:] != before[:-1])
        differs = (values[1:] != values[:-1]) & ~(np.isnan(values[1:]) & np.isnan(values[:-1]))
        opens = opens_group | np.append(True, differs)
        place[tied] = before + _last_true(opens) - _last_true(opens_group)
        tied = tied[~(opens & np.append(opens[1:], True))]
        if tied.size == 0:
            break
    place[np.argsort(place, kind="stable")] = np.random.default_rng(0).permutation(place.size)
    own = np.empty(first.size, dtype=np.int64)
    own[distinct] = place
    return np.argsort(own[first], kind="stable")


def put_back(values: Any, axes: tuple[int, ...], given: Positions) -> Any:
    """Return values of samples in the order of the rows.

    Parameters
    ----------
    values : ndarray or CSR, or dict of such
        What was found in the order of ``sample_order``.
    axes : tuple of int
        Axes along which the samples are, 0 or 1.
    given : ndarray of shape (n,)
        The place of each row in that order.

    Returns
    -------
    ndarray or CSR, or dict of such
        The same, moved.
    """
    if isinstance(values, dict):
        return {name: put_back(own, axes, given) for name, own in values.items()}
    for axis in axes:
        values = values[given] if axis == 0 else values[:, given]
    return values


def _last_true(marks: NDArray[np.bool_]) -> Positions:
    """Return the place of the last True at or before each; the first is True."""
    return np.asarray(np.maximum.accumulate(np.where(marks, np.arange(marks.size), 0)))


def _columns(arrays: Sequence[Any], rows: Positions) -> Iterator[Array]:
    """Yield the columns of all views at these rows, those with most entries that are not 0 first."""
    filled = [np.asarray((X != 0).sum(axis=0)).ravel() for X in arrays]
    views = np.repeat(np.arange(len(arrays)), [counts.size for counts in filled])
    places = np.concatenate([np.arange(counts.size) for counts in filled])
    by_column = [_by_column(X) if sparse.issparse(X) else X for X in arrays]
    for c in np.argsort(-np.concatenate(filled), kind="stable"):
        X, place = by_column[views[c]], places[c]
        if sparse.issparse(X):
            column, stored = np.zeros(X.shape[0]), slice(X.indptr[place], X.indptr[place + 1])
            column[X.indices[stored]] = X.data[stored]
            yield column[rows]
        else:
            yield X[rows, place]


def _by_column(X: Any) -> Any:
    X = sparse.csc_array(X)
    X.sum_duplicates()
    return X
