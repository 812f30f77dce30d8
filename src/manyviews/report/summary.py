"""Fitted model and views -> one plain dict, the only thing that figures and templates see."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manyviews.cluster.registry import METHODS
from manyviews.report import story
from manyviews.report.maps import SCALED, consensus_map, points_per_map, view_map
from manyviews.report.truth import Classes, classes_of, confusion, scores_against, scores_listed
from manyviews.report.wording import duration, flatten, plain
from manyviews.validation import check_views, is_table
from manyviews.views import Views

__all__ = ["summarize"]

Array = NDArray[Any]

MAX_ITERATIONS_DRAWN = 1000
# Keys of a run record that have a place of their own on the page.
PLACED = frozenset(
    {"title", "method", "class", "manyviews", "parameters", "n_clusters", "n_iter", "converged", "cluster_sizes"}
    | {"scores", "view_weights"}
)
PLACED_DATA = frozenset({"n_samples", "views"})


def summarize(
    model: Any,
    views: Any,
    *,
    title: str | None = None,
    run: Mapping[str, Any] | None = None,
    truth: Iterable[Any] | None = None,
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
    random_state : int, default=0
        Seed of the choice of points to draw and of the maps.

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
    checked = check_views(views, views=getattr(model, "views", None) if is_table(views) else None)
    labels = _labels(model, len(checked))
    values, positions, sizes = _by_size(labels)
    classes = classes_of(truth, len(checked))
    summary: dict[str, Any] = {
        "method": _method(model, run),
        "data": _data(checked),
        "clusters": _clusters(values, positions, sizes, classes, getattr(model, "confidence_", None)),
        "scores": scores_listed(run.get("scores") or {}) if classes is None else scores_against(classes, labels),
        "confusion": None if classes is None else confusion(classes, positions, len(values)),
        "n_classes": None if classes is None else len(classes.names),
        "n_unknown": None if classes is None else int((classes.codes < 0).sum()),
        "weights": _weights(model, checked),
        "convergence": _convergence(model),
        "record": _record(run),
    }
    summary["maps"], summary["points"] = _maps(model, checked, positions, classes, random_state)
    summary["seconds"] = story.seconds_of(run.get("timings"))
    summary["headline"] = story.headline(summary)
    summary["warnings"] = story.warnings(summary)
    summary["title"] = plain(title or run.get("title") or story.title(summary), 200)
    return summary


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


def _by_size(labels: Array) -> tuple[list[str], Array, Array]:
    """Return names, each sample's position, and sizes of the clusters, largest first."""
    values, positions, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    order = np.argsort(-sizes, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(order.size)
    return [plain(values[i], 40) for i in order], rank[positions.ravel()], sizes[order]


def _method(model: Any, run: Mapping[str, Any]) -> dict[str, Any]:
    is_ours = hasattr(model, "get_params")
    given = run.get("parameters") or (model.get_params(deep=False) if is_ours else {})
    defaults = dict(inspect.signature(type(model)).parameters) if is_ours else {}
    parameters = []
    for name, text in flatten(given):
        usual = defaults[name].default if name in defaults else inspect.Parameter.empty
        is_default = usual is not inspect.Parameter.empty and [("", text)] == flatten(usual)
        parameters.append({"name": name, "value": text, "is_default": is_default})
    parameters.sort(key=lambda entry: bool(entry["is_default"]))
    row = next((row for row in METHODS if is_ours and row.class_name == type(model).__name__), None)
    first_line = (inspect.getdoc(type(model)) or "").partition("\n")[0].rstrip(".")
    converged, n_iter = getattr(model, "converged_", None), getattr(model, "n_iter_", None)
    wanted = getattr(model, "n_clusters", None)
    return {
        "name": plain(type(model).__name__ if is_ours else run.get("method") or "The method", 60),
        "description": plain(first_line) if is_ours else "",
        "paper": "" if row is None else row.paper + (f", doi:{row.doi}" if row.doi else ""),
        "parameters": parameters,
        "n_clusters": int(wanted) if isinstance(wanted, int | np.integer) else None,
        "n_iter": int(n_iter) if isinstance(n_iter, int | np.integer) else None,
        "converged": None if converged is None else bool(converged),
    }


def _record(run: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return what the record says beyond what has a place of its own, as (name, text) pairs; times in words."""
    record = {key: value for key, value in run.items() if key not in PLACED}
    if isinstance(record.get("data"), Mapping):
        record["data"] = {key: value for key, value in record["data"].items() if key not in PLACED_DATA}
    timings = record.get("timings")
    if isinstance(timings, Mapping):
        record["timings"] = {
            key: duration(value) if isinstance(value, int | float) else value for key, value in timings.items()
        }
    return flatten(record)


def _data(views: Views) -> dict[str, Any]:
    missing = (~views.observed).sum(axis=0).tolist()
    entries = [
        {
            "name": plain(name, 120),
            "n_features": int(array.shape[1]),
            "storage": "sparse" if sparse.issparse(array) else "dense",
            "n_missing": n_missing,
        }
        for (name, array), n_missing in zip(views.items(), missing, strict=True)
    ]
    return {"n_samples": len(views), "n_features": views.shape[1], "views": entries}


def _clusters(
    names: list[str], positions: Array, sizes: Array, classes: Classes | None, confidence: Any
) -> list[dict[str, Any]]:
    sure = None if confidence is None else np.asarray(confidence, dtype=np.float64)
    if sure is not None and (sure.shape != positions.shape or not np.isfinite(sure).all()):
        sure = None
    means = None if sure is None else np.bincount(positions, weights=sure) / sizes
    clusters = []
    for i, (name, size) in enumerate(zip(names, sizes.tolist(), strict=True)):
        entry = {"name": name, "size": size, "share": size / positions.size}
        entry["confidence"] = None if means is None else float(means[i])
        clusters.append(entry | _commonest(classes, positions, i))
    return clusters


def _commonest(classes: Classes | None, positions: Array, cluster: int) -> dict[str, Any]:
    codes = np.empty(0, dtype=np.int64) if classes is None else classes.codes[positions == cluster]
    codes = codes[codes >= 0]
    if classes is None or codes.size == 0:
        return {"class": None, "class_share": None}
    counts = np.bincount(codes)
    return {"class": classes.names[int(counts.argmax())], "class_share": float(counts.max() / codes.size)}


def _weights(model: Any, views: Views) -> list[dict[str, Any]] | None:
    weights = getattr(model, "view_weights_", None)
    if weights is None or np.shape(weights) != (len(views.names),) or not np.isfinite(weights).all():
        return None
    pairs = zip(views.names, np.asarray(weights, dtype=np.float64).tolist(), strict=True)
    return [{"view": plain(name, 120), "weight": weight} for name, weight in pairs]


def _convergence(model: Any) -> dict[str, Any] | None:
    objective = getattr(getattr(model, "history_", None), "objective", None)
    if objective is None or np.size(objective) == 0:
        return None
    values = np.asarray(objective, dtype=np.float64).ravel()
    finite = np.flatnonzero(np.isfinite(values))
    drawn = finite
    if finite.size > MAX_ITERATIONS_DRAWN:
        drawn = finite[np.linspace(0, finite.size - 1, MAX_ITERATIONS_DRAWN).round().astype(np.int64)]
    return {
        "iteration": (drawn + 1).tolist(),
        "objective": values[drawn].tolist(),
        "n_iter": values.size,
        "n_not_finite": int(values.size - finite.size),
    }


def _maps(
    model: Any, views: Views, positions: Array, classes: Classes | None, random_state: int
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return the maps, their points as positions in one shared table, and that table."""
    order = np.random.default_rng(random_state).permutation(len(views))
    embedding, scalings = _embedding(model, len(views)), _scalings(model, views)
    maps = []
    limit = points_per_map(len(views.names) + 1)
    # With one view and no embedding, all views together are that view.
    if embedding is not None or len(views.names) > 1:
        maps.append(consensus_map(views, embedding, scalings, order, limit, random_state))
    maps += [view_map(views, i, kind, order, limit, random_state) for i, kind in enumerate(scalings)]
    rows = np.unique(np.concatenate([np.asarray(flat["rows"], dtype=np.int64) for flat in maps]))
    for flat in maps:
        flat["name"] = plain(flat["name"], 120)
        flat["points"] = np.searchsorted(rows, flat.pop("rows")).tolist()
    names = views.sample_names
    points: dict[str, Any] = {
        "sample": [f"sample {row}" if names is None else plain(names[row], 60) for row in rows.tolist()],
        "cluster": positions[rows].tolist(),
        "class": None,
    }
    if classes is not None:
        points["class"] = [classes.names[code] if code >= 0 else None for code in classes.codes[rows].tolist()]
    return maps, points


def _scalings(model: Any, views: Views) -> list[str | None]:
    """Return the scaling of each view: the model's where it was chosen by name, else the usual one."""
    chosen = getattr(model, "scaling", "auto")
    kinds: list[str | None] = []
    for name, array in views.items():
        kind = chosen.get(name, "auto") if isinstance(chosen, Mapping) else chosen
        named = kind is None or isinstance(kind, str)
        kinds.append(kind if named and kind in SCALED else _usual_scaling(array))
    return kinds


def _usual_scaling(array: Any) -> str:
    if not sparse.issparse(array):
        return "standard"
    return "tfidf" if array.data.min(initial=0.0) >= 0 else "unit"


def _embedding(model: Any, n_samples: int) -> Array | None:
    embedding = getattr(model, "embedding_", None)
    if embedding is None or np.ndim(embedding) != 2 or np.shape(embedding)[0] != n_samples or not np.size(embedding):
        return None
    embedding = np.asarray(embedding, dtype=np.float64)
    return embedding if np.isfinite(embedding).all() else None
