"""What other methods would do where one has to refuse: it knows all methods, and the base looks it up when needed."""

from __future__ import annotations

from typing import Any

from scipy import sparse

from manyviews.cluster.memory import readable_size
from manyviews.cluster.registry import METHODS, MethodInfo
from manyviews.cluster.sample_weight import SampleWeightMixin
from manyviews.views import Views

__all__ = [
    "distance_settings",
    "takers_of_missing",
    "takers_of_sample_weight",
    "takers_of_weights",
    "that_would_fit",
]


def distance_settings() -> dict[str, str]:
    """Return the setting, as the command line has it, by which each method takes distances between samples."""
    found = {}
    for row in METHODS:
        allowed = row.load()._parameter_constraints
        names = [name for name in ("base", "affinity") if _has_option(allowed.get(name, ()), "distance")]
        if names:
            found[row.class_name] = f"{names[0]}=distance"
    return found


def _has_option(constraints: Any, word: str) -> bool:
    return any(word in getattr(allowed, "options", ()) for allowed in constraints)


def takers_of_sample_weight() -> str:
    """Return the methods whose ``fit`` takes ``sample_weight``, with commas between."""
    return ", ".join(row.class_name for row in METHODS if issubclass(row.load(), SampleWeightMixin))


def takers_of_missing() -> str:
    """Return the methods that take samples not observed in some view, with commas between."""
    return ", ".join(row.class_name for row in METHODS if row.missing)


def takers_of_weights() -> str:
    """Return the default and the main methods in which views may count differently, with commas between."""
    main = (row for row in METHODS if row.main or row.default)
    return ", ".join(row.class_name for row in main if not row.load()._weightless)


def that_would_fit(estimator: Any, views: Views, total: int | None) -> str:
    """Return the remedy for too little memory or too many samples: methods that would fit with default parameters.

    The own one comes first; it is left out where it has too many samples.

    Parameters
    ----------
    estimator : MultiViewClusterer
        The one that would not.
    views : Views
        Checked views.
    total : int or None
        Bytes of the machine, None where that is unknown.

    Returns
    -------
    str
        What to do.
    """
    own = type(estimator).__name__
    models = {row: row.load()(n_clusters=estimator.n_clusters) for row in METHODS if _takes(row, estimator, views)}
    if not _in_time(estimator, views):
        models = {row: model for row, model in models.items() if row.class_name != own}
    needs = {row: int(model._needed_bytes(views)) for row, model in models.items() if _in_time(model, views)}
    fitting = [row for row in needs if total is None or needs[row] <= total]
    fitting.sort(key=lambda row: (row.class_name != own, needs[row]))
    hint = f"{estimator._memory_hint}, or " if estimator._memory_hint else ""
    if not fitting:
        return f"{hint}use fewer samples"
    named = [f"{row.class_name} ({row.name}) about {readable_size(needs[row])}" for row in fitting[:4]]
    return f"{hint}use a method that would fit; with default parameters {', '.join(named)}"


def _takes(row: MethodInfo, estimator: Any, views: Views) -> bool:
    if getattr(estimator, "base", "features") != "features":
        return False  # kernels and partitions are no features
    if not row.sparse and any(map(sparse.issparse, views.arrays)):
        return False
    return row.missing or bool(views.observed.all())


def _in_time(model: Any, views: Views) -> bool:
    most = model._most_samples()
    return most is None or len(views) <= most
