r"""k-means over several views with a weight for every sample in every view.

The steps of all methods that minimise :math:`\sum_v \sum_i w_i^{(v)} \|x_i^{(v)} - c_{b_i}^{(v)}\|^2` over shared
labels b and centres per view; the methods differ in how they choose the weights.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manyviews.linalg.blocks import row_blocks, squared_lengths, sums_by_label
from manyviews.prototypes.lloyd import LloydRun, lloyd, rows_counted

__all__ = [
    "Assignment",
    "Stack",
    "assign",
    "center_distances",
    "centroids",
    "make_stack",
    "stack_kmeans",
    "weighted_means",
    "weighted_totals",
]

Array = NDArray[Any]
# rows whose distances to all centres fit the cache
ROWS_PER_BLOCK = 4_096


@dataclass(frozen=True)
class Stack:
    """Several views of the same samples, as the steps need them.

    Attributes
    ----------
    arrays : tuple of ndarray or CSR of shape (n, d_v)
        The views, with zeros in unobserved rows.
    squares : ndarray of shape (V, n), float64
        Squared lengths of the rows.
    observed : ndarray of shape (V, n) of bool, or None
        False where a sample was not observed in a view; None where all were.
    radii : tuple of (float or None)
        Length that the centres of a view are kept to; None leaves them free.
    counts : ndarray of shape (n,), default=None
        How often each sample counts, above 0; once by default.
    """

    arrays: tuple[Any, ...]
    squares: Array
    observed: Array | None
    radii: tuple[float | None, ...]
    counts: Array | None = None

    def __len__(self) -> int:
        return int(self.squares.shape[1])

    @property
    def ones(self) -> Array:
        """Weight 1 for every observed pair, shape (V, n)."""
        return np.ones(self.squares.shape) if self.observed is None else self.observed.astype(np.float64)

    @property
    def mass(self) -> Array:
        """How often every pair counts, 0 where it was not observed, shape (V, n)."""
        return self.ones if self.counts is None else self.ones * self.counts

    def counted(self, losses: Array) -> Array:
        """Return losses (n,) or (V, n), each as often as its sample counts."""
        return losses if self.counts is None else losses * self.counts

    def take(self, rows: Array) -> Stack:
        """Return the same views of some of the samples."""
        observed = None if self.observed is None else self.observed[:, rows]
        counts = None if self.counts is None else self.counts[rows]
        return Stack(tuple(X[rows] for X in self.arrays), self.squares[:, rows], observed, self.radii, counts)

    def times(self, weights: Array) -> Stack:
        """Return the same views with their squared distances multiplied by weights (V,)."""
        if (weights == 1.0).all():
            return self
        roots = np.sqrt(weights).tolist()
        arrays = tuple(X * X.dtype.type(root) for X, root in zip(self.arrays, roots, strict=True))
        radii = tuple(None if r is None else r * root for r, root in zip(self.radii, roots, strict=True))
        return Stack(arrays, self.squares * weights[:, None], self.observed, radii, self.counts)


class Assignment(NamedTuple):
    """Labels (n,) and the squared distances (V, n) of the samples to the centres of their clusters."""

    labels: NDArray[np.int64]
    losses: Array


def make_stack(
    arrays: tuple[Any, ...],
    observed: Array | None = None,
    radii: tuple[float | None, ...] | None = None,
    counts: Array | None = None,
) -> Stack:
    """Collect views, whose unobserved rows must be zeros, into a stack.

    Parameters
    ----------
    arrays : tuple of ndarray or CSR of shape (n, d_v)
        The views.
    observed : ndarray of shape (V, n) of bool, default=None
        False for unobserved pairs.
    radii : tuple of (float or None), default=None
        Length of the centres of each view; by default they are free.
    counts : ndarray of shape (n,), default=None
        How often each sample counts, above 0; once by default.

    Returns
    -------
    Stack
        Views with the squared lengths of their rows.
    """
    complete = observed is None or bool(observed.all())
    squares = np.stack([squared_lengths(X, np.float64) for X in arrays])
    return Stack(arrays, squares, None if complete else observed, radii or (None,) * len(arrays), counts)


def assign(stack: Stack, centers: list[Array], weights: Array | None = None) -> Assignment:
    r"""Assign each sample to the cluster with the least weighted sum of squared distances over the views.

    Parameters
    ----------
    stack : Stack
        The views.
    centers : list of ndarray of shape (k, d_v)
        Centres in each view.
    weights : ndarray of shape (V, n), default=None
        Weights; by default 1 for every observed pair. A sample without weight in any view is assigned as if all its
        weights were 1.

    Returns
    -------
    Assignment
        Labels, of equal clusters the first one, and losses (zero for unobserved pairs).
    """
    n, k = len(stack), centers[0].shape[0]
    weights = _effective_weights(stack, weights)
    labels, losses = np.empty(n, dtype=np.int64), np.empty(stack.squares.shape)
    shifts = [np.einsum("ij,ij->i", C, C)[:, None] for C in centers]
    for rows in row_blocks(n, ROWS_PER_BLOCK):
        parts = [_relative_distances(X[rows], C, c) for X, C, c in zip(stack.arrays, centers, shifts, strict=True)]
        chosen = _least_sum(parts, None if weights is None else weights[:, rows], k)
        labels[rows] = chosen
        for v, part in enumerate(parts):
            losses[v, rows] = np.take_along_axis(part, chosen[None], axis=0)[0]
    losses += stack.squares
    np.maximum(losses, 0.0, out=losses)
    if stack.observed is not None:
        losses *= stack.observed
    return Assignment(labels, losses)


def center_distances(stack: Stack, centers: list[Array], rows: slice, factors: Array | None = None) -> Array:
    r"""Return the distances of some samples to all centres over the observed views.

    Parameters
    ----------
    stack : Stack
        The views.
    centers : list of ndarray of shape (k, d_v)
        Centres in each view.
    rows : slice
        Samples.
    factors : ndarray of shape (V,), default=None
        With factors :math:`\sum_v a_v \|x - c\|`, by default :math:`(\sum_v \|x - c\|^2)^{1/2}`.

    Returns
    -------
    ndarray of shape (b, k)
        Distances.
    """
    total: Any = 0.0
    for v, (X, C) in enumerate(zip(stack.arrays, centers, strict=True)):
        part = _relative_distances(X[rows], C, np.einsum("ij,ij->i", C, C)[:, None]) + stack.squares[v, rows]
        np.maximum(part, 0.0, out=part)
        if factors is not None:
            part = np.sqrt(part) * factors[v]
        total = total + (part if stack.observed is None else part * stack.observed[v, rows])
    return np.ascontiguousarray((total if factors is not None else np.sqrt(total)).T)


def centroids(stack: Stack, labels: NDArray[np.int64], weights: Array | None, previous: list[Array]) -> list[Array]:
    r"""Return the centres that minimise the weighted sum of squared distances for fixed labels.

    Parameters
    ----------
    stack : Stack
        The views.
    labels : ndarray of shape (n,)
        Cluster of each sample.
    weights : ndarray of shape (V, n), default=None
        Weights; by default 1 for every observed pair.
    previous : list of ndarray of shape (k, d_v)
        Centres that a cluster without any weight keeps.

    Returns
    -------
    list of ndarray of shape (k, d_v)
        :math:`\sum_i w_i x_i / \sum_i w_i` over the samples of a cluster, each as often as it counts, brought to the
        radius of the view if any.
    """
    if weights is not None:
        weights = stack.counted(weights)
    elif stack.observed is not None or stack.counts is not None:
        weights = stack.mass
    return [
        _view_centroids(X, labels, None if weights is None else weights[v], previous[v], stack.radii[v])
        for v, X in enumerate(stack.arrays)
    ]


def stack_kmeans(
    stack: Stack,
    centers: list[Array],
    *,
    tol: float = 0.0,
    max_iter: int = 50,
    watch: Callable[[NDArray[np.int64]], None] | None = None,
) -> LloydRun[list[Array]]:
    """Alternate labels and centres with weight 1 until the labels rest: k-means on the views side by side.

    Parameters
    ----------
    stack : Stack
        The views.
    centers : list of ndarray of shape (k, d_v)
        Start.
    tol : float, default=0.0
        Relative decrease of the sum of losses below which it also stops.
    max_iter : int, default=50
        Most sweeps.
    watch : callable, default=None
        Called with the labels (n,) of the start and of each sweep, which may be changed afterwards.

    Returns
    -------
    LloydRun
        Centres, labels and losses (V, n) for these centres; the objective is their sum, as often as samples count.
    """

    def update(labels: NDArray[np.int64], previous: list[Array]) -> list[Array]:
        return centroids(stack, labels, None, previous)

    def nearest(points: list[Array]) -> Assignment:
        found = assign(stack, points)
        if watch is not None:
            watch(found.labels)
        return found

    return lloyd(
        nearest,
        update,
        centers,
        centers[0].shape[0],
        max_iter=max_iter,
        each=lambda losses: np.asarray(losses.sum(axis=0)),
        settled=lambda last, now: last - now < tol * last,
        rows=rows_counted(stack.counts),
    )


def _effective_weights(stack: Stack, weights: Array | None) -> Array | None:
    if weights is None:
        return None if stack.observed is None else stack.ones
    idle = ~weights.any(axis=0)
    if idle.any():
        weights = weights.copy()
        weights[:, idle] = 1.0 if stack.observed is None else stack.observed[:, idle]
    return weights


def _relative_distances(X: Any, C: Array, shift: Array) -> Array:
    """Return ‖x - c‖² - ‖x‖² as an array (k, b): along its rows all later steps run fast."""
    products = np.ascontiguousarray((X @ C.T).T) if sparse.issparse(X) else C @ X.T
    products *= -2.0
    products += shift.astype(products.dtype)
    return np.asarray(products)


def _least_sum(parts: list[Array], weights: Array | None, k: int) -> NDArray[np.int64]:
    """Return which cluster has the least (weighted) sum, the first of equal ones."""
    total = parts[0].astype(np.float64) if weights is None else parts[0] * weights[0]
    for v in range(1, len(parts)):
        total += parts[v] if weights is None else parts[v] * weights[v]
    best, labels = total[0].copy(), np.zeros(total.shape[1], dtype=np.int64)
    for j in range(1, k):
        np.copyto(labels, j, where=total[j] < best)
        np.minimum(best, total[j], out=best)
    return labels


def _view_centroids(X: Any, labels: Array, w: Array | None, previous: Array, radius: float | None) -> Array:
    k = previous.shape[0]
    w = np.ones(labels.size) if w is None else w
    mass, sums = weighted_totals(X, labels, k, w)
    return weighted_means(mass, sums, previous, radius)


def weighted_totals(X: Any, labels: Array, k: int, w: Array) -> tuple[Array, Array]:
    """Return the weights (k,) and weighted sums (k, d) of the rows of a view in each cluster."""
    return np.bincount(labels, weights=w, minlength=k), sums_by_label(X, labels, k, w.astype(X.dtype))


def weighted_means(mass: Array, totals: Array, previous: Array, radius: float | None) -> Array:
    """Return the centres (k, d) of a view from ``weighted_totals``; clusters without weight keep their previous one."""
    k, sums = mass.size, totals.copy()
    scale = mass if radius is None else np.sqrt(np.einsum("ij,ij->i", sums, sums, dtype=np.float64)) / radius
    usable = (mass > 0) & (scale > 0)
    sums *= np.divide(1.0, scale, out=np.zeros(k), where=usable).astype(sums.dtype)[:, None]
    sums[~usable] = previous[~usable]
    return sums
