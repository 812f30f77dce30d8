"""Nearest anchors of blocks of rows, and the sparse graph between samples and anchors that they make."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manyviews.linalg.blocks import row_blocks, squared_lengths
from manyviews.prototypes.anchors import AnchorRegions
from manyviews.prototypes.block_kmeans import Metric, similarity_blocks
from manyviews.prototypes.row_means import RowMeans

__all__ = [
    "AnchorIndex",
    "Neighbors",
    "affinities",
    "bipartite_block",
    "build_index",
    "cheaper_search",
    "find_anchors",
    "nearest_means",
    "recall",
]

Array = NDArray[Any]
Search = Literal["exact", "approximate"]
EPS = float(np.finfo(np.float64).eps)
# candidate neighbours of an anchor, per neighbour asked for
CANDIDATES_PER_NEIGHBOR = 10
CELLS_PER_BLOCK = 1 << 18
# beyond this many neighbours one partial sort is cheaper than taking the largest again and again
REPEATED_ARGMAX_LIMIT = 16


class Neighbors(NamedTuple):
    """The K nearest anchors of each row, nearest first, and their distances, both (b, K)."""

    index: NDArray[np.int32]  # type: ignore[assignment]  # hides tuple.index, which nobody needs here
    distance: Array


class AnchorIndex(NamedTuple):
    """Anchors of one view, ready for searching.

    ``points`` (p, d) dense, CSR or means of kept rows; for the approximate search also the regions and ``candidates``
    (p, c), the anchors among which the neighbours of a sample are sought once its nearest anchor is known.
    """

    points: Any
    metric: Metric
    regions: AnchorRegions | None = None
    candidates: NDArray[np.int64] | None = None


def build_index(points: Any, metric: Metric, n_neighbors: int, regions: AnchorRegions | None = None) -> AnchorIndex:
    """Prepare anchors for searching: exactly, or approximately where their regions are given.

    Parameters
    ----------
    points : ndarray or CSR of shape (p, d)
        Anchors; of unit length for "cosine".
    metric : {"euclidean", "cosine"}
        Euclidean distance, or 1 - cosine.
    n_neighbors : int
        K, the neighbours that will be asked for; the approximate search keeps 10 K + 1 candidates per anchor.
    regions : AnchorRegions, default=None
        Groups of anchors; asks for the approximate search.

    Returns
    -------
    AnchorIndex
        What ``find_anchors`` needs.
    """
    if regions is None:
        return AnchorIndex(points, metric)
    size = min(CANDIDATES_PER_NEIGHBOR * n_neighbors + 1, points.shape[0])
    S = _similarities(points, points, metric)
    np.fill_diagonal(S, np.inf)  # each anchor comes first in its own list, whatever the rounding
    candidates = np.argsort(-S, axis=1, kind="stable")[:, :size]
    used = np.unique(regions.labels)
    regions = AnchorRegions(np.searchsorted(used, regions.labels), regions.centers[used])
    return AnchorIndex(points, metric, regions, candidates)


def cheaper_search(p: int, width: float, n_neighbors: int, n: int) -> Search:
    """Return the search that takes less time for n rows of so many columns (stored entries, if sparse).

    The exact search costs 2 p d products and K passes over p similarities per row, in one large matrix product; the
    approximate one compares a row with about 3 √p + 10 K points, but moves the rows thrice and works in small pieces.
    """
    few = 3 * np.sqrt(p) + CANDIDATES_PER_NEIGHBOR * n_neighbors + 1
    exact = p * width * GEMM_COST + n_neighbors * p * SCAN_COST
    approximate = few * width * SMALL_GEMM_COST + 3 * width * MOVE_COST + n_neighbors * few * SCAN_COST + ROW_COST
    return "exact" if exact <= approximate or n < ROWS_PER_ANCHOR * p else "approximate"


# microseconds per multiply-add, compared entry, moved entry and row, measured on one core; only ratios matter
GEMM_COST, SMALL_GEMM_COST, SCAN_COST, MOVE_COST, ROW_COST = 2.5e-5, 5e-5, 1.3e-4, 4e-4, 2.5
ROWS_PER_ANCHOR = 50


def recall(index: AnchorIndex, rows: Any, n_neighbors: int) -> float:
    """Return which part of the true K nearest anchors of some rows an approximate search finds."""
    near = find_anchors(index, rows, n_neighbors).index
    true = find_anchors(AnchorIndex(index.points, index.metric), rows, n_neighbors).index
    return float(np.mean([(near == true[:, [j]]).any(axis=1).mean() for j in range(n_neighbors)]))


def find_anchors(index: AnchorIndex, rows: Any, n_neighbors: int) -> Neighbors:
    """Find the K nearest anchors of a block of rows.

    Parameters
    ----------
    index : AnchorIndex
        The anchors.
    rows : ndarray or CSR of shape (b, d)
        Any rows of the view, treated as the anchors were.
    n_neighbors : int
        K, at most the number of anchors.

    Returns
    -------
    Neighbors
        Indices and distances (b, K); on ties the lower index, or the one earlier among the candidates, comes first.
    """
    if isinstance(index.points, RowMeans):
        return nearest_means(index, index.points.products(rows), squared_lengths(rows), n_neighbors)
    search = _exact if index.candidates is None else _approximate
    return search(index, rows, n_neighbors)


def nearest_means(index: AnchorIndex, products: Array, squares: Array, n_neighbors: int) -> Neighbors:
    """Find the K nearest of anchors that are means of kept rows.

    Parameters
    ----------
    index : AnchorIndex
        The anchors, a ``RowMeans``.
    products : ndarray of shape (b, n)
        Products of the rows with the kept ones.
    squares : ndarray of shape (b,)
        Squared lengths of the rows.
    n_neighbors : int
        K, at most the number of anchors.

    Returns
    -------
    Neighbors
        As ``find_anchors``.
    """
    found, distance = _largest(index.points.similarities(products, index.metric), n_neighbors)
    _to_distances(distance, squares, index.metric)
    return Neighbors(found.astype(np.int32), distance)


def _exact(index: AnchorIndex, rows: Any, K: int) -> Neighbors:
    b, p = rows.shape[0], index.points.shape[0]
    found = Neighbors(np.empty((b, K), np.int32), np.empty((b, K), rows.dtype))
    for block, S in similarity_blocks(rows, index.points, index.metric, max(64, CELLS_PER_BLOCK // p)):
        found.index[block], found.distance[block] = _largest(S, K)
    _to_distances(found.distance, squared_lengths(rows), index.metric)
    return found


def _approximate(index: AnchorIndex, rows: Any, K: int) -> Neighbors:
    """Nearest region, nearest anchor in it, then the nearest of the candidates of that anchor (steps 3-5 of U-SPEC)."""
    assert index.regions is not None
    assert index.candidates is not None
    b, points, metric = rows.shape[0], index.points, index.metric
    found = Neighbors(np.empty((b, K), np.int32), np.empty((b, K), rows.dtype))
    region = np.concatenate(
        [_similarities(rows[part], index.regions.centers, metric).argmax(axis=1) for part in row_blocks(b)]
    )
    nearest = np.empty(b, dtype=np.int64)
    for r, members in _groups(region):
        anchors = np.flatnonzero(index.regions.labels == r)
        nearest[members] = anchors[_similarities(rows[members], points[anchors], metric).argmax(axis=1)]
    for anchor, members in _groups(nearest):
        candidates = index.candidates[anchor]
        chosen, value = _largest(_similarities(rows[members], points[candidates], metric), K)
        found.index[members] = candidates[chosen]
        found.distance[members] = value
    _to_distances(found.distance, squared_lengths(rows), metric)
    return found


def _groups(labels: NDArray[np.int64]) -> Any:
    """Yield each label in use with the rows that have it."""
    order = np.argsort(labels, kind="stable")
    values, starts = np.unique(labels[order], return_index=True)
    yield from zip(values, np.split(order, starts[1:]), strict=True)


def _similarities(rows: Any, points: Any, metric: Metric) -> Array:
    return next(similarity_blocks(rows, points, metric, rows.shape[0]))[1]


def _largest(S: Array, K: int) -> tuple[NDArray[np.int64], Array]:
    """Return columns and values of the K largest entries of each row, descending, ties by column; overwrites S."""
    if K > REPEATED_ARGMAX_LIMIT:
        order = np.argsort(-S, axis=1, kind="stable")[:, :K]
        return order, np.take_along_axis(S, order, axis=1)
    flat, starts = S.reshape(-1), np.arange(S.shape[0]) * S.shape[1]
    index, value = np.empty((S.shape[0], K), np.int64), np.empty((S.shape[0], K), S.dtype)
    for j in range(K):
        index[:, j] = best = S.argmax(axis=1)
        best += starts
        value[:, j] = flat[best]
        flat[best] = -np.inf
    return index, value


def _to_distances(similarity: Array, squares: Array, metric: Metric) -> None:
    """Turn similarities (b, K) of rows with such squared lengths (b,) into distances, in place."""
    if metric == "cosine":
        np.subtract(1.0, similarity, out=similarity)
        np.maximum(similarity, 0.0, out=similarity)
        return
    similarity *= -2
    similarity += squares[:, None]
    np.maximum(similarity, 0.0, out=similarity)
    np.sqrt(similarity, out=similarity)


def affinities(distance: Array, metric: Metric, sigma: float, *, unit: bool = True) -> Array:
    r"""Turn distances (b, K) into weights.

    :math:`\exp(-d^2 / 2\sigma^2)`, or for "cosine" :math:`1 - d` cut at 0; ``unit`` scales each row to length 1.
    Entries that would be 0 become 2.2e-16, so that the pattern of the graph is kept.
    """
    if metric == "cosine":
        weights = np.maximum(1.0 - distance, 0.0)
    else:
        scaled = distance / distance.dtype.type(np.sqrt(2.0) * sigma)
        weights = np.exp(-(scaled * scaled))
    if unit:
        weights /= np.sqrt(np.einsum("ij,ij->i", weights, weights))[:, None] + weights.dtype.type(EPS)
    weights[weights == 0] = EPS
    return np.asarray(weights)


def bipartite_block(
    neighbors: list[NDArray[np.int32]], weights: list[Array], sizes: list[int], speaking: list[Array | None]
) -> sparse.csr_array:
    """Put the links of several views side by side.

    Parameters
    ----------
    neighbors, weights : list of ndarray of shape (b, K_v)
        Anchors and weights of a block of rows, one array per view.
    sizes : list of int
        Numbers of anchors of the views.
    speaking : list of (ndarray of shape (b,) of bool, or None)
        Rows that have links in each view; None stands for all.

    Returns
    -------
    CSR of shape (b, sum of sizes)
        The graph between these rows and all anchors.
    """
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    shifted = [np.add(index, offset, dtype=np.int32) for index, offset in zip(neighbors, offsets[:-1], strict=True)]
    columns = np.hstack(shifted)
    data = np.hstack(weights)
    b, width = columns.shape
    if all(mask is None for mask in speaking):
        parts = (data.ravel(), columns.ravel(), np.arange(b + 1) * width)
    else:
        masks = [
            np.ones(index.shape, bool) if mask is None else np.repeat(mask[:, None], index.shape[1], axis=1)
            for index, mask in zip(neighbors, speaking, strict=True)
        ]
        kept = np.hstack(masks)
        parts = (data[kept], columns[kept], np.concatenate([[0], np.cumsum(kept.sum(axis=1))]))
    return sparse.csr_array(parts, shape=(b, int(offsets[-1])))
