"""How much nearer each sample is to its own cluster than to the next one: in every view, and in all together."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyviews.findings.result import GroupedResult
from manyviews.findings.spaces import directions, scaled, side_by_side
from manyviews.pages.wording import plain

__all__ = ["silhouettes_by_view"]

Array = NDArray[Any]

MAX_SAMPLES = 300
TOGETHER = "All views together"


def silhouettes_by_view(
    grouped: GroupedResult,
    order: Array,
    *,
    max_samples: int = MAX_SAMPLES,
    max_views: int | None = None,
    random_state: int,
) -> list[dict[str, Any]]:
    r"""Return the silhouettes of the samples in all views side by side, then in each view.

    For a sample with mean distance a to its own cluster and b to the nearest other one,
    :math:`s = (b - a) / \max(a, b)`: 1 deep inside, 0 on the border, negative nearer to another cluster
    (Rousseeuw, 1987). Views are scaled as the model did, and brought down to 50 directions where they have more.

    Parameters
    ----------
    grouped : GroupedResult
        What was clustered and how.
    order : ndarray of shape (n,)
        Random order of the samples, of which the first are taken.
    max_samples : int, default=300
        Samples m per space; cost O(m²).
    max_views : int, default=None
        How many views, from the first; all by default.
    random_state : int
        Seed of the solvers for the directions.

    Returns
    -------
    list of dict
        ``name``, ``mean``, ``rows`` and ``values``: one list per cluster, values from high to low. Spaces with one
        cluster, or with no two samples of one, are left out.
    """
    rows = np.sort(order[:max_samples])
    found = []
    if len(grouped.views.names) > 1:
        table = side_by_side(grouped.views[rows], grouped.scalings)
        found.append(_silhouettes(TOGETHER, rows, table, grouped, random_state))
        del table
    parts = zip(grouped.views.items(), grouped.views.observed.T, grouped.scalings, strict=True)
    for (name, array), observed, kind in list(parts)[:max_views]:
        seen = np.sort(order[observed[order]][:max_samples])
        if seen.size:
            found.append(_silhouettes(name, seen, scaled(array[seen], kind), grouped, random_state))
    return [each for each in found if each is not None]


def _silhouettes(
    name: str, rows: Array, table: Any, grouped: GroupedResult, random_state: int
) -> dict[str, Any] | None:
    from sklearn.metrics import silhouette_samples

    clusters = grouped.positions[rows]
    if not 2 <= np.unique(clusters).size < rows.size:
        return None
    values = silhouette_samples(directions(table, random_state), clusters)
    inside = [np.flatnonzero(clusters == cluster) for cluster in range(grouped.n_clusters)]
    inside = [members[np.argsort(-values[members], kind="stable")] for members in inside]
    return {
        "name": plain(name, 120),
        "mean": float(values.mean()),
        "rows": [rows[members].tolist() for members in inside],
        "values": [np.round(values[members], 3).tolist() for members in inside],
    }
