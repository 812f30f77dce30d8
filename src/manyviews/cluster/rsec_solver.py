r"""The iterations of RSEC on one co-association matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from manyviews.linalg.eigen import leading_subspace, top_eigenpairs
from manyviews.linalg.shrinkage import LowRank, SingularValueShrinker, threshold_columns
from manyviews.optim.alm import Penalty, augmented_lagrangian
from manyviews.optim.history import History
from manyviews.partition.low_rank import powered_affinity_of

__all__ = ["RSECOptions", "RSECResult", "RSECState", "solve_rsec"]

Array = NDArray[Any]
DENSE_LIMIT = 300
SPARE_VECTORS = 6
SMALLEST_DEGREE = 1e-12


@dataclass(frozen=True)
class RSECOptions:
    """Weights λ₁ and λ₂ and which graph H is read from."""

    nuclear_weight: float = 0.1
    noise_weight: float = 0.01
    graph: Literal["released", "paper"] = "released"


class RSECResult(NamedTuple):
    """Affinity Z (n, n), its low-rank part J in factors, partition H (n, k) and history."""

    Z: Array
    J: LowRank
    H: Array
    history: History


class RSECState:
    """Variables of the iterations on a co-association matrix S (n, n), updated in place."""

    def __init__(self, S: Array, n_clusters: int, options: RSECOptions, rng: np.random.Generator) -> None:
        n = len(S)
        self.S, self.k, self.options = S, n_clusters, options
        values, Q = eigh(S, check_finite=False)
        self.norm = float(np.abs(values).max())
        self.inverse = (Q / (1 + values**2)) @ Q.T  # (SᵀS + I)⁻¹
        self.Z, self.E, self.Y1, self.Y2 = (np.zeros((n, n)) for _ in range(4))
        self.J = LowRank(np.zeros((n, 0)), np.zeros(0), np.zeros((n, 0)))
        self.H, self.degrees = np.zeros((n, n_clusters)), np.ones(n)
        self._shrink = SingularValueShrinker(rng, sweeps=2)
        self._start = rng.standard_normal((n, min(n, n_clusters + SPARE_VECTORS)))

    def iterate(self, mu: float, following: float) -> float:
        """Make one iteration and return the largest entry by which a constraint is missed."""
        self.J = self._shrink(self.Z + self.Y2 / mu, self.options.nuclear_weight / mu)
        J = (self.J.U * self.J.values) @ self.J.V.T
        scaled = self.H / np.sqrt(self.degrees)[:, None]
        right = self.S @ (self.S - self.E + self.Y1 / mu) + J + (scaled @ scaled.T - self.Y2) / mu
        self.Z = self.inverse @ right
        missed = self.S - self.S @ self.Z
        self.E = threshold_columns(missed + self.Y1 / mu, self.options.noise_weight / mu)
        self._update_partition()
        missed -= self.E
        gap = self.Z - J
        self.Y1 += mu * missed
        self.Y2 += mu * gap
        return float(max(np.abs(missed).max(), np.abs(gap).max()))

    def _update_partition(self) -> None:
        """H step: leading eigenvectors of the normalised graph of Z and HHᵀ."""
        A = (self.Z + self.Z.T) / 2 + self.H @ self.H.T
        if self.options.graph == "released":
            A = powered_affinity_of(A)
        self.degrees = np.maximum(A.sum(axis=1), SMALLEST_DEGREE)
        factor = 1 / np.sqrt(self.degrees)
        if len(A) <= DENSE_LIMIT:
            vectors = top_eigenpairs(factor[:, None] * A * factor, self.k)[1]
        else:
            self._start = leading_subspace(
                lambda X: factor[:, None] * (A @ (factor[:, None] * X)), self._start, self.k, tol=1e-8
            )[1]
            vectors = self._start[:, : self.k]
        self.H = factor[:, None] * vectors if self.options.graph == "released" else vectors


def solve_rsec(
    S: Array,
    n_clusters: int,
    *,
    options: RSECOptions,
    rng: np.random.Generator,
    growth: float = 1.1,
    tol: float = 1e-6,
    max_iter: int = 300,
) -> RSECResult:
    r"""Minimise :math:`\operatorname{tr}(H^\top L_Z H) + λ_1\|Z\|_* + λ_2\|E\|_{2,1}` subject to S = SZ + E, HᵀH = I.

    Parameters
    ----------
    S : ndarray of shape (n, n)
        Co-association matrix.
    n_clusters : int
        Columns of H.
    options : RSECOptions
        Weights and graph.
    rng : Generator
        Starts of partial decompositions.
    growth : float, default=1.1
        Growth of the penalty.
    tol : float, default=1e-6
        Largest entry of S - SZ - E and Z - J that ends the iterations.
    max_iter : int, default=300
        Most iterations.

    Returns
    -------
    RSECResult
        Affinity, partition, history of the residual.
    """
    state = RSECState(S, n_clusters, options, rng)
    penalty = Penalty(start=1.5 / state.norm, growth=growth)
    history = augmented_lagrangian(state.iterate, penalty, tol=tol, max_iter=max_iter)
    return RSECResult(state.Z, state.J, state.H, history)
