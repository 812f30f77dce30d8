"""Fitted model and views -> one plain dict, the only thing that figures and templates see."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manyviews.findings.baselines import plain_baselines
from manyviews.findings.centres import nearness
from manyviews.findings.clinical import describe_clinical
from manyviews.findings.ensemble import ensemble_support
from manyviews.findings.features import telling_features
from manyviews.findings.heat import feature_scores
from manyviews.findings.known import clinical_of
from manyviews.findings.members import cluster_entries, sample_table, sureness
from manyviews.findings.refits import Refits, refit
from manyviews.findings.result import GroupedResult, read_result
from manyviews.findings.silhouettes import silhouettes_by_view
from manyviews.findings.single_views import single_views
from manyviews.findings.spaces import SCALED
from manyviews.findings.together import pairs_together
from manyviews.findings.trust import trust, without_each_view
from manyviews.findings.truth import Classes, classes_of, confusion, scores_against, scores_listed
from manyviews.findings.wanted import wanted_of
from manyviews.io.machine import give_back
from manyviews.pages.wording import plain
from manyviews.report import sentences
from manyviews.report.drawing import all_maps
from manyviews.report.record import describe_method, describe_run, fit_seconds
from manyviews.views import Views

__all__ = ["summarize"]

Array = NDArray[Any]

MAX_ITERATIONS_DRAWN = 1000
# Clusters that are described one by one, and lines about columns on the whole page: more nobody reads.
MAX_DETAILED, MAX_FEATURE_LINES = 40, 1500
REFIT_SECONDS = 15.0
# Charts of single views: of more only the first are drawn.
MAX_SILHOUETTE_VIEWS = 8


def summarize(
    model: Any,
    views: Any,
    *,
    title: str | None = None,
    run: Mapping[str, Any] | None = None,
    truth: Iterable[Any] | None = None,
    outcome: Any = None,
    covariates: Any = None,
    batch: Any = None,
    refit_seconds: float = REFIT_SECONDS,
    random_state: int = 0,
) -> dict[str, Any]:
    """Gather everything that the report says, as plain data.

    Parameters
    ----------
    model : estimator
        Fitted; ``labels_`` is needed, the other attributes are used where they are.
    views : Views, sequence, mapping or table
        What the model was fitted on.
    title : str, default=None
        Title of the page; by default made from the method and the numbers.
    run : mapping, default=None
        Record of the run: method, parameters, seed, versions, inputs, timings, scores, command; all optional.
    truth : iterable of length n, default=None
        Known class of each sample; None, NaN and "" where it is not known.
    outcome : mapping, frame or pair, default=None
        Time to an event and whether it was seen (1) or not (0), the columns ``time`` and ``event``, for a
        Kaplan-Meier curve per cluster and a log-rank test. Needs lifelines.
    covariates : mapping or frame, default=None
        Columns that describe the samples, each tested against the clusters.
    batch : array-like of shape (n,), default=None
        Where each sample comes from, such as a site or a plate; the page says whether the clusters follow it.
    refit_seconds : float, default=15.0
        Time for fitting copies of the model again, to see how stable the result is and what each view changes; 0 to
        leave it out. More is begun only where it should end in time, so a slow fit is not repeated; the page says so.
    random_state : int, default=0
        Seed of the choice of points to draw, of the maps, and of the fits that are repeated.

    Returns
    -------
    dict
        Strings, finite numbers, booleans, None, lists and dicts only. See ``README.md`` in this folder.

    Raises
    ------
    ValueError
        If the model is not fitted, or labels, truth or what else is known do not have one entry per sample, or an
        outcome is no time of 0 or more and an event of 0 or 1.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> import numpy as np
    >>> from manyviews.report import summarize
    >>> model = SimpleNamespace(labels_=np.array([0, 0, 1]))
    >>> summary = summarize(model, [np.eye(3), np.ones((3, 2))])
    >>> [cluster["size"] for cluster in summary["clusters"]]
    [2, 1]
    """
    run = {} if run is None else run
    grouped = read_result(model, views)
    checked, labels, names, positions, scalings = grouped
    classes = classes_of(truth, len(checked))
    known = clinical_of(outcome, covariates, batch, checked)
    order = np.random.default_rng(random_state).permutation(len(checked))
    again = refit(model, checked, seconds=refit_seconds, fit_seconds=fit_seconds(run), random_state=random_state)
    left_out = without_each_view(again, positions, len(checked.names))
    alone = single_views(checked, scalings, positions, len(names), order, random_state)
    give_back(checked.arrays)
    summary: dict[str, Any] = {
        "method": describe_method(model, run),
        "data": _data(model, checked, _views(checked, alone, left_out)),
        "trust": _trust(model, checked, positions, again, left_out, refit_seconds, random_state),
        **_against_classes(classes, labels, positions, run),
        "clinical": None if known is None else describe_clinical(known, positions, names),
        "weights": _weights(model, checked),
        "convergence": _convergence(model),
        "record": describe_run(model, run),
        "scalings": _scalings(model, checked, scalings),
        "seconds": sentences.seconds_of(run.get("timings")),
    }
    near = nearness(model, checked, scalings, positions, len(names))
    sure = sureness(getattr(model, "confidence_", None), near, len(checked))
    summary["clusters"] = cluster_entries(names, positions, classes, sure, near, checked, MAX_DETAILED)
    _add_to_clusters(summary, checked, positions)
    summary["samples"] = sample_table(checked, positions, sure, classes)
    summary["maps"], summary["points"] = all_maps(model, grouped, classes, order, random_state)
    summary["pictures"] = _pictures(model, grouped, order, random_state)
    summary["headline"], summary["warnings"] = sentences.headline(summary), sentences.warnings(summary)
    summary["title"] = plain(title or run.get("title") or sentences.title(summary), 200)
    return summary


def _pictures(model: Any, grouped: GroupedResult, order: Array, random_state: int) -> dict[str, Any]:
    """Return what is drawn of single samples besides the maps; None or nothing where there is nothing to be seen."""
    few = MAX_SILHOUETTE_VIEWS
    return {
        "together": pairs_together(getattr(model, "base_labels_", None), grouped.positions, order),
        "features": feature_scores(grouped, order),
        "silhouettes": silhouettes_by_view(grouped, order, max_views=few, random_state=random_state),
        "names": grouped.names,
    }


def _trust(
    model: Any,
    views: Views,
    positions: Array,
    again: Refits,
    left_out: list[dict[str, float] | None],
    seconds: float,
    random_state: int,
) -> dict[str, Any]:
    """Return what refits, single views, plain baselines and the ensemble say of the result."""
    k = int(positions.max()) + 1
    ensemble = ensemble_support(getattr(model, "base_labels_", None), positions, k, random_state)
    # how steady they are is of use only beside how steady the result is
    told = seconds if again.seeds or again.parts else 0.0
    baselines = plain_baselines(model, views, positions, k, seconds=told, like=again, random_state=random_state)
    pairs = zip(views.names, left_out, strict=True)
    moved = {plain(name, 60): each["moved"] for name, each in pairs if each is not None}
    return trust(again, ensemble, positions, k, without=moved, baselines=baselines)


def _scalings(model: Any, views: Views, scalings: list[str | None]) -> list[dict[str, str]]:
    """Return what the model did to each view first, in words; nothing where it does not tell."""
    known = hasattr(model, "scalings_")
    return [
        {"name": plain(name, 60), "how": SCALED[kind]}
        for name, kind in zip(views.names, scalings, strict=True)
        if known
    ]


def _against_classes(
    classes: Classes | None, labels: Array, positions: Array, run: Mapping[str, Any]
) -> dict[str, Any]:
    """Return scores and confusion table, where classes are known; else the scores that the record has."""
    if classes is None:
        scores = scores_listed(run.get("scores") or {})
        return {"scores": scores, "confusion": None, "n_classes": None, "n_unknown": None}
    return {
        "scores": scores_against(classes, labels),
        "confusion": confusion(classes, positions, int(positions.max()) + 1),
        "n_classes": len(classes.names),
        "n_unknown": int((classes.codes < 0).sum()),
    }


def _add_to_clusters(summary: dict[str, Any], views: Views, positions: Array) -> None:
    clusters = summary["clusters"]
    n_detailed = min(len(clusters), MAX_DETAILED)
    n_features = max(1, min(3, MAX_FEATURE_LINES // (n_detailed * len(views.names))))
    features = telling_features(views, positions, len(clusters), n_shown=n_detailed, n_features=n_features)
    stability = summary["trust"]["clusters"]
    for i, cluster in enumerate(clusters):
        cluster["features"] = features[i] if i < n_detailed else []
        cluster["telling"] = _telling(cluster["features"], views)
        cluster["stability"] = None if stability is None else stability[i]
        cluster["detailed"] = i < n_detailed


def _telling(features: list[dict[str, Any]], views: Views, n_shown: int = 3) -> list[str]:
    """Return the columns of largest effect of all views in words."""
    first = [(feature, part["view"]) for part in features for feature in part["features"][:n_shown]]
    first.sort(key=lambda pair: -abs(pair[0]["effect"]))
    several = len(views.names) > 1
    texts = []
    for feature, view in first[:n_shown]:
        of = f"{plain(views.names[view], 30)}: " if several else ""
        texts.append(f"{of}{feature['name']} {'↑' if feature['effect'] > 0 else '↓'}")
    return texts


def _views(views: Views, alone: list[dict[str, Any]], without: list[dict[str, float] | None]) -> list[dict[str, Any]]:
    missing = (~views.observed).sum(axis=0).tolist()
    return [
        {
            "name": plain(name, 120),
            "n_features": int(array.shape[1]),
            "storage": "sparse" if sparse.issparse(array) else "dense",
            "n_missing": missing[i],
            "without": without[i],
        }
        | alone[i]
        for i, (name, array) in enumerate(views.items())
    ]


def _weights(model: Any, views: Views) -> list[dict[str, Any]] | None:
    weights = getattr(model, "view_weights_", None)
    known = getattr(model, "view_names_in_", views.names)
    if weights is None or np.shape(weights) != (len(known),) or not np.isfinite(weights).all():
        return None
    found = dict(zip(map(str, known), np.asarray(weights, dtype=np.float64).tolist(), strict=True))
    return [{"view": plain(name, 120), "weight": found[name]} for name in views.names if name in found] or None


def _data(model: Any, views: Views, described: list[dict[str, Any]]) -> dict[str, Any]:
    shape = {"n_samples": len(views), "n_features": views.shape[1]}
    return shape | {"views": described, "wanted": _wanted(model, views)}


def _wanted(model: Any, views: Views) -> list[dict[str, Any]] | None:
    wanted = wanted_of(model, views.names)
    pairs = [] if wanted is None else wanted.items()
    return [{"view": plain(name, 120), "weight": weight} for name, weight in pairs] or None


def _convergence(model: Any) -> dict[str, Any] | None:
    history = getattr(model, "history_", None)
    found = {name: getattr(history, name, None) for name in ("objective", "residual")}
    shown = next((name for name, record in found.items() if record is not None and np.size(record)), None)
    if shown is None:
        return None
    values = np.asarray(found[shown], dtype=np.float64).ravel()
    finite = np.flatnonzero(np.isfinite(values))
    drawn = finite
    if finite.size > MAX_ITERATIONS_DRAWN:
        drawn = finite[np.linspace(0, finite.size - 1, MAX_ITERATIONS_DRAWN).round().astype(np.int64)]
    return {
        "iteration": (drawn + 1).tolist(),
        "shows": shown,
        "values": values[drawn].tolist(),
        "n_iter": values.size,
        "n_not_finite": int(values.size - finite.size),
    }
