"""Robust multiple kernel k-means by min-max optimization."""

from __future__ import annotations

import numpy as np

from manyviews.cluster.multiple_kernel.base import Array, WeightedKernels, residual_traces, uniform
from manyviews.kernels.kernel_set import KernelSet
from manyviews.optim.history import History

__all__ = ["solve_mkkm_mm"]

# steps that the change of the weights may fail to shrink before answers are averaged with the weights before
PATIENCE = 3


def solve_mkkm_mm(
    kernels: KernelSet, k: int, *, tol: float = 1e-6, max_iter: int = 100
) -> tuple[WeightedKernels, Array]:
    r"""Solve :math:`\min_H \max_\theta \operatorname{Tr}(K_\theta (I - HH^\top))` over :math:`\|\theta\|_2 \le 1`.

    Parameters
    ----------
    kernels : KernelSet
        Centred kernels on one scale.
    k : int
        Number of clusters.
    tol : float, default=1e-6
        Change of the weights that ends the iterations.
    max_iter : int, default=100
        Most iterations.

    Returns
    -------
    result : WeightedKernels
        Weights of Euclidean length 1 and the partition at these weights.
    trace : ndarray of shape (n_iter, m)
        Weights of each iteration, the equal ones first.
    """
    theta = uniform(kernels)
    partition = kernels.leading(theta, k)
    trace, objective, changes = [theta], [], [np.inf]
    damped = converged = False
    for _ in range(1, max_iter):
        w = residual_traces(kernels, partition.vectors)
        objective.append(float(theta @ w))
        length = np.linalg.norm(w)
        if length == 0.0:  # H holds every kernel: all weights are as good
            converged = True
            break
        answer = w / length
        if damped:
            answer = theta / np.linalg.norm(theta) + answer
            answer /= np.linalg.norm(answer)
        changes.append(float(np.linalg.norm(answer - theta)))
        theta = answer
        partition = kernels.leading(theta, k)
        trace.append(theta)
        if changes[-1] < tol:
            converged = True
            break
        damped = damped or _stuck(changes)
    objective.append(float(theta @ residual_traces(kernels, partition.vectors)))
    history = History(np.array(objective), len(objective), converged)
    return WeightedKernels(theta, theta, partition, history), np.array(trace)


def _stuck(changes: list[float]) -> bool:
    """Tell whether best answers go round in a circle: the change has not fallen for some steps."""
    return len(changes) > 2 * PATIENCE and min(changes[-PATIENCE:]) >= min(changes[:-PATIENCE])
