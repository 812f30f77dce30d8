r"""Bipartite graph with a given number of connected components, as close as possible to a given one.

minimise :math:`\|P - B\|_F^2 + \gamma \operatorname{Tr}(F^\top \tilde L F)` over nonnegative P and
:math:`F^\top F = I_c`, where :math:`\tilde L` is the normalised Laplacian of the graph of n samples and m anchors and
:math:`\gamma` is raised until the Laplacian has exactly c eigenvalues 0, that is, until the graph has c components.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manyviews.graphs.components import bipartite_components
from manyviews.linalg.blocks import row_blocks
from manyviews.linalg.eigen import all_eigenpairs
from manyviews.linalg.simplex import project_segments

__all__ = [
    "FIRST_SCALES",
    "Embedding",
    "FirstScales",
    "Links",
    "PenaltySearch",
    "Projection",
    "RankGraph",
    "RankRule",
    "Support",
    "allowed_links",
    "graph_gram",
    "inverse_roots",
    "leading_directions_of",
    "normalised_graph",
    "penalised",
    "rank_constrained_graph",
    "search_graph",
    "too_few",
]

Array = NDArray[np.float64]
Projection = Literal["both", "rows"]
RankRule = Literal["paper", "released"]
Support = Literal["linked", "full"]
FirstScales = Literal["constant", "degrees"]
FIRST_GAMMA = 0.1
# scalings of samples and anchors in the first pass of the released code, in place of degrees
FIRST_SCALES = (1.0, 10.0)
RANK_TOL = 1e-7
SMALLEST_EIGENVALUE = 1e-12
NARROW_BRACKET = 1.02
DENSE_COLUMNS = 128
ROWS_PER_BLOCK = 4_096


class RankGraph(NamedTuple):
    """What the search ended with.

    Attributes
    ----------
    P : CSR array of shape (n, m)
        The graph; stored entries may be 0.
    U, V : ndarray of shape (n, c) and (m, c)
        Embedding F of samples and anchors.
    n_components : int
        Components of the graph.
    gammas, eigenvalue_sums : ndarray of shape (n_passes,)
        Penalty used in each pass, and the sum of the c largest squared singular values after it.
    """

    P: Any
    U: Any
    V: Array
    n_components: int
    gammas: Array
    eigenvalue_sums: Array


class Embedding(NamedTuple):
    """F = [U; V], the scalings D^(-1/2) of its rows, and all m squared singular values, descending."""

    U: Array
    V: Array
    sample_scale: Array
    anchor_scale: Array
    eigenvalues: Array

    def with_scales(self, sample: float, anchor: float) -> Embedding:
        """Return the embedding with constant scalings."""
        return self._replace(sample_scale=np.full(len(self.U), sample), anchor_scale=np.full(len(self.V), anchor))


class PenaltySearch:
    """Search for the penalty γ, and the embedding it acts on, that give exactly c components.

    While there are too few components γ is doubled and every pass goes on from the embedding of the one before. A
    graph once split too far stays split under any smaller γ, so from then on the last embedding of an unsplit graph
    is kept and γ is bisected (halved until a lower end is known). A bracket that has become narrow holds two splits
    that happen at once; the search then goes on from the embedding at its lower end.

    Parameters
    ----------
    embedding : object
        Where the first pass starts.
    gamma : float, default=0.1
        Penalty of the first pass.

    Attributes
    ----------
    embedding, gamma
        What the next pass is to use.
    """

    def __init__(self, embedding: Any, gamma: float = FIRST_GAMMA) -> None:
        self.embedding = embedding
        self.gamma = gamma
        self._lower: tuple[float, Any] | None = None
        self._upper: float | None = None

    def too_few_components(self, embedding: Any) -> None:
        """Raise γ; ``embedding`` is that of the graph just made."""
        if self._upper is None:
            self.embedding = embedding
            self.gamma *= 2.0
        else:
            self._lower = self.gamma, embedding
            self._bisect(self._upper)

    def too_many_components(self) -> None:
        """Lower γ."""
        self._upper = self.gamma
        self._bisect(self._upper)

    def _bisect(self, upper: float) -> None:
        if self._lower is None:
            self.gamma /= 2.0
        elif upper < NARROW_BRACKET * self._lower[0]:
            self.gamma, self.embedding = self._lower
            self._lower = self._upper = None
        else:
            self.gamma = float(np.sqrt(self._lower[0] * upper))


def rank_constrained_graph(
    B: NDArray[Any],
    c: int,
    *,
    projection: Projection = "both",
    rank_rule: RankRule = "paper",
    support: Support = "linked",
    first_scales: FirstScales = "constant",
    max_passes: int = 50,
) -> RankGraph:
    """Find a graph P near B with c connected components.

    Parameters
    ----------
    B : ndarray of shape (n, m)
        Nonnegative weights, at least one in each row.
    c : int
        Number of components, at most m.
    projection : {"both", "rows"}, default="both"
        What becomes of the penalised weights. "rows": every row is projected onto the simplex, as in the paper.
        "both": the mean of that and of the same for the columns, as in the released code, which keeps every anchor
        in use.
    rank_rule : {"paper", "released"}, default="paper"
        "paper": stop once there are exactly c components. "released": as the released code runs, all passes, with γ
        halved whenever there are at least c components, whatever graph the last pass leaves.
    support : {"linked", "full"}, default="linked"
        "linked": edges of P are edges of B, as in the released code. "full": P may have any edge.
    first_scales : {"constant", "degrees"}, default="constant"
        What the embedding is scaled with in the first pass: 1 for samples and 10 for anchors, as in the released code,
        or the degrees of B.
    max_passes : int, default=50
        Most passes, each for one γ.

    Returns
    -------
    RankGraph
        The graph; without success the one with the number of components nearest to c, and of those the nearest to B.
    """
    links, b = allowed_links(B, support)

    def make(state: Embedding, gamma: float) -> tuple[RankGraph, Embedding, float]:
        p = _project(b, links, state, gamma, projection)
        P = links.graph(p)
        found = _embed(P, c)
        count = _count_components(P, found.eigenvalues, c)
        none = np.zeros(0)
        return RankGraph(P, found.U, found.V, count, none, none), found, float(np.linalg.norm(p - b))

    start = _embed(links.graph(b), c)
    start = start.with_scales(*FIRST_SCALES) if first_scales == "constant" else start
    return search_graph(make, start, c, rank_rule=rank_rule, max_passes=max_passes)


def search_graph(
    make: Callable[[Any, float], tuple[RankGraph, Any, float]],
    start: Any,
    c: int,
    *,
    rank_rule: RankRule,
    max_passes: int,
) -> RankGraph:
    """Search for the penalty that leaves c components, wherever the graph is held.

    Parameters
    ----------
    make : callable
        Takes an embedding and a penalty; returns the graph they make, its embedding, and its distance from B.
    start : object
        Embedding of the first pass, with its ``eigenvalues``, descending.
    c : int
        Number of components.
    rank_rule, max_passes
        See ``rank_constrained_graph``.

    Returns
    -------
    RankGraph
        The graph.
    """
    search = PenaltySearch(start)
    gammas, sums = [], []
    best: tuple[tuple[int, float], RankGraph] | None = None
    for _ in range(max_passes):
        gammas.append(search.gamma)
        result, state, distance = make(search.embedding, search.gamma)
        sums.append(float(state.eigenvalues[:c].sum()))
        count = result.n_components
        result = result._replace(gammas=np.array(gammas), eigenvalue_sums=np.array(sums))
        if rank_rule == "released":
            search.gamma *= 2.0 if sums[-1] < c - RANK_TOL else 0.5
            search.embedding = state
            best = (0, 0.0), result
            continue
        if count == c:
            return result
        rank = abs(count - c), distance
        if best is None or rank < best[0]:
            best = rank, result
        if count < c:
            search.too_few_components(state)
        else:
            search.too_many_components()
    assert best is not None
    return best[1]._replace(gammas=np.array(gammas), eigenvalue_sums=np.array(sums))


def allowed_links(B: NDArray[Any], support: Support) -> tuple[Links, Array]:
    """Return where a graph near B (n, m) may have edges, and what B holds there."""
    allowed = B > 0 if support == "linked" else np.ones(B.shape, dtype=bool)
    return Links.of(allowed), np.asarray(B[allowed], dtype=np.float64)


class Links(NamedTuple):
    """Where the graph may have edges.

    Edges lie by samples: ``columns`` is the anchor of each and ``positions`` its place in a dense block of rows;
    ``by_column`` sorts them by anchors and ``back`` sorts them back; the sizes count the edges of samples and anchors.
    """

    columns: NDArray[np.int64]
    positions: NDArray[np.int64]
    by_column: NDArray[np.int64]
    back: NDArray[np.int64]
    row_sizes: NDArray[np.int64]
    column_sizes: NDArray[np.int64]
    indptr: NDArray[np.int64]
    shape: tuple[int, int]

    @classmethod
    def of(cls, allowed: NDArray[np.bool_]) -> Links:
        """Return the edges (n, m) that are allowed."""
        n, m = allowed.shape
        rows, columns = np.nonzero(allowed)
        by_column = np.argsort(columns, kind="stable")
        back = np.empty_like(by_column)
        back[by_column] = np.arange(by_column.size)
        row_sizes = np.bincount(rows, minlength=n)
        indptr = np.concatenate([[0], np.cumsum(row_sizes)])
        positions = (rows % ROWS_PER_BLOCK) * m + columns
        return cls(columns, positions, by_column, back, row_sizes, np.bincount(columns, minlength=m), indptr, (n, m))

    def graph(self, values: Array) -> sparse.csr_array:
        """Return the graph with such weights."""
        return sparse.csr_array((values, self.columns, self.indptr), shape=self.shape)

    def blocks(self) -> Iterator[tuple[slice, slice]]:
        """Yield blocks of samples and their edges."""
        for rows in row_blocks(self.shape[0], ROWS_PER_BLOCK):
            yield rows, slice(self.indptr[rows.start], self.indptr[rows.stop])


def _count_components(P: sparse.csr_array, eigenvalues: Array, c: int) -> int:
    """Count components: by the eigenvalues 1 where these already show too few, else by walking the graph."""
    few = too_few(eigenvalues, c)
    return bipartite_components(P).n_found if few is None else few


def too_few(eigenvalues: Array, c: int) -> int | None:
    """Return the number of components where the eigenvalues 1 already show fewer than c, else None."""
    if eigenvalues[:c].sum() < c - RANK_TOL:
        return min(int(np.count_nonzero(eigenvalues > 1.0 - RANK_TOL)), c - 1)
    return None


def _project(b: Array, links: Links, state: Embedding, gamma: float, projection: Projection) -> Array:
    """Minimise over P with F fixed (eq. 17): project T = B - γ/2 Q, q_ij the squared distance of the scaled F."""
    T, P = penalised(b, links, state, gamma)
    if projection == "both":
        P += project_segments(T[links.by_column], links.column_sizes)[links.back]
        P /= 2
    return P


def penalised(b: Array, links: Links, state: Embedding, gamma: float) -> tuple[Array, Array]:
    """Return the weights T = B - γ/2 Q of the edges, and what they are with every sample projected onto the simplex."""
    U = state.U * state.sample_scale[:, None]
    V = state.V * state.anchor_scale[:, None]
    u, v = np.einsum("ij,ij->i", U, U), np.einsum("ij,ij->i", V, V)
    T, P = np.empty_like(b), np.empty_like(b)
    for rows, edges in links.blocks():
        Q = U[rows] @ (-2.0 * V.T)
        Q += u[rows, None]
        Q += v
        T[edges] = b[edges] - (gamma / 2) * Q.ravel()[links.positions[edges]]
        P[edges] = project_segments(T[edges], links.row_sizes[rows])
    return T, P


def _embed(P: sparse.csr_array, c: int) -> Embedding:
    """Minimise over F with P fixed: leading singular vectors of P with normalised degrees, through an m × m matrix."""
    sample_scale, anchor_scale = inverse_roots(P.sum(axis=1)), inverse_roots(P.sum(axis=0))
    N = normalised_graph(P, sample_scale, anchor_scale)
    eigenvalues, V, lift = leading_directions_of(graph_gram(N), c)
    return Embedding(N @ lift, V, sample_scale, anchor_scale, eigenvalues)


def normalised_graph(P: sparse.csr_array, sample_scale: Array, anchor_scale: Array) -> sparse.csr_array:
    """Return the graph with its rows and columns scaled."""
    values = P.data * np.repeat(sample_scale, np.diff(P.indptr)) * anchor_scale[P.indices]
    return sparse.csr_array((values, P.indices, P.indptr), shape=P.shape)


def leading_directions_of(gram: Array, c: int) -> tuple[Array, Array, Array]:
    """Return all eigenvalues of NᵀN, which is overwritten, the rows V of the anchors, and what takes N to U."""
    eigenvalues, vectors = all_eigenpairs(gram, overwrite=True)
    V = vectors[:, :c] / np.sqrt(2)
    return eigenvalues, V, V / np.sqrt(np.maximum(eigenvalues[:c], SMALLEST_EIGENVALUE))


def graph_gram(N: sparse.csr_array) -> Array:
    """Return NᵀN; few columns are multiplied faster as dense blocks than through their stored entries."""
    if N.shape[1] > DENSE_COLUMNS:
        return np.asarray((N.T @ N).toarray())
    gram = np.zeros((N.shape[1], N.shape[1]))
    for rows in row_blocks(N.shape[0]):
        entries = slice(N.indptr[rows.start], N.indptr[rows.stop])
        indptr = N.indptr[rows.start : rows.stop + 1] - N.indptr[rows.start]
        shape = (indptr.size - 1, N.shape[1])
        block = sparse.csr_array((N.data[entries], N.indices[entries], indptr), shape=shape).toarray()
        gram += block.T @ block
    return gram


def inverse_roots(degrees: Array) -> Array:
    """Return d^(-1/2); 0 for an anchor that no sample is linked to."""
    return np.divide(1.0, np.sqrt(degrees), out=np.zeros_like(degrees), where=degrees > 0)
