"""How far to trust a result: what refits and the ensemble say, as numbers and in words."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyviews.pages.wording import fixed, percent
from manyviews.report.findings.agreement import ari, jaccards, moved_share
from manyviews.report.findings.refits import Refits

__all__ = ["DISSOLVES", "trust", "without_each_view"]

Array = NDArray[Any]

# From the adjusted Rand index of a result with its repetitions to a word.
LEVELS = (
    (0.95, "very stable", "it can be relied on"),
    (0.85, "stable", "it can be relied on in the main"),
    (0.7, "fairly stable", "the main groups hold, their edges do not"),
    (0.5, "shaky", "take single assignments with care"),
    (-1.0, "unstable", "other runs find other groups, so do not build on this one"),
)
# Below this overlap with its likeness in a repetition a cluster is taken to have dissolved (Hennig, 2007).
DISSOLVES = 0.6
NUMBERS = {2: "two", 3: "three", 4: "four", 5: "five"}


def trust(refits: Refits, ensemble: dict[str, Any] | None, positions: Array, n_clusters: int) -> dict[str, Any]:
    """Say how stable the result is.

    Parameters
    ----------
    refits : Refits
        What came out of fitting again.
    ensemble : dict or None
        From ``ensemble_support``.
    positions : ndarray of shape (n,)
        Clusters of the result.
    n_clusters : int
        Their number.

    Returns
    -------
    dict
        ``number`` (the smaller of the mean adjusted Rand indices over seeds and over parts of the samples; the
        ensemble's separation where there are none; None where nothing is known), ``level`` and ``sentences``,
        ``seeds`` and ``parts`` (the single indices), ``ensemble``, ``clusters`` (per cluster its mean Jaccard overlap
        with its likeness in the repetitions, None where unknown) and ``notes`` (what was left out, and why).
    """
    if n_clusters < 2:
        return _nothing(["With one cluster there is nothing to be unsure of."])
    seeds = [ari(positions, labels) for labels in refits.seeds]
    parts = [ari(positions[rows], labels) for rows, labels in refits.parts]
    means = [float(np.mean(values)) for values in (seeds, parts) if values]
    found = _nothing(list(refits.notes)) | {"seeds": seeds, "parts": parts, "ensemble": ensemble}
    found["clusters"] = _clusters(refits, positions, n_clusters)
    if means:
        found["number"] = min(means)
        _, found["level"], meaning = next(level for level in LEVELS if found["number"] >= level[0])
        found["sentences"].append(f"The result is {found['level']}: {meaning}.")
    found["sentences"] += _sentences(seeds, parts)
    if ensemble is not None:
        if not means:
            found["number"] = ensemble["separation"]
        found["sentences"].append(_of_ensemble(ensemble))
    if found["number"] is None:
        found["sentences"].append("How stable the result is was not measured.")
    return found


def _nothing(notes: list[str]) -> dict[str, Any]:
    return {
        "number": None,
        "level": None,
        "sentences": [],
        "seeds": [],
        "parts": [],
        "ensemble": None,
        "clusters": None,
        "notes": notes,
    }


def _sentences(seeds: list[float], parts: list[float]) -> list[str]:
    scale = " (1 is the same grouping, 0 is chance)"
    texts = []
    if parts:
        texts.append(
            f"Fitted again on {NUMBERS.get(len(parts), len(parts))} random 80\u00a0% of the samples, it agreed with "
            f"itself with an adjusted Rand index of {_mean_and_least(parts)}{scale}."
        )
    if seeds:
        start = "Fitted again" if not parts else "The same"
        texts.append(
            f"{start} with {NUMBERS.get(len(seeds), len(seeds))} other seeds: {_mean_and_least(seeds)}"
            f"{'' if parts else scale}."
        )
    return texts


def _mean_and_least(values: list[float]) -> str:
    mean, least = fixed(float(np.mean(values))), fixed(min(values))
    return mean if mean == least else f"{mean} on average and {least} at worst"


def _of_ensemble(ensemble: dict[str, Any]) -> str:
    return (
        f"The {ensemble['n']} base clusterings put two samples of one cluster together in "
        f"{percent(ensemble['inside'])} of the cases, two of different clusters in {percent(ensemble['outside'])}: "
        f"the ensemble tells such pairs apart with probability {fixed(ensemble['separation'])} (0.5 is chance)."
    )


def _clusters(refits: Refits, positions: Array, n_clusters: int) -> list[float | None] | None:
    overlaps = [jaccards(positions[rows], n_clusters, labels) for rows, labels in refits.parts]
    overlaps = overlaps or [jaccards(positions, n_clusters, labels) for labels in refits.seeds]
    if not overlaps:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a cluster may be in no part
        means = np.nanmean(np.array(overlaps), axis=0)
    return [float(value) if np.isfinite(value) else None for value in means]


def without_each_view(refits: Refits, positions: Array, n_views: int) -> list[dict[str, float] | None]:
    """Return, per view, what leaving it out changes: ``ari`` with the result and share of samples ``moved``."""
    left_out = [refits.without.get(position) for position in range(n_views)]
    return [
        None if labels is None else {"ari": ari(positions, labels), "moved": moved_share(positions, labels)}
        for labels in left_out
    ]
