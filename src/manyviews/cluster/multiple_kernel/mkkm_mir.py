"""Multiple kernel k-means with matrix-induced regularization."""

from __future__ import annotations

from typing import Literal

import numpy as np

from manyviews.cluster.multiple_kernel.base import Array, WeightedKernels, residual_traces, settle, simplex_minimum
from manyviews.kernels.kernel_set import KernelSet

__all__ = ["Combination", "solve_mkkm_mir"]

Combination = Literal["paper", "released"]
# power of the weights with which the kernels are combined for the partition
POWER = {"paper": 2.0, "released": 1.0}
LEAST_WEIGHT = 1e-6


def solve_mkkm_mir(
    kernels: KernelSet,
    k: int,
    *,
    regularization: float = 0.5,
    products: Array | None = None,
    combination: Combination = "paper",
    tol: float = 1e-6,
    max_iter: int = 100,
) -> WeightedKernels:
    r"""Minimise :math:`\operatorname{Tr}(K_\gamma (I - HH^\top)) + \tfrac\lambda2 \gamma^\top M \gamma`.

    Parameters
    ----------
    kernels : KernelSet
        Centred kernels on one scale.
    k : int
        Number of clusters.
    regularization : float, default=0.5
        The λ >= 0; raising it lets kernels that resemble others count less.
    products : ndarray of shape (m, m), default=None
        The matrix M; by default :math:`\operatorname{Tr}(K_p K_q)`.
    combination : {"paper", "released"}, default="paper"
        Squared weights in the combination whose eigenvectors are taken, or plain ones.
    tol : float, default=1e-6
        Relative change of the objective that ends the iterations.
    max_iter : int, default=100
        Most iterations.

    Returns
    -------
    WeightedKernels
        Weights, the partition at these weights, and the objective before each update of the weights, as the released
        code records it; with squared weights it never rises.
    """
    penalty = regularization * (kernels.products() if products is None else products)
    power = POWER[combination]

    def step(gamma: Array) -> tuple[Array, float]:
        H = kernels.leading(gamma**power, k).vectors
        A = penalty + 2.0 * np.diag(residual_traces(kernels, H))
        objective = 0.5 * float(gamma @ A @ gamma)
        return simplex_minimum(A, np.zeros(len(A)), least=LEAST_WEIGHT), objective

    return settle(kernels, k, step, power=power, tol=tol, max_iter=max_iter)
