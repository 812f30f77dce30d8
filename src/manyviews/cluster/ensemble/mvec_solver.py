r"""The iterations of MVEC, on samples whose equals have been merged.

minimise over H, Z, E: tr(Hᵀ L_Z H) + λ₁‖Z‖_* + λ₂ Σ_v ‖E_v‖₁, subject to HᵀH = I, S_v + HHᵀ = S_v Z + E_v for every
view, Z ≥ 0 and Z1 = 1 (eq. 3 of the paper), by the inexact augmented-Lagrangian method with the split Z = J.

Three arrays carry the state, Λ/μ and, per view, :math:`T_v = S_v + HH^\top + Y_v/μ` and
:math:`R_v = S_v Z + E_v - T_v`: the error and the multiplier follow from them, and each product with S_v is formed
once. A group of N equal samples is one row and column; its size enters the products, the norms, the nuclear norm
(through :math:`N^{1/2} Z N^{1/2}`) and the simplex.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from manyviews.linalg.blocks import row_blocks
from manyviews.linalg.eigen import leading_subspace, top_eigenpairs
from manyviews.linalg.shrinkage import LowRank, SingularValueShrinker, singular_value_threshold
from manyviews.linalg.simplex import project_rows
from manyviews.optim.alm import Penalty, augmented_lagrangian
from manyviews.optim.history import History
from manyviews.partitions.coassociation import Coassociation

__all__ = ["MVECOptions", "MVECResult", "MVECState", "solve_mvec"]

Array = NDArray[Any]
# a block of rows of this size stays in the cache while all steps pass over it
BLOCK_BYTES = 1 << 19
# with the small penalty of the first iterations J and E are 0, which says nothing about convergence
MIN_ITER = 5
DENSE_LIMIT = 64
SPARE_VECTORS = 6
# residuals of the eigenvectors: what is left at the end of one iteration is made up for in the next
EIGEN_TOL = {np.dtype(np.float32): 3e-5, np.dtype(np.float64): 1e-7}


@dataclass(frozen=True)
class MVECOptions:
    """Weights λ₁ and λ₂, the variants of the steps, and how far singular values and step sizes are trusted.

    ``svd="full"`` decomposes completely in every iteration; ``step_margin`` multiplies the Lipschitz constant, which
    ``step="paper"`` replaces by the larger constant of the paper.
    """

    nuclear_weight: float = 1.0
    noise_weight: float = 0.01
    simplex: Literal["project", "alm"] = "project"
    laplacian: Literal["normalized", "unnormalized"] = "normalized"
    step: Literal["tight", "paper"] = "tight"
    step_margin: float = 1.01
    svd: Literal["partial", "full"] = "partial"


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
        self.H = np.zeros((u, n_clusters), dtype)
        self.J = LowRank(np.zeros((u, 0), dtype), np.zeros(0), np.zeros((u, 0), dtype))
        self.counts = [operator.counts() for operator in operators]
        self.T = [(counts / operator.n_base_clusterings).astype(dtype) for counts, operator in self._with_counts()]
        self.R = [-T for T in self.T]
        self.norms = [self._norm(T) for T in self.T]
        self.bound = _gram_norm(operators)
        self.view_bounds = [_gram_norm([operator]) for operator in operators] if options.step == "paper" else []
        self.eta = 0.0
        self._shrink = SingularValueShrinker(rng)
        self._vectors = rng.standard_normal((u, min(u, n_clusters + SPARE_VECTORS))).astype(dtype)

    def _with_counts(self) -> Iterator[tuple[Array, Coassociation]]:
        yield from zip(self.counts, self.operators, strict=True)

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
        """Make one iteration and return the largest relative residual of a view."""
        self.update_low_rank_part(mu)
        self.update_affinity(self.gradient(), mu, following)
        old, self.H = self.H, self.updated_partition()
        return max(self._update_view(v, old, mu, following) for v in range(len(self.operators)))

    def update_low_rank_part(self, mu: float) -> None:
        """J step: singular value threshold of Z + Λ/μ; leaves Z + Λ/μ - J in ``scaled_lambda``."""
        M = self.scaled_lambda
        M += self.Z
        tau = self.options.nuclear_weight / mu
        scaled = M * self.root[:, None] * self.root if self.merged else M
        shrink = self._shrink if self.options.svd == "partial" else singular_value_threshold
        self.J = shrink(scaled, tau)
        if self.J.values.size:
            left = self.J.U * (self.J.values.astype(M.dtype) / self.root[:, None])
            right = (self.J.V / self.root[:, None]).T
            for rows in self._blocks():
                M[rows] -= left[rows] @ right

    def gradient(self) -> Array:
        """Return Σ_v S_vᵀ (S_v Z + E_v - S_v - HHᵀ - Y_v/μ), the part of the gradient that costs products."""
        total = self.operators[0].dot(self.R[0])
        for operator, R in zip(self.operators[1:], self.R[1:], strict=True):
            total += operator.dot(R)
        return np.asarray(total)

    def gradient_rows(self, total: Array, rows: slice, mu: float) -> Array:
        """Return rows of the gradient of the augmented Lagrangian in Z, divided by μ."""
        squares = np.einsum("ij,ij->i", self.H, self.H)
        F = self.H[rows] @ (self.H.T * self.Z.dtype.type(-1 / mu))
        F += (squares[rows, None] + squares) * self.Z.dtype.type(0.5 / mu)  # F = P / (2μ)
        F += total[rows]
        F += self.scaled_lambda[rows]
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
            new = project_rows(target, weights) if project else np.maximum(target, 0)
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
            return float(self.options.step_margin * self.bound + 1 + row_sums)
        return float(_distance_norm(self.H, self.sizes) ** 2 + sum(self.view_bounds) + 1 + row_sums)

    def updated_partition(self) -> Array:
        """H step: eigenvectors of the smallest eigenvalues of the Laplacian of (Z + Zᵀ)/2."""
        weights = self.sizes.astype(self.Z.dtype)
        degrees = (self.Z @ weights + self.Z.T @ weights) / 2
        normalized = self.options.laplacian == "normalized"
        if normalized:
            factor = self.root / np.sqrt(np.where(degrees > 0, degrees, 1))
            shift = np.zeros_like(degrees)
        else:
            factor, shift = self.root, 2 * degrees.max() - degrees
        u = self.Z.shape[0]
        if u <= DENSE_LIMIT:
            W = factor[:, None] * (self.Z + self.Z.T) / 2 * factor + np.diag(shift)
            vectors = top_eigenpairs(W, self.k)[1]
            return np.asarray(vectors / self.root[:, None], dtype=self.Z.dtype)

        def apply(X: Array) -> Array:
            Y = factor[:, None] * X
            return np.asarray(factor[:, None] * (self.Z @ Y + self.Z.T @ Y) / 2 + shift[:, None] * X)

        self._vectors = leading_subspace(apply, self._vectors, self.k, tol=EIGEN_TOL[self.Z.dtype])[1]
        return np.asarray(self._vectors[:, : self.k] / self.root[:, None])

    def _update_view(self, v: int, old: Array, mu: float, following: float) -> float:
        """E step of a view with the old H, its multiplier with the new one; returns the relative residual."""
        operator, counts, T, R = self.operators[v], self.counts[v], self.T[v], self.R[v]
        dtype = self.Z.dtype.type
        tau, decay = dtype(self.options.noise_weight / mu), dtype(mu / following)
        right = np.hstack([(1 + decay) * self.H, -decay * old]).T
        both = np.hstack([self.H, old])
        operator.dot(self.Z, out=R)  # S_v Z
        missed = 0.0
        for rows in self._blocks():
            clipped = np.clip(T[rows] - R[rows], -tau, tau)
            fitted = T[rows] - clipped  # S_v Z + E_v
            S = counts[rows] * dtype(1 / operator.n_base_clusterings)
            missed += self._squares(S + self.H[rows] @ self.H.T - fitted, rows)
            clipped *= decay
            clipped += S
            clipped += both[rows] @ right  # S_v + HHᵀ + Y_v/μ with the new H, Y_v and μ
            T[rows] = clipped
            np.subtract(fitted, clipped, out=R[rows])
        return float(np.sqrt(missed)) / self.norms[v]


def solve_mvec(
    operators: list[Coassociation],
    n_clusters: int,
    *,
    options: MVECOptions,
    penalty: Penalty,
    tol: float,
    max_iter: int,
    rng: np.random.Generator,
) -> MVECResult:
    """Run the iterations until the constraints of all views hold to ``tol``, relative to the norm of S_v."""
    state = MVECState(operators, n_clusters, options, rng)
    history = augmented_lagrangian(state.iterate, penalty, tol=tol, max_iter=max_iter, min_iter=MIN_ITER)
    if options.simplex == "alm":
        sums = state.Z @ state.sizes.astype(state.Z.dtype)
        state.Z /= np.where(sums > 0, sums, 1)[:, None]
    return MVECResult(state.Z, state.J, state.H, history)


def _gram_norm(operators: list[Coassociation]) -> float:
    """Return the largest eigenvalue of Σ S_vᵀ S_v by power iteration; its eigenvector is positive."""
    x = np.ones((operators[0].shape[0], 1), operators[0].dtype)
    norm = 0.0
    for _ in range(1000):
        y = sum(operator.dot(operator.dot(x)) for operator in operators)
        last, norm = norm, float(np.abs(y).max())
        if norm == 0.0 or abs(norm - last) <= np.finfo(x.dtype).eps * norm:
            break
        x = np.asarray(y / x.dtype.type(norm))
    return norm


def _distance_norm(H: Array, sizes: Array) -> float:
    """Return the spectral norm of P = g1ᵀ + 1gᵀ - 2HHᵀ, from its factors."""
    g = np.einsum("ij,ij->i", H, H)
    root = np.sqrt(sizes)
    left = np.column_stack([g, np.ones_like(g), H]) * root[:, None]
    right = np.column_stack([np.ones_like(g), g, -2 * H]) * root[:, None]
    upper = np.linalg.qr(left)[1] @ np.linalg.qr(right)[1].T
    return float(np.linalg.norm(upper, 2))
