"""How often pairs of samples were put together by many groupings: the co-association matrix, ordered by cluster."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["pairs_together", "usable_groupings"]

Array = NDArray[Any]

# A picture of so many rows and columns shows all that a screen can, and is small enough for a page.
MAX_SAMPLES = 200


def usable_groupings(base_labels: Any, n_samples: int) -> Array | None:
    """Return base clusterings as an array (n, M), None where there are not two of them for these samples."""
    table = None if base_labels is None else np.asarray(base_labels)
    if table is None or table.ndim != 2 or table.shape[0] != n_samples or table.shape[1] < 2:
        return None
    return table if table.dtype.kind in "iuf" else None


def pairs_together(
    base_labels: Any, positions: Array, order: Array, *, max_samples: int = MAX_SAMPLES
) -> dict[str, Any] | None:
    """Return the share of the groupings that put each pair of samples together.

    Parameters
    ----------
    base_labels : array-like of shape (n, M)
        One grouping per column; negative numbers and NaN where a sample was left out of one.
    positions : ndarray of shape (n,)
        Cluster of each sample.
    order : ndarray of shape (n,)
        Random order of the samples, of which the first are taken.
    max_samples : int, default=200
        Samples m that are looked at; raising it shows small clusters better at a cost of O(m² M).

    Returns
    -------
    dict or None
        ``rows`` (m,), by cluster and inside clusters by how firmly a sample belongs to it; their ``clusters``;
        ``percent``, m lists of m whole numbers; ``n`` groupings, ``of`` samples. None without two groupings.
    """
    table = usable_groupings(base_labels, positions.size)
    if table is None or positions.size < 2:
        return None
    rows = order[:max_samples]
    shares = _shares(table[rows])
    clusters = positions[rows]
    same = clusters[:, None] == clusters
    firm = (shares * same).sum(axis=1) / same.sum(axis=1)
    sorted_rows = np.lexsort((rows, -firm, clusters))
    percent = np.round(100 * shares[np.ix_(sorted_rows, sorted_rows)]).astype(np.int64)
    return {
        "rows": rows[sorted_rows].tolist(),
        "clusters": clusters[sorted_rows].tolist(),
        "percent": percent.tolist(),
        "n": int(table.shape[1]),
        "of": int(positions.size),
    }


def _shares(table: Array) -> Array:
    m = table.shape[0]
    together, known = np.zeros((m, m)), np.zeros((m, m))
    for column in table.T:
        there = column >= 0  # also False for NaN
        both = there[:, None] & there
        together += (column[:, None] == column) & both
        known += both
    shares = np.divide(together, known, out=np.zeros((m, m)), where=known > 0)
    np.fill_diagonal(shares, 1.0)
    return shares
