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
    labels : ndarray of shape (n_iter, n), int64
        Labels in each iteration, where the method was asked to keep them, else empty. Each row is numbered such that
        as many samples as possible have the number that they have in the end.
    """

    objective: NDArray[np.float64]
    n_iter: int
    converged: bool
    residual: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0), kw_only=True)
    labels: NDArray[np.int64] = field(default_factory=lambda: np.zeros((0, 0), np.int64), kw_only=True)
