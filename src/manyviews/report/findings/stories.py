"""What each view says by itself, held against the result of all views together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manyviews.prototypes.kmeans import kmeans, nearest_center_distances
from manyviews.report.findings.agreement import ari
from manyviews.report.findings.spaces import scaled
from manyviews.views import Views

__all__ = ["OTHER", "UNCLEAR", "WITH", "view_stories"]

Array = NDArray[Any]

# Enough for an adjusted Rand index to the second decimal, and quick.
MAX_SAMPLES, MAX_DIRECTIONS = 5000, 50
N_INIT = 4

WITH, OTHER, UNCLEAR = "with the result", "another story", "no clear groups"
# A view whose two halves agree less than this has no grouping that could contradict anything.
CLEAR = 0.5


def view_stories(
    views: Views, scalings: Sequence[str | None], positions: Array, n_clusters: int, order: Array, random_state: int
) -> list[dict[str, Any]]:
    """Cluster each view by itself, into as many clusters, and compare.

    The same plain method for every view and model: k-means on the scaled view, brought down to 50 directions where it
    has more columns, on at most 5000 samples. ``agreement`` is the adjusted Rand index of these clusters and the
    result. ``certainty`` is that of two k-means which saw one half of the samples each and then both labelled all:
    high only where the view has groups of its own that do not depend on which samples one looks at.

    A view tells ``another story`` where it agrees with itself (certainty of at least 0.5) more than twice as much as
    with the result: it has clear groups, and the result is not about them. A low agreement alone does not say that:
    a view of noise has it too, and is said to have ``no clear groups``.

    Parameters
    ----------
    views : Views
        What was clustered.
    scalings : sequence of str or None
        Scaling of each view.
    positions : ndarray of shape (n,)
        Cluster of each sample.
    n_clusters : int
        Number of clusters.
    order : ndarray of shape (n,)
        Random order of the samples, of which the first are taken.
    random_state : int
        Seed of the starts.

    Returns
    -------
    list of dict
        Per view ``agreement``, ``certainty`` and ``story``, each None where it cannot be told, and ``n_used``.
    """
    stories: list[dict[str, Any]] = []
    for array, kind, observed in zip(views.arrays, scalings, views.observed.T, strict=True):
        rows = order[observed[order]][:MAX_SAMPLES]
        rng = np.random.default_rng(random_state)
        if n_clusters < 2 or rows.size < 2 * n_clusters:
            stories.append({"agreement": None, "certainty": None, "story": None, "n_used": int(rows.size)})
            continue
        table = _directions(scaled(array[rows], kind), random_state)
        agreement = ari(kmeans(table, n_clusters, rng, n_init=N_INIT).labels, positions[rows])
        certainty = _certainty(table, n_clusters, rng)
        story = _story(agreement, certainty)
        stories.append({"agreement": agreement, "certainty": certainty, "story": story, "n_used": int(rows.size)})
    return stories


def _story(agreement: float, certainty: float | None) -> str | None:
    if certainty is None:
        return None
    if agreement >= max(certainty, CLEAR) / 2:
        return WITH
    return OTHER if certainty >= CLEAR else UNCLEAR


def _certainty(table: Array, k: int, rng: np.random.Generator) -> float | None:
    """Return the agreement of two clusterings that were each made from one half of the rows."""
    half = table.shape[0] // 2
    if half < 2 * k:
        return None
    halves = (table[:half], table[half:])
    first, second = (
        nearest_center_distances(table, kmeans(part, k, rng, n_init=N_INIT).centers).argmin(axis=1) for part in halves
    )
    # A view that puts everything into one group agrees with itself perfectly, and says nothing.
    return ari(first, second) if min(np.unique(first).size, np.unique(second).size) > 1 else 0.0


def _directions(table: Any, random_state: int) -> Array:
    """Return a dense table of at most 50 columns."""
    from sklearn.decomposition import PCA, TruncatedSVD

    if not _varies(table):
        return np.zeros((table.shape[0], 1))
    size = min(MAX_DIRECTIONS, *table.shape)
    if sparse.issparse(table):
        if min(table.shape) <= 2:
            return np.asarray(table.toarray(), dtype=np.float64)
        return np.asarray(TruncatedSVD(size, random_state=random_state).fit_transform(table), dtype=np.float64)
    if table.shape[1] <= MAX_DIRECTIONS:
        return np.asarray(table, dtype=np.float64)
    return np.asarray(PCA(size, random_state=random_state).fit_transform(table), dtype=np.float64)


def _varies(table: Any) -> bool:
    """Return whether any two rows differ; rows that do not have no directions to be found."""
    top, low = table.max(axis=0), table.min(axis=0)
    return bool((top != low).sum())
