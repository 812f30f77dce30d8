"""The fits of a comparison: quick methods first, slow ones as far as the time goes, all of them kept."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from manyviews.cluster.registry import MethodInfo
from manyviews.datasets import Dataset
from manyviews.pages.wording import duration
from manyviews.runs.outcomes import Outcome, Run
from manyviews.runs.runner import Progress, Runner
from manyviews.views import Views

__all__ = ["Fits", "Options", "fit_methods", "unsuitable"]

Array = NDArray[Any]

# Per cent of the samples on which stability over samples is measured.
PART = 80
# Samples of the fit that tells how slow a method is; no smaller fit where this would be half of all.
PILOT, PILOT_SHARE = 500, 50
# Of all the time, what the fit on a part of the samples may take.
PILOT_TIME = 0.1


@dataclass(frozen=True)
class Options:
    """How much is done.

    Attributes
    ----------
    n_seeds, n_parts : int
        Fits on all samples, and on random 80 % of them. A slow method may get two of each.
    seed : int
        First seed; the others follow.
    n_jobs : int
        Processes.
    time_limit : float or None
        Seconds of processor time that all fits together may take. Quick methods come first; what a slow one would need
        beyond that is left out.
    memory_limit : int or None
        Bytes that one fit may take.
    view_weights : mapping of str to float
        What each view counts in every fit; empty where all count alike.
    """

    n_seeds: int = 5
    n_parts: int = 3
    seed: int = 0
    n_jobs: int = 1
    time_limit: float | None = 150.0
    memory_limit: int | None = None
    view_weights: Mapping[str, float] = field(default_factory=dict)


@dataclass
class Fits:
    """What was fitted, by the name of the method: outcomes, and why a method has none of use (status, reason)."""

    outcomes: dict[str, list[Outcome]]
    without: dict[str, tuple[str, str]]


def unsuitable(method: MethodInfo, views: Views, weights: Mapping[str, float] | None = None) -> str:
    """Return why a method cannot take the data; empty where it may."""
    unseen = int((~views.observed).any(axis=1).sum())
    if unseen and not method.missing:
        return f"takes no missing views; {unseen} of the {len(views)} samples are not in every view"
    if method.family == "single view" and len(views.names) > 1:
        return f"takes a single view; there are {len(views.names)}"
    if weights and (reason := method.load()._weightless):
        return f"has no place for weights of views: {reason}"
    return ""


def fit_methods(
    views: Views,
    methods: Sequence[MethodInfo],
    n_clusters: int,
    store: Path,
    *,
    options: Options,
    progress: Callable[[Progress], None] | None = None,
) -> Fits:
    """Fit methods that suit the data with several seeds and on parts of the samples.

    A fit on a part of the samples tells which methods are quick. Those come first. A method that fails, or goes over
    a limit, is not tried again. Everything is decided from the times in the store, so that a start that goes on after
    an interruption decides as one that was not interrupted.

    Parameters
    ----------
    views : Views
        The data.
    methods : sequence of MethodInfo
        That suit it.
    n_clusters : int
        Number of clusters.
    store : Path
        File of finished fits.
    options : Options
        How much is done.
    progress : callable, default=None
        Called at the start and after each fit.

    Returns
    -------
    Fits
        Of each method.
    """
    job = _Job(Dataset("data", views, None, (), "", ""), n_clusters, options)
    found = Fits({method.name: [] for method in methods}, {})
    runner = Runner(
        {job.data.name: job.data},
        store,
        n_jobs=options.n_jobs,
        memory_limit=options.memory_limit,
        keep_labels=True,
        progress=progress,
    )
    with runner:
        work = _Work(runner, job, found)
        runner.plan([run for method in methods for run in (job.pilot(method), *job.all_runs(method))])
        for method in work.quickest_first(methods):
            work.fit(method)
    return found


@dataclass(frozen=True)
class _Job:
    """What all fits have in common."""

    data: Dataset
    n_clusters: int
    options: Options

    def run(self, method: MethodInfo, seed: int, rows: tuple[int, int] | None = None) -> Run:
        weights = dict(self.options.view_weights)
        parameters = {"view_weights": weights} if weights else {}
        return Run(method.name, self.data.name, seed, parameters, self.n_clusters, rows)

    def pilot(self, method: MethodInfo) -> Run:
        size = max(PILOT, 20 * self.n_clusters)
        percent = math.ceil(100 * size / len(self.data.views))
        rows = None if percent >= PILOT_SHARE else (self.options.seed, percent)
        return self.run(method, self.options.seed, rows)

    def all_runs(self, method: MethodInfo, most: int | None = None) -> list[Run]:
        """Return the fits of a method, the first seed first; ``most`` seeds and parts where not all."""
        first = self.options.seed
        n_seeds, n_parts = self.options.n_seeds, self.options.n_parts
        if most is not None:
            n_seeds, n_parts = min(most, n_seeds), min(most, n_parts)
        whole = [self.run(method, seed) for seed in range(first, first + n_seeds)]
        return whole + [self.run(method, seed, (seed, PART)) for seed in range(first, first + n_parts)]


class _Work:
    """Fits one method after the other, as long as the time lasts."""

    def __init__(self, runner: Runner, job: _Job, found: Fits) -> None:
        self._runner, self._job, self._found = runner, job, found
        self._limit, self._spent = job.options.time_limit, 0.0
        self._pilots: dict[str, Outcome] = {}

    @property
    def _left(self) -> float:
        return math.inf if self._limit is None else max(self._limit - self._spent, 0.0)

    def quickest_first(self, methods: Sequence[MethodInfo]) -> list[MethodInfo]:
        """Fit each method once, on a part of the samples where there are many; return them by the time that took."""
        share = None if self._limit is None else PILOT_TIME * self._limit
        pilots = [self._job.pilot(method) for method in methods]
        outcomes = self._runner.make(pilots, time_limit=share)
        if outcomes and outcomes[0].run.rows is not None:
            self._spent += sum(outcome.cpu_seconds for outcome in outcomes)
        self._pilots = {method.name: outcome for method, outcome in zip(methods, outcomes, strict=True)}
        order = sorted(range(len(methods)), key=lambda i: (outcomes[i].status == "timeout", outcomes[i].cpu_seconds))
        return [methods[i] for i in order]

    def fit(self, method: MethodInfo) -> None:
        """Make all fits of a method, or as many as there is time for."""
        runs, few = self._job.all_runs(method), self._job.all_runs(method, 2)
        own = self._found.outcomes[method.name]
        if self._too_slow(method, len(few)):
            self._end(method, runs, "timeout", self._said(len(few) * self._expected(method)))
            return
        share = None if self._limit is None else max(self._left / len(few), 1e-3)
        first = self._make(own, runs[:1], share)
        if first.status != "ok":
            self._end(method, runs[1:], first.status, first.message)
            return
        for chosen in (runs, few):
            if (len(chosen) - 1) * first.cpu_seconds <= self._left:
                self._make(own, chosen[1:], None if self._limit is None else max(2 * self._left, 1e-3))
                self._runner.drop(run for run in runs if run not in chosen)
                return
        self._end(method, runs[1:], "timeout", self._said((len(few) - 1) * first.cpu_seconds))

    def _expected(self, method: MethodInfo) -> float:
        """Return the least that a fit will take, from the one on a part of the samples; 0 where that was of all."""
        pilot = self._pilots[method.name]
        return 0.0 if pilot.run.rows is None else pilot.cpu_seconds * 100 / pilot.run.rows[1]

    def _too_slow(self, method: MethodInfo, n_fits: int) -> bool:
        ended = self._pilots[method.name].status == "timeout" and self._expected(method) > 0
        return ended or n_fits * self._expected(method) > self._left

    def _said(self, needed: float) -> str:
        return (
            f"its fits would need about {duration(needed)} or more, and {duration(self._left)} of the "
            f"{duration(self._limit or 0.0)} for all methods were left"
        )

    def _make(self, own: list[Outcome], runs: Sequence[Run], limit: float | None) -> Any:
        """Make fits and count their time; return the last outcome."""
        outcomes = self._runner.make(runs, time_limit=limit)
        self._spent += sum(outcome.cpu_seconds for outcome in outcomes)
        own += outcomes
        return outcomes[-1] if outcomes else None

    def _end(self, method: MethodInfo, runs: Sequence[Run], status: str, reason: str) -> None:
        self._found.without[method.name] = (status, reason)
        self._runner.drop(runs)
