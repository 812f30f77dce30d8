"""``manyviews.compare``: several methods on one data set without classes, and which one suits it."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyviews.cluster.registry import METHODS, MethodInfo, find_method
from manyviews.cluster.view_graphs import view_graphs
from manyviews.cluster.view_weights import counted_views
from manyviews.metrics import adjusted_rand_index
from manyviews.metrics.report import evaluate_known
from manyviews.pages.wording import amount
from manyviews.recommend.criteria import Groupings, criteria_of
from manyviews.recommend.fits import Fits, Options, fit_methods, unsuitable
from manyviews.recommend.result import Comparison, MethodResult
from manyviews.recommend.rule import recommend
from manyviews.runs.outcomes import Outcome, resampled_rows
from manyviews.runs.runner import Progress
from manyviews.views import Views
from manyviews.views.check import check_views

__all__ = ["choose_methods", "compare", "compare_methods"]

Array = NDArray[Any]


def compare(
    views: Any,
    n_clusters: int,
    methods: str | Sequence[str] = "main",
    seeds: int = 5,
    truth: Any = None,
    *,
    parts: int = 3,
    view_weights: Any = None,
    random_state: int = 0,
    n_jobs: int = 1,
    time_limit: float | None = 150.0,
    memory_limit: int | None = None,
    store: str | Path | None = None,
) -> Comparison:
    """Fit several methods and say which one suits the data, without looking at the classes.

    Fits are made in processes of their own, under limits of time and memory.

    Parameters
    ----------
    views : Views, sequence, mapping or table
        The data.
    n_clusters : int
        Number of clusters, 2 or more.
    methods : str or sequence of str, default="main"
        Names of methods; or of a family, such as "late fusion"; "main", the five main methods and the simple ones; or
        "all".
    seeds : int, default=5
        Fits of each method on all samples, each with another seed. More tell better how stable a method is.
    truth : array-like of shape (n,), default=None
        Classes for external scores. They have no part in the recommendation.
    parts : int, default=3
        Fits of each method on random 80 % of the samples.
    view_weights : mapping or sequence of float, default=None
        What each view counts, relative to the others, in every fit and in the structure that methods are judged by;
        0 leaves it out. Methods without a place for weights are then unsuitable. By default all alike.
    random_state : int, default=0
        First seed; the others follow.
    n_jobs : int, default=1
        Fits at a time; -1 for one per core.
    time_limit : float, default=150.0
        Seconds of processor time that all fits together may take; None for no limit. Quick methods come first; a slow
        one gets fewer fits, or none, and the result says so. Raising it lets slower methods take part.
    memory_limit : int, default=None
        Bytes that one fit may hold.
    store : path-like, default=None
        File that keeps the finished fits, so that a call that was interrupted goes on where it was; by default they
        are forgotten.

    Returns
    -------
    Comparison
        ``recommended``, ``labels``, ``reasons``, ``certainty``, ``table`` and ``figure()``.

    Raises
    ------
    ValueError
        If the views or a parameter cannot be used, or a name is unknown.

    Notes
    -----
    The rule: see ``manyviews.recommend.rule.score_of``; among methods whose score is within 5 % of the best the
    simplest is recommended. Cost: ``seeds + parts`` fits of each method, and O(n d) for each of at most 4000 samples.

    Examples
    --------
    >>> import manyviews
    >>> data = manyviews.datasets.make_blobs_views(90, (6, 5), 3, view_noise=0.2, random_state=0)
    >>> found = manyviews.compare(data.views, 3, methods=["concat-kmeans", "average-kkm"], seeds=2)
    >>> found.recommended, found.certainty
    ('concat-kmeans', 'fairly sure')
    """
    checked, weights = counted_views(check_views(views), view_weights)
    if not isinstance(n_clusters, int | np.integer) or not 2 <= n_clusters <= len(checked):
        raise ValueError(f"n_clusters must be between 2 and the number of samples, {len(checked)}; got {n_clusters!r}")
    for name, value, least in (("seeds", seeds, 1), ("parts", parts, 0), ("random_state", random_state, 0)):
        if not isinstance(value, int | np.integer) or value < least:
            raise ValueError(f"{name} must be an integer of {least} or more; got {value!r}")
    options = Options(int(seeds), int(parts), int(random_state), n_jobs, time_limit, memory_limit, weights)
    chosen = choose_methods(methods)
    if store is not None:
        return compare_methods(checked, chosen, int(n_clusters), Path(store), truth=truth, options=options)
    with tempfile.TemporaryDirectory(prefix="manyviews-compare-") as folder:
        place = Path(folder) / "runs.jsonl"
        return compare_methods(checked, chosen, int(n_clusters), place, truth=truth, options=options)


def choose_methods(wanted: str | Sequence[str]) -> list[MethodInfo]:
    """Return methods by their names, or by the name of a family; each once.

    Parameters
    ----------
    wanted : str or sequence of str
        As of :func:`compare`.

    Returns
    -------
    list of MethodInfo
        In the order given or in that of the registry.

    Raises
    ------
    ValueError
        If a name is unknown, or none is given.
    """
    if not isinstance(wanted, str):
        found = [find_method(name) for name in wanted]
        if not found:
            raise ValueError("methods is empty; give names of methods, or a family")
        return list({method.name: method for method in found}.values())
    found = [method for method in METHODS if wanted in ("all", method.family) or (wanted == "main" and method.main)]
    if not found:
        families = ", ".join(dict.fromkeys(method.family for method in METHODS))
        raise ValueError(f"there is no family of methods {wanted!r}; choose main, all, {families}")
    return found


def compare_methods(
    views: Views,
    methods: Sequence[MethodInfo],
    n_clusters: int,
    store: Path,
    *,
    truth: Any = None,
    options: Options | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Comparison:
    """Do what :func:`compare` does, with everything checked.

    Parameters
    ----------
    views : Views
        The data.
    methods : sequence of MethodInfo
        From the registry.
    n_clusters : int
        Number of clusters.
    store : Path
        File that keeps the finished fits, see ``run_all``.
    truth : array-like of shape (n,), default=None
        Classes for external scores.
    options : Options, default=None
        How much is done.
    progress : callable, default=None
        See ``run_all``.

    Returns
    -------
    Comparison
        One result per method, in the order given.
    """
    options = options or Options()
    weights = options.view_weights
    remarks = {method.name: unsuitable(method, views, weights) for method in methods}
    suitable = [method for method in methods if not remarks[method.name]]
    fits = fit_methods(views, suitable, n_clusters, store, options=options, progress=progress)
    groupings = {name: _groupings(own, len(views)) for name, own in fits.outcomes.items() if name not in fits.without}
    criteria = criteria_of(groupings, view_graphs(views), weights) if groupings else {}
    results = []
    for method in methods:
        if remarks[method.name]:
            results.append(MethodResult(method, "unsuitable", remarks[method.name]))
        elif method.name in fits.without:
            results.append(_without_result(method, fits))
        else:
            own = groupings[method.name].seeds
            scores = [] if truth is None else [evaluate_known(np.asarray(truth), labels) for labels in own]
            fields = {"criteria": criteria[method.name], "scores": _by_score(scores)}
            results.append(_result(method, fits.outcomes[method.name], own, fields))
    return Comparison(tuple(results), recommend(criteria) if criteria else None)


def _groupings(outcomes: Sequence[Outcome], n_samples: int) -> Groupings:
    seeds, parts = [], []
    for outcome in outcomes:
        if outcome.labels is None:
            continue
        labels, rows = np.asarray(outcome.labels), resampled_rows(n_samples, outcome.run.rows)
        if rows is None:
            seeds.append(labels)
        else:
            parts.append((rows, labels))
    return Groupings(seeds, parts)


def _without_result(method: MethodInfo, fits: Fits) -> MethodResult:
    status, reason = fits.without[method.name]
    return MethodResult(method, status, reason, 0, len(fits.outcomes[method.name]))


def _result(
    method: MethodInfo, outcomes: Sequence[Outcome], seeds: Sequence[Array], fields: dict[str, Any]
) -> MethodResult:
    whole = [outcome for outcome in outcomes if outcome.run.rows is None and outcome.labels is not None]
    bad = [outcome for outcome in outcomes if outcome.status != "ok"]
    typical, lost = _typical(seeds), f"{len(bad)} of {amount(len(outcomes), 'fit')} had no result"
    return MethodResult(
        method=method,
        status="ok",
        reason=f"{lost}: {bad[0].message or bad[0].status}" if bad else "",
        n_ok=len(outcomes) - len(bad),
        n_fits=len(outcomes),
        seconds=float(np.mean([outcome.seconds for outcome in whole])),
        cpu_seconds=float(np.mean([outcome.cpu_seconds for outcome in whole])),
        peak_bytes=max(outcome.peak_bytes for outcome in whole),
        labels=seeds[typical],
        seed=whole[typical].run.seed,
        **fields,
    )


def _by_score(scores: Sequence[dict[str, float]]) -> dict[str, list[float]]:
    return {name: [row[name] for row in scores] for name in scores[0]} if scores else {}


def _typical(seeds: Sequence[Array]) -> int:
    """Return the position of the labelling that agrees best with the others, the first of several."""
    means = [np.mean([adjusted_rand_index(a, b) for b in seeds]) for a in seeds]
    return int(np.argmax(np.round(means, 12)))
