r"""K-means on the one-hot rows of many partitions, which maximises what a partition shares with all of them.

With :math:`c_{k,i}` the shares of the clusters of partition i within cluster k, :math:`q_i` those among all samples and
φ convex, :math:`\sum_i w_i \sum_k p_k \phi(c_{k,i}) - \phi(q_i)` grows as the sum of distances falls.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from manyviews.linalg.blocks import row_blocks
from manyviews.optim.history import History
from manyviews.prototypes.lloyd import lloyd, rows_counted

__all__ = [
    "TINY",
    "UTILITIES",
    "ConsensusRun",
    "assign_one_hot",
    "base_cluster_sizes",
    "block_costs",
    "cluster_shares",
    "consensus_kmeans",
    "partition_scales",
    "scales_of",
    "share_counts",
    "shares_of",
]

Array = NDArray[Any]
Labels = NDArray[np.int64]
UTILITIES = ("categorical", "entropy", "cosine", "lp")
TINY = float(np.finfo(np.float64).eps)


class ConsensusRun(NamedTuple):
    """Labels (n,), centroids (k, D) that they are nearest to, and history."""

    labels: Labels
    centers: Array
    history: History


def block_costs(centers: Array, widths: Labels, weights: Array, utility: str, power: float) -> Array:
    """Return G (D, k): what a sample in base cluster j of partition i adds to its distance to centroid k.

    Parameters
    ----------
    centers : ndarray of shape (k, D)
        Centroids; block i holds the shares of the base clusters of partition i.
    widths : ndarray of shape (r,)
        Base clusters of each partition.
    weights : ndarray of shape (r,)
        Weights of the partitions.
    utility : {"categorical", "entropy", "cosine", "lp"}
        Squared norm, negative entropy, norm, p-norm of the shares.
    power : float
        p of "lp".

    Returns
    -------
    ndarray of shape (D, k)
        Distances are the products of the one-hot rows with it.
    """
    starts = np.concatenate([[0], np.cumsum(widths)[:-1]])
    if utility == "entropy":
        costs = -np.log2(centers + TINY)
    elif utility == "categorical":
        squares = np.add.reduceat(centers**2, starts, axis=1)
        costs = 1 + np.repeat(squares, widths, axis=1) - 2 * centers
    else:
        p = 2.0 if utility == "cosine" else power
        norms = np.add.reduceat(centers**p, starts, axis=1) ** (1 / p)
        costs = 1 - (centers / np.maximum(np.repeat(norms, widths, axis=1), TINY)) ** (p - 1)
    return np.asarray((costs * np.repeat(weights, widths)).T)


def partition_scales(B: Any, widths: Labels, utility: str, power: float, counts: Array | None = None) -> Array:
    """Return the size (r,) of the convex function of the utility at the cluster shares of each partition."""
    return scales_of(base_cluster_sizes(B, counts), widths, utility, power)


def base_cluster_sizes(B: Any, counts: Array | None = None) -> Array:
    """Return how many samples each base cluster has, (D,), as often as they count."""
    sizes = np.zeros(B.shape[1])
    for rows in row_blocks(B.shape[0]):
        block = B[rows]
        sizes += np.asarray(block.sum(axis=0)).ravel() if counts is None else block.T @ counts[rows]
    return sizes


def scales_of(sizes: Array, widths: Labels, utility: str, power: float) -> Array:
    """Do what ``partition_scales`` does, from ``base_cluster_sizes``."""
    starts = np.concatenate([[0], np.cumsum(widths)[:-1]])
    totals = np.add.reduceat(sizes, starts)
    shares = sizes / np.repeat(np.where(totals > 0, totals, 1), widths)
    if utility == "entropy":
        return np.asarray(np.add.reduceat(-shares * np.log2(shares + TINY), starts))
    p = {"categorical": 2.0, "cosine": 2.0, "lp": power}[utility]
    sums = np.add.reduceat(shares**p, starts)
    return np.asarray(sums if utility == "categorical" else sums ** (1 / p))


def consensus_kmeans(
    B: Any,
    widths: Labels,
    centers: Array,
    *,
    weights: Array,
    utility: str,
    power: float = 5.0,
    tol: float = 1e-5,
    max_iter: int = 40,
    counts: Array | None = None,
) -> ConsensusRun:
    """Run k-means with the distance of the utility until the sum of distances settles.

    Parameters
    ----------
    B : csr_array of shape (n, D)
        One-hot rows of all partitions.
    widths : ndarray of shape (r,)
        Base clusters of each partition.
    centers : ndarray of shape (k, D)
        Start.
    weights : ndarray of shape (r,)
        Weights of the partitions, scaled already.
    utility, power
        As in ``block_costs``.
    tol : float, default=1e-5
        Change of the sum that ends the iterations.
    max_iter : int, default=40
        Most iterations.
    counts : ndarray of shape (n,), default=None
        How often each sample counts, above 0; once by default.

    Returns
    -------
    ConsensusRun
        The history holds the sum of each assignment, from that to the start on, as in the toolbox of the authors.
    """

    def update(labels: Labels, previous: Array) -> Array:
        return cluster_shares(B, labels, widths, previous, counts)

    run = lloyd(
        lambda points: assign_one_hot(B, block_costs(points, widths, weights, utility, power)),
        update,
        centers,
        len(centers),
        max_iter=max_iter - 1,
        settled=lambda last, now: last - now < tol,
        rows=rows_counted(counts),
    )
    return ConsensusRun(run.labels, run.centers, History(run.objective, run.objective.size, run.converged))


def assign_one_hot(B: Any, costs: Array) -> tuple[Labels, Array]:
    """Return the cluster (n,) of least cost of each one-hot row, given ``block_costs``, and these costs."""
    labels, losses = np.empty(B.shape[0], dtype=np.int64), np.empty(B.shape[0])
    for rows in row_blocks(B.shape[0]):
        distances = B[rows] @ costs
        labels[rows] = distances.argmin(axis=1)
        losses[rows] = distances.min(axis=1)
    return labels, losses


def cluster_shares(B: Any, labels: Labels, widths: Labels, previous: Array, counts: Array | None = None) -> Array:
    """Return the mean one-hot row of each cluster over the members that each partition has, as often as they count."""
    k = len(previous)
    return shares_of(share_counts(B, labels, k, counts), np.bincount(labels, minlength=k), widths, previous)


def share_counts(B: Any, labels: Labels, k: int, counts: Array | None = None) -> Array:
    """Return how many members of each cluster are in each base cluster, (k, D), as often as they count."""
    D = B.shape[1]
    sums = np.zeros(k * D)
    for rows in row_blocks(B.shape[0]):
        block = B[rows]
        lengths = np.diff(block.indptr)
        cells = np.repeat(labels[rows], lengths) * D + block.indices
        sums += np.bincount(cells, None if counts is None else np.repeat(counts[rows], lengths), minlength=k * D)
    return sums.reshape(k, D)


def shares_of(counts: Array, sizes: Labels, widths: Labels, previous: Array) -> Array:
    """Return the shares (k, D) from ``share_counts`` and the sizes of the clusters; empty ones keep their previous."""
    starts = np.concatenate([[0], np.cumsum(widths)[:-1]])
    members = np.repeat(np.add.reduceat(counts, starts, axis=1), widths, axis=1)
    return np.where(sizes[:, None] > 0, counts / np.where(members > 0, members, 1), previous)
