"""What a solver hands to its estimator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from manyviews.optim.history import History

__all__ = ["FitResult", "Solved"]

Labels = NDArray[np.int64]


class Solved(Protocol):
    """Result of any solver: its own dataclass, or ``FitResult``; the optional words of the latter are read as well."""

    @property
    def labels(self) -> Labels:
        """Clusters 0 .. k-1, (n,)."""

    @property
    def history(self) -> History:
        """Record of the iterations."""


@dataclass(frozen=True)
class FitResult:
    """What ``MultiViewClusterer._record`` stores.

    Attributes
    ----------
    labels : ndarray of shape (n,)
        Clusters 0 .. k-1 in any order.
    history : History
        Record of the iterations.
    weights : ndarray of shape (V,), default=None
        What each view counts; stored with the sum 1.
    embedding : ndarray of shape (n, c), default=None
        The rows that were grouped.
    confidence : ndarray of shape (n,), default=None
        How clearly each sample belongs to its cluster, 0 to 1.
    """

    labels: Labels
    history: History
    weights: NDArray[Any] | None = None
    embedding: NDArray[Any] | None = None
    confidence: NDArray[Any] | None = None

    @classmethod
    def of_one_step(cls, labels: Labels, objective: float, **found: NDArray[Any] | None) -> Self:
        """Return the result of a method without iterations of its own, which has reached its objective at once."""
        return cls(labels, History(np.array([float(objective)]), 1, True), **found)
