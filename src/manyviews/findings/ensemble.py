"""How the base clusterings of an ensemble support its result."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyviews.findings.together import usable_groupings

__all__ = ["ensemble_support"]

Array = NDArray[Any]

N_PAIRS = 20_000


def ensemble_support(base_labels: Any, positions: Array, n_clusters: int, random_state: int) -> dict[str, Any] | None:
    """Ask the base clusterings about pairs of samples.

    A base clustering may have any number of groups, so its agreement with the result as a whole says little. Pairs do:
    ``separation`` is the probability that a pair from one cluster was together in more base clusterings than a pair
    from two clusters (ties count half): 1 where the ensemble is of one mind, 0.5 where it knows nothing of the
    clusters.

    Parameters
    ----------
    base_labels : array-like of shape (n, M)
        One base clustering per column; negative numbers and NaN where a sample was left out of one.
    positions : ndarray of shape (n,)
        Clusters of the result.
    n_clusters : int
        Their number.
    random_state : int
        Seed of the choice of 20 000 pairs of each kind.

    Returns
    -------
    dict or None
        ``n`` base clusterings, ``inside`` and ``outside`` (share of the base clusterings that put a pair from one
        cluster, from two clusters, together) and ``separation``; None where there are no such pairs or no base
        clusterings.
    """
    from scipy.stats import rankdata

    table = usable_groupings(base_labels, positions.size)
    if table is None or n_clusters < 2 or np.bincount(positions).max() < 2:
        return None
    rng = np.random.default_rng(random_state)
    inside = _together(table, *_pairs_inside(positions, rng))
    outside = _together(table, *_pairs_outside(positions, rng))
    if inside.size == 0 or outside.size == 0:
        return None
    ranks = rankdata(np.concatenate([inside, outside]))[: inside.size]
    above = ranks.sum() - inside.size * (inside.size + 1) / 2
    return {
        "n": int(table.shape[1]),
        "inside": float(inside.mean()),
        "outside": float(outside.mean()),
        "separation": float(above / (inside.size * outside.size)),
    }


def _pairs_inside(positions: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """Draw a sample, and another of its cluster."""
    by_cluster = np.argsort(positions, kind="stable")
    sizes = np.bincount(positions)
    starts = np.cumsum(sizes) - sizes
    place = rng.integers(positions.size, size=N_PAIRS)
    cluster = positions[by_cluster[place]]
    size, start = sizes[cluster], starts[cluster]
    step = (rng.random(N_PAIRS) * np.maximum(size - 1, 1)).astype(np.int64) + 1
    other = start + (place - start + step) % size
    paired = size > 1
    return by_cluster[place[paired]], by_cluster[other[paired]]


def _pairs_outside(positions: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    first, second = rng.integers(positions.size, size=(2, 4 * N_PAIRS))
    apart = np.flatnonzero(positions[first] != positions[second])[:N_PAIRS]
    return first[apart], second[apart]


def _together(table: Array, first: Array, second: Array) -> Array:
    """Return the share of the base clusterings that hold both samples of a pair and put them together."""
    a, b = table[first], table[second]
    known = (a >= 0) & (b >= 0)  # also False for NaN
    shared = known.sum(axis=1)
    together = ((a == b) & known).sum(axis=1)
    return np.asarray(together[shared > 0] / shared[shared > 0])
