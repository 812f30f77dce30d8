"""The sentences of the report: what came out, and what to be careful about."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from manyviews.findings.single_views import OTHER
from manyviews.findings.trust import DISSOLVES, steadier_baselines
from manyviews.pages.stability import MUCH, groups_in_words
from manyviews.pages.wording import amount, clusters_of, count, enumerated, percent

__all__ = ["headline", "seconds_of", "title", "warnings"]


def title(summary: Mapping[str, Any]) -> str:
    """Return the title of a page that was given none."""
    data = summary["data"]
    return f"{amount(data['n_samples'], 'sample')} in {amount(len(summary['clusters']), 'cluster')}"


def headline(summary: Mapping[str, Any]) -> str:
    """Return the result in one sentence."""
    data, sizes = summary["data"], [cluster["size"] for cluster in summary["clusters"]]
    views = "one view" if len(data["views"]) == 1 else f"{len(data['views'])} views taken together"
    text = f"{summary['method']['name']} sorted {amount(data['n_samples'], 'sample')}, known by {views}, into "
    text += "a single cluster" if len(sizes) == 1 else clusters_of(sizes)
    accuracy = score(summary, "acc")
    if accuracy is not None:
        text += f"; matched one to one, clusters and known classes agree on {percent(accuracy)} of the samples"
    return text + "."


def score(summary: Mapping[str, Any], key: str) -> float | None:
    """Return the value of one score, None where it is not known."""
    return next((entry["value"] for entry in summary["scores"] if entry["key"] == key), None)


def warnings(summary: Mapping[str, Any]) -> list[str]:
    """Return what a reader should know before trusting the result, in words."""
    found = [_batch(summary), _unstable(summary), *_steadier(summary), _dissolving(summary), *_other_stories(summary)]
    found += [_convergence(summary), _fewer_clusters(summary), _one_dominates(summary), *_data(summary)]
    return [text for text in found if text]


def _batch(summary: Mapping[str, Any]) -> str:
    batch = (summary["clinical"] or {}).get("batch")
    return str(batch["sentence"]) if batch and batch["follows"] else ""


def _unstable(summary: Mapping[str, Any]) -> str:
    number = summary["trust"]["number"]
    if summary["trust"]["level"] is None or number >= MUCH:
        return ""
    return (
        f"The result is {summary['trust']['level']}: other seeds or samples give other groups (adjusted Rand index "
        f"{number:.2f}). Try another number of clusters or another method, and trust only what comes back each time."
    )


def _steadier(summary: Mapping[str, Any]) -> list[str]:
    number = summary["trust"]["number"]
    return [
        f"{each['words'][0].upper()}{each['words'][1:]} is steadier (it agrees with its own repetitions to "
        f"{each['stability']:.2f}, this result to {number:.2f}) and finds {groups_in_words(each['agreement'])} "
        f"(adjusted Rand index {each['agreement']:.2f}). Look at its report too (--method {each['name']})."
        for each in steadier_baselines(summary["trust"])
    ]


def _dissolving(summary: Mapping[str, Any]) -> str:
    weak = [c["name"] for c in summary["clusters"] if c["stability"] is not None and c["stability"] < DISSOLVES]
    if not weak:
        return ""
    if len(weak) == len(summary["clusters"]):
        return "No cluster comes back as such when the method is fitted again."
    one = len(weak) == 1
    return (
        f"{'Cluster' if one else 'Clusters'} {enumerated(weak)} {'does' if one else 'do'} not come back as such when "
        f"the method is fitted again: {'it is' if one else 'they are'} split, or merged with others."
    )


def _other_stories(summary: Mapping[str, Any]) -> list[str]:
    views = summary["data"]["views"]
    if len(views) < 2:
        return []
    return [
        f"The view {view['name']} tells another story: by itself it has clear groups (they agree with themselves, from "
        f"one half of the samples to the other, to {view['certainty']:.2f}), but these are not the ones found here "
        f"(agreement {view['agreement']:.2f}). See its map; it may be worth clustering by itself."
        for view in views
        if view["story"] == OTHER
    ][:3]


def _convergence(summary: Mapping[str, Any]) -> str:
    method = summary["method"]
    if method["converged"] is not False:
        return ""
    after = "" if method["n_iter"] is None else f" after {amount(method['n_iter'], 'iteration')}"
    return (
        f"The method stopped{after} before it had settled. The clusters may still change: "
        "allow more iterations, or look at the convergence curve below to see how far it was."
    )


def _fewer_clusters(summary: Mapping[str, Any]) -> str:
    wanted, found = summary["method"]["n_clusters"], len(summary["clusters"])
    if wanted is None or found >= wanted:
        return ""
    return (
        f"{amount(wanted, 'cluster was', 'clusters were')} asked for, but only {count(found)} came back: "
        "the others ended empty. Ask for fewer clusters, try another seed, or check whether many samples are the same."
    )


def _one_dominates(summary: Mapping[str, Any]) -> str:
    clusters = summary["clusters"]
    if len(clusters) < 2 or clusters[0]["share"] < 0.9:
        return ""
    return (
        f"One cluster holds {percent(clusters[0]['share'])} of the samples, which is often a sign of outliers "
        "or of a view on a far larger scale than the others."
    )


def _data(summary: Mapping[str, Any]) -> list[str]:
    texts = []
    unknown = summary["n_unknown"]
    if unknown:
        texts.append(f"The class of {amount(unknown, 'sample')} is not known; scores leave them out.")
    weights = summary["weights"] or []
    idle = [entry["view"] for entry in weights if entry["weight"] < 1e-6]
    if idle and len(weights) > 1:
        texts.append(
            f"The method gave no weight to {enumerated(idle)}: the result is as if "
            f"{'it was' if len(idle) == 1 else 'they were'} not there."
        )
    curve = summary["convergence"]
    if curve and curve["n_not_finite"]:
        texts.append(f"The {curve['shows']} was not a finite number in {amount(curve['n_not_finite'], 'iteration')}.")
    return texts


def seconds_of(timings: Any) -> float | None:
    """Return how long the run took: its total where the record has one, else the time of the fit."""
    candidates = [timings]
    if isinstance(timings, Mapping):
        candidates = [timings.get(key) for key in ("total", "total_seconds", "fit", "fit_seconds")]
    numbers = (float(value) for value in candidates if isinstance(value, int | float) and math.isfinite(value))
    return next(numbers, None)
