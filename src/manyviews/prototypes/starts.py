"""Where k-means over several views begins: a clustering of a few samples, or of the leading directions of all."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from manyviews.linalg.blocks import unit_rows
from manyviews.linalg.eigen import leading_singular
from manyviews.prototypes.kmeans import kmeans
from manyviews.prototypes.weighted import Stack, centroids, stack_kmeans

__all__ = ["clustered_start", "leading_directions", "relaxed_start", "sampled_start", "start_size"]

Array = NDArray[Any]
# a sample costs little; more of it, and more tries, give starts that more often end in the best optimum
SPREAD_PER_CLUSTER = 50
SPREAD_TRIES = 3
MOST_ROWS = 20_000


def sampled_start(
    stack: Stack, k: int, rng: np.random.Generator, *, fraction: float, spread: bool, max_iter: int = 50
) -> list[Array]:
    """Return the centres of a clustering of a random sample.

    Parameters
    ----------
    stack : Stack
        The views.
    k : int
        Number of clusters.
    rng : Generator
        Draws the sample and its first centres.
    fraction : float
        Share of the samples drawn; of so many samples at least 2k, with ``spread`` 50k, and at most 20 000.
    spread : bool
        Whether the first centres are drawn far apart, as in k-means++, and the best of three clusterings is taken,
        or the first centres are drawn anyhow, once.
    max_iter : int, default=50
        Most sweeps of each.

    Returns
    -------
    list of ndarray of shape (k, d_v)
        Centres in each view.
    """
    n = len(stack)
    size = start_size(n, k, fraction=fraction, spread=spread)
    part = stack.take(np.sort(rng.choice(n, size, replace=False))) if size < n else stack
    return clustered_start(part, k, rng, spread=spread, max_iter=max_iter)


def start_size(n: int, k: int, *, fraction: float, spread: bool) -> int:
    """Return how many samples of n a start is made from."""
    share = min(MOST_ROWS, math.ceil(fraction * n))
    return min(n, max((SPREAD_PER_CLUSTER if spread else 2) * k, share))


def clustered_start(part: Stack, k: int, rng: np.random.Generator, *, spread: bool, max_iter: int = 50) -> list[Array]:
    """Return the centres of a clustering of all of these samples, the best of three with ``spread``."""
    size = len(part)
    best, least = None, math.inf
    for _ in range(SPREAD_TRIES if spread else 1):
        rows = _spread_rows(part, k, rng) if spread else rng.choice(size, k, replace=False)
        run = stack_kmeans(part, _rows_as_centers(part, rows), max_iter=max_iter)
        if best is None or run.objective[-1] < least:
            best, least = run.centers, float(run.objective[-1])
    assert best is not None
    return best


def leading_directions(stack: Stack, k: int, rng: np.random.Generator) -> Array:
    """Return the rows, scaled to length 1, of the k leading singular directions of the views side by side, (n, k).

    k-means with labels relaxed to orthonormal columns is solved by them; O(n k Σ d_v) time.
    """
    n, width = len(stack), sum(X.shape[1] for X in stack.arrays)
    rank = min(k, n - 1, width - 1)
    if rank < 1 or not stack.squares.any():
        return np.ones((n, 1))
    # the lengths of rows are taken out below, and with them how often they count
    U, s, _ = leading_singular(_side_by_side(stack), rank, rng)
    return np.asarray(unit_rows(U * s))


def relaxed_start(stack: Stack, directions: Array, k: int, rng: np.random.Generator) -> list[Array]:
    """Return the centres of a clustering of the leading directions by one run of k-means.

    Parameters
    ----------
    stack : Stack
        The views.
    directions : ndarray of shape (n, q)
        From ``leading_directions``.
    k : int
        Number of clusters.
    rng : Generator
        Draws the first centres.

    Returns
    -------
    list of ndarray of shape (k, d_v)
        Centres in each view.
    """
    labels = kmeans(directions, k, rng, n_init=1, weights=stack.counts).labels
    blank = [np.zeros((k, X.shape[1]), X.dtype) for X in stack.arrays]
    return centroids(stack, labels, None, blank)


def _rows_as_centers(stack: Stack, rows: Array) -> list[Array]:
    return [np.asarray(X[rows].toarray() if sparse.issparse(X) else X[rows]) for X in stack.arrays]


def _spread_rows(stack: Stack, k: int, rng: np.random.Generator) -> Array:
    from sklearn.cluster import kmeans_plusplus

    if any(map(sparse.issparse, stack.arrays)):
        table = sparse.hstack(stack.arrays, format="csr")
    else:
        table = np.hstack(stack.arrays)
    seed = int(rng.integers(2**31 - 1))
    _, rows = kmeans_plusplus(table, k, random_state=seed, sample_weight=stack.counts)
    return np.asarray(rows)


def _side_by_side(stack: Stack) -> Any:
    """Return the views side by side, rows times the root of their count, as an operator: no copies."""
    edges = np.cumsum([0, *(X.shape[1] for X in stack.arrays)])
    roots = 1.0 if stack.counts is None else np.sqrt(stack.counts)

    def times(v: Array) -> Array:
        v = v.ravel()
        parts = [X @ v[a:b] for X, a, b in zip(stack.arrays, edges, edges[1:], strict=False)]
        return np.asarray(np.sum(parts, axis=0) * roots)

    def transposed_times(u: Array) -> Array:
        return np.concatenate([X.T @ (u.ravel() * roots) for X in stack.arrays])

    return LinearOperator((len(stack), int(edges[-1])), matvec=times, rmatvec=transposed_times, dtype=np.float64)
