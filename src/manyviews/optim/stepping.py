"""The loop of methods that yield a state after every iteration: go on until the objective settles."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Protocol, TypeVar

import numpy as np

from manyviews.optim.alternating import settled
from manyviews.optim.history import History

__all__ = ["run_until_settled"]


class Step(Protocol):
    """A state with its objective."""

    @property
    def objective(self) -> float:
        """What the iterations minimise."""


S = TypeVar("S", bound=Step)


def run_until_settled(steps: Iterable[S], *, tol: float, min_iter: int, max_iter: int) -> tuple[S, History]:
    """Take states until the relative change of the objective falls below ``tol``.

    Parameters
    ----------
    steps : iterable
        States after each iteration, with an ``objective``; at least one.
    tol : float
        Relative change of the objective that ends the iterations.
    min_iter, max_iter : int
        Iterations made before the change is tested, and most iterations.

    Returns
    -------
    state : object
        Last state.
    history : History
        Objective after each iteration.
    """
    objective: list[float] = []
    converged = False
    for state in islice(steps, max_iter):
        objective.append(state.objective)
        if len(objective) >= max(min_iter, 2):
            converged = settled(objective[-2], state.objective, tol) or objective[-2] == state.objective
        if converged:
            break
    return state, History(np.array(objective), len(objective), converged)
