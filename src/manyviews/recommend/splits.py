"""How clusters split from one number of clusters to the next: sizes, and what came from which."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["splits_of"]


def splits_of(cuts: NDArray[np.int64], numbers: Sequence[int]) -> dict[int, list[dict[str, Any]]]:
    """Return the clusters of each number, and what each took from those of the number before.

    Parameters
    ----------
    cuts : ndarray of shape (m, K)
        Labels of the same samples for each number.
    numbers : sequence of int
        Numbers of clusters, rising.

    Returns
    -------
    dict of int to list of dict
        "size" of each cluster and its "parts", both in shares of all samples; parts are those that came from each
        cluster of the number before, none for the first number. Clusters stand where their samples came from, the
        larger first where that is one.
    """
    n, before = len(cuts), None
    found: dict[int, list[dict[str, Any]]] = {}
    for i, k in enumerate(numbers):
        labels = np.unique(cuts[:, i], return_inverse=True)[1].ravel()
        sizes = np.bincount(labels)
        if before is None:
            parts = np.zeros((sizes.size, 0))
            order = np.argsort(-sizes, kind="stable")
        else:
            parts = np.zeros((sizes.size, int(before.max()) + 1))
            np.add.at(parts, (labels, before), 1.0 / n)
            places = parts @ np.arange(parts.shape[1]) * n / sizes
            order = np.lexsort((-sizes, np.round(places, 1)))
        found[int(k)] = [{"size": float(sizes[c] / n), "parts": parts[c].tolist()} for c in order]
        before = np.argsort(order)[labels]
    return found
