"""All maps of a page, over one shared table of the points that they draw."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyviews.findings.maps import consensus_map, neighbor_map, points_per_map, view_map
from manyviews.findings.members import sample_name
from manyviews.findings.result import GroupedResult
from manyviews.findings.spaces import embedding_of
from manyviews.findings.truth import Classes
from manyviews.pages.wording import plain

__all__ = ["all_maps"]

Array = NDArray[Any]

# t-SNE of so many takes a few seconds on one core
MAX_NEIGHBORS = 600


def all_maps(
    model: Any, grouped: GroupedResult, classes: Classes | None, order: Array, random_state: int
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return the maps, their points as positions in one table, and that table.

    Parameters
    ----------
    model : estimator
        Fitted; its embedding is drawn where it has one.
    grouped : GroupedResult
        What was clustered and how.
    classes : Classes or None
        Known classes.
    order : ndarray of shape (n,)
        Random order of the samples; large data shows the first of it.
    random_state : int
        Seed of the solvers.

    Returns
    -------
    tuple of (list of dict, dict)
        Maps, all views together first and by neighbours last; table with ``sample``, ``cluster`` and ``class``.
    """
    views, scalings = grouped.views, grouped.scalings
    embedding = embedding_of(model, len(views))
    maps = []
    limit = points_per_map(len(views.names) + 1)
    # With one view and no embedding, all views together are that view.
    if embedding is not None or len(views.names) > 1:
        maps.append(consensus_map(views, embedding, scalings, order, limit, random_state))
    maps += [view_map(views, i, kind, order, limit, random_state) for i, kind in enumerate(scalings)]
    nearby = neighbor_map(grouped, embedding, order, limit=MAX_NEIGHBORS, random_state=random_state)
    maps += [] if nearby is None else [nearby]
    rows = np.unique(np.concatenate([np.asarray(flat["rows"], dtype=np.int64) for flat in maps]))
    for flat in maps:
        flat["name"] = plain(flat["name"], 120)
        flat["points"] = np.searchsorted(rows, flat.pop("rows")).tolist()
    points: dict[str, Any] = {
        "sample": [sample_name(views, row) for row in rows.tolist()],
        "cluster": grouped.positions[rows].tolist(),
        "class": None,
    }
    if classes is not None:
        points["class"] = [classes.names[code] if code >= 0 else None for code in classes.codes[rows].tolist()]
    return maps, points
