"""Cluster numbers that stay the same from one clustering to the next."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["check_reference", "match_labels", "matched_numbers"]

IntArray = NDArray[np.int64]


def match_labels(labels: ArrayLike, reference: ArrayLike) -> IntArray:
    """Renumber the clusters so that they keep the numbers of an earlier clustering of the same samples.

    Parameters
    ----------
    labels : array-like of shape (n,) of int
        Clusters 0, 1, 2, ...
    reference : array-like of shape (n,) of int
        Earlier clusters 0, 1, 2, ...; -1 where a sample had none.

    Returns
    -------
    ndarray of shape (n,), int64
        The same groups. Their numbers are matched one to one so that as many samples as possible keep theirs; a
        cluster that no earlier one goes with takes a number that was not used.

    Raises
    ------
    ValueError
        If these are not whole numbers, one per sample.

    Examples
    --------
    >>> from manyviews.metrics import match_labels
    >>> match_labels([0, 0, 0, 1, 1], [1, 1, 0, 0, 0])
    array([1, 1, 1, 0, 0])
    """
    found = np.asarray(labels)
    if found.ndim != 1 or found.dtype.kind not in "iu" or (found.size and found.min() < 0):
        raise ValueError("labels must be one cluster number per sample, 0, 1, 2, ...")
    found = found.astype(np.int64)
    earlier = check_reference(reference, found.size, "reference")
    numbers = _numbers_in_use(found, earlier)
    here = np.searchsorted(numbers, found)
    before = np.where(earlier < 0, -1, np.searchsorted(numbers, earlier))
    renumbered: IntArray = numbers[matched_numbers(here, before, numbers.size)[here]]
    return renumbered


def _numbers_in_use(found: IntArray, earlier: IntArray) -> IntArray:
    """Return the numbers of both clusterings and the smallest free ones below the largest, one per cluster at most."""
    used = np.union1d(found, earlier[earlier >= 0])
    largest = int(used.max(initial=-1))
    free = np.setdiff1d(np.arange(min(largest + 1, 2 * used.size)), used)
    return np.union1d(used, free[: used.size])


def check_reference(reference: Any, n: int, name: str) -> IntArray:
    """Return an earlier clustering as int64 of shape (n,); raise ValueError where it is none."""
    earlier = np.asarray(reference)
    if earlier.shape != (n,) or earlier.dtype.kind not in "iu":
        raise ValueError(
            f"{name} must hold the earlier cluster of each of the {n} samples as whole numbers 0, 1, 2, ... "
            f"(-1 where there is none), got {earlier.dtype} of shape {earlier.shape}"
        )
    if earlier.min(initial=0) < -1:
        raise ValueError(f"{name} must hold numbers from -1, for samples without a cluster, got {int(earlier.min())}")
    return np.asarray(earlier, dtype=np.int64)


def matched_numbers(labels: IntArray, reference: IntArray, k: int) -> IntArray:
    """Return the new number of each cluster.

    Parameters
    ----------
    labels, reference : ndarray of shape (n,)
        Values below k; -1 in ``reference`` where a sample had no cluster.
    k : int
        Number of cluster numbers.

    Returns
    -------
    ndarray of shape (k,)
        ``matched_numbers(labels, reference, k)[labels]`` are the renumbered labels. Clusters without a counterpart
        keep a number that no earlier cluster had, or take, largest first, such numbers, then those of vanished ones.
    """
    from scipy.optimize import linear_sum_assignment

    known = reference >= 0
    shared = np.bincount(labels[known] * k + reference[known], minlength=k * k).reshape(k, k)
    # among equally good matchings the one that changes least
    rows, columns = linear_sum_assignment(shared * (k + 1) + np.eye(k, dtype=np.int64), maximize=True)
    kept = shared[rows, columns] > 0
    numbers = np.full(k, -1, dtype=np.int64)
    numbers[rows[kept]] = columns[kept]
    sizes = np.bincount(labels, minlength=k)
    used = np.bincount(reference[known], minlength=k) > 0
    own = np.setdiff1d(np.flatnonzero((numbers < 0) & ~used), numbers)
    numbers[own] = own
    free = np.setdiff1d(np.arange(k), numbers)
    waiting = np.flatnonzero(numbers < 0)
    numbers[waiting[np.argsort(-sizes[waiting], kind="stable")]] = free[np.argsort(used[free], kind="stable")]
    return numbers
