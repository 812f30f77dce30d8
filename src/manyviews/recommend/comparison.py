"""Several methods on one data set without classes: plan the fits, make them, gather what they say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyviews.cluster.registry import MethodInfo
from manyviews.datasets import Dataset
from manyviews.metrics import adjusted_rand_index
from manyviews.metrics.report import evaluate_known
from manyviews.recommend.criteria import Criteria, Groupings, criteria_of
from manyviews.recommend.rule import Recommendation, recommend
from manyviews.recommend.view_graphs import view_graphs
from manyviews.runs.records import Record, Run, resampled_rows
from manyviews.runs.runner import Progress, run_all
from manyviews.views import Views

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
    views: Views,
    methods: Sequence[MethodInfo],
    n_clusters: int,
    store: Path,
    *,
    truth: Any = None,
    options: Options | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Comparison:
    """Fit several methods and say which one suits the data, without looking at the classes.

    Every method is fitted once; those that fail, or go over a limit, are recorded as such and not tried again. The
    others are then fitted with more seeds and on parts of the samples.

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
        Classes for external scores. They have no part in the recommendation.
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
    >>> from manyviews.recommend.comparison import Options, compare
    >>> from manyviews.cluster.registry import find_method
    >>> data = datasets.make_blobs_views(90, (6, 5), 3, view_noise=0.2, random_state=0)
    >>> methods = [find_method(name) for name in ("concat-kmeans", "average-kkm")]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = compare(data.views, methods, 3, Path(folder) / "runs.jsonl", options=Options(n_seeds=2, n_parts=2))
    >>> [result.status for result in found.results]
    ['ok', 'ok']
    """
    options = options or Options()
    job = _Job(Dataset("data", views, None, (), "", ""), n_clusters, store, options, progress)
    suitable = [method for method in methods if not _unsuitable(method, views)]
    records = job.make([job.run(method, options.seed) for method in suitable])
    working = [method for method, record in zip(suitable, records, strict=True) if record.status == "ok"]
    records += job.make([run for method in working for run in job.more_runs(method)])
    by_method = {method.name: [r for r in records if r.run.method == method.name] for method in suitable}
    groupings = {name: _groupings(own, len(views)) for name, own in by_method.items()}
    groupings = {name: own for name, own in groupings.items() if own.seeds}
    criteria = criteria_of(groupings, view_graphs(views)) if groupings else {}
    results = []
    for method in methods:
        if method not in suitable:
            results.append(MethodResult(method, "unsuitable", _unsuitable(method, views)))
        elif method.name not in groupings:
            results.append(_without_result(method, by_method[method.name]))
        else:
            own = groupings[method.name].seeds
            scores = [] if truth is None else [evaluate_known(np.asarray(truth), labels) for labels in own]
            found = _result(method, by_method[method.name], own)
            results.append(replace(found, criteria=criteria[method.name], scores=_by_score(scores)))
    return Comparison(tuple(results), recommend(criteria) if criteria else None)


@dataclass(frozen=True)
class _Job:
    """What all fits have in common."""

    data: Dataset
    n_clusters: int
    store: Path
    options: Options
    progress: Callable[[Progress], None] | None

    def run(self, method: MethodInfo, seed: int, rows: tuple[int, int] | None = None) -> Run:
        return Run(method.name, self.data.name, seed, {}, self.n_clusters, rows)

    def more_runs(self, method: MethodInfo) -> list[Run]:
        first, n_seeds, n_parts = self.options.seed, self.options.n_seeds, self.options.n_parts
        whole = [self.run(method, seed) for seed in range(first + 1, first + n_seeds)]
        return whole + [self.run(method, seed, (seed, PART)) for seed in range(first, first + n_parts)]

    def make(self, runs: Sequence[Run]) -> list[Record]:
        return run_all(
            runs,
            {self.data.name: self.data},
            self.store,
            n_jobs=self.options.n_jobs,
            time_limit=self.options.time_limit,
            memory_limit=self.options.memory_limit,
            keep_labels=True,
            progress=self.progress,
        )


def _unsuitable(method: MethodInfo, views: Views) -> str:
    """Return why a method cannot take the data; empty where it may."""
    unseen = int((~views.observed).any(axis=1).sum())
    if unseen and not method.missing:
        return f"takes no missing views; {unseen} of the {len(views)} samples are not in every view"
    if method.family == "single view" and len(views.names) > 1:
        return f"takes a single view; there are {len(views.names)}"
    return ""


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


def _without_result(method: MethodInfo, records: Sequence[Record]) -> MethodResult:
    return MethodResult(method, records[0].status, records[0].message, 0, len(records))


def _result(method: MethodInfo, records: Sequence[Record], seeds: Sequence[Array]) -> MethodResult:
    whole = [record for record in records if record.run.rows is None and record.labels is not None]
    bad = [record for record in records if record.status != "ok"]
    typical = _typical(seeds)
    return MethodResult(
        method=method,
        status="ok",
        reason=f"{len(bad)} of {len(records)} fits had no result: {bad[0].message or bad[0].status}" if bad else "",
        n_ok=len(records) - len(bad),
        n_fits=len(records),
        seconds=float(np.mean([record.seconds for record in whole])),
        cpu_seconds=float(np.mean([record.cpu_seconds for record in whole])),
        peak_bytes=max(record.peak_bytes for record in whole),
        labels=seeds[typical],
        seed=whole[typical].run.seed,
    )


def _by_score(scores: Sequence[dict[str, float]]) -> dict[str, list[float]]:
    return {name: [row[name] for row in scores] for name in scores[0]} if scores else {}


def _typical(seeds: Sequence[Array]) -> int:
    """Return the position of the labelling that agrees best with the others, the first of several."""
    means = [np.mean([adjusted_rand_index(a, b) for b in seeds]) for a in seeds]
    return int(np.argmax(np.round(means, 12)))
