r"""Transfer cut: the normalised cut of a bipartite graph between n samples and q anchors, solved on the q anchors.

With B (n, q), :math:`D_X = \operatorname{diag}(B1)`, :math:`D_Y = \operatorname{diag}(B^\top 1)` and
:math:`W = B^\top D_X^{-1} B`, the problem on n + q nodes reduces to :math:`(D_Y - W) v = \lambda D_Y v` on q nodes;
an eigenvector is lifted to the samples by :math:`h = D_X^{-1} B v`. ``gram_block`` and ``lift_block`` see one block of
rows at a time, ``reduced_eigenvectors`` none.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from manyviews.linalg.blocks import row_blocks
from manyviews.linalg.eigen import fix_signs, top_eigenpairs

__all__ = [
    "CutVectors",
    "Embedding",
    "cut_embedding",
    "cut_vectors",
    "gram_block",
    "lift_block",
    "reduced_eigenvectors",
    "reduced_graph",
    "scaled_rows",
]

Array = NDArray[Any]
ROWS_PER_BLOCK = 65_536
# with more anchors a dense W no longer pays
PAIRS_LIMIT = 2_048
LINKS_PER_BLOCK = 1 << 15
UNIT_GUARD = 1e-10
NULL_VALUE = 1e-12
Embedding = Literal["unit", "paper"]


class CutVectors(NamedTuple):
    """Eigenvalues μ = 1 - λ, descending, (k,), and the vectors v, (q, k), that ``lift_block`` takes to the samples."""

    values: NDArray[np.float64]
    vectors: NDArray[np.float64]


def gram_block(B: Any) -> sparse.csr_array:
    r"""Return :math:`B^\top D_X^{-1} B` (q, q) of a block of rows, in float64; the sum over blocks is W."""
    B = sparse.csr_array(B)
    q = B.shape[1]
    if q > PAIRS_LIMIT:
        B = sparse.csr_array(B, dtype=np.float64, copy=True)
        B.data *= np.repeat(_inverse_roots(B), np.diff(B.indptr))
        return (B.T.tocsr() @ B).tocsr()
    half = np.zeros(q * q)
    _add_pairs(half, B)
    return _from_pairs(half, q)


def _from_pairs(half: NDArray[np.float64], q: int) -> sparse.csr_array:
    """Return the (q, q) matrix of which ``_add_pairs`` has made one half."""
    half = half.reshape(q, q)
    W = half + half.T
    W[np.diag_indices(q)] *= 0.5
    return sparse.csr_array(W)


def scaled_rows(B: Any, counts: Array) -> sparse.csr_array:
    r"""Return the rows of B (n, q), each times a count (n,): :math:`W` then has each row as often as it counts."""
    return sparse.csr_array(
        (B.data * np.repeat(counts, np.diff(B.indptr)).astype(B.dtype), B.indices, B.indptr), B.shape
    )


def _inverse_roots(B: sparse.csr_array) -> NDArray[np.float64]:
    degree = np.asarray(B.sum(axis=1, dtype=np.float64)).ravel()
    # a row without links adds nothing
    return np.asarray(np.divide(1.0, np.sqrt(degree), out=np.zeros_like(degree), where=degree > 0))


def _add_pairs(half: NDArray[np.float64], B: sparse.csr_array) -> None:
    """Add to a flat (q, q) matrix one product per pair of links of a row: half the work of a sparse product."""
    roots, lengths, q = _inverse_roots(B), np.diff(B.indptr), B.shape[1]
    for length in np.unique(lengths[lengths > 0]):
        members = np.flatnonzero(lengths == length)
        for part in row_blocks(members.size, max(256, LINKS_PER_BLOCK // int(length))):
            rows = members[part]
            links = B.indptr[rows] + np.arange(length)[:, None]
            columns = B.indices[links].astype(np.int64)
            weights = B.data[links] * roots[rows]
            for a in range(length):
                cells = columns[a] * q + columns[a:]
                np.add.at(half, cells.ravel(), (weights[a] * weights[a:]).ravel())


def reduced_graph(B: Any) -> sparse.csr_array:
    """Return W (q, q), adding up blocks of rows of a graph (n, q), all that is asked of it."""
    q, blocks = B.shape[1], row_blocks(B.shape[0], ROWS_PER_BLOCK)
    if q > PAIRS_LIMIT:
        W = gram_block(B[next(blocks)])
        for rows in blocks:
            W = W + gram_block(B[rows])
        return W
    half = np.zeros(q * q)
    for rows in blocks:
        _add_pairs(half, sparse.csr_array(B[rows]))
    return _from_pairs(half, q)


def reduced_eigenvectors(W: Any, k: int, rng: np.random.Generator) -> CutVectors:
    r"""Solve the reduced problem by the k leading eigenvectors of :math:`D_Y^{-1/2} W D_Y^{-1/2}`.

    Parameters
    ----------
    W : CSR of shape (q, q)
        Sum of ``gram_block`` over the samples.
    k : int
        Number of vectors.
    rng : Generator
        Source of the start of the Lanczos iterations, and of the rotation below.

    Returns
    -------
    CutVectors
        :math:`v = D_Y^{-1/2} w`, with zero columns where q is smaller than k, and zero rows for anchors without links.
        The entry of largest modulus in each w is positive.

    Notes
    -----
    The eigenvalue 1 has one eigenvector per connected component, known without a solver; only the others are computed,
    on what is left of the matrix, so no copy is missed. With k components or more the eigenvectors are not unique:
    a random rotation decides, and the ensemble averages over it.
    """
    degree = np.asarray(W.sum(axis=1)).ravel()
    linked = np.flatnonzero(degree > 0)
    root = np.sqrt(degree[linked])
    M = sparse.csr_array(W[linked][:, linked])
    M.data /= np.repeat(root, np.diff(M.indptr)) * root[M.indices]
    values, w = _leading(M, root, k, rng)
    vectors = np.zeros((W.shape[0], k))
    vectors[linked] = w / root[:, None]
    return CutVectors(values, vectors)


def _leading(M: sparse.csr_array, root: Array, k: int, rng: np.random.Generator) -> tuple[Array, Array]:
    q = root.size
    count, component = connected_components(M, directed=False)
    known = np.zeros((q, count))
    known[np.arange(q), component] = root
    known /= np.linalg.norm(known, axis=0)
    if count >= k:
        rotation = np.linalg.qr(rng.standard_normal((count, k)))[0] if count > k else np.eye(k)
        return np.ones(k), fix_signs(known @ rotation)
    values, w = np.zeros(k), np.zeros((q, k))
    values[:count], w[:, :count] = 1.0, known
    wanted = min(k, q) - count
    if wanted > 0:
        values[count : count + wanted], w[:, count : count + wanted] = top_eigenpairs(
            M, wanted, known=known, start=rng.standard_normal(q)
        )
    return np.clip(values, 0.0, 1.0), w


def lift_block(B: Any, vectors: Array) -> Array:
    r"""Return :math:`D_X^{-1} B v`, the rows (b, k) of a block of samples, in the dtype of B; zeros without links."""
    degree = np.asarray(B.sum(axis=1)).ravel()
    H = np.asarray(B @ vectors.astype(B.dtype))
    H *= np.divide(1.0, degree, out=np.zeros_like(degree), where=degree > 0)[:, None]
    return H


def cut_vectors(B: Any, k: int, rng: np.random.Generator) -> CutVectors:
    """Return the vectors of a graph B (n, q) that is held whole."""
    return reduced_eigenvectors(reduced_graph(B), k, rng)


def cut_embedding(B: Any, vectors: Array, values: Array, kind: Embedding = "unit") -> Array:
    r"""Return the rows (b, k) of a block of samples that are cut into clusters.

    Parameters
    ----------
    B : CSR of shape (b, q)
        Rows of the graph.
    vectors, values : ndarray of shape (q, k) and (k,)
        From ``reduced_eigenvectors``.
    kind : {"unit", "paper"}, default="unit"
        "unit": lifted rows brought to unit length (divided by length + 1e-10), as in the released codes. "paper":
        column i divided by :math:`\sqrt{\mu_i}`, lengths kept, as the papers have it.

    Returns
    -------
    ndarray of shape (b, k)
        In the dtype of B.
    """
    H = lift_block(B, vectors)
    if kind == "paper":
        return np.asarray(H * np.where(values > NULL_VALUE, 1.0 / np.sqrt(np.maximum(values, NULL_VALUE)), 0.0))
    H /= np.sqrt(np.einsum("ij,ij->i", H, H))[:, None] + H.dtype.type(UNIT_GUARD)
    return H
