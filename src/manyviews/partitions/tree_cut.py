"""Labels from a tree of merges, at given numbers of clusters."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["tree_labels"]


def tree_labels(tree: NDArray[Any], numbers: Sequence[int]) -> NDArray[np.int64]:
    """Cut a tree of merges into given numbers of clusters.

    Parameters
    ----------
    tree : ndarray of shape (n - 1, 4)
        Merges as ``scipy.cluster.hierarchy.linkage`` returns them, none lower than those it builds on.
    numbers : sequence of int
        Numbers of clusters, each from 1 to n.

    Returns
    -------
    ndarray of shape (n, len(numbers)), int64
        Labels from 0, in the order in which clusters come among the rows. They are those of SciPy's ``cut_tree``, also
        where merges are equally high, which walks through all leaves of every merge: here a cut costs O(n).
    """
    n = tree.shape[0] + 1
    children = tree[:, :2].astype(np.int64).tolist()
    order = _from_low_to_high(children, tree[:, 2].tolist())
    labels = np.empty((n, len(numbers)), dtype=np.int64)
    for column, k in enumerate(numbers):
        parent = list(range(2 * n - 1))
        for node in order[: n - k]:
            left, right = children[node]
            parent[left] = parent[right] = n + node
        # a merge stands after those that it builds on, so that from the top down each has its root at hand
        for place in range(2 * n - 2, -1, -1):
            parent[place] = parent[parent[place]]
        _, first, inverse = np.unique(parent[:n], return_index=True, return_inverse=True)
        labels[:, column] = np.argsort(np.argsort(first))[inverse.ravel()]
    return labels


def _from_low_to_high(children: list[list[int]], heights: list[float]) -> list[int]:
    """Return the merges by height; of equal ones, those that a walk from the top by levels meets later come first."""
    n, waiting, met = len(children) + 1, deque([2 * len(children)]), []
    while waiting:
        node = waiting.popleft() - n
        if node >= 0:
            met.append(node)
            left, right = children[node]
            waiting += (right, left)
    met.reverse()
    return sorted(met, key=heights.__getitem__)
