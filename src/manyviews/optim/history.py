"""The record every iterative method leaves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["History", "warn_unconverged"]


@dataclass(frozen=True)
class History:
    """What happened in the iterations.

    Attributes
    ----------
    objective : ndarray of shape (n_iter,)
        Objective after each iteration.
    n_iter : int
        Number of iterations made.
    converged : bool
        Whether the stopping rule was met before the iterations ran out.
    """

    objective: NDArray[np.float64]
    n_iter: int
    converged: bool


def warn_unconverged(history: History, method: str) -> None:
    """Do nothing: ``fit`` of the base warns, once, by what ``_record`` stored; this name goes with its last caller."""
