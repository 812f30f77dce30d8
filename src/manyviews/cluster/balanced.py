"""What methods share that scale every view and give all the same total variance."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manyviews.cluster.base import MultiViewClusterer
from manyviews.cluster.memory import copy_bytes
from manyviews.linalg.balance import BalancedScaling, apply_balanced, concatenate, fit_balanced, joined
from manyviews.linalg.scaled_rows import ScaledRows, is_on_disk
from manyviews.views import Views

__all__ = ["BalancedClusterer"]


class BalancedClusterer(MultiViewClusterer):
    """Base of the methods that scale every view and then give all the same total variance."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = MultiViewClusterer._parameter_constraints | {
        "balance_views": ["boolean"],
    }

    # whether weights multiply the squared distances of a view; else the steps of the method see to them
    _weighs_columns: ClassVar[bool] = True

    # whether the solver asks for nothing but blocks of rows, so that views on disk need not be copied
    _reads_blocks: ClassVar[bool] = False
    balance_views: bool

    def _fit_scaled(self, views: Views, weights: NDArray[Any] | None = None) -> tuple[Any, ...]:
        """Learn the scaling of the views and return them scaled, unobserved rows as zeros."""
        self._learn_scaling(views, weights)
        return self._scaled(views)

    def _learn_scaling(self, views: Views, weights: NDArray[Any] | None = None) -> None:
        wanted = self._weights if self._weighs_columns else np.ones(len(views.names))
        chosen = zip(views.arrays, self._choose_scalings(views), wanted.tolist(), strict=True)
        self._balanced = [
            fit_balanced(X, kind, balance=self.balance_views, weight=w, counts=weights) for X, kind, w in chosen
        ]

    def _scaled(self, views: Views) -> tuple[Any, ...]:
        return tuple(self._one_scaled(X, how) for X, how in zip(views.arrays, self._balanced, strict=True))

    def _concatenated(self, views: Views) -> Any:
        """Return the scaled views side by side; of dense ones in memory, no two are held besides."""
        if any(sparse.issparse(X) or (self._reads_blocks and is_on_disk(X)) for X in views.arrays):
            return concatenate(self._scaled(views))
        known = [how.scaling.columns for how in self._balanced]
        widths = [X.shape[1] if own is None else own.size for X, own in zip(views.arrays, known, strict=True)]
        each = (self._one_scaled(X, how) for X, how in zip(views.arrays, self._balanced, strict=True))
        return joined(each, (len(views), sum(widths)), np.result_type(*(X.dtype for X in views.arrays)))

    def _one_scaled(self, X: Any, how: BalancedScaling) -> Any:
        if self._reads_blocks and is_on_disk(X):
            return ScaledRows(X, lambda rows: apply_balanced(rows, how))
        return apply_balanced(X, how)

    def _scaled_bytes(self, views: Views) -> int:
        if not self._reads_blocks:
            return super()._scaled_bytes(views)
        copies = [0 if is_on_disk(X) else copy_bytes(X) for X in views.arrays]
        return sum(copies) + max(copies)
