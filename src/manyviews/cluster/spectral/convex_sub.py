r"""ConvexSub: a common low-dimensional representation of all views, found by a convex problem.

minimise :math:`\tfrac12 \sum_v \|X_v - M_v\|_F^2 + \gamma \max_{\eta \in \Delta} \|[\sqrt{\eta_1} M_1, \dots,
\sqrt{\eta_V} M_V]\|_*` over M. The problem is convex in M and concave in the weights η of the views; it is solved by
turns: accelerated proximal gradient steps in :math:`N_v = \sqrt{\eta_v} M_v`, then a multiplicative step in η. The
distance to the optimum is bounded by the dual, max ⟨Λ, X⟩ - ½‖Λ‖² with :math:`\|[\Lambda_v / \sqrt{\eta_v}]\|_2 \le
\gamma` for some η.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from manyviews.linalg.shrinkage import LowRank
from manyviews.optim.history import History

__all__ = ["Representation", "solve_convex_sub"]

Array = NDArray[np.float64]
# weights below this would make the steps in their view vanish
LEAST_WEIGHT = 1e-3
PROXIMAL_STEPS = 40
WEIGHT_STEPS = 200
# singular values below this share of the largest are left out of UΣ
RANK_CUTOFF = 1e-9


class Representation(NamedTuple):
    """Approximations M, views side by side, weights η (V,), U and Σ of [√η M] (n, q), objective and gap."""

    M: Array
    eta: Array
    U: Array
    values: Array
    gap: float
    history: History


class SideBySide(NamedTuple):
    """Views next to each other: X (n, D), zero where not observed; view of each column; what is observed, or None."""

    X: Array
    column_view: NDArray[np.int64]
    observed: NDArray[np.bool_] | None

    def per_view(self, squares: Array) -> Array:
        """Return the sums of column values (D,) over each view, (V,)."""
        return np.bincount(self.column_view, weights=squares, minlength=int(self.column_view.max()) + 1)

    def missed(self, M: Array) -> Array:
        """Return X - M where X is observed."""
        difference = self.X - M
        if self.observed is not None:
            difference *= self.observed[:, self.column_view]
        return difference


def side_by_side(views: Sequence[Array], observed: NDArray[np.bool_] | None = None) -> SideBySide:
    """Put views (n, d_v) next to each other; ``observed`` (n, V) says which samples each view has."""
    column_view = np.repeat(np.arange(len(views)), [X.shape[1] for X in views])
    X = np.hstack([np.asarray(X, dtype=np.float64) for X in views])
    if observed is not None:
        X = np.where(observed[:, column_view], X, 0.0)
    return SideBySide(X, column_view, observed)


def solve_convex_sub(
    data: SideBySide, gamma: float, *, tol: float = 1e-4, max_iter: int = 50, n_steps: int = PROXIMAL_STEPS
) -> Representation:
    """Run the turns until the duality gap falls below ``tol`` relative to the objective.

    Parameters
    ----------
    data : SideBySide
        The views.
    gamma : float
        Weight γ of the norm; from ``null_weight(data)`` on M is 0.
    tol : float, default=1e-4
        Relative gap that ends the iterations.
    max_iter : int, default=50
        Most turns.
    n_steps : int, default=40
        Proximal steps of a turn.

    Returns
    -------
    Representation
        ``history`` has the best upper bound of the optimum after each turn.
    """
    V = int(data.column_view.max()) + 1
    eta = np.full(V, 1 / V)
    N = data.X * np.sqrt(eta)[data.column_view]
    upper, lower, objective = np.inf, -np.inf, []
    while True:
        N, factors = _proximal_steps(data, N, eta, gamma, n_steps)
        M = N / np.sqrt(eta)[data.column_view]
        gradient, best_norm = _weight_gradient(data, M, factors, eta)
        rest = data.missed(M)
        upper = min(upper, 0.5 * float(np.vdot(rest, rest)) + gamma * best_norm)
        lower = max(lower, _dual_value(data, rest, eta, gamma))
        objective.append(upper)
        gap = max(upper - lower, 0.0) / max(abs(upper), np.finfo(float).tiny)
        if gap <= tol or len(objective) >= max_iter or not gradient.any():
            break
        N *= np.sqrt((new := _stepped(eta, gradient)) / eta)[data.column_view]
        eta = new
    history = History(np.array(objective), len(objective), bool(gap <= tol))
    return Representation(M, eta, factors.U, factors.values, gap, history)


def null_weight(data: SideBySide) -> float:
    r"""Return :math:`\|[X_1, \dots, X_V]\|_2`, below which no γ makes M vanish."""
    return _spectral_norm(data.X)


def _proximal_steps(data: SideBySide, N: Array, eta: Array, gamma: float, n_steps: int) -> tuple[Array, LowRank]:
    """Make accelerated proximal gradient steps with fixed weights; starts again where momentum leads astray."""
    root, step = np.sqrt(eta)[data.column_view], float(eta.min())
    ahead, momentum = N, 1.0
    factors = LowRank(np.zeros((len(N), 0)), np.zeros(0), np.zeros((N.shape[1], 0)))
    for _ in range(n_steps):
        target = ahead + step * data.missed(ahead / root) / root
        factors = _threshold(target, gamma * step)
        new = (factors.U * factors.values) @ factors.V.T
        change = new - N
        if np.vdot(ahead - new, change) > 0:
            momentum = 1.0
        following = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead = new + ((momentum - 1) / following) * change
        small = np.vdot(change, change) <= 1e-20 * np.vdot(new, new)
        N, momentum = new, following
        if small:
            break
    return N, factors


def _threshold(M: Array, tau: float) -> LowRank:
    """Return the singular value threshold of M through the smaller of its two Gram matrices."""
    tall = M.shape[0] > M.shape[1]
    squares, vectors = eigh(M.T @ M if tall else M @ M.T, subset_by_value=(tau**2, np.inf), check_finite=False)
    values, vectors = np.sqrt(squares[::-1]), vectors[:, ::-1]
    others = (M if tall else M.T) @ (vectors / values)
    U, W = (others, vectors) if tall else (vectors, others)
    return LowRank(U, np.maximum(values - tau, 0.0), W)


def _weight_gradient(data: SideBySide, M: Array, factors: LowRank, eta: Array) -> tuple[Array, float]:
    """Return the gradient of the norm in the weights, (V,), and its largest value over the simplex.

    M has the left singular vectors of N, so that all norms are those of the small matrices UᵀM_v.
    """
    small = factors.U.T @ M
    V = eta.size
    grams = np.array([small[:, data.column_view == v] @ small[:, data.column_view == v].T for v in range(V)])
    first, best = _norm_gradient(grams, eta)
    weights, value = eta, best
    for _ in range(WEIGHT_STEPS):
        gradient, value = _norm_gradient(grams, weights)
        best = max(best, value)
        # the norm is concave in the weights: it is below value + its gradient's largest gain
        if value == 0 or gradient.max() - gradient @ weights <= 1e-9 * value:
            break
        weights = weights * gradient / (gradient @ weights)
    gain = gradient.max() - gradient @ weights if value else 0.0
    return first, best + max(gain, 0.0) if value else best


def _norm_gradient(grams: Array, eta: Array) -> tuple[Array, float]:
    """Return the gradient of tr (Σ η_v G_v)^½ in η, and that trace."""
    squares, W = eigh(np.einsum("v,vij->ij", eta, grams), check_finite=False)
    values = np.sqrt(np.maximum(squares, 0.0))
    kept = values > RANK_CUTOFF * values.max(initial=0.0)
    shares = np.einsum("vij,ik,jk->vk", grams, W[:, kept], W[:, kept]) / values[kept]
    return 0.5 * shares.sum(axis=1), float(values.sum())


def _stepped(eta: Array, gradient: Array) -> Array:
    new = np.maximum(eta * gradient / (gradient @ eta), LEAST_WEIGHT)
    return np.asarray(new / new.sum())


def _dual_value(data: SideBySide, rest: Array, eta: Array, gamma: float) -> float:
    """Return the dual objective at the multiple of Λ = X - M that is best among the feasible ones."""
    inner, square = float(np.vdot(rest, data.X)), float(np.vdot(rest, rest))
    norm = _spectral_norm(rest / np.sqrt(eta)[data.column_view])
    if square == 0.0:
        return 0.0
    scale = min(inner / square, gamma / norm)
    return scale * inner - 0.5 * scale**2 * square


def _spectral_norm(A: Array) -> float:
    gram = A @ A.T if A.shape[0] <= A.shape[1] else A.T @ A
    top = eigh(gram, eigvals_only=True, subset_by_index=[len(gram) - 1, len(gram) - 1], check_finite=False)
    return float(np.sqrt(max(top[0], 0.0)))
