"""Merge samples whose labels agree, so that a consensus is sought among fewer of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from manyviews.partitions.coassociation import indicator_matrix
from manyviews.prototypes.kmeans import kmeans

__all__ = ["Groups", "all_equal", "every_row", "group_labels", "merge_equal_rows", "merge_rows", "merge_similar_rows"]

Labels = NDArray[np.int64]
# how many singular directions of the one-hot labels tell samples apart, and how often their groups are improved
DIRECTIONS = 64
SWEEPS = 20


class Groups(NamedTuple):
    """Samples with equal labels: a representative of each group, the group of each sample, and sizes."""

    first: NDArray[np.int64]
    of_sample: NDArray[np.int64]
    sizes: NDArray[np.int64]


def merge_equal_rows(labels: Labels) -> Groups:
    """Group the samples whose labels agree in every partition, in order of first appearance.

    Parameters
    ----------
    labels : ndarray of shape (n, M) of int
        Labels of n samples in M partitions; -1 where a sample is in no cluster.

    Returns
    -------
    Groups
        ``labels[groups.first][groups.of_sample]`` equals ``labels``.
    """
    _, first, inverse, sizes = np.unique(labels, axis=0, return_index=True, return_inverse=True, return_counts=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(order.size)
    return Groups(first[order].astype(np.int64), rank[inverse.ravel()].astype(np.int64), sizes[order].astype(np.int64))


def merge_similar_rows(labels: Labels, max_groups: int, rng: np.random.Generator) -> Groups:
    r"""Group the samples that share most clusters, so that at most ``max_groups`` groups are left.

    With B the one-hot labels of all partitions side by side, :math:`\|b_i - b_j\|^2` counts the partitions in which two
    samples are not together. The rows are reduced to their leading singular directions and grouped by k-means. Linear
    in n. Where the samples have no more than ``max_groups`` distinct rows this is ``merge_equal_rows``.

    Parameters
    ----------
    labels : ndarray of shape (n, M) of int
        Labels; -1 for none.
    max_groups : int
        Most groups.
    rng : Generator
        Source of the decomposition and of the centres.

    Returns
    -------
    Groups
        In order of first appearance; samples with equal labels share a group.
    """
    from sklearn.utils.extmath import randomized_svd

    distinct = merge_equal_rows(labels)
    if distinct.first.size <= max_groups:
        return distinct
    B = indicator_matrix(labels[distinct.first], dtype=np.float32)
    weighted = B.multiply(np.sqrt(distinct.sizes).astype(np.float32)[:, None]).tocsr()
    directions = min(DIRECTIONS, min(B.shape) - 1)
    Vt = randomized_svd(weighted, directions, n_iter=4, random_state=int(rng.integers(2**31 - 1)))[2]
    groups = kmeans(B @ Vt.T, max_groups, rng, n_init=1, max_iter=SWEEPS, weights=distinct.sizes).labels
    return merge_equal_rows(groups[distinct.of_sample][:, None])


def group_labels(labels: Labels, groups: Groups) -> Labels:
    """Return the most frequent label of each group in each partition, (u, M); the smallest of equally frequent ones."""
    u = groups.first.size
    if all_equal(labels, groups):
        return np.asarray(labels[groups.first])
    out = np.empty((u, labels.shape[1]), dtype=np.int64)
    for j in range(labels.shape[1]):
        base = int(labels[:, j].max()) + 2
        keys, counts = np.unique(groups.of_sample * base + labels[:, j] + 1, return_counts=True)
        group, label = np.divmod(keys, base)
        order = np.lexsort((label, -counts, group))
        out[:, j] = label[order[np.searchsorted(group[order], np.arange(u))]] - 1
    return out


def all_equal(labels: Labels, groups: Groups) -> bool:
    """Tell whether the samples of every group have equal labels."""
    return np.array_equal(labels[groups.first][groups.of_sample], labels)


def every_row(n: int) -> Groups:
    """Return groups of one row each."""
    return Groups(np.arange(n), np.arange(n), np.ones(n, dtype=np.int64))


def merge_rows(base_labels: Labels, most: int | None, rng: np.random.Generator) -> Groups:
    """Merge samples with equal labels, and where more than ``most`` groups are left, similar ones too."""
    groups = merge_equal_rows(base_labels)
    if most is not None and groups.first.size > most:
        return merge_similar_rows(base_labels, most, rng)
    return groups
