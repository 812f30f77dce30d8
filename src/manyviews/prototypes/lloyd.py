r"""One loop for every k-means: fill empty clusters, update the centres, assign; the steps are plugged in.

Each form minimises :math:`\sum_i \ell(x_i, c_{b_i})` over labels b and centres c; what a centre is, and how far a
sample is from it, is known to the steps alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["ArrayRows", "LloydRun", "Rows", "emptied", "fill_empty", "lloyd", "rows_counted"]

Array = NDArray[Any]
Labels = NDArray[np.int64]
Centers = TypeVar("Centers")


class LloydRun(NamedTuple, Generic[Centers]):
    """How a run ended.

    ``labels`` (n,) are those nearest to ``centers``, with ``losses`` as the assignment gave them; ``objective`` is
    their sum at the start and after each iteration.
    """

    centers: Centers
    labels: Labels
    losses: Array
    objective: NDArray[np.float64]
    converged: bool

    @property
    def n_iter(self) -> int:
        """Number of iterations made."""
        return self.objective.size - 1


class Rows(Protocol):
    """What the loop asks of the labels and losses of all samples, wherever these are held."""

    def total(self, losses: Any) -> float:
        """Return the sum of the losses."""

    def sizes(self, labels: Any, k: int) -> Labels:
        """Return how many samples each cluster has, (k,)."""

    def fill(self, labels: Any, losses: Any, k: int, *, fill_all: bool) -> tuple[Any, bool]:
        """Return labels without empty clusters, and whether a sample was moved; see ``fill_empty``."""

    def rest(self, labels: Any, last: Any) -> bool:
        """Say whether no label has changed."""


class ArrayRows:
    """Labels and losses that are arrays in memory."""

    def total(self, losses: Array) -> float:
        """Return the sum of the losses."""
        return float(losses.sum(dtype=np.float64))

    def sizes(self, labels: Labels, k: int) -> Labels:
        """Return how many samples each cluster has, (k,)."""
        return np.bincount(labels, minlength=k)

    def fill(self, labels: Labels, losses: Array, k: int, *, fill_all: bool) -> tuple[Labels, bool]:
        """Return the labels, changed in place, and whether a sample was moved."""
        return labels, fill_empty(labels, losses, k, fill_all=fill_all)

    def rest(self, labels: Labels, last: Labels) -> bool:
        """Say whether no label has changed."""
        return np.array_equal(labels, last)


class CountedRows(ArrayRows):
    """Labels and losses of samples that count so often, (n,)."""

    def __init__(self, counts: Array) -> None:
        self.counts = counts

    def total(self, losses: Array) -> float:
        """Return the sum of the losses (n,) or (V, n), each as often as its sample counts."""
        return super().total(losses * self.counts)

    def fill(self, labels: Labels, losses: Array, k: int, *, fill_all: bool) -> tuple[Labels, bool]:
        """Return the labels, changed in place, and whether a sample was moved."""
        return super().fill(labels, losses * self.counts, k, fill_all=fill_all)


def rows_counted(counts: Array | None) -> ArrayRows:
    """Return the rows of samples that count so often, (n,), or once each."""
    return ArrayRows() if counts is None else CountedRows(counts)


def lloyd(
    assign: Callable[[Centers], tuple[Any, Any]],
    update: Callable[[Any, Centers], Centers],
    centers: Centers,
    k: int,
    *,
    max_iter: int,
    each: Callable[[Any], Any] | None = None,
    settled: Callable[[float, float], bool] | None = None,
    fill_all: bool = False,
    rows: Rows | None = None,
) -> LloydRun[Centers]:
    """Alternate labels and centres until the labels rest.

    Parameters
    ----------
    assign : callable
        Takes centres; returns the nearest centre of every sample (n,) and the losses, an array whose sum is the
        objective, or differs from it by a constant.
    update : callable
        Takes labels and the last centres; returns the best centres for these labels. A cluster without members keeps
        its centre.
    centers : object
        Start.
    k : int
        Number of clusters.
    max_iter : int
        Most iterations, each an update and an assignment.
    each : callable, default=None
        Takes the losses as ``assign`` returns them and returns the loss of each sample (n,); called only where a
        cluster is empty. By default they are that already.
    settled : callable, default=None
        Takes the objective before and after an iteration and says whether that ends the run; not asked while there are
        empty clusters. By default only labels that rest end it.
    fill_all : bool, default=False
        See ``fill_empty``.
    rows : Rows, default=None
        How labels and losses are held; by default they are arrays in memory.

    Returns
    -------
    LloydRun
        Centres, their labels, losses, objective.
    """
    rows = ArrayRows() if rows is None else rows
    labels, losses = assign(centers)
    objective = [rows.total(losses)]
    converged = False
    for _ in range(max_iter):
        filled = False
        if not rows.sizes(labels, k).all():
            labels, filled = rows.fill(labels, losses if each is None else each(losses), k, fill_all=fill_all)
        centers = update(labels, centers)
        last, (labels, losses) = labels, assign(centers)
        objective.append(rows.total(losses))
        converged = rows.rest(labels, last)
        if not converged and settled is not None and settled(objective[-2], objective[-1]):
            converged = not filled and bool(rows.sizes(labels, k).all())
        if converged:
            break
    return LloydRun(centers, labels, losses, np.array(objective), converged)


def fill_empty(labels: Labels, losses: Array, k: int, *, fill_all: bool = False) -> bool:
    """Give each empty cluster the sample of largest loss whose own cluster keeps another one; labels change in place.

    Parameters
    ----------
    labels : ndarray of shape (n,)
        Cluster of each sample.
    losses : ndarray of shape (n,)
        Loss of each sample.
    k : int
        Number of clusters.
    fill_all : bool, default=False
        Whether samples without any loss are moved too, which gains nothing but leaves no cluster empty.

    Returns
    -------
    bool
        Whether a sample was moved.
    """
    sizes = np.bincount(labels, minlength=k)
    if sizes.all():
        return False
    order = np.argsort(-losses, kind="stable")
    moved, clusters = emptied(sizes, labels[order], losses[order], fill_all=fill_all)
    labels[order[moved]] = clusters
    return bool(moved.size)


def emptied(
    sizes: NDArray[np.int64], labels: Labels, losses: Array, *, fill_all: bool = False
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Choose the samples that empty clusters get, from samples in order of falling loss.

    Parameters
    ----------
    sizes : ndarray of shape (k,)
        How many of all samples each cluster has.
    labels, losses : ndarray of shape (s,)
        Clusters and losses of the samples of largest loss; so many more than there are empty clusters as there are
        clusters suffice, since one sample of each must stay.
    fill_all : bool, default=False
        See ``fill_empty``.

    Returns
    -------
    moved, clusters : ndarray of shape (m,)
        Places of the samples that move, and the empty clusters that they go to.
    """
    left, empty = sizes.copy(), np.flatnonzero(sizes == 0)
    moved: list[int] = []
    for i in range(labels.size):
        if len(moved) == empty.size or (losses[i] <= 0 and not fill_all):
            break
        if left[labels[i]] > 1:
            left[labels[i]] -= 1
            moved.append(i)
    return np.array(moved, dtype=np.int64), empty[: len(moved)]
