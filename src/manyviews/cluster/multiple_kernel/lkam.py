"""Multiple kernel clustering with local kernel alignment maximization."""

from __future__ import annotations

import numpy as np

from manyviews.cluster.multiple_kernel.base import Array, WeightedKernels, uniform
from manyviews.cluster.multiple_kernel.mkkm_mir import Combination, solve_mkkm_mir
from manyviews.kernels.kernel_set import ExactKernels
from manyviews.linalg.scaling import row_blocks

__all__ = ["local_kernels", "neighbourhood_counts", "solve_lkam"]


def solve_lkam(
    kernels: ExactKernels,
    k: int,
    *,
    neighbourhood: float = 0.1,
    regularization: float = 1.0,
    include_self: bool = True,
    combination: Combination = "paper",
    tol: float = 1e-6,
    max_iter: int = 50,
) -> WeightedKernels:
    r"""Align each kernel with the partition on the neighbourhoods of the samples alone.

    Parameters
    ----------
    kernels : ExactKernels
        Centred kernels on one scale; their arrays are overwritten.
    k : int
        Number of clusters.
    neighbourhood : float, default=0.1
        The τ: part of the samples that make a neighbourhood; 1 with ``include_self`` is MKKM-MiR.
    regularization : float, default=1
        The λ >= 0; raising it lets kernels that resemble others count less.
    include_self : bool, default=True
        Whether a sample belongs to its own neighbourhood; False as released.
    combination : {"paper", "released"}, default="paper"
        Squared weights in the combination whose eigenvectors are taken, or plain ones.
    tol : float, default=1e-6
        Relative change of the objective that ends the iterations.
    max_iter : int, default=50
        Most iterations.

    Returns
    -------
    WeightedKernels
        As ``solve_mkkm_mir``, of which this is the case of masked kernels.
    """
    average = kernels.combination(uniform(kernels))
    A = neighbourhood_counts(average, neighbourhood, include_self=include_self)
    del average
    local, products = local_kernels(kernels, A)
    del A
    return solve_mkkm_mir(
        local,
        k,
        regularization=regularization,
        products=products,
        combination=combination,
        tol=tol,
        max_iter=max_iter,
    )


def neighbourhood_counts(average: Array, tau: float, *, include_self: bool) -> Array:
    """Return how many neighbourhoods hold both samples, (n, n).

    The neighbourhood of a sample are the τ n samples most similar to it, the first of equal ones.
    """
    n = len(average)
    size = min(int(np.floor(tau * n + 0.5)), n - 1)
    # counts below 2^24 are exact in single precision, and products of rows fast
    N = np.zeros((n, n), dtype=np.float32)
    for rows in row_blocks(n, 256):
        block = -average[rows]
        own = np.arange(rows.start, rows.stop)
        block[np.arange(len(own)), own] = np.inf
        nearest = np.argsort(block, axis=1, kind="stable")[:, :size]
        np.put_along_axis(N[rows], nearest, 1.0, axis=1)
        if include_self:
            N[own, own] = 1.0
    return N.T @ N


def local_kernels(kernels: ExactKernels, A: Array) -> tuple[ExactKernels, Array]:
    r"""Return the kernels masked to :math:`A \circ K_p / n`, in place, and the products that regularise their weights.

    These are the means over the neighbourhoods, and of the products of kernels within them:
    :math:`\bar M_{pq} = \frac1n \sum_{ab} A_{ab} K_p(a,b) K_q(a,b)`.
    """
    n, m = len(A), len(kernels)
    M = np.zeros((m, m))
    for rows in row_blocks(n, 64):
        for p, K in enumerate(kernels.kernels):
            masked = A[rows] * K[rows]
            for q in range(p, m):
                M[p, q] += np.vdot(masked, kernels.kernels[q][rows])
            # needed no more: products with the kernels before p are done
            K[rows] = masked / n
    M = np.triu(M) + np.triu(M, 1).T
    return ExactKernels(kernels.kernels), M / n
