"""Merge samples whose labels agree, so that a consensus is sought among fewer of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Groups", "all_equal", "group_labels", "merge_equal_rows", "merge_similar_rows"]

Labels = NDArray[np.int64]


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


def merge_similar_rows(labels: Labels, max_groups: int) -> Groups:
    """Group the samples whose labels agree in as many of the finest partitions as leave at most ``max_groups`` groups.

    Linear in n. Where the samples have no more than ``max_groups`` distinct rows this is ``merge_equal_rows``.

    Parameters
    ----------
    labels : ndarray of shape (n, M) of int
        Labels; -1 for none.
    max_groups : int
        Most groups.

    Returns
    -------
    Groups
        In order of first appearance.
    """
    code = np.zeros(labels.shape[0], dtype=np.int64)
    for column in np.argsort(-labels.max(axis=0, initial=-1), kind="stable"):
        finer = np.unique(code * (int(labels.max()) + 2) + labels[:, column] + 1, return_inverse=True)[1].ravel()
        if int(finer.max()) >= max_groups:
            break
        code = finer
    return merge_equal_rows(code[:, None])


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
