"""What the multiple-kernel methods share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyviews.kernels.kernel_set import KernelSet
from manyviews.linalg.simplex_qp import solve_simplex_qp
from manyviews.optim.alternating import alternate
from manyviews.optim.history import History
from manyviews.partition.spectral import SpectralPartition

__all__ = ["WeightedKernels", "cut_weights", "residual_traces", "settle", "simplex_minimum", "uniform"]

Array = NDArray[Any]


@dataclass(frozen=True)
class WeightedKernels:
    """What a solver finds.

    Attributes
    ----------
    weights : ndarray of shape (m,)
        Weights of the kernels.
    mixture : ndarray of shape (m,)
        What the kernels are multiplied with in the combination: the weights to some power.
    partition : SpectralPartition
        Leading eigenvalues and vectors of the combination.
    history : History
        The objective.
    """

    weights: Array
    mixture: Array
    partition: SpectralPartition
    history: History


def uniform(kernels: KernelSet) -> Array:
    """Return equal weights (m,)."""
    return np.full(len(kernels), 1.0 / len(kernels))


def residual_traces(kernels: KernelSet, H: Array) -> Array:
    r"""Return what each kernel keeps beside H, :math:`\operatorname{Tr} K_p - \operatorname{Tr}(H^\top K_p H) >= 0`."""
    return np.maximum(kernels.own_traces - kernels.traces(H), 0.0)


def cut_weights(gamma: Array, least: float) -> Array:
    """Return weights of sum 1 with those below ``least`` set to 0."""
    gamma = np.where(gamma < least, 0.0, gamma)
    return np.asarray(gamma / gamma.sum())


def simplex_minimum(A: Array, f: Array, *, least: float) -> Array:
    r"""Return the minimiser of :math:`\tfrac12 \gamma^\top A \gamma + f^\top \gamma` on the simplex, cut at ``least``.

    The program is brought to scale 1 first: products of kernels grow with n².
    """
    scale = max(float(np.abs(A).max()), np.finfo(float).tiny)
    return cut_weights(solve_simplex_qp(A / scale, f[None] / scale)[0], least)


def settle(
    kernels: KernelSet,
    k: int,
    step: Callable[[Array], tuple[Array, float]],
    *,
    power: float,
    tol: float,
    max_iter: int,
) -> WeightedKernels:
    """Repeat a step on the weights from equal ones, then take the partition that belongs to the last of them."""
    gamma, history = alternate(step, uniform(kernels), tol=tol, max_iter=max_iter)
    mixture = gamma**power
    return WeightedKernels(gamma, mixture, kernels.leading(mixture, k), history)
