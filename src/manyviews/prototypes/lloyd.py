r"""One loop for every k-means: fill empty clusters, update the centres, assign; the steps are plugged in.

Each form minimises :math:`\sum_i \ell(x_i, c_{b_i})` over labels b and centres c; what a centre is, and how far a
sample is from it, is known to the steps alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["LloydRun", "fill_empty", "lloyd"]

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


def lloyd(
    assign: Callable[[Centers], tuple[Labels, Array]],
    update: Callable[[Labels, Centers], Centers],
    centers: Centers,
    k: int,
    *,
    max_iter: int,
    each: Callable[[Array], Array] | None = None,
    total: Callable[[Array], float] | None = None,
    settled: Callable[[float, float], bool] | None = None,
    fill_all: bool = False,
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
    total : callable, default=None
        Takes the losses as ``assign`` returns them and returns the objective; their sum by default.
    settled : callable, default=None
        Takes the objective before and after an iteration and says whether that ends the run; not asked while there are
        empty clusters. By default only labels that rest end it.
    fill_all : bool, default=False
        See ``fill_empty``.

    Returns
    -------
    LloydRun
        Centres, their labels, losses, objective.
    """
    labels, losses = assign(centers)
    objective = [_sum(losses) if total is None else total(losses)]
    converged = False
    for _ in range(max_iter):
        filled = False
        if not np.bincount(labels, minlength=k).all():
            filled = fill_empty(labels, losses if each is None else each(losses), k, fill_all=fill_all)
        centers = update(labels, centers)
        last, (labels, losses) = labels, assign(centers)
        objective.append(_sum(losses) if total is None else total(losses))
        converged = np.array_equal(labels, last)
        if not converged and settled is not None and settled(objective[-2], objective[-1]):
            converged = not filled and bool(np.bincount(labels, minlength=k).all())
        if converged:
            break
    return LloydRun(centers, labels, losses, np.array(objective), converged)


def _sum(losses: Array) -> float:
    return float(losses.sum(dtype=np.float64))


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
    empty = np.flatnonzero(sizes == 0)
    moved = 0
    for i in np.argsort(-losses, kind="stable") if empty.size else ():
        if moved == empty.size or (losses[i] <= 0 and not fill_all):
            break
        if sizes[labels[i]] > 1:
            sizes[labels[i]] -= 1
            labels[i] = empty[moved]
            moved += 1
    return moved > 0
