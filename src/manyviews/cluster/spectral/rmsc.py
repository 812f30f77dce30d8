r"""RMSC: the transition probabilities of all views as one low-rank matrix plus sparse errors.

minimise :math:`\|P\|_* + \lambda \sum_v \|E_v\|_1` over P and E with :math:`T_v = P + E_v`, P ≥ 0 and P1 = 1 (eq. 4 of
the paper), by the inexact augmented-Lagrangian method with the split P = Q.

Errors and multipliers of a view follow from one array: with :math:`M = T - P - Y/\mu` the new error is the soft
threshold of M, and the new multiplier :math:`-\mu` times what that cut off.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from manyviews.linalg.eigen import top_eigenpairs
from manyviews.linalg.scaling import row_blocks
from manyviews.linalg.shrinkage import LowRank, SingularValueShrinker, singular_value_threshold
from manyviews.linalg.simplex import project_rows
from manyviews.optim.alm import Penalty, augmented_lagrangian
from manyviews.optim.history import History

__all__ = ["RMSCResult", "RMSCState", "solve_rmsc", "stationary_affinity"]

Array = NDArray[Any]
ROWS_PER_BLOCK = 64
# a stationary probability below this share of an equal one makes its sample's row meaningless
LEAST_SHARE = 1e-8


class RMSCResult(NamedTuple):
    """Transition probabilities P (n, n), rows of sum 1; their low-rank form Q in factors; residuals."""

    P: Array
    Q: LowRank
    history: History


class RMSCState:
    """Variables of the iterations and the steps that update them in place.

    Parameters
    ----------
    transitions : sequence of ndarray of shape (n, n)
        T of each view, rows of sum 1.
    noise_weight : float
        λ.
    shrink : callable
        Singular value threshold, taking a matrix and a threshold.
    """

    def __init__(self, transitions: Sequence[Array], noise_weight: float, shrink: Any) -> None:
        self.T, self.noise_weight, self.shrink = transitions, noise_weight, shrink
        n, dtype = transitions[0].shape[0], transitions[0].dtype
        self.P = np.zeros((n, n), dtype)
        self.Q = LowRank(np.zeros((n, 0), dtype), np.zeros(0), np.zeros((n, 0), dtype))
        self.Z = np.zeros((n, n), dtype)
        self.Y = [np.zeros((n, n), dtype) for _ in transitions]
        # Σ_v (T_v - E_v) with E = 0, from which the released code departs by random errors
        self.explained = np.array(sum(transitions))

    def iterate(self, mu: float, following: float) -> float:
        """Make one iteration and return the largest row sum of what a view is away from P + E."""
        del following
        self.update_transitions(mu)
        shifted = self.Z
        shifted *= self.P.dtype.type(1 / mu)
        shifted += self.P
        self.Q = self.shrink(shifted, 1 / mu)
        left, right = self.Q.U * self.Q.values.astype(self.P.dtype), self.Q.V.T
        residual = 0.0
        for rows in row_blocks(len(self.P), ROWS_PER_BLOCK):
            shifted[rows] -= left[rows] @ right
            shifted[rows] *= self.P.dtype.type(mu)  # Z + μ(P - Q)
            residual = max(residual, self._update_errors(rows, mu))
        return residual

    def update_transitions(self, mu: float) -> None:
        """P step: the mean of what Q and the views ask for, its rows projected onto the simplex."""
        dtype, V = self.P.dtype.type, len(self.T)
        left, right = self.Q.U * self.Q.values.astype(self.P.dtype), self.Q.V.T
        for rows in row_blocks(len(self.P), ROWS_PER_BLOCK):
            total = self.explained[rows] + left[rows] @ right
            total -= (self.Z[rows] + sum(Y[rows] for Y in self.Y)) * dtype(1 / mu)
            self.P[rows] = project_rows(total * dtype(1 / (V + 1)))

    def _update_errors(self, rows: slice, mu: float) -> float:
        """E and Y steps on some rows; returns the largest row sum of the residual."""
        dtype, bound, residual = self.P.dtype.type, self.noise_weight / mu, 0.0
        P = self.P[rows]
        self.explained[rows] = 0
        for T, Y in zip(self.T, self.Y, strict=True):
            old = Y[rows] * dtype(1 / mu)
            new = -np.clip(T[rows] - P - old, dtype(-bound), dtype(bound))
            missed = new - old  # P + E - T
            self.explained[rows] += P - missed
            Y[rows] = new * dtype(mu)
            residual = max(residual, float(np.abs(missed).sum(axis=1).max()))
        return residual


def solve_rmsc(
    transitions: Sequence[Array],
    *,
    noise_weight: float = 0.01,
    penalty: Penalty = Penalty(1e-3, 1.9),  # noqa: B008 (an immutable tuple)
    svd: str = "partial",
    tol: float = 1e-6,
    max_iter: int = 300,
    rng: np.random.Generator,
) -> RMSCResult:
    """Run the iterations until no row of a view is further than ``tol`` from P + E, in the sum of its entries."""
    shrink = SingularValueShrinker(rng) if svd == "partial" else singular_value_threshold
    state = RMSCState(transitions, noise_weight, shrink)
    history = augmented_lagrangian(state.iterate, penalty, tol=tol, max_iter=max_iter)
    return RMSCResult(state.P, state.Q, history)


def stationary_affinity(P: Array) -> tuple[Array, Array] | None:
    r"""Return :math:`(\Pi^{1/2} P \Pi^{-1/2} + \cdot^\top) / 2` and the stationary distribution π of P.

    None where some sample is next to never visited, so that its row means nothing.
    """
    n = len(P)
    # π solves (Pᵀ - I + 1 1ᵀ) π = 1 where P has one recurrent class
    A = P.T.astype(np.float64) - np.eye(n) + 1.0
    try:
        pi = np.linalg.solve(A, np.ones(n))
    except np.linalg.LinAlgError:
        return None
    if not pi.min() > LEAST_SHARE / n:
        return None
    root = np.sqrt(pi)
    B = root[:, None] * P / root
    return (B + B.T) / 2, pi
