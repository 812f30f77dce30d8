"""What is asked of the samples before a fit: weights, earlier clusters, distinct ones; and those that count nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Never, Self

import numpy as np
from numpy.typing import NDArray

from manyviews.cluster.parameters import plain_integers
from manyviews.linalg.blocks import row_blocks, rows_of_cells
from manyviews.linalg.scaled_rows import is_on_disk
from manyviews.metrics.renumbering import check_reference
from manyviews.views import Views
from manyviews.views.cells import first_equals
from manyviews.views.stored import rows_on_disk

__all__ = [
    "SampleWeightMixin",
    "checked_sample_weight",
    "distinct_starts",
    "earlier_numbers",
    "first_counted",
    "samples_that_count",
    "usable_weights",
    "weight_numbers",
    "why_refused",
]

Array = NDArray[Any]
# less than this part of the largest weight is lost in single precision, and counts nothing
LEAST_SHARE = 1e-30


class SampleWeightMixin:
    """Adds ``sample_weight`` to ``fit``, for methods whose objective is a sum over the samples.

    The method's ``_fit`` takes the weights (n,), all above 0, as a third argument, None where all are 1, and
    ``_found_for(views)`` gives what ``fit`` stores of each sample for samples that were not part of it, by the names of
    the attributes.
    """

    def fit(self, X: Any, y: Any = None, *, match_to: Any = None, sample_weight: Any = None, **refused: Never) -> Self:
        """Cluster the samples.

        Parameters
        ----------
        X : Views, sequence, mapping or table
            ``Views``; a sequence of 2-D arrays, CSR matrices or frames, one of shape (n, d_v) per view; a mapping of
            view names to such; or one table, cut by the ``views`` parameter.
        y : None
            Ignored.
        match_to : array-like of shape (n,) of int, default=None
            Labels of an earlier run, whose cluster numbers are kept: they are matched one to one so that as many
            samples as possible keep theirs; -1 for samples that the earlier run did not have. It changes the numbers,
            never the groups. By default clusters are numbered by size, largest first.
        sample_weight : array-like of shape (n,) of float, default=None
            How often each sample counts, 0 or more: 2 is as good as giving a sample twice, in the scaling of the views
            as in the clusters. A sample of weight 0 shapes nothing, and gets the cluster that ``predict`` gives it. By
            default all count once.
        **refused : None
            Nothing else is taken.

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        ValueError, TypeError
            If the data, the weights or a parameter do not fit, there are fewer distinct samples than clusters, or the
            machine has too little memory; the message says what to change.

        Warns
        -----
        ConvergenceWarning
            Once, if the iterations ran out or fewer clusters were found than asked for.

        Notes
        -----
        Identical samples, equal in every view, always share a cluster. Clusters are numbered by how many samples they
        have, whatever these weigh. Starts are drawn from the rows, so samples that are repeated may lead to another
        start than a weight.
        """
        estimator: Any = self
        if refused:
            raise TypeError(estimator._why_refused(next(iter(refused))))
        with plain_integers(self):
            estimator._fit_checked(X, match_to, sample_weight)
        return self

    def _fit_weighted(
        self: Any, views: Views, first: NDArray[np.int64], weights: Array | None, counted: Views
    ) -> NDArray[np.int64]:
        """Fit on the samples that count, which are given, and give all a label."""
        if weights is None or weights.all():
            return np.asarray(self._fit_in_order(views, first, weights))
        counts = weights > 0
        place = np.cumsum(counts) - 1
        labels = np.empty(len(views), dtype=np.int64)
        labels[counts] = self._fit_in_order(counted, place[first[counts]], weights[counts])
        placed = [self._rest_placed(views[rows]) for rows in _blocks_of(views, np.flatnonzero(~counts))]
        labels[~counts] = np.concatenate([own for own, _ in placed])
        for name in placed[0][1]:
            own, axis = getattr(self, name), self._sample_axes.get(name, (0,))[0]
            whole = np.empty((len(views), *np.moveaxis(own, axis, 0).shape[1:]), own.dtype)
            whole[counts] = np.moveaxis(own, axis, 0)
            whole[~counts] = np.concatenate([np.moveaxis(found[name], axis, 0) for _, found in placed])
            setattr(self, name, np.ascontiguousarray(np.moveaxis(whole, 0, axis)))
        return labels

    def _rest_placed(self: Any, rest: Views) -> tuple[NDArray[np.int64], dict[str, Array]]:
        """Return labels and what else belongs to each of some samples that count nothing."""
        return self._predict(rest), self._found_for(rest)


def samples_that_count(views: Views, weights: Array | None) -> Views:
    """Return the samples that count; those of a view that lies in a file are in a temporary file then.

    The views as they are where all count.
    """
    if weights is None or weights.all():
        return views
    counts = weights > 0
    if not any(map(is_on_disk, views.arrays)):
        return views[counts]
    rows = np.flatnonzero(counts)
    return Views(
        {
            name: rows_on_disk(X, rows, f"view {name!r} without the samples of weight 0") if is_on_disk(X) else X[rows]
            for name, X in views.items()
        }
    )


def _blocks_of(views: Views, rows: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Return rows, in blocks where a view lies in a file."""
    if not any(map(is_on_disk, views.arrays)):
        return [rows]
    size = rows_of_cells(max(X.shape[1] for X in views.arrays))
    return [rows[block] for block in row_blocks(rows.size, size)]


def first_counted(first: NDArray[np.int64], weights: Array) -> NDArray[np.int64]:
    """Return for each sample the first of its equals that counts, (n,), given the first of them; that if none does."""
    n = first.size
    counted = np.full(n, n)
    rows = np.flatnonzero(weights > 0)
    np.minimum.at(counted, first[rows], rows)
    return np.where(counted[first] < n, counted[first], first)


def checked_sample_weight(sample_weight: Any, n: int) -> Array:
    """Return weights (n,) as float64; raise ValueError where they are none.

    Parameters
    ----------
    sample_weight : array-like of shape (n,)
        What the user gave.
    n : int
        Number of samples.

    Returns
    -------
    ndarray of shape (n,)
        Finite, none below 0, not all 0.
    """
    weights = weight_numbers(sample_weight, n)
    return usable_weights(weights, float(weights.max(initial=0.0)))


def weight_numbers(sample_weight: Any, n: int) -> Array:
    """Return weights (n,) as float64, finite and none below 0; raise ValueError where they are none."""
    try:
        given = np.asarray(sample_weight)
        if given.dtype.kind == "c":
            raise TypeError("they are complex; give their real part")
        weights = np.array(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"sample_weight must be {n} numbers, one per sample ({error})") from None
    if weights.shape != (n,):
        raise ValueError(f"sample_weight must have one number per sample, shape ({n},), got shape {weights.shape}")
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if bad.size:
        raise ValueError(
            f"sample_weight must be finite and not negative, got {weights[bad[0]]:g} for sample {bad[0]}; give 0 to a "
            "sample that should not count"
        )
    return weights


def usable_weights(weights: Array, largest: float) -> Array:
    """Return weights of which the largest of all is given, 0 where they are lost beside it; refuse a largest of 0."""
    if largest == 0:
        raise ValueError("sample_weight is zero for all samples, so none is left to cluster; give some of them more")
    if not LEAST_SHARE < largest < 1.0 / LEAST_SHARE:
        weights, largest = weights / largest, 1.0
    return np.where(weights < LEAST_SHARE * largest, 0.0, weights)


def why_refused(method: str, argument: str, takers: Callable[[], str]) -> str:
    """Say why ``fit`` of a method does not take an argument; ``takers`` names the methods that take weights."""
    if argument != "sample_weight":
        return f"{method}.fit() got an unexpected keyword argument {argument!r}; leave it out"
    return (
        f"{method} has no form in which samples weigh differently, so fit takes no sample_weight; leave it out, or use "
        f"{takers()}"
    )


def distinct_starts(arrays: Sequence[Any], k: int, weights: Array | None) -> NDArray[np.int64]:
    """Return the first sample that equals each, (n,), of those that count; refuse fewer distinct ones than clusters."""
    n = arrays[0].shape[0]
    if k > n:
        raise ValueError(f"n_clusters={k} must lie between 1 and the number of samples, got n_samples={n}")
    first = first_equals(tuple(arrays))
    if weights is not None:
        first = first_counted(first, weights)
    distinct = np.unique(first if weights is None else first[weights > 0]).size
    if k > distinct:
        counted = n if weights is None else int(np.count_nonzero(weights))
        of = f"n_samples={n}" if counted == n else f"the {counted} of n_samples={n} that count"
        lost = "" if counted == n else f" (a weight below {LEAST_SHARE:g} of the largest counts as 0)"
        raise ValueError(
            f"n_clusters={k} is more than there are distinct samples: {distinct} of {of}{lost}, and identical "
            f"ones share a cluster; give n_clusters={distinct} at most, or check that the right columns were given"
        )
    return first


def earlier_numbers(match_to: Any, n: int, k: int) -> NDArray[np.int64]:
    """Return the labels of an earlier run, (n,), whose numbers are to be kept; refuse more of them than clusters."""
    earlier = check_reference(match_to, n, "match_to")
    largest = int(earlier.max(initial=-1))
    if largest >= k:
        raise ValueError(
            f"match_to has a cluster {largest}, which cannot keep its number among n_clusters={k}; "
            f"give n_clusters={largest + 1} at least, or compare with manyviews.metrics.match_labels afterwards"
        )
    return earlier
