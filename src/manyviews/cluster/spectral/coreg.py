r"""Co-regularised spectral clustering: an embedding per view, each pulled towards those of the others.

Pairwise: maximise :math:`\sum_v \operatorname{tr}(U_v^\top L_v U_v) + \lambda \sum_{v<w} \|U_v^\top U_w\|_F^2`;
centroid: maximise :math:`\sum_v \operatorname{tr}(U_v^\top L_v U_v) + \lambda \sum_v \|U_v^\top U_*\|_F^2`, over
matrices with orthonormal columns. :math:`L_v = D_v^{-1/2} K_v D_v^{-1/2}`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manyviews.linalg.eigen import DENSE_LIMIT, fix_signs, leading_subspace, top_eigenpairs
from manyviews.optim.alternating import alternate
from manyviews.optim.history import History
from manyviews.kernels.embedding import common_projection

__all__ = ["CoRegularized", "solve_coreg"]

Array = NDArray[np.float64]
Scheme = Literal["pairwise", "centroid"]
SPARE_VECTORS = 6
EIGEN_TOL = 1e-7


class CoRegularized(NamedTuple):
    """Embedding of each view U (n, k), with "centroid" their common one (n, k), and the history."""

    U: list[Array]
    centroid: Array | None
    history: History


def solve_coreg(
    adjacencies: Sequence[Any],
    k: int,
    *,
    scheme: Scheme = "pairwise",
    coupling: float = 0.05,
    tol: float = 1e-6,
    max_iter: int = 10,
) -> CoRegularized:
    """Run the sweeps; each step is the best for what it changes, so that the objective never falls.

    Parameters
    ----------
    adjacencies : sequence of (n, n) arrays, dense or CSR
        Normalised graph of each view.
    k : int
        Number of clusters.
    scheme : {"pairwise", "centroid"}, default="pairwise"
        Whether views are pulled towards one another, in the order 2, ..., V, 1, or towards a common embedding.
    coupling : float, default=0.05
        Weight λ of the agreement.
    tol : float, default=1e-6
        Relative change of the objective that ends the sweeps.
    max_iter : int, default=10
        Most sweeps.

    Returns
    -------
    CoRegularized
        The common embedding is that of the last embeddings of the views.
    """
    sweep = _pairwise_sweep if scheme == "pairwise" else _centroid_sweep
    blocks = [_leading(N, [], 0.0, k, None) for N in adjacencies]
    found, history = alternate(
        lambda blocks: sweep(adjacencies, blocks, k, coupling), blocks, tol=tol, max_iter=max_iter
    )
    U = [block[:, :k] for block in found]
    return CoRegularized(U, common_embedding(U, k) if scheme == "centroid" else None, history)


def common_embedding(U: Sequence[Array], k: int) -> Array:
    """Return the leading eigenvectors of the sum of the projections onto some embeddings (n, k)."""
    stacked = np.hstack(list(U))
    return np.asarray(stacked @ common_projection(stacked, k))


def _pairwise_sweep(
    adjacencies: Sequence[Any], blocks: list[Array], k: int, coupling: float
) -> tuple[list[Array], float]:
    V, blocks = len(blocks), list(blocks)
    for v in [*range(1, V), 0]:
        others = [blocks[w][:, :k] for w in range(V) if w != v]
        blocks[v] = _leading(adjacencies[v], others, coupling, k, blocks[v])
    U = [block[:, :k] for block in blocks]
    agreement = sum(_overlap(U[v], U[w]) for v in range(V) for w in range(v))
    return blocks, _fit(adjacencies, U) + coupling * agreement


def _centroid_sweep(
    adjacencies: Sequence[Any], blocks: list[Array], k: int, coupling: float
) -> tuple[list[Array], float]:
    common = common_embedding([block[:, :k] for block in blocks], k)
    blocks = [_leading(N, [common], coupling, k, block) for N, block in zip(adjacencies, blocks, strict=True)]
    U = [block[:, :k] for block in blocks]
    return blocks, _fit(adjacencies, U) + coupling * sum(_overlap(u, common) for u in U)


def _fit(adjacencies: Sequence[Any], U: list[Array]) -> float:
    return float(sum(np.vdot(u, N @ u) for N, u in zip(adjacencies, U, strict=True)))


def _overlap(A: Array, B: Array) -> float:
    return float(np.square(A.T @ B).sum())


def _leading(N: Any, others: list[Array], coupling: float, k: int, start: Array | None) -> Array:
    r"""Return the leading eigenvectors of :math:`N + λ \sum_w U_w U_w^\top`, some more than k as the next start."""
    n = N.shape[0]
    width = k + SPARE_VECTORS
    if n <= DENSE_LIMIT or width > n // 4:
        full = N.toarray() if sparse.issparse(N) else N
        for other in others:
            full = full + coupling * (other @ other.T)
        return top_eigenpairs(full, k)[1]
    if start is None:
        start = np.random.default_rng(0).standard_normal((n, width))

    def apply(X: Array) -> Array:
        Y = N @ X
        for other in others:
            Y += coupling * (other @ (other.T @ X))
        return np.asarray(Y)

    return fix_signs(leading_subspace(apply, start, k, tol=EIGEN_TOL)[1])
