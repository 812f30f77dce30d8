"""Multiple kernel k-means."""

from __future__ import annotations

import numpy as np

from manyviews.cluster.multiple_kernel.base import Array, WeightedKernels, residual_traces, settle
from manyviews.kernels.kernel_set import KernelSet

__all__ = ["solve_mkkm"]

# a kernel whose trace is held by H but for this part would get all the weight
LEAST_RESIDUAL = 1e-12


def solve_mkkm(
    kernels: KernelSet, k: int, *, exponent: float = 2.0, tol: float = 1e-6, max_iter: int = 100
) -> WeightedKernels:
    r"""Minimise :math:`\operatorname{Tr}(K_\gamma (I - HH^\top))` with :math:`K_\gamma = \sum_p \gamma_p^q K_p`.

    Parameters
    ----------
    kernels : KernelSet
        Centred kernels on one scale.
    k : int
        Number of clusters.
    exponent : float, default=2
        The q > 1; raising it makes the weights more equal.
    tol : float, default=1e-6
        Relative change of the objective that ends the iterations.
    max_iter : int, default=100
        Most iterations.

    Returns
    -------
    WeightedKernels
        Weights and the partition at these weights; the objective never rises.
    """
    floor = LEAST_RESIDUAL * kernels.own_traces

    def step(gamma: Array) -> tuple[Array, float]:
        H = kernels.leading(gamma**exponent, k).vectors
        a = np.maximum(residual_traces(kernels, H), floor)
        gamma = (a.min() / a) ** (1.0 / (exponent - 1.0))
        gamma /= gamma.sum()
        gamma[gamma < np.finfo(float).eps] = 0.0
        gamma /= gamma.sum()
        return gamma, float(gamma**exponent @ a)

    return settle(kernels, k, step, power=exponent, tol=tol, max_iter=max_iter)
