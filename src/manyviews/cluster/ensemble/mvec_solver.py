r"""Multi-view ensemble clustering: one affinity behind the co-association matrices of all views.

minimise over H, Z, E: tr(Hᵀ L_Z H) + λ₁‖Z‖_* + λ₂ Σ_v ‖E_v‖₁, subject to HᵀH = I, S_v + HHᵀ = S_v Z + E_v for every
view, Z ≥ 0 and Z1 = 1 (eq. 3 of the paper), by the inexact augmented-Lagrangian method with the split Z = J, on samples
whose equals have been merged.

Three arrays carry the state, Λ/μ and, per view, :math:`T_v = S_v + HH^\top + Y_v/μ` and
:math:`R_v = S_v Z + E_v - T_v`: the error and the multiplier follow from them, and each product with S_v is formed
once. A group of N equal samples is one row and column; its size enters the products, the norms, the nuclear norm
(through :math:`N^{1/2} Z N^{1/2}`) and the simplex.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from manyviews.graphs.affinity_cut import AffinityCut
from manyviews.linalg.blocks import row_blocks
from manyviews.linalg.eigen import positive_norm
from manyviews.linalg.products import add_product
from manyviews.linalg.shrinkage import LowRank, SingularValueShrinker
from manyviews.linalg.simplex import project_rows
from manyviews.optim.alm import Penalty, augmented_lagrangian
from manyviews.optim.history import History
from manyviews.partitions.coassociation import Coassociation
from manyviews.partitions.low_rank import distance_norm

__all__ = ["MVECOptions", "MVECResult", "MVECState", "solve_mvec"]

Array = NDArray[Any]
# a block of rows of this size stays in the cache while all steps pass over it
BLOCK_BYTES = 1 << 19
# with the small penalty of the first iterations J and E are 0, which says nothing about convergence
MIN_ITER = 5
# the bound of the curvature is found by iteration, from below
STEP_MARGIN = 1.01


@dataclass(frozen=True)
class MVECOptions:
    """Weights λ₁ and λ₂, and the variants of the steps and of the stop; see ``MVEC``."""

    nuclear_weight: float = 1.0
    noise_weight: float = 0.01
    simplex: Literal["project", "alm"] = "project"
    laplacian: Literal["normalized", "unnormalized"] = "normalized"
    step: Literal["tight", "paper"] = "tight"
    stop: Literal["views", "paper"] = "views"
    view_weights: tuple[float, ...] = ()


class MVECResult(NamedTuple):
    """Affinity Z (u, u), its low-rank part N^½ J N^½ in factors, partition H (u, k) and history."""

    Z: Array
    J: LowRank
    H: Array
    history: History


class MVECState:
    """Variables of the iterations and the steps that update them in place.

    Parameters
    ----------
    operators : list of Coassociation
        One per view, all with the same sizes.
    n_clusters : int
        Columns of H.
    options : MVECOptions
        Weights and variants.
    rng : Generator
        Source of random starts of the partial decompositions.
    """

    def __init__(
        self, operators: list[Coassociation], n_clusters: int, options: MVECOptions, rng: np.random.Generator
    ) -> None:
        self.operators, self.options, self.k = operators, options, n_clusters
        u, dtype = operators[0].shape[0], operators[0].dtype
        self.sizes = operators[0].sizes
        self.root = np.sqrt(self.sizes).astype(dtype)
        self.merged = bool((self.sizes > 1).any())
        self.Z = np.zeros((u, u), dtype)
        self.scaled_lambda = np.zeros((u, u), dtype)  # Λ/μ, and Z - J + Λ/μ while Z is updated
        self.scaled_w = np.zeros(u, dtype)  # w/μ
        self._levels = np.full(u, np.inf, dtype)  # what the projection took off each row of Z the last time
        self._room = np.empty((u, u), dtype)
        self.H = np.zeros((u, n_clusters), dtype)
        self.J = LowRank(np.zeros((u, 0), dtype), np.zeros(0), np.zeros((u, 0), dtype))
        self.counts = [operator.counts() for operator in operators]
        self.T = [
            (counts / operator.n_base_clusterings).astype(dtype)
            for counts, operator in zip(self.counts, operators, strict=True)
        ]
        self.R = [-T for T in self.T]
        self.norms = [self._norm(T) for T in self.T]
        self.wanted = options.view_weights or (1.0,) * len(operators)
        self.bound = positive_norm(*operators, weights=self.wanted)
        pairs = zip(self.wanted, operators, strict=True)
        self.view_bounds = [w * positive_norm(S) for w, S in pairs] if options.step == "paper" else []
        self.eta = 0.0
        self.shrink: Callable[[Array, float], LowRank] = SingularValueShrinker(rng)
        self._cut = AffinityCut(u, n_clusters, self.sizes, dtype, rng, normalized=options.laplacian == "normalized")

    def _blocks(self) -> Iterator[slice]:
        u, itemsize = self.Z.shape[0], self.Z.itemsize
        yield from row_blocks(u, max(8, BLOCK_BYTES // (u * itemsize)))

    def _norm(self, X: Array) -> float:
        """Return the Frobenius norm over all samples."""
        return float(np.sqrt(sum(self._squares(X[rows], rows) for rows in self._blocks())))

    def _squares(self, block: Array, rows: slice) -> float:
        if not self.merged:
            return float(np.vdot(block, block))
        return float(self.sizes[rows] @ (np.square(block) @ self.sizes))

    def iterate(self, mu: float, following: float) -> float:
        """Make one iteration and return the residual: the largest relative one of a view, or of all constraints."""
        self.update_low_rank_part(mu)
        self.update_affinity(self.gradient(), mu, following)
        old, self.H = self.H, self._cut.partition(self.Z)
        of_views = max(self._update_view(v, old, mu, following) for v in range(len(self.operators)))
        return of_views if self.options.stop == "views" else max(of_views, *self.constraint_gaps())

    def constraint_gaps(self) -> tuple[float, float]:
        """Return the largest entries of |Z - J| and of |Z1 - 1|."""
        left, right = self._low_rank_factors()
        apart = max(float(np.abs(self.Z[rows] - left[rows] @ right).max()) for rows in self._blocks())
        return apart, float(np.abs(self.Z @ self.sizes.astype(self.Z.dtype) - 1).max())

    def _low_rank_factors(self) -> tuple[Array, Array]:
        """Return J as a product, between groups of samples as Z is."""
        left = self.J.U * (self.J.values.astype(self.Z.dtype) / self.root[:, None])
        return left, np.ascontiguousarray((self.J.V / self.root[:, None]).T)

    def update_low_rank_part(self, mu: float) -> None:
        """J step: singular value threshold of Z + Λ/μ; leaves Z + Λ/μ - J in ``scaled_lambda``."""
        M = self.scaled_lambda
        M += self.Z
        tau = self.options.nuclear_weight / mu
        scaled = M
        if self.merged:
            scaled = self._room
            for rows in self._blocks():
                np.multiply(M[rows], self.root[rows, None], out=scaled[rows])
                scaled[rows] *= self.root
        self.J = self.shrink(scaled, tau)
        left, right = self._low_rank_factors()
        add_product(M, left, right, -1.0)

    def gradient(self) -> Array:
        """Return Σ_v w_v S_vᵀ (S_v Z + E_v - S_v - HHᵀ - Y_v/μ), the part of the gradient that costs products.

        ``R`` is used up: what is left of it is to be overwritten, as is the array returned.
        """
        total, spare = self._room, None
        for operator, R, weight in zip(self.operators, self.R, self.wanted, strict=True):
            part = operator.dot(R, out=total if spare is None else spare)
            if weight != 1:
                part *= weight
            if spare is not None:
                total += part
            spare = R
        return total

    def gradient_rows(self, total: Array, rows: slice, mu: float) -> Array:
        """Return rows of the gradient of the augmented Lagrangian in Z, divided by μ, in the place of those of total."""
        F = total[rows]
        F += self.scaled_lambda[rows]
        g = np.einsum("ij,ij->i", self.H, self.H)
        left = np.column_stack([g[rows], np.ones_like(g[rows]), self.H[rows]])
        right = np.vstack([np.ones_like(g), g, -2 * self.H.T])
        add_product(F, left, right, 0.5 / mu)  # P / (2μ)
        if self.options.simplex == "alm":
            F += (self.Z[rows] @ self.sizes.astype(F.dtype) - 1 + self.scaled_w[rows])[:, None]
        return np.asarray(F)

    def update_affinity(self, total: Array, mu: float, following: float) -> None:
        """Z step: one linearised, projected gradient step (eq. 11), and the multipliers of Z = J and Z1 = 1."""
        dtype = self.Z.dtype.type
        self.eta = self.step_constant()
        decay = dtype(mu / following)
        project = self.options.simplex == "project"
        weights = self.sizes if self.merged else None
        for rows in self._blocks():
            target = self.gradient_rows(total, rows, mu)
            target *= dtype(-1 / self.eta)
            target += self.Z[rows]
            new = project_rows(target, weights, self._levels[rows]) if project else np.maximum(target, 0)
            multiplier = self.scaled_lambda[rows]
            multiplier += new
            multiplier -= self.Z[rows]
            multiplier *= decay
            self.Z[rows] = new
        self.scaled_w = decay * (self.scaled_w + self.Z @ self.sizes.astype(self.Z.dtype) - 1)

    def step_constant(self) -> float:
        """Return η, a bound of the curvature of the smooth terms in Z."""
        row_sums = self.sizes.sum() if self.options.simplex == "alm" else 0.0
        if self.options.step == "tight":
            return float(STEP_MARGIN * self.bound + 1 + row_sums)
        return float(distance_norm(self.H, self.sizes) ** 2 + sum(self.view_bounds) + 1 + row_sums)

    def _update_view(self, v: int, old: Array, mu: float, following: float) -> float:
        """E step of a view with the old H, its multiplier with the new one; returns the relative residual."""
        operator, counts, T, R = self.operators[v], self.counts[v], self.T[v], self.R[v]
        dtype = self.Z.dtype.type
        tau, decay = dtype(self.options.noise_weight / mu), dtype(mu / following)
        share = dtype(1 / operator.n_base_clusterings)
        H = np.ascontiguousarray(self.H.T)
        both, change = np.hstack([self.H, old]), np.vstack([(1 + decay) * H, -decay * old.T])
        operator.dot(self.Z, out=R)  # S_v Z
        missed = 0.0
        for rows in self._blocks():
            # with T_v of before: the multiplier within its bounds, and S_v Z + E_v in the place of R_v
            clipped = T[rows] - R[rows]
            np.clip(clipped, -tau, tau, out=clipped)
            np.subtract(T[rows], clipped, out=R[rows])
            np.multiply(counts[rows], share, out=T[rows])  # S_v
            gap = T[rows] - R[rows]
            add_product(gap, self.H[rows], H)
            missed += self._squares(gap, rows)
            clipped *= decay
            T[rows] += clipped
            add_product(T[rows], both[rows], change)  # S_v + HHᵀ + Y_v/μ with the new H, Y_v and μ
            R[rows] -= T[rows]
        return float(np.sqrt(missed)) / self.norms[v]


def solve_mvec(
    state: MVECState,
    penalty: Penalty,
    *,
    tol: float,
    max_iter: int,
    labels_of: Callable[[MVECState], NDArray[np.int64]] | None = None,
) -> MVECResult:
    """Run the iterations until the residual is below ``tol``.

    Parameters
    ----------
    state : MVECState
        The start, which is updated in place.
    penalty : Penalty
        Schedule of the penalty.
    tol : float
        Residual that ends the iterations; see ``MVEC``.
    max_iter : int
        Most iterations.
    labels_of : callable, default=None
        Takes the state after an iteration and returns labels (n,), which the history then holds.

    Returns
    -------
    MVECResult
        Affinity, its low-rank part, partition and history.
    """
    labels: list[NDArray[np.int64]] = []

    def step(mu: float, following: float) -> float:
        residual = state.iterate(mu, following)
        if labels_of is not None:
            labels.append(labels_of(state))
        return residual

    history = augmented_lagrangian(step, penalty, tol=tol, max_iter=max_iter, min_iter=MIN_ITER)
    history = replace(history, labels=np.array(labels)) if labels else history
    if state.options.simplex == "alm":
        sums = state.Z @ state.sizes.astype(state.Z.dtype)
        state.Z /= np.where(sums > 0, sums, 1)[:, None]
    return MVECResult(state.Z, state.J, state.H, history)
