"""Localized multiple kernel k-means."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from manyviews.cluster.multiple_kernel.base import Array
from manyviews.kernels.kernel_set import ExactKernels, leading_partition
from manyviews.linalg.scaling import row_blocks
from manyviews.linalg.simplex import project_rows
from manyviews.optim.alternating import alternate
from manyviews.optim.history import History
from manyviews.partition.spectral import SpectralPartition

__all__ = ["LocalWeights", "solve_lmkkm"]

MAX_INNER = 500


class LocalWeights(NamedTuple):
    """What the solver finds: weights (n, m) of each sample, the partition at these weights, the history."""

    theta: Array
    partition: SpectralPartition
    history: History


def solve_lmkkm(
    kernels: ExactKernels, k: int, *, tol: float = 1e-4, max_iter: int = 50, inner_tol: float = 1e-8
) -> LocalWeights:
    r"""Minimise :math:`\operatorname{Tr}(K_\Theta (I - HH^\top))`, :math:`K_\Theta = \sum_p (\theta_p\theta_p^\top) \circ K_p`.

    Parameters
    ----------
    kernels : ExactKernels
        Centred kernels on one scale.
    k : int
        Number of clusters.
    tol : float, default=1e-4
        Relative change of the objective that ends the iterations.
    max_iter : int, default=50
        Most iterations.
    inner_tol : float, default=1e-8
        Largest change of a weight that ends the steps on the weights within an iteration.

    Returns
    -------
    LocalWeights
        Weights of every sample, rows of sum 1; the objective never rises.
    """
    n = len(kernels.kernels[0])
    # no eigenvalue of a kernel masked by a projector is above its largest diagonal entry
    bound = max(float(K.diagonal().max()) for K in kernels.kernels)

    def step(theta: Array) -> tuple[Array, float]:
        H = leading_partition(localized(kernels, theta), k).vectors
        theta = _weights_step(kernels, H, theta, 0.5 / bound, inner_tol)
        return theta, float(np.vdot(theta, _products(kernels, H, theta)))

    theta, history = alternate(step, np.full((n, len(kernels)), 1.0 / len(kernels)), tol=tol, max_iter=max_iter)
    return LocalWeights(theta, leading_partition(localized(kernels, theta), k), history)


def localized(kernels: ExactKernels, theta: Array) -> Array:
    """Return the kernel of locally weighted samples, (n, n)."""
    total = np.zeros_like(kernels.kernels[0])
    for rows in row_blocks(len(total), 64):
        for K, weights in zip(kernels.kernels, theta.T, strict=True):
            block = K[rows] * weights
            block *= weights[rows, None]
            total[rows] += block
    return total


def _weights_step(kernels: ExactKernels, H: Array, theta: Array, step: float, tol: float) -> Array:
    """Minimise over the weights for a fixed partition: accelerated projected gradient, restarted where it overshoots."""
    ahead, momentum = theta, 1.0
    for _ in range(MAX_INNER):
        gradient = 2.0 * _products(kernels, H, ahead)
        following = project_rows(ahead - step * gradient)
        change = following - theta
        largest = float(np.abs(change).max())
        if np.vdot(ahead - following, change) > 0.0:
            momentum = 1.0
        later = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum**2))
        ahead = following + (momentum - 1.0) / later * change
        theta, momentum = following, later
        if largest < tol:
            break
    return theta


def _products(kernels: ExactKernels, H: Array, theta: Array) -> Array:
    r"""Return :math:`((I - HH^\top) \circ K_p)\,\theta_p` as columns (n, m), without forming a masked kernel."""
    columns = []
    for K, weights in zip(kernels.kernels, theta.T, strict=True):
        # the identity keeps the diagonal of the kernel alone
        columns.append(K.diagonal() * weights - np.einsum("ij,ij->i", H, K @ (H * weights[:, None])))
    return np.column_stack(columns)
