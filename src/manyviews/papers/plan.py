"""From a paper, its protocol and the data to the fits that its tables need, and back to one figure per cell."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from manyviews.papers.material import Material, material_name
from manyviews.papers.paper import Paper, PublishedTable
from manyviews.papers.setup import Setup
from manyviews.runs.outcomes import Outcome, Run

__all__ = ["Candidate", "Measured", "Planned", "make_plan", "measure"]


@dataclass(frozen=True)
class Candidate:
    """One setting of a setup on one data set: the fits over which scores are averaged, and what to call it."""

    label: str
    runs: tuple[Run, ...]


@dataclass(frozen=True)
class Measured:
    """What the fits gave for one cell.

    Attributes
    ----------
    mean, deviation : float or None
        Over the fits that were done, in the unit of the score (0 .. 1, or processor seconds); None where none was, and
        no deviation of a single one.
    n_runs, n_lost : int
        Fits that were done, and that were not.
    choice : str
        Which of several settings or views it is; empty where there was no choice.
    message : str
        What the first fit that was lost said.
    cpu_seconds : float or None
        Mean processor time of a fit.
    peak_bytes : int
        Most memory that a process held.
    """

    mean: float | None
    deviation: float | None
    n_runs: int
    n_lost: int
    choice: str
    message: str
    cpu_seconds: float | None
    peak_bytes: int


@dataclass(frozen=True)
class Planned:
    """What is to be fitted for one setup on one data set: one candidate, or several of which the best counts."""

    setup: Setup
    dataset: str
    candidates: tuple[Candidate, ...]

    @property
    def runs(self) -> tuple[Run, ...]:
        """All fits."""
        return tuple(run for candidate in self.candidates for run in candidate.runs)


def make_plan(
    paper: Paper, setups: Iterable[Setup], material: Material, seeds: Sequence[int], *, full: bool
) -> list[Planned]:
    """Return what is to be fitted for each setup and data set.

    Parameters
    ----------
    paper : Paper
        A setup is made for the data sets of the tables that have its row.
    setups : iterable of Setup
        Those that are wanted.
    material : Material
        The data.
    seeds : sequence of int
        Seeds of the fits.
    full : bool
        Whether to try the whole grid of the paper.

    Returns
    -------
    list of Planned
        In the order of data sets and rows.
    """
    chosen = list(setups)
    plan = []
    for dataset in (name for name in paper.datasets if name in material):
        rows = {row for table in paper.tables if dataset in table.datasets for row in table.figures}
        for setup in chosen:
            if setup.row in rows and (not setup.view or dataset in setup.view):
                plan.append(Planned(setup, dataset, tuple(_candidates(setup, dataset, material, seeds, full=full))))
    return plan


def _candidates(
    setup: Setup, dataset: str, material: Material, seeds: Sequence[int], *, full: bool
) -> Iterable[Candidate]:
    views: Sequence[str | None] = [setup.view.get(dataset)]
    if setup.each_view:
        views = material.view_names(dataset)
    settings, k = setup.settings(full=full), material.n_clusters(dataset)
    for view in views:
        data = material_name(dataset, setup.given, view)
        for parameters in settings:
            label = _label(view if setup.each_view else None, parameters if len(settings) > 1 else {}, setup.parameters)
            yield Candidate(label, tuple(Run(setup.method, data, seed, parameters, k) for seed in seeds))


def _label(view: str | None, parameters: Mapping[str, Any], fixed: Mapping[str, Any]) -> str:
    tuned = [f"{name} = {value:.4g}" for name, value in parameters.items() if name not in fixed]
    return ", ".join([*([] if view is None else [f"view {view}"]), *tuned])


def measure(candidates: Sequence[Candidate], outcomes: Mapping[int, Outcome], table: PublishedTable) -> Measured:
    """Return the figure of a cell: the best candidate by the mean of this metric, as the papers choose.

    Parameters
    ----------
    candidates : sequence of Candidate
        The settings.
    outcomes : mapping of int to Outcome
        By ``id`` of the run.
    table : PublishedTable
        Says which metric.

    Returns
    -------
    Measured
        Of the best one.
    """
    found = [_mean(candidate, [outcomes[id(run)] for run in candidate.runs], table.metric) for candidate in candidates]
    done = [each for each in found if each.mean is not None]
    if not done:
        return replace(found[0], choice="")
    if table.metric == "seconds":
        return replace(done[0], choice="")
    return max(done, key=lambda each: each.mean if each.mean is not None else -np.inf)


def _mean(candidate: Candidate, outcomes: Sequence[Outcome], metric: str) -> Measured:
    done = [outcome for outcome in outcomes if outcome.status == "ok"]
    lost = [outcome for outcome in outcomes if outcome.status != "ok"]
    values = np.array([outcome.cpu_seconds if metric == "seconds" else outcome.scores[metric] for outcome in done])
    # the last bits of a score hang on how clusters are numbered, and those of a mean on the order of its terms: runs
    # that differ in nothing else have no deviation, or a difference of rounding would be told as a significant one
    values = np.round(values, 12)
    level = len(np.unique(values)) == 1
    return Measured(
        mean=float(values[0] if level else values.mean()) if done else None,
        deviation=(0.0 if level else float(values.std(ddof=1))) if len(done) > 1 else None,
        n_runs=len(done),
        n_lost=len(lost),
        choice=candidate.label,
        message=f"{lost[0].status}: {lost[0].message}" if lost else "",
        cpu_seconds=sum(outcome.cpu_seconds for outcome in done) / len(done) if done else None,
        peak_bytes=max((outcome.peak_bytes for outcome in outcomes), default=0),
    )
