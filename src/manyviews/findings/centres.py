"""How near samples are to the middle of their cluster, and to the next one: who is typical, who could be elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manyviews.findings.spaces import embedding_of
from manyviews.linalg.blocks import row_blocks, rows_of_cells
from manyviews.linalg.scaling import Scaling, apply_scaling, fit_scaling
from manyviews.views import Views

__all__ = ["Nearness", "nearness"]

Array = NDArray[Any]

# More distances than this are not kept at once; about 2 GB as float64.
MAX_DISTANCES = 250_000_000
# Against its size, a spread smaller than this is a rounding error.
NEGLIGIBLE = 1e-12


class Nearness(NamedTuple):
    """Squared distance of each sample to its cluster's centre (n,), and its margin (n,) or None.

    The margin is 1 - d_own / d_next of the distances to the own and the nearest other centre, at least 0: 1 on the
    centre, 0 for a sample that lies as near to another cluster.
    """

    own: Array
    margin: Array | None
    where: str


def nearness(
    model: Any, views: Views, scalings: Sequence[str | None], positions: Array, n_clusters: int
) -> Nearness | None:
    """Measure samples against the centres of the clusters; None where there are too many of both.

    In the model's embedding where there is one, else in all views: each is scaled, and divided by its spread, so that
    a view does not count for more because it has more columns. Views are read in blocks of rows; sparse ones are not
    made dense.

    Parameters
    ----------
    model : estimator
        Fitted.
    views : Views
        What it was fitted on.
    scalings : sequence of str or None
        Scaling of each view.
    positions : ndarray of shape (n,)
        Cluster of each sample, 0 .. n_clusters - 1.
    n_clusters : int
        Number of clusters.

    Returns
    -------
    Nearness or None
        Distances and margins.
    """
    n = len(views)
    if n * n_clusters > MAX_DISTANCES:
        return None
    embedding = embedding_of(model, n)
    squares = np.zeros((n, n_clusters))
    if embedding is not None:
        _add_distances(squares, embedding, None, np.ones(n, dtype=bool), positions)
    else:
        with np.errstate(all="ignore"):
            for array, kind, observed in zip(views.arrays, scalings, views.observed.T, strict=True):
                _add_distances(squares, array, kind, observed, positions)
    if not np.isfinite(squares).all():
        return None
    squares /= np.maximum(views.observed.sum(axis=1), 1)[:, None]
    where = "the method's embedding" if embedding is not None else "all views together"
    own = squares[np.arange(n), positions]
    if n_clusters < 2:
        return Nearness(own, None, where)
    squares[np.arange(n), positions] = np.inf
    other = squares.min(axis=1)
    ratio = np.sqrt(np.divide(own, other, out=np.ones(n), where=other > 0))
    return Nearness(own, 1.0 - np.minimum(ratio, 1.0), where)


def _add_distances(squares: Array, array: Any, kind: str | None, observed: Array, positions: Array) -> None:
    """Add the squared distances in one view, in units of its spread; unobserved samples get nothing."""
    known = np.flatnonzero(observed)
    if known.size == 0:
        return
    scaling = fit_scaling(array, kind)
    k = squares.shape[1]
    counts = np.bincount(positions[known], minlength=k)
    sums, total = np.zeros(()), 0.0
    for rows, block in _blocks(array, scaling, known):
        sums = sums + _sums(block, positions[rows], k)
        total += float(_row_squares(block).sum())
    middle = sums.sum(axis=0) / known.size
    spread = total / known.size - float(middle @ middle)
    if spread <= NEGLIGIBLE * total / known.size:
        return
    centres = sums / np.maximum(counts, 1)[:, None]
    centres[counts == 0] = middle  # a cluster that this view did not observe is nowhere in it
    for rows, block in _blocks(array, scaling, known):
        distances = _row_squares(block)[:, None] - 2 * np.asarray(block @ centres.T) + (centres**2).sum(axis=1)
        squares[rows] += np.maximum(distances, 0.0) / spread


def _blocks(array: Any, scaling: Scaling, known: Array) -> Iterator[tuple[Array, Any]]:
    for part in row_blocks(known.size, rows_of_cells(array.shape[1])):
        rows = known[part]
        yield rows, apply_scaling(array[rows].astype(np.float64), scaling, overwrite=True)


def _sums(block: Any, labels: Array, k: int) -> Array:
    m = labels.size
    members = sparse.csr_matrix((np.ones(m), labels, np.arange(m + 1)), shape=(m, k))
    sums = members.T @ block
    return np.asarray(sums.todense() if sparse.issparse(sums) else sums)


def _row_squares(block: Any) -> Array:
    if sparse.issparse(block):
        return np.asarray(block.multiply(block).sum(axis=1)).ravel()
    return np.asarray(np.einsum("ij,ij->i", block, block))
