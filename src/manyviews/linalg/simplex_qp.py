r"""Many convex quadratic programs over the simplex that share one Hessian.

minimise :math:`\tfrac12 z^\top H z + f_i^\top z` over :math:`z \ge 0, 1^\top z = 1` for i = 1 .. n.

No solver is called per row. A few splitting iterations (one matrix product each) guess which entries are positive;
rounds of block exchanges on all rows at once correct the guess; a primal active-set method, again on all rows at
once and finite, settles what is left. Every round solves the equality-constrained problems of all rows as stacks of
small systems of equal size, so the answer is exact, not the limit of the splitting.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyviews.linalg.blocks import row_blocks
from manyviews.linalg.eigen import all_eigenpairs, eigenvalues

__all__ = ["solve_simplex_qp"]

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
ENTRIES_PER_BLOCK = 131_072
SPLITTING_ITER = 25
RELAXATION = np.float32(1.6)
EXCHANGE_ROUNDS = 8
# an entry of a solution above this is not an error of rounding
NEGATIVE = -1e-14
GRADIENT_TOL = 1e-11
SINGULAR = 1e-12


def solve_simplex_qp(H: NDArray[Any], F: NDArray[Any], *, start: NDArray[Any] | None = None) -> Array:
    """Solve all programs exactly.

    Parameters
    ----------
    H : ndarray of shape (m, m)
        Symmetric positive semidefinite matrix. Where it is singular to rounding, a ridge of 1e-12 of its largest
        eigenvalue makes the minimisers unique.
    F : ndarray of shape (n, m)
        Linear term of every program.
    start : ndarray of shape (n, m), default=None
        Points whose positive entries are taken as the first guess, such as the solutions of a nearby problem; saves
        the splitting iterations.

    Returns
    -------
    ndarray of shape (n, m), float64
        Minimisers, with exact zeros; rows sum to 1.

    Examples
    --------
    >>> import numpy as np
    >>> from manyviews.linalg.simplex_qp import solve_simplex_qp
    >>> solve_simplex_qp(2 * np.eye(2), np.array([[-1.0, -1.0], [-9.0, 0.0]]))
    array([[0.5, 0.5],
           [1. , 0. ]])
    """
    H = np.asarray(H, dtype=np.float64)
    F = np.asarray(F, dtype=np.float64)
    values = eigenvalues(H)
    largest = values[0] if values[0] > 0 else 1.0
    if values[-1] < SINGULAR * largest:
        H = H + SINGULAR * largest * np.eye(len(H))
    Z = np.empty(F.shape)
    for rows in row_blocks(F.shape[0], max(ENTRIES_PER_BLOCK // F.shape[1], 1)):
        guess = _split(H, F[rows]) if start is None else start[rows] > 0
        Z[rows] = _solve_block(H, F[rows], guess)
    return Z


def _solve_block(H: Array, F: Array, S: Mask) -> Array:
    empty = ~S.any(axis=1)
    S[empty, (0.5 * np.diag(H) + F[empty]).argmin(axis=1)] = True
    Z, left = _exchange(H, F, S)
    if left.size:
        Z[left] = _active_set(H, F[left], Z[left])
    sums = Z.sum(axis=1, keepdims=True)
    return np.where(np.abs(sums - 1.0) > 1e-12, Z / sums, Z)


def _split(H: Array, F: Array) -> Mask:
    """Guess the positive entries by the alternating direction method: an affine map, then a cut at 0."""
    m = H.shape[0]
    values, vectors = all_eigenpairs(H)
    rho = np.sqrt(values[0] * values[-1])
    K = (vectors / (values + rho)) @ vectors.T
    b = K.sum(axis=1)
    # the minimiser of the smooth part under 1ᵀx = 1 is M g + b / 1ᵀb
    M = K - np.outer(b, b) / b.sum()
    # a guess does not need more than single precision
    constant = (RELAXATION * (b / b.sum() - F @ M)).astype(np.float32)
    M = (RELAXATION * rho * M).astype(np.float32)
    u = np.zeros(F.shape, dtype=np.float32)
    z = np.full(F.shape, 1.0 / m, dtype=np.float32)
    for _ in range(SPLITTING_ITER):
        x = (z - u) @ M
        x += constant
        x += (1.0 - RELAXATION) * z
        u += x
        np.maximum(u, 0.0, out=z)
        u -= z
    return np.asarray(z > 0)


def _exchange(H: Array, F: Array, S: Mask) -> tuple[Array, NDArray[np.int64]]:
    """Exchange all entries that violate a sign; return feasible points and the rows that are not solved by that."""
    Z = np.zeros_like(F)
    left = np.arange(F.shape[0])
    tol = GRADIENT_TOL * (1.0 + np.abs(F).max(axis=1))
    for _ in range(EXCHANGE_ROUNDS):
        f, s = F[left], S[left]
        x, nu = _equality_solutions(H, f, s)
        Z[left] = x
        wrong = x < NEGATIVE
        gradient = x @ H
        gradient += f
        wrong |= ~s & (gradient < (nu - tol[left])[:, None])
        S[left] = s ^ wrong
        left = left[wrong.any(axis=1)]
        if left.size == 0:
            break
    Z = np.maximum(Z, 0.0)
    return Z / Z.sum(axis=1, keepdims=True), left


def _equality_solutions(H: Array, F: Array, S: Mask) -> tuple[Array, Array]:
    """Minimise over the entries in S under 1ᵀx = 1 alone; return points (0 outside S) and multipliers ν."""
    x, nu = np.zeros_like(F), np.empty(F.shape[0])
    sizes = np.count_nonzero(S, axis=1)
    for size in np.unique(sizes):
        rows = np.flatnonzero(sizes == size)
        index = np.nonzero(S[rows])[1].reshape(rows.size, size)
        right = np.empty((rows.size, size, 2))
        right[:, :, 0] = np.take_along_axis(F[rows], index, axis=1)
        right[:, :, 1] = 1.0
        solved = np.linalg.solve(H[index[:, :, None], index[:, None, :]], right)
        a, b = -solved[:, :, 0], solved[:, :, 1]
        nu[rows] = (1.0 - a.sum(axis=1)) / b.sum(axis=1)
        x[rows[:, None], index] = a + nu[rows, None] * b
    return x, nu


def _active_set(H: Array, F: Array, Z: Array) -> Array:
    """Primal active-set method from feasible points: the objective falls, one entry enters or leaves per round."""
    Z, S = Z.copy(), Z > 0
    left = np.arange(F.shape[0])
    tol = GRADIENT_TOL * (1.0 + np.abs(F).max(axis=1))
    # far beyond what any row needs; a row still left then is feasible and optimal to rounding
    for _ in range(20 * F.shape[1] + 20):
        x, nu = _equality_solutions(H, F[left], S[left])
        blocked = (x < NEGATIVE).any(axis=1)
        stuck, free = left[blocked], left[~blocked]
        Z[stuck], S[stuck] = _step_to_boundary(Z[stuck], S[stuck], x[blocked])
        Z[free] = np.maximum(x[~blocked], 0.0)
        gradient = np.where(S[free], np.inf, x[~blocked] @ H + F[free])
        entering = gradient.argmin(axis=1)
        grows = gradient[np.arange(free.size), entering] < (nu[~blocked] - tol[free])
        S[free[grows], entering[grows]] = True
        left = np.concatenate([stuck, free[grows]])
        if left.size == 0:
            break
    return Z


def _step_to_boundary(Z: Array, S: Mask, x: Array) -> tuple[Array, Mask]:
    """Go from Z towards x until the first entry reaches 0, and take that entry out of S."""
    falling = S & (x < NEGATIVE)
    ratio = np.full_like(Z, np.inf)
    np.divide(Z, Z - x, out=ratio, where=falling)
    leaving = ratio.argmin(axis=1)
    rows = np.arange(Z.shape[0])
    t = ratio[rows, leaving]
    Z = np.maximum(Z + t[:, None] * (x - Z), 0.0)
    Z[rows, leaving] = 0.0
    S = S.copy()
    S[rows, leaving] = False
    return np.where(S, Z, 0.0), S
