"""The columns that tell clusters apart, as z-scores of samples ordered by cluster."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manyviews.findings.features import column_name, telling_features
from manyviews.findings.result import GroupedResult
from manyviews.pages.wording import plain

__all__ = ["feature_scores"]

Array = NDArray[Any]

MAX_FEATURES, MAX_SAMPLES = 48, 200
MAX_CLUSTERS = 40


def feature_scores(
    grouped: GroupedResult, order: Array, *, max_features: int = MAX_FEATURES, max_samples: int = MAX_SAMPLES
) -> dict[str, Any] | None:
    """Return z-scores of the most telling columns of every view.

    Of each cluster the columns of the largest effect are taken in turn, until every view has its share of
    ``max_features``. A z-score is the number less the mean of its column, over its standard deviation, over all samples
    that were observed.

    Parameters
    ----------
    grouped : GroupedResult
        What was clustered and how.
    order : ndarray of shape (n,)
        Random order of the samples, of which the first are taken.
    max_features : int, default=48
        Columns on the whole, at least one of each view.
    max_samples : int, default=200
        Samples m.

    Returns
    -------
    dict or None
        ``features`` (``view`` and ``name``, by view), ``rows`` (m,) by cluster, their ``clusters``, and ``z``, one list
        of m per feature, None where a sample was not observed. None where no column tells clusters apart.
    """
    views, k = grouped.views, grouped.n_clusters
    share = max(1, max_features // len(views.names))
    shown = min(k, MAX_CLUSTERS)
    telling = telling_features(views, grouped.positions, k, n_shown=shown, n_features=max(1, -(-2 * share // shown)))
    rows = order[:max_samples]
    rows = rows[np.lexsort((rows, grouped.positions[rows]))]
    features, scores = [], []
    for position in range(len(views.names)):
        for column in _chosen(telling, position, share):
            z = _z_scores(views.arrays[position], views.observed[:, position], column, rows)
            name = column_name(views.feature_names[position], column)
            features.append({"view": plain(views.names[position], 120), "name": name})
            scores.append([None if np.isnan(value) else round(float(value), 1) for value in z])
    if not features:
        return None
    return {"features": features, "rows": rows.tolist(), "clusters": grouped.positions[rows].tolist(), "z": scores}


def _chosen(telling: list[list[dict[str, Any]]], view: int, share: int) -> list[int]:
    """Return columns of a view: the first of every cluster, then the second, until there are enough; by cluster."""
    of_clusters = [
        [feature["column"] for part in parts if part["view"] == view for feature in part["features"]]
        for parts in telling
    ]
    owner: dict[int, int] = {}
    for turn in range(max(map(len, of_clusters), default=0)):
        for cluster, columns in enumerate(of_clusters):
            if turn < len(columns) and len(owner) < share:
                owner.setdefault(columns[turn], cluster)
    return sorted(owner, key=lambda column: owner[column])


def _z_scores(array: Any, observed: Array, column: int, rows: Array) -> Array:
    part = array[:, [column]]
    values = np.asarray(part.todense() if sparse.issparse(part) else part, dtype=np.float64).ravel()
    known = values[observed]
    spread = known.std()
    z = (values[rows] - known.mean()) / (spread if spread > 0 else 1.0)
    return np.where(observed[rows], z, np.nan)
