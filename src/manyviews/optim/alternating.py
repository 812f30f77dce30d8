"""The loop of every alternating method: run the steps until the objective settles."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from manyviews.optim.history import History

__all__ = ["alternate", "settled"]

State = TypeVar("State")
MIN_ITER = 3


def settled(previous: float, current: float, tol: float, scale: float = 0.0) -> bool:
    """Tell whether the objective changed by less than ``tol`` relative to its size, or to a larger ``scale``."""
    return abs(current - previous) < tol * max(abs(current), scale, np.finfo(float).tiny)


def alternate(
    step: Callable[[State], tuple[State, float]],
    state: State,
    *,
    tol: float,
    max_iter: int,
    rising: bool = True,
    scale: float = 0.0,
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
    scale : float, default=0
        What changes are compared with where the objective is smaller: of one that may fall to 0.

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
        has_settled = len(objective) >= MIN_ITER and settled(objective[-2], value, tol, scale)
        went_astray = not rising and len(objective) >= MIN_ITER and value > objective[-2]
        if has_settled or went_astray:
            return state, History(np.array(objective), len(objective), True)
    return state, History(np.array(objective), len(objective), False)
