"""The loop of every alternating method: run the steps until the objective settles."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from manyviews.optim.history import History

__all__ = ["alternate", "settled"]

State = TypeVar("State")
MIN_ITER = 3


def settled(previous: float, current: float, tol: float) -> bool:
    """Tell whether the objective changed by less than ``tol`` relative to its size."""
    return abs(current - previous) < tol * max(abs(current), np.finfo(float).tiny)


def alternate(
    step: Callable[[State], tuple[State, float]],
    state: State,
    *,
    tol: float,
    max_iter: int,
    rising: bool = True,
) -> tuple[State, History]:
    """Repeat ``step`` until the relative change of the objective falls below ``tol``.

    The test runs from the third iteration on, as in the released codes of the late-fusion family.

    Parameters
    ----------
    step : callable
        Takes a state, returns the next state and its objective.
    state : object
        Start.
    tol : float
        Relative change of the objective that ends the iterations.
    max_iter : int
        Most iterations made.
    rising : bool, default=True
        Whether the objective may rise. False: that ends the iterations as well, which is for steps that may go astray.

    Returns
    -------
    state : object
        Last state.
    history : History
        Objective after each iteration.
    """
    objective: list[float] = []
    for _ in range(max_iter):
        state, value = step(state)
        objective.append(value)
        if len(objective) >= MIN_ITER and (
            settled(objective[-2], value, tol) or (value > objective[-2] and not rising)
        ):
            return state, History(np.array(objective), len(objective), True)
    return state, History(np.array(objective), len(objective), False)
