"""Fitted model and views -> one plain dict, the only thing that figures and templates see."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manyviews.pages.wording import plain
from manyviews.report import sentences
from manyviews.report.drawing import all_maps
from manyviews.report.findings.baselines import plain_baselines
from manyviews.report.findings.centres import nearness
from manyviews.report.findings.ensemble import ensemble_support
from manyviews.report.findings.features import telling_features
from manyviews.report.findings.members import cluster_entries, sample_table, sureness
from manyviews.report.findings.refits import Refits, refit
from manyviews.report.findings.single_views import single_views
from manyviews.report.findings.spaces import SCALED, scalings_of
from manyviews.report.findings.trust import trust, without_each_view
from manyviews.report.findings.wanted import wanted_of
from manyviews.report.record import describe_method, describe_run, fit_seconds
from manyviews.report.truth import classes_of, confusion, scores_against, scores_listed
from manyviews.views import Views
from manyviews.views.check import check_views, is_table
from manyviews.views.new_samples import match_views

__all__ = ["summarize"]

Array = NDArray[Any]

MAX_ITERATIONS_DRAWN = 1000
# Clusters that are described one by one, and lines about columns on the whole page: more nobody reads.
MAX_DETAILED, MAX_FEATURE_LINES = 40, 1500
REFIT_SECONDS = 15.0


def summarize(
    model: Any,
    views: Any,
    *,
    title: str | None = None,
    run: Mapping[str, Any] | None = None,
    truth: Iterable[Any] | None = None,
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
        If the model is not fitted, or labels or truth do not have one entry per sample.

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
    checked = _views_of(model, views)
    labels = _labels(model, len(checked))
    names, positions = _by_size(labels)
    classes = classes_of(truth, len(checked))
    scalings = scalings_of(model, checked)
    order = np.random.default_rng(random_state).permutation(len(checked))
    again = refit(model, checked, seconds=refit_seconds, fit_seconds=fit_seconds(run), random_state=random_state)
    left_out = without_each_view(again, positions, len(checked.names))
    summary: dict[str, Any] = {
        "method": describe_method(model, run),
        "data": {"n_samples": len(checked), "n_features": checked.shape[1], "wanted": _wanted(model, checked)},
        "trust": _trust(model, checked, positions, again, left_out, refit_seconds, random_state),
        "scores": scores_listed(run.get("scores") or {}) if classes is None else scores_against(classes, labels),
        "confusion": None if classes is None else confusion(classes, positions, len(names)),
        "n_classes": None if classes is None else len(classes.names),
        "n_unknown": None if classes is None else int((classes.codes < 0).sum()),
        "weights": _weights(model, checked),
        "convergence": _convergence(model),
        "record": describe_run(model, run),
        "scalings": _scalings(model, checked, scalings),
        "seconds": sentences.seconds_of(run.get("timings")),
    }
    alone = single_views(checked, scalings, positions, len(names), order, random_state)
    summary["data"]["views"] = _views(checked, alone, left_out)
    near = nearness(model, checked, scalings, positions, len(names))
    sure = sureness(getattr(model, "confidence_", None), near, len(checked))
    n_detailed = min(len(names), MAX_DETAILED)
    summary["clusters"] = cluster_entries(names, positions, classes, sure, near, checked, n_detailed)
    _add_to_clusters(summary, checked, positions, n_detailed)
    summary["samples"] = sample_table(checked, positions, sure, classes)
    summary["maps"], summary["points"] = all_maps(model, checked, scalings, positions, classes, order, random_state)
    summary["headline"], summary["warnings"] = sentences.headline(summary), sentences.warnings(summary)
    summary["title"] = plain(title or run.get("title") or sentences.title(summary), 200)
    return summary


def _views_of(model: Any, views: Any) -> Views:
    """Return checked views; of others than those of the fit the page would tell another story."""
    checked = check_views(views, views=getattr(model, "views", None) if is_table(views) else None)
    if hasattr(model, "_without_left_out"):
        checked = model._without_left_out(checked)
    return match_views(checked, model._fitted_views) if hasattr(model, "_fitted_views") else checked


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
    baselines = plain_baselines(model, views, positions, k, seconds=told, random_state=random_state)
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


def _add_to_clusters(summary: dict[str, Any], views: Views, positions: Array, n_detailed: int) -> None:
    clusters = summary["clusters"]
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


def _labels(model: Any, n_samples: int) -> Array:
    labels = getattr(model, "labels_", None)
    if labels is None:
        raise ValueError(f"{type(model).__name__} is not fitted (it has no labels_); call fit on the views first")
    labels = np.asarray(labels)
    if labels.shape != (n_samples,):
        raise ValueError(
            f"labels_ has shape {labels.shape} but there are {n_samples} samples; "
            "give the views that the model was fitted on"
        )
    return labels


def _by_size(labels: Array) -> tuple[list[str], Array]:
    """Return the names of the clusters, largest first, and each sample's position among them."""
    values, positions, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    order = np.argsort(-sizes, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(order.size)
    return [plain(values[i], 40) for i in order], rank[positions.ravel()]


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
