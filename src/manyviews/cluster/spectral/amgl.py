r"""AMGL: one embedding for the graphs of all views, each weighted by how well it fits, with nothing to set.

minimise :math:`\sum_v \sqrt{\operatorname{tr}(F^\top L_v F)}` over F with orthonormal columns (eq. 4 of the paper).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from manyviews.graphs.laplacian import normalized_adjacency
from manyviews.optim.alternating import alternate
from manyviews.optim.history import History
from manyviews.graphs.normalized_cut import _sparse_eigenpairs as leading_eigenpairs

__all__ = ["GraphFusion", "solve_amgl"]

Array = NDArray[np.float64]
# a view that k components fit without loss would get an infinite weight
LEAST_LOSS = 1e-12


class GraphFusion(NamedTuple):
    """Embedding F (n, k), weights α (V,), and the history."""

    F: Array
    alpha: Array
    history: History


def solve_amgl(graphs: Sequence[Any], k: int, *, tol: float = 1e-8, max_iter: int = 100) -> GraphFusion:
    r"""Run the reweighted iterations.

    Parameters
    ----------
    graphs : sequence of CSR of shape (n, n)
        One symmetric, non-negative affinity per view.
    k : int
        Number of clusters.
    tol : float, default=1e-8
        Relative change of the objective that ends the iterations.
    max_iter : int, default=100
        Most iterations.

    Returns
    -------
    GraphFusion
        The weights are :math:`1 / 2\sqrt{\operatorname{tr}(F^\top L_v F)}` (eq. 6), not normalised.
    """
    adjacencies = [normalized_adjacency(graph) for graph in graphs]

    def step(state: tuple[Array, Array]) -> tuple[tuple[Array, Array], float]:
        alpha, F = state
        F = leading_eigenpairs(sum(a * N for a, N in zip(alpha, adjacencies, strict=True)), k)[1]
        losses = np.array([k - np.einsum("ij,ij->", F, N @ F) for N in adjacencies])
        roots = np.sqrt(np.maximum(losses, LEAST_LOSS))
        return (0.5 / roots, F), float(roots.sum())

    V = len(graphs)
    (alpha, F), history = alternate(step, (np.full(V, 1 / V), None), tol=tol, max_iter=max_iter)
    return GraphFusion(F, alpha, history)
