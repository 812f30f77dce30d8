"""Simple multiple kernel k-means."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from manyviews.cluster.multiple_kernel.base import Array, WeightedKernels, cut_weights, simplex_minimum, uniform
from manyviews.kernels.kernel_set import KernelSet
from manyviews.optim.history import History
from manyviews.partition.spectral import SpectralPartition

__all__ = ["solve_smkkm"]

# part of the decrease promised by the slope that a step must bring, and how often it is halved for that
SUFFICIENT, HALVINGS = 1e-4, 30
# a promised decrease below this, relative to the objective, is rounding
NO_DECREASE = 1e-12


class Point(NamedTuple):
    """Weights, the objective there, its gradient and the partition that attains it."""

    gamma: Array
    objective: float
    gradient: Array
    partition: SpectralPartition


def solve_smkkm(kernels: KernelSet, k: int, *, tol: float = 1e-6, max_iter: int = 100) -> WeightedKernels:
    r"""Minimise the sum of the k largest eigenvalues of :math:`K_\gamma = \sum_p \gamma_p^2 K_p` over the simplex.

    The problem is convex and, where the k-th eigenvalue stands alone, smooth. Each step minimises a quadratic model of
    it over the simplex, whose curvature is learned from the gradients (BFGS), and is halved until the objective falls
    enough: a few eigenproblems in all.

    Parameters
    ----------
    kernels : KernelSet
        Centred kernels on one scale.
    k : int
        Number of clusters.
    tol : float, default=1e-6
        Largest change of a weight that ends the iterations.
    max_iter : int, default=100
        Most iterations.

    Returns
    -------
    WeightedKernels
        Weights and the partition there; the objective never rises.
    """
    point = evaluate(kernels, uniform(kernels), k)
    # the curvature if the partition stayed as it is
    B = np.diag(np.maximum(point.gradient / point.gamma, np.finfo(float).tiny))
    objective, converged = [point.objective], False
    for _ in range(max_iter):
        target = simplex_minimum(B, point.gradient - B @ point.gamma, least=0.0)
        direction = target - point.gamma
        promise = -float(point.gradient @ direction)
        if np.abs(direction).max() < tol or promise <= NO_DECREASE * point.objective:
            converged = True
            break
        following = _line_search(kernels, k, point, direction, promise)
        if following is None:  # at a kink, where eigenvalues cross: no step along the slope goes down
            converged = True
            break
        B = _updated(B, following.gamma - point.gamma, following.gradient - point.gradient)
        point = following
        objective.append(point.objective)
    history = History(np.array(objective), len(objective), converged)
    return WeightedKernels(point.gamma, point.gamma**2, point.partition, history)


def evaluate(kernels: KernelSet, gamma: Array, k: int) -> Point:
    """Return the objective at some weights: one eigenproblem."""
    partition = kernels.leading(gamma**2, k)
    gradient = 2.0 * gamma * kernels.traces(partition.vectors)
    return Point(gamma, float(partition.values.sum()), gradient, partition)


def _line_search(kernels: KernelSet, k: int, point: Point, direction: Array, promise: float) -> Point | None:
    step = 1.0
    for _ in range(HALVINGS):
        trial = evaluate(kernels, cut_weights(point.gamma + step * direction, 0.0), k)
        if trial.objective <= point.objective - SUFFICIENT * step * promise:
            return trial
        step /= 2.0
    return None


def _updated(B: Array, s: Array, y: Array) -> Array:
    """Return the BFGS update of a curvature, damped so that it stays positive definite."""
    Bs = B @ s
    sBs, sy = float(s @ Bs), float(s @ y)
    if sy < 0.2 * sBs:
        theta = 0.8 * sBs / (sBs - sy)
        y = theta * y + (1.0 - theta) * Bs
        sy = float(s @ y)
    return np.asarray(B - np.outer(Bs, Bs) / sBs + np.outer(y, y) / sy)
