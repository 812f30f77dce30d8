"""What methods share that scale every view and give all the same total variance."""

from __future__ import annotations

from typing import Any, ClassVar

from numpy.typing import NDArray

from manyviews.cluster.base import MultiViewClusterer
from manyviews.linalg.balance import apply_balanced, fit_balanced
from manyviews.views import Views

__all__ = ["BalancedClusterer"]


class BalancedClusterer(MultiViewClusterer):
    """Base of the methods that scale every view and then give all the same total variance."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = MultiViewClusterer._parameter_constraints | {
        "balance_views": ["boolean"],
    }

    balance_views: bool

    def _fit_scaled(self, views: Views, weights: NDArray[Any] | None = None) -> tuple[Any, ...]:
        """Learn the scaling of the views and return them scaled, unobserved rows as zeros."""
        chosen = zip(views.arrays, self._choose_scalings(views), strict=True)
        self._balanced = [fit_balanced(X, kind, balance=self.balance_views, weights=weights) for X, kind in chosen]
        return self._scaled(views)

    def _scaled(self, views: Views) -> tuple[Any, ...]:
        return tuple(apply_balanced(X, balanced) for X, balanced in zip(views.arrays, self._balanced, strict=True))
