"""Two plain ways to cluster the same views, held against the result: do they find it too, and are they as steady."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manyviews.cluster.registry import find_method
from manyviews.findings.agreement import ari
from manyviews.findings.refits import UNSUITABLE, Refits, refit, stability_of
from manyviews.findings.wanted import wanted_of
from manyviews.pages.wording import plain
from manyviews.views import Views

__all__ = ["BASELINES", "plain_baselines"]

Array = NDArray[Any]

# Name of the method, and what to call it in a sentence.
BASELINES = (
    ("concat-kmeans", "k-means of all views side by side"),
    ("concat-spectral", "spectral clustering of all views side by side"),
)
# On so many samples at most; on fewer where comparing each with each would take more multiplications than this, that is
# for seconds. A rule and no clock, so that the same input gives the same page.
MOST, LEAST, MULTIPLICATIONS = 20_000, 1_000, 2e10
# Of the time for refits, what each of them may take for its own.
SHARE = 0.2


def plain_baselines(
    model: Any,
    views: Views,
    positions: Array,
    n_clusters: int,
    *,
    seconds: float,
    like: Refits | None = None,
    random_state: int = 0,
) -> list[dict[str, Any]]:
    """Fit balanced k-means and nearest-neighbour spectral clustering of the concatenation, and compare.

    Samples that are not in every view are left out, and a random part is taken of more than 20 000; of less, but for
    1000, where the views have many columns.

    Parameters
    ----------
    model : estimator
        What made the result; its own kind is not compared with itself.
    views : Views
        The data.
    positions : ndarray of shape (n,)
        Clusters of the result.
    n_clusters : int
        Their number.
    seconds : float
        Time that the report has for refits; a fifth of it goes to the stability of each baseline, none where it is 0.
    like : Refits, default=None
        The refits of the result: a baseline is fitted again as often, so that both are measured alike.
    random_state : int, default=0
        Seed of the choice of samples and of the fits.

    Returns
    -------
    list of dict
        Per baseline ``name``, ``words``, ``agreement`` (adjusted Rand index with the result), ``stability`` (as of the
        result, None where not measured), ``n_used`` and ``note`` (why it was not fitted; else empty).
    """
    complete = np.flatnonzero(views.observed.all(axis=1))
    if n_clusters < 2 or complete.size < max(2 * n_clusters, len(views) // 2):
        return []
    order = np.random.default_rng(random_state).permutation(complete)
    part = np.sort(order[: _affordable(views)])
    some = views if part.size == len(views) else views[part]
    wanted = wanted_of(model, views.names) or {}
    weights = {name: wanted[name] for name in views.names if name in wanted} or None
    found = []
    for name, words in BASELINES:
        info = find_method(name)
        if type(model).__name__ == info.class_name:
            continue
        estimator = info.load()(n_clusters=n_clusters, view_weights=weights, random_state=random_state)
        entry = {"name": info.name, "words": words, "agreement": None, "stability": None, "n_used": 0, "note": ""}
        try:
            found.append(entry | _compared(estimator, some, positions[part], seconds, like))
        except UNSUITABLE as error:
            found.append(entry | {"note": plain(error, 160)})
    return found


def _affordable(views: Views) -> int:
    """Return the number of samples that a fit may have."""
    stored = sum(array.nnz if sparse.issparse(array) else array.size for array in views.arrays)
    per_sample = max(stored / len(views), 1.0)
    return int(np.clip(np.sqrt(MULTIPLICATIONS / per_sample), LEAST, MOST))


def _compared(estimator: Any, views: Views, positions: Array, seconds: float, like: Refits | None) -> dict[str, Any]:
    labels, took = _fitted(estimator, views)
    again = refit(estimator, views, seconds=SHARE * seconds, fit_seconds=took, leave_views_out=False, like=like)
    return {"agreement": ari(positions, labels), "stability": stability_of(again, labels), "n_used": len(views)}


def _fitted(estimator: Any, views: Views) -> tuple[Array, float]:
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        labels = np.asarray(estimator.fit(views).labels_)
    return labels, time.perf_counter() - start
