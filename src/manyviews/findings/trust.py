"""How far to trust a result: what refits and the ensemble say, as numbers and in words."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyviews.findings.agreement import ari, jaccards, moved_share
from manyviews.findings.refits import Refits, stability_of
from manyviews.pages.stability import MUCH, SAME, groups_in_words, level_of
from manyviews.pages.wording import amount, count, fixed, percent

__all__ = ["DISSOLVES", "steadier_baselines", "trust", "without_each_view"]

Array = NDArray[Any]

# What a word for the stability of a result means, where nothing speaks against it.
MEANINGS = {
    "very stable": "it can be relied on, as far as repetition can tell",
    "stable": "it can be relied on in the main, as far as repetition can tell",
    "fairly stable": "the main groups hold, their edges do not",
    "shaky": "take single assignments with care",
    "unstable": "other runs find other groups, so do not build on this one",
}
# A view without which so many samples move carries the result.
CARRIES = 0.2
# A baseline whose stability is no further below is as stable; one that is so far above is steadier.
AS_STABLE, STEADIER = 0.02, 0.05
# Below this overlap with its likeness in a repetition a cluster is taken to have dissolved (Hennig, 2007).
DISSOLVES = 0.6
NUMBERS = {1: "one", 2: "two", 3: "three", 4: "four", 5: "five"}


def trust(
    refits: Refits,
    ensemble: dict[str, Any] | None,
    positions: Array,
    n_clusters: int,
    *,
    without: Mapping[str, float] | None = None,
    baselines: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """Say how stable the result is, and whether that is a reason to rely on it.

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
    without : mapping of str to float, default=None
        Share of the samples that move when a view is left out, by the name of the view.
    baselines : sequence of dict, default=()
        From ``plain_baselines``.

    Returns
    -------
    dict
        ``number`` (the smaller of the mean adjusted Rand indices over seeds and over parts of the samples; None
        without refits), ``level`` and ``sentences``, ``seeds`` and ``parts`` (the single indices), ``reseeded``
        (whether the fits on parts had other seeds too), ``ensemble``, ``baselines``, ``clusters`` (per cluster its mean
        Jaccard overlap with its likeness in the repetitions, None where unknown) and ``notes`` (what was left out,
        and why).
    """
    if n_clusters < 2:
        return _nothing(["With one cluster there is nothing to be unsure of."])
    seeds = [ari(positions, labels) for labels in refits.seeds]
    parts = [ari(positions[rows], labels) for rows, labels in refits.parts]
    measured = {"seeds": seeds, "parts": parts, "reseeded": refits.reseeded, "ensemble": ensemble}
    found = _nothing(list(refits.notes)) | measured
    found["baselines"], found["number"] = list(baselines), stability_of(refits, positions)
    found["clusters"] = _clusters(refits, positions, n_clusters)
    if found["number"] is None:
        found["sentences"].append("How stable the result is was not measured.")
    else:
        found["level"] = level_of(found["number"])
        found["sentences"].append(_verdict(found, without or {}))
    found["sentences"] += [*_sentences(seeds, parts, refits.reseeded), *_of_baselines(baselines, positions.size)]
    if ensemble is not None:
        found["sentences"].append(_of_ensemble(ensemble))
    return found


def _verdict(found: dict[str, Any], without: Mapping[str, float]) -> str:
    """Return what the stability means: stable is not right, where single views or a plain way say otherwise."""
    level, number = found["level"], found["number"]
    if number < SAME:
        return f"The result is {level}: {MEANINGS[level]}."
    carrier = max(without, key=lambda name: without[name], default=None)
    if carrier is not None and without[carrier] > CARRIES:
        return (
            f"The result is {level}, which is not to say that it is right: it rests on single views, and without "
            f"{carrier} {percent(without[carrier])} of the samples move."
        )
    against = [
        each["words"]
        for each in found["baselines"]
        if each["agreement"] is not None
        and each["agreement"] < MUCH
        and each["stability"] is not None
        and each["stability"] >= number - AS_STABLE
    ]
    if against:
        return (
            f"The result is {level}, which is not to say that it is right: {against[0]} is as stable and finds other "
            "groups."
        )
    return f"The result is {level}: {MEANINGS[level]}."


def _of_baselines(baselines: Sequence[Mapping[str, Any]], n_samples: int) -> list[str]:
    known = [each for each in baselines if each["agreement"] is not None]
    if not known:
        return []
    texts = [
        f"{each['words']} finds {groups_in_words(each['agreement'])} (adjusted Rand index {fixed(each['agreement'])})"
        for each in known
    ]
    text = ", ".join(texts)
    least = min(each["n_used"] for each in known)
    whole = all(each["n_used"] == n_samples for each in known)
    on = "" if whole else f" (on {amount(least, 'sample')})"
    return [f"{'Two plain ways' if len(known) > 1 else 'A plain way'} beside it{on}: {text}."]


def steadier_baselines(found: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the baselines that are steadier than the result."""
    number = found["number"]
    measured = [each for each in found["baselines"] if each["stability"] is not None]
    return [each for each in measured if number is not None and each["stability"] > number + STEADIER]


def _nothing(notes: list[str]) -> dict[str, Any]:
    return {
        "number": None,
        "level": None,
        "sentences": [],
        "seeds": [],
        "parts": [],
        "reseeded": False,
        "ensemble": None,
        "baselines": [],
        "clusters": None,
        "notes": notes,
    }


def _sentences(seeds: list[float], parts: list[float], reseeded: bool) -> list[str]:
    scale = " (1 is the same grouping, 0 is chance)"
    texts = []
    if parts:
        texts.append(
            f"Fitted again on {_parts_in_words(len(parts), reseeded)}, it agreed with itself with an adjusted Rand "
            f"index of {_mean_and_least(parts)}{scale}."
        )
    if seeds:
        start = "Fitted again" if not parts else "The same"
        others = f"{_in_words(len(seeds))} other {'seed' if len(seeds) == 1 else 'seeds'}"
        texts.append(f"{start} with {others}: {_mean_and_least(seeds)}{'' if parts else scale}.")
    return texts


def _parts_in_words(n: int, reseeded: bool) -> str:
    if n == 1:
        return "a random part of the samples (80\u00a0%)" + (" with another seed" if reseeded else "")
    parts = f"{_in_words(n)} random parts of the samples (80\u00a0% each)"
    return parts + (", each time with another seed" if reseeded else "")


def _in_words(n: int) -> str:
    return NUMBERS.get(n, count(n))


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
