"""The augmented-Lagrangian loop: a penalty that grows, and constraints that are met ever better."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from manyviews.optim.history import History

__all__ = ["Penalty", "augmented_lagrangian"]


class Penalty(NamedTuple):
    """Schedule of the penalty μ: its start, the factor of each iteration and its largest value."""

    start: float = 1e-3
    growth: float = 1.2
    largest: float = 1e10

    def after(self, mu: float) -> float:
        """Return the penalty of the next iteration."""
        return min(self.growth * mu, self.largest)


def augmented_lagrangian(
    step: Callable[[float, float], float], penalty: Penalty, *, tol: float, max_iter: int, min_iter: int = 1
) -> History:
    """Repeat ``step`` until the constraints hold to ``tol``.

    Parameters
    ----------
    step : callable
        Takes the penalty of this and of the next iteration, updates variables and multipliers in place and returns how
        far the constraints are from being met.
    penalty : Penalty
        Schedule of the penalty.
    tol : float
        Residual below which the iterations end.
    max_iter : int
        Most iterations.
    min_iter : int, default=1
        Iterations made before the residual is tested: with a small penalty it may start at 0.

    Returns
    -------
    History
        With the residual after each iteration.
    """
    mu, residuals = penalty.start, []
    for iteration in range(1, max_iter + 1):
        following = penalty.after(mu)
        residuals.append(step(mu, following))
        if iteration >= min_iter and residuals[-1] < tol:
            return History(np.zeros(0), iteration, True, residual=np.array(residuals))
        mu = following
    return History(np.zeros(0), max_iter, False, residual=np.array(residuals))
