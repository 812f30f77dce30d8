"""Several methods on one data set without classes: plan the fits, make them, gather what they say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyviews.bench.criteria import Criteria, Groupings, criteria_of
from manyviews.bench.recommend import Recommendation, recommend
from manyviews.bench.records import Record, Run, resampled_rows
from manyviews.bench.runner import Progress, run_all
from manyviews.bench.view_graphs import view_graphs
from manyviews.cluster.registry import MethodInfo
from manyviews.datasets import Dataset

__all__ = ["Comparison", "MethodResult", "Options", "compare"]

Array = NDArray[Any]

PART = 80


@dataclass(frozen=True)
class Options:
    """How much is done.

    Attributes
    ----------
    n_seeds, n_parts : int
        Fits on all samples, and on random 80 % of them.
    seed : int
        First seed; the others follow.
    n_jobs : int
        Processes.
    time_limit, memory_limit : float, int or None
        Seconds and bytes that one fit may take.
    """

    n_seeds: int = 5
    n_parts: int = 3
    seed: int = 0
    n_jobs: int = 1
    time_limit: float | None = None
    memory_limit: int | None = None


@dataclass(frozen=True)
class MethodResult:
    """What came of one method.

    Attributes
    ----------
    method : MethodInfo
        The method.
    status : {"ok", "failed", "timeout", "memory", "unsuitable"}
        "ok" where at least one fit of all samples ended well; "unsuitable" where it was not tried.
    reason : str
        Why there is no result, or what went wrong with some fits; else empty.
    n_ok, n_fits : int
        Fits that ended well, and fits that were made.
    seconds, cpu_seconds : float
        Means over the fits of all samples; NaN without one.
    peak_bytes : int
        The most memory of any of them; 0 where not known.
    labels : ndarray of shape (n,) or None
        Labels of the typical seed: the one that agrees best with the others.
    seed : int or None
        That seed.
    criteria : Criteria or None
        Without classes.
    scores : dict of str to list of float
        External scores of each seed; empty without classes.
    """

    method: MethodInfo
    status: str
    reason: str = ""
    n_ok: int = 0
    n_fits: int = 0
    seconds: float = float("nan")
    cpu_seconds: float = float("nan")
    peak_bytes: int = 0
    labels: Array | None = None
    seed: int | None = None
    criteria: Criteria | None = None
    scores: dict[str, list[float]] = field(default_factory=dict)


@dataclass(frozen=True)
class Comparison:
    """Results of all methods, and which one is recommended; None where no method had a result."""

    results: tuple[MethodResult, ...]
    recommendation: Recommendation | None


def compare(
    data: Dataset,
    methods: Sequence[MethodInfo],
    n_clusters: int,
    store: Path,
    *,
    options: Options | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Comparison:
    """Fit several methods and say which one suits the data, without looking at the classes.

    Every method is fitted once; those that fail, or go over a limit, are recorded as such and not tried again. The
    others are then fitted with more seeds and on parts of the samples.

    Parameters
    ----------
    data : Dataset
        The data. Its labels, where it has any, give external scores and have no part in the recommendation.
    methods : sequence of MethodInfo
        From the registry.
    n_clusters : int
        Number of clusters.
    store : Path
        File that keeps the finished fits, see ``run_all``.
    options : Options, default=None
        How much is done.
    progress : callable, default=None
        See ``run_all``.

    Returns
    -------
    Comparison
        One result per method, in the order given.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from manyviews import datasets
    >>> from manyviews.bench.comparison import Options, compare
    >>> from manyviews.cluster.registry import find_method
    >>> data = datasets.make_blobs_views(90, (6, 5), 3, view_noise=0.2, random_state=0)
    >>> methods = [find_method(name) for name in ("concat-kmeans", "average-kkm")]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = compare(data, methods, 3, Path(folder) / "runs.jsonl", options=Options(n_seeds=2, n_parts=2))
    >>> [result.status for result in found.results]
    ['ok', 'ok']
    """
    options = options or Options()
    suitable = [method for method in methods if not _unsuitable(method, data)]
    first = [_run(method, data, n_clusters, options.seed) for method in suitable]
    records = _made(first, data, store, options, progress)
    working = [method for method, record in zip(suitable, records, strict=True) if record.status == "ok"]
    rest = [run for method in working for run in _more_runs(method, data, n_clusters, options)]
    records += _made(rest, data, store, options, progress)
    by_method = {method.name: [r for r in records if r.run.method == method.name] for method in suitable}
    groupings = {name: _groupings(own, len(data.views)) for name, own in by_method.items()}
    groupings = {name: own for name, own in groupings.items() if own.seeds}
    criteria = criteria_of(groupings, view_graphs(data.views)) if groupings else {}
    results = tuple(_result(method, data, by_method, groupings, criteria) for method in methods)
    return Comparison(results, recommend(criteria, n_clusters) if criteria else None)


def _unsuitable(method: MethodInfo, data: Dataset) -> str:
    """Return why a method cannot take the data; empty where it may."""
    views = data.views
    unseen = int((~views.observed).any(axis=1).sum())
    if unseen and not method.missing:
        return f"takes no missing views; {unseen} of the {len(views)} samples are not in every view"
    if method.family == "single view" and len(views.names) > 1:
        return f"takes a single view; there are {len(views.names)}"
    return ""


def _run(
    method: MethodInfo, data: Dataset, n_clusters: int, seed: int, rows: tuple[int, int] | None = None
) -> Run:
    return Run(method.name, data.name, seed, {}, n_clusters, rows)


def _more_runs(method: MethodInfo, data: Dataset, n_clusters: int, options: Options) -> list[Run]:
    seeds = range(options.seed + 1, options.seed + options.n_seeds)
    parts = range(options.seed, options.seed + options.n_parts)
    return [_run(method, data, n_clusters, seed) for seed in seeds] + [
        _run(method, data, n_clusters, seed, (seed, PART)) for seed in parts
    ]


def _made(
    runs: Sequence[Run], data: Dataset, store: Path, options: Options, progress: Callable[[Progress], None] | None
) -> list[Record]:
    return run_all(
        runs,
        {data.name: data},
        store,
        n_jobs=options.n_jobs,
        time_limit=options.time_limit,
        memory_limit=options.memory_limit,
        keep_labels=True,
        progress=progress,
    )


def _groupings(records: Sequence[Record], n_samples: int) -> Groupings:
    seeds, parts = [], []
    for record in records:
        if record.labels is None:
            continue
        labels, rows = np.asarray(record.labels), resampled_rows(n_samples, record.run.rows)
        if rows is None:
            seeds.append(labels)
        else:
            parts.append((rows, labels))
    return Groupings(seeds, parts)


def _result(
    method: MethodInfo,
    data: Dataset,
    by_method: dict[str, list[Record]],
    groupings: dict[str, Groupings],
    criteria: dict[str, Criteria],
) -> MethodResult:
    if method.name not in by_method:
        return MethodResult(method, "unsuitable", _unsuitable(method, data))
    records = by_method[method.name]
    whole = [record for record in records if record.run.rows is None and record.status == "ok"]
    bad = [record for record in records if record.status != "ok"]
    if not whole:
        return MethodResult(method, bad[0].status, bad[0].message, 0, len(records))
    typical = _typical(groupings[method.name].seeds)
    return MethodResult(
        method=method,
        status="ok",
        reason=f"{len(bad)} of {len(records)} fits had no result: {bad[0].message or bad[0].status}" if bad else "",
        n_ok=len(records) - len(bad),
        n_fits=len(records),
        seconds=float(np.mean([record.seconds for record in whole])),
        cpu_seconds=float(np.mean([record.cpu_seconds for record in whole])),
        peak_bytes=max(record.peak_bytes for record in whole),
        labels=groupings[method.name].seeds[typical],
        seed=whole[typical].run.seed,
        criteria=criteria[method.name],
        scores={name: [record.scores[name] for record in whole] for name in whole[0].scores},
    )


def _typical(seeds: Sequence[Array]) -> int:
    """Return the position of the labelling that agrees best with the others, the first of several."""
    from manyviews.metrics import adjusted_rand_index

    means = [np.mean([adjusted_rand_index(a, b) for b in seeds]) for a in seeds]
    return int(np.argmax(np.round(means, 12)))
