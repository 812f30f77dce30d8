r"""MultiNMF: non-negative factors of every view, their coefficients pulled towards common ones.

minimise :math:`\sum_v \|X_v - V_v U_v^\top\|_F^2 + \alpha \sum_v \|V_v Q_v - V_*\|_F^2` over non-negative factors,
:math:`Q_v` the column sums of :math:`U_v` (eq. 3.3 of the paper). The columns of U are kept at sum 1, so that Q = I.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manyviews.optim.alternating import alternate
from manyviews.optim.history import History

__all__ = ["Factors", "JointFactors", "coupled_sweep", "initial_factors", "plain_nmf", "solve_multi_nmf"]

Array = NDArray[Any]
FLOOR = 1e-10


class Factors(NamedTuple):
    """Basis U (d, k), columns of sum 1, and coefficients V (n, k) of one view."""

    U: Array
    V: Array


class JointFactors(NamedTuple):
    """Factors of each view, the common coefficients V* (n, k), and the history."""

    views: list[Factors]
    consensus: Array
    history: History


def normalized(factors: Factors) -> Factors:
    """Bring the columns of U to sum 1, the product unchanged."""
    sums = np.maximum(factors.U.sum(axis=0), FLOOR)
    return Factors(factors.U / sums, factors.V * sums)


def plain_sweep(X: Any, factors: Factors) -> Factors:
    """Make the multiplicative updates of one view by itself."""
    U, V = factors
    V = V * (X @ U) / np.maximum(V @ (U.T @ U), FLOOR)
    U = U * (X.T @ V) / np.maximum(U @ (V.T @ V), FLOOR)
    return Factors(U, V)


def coupled_sweep(X: Any, factors: Factors, consensus: Array, alpha: float) -> Factors:
    """Make the multiplicative updates of one view, its coefficients pulled towards the common ones (eqs. 3.6, 3.8)."""
    U, V = factors
    V = V * (X @ U + alpha * consensus) / np.maximum(V @ (U.T @ U) + alpha * V, FLOOR)
    gain = alpha * np.einsum("ik,ik->k", V, consensus)
    loss = alpha * U.sum(axis=0) * np.einsum("ik,ik->k", V, V)
    U = U * (X.T @ V + gain) / np.maximum(U @ (V.T @ V) + loss, FLOOR)
    return normalized(Factors(U, V))


def plain_nmf(X: Any, factors: Factors, n_sweeps: int) -> Factors:
    """Factorise one view by itself, the columns of U brought to sum 1 before and after."""
    factors = normalized(factors)
    for _ in range(n_sweeps):
        factors = plain_sweep(X, factors)
    return normalized(factors)


def squared_error(X: Any, factors: Factors) -> float:
    """Return the squared Frobenius norm of X - V Uᵀ, which is not formed."""
    U, V = factors
    values = X.data if sparse.issparse(X) else X
    cross = np.vdot(X @ U, V)
    return float(np.vdot(values, values) - 2.0 * cross + np.vdot(V.T @ V, U.T @ U))


def initial_factors(
    views: Sequence[Any], observed: Sequence[Array], k: int, rng: np.random.Generator, *, n_sweeps: int, passes: int = 3
) -> list[Factors]:
    """Factorise one view after the other, each from the coefficients of the one before and a basis drawn once.

    Parameters
    ----------
    views : sequence of ndarray or CSR of shape (n_v, d_v)
        Observed rows of the views, non-negative.
    observed : sequence of ndarray of int, shape (n_v,)
        Numbers of the samples that these rows are.
    k : int
        Number of clusters.
    rng : Generator
        Draws the bases and the first coefficients.
    n_sweeps : int
        Sweeps of each factorisation.
    passes : int, default=3
        How often the views are gone through; a later pass starts with the coefficients of the last view.

    Returns
    -------
    list of Factors
        One per view.
    """
    n = 1 + max(int(rows.max()) for rows in observed)
    dtype = views[0].dtype
    bases = [rng.uniform(size=(X.shape[1], k)).astype(X.dtype) for X in views]
    coefficients = rng.uniform(size=(n, k)).astype(dtype)
    found: list[Factors] = []
    for _ in range(passes):
        found = []
        for X, rows, U in zip(views, observed, bases, strict=True):
            factors = plain_nmf(X, Factors(U, coefficients[rows]), n_sweeps)
            coefficients[rows] = factors.V  # samples that this view lacks keep those of another one
            found.append(factors)
    return found


def consensus_of(views: Sequence[Factors], observed: Sequence[Array], n: int) -> Array:
    """Return the mean coefficients (n, k) over the views in which each sample is observed."""
    total, count = np.zeros((n, views[0].V.shape[1])), np.zeros((n, 1))
    for (_, V), rows in zip(views, observed, strict=True):
        total[rows] += V
        count[rows] += 1
    return (total / np.maximum(count, 1)).astype(views[0].V.dtype)


def solve_multi_nmf(
    views: Sequence[Any],
    observed: Sequence[Array],
    start: Sequence[Factors],
    n: int,
    *,
    alpha: float = 0.01,
    n_sweeps: int = 100,
    tol: float = 1e-4,
    max_iter: int = 30,
) -> JointFactors:
    """Run the rounds: sweeps of every view towards the common coefficients, then their mean.

    Parameters
    ----------
    views : sequence of ndarray or CSR of shape (n_v, d_v)
        Observed rows of the views, non-negative.
    observed : sequence of ndarray of int, shape (n_v,)
        Numbers of the samples that these rows are.
    start : sequence of Factors
        One per view.
    n : int
        Number of samples.
    alpha : float, default=0.01
        Weight of the agreement.
    n_sweeps : int, default=100
        Sweeps of a view in a round.
    tol : float, default=1e-4
        Relative change of the objective that ends the rounds.
    max_iter : int, default=30
        Most rounds.

    Returns
    -------
    JointFactors
        The objective, with the latest common coefficients, never rises. In the first round these are the coefficients
        of the first view, where it has the sample.
    """

    def step(state: tuple[list[Factors], Array]) -> tuple[tuple[list[Factors], Array], float]:
        found, consensus = state
        updated = []
        for X, rows, factors in zip(views, observed, found, strict=True):
            target = consensus[rows]
            for _ in range(n_sweeps):
                factors = coupled_sweep(X, factors, target, alpha)
            updated.append(factors)
        consensus = consensus_of(updated, observed, n)
        return (updated, consensus), joint_objective(views, observed, updated, consensus, alpha)

    first = consensus_of(start, observed, n)
    first[observed[0]] = start[0].V
    (found, consensus), history = alternate(step, (list(start), first), tol=tol, max_iter=max_iter)
    return JointFactors(found, consensus, history)


def joint_objective(
    views: Sequence[Any], observed: Sequence[Array], found: Sequence[Factors], consensus: Array, alpha: float
) -> float:
    """Return the objective."""
    return sum(
        squared_error(X, factors) + alpha * float(np.square(factors.V - consensus[rows]).sum())
        for X, rows, factors in zip(views, observed, found, strict=True)
    )
