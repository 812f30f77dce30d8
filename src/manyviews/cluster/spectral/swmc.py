r"""SwMC: one graph near those of all views that has exactly k components, each view weighted by how near it is.

minimise :math:`\sum_v \|S - A_v\|_F` over S with rows on the simplex and :math:`\operatorname{rank}(L_S) = n - k`
(eq. 5 of the paper).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import eigh

from manyviews.graphs.laplacian import smallest_laplacian_vectors
from manyviews.linalg.simplex import project_segments
from manyviews.optim.alternating import alternate
from manyviews.optim.history import History

__all__ = ["ComponentGraph", "SwMCResult", "solve_swmc"]

Array = NDArray[np.float64]
RankRule = Literal["components", "released"]
# sums of eigenvalues below this count as zero in the released code
ZERO = 1e-10
# a view that equals the common graph would get an infinite weight
LEAST_DISTANCE = 1e-12


class ComponentGraph(NamedTuple):
    """Graph S on the support, embedding F (n, k), component of each sample, number of components, passes made."""

    S: sparse.csr_array
    F: Array
    components: NDArray[np.int64]
    n_components: int
    n_passes: int


class SwMCResult(NamedTuple):
    """Last search, weights α (V,), objective history."""

    graph: ComponentGraph
    alpha: Array
    history: History


def solve_swmc(
    graphs: Sequence[Any],
    k: int,
    *,
    alpha: Array | None = None,
    rank_rule: RankRule = "components",
    tol: float = 1e-8,
    max_iter: int = 50,
    max_passes: int = 50,
) -> SwMCResult:
    """Run the reweighted iterations.

    Parameters
    ----------
    graphs : sequence of CSR of shape (n, n)
        One symmetric, non-negative affinity per view; the common graph has no links that none of them has.
    k : int
        Number of components sought.
    alpha : ndarray of shape (V,), default=None
        Weights at the start; equal by default.
    rank_rule : {"components", "released"}, default="components"
        How the passes learn whether there are k components: by counting, or by sums of eigenvalues.
    tol : float, default=1e-8
        Relative change of the objective that ends the iterations.
    max_iter : int, default=50
        Most iterations.
    max_passes : int, default=50
        Most passes of a search, each with another rank penalty.

    Returns
    -------
    SwMCResult
        Result of the last search.
    """
    views = on_support(graphs)
    pattern, values = views
    start = np.full(len(graphs), 1 / len(graphs)) if alpha is None else alpha

    def step(state: tuple[Array, ComponentGraph | None]) -> tuple[tuple[Array, ComponentGraph | None], float]:
        alpha, found = state
        M = alpha @ values
        first = _with_data(pattern, M) if found is None else found.S
        found = component_graph(M, float(alpha.sum()), first, k, rank_rule=rank_rule, max_passes=max_passes)
        distances = np.maximum(np.linalg.norm(found.S.data - values, axis=1), LEAST_DISTANCE)
        return (0.5 / distances, found), float(distances.sum())

    (alpha, found), history = alternate(step, (start, None), tol=tol, max_iter=max_iter)
    assert found is not None
    return SwMCResult(found, alpha, history)


def on_support(graphs: Sequence[Any]) -> tuple[sparse.csr_array, Array]:
    """Return the union of the links of some graphs as CSR with sorted indices, and the links of each, (V, links)."""
    pattern = sparse.csr_array(sum(graphs))
    pattern.sort_indices()
    rows = np.repeat(np.arange(pattern.shape[0]), np.diff(pattern.indptr))
    return pattern, np.array([np.asarray(sparse.csr_array(graph)[rows, pattern.indices]).ravel() for graph in graphs])


def component_graph(
    M: Array,
    total: float,
    start: sparse.csr_array,
    k: int,
    *,
    rank_rule: RankRule = "components",
    max_passes: int = 50,
) -> ComponentGraph:
    """Seek the rank penalty that leaves k components.

    Parameters
    ----------
    M : ndarray of shape (links,)
        Weighted sum of the views' links.
    total : float
        Sum of the weights.
    start : CSR of shape (n, n)
        Graph whose eigenvectors the first pass uses.
    k : int
        Number of components.
    rank_rule : {"components", "released"}, default="components"
        See ``solve_swmc``.
    max_passes : int, default=50
        Most passes.

    Returns
    -------
    ComponentGraph
        Where no penalty gave k components, the graph of the last pass.
    """
    spectrum = _counted if rank_rule == "components" else _summed
    S, sizes = start, np.diff(start.indptr)
    rows = np.repeat(np.arange(S.shape[0]), sizes)
    F, components, _ = spectrum(_symmetric(S), k)
    penalty, passes = 1.0, 0
    for passes in range(1, max_passes + 1):  # noqa: B007 (read after the loop)
        gaps = np.square(F[rows] - F[S.indices]).sum(axis=1)
        S = _with_data(S, project_segments((M - 0.5 * penalty * gaps) / total, sizes))  # eq. 13
        new, components, sign = spectrum(_symmetric(S), k)
        if sign == 0:
            F = new
            break
        penalty, F = (2 * penalty, new) if sign < 0 else (penalty / 2, F)
    return ComponentGraph(S, F, components, int(components.max()) + 1, passes)


def _counted(A: sparse.csr_array, k: int) -> tuple[Array, NDArray[np.int64], int]:
    """Return eigenvectors, components, and whether these are too few (-1), k, or too many (1)."""
    F, components = smallest_laplacian_vectors(A, k)
    return F, components, int(np.sign(components.max() + 1 - k))


def _summed(A: sparse.csr_array, k: int) -> tuple[Array, NDArray[np.int64], int]:
    """Return the same, judged by the sums of the k and k + 1 smallest eigenvalues."""
    dense = A.toarray()
    values, vectors = eigh(np.diag(dense.sum(axis=0)) - dense, subset_by_index=[0, min(k, len(dense) - 1)])
    components = sparse.csgraph.connected_components(A, directed=False)[1]
    sign = -1 if values[:k].sum() > ZERO else int(values.sum() < ZERO and values.size > k)
    return vectors[:, :k], components, sign


def _symmetric(S: sparse.csr_array) -> sparse.csr_array:
    A = S.copy()
    A.setdiag(0.0)
    A = sparse.csr_array(0.5 * (A + A.T))
    A.eliminate_zeros()
    return A


def _with_data(pattern: sparse.csr_array, data: Array) -> sparse.csr_array:
    return sparse.csr_array((data, pattern.indices, pattern.indptr), shape=pattern.shape)
