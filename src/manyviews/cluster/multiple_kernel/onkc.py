"""Optimal neighborhood kernel clustering with multiple kernels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh

from manyviews.cluster.multiple_kernel.base import Array, WeightedKernels, simplex_minimum, uniform
from manyviews.kernels.kernel_set import ExactKernels
from manyviews.linalg.eigen import fix_signs, top_eigenpairs
from manyviews.optim.alternating import alternate
from manyviews.partition.spectral import SpectralPartition

__all__ = ["solve_onkc"]

LEAST_WEIGHT = 1e-8
DENSE_LIMIT = 500


class Neighbourhood(NamedTuple):
    """The state: weights, and the eigenpairs of the neighbourhood kernel G, largest first."""

    gamma: Array
    values: Array
    vectors: Array

    @property
    def factor(self) -> Array:
        """The F (n, r) with G = F Fᵀ."""
        return np.asarray(self.vectors * np.sqrt(self.values))


def solve_onkc(
    kernels: ExactKernels,
    k: int,
    *,
    closeness: float = 1.0,
    regularization: float = 1.0,
    tol: float = 1e-4,
    max_iter: int = 50,
) -> tuple[WeightedKernels, Array]:
    r"""Minimise :math:`\operatorname{Tr}(G(I - HH^\top)) + \tfrac\rho2\|G - K_\gamma\|_F^2 + \tfrac\lambda2\gamma^\top M\gamma`.

    Parameters
    ----------
    kernels : ExactKernels
        Centred kernels on one scale.
    k : int
        Number of clusters.
    closeness : float, default=1
        The ρ > 0; raising it keeps G closer to the combined kernel, lowering it cuts the rank of G towards k.
    regularization : float, default=1
        The λ >= 0; raising it lets kernels that resemble others count less.
    tol : float, default=1e-4
        Relative change of the objective that ends the iterations.
    max_iter : int, default=50
        Most iterations.

    Returns
    -------
    result : WeightedKernels
        Weights and the leading eigenvectors of G; the objective never rises.
    factor : ndarray of shape (n, r)
        The F with G = F Fᵀ.
    """
    rho, lam = closeness, regularization
    M = kernels.products()

    def step(state: Neighbourhood) -> tuple[Neighbourhood, float]:
        H = state.vectors[:, :k]  # of the next iteration: G has been decomposed already
        gamma = simplex_minimum((rho + lam) * M, -rho * kernels.traces(state.factor), least=LEAST_WEIGHT)
        state = neighbourhood(kernels, gamma, H, rho)
        f = kernels.traces(state.factor)
        distance = np.square(state.values).sum() - 2.0 * f @ gamma + gamma @ M @ gamma
        held = np.square(state.factor.T @ H).sum()
        objective = state.values.sum() - held + 0.5 * rho * distance + 0.5 * lam * gamma @ M @ gamma
        return state, float(objective)

    gamma = uniform(kernels)
    state = neighbourhood(kernels, gamma, kernels.leading(gamma, k).vectors, rho)
    state, history = alternate(step, state, tol=tol, max_iter=max_iter)
    partition = SpectralPartition(state.values[:k], state.vectors[:, :k])
    return WeightedKernels(state.gamma, state.gamma, partition, history), state.factor


def neighbourhood(kernels: ExactKernels, gamma: Array, H: Array, rho: float) -> Neighbourhood:
    r"""Return the positive part of :math:`K_\gamma - (I - HH^\top)/\rho`.

    Its eigenvectors are those of :math:`K_\gamma + HH^\top/\rho` with an eigenvalue above 1/ρ, of which there are at
    least k: only these are computed.
    """
    S = kernels.combination(gamma)
    S += (H / rho) @ H.T
    values, vectors = eigenpairs_above(S, 1.0 / rho, H.shape[1])
    return Neighbourhood(gamma, np.maximum(values - 1.0 / rho, 0.0), vectors)


def eigenpairs_above(S: Array, threshold: float, least: int) -> tuple[Array, Array]:
    """Return the eigenpairs of a symmetric matrix above a threshold, largest first, and ``least`` of them at least."""
    n = len(S)
    count = min(n, 2 * least + 10)
    while n > DENSE_LIMIT and count <= n // 8:
        values, vectors = top_eigenpairs(S, count)
        if values[-1] <= threshold:
            keep = max(least, int(np.count_nonzero(values > threshold)))
            return values[:keep], vectors[:, :keep]
        count *= 2
    values, vectors = eigh(S, check_finite=False, driver="evd")
    keep = max(least, int(np.count_nonzero(values > threshold)))
    return values[: -keep - 1 : -1], fix_signs(vectors[:, : -keep - 1 : -1])
