r"""MVSC: spectral clustering of the weighted sum of the views' graphs between samples and anchors.

minimise :math:`\sum_v \alpha_v^r \operatorname{tr}(G^\top L_v G)` over :math:`G^\top G = I` and α in the simplex, with
:math:`G = [U; W] / \sqrt 2`, so that :math:`\operatorname{tr}(G^\top L_v G) = k - \operatorname{tr}(U^\top Z_v W)`
for the normalised graph :math:`Z_v` (n, p) of a view (eq. 11 of the paper).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import eigh

from manyviews.linalg.scaling import unit_rows
from manyviews.optim.alternating import alternate
from manyviews.optim.history import History

__all__ = ["BipartiteEmbedding", "MVSCResult", "bipartite_embedding", "neighbor_links", "normalize_columns", "solve_mvsc"]

Array = NDArray[np.float64]
WeightRule = Literal["paper", "released"]
# eigenvalues of ZᵀZ below this share of the largest are rounding
NEGLIGIBLE = 1e-10
# singular values that differ by less belong to one eigenspace: the graph has more than one component
SAME = 1e-8
LEAST = 1e-12


class BipartiteEmbedding(NamedTuple):
    """Singular vectors U (n, k) and W (p, k) of a graph, and their singular values (k,); zeros beyond its rank."""

    U: Array
    W: Array
    values: Array


class MVSCResult(NamedTuple):
    """Embedding of the weighted graph, weights α (V,), and the history."""

    embedding: BipartiteEmbedding
    alpha: Array
    history: History


def neighbor_links(squares: Array, n_neighbors: int, width: float) -> sparse.csr_array:
    r"""Link samples to their nearest anchors with weights :math:`\exp(-D_{ij} / 2 s^2)` that sum to 1.

    Parameters
    ----------
    squares : ndarray of shape (b, p)
        Squared distances D of samples to anchors.
    n_neighbors : int
        Links K of a sample, at most p; ties go to the anchor with the lower number.
    width : float
        s, the mean of all D in the training data (of squares, as in the released code).

    Returns
    -------
    CSR of shape (b, p)
        Rows of sum 1.
    """
    b, p = squares.shape
    K = min(n_neighbors, p)
    nearest = np.sort(np.argsort(squares, axis=1, kind="stable")[:, :K], axis=1)
    kept = np.take_along_axis(squares, nearest, axis=1)
    # a common factor of a row does not change its shares, and keeps them from underflowing
    weights = np.exp(-(kept - kept.min(axis=1, keepdims=True)) / width / (2.0 * width))
    weights /= weights.sum(axis=1, keepdims=True)
    return sparse.csr_array((weights.ravel(), nearest.ravel(), np.arange(b + 1) * K), shape=(b, p))


def normalize_columns(Z: sparse.csr_array, sums: Array) -> sparse.csr_array:
    """Divide columns by the roots of their sums: with rows of sum 1 the normalised graph."""
    return sparse.csr_array(Z @ sparse.diags_array(1.0 / np.maximum(np.sqrt(sums), LEAST)))


def bipartite_embedding(Z: sparse.csr_array, k: int) -> BipartiteEmbedding:
    """Return the singular vectors that tell clusters apart.

    The first ones are equal in all samples where the graph is connected, and left out; where it has several components
    the leading vectors tell these apart, and all are kept. They are also kept where there would be too few others.

    Parameters
    ----------
    Z : CSR of shape (n, p)
        Graph.
    k : int
        Number of vectors.

    Returns
    -------
    BipartiteEmbedding
        Singular values descend.
    """
    gram = sparse.csr_array(Z.T @ Z).toarray()
    count = min(k + 1, len(gram))
    values, W = eigh(gram, subset_by_index=[len(gram) - count, len(gram) - 1], check_finite=False)
    values, W = values[::-1], W[:, ::-1]
    rank = int(np.count_nonzero(values > NEGLIGIBLE * values[0]))
    values, W = np.sqrt(values[:rank]), W[:, :rank]
    connected = rank > 1 and values[1] < (1.0 - SAME) * values[0]
    first = int(connected and rank > k)
    values, W = values[first : first + k], W[:, first : first + k]
    U = np.asarray(Z @ W) / values
    missing = ((0, 0), (0, k - values.size))
    return BipartiteEmbedding(np.pad(U, missing), np.pad(W, missing), np.pad(values, missing[1]))


def solve_mvsc(
    graphs: Sequence[sparse.csr_array],
    k: int,
    *,
    exponent: float = 2.0,
    weight_rule: WeightRule = "paper",
    tol: float = 1e-6,
    max_iter: int = 50,
) -> MVSCResult:
    r"""Run the alternating updates.

    Parameters
    ----------
    graphs : sequence of CSR of shape (n, p)
        Normalised graph of each view.
    k : int
        Number of clusters.
    exponent : float, default=2.0
        Exponent r of the weights; not 1.
    weight_rule : {"paper", "released"}, default="paper"
        "paper": by the loss :math:`k - \operatorname{tr}(U^\top Z_v W)`. "released": by
        :math:`\operatorname{tr}(U^\top Z_v Z_v^\top U)` with unit rows of U, which gives agreeing views less weight.
    tol : float, default=1e-6
        Relative change of the objective that ends the iterations.
    max_iter : int, default=50
        Most iterations.

    Returns
    -------
    MVSCResult
        The embedding of the last graph, and the weights after it.
    """
    losses_of = _losses if weight_rule == "paper" else _released_losses

    def step(state: tuple[Array, BipartiteEmbedding | None]) -> tuple[tuple[Array, BipartiteEmbedding | None], float]:
        found = bipartite_embedding(weighted_graph(graphs, state[0], exponent), k)
        losses = losses_of(graphs, found)
        powers = (exponent * losses) ** (1.0 / (1.0 - exponent))
        alpha = powers / powers.sum()
        return (alpha, found), float(alpha**exponent @ losses)

    V = len(graphs)
    (alpha, found), history = alternate(step, (np.full(V, 1 / V), None), tol=tol, max_iter=max_iter)
    assert found is not None
    return MVSCResult(found, alpha, history)


def weighted_graph(graphs: Sequence[sparse.csr_array], alpha: Array, exponent: float) -> sparse.csr_array:
    """Return the sum of the graphs, weighted with powers of the weights."""
    return sparse.csr_array(sum(a * Z for a, Z in zip(alpha**exponent, graphs, strict=True)))


def _losses(graphs: Sequence[sparse.csr_array], found: BipartiteEmbedding) -> Array:
    k = found.values.size
    return np.array([max(k - np.vdot(found.U, Z @ found.W), LEAST) for Z in graphs])


def _released_losses(graphs: Sequence[sparse.csr_array], found: BipartiteEmbedding) -> Array:
    rows = unit_rows(found.U)
    return np.array([np.square(Z.T @ rows).sum() for Z in graphs])
