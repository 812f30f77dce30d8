"""The record every iterative method leaves."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

__all__ = ["History"]


@dataclass(frozen=True)
class History:
    """What happened in the iterations.

    Attributes
    ----------
    objective : ndarray of shape (n_iter,)
        Objective after each iteration; empty where a method does not compute it.
    n_iter : int
        Number of iterations made.
    converged : bool
        Whether the stopping rule was met before the iterations ran out.
    residual : ndarray of shape (n_iter,)
        How far the constraints were from being met after each iteration; empty where none are met by iterating.
    """

    objective: NDArray[np.float64]
    n_iter: int
    converged: bool
    residual: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0), kw_only=True)
