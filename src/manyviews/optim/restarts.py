"""Several starts run side by side, each until its own objective settles; the best is kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from manyviews.optim.alternating import MIN_ITER, settled
from manyviews.optim.history import History

__all__ = ["BestRun", "best_restart"]

# the variables of all runs: arrays whose first axis counts the runs
Variables = tuple[NDArray[Any], ...]


class BestRun(NamedTuple):
    """Variables of the best run (without the axis of runs), its history, and which start it came from."""

    variables: Variables
    history: History
    restart: int


def best_restart(
    step: Callable[[Variables], tuple[Variables, NDArray[np.float64]]],
    variables: Variables,
    *,
    tol: float,
    max_iter: int,
    keep_labels: bool = False,
) -> BestRun:
    """Run all starts and return the one with the largest objective, the first of equal ones.

    Parameters
    ----------
    step : callable
        Takes the variables of the runs still going, returns them after one iteration and the objective of each run.
    variables : tuple of ndarray of shape (R, ...)
        The R starts.
    tol : float
        Relative change of the objective that ends a run, tested from the third iteration on.
    max_iter : int
        Most iterations of a run.
    keep_labels : bool, default=False
        Whether the history holds the first of the variables, the labels, as it was in each iteration.

    Returns
    -------
    BestRun
        Variables, history and number of the best start.
    """
    active = np.arange(variables[0].shape[0])
    traces: list[list[float]] = [[] for _ in active]
    labels: list[list[NDArray[Any]]] = [[] for _ in active]
    best: BestRun | None = None
    for iteration in range(1, max_iter + 1):
        variables, objective = step(variables)
        for run, value in zip(active, objective, strict=True):
            traces[run].append(float(value))
        if keep_labels:
            for run, found in zip(active, variables[0], strict=True):
                labels[run].append(found.copy())
        converged = np.array([_has_settled(traces[run], tol) for run in active])
        finished = converged | (iteration == max_iter)
        for i in np.flatnonzero(finished):
            trace, kept = traces[active[i]], labels[active[i]]
            if best is None or (trace[-1], -active[i]) > (best.history.objective[-1], -best.restart):
                history = History(np.array(trace), len(trace), bool(converged[i]))
                history = replace(history, labels=np.array(kept)) if keep_labels else history
                best = BestRun(tuple(part[i].copy() for part in variables), history, int(active[i]))
            kept.clear()
        variables = tuple(part[~finished] for part in variables)
        active = active[~finished]
        if active.size == 0:
            break
    assert best is not None
    return best


def _has_settled(trace: list[float], tol: float) -> bool:
    return len(trace) >= MIN_ITER and settled(trace[-2], trace[-1], tol)
