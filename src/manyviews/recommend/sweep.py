"""How a result depends on one or two parameters: fits over a grid, several seeds each, resumable."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any

import numpy as np

from manyviews.cluster.registry import find_method
from manyviews.cluster.view_graphs import view_graphs
from manyviews.datasets import Dataset
from manyviews.recommend.criteria import Groupings, criteria_of
from manyviews.runs.outcomes import Outcome, Run
from manyviews.runs.runner import Progress, run_all
from manyviews.views.check import check_views

__all__ = ["Sweep", "sweep"]

# parameters that are no setting of the method, or that the sweep sets itself
OWN = ("n_clusters", "random_state", "n_jobs", "verbose", "views")
MOST_PARAMETERS = 2


@dataclass(frozen=True)
class Sweep:
    """What came of the fits over a grid.

    Attributes
    ----------
    parameters : tuple of str
        The parameters that were varied, one or two.
    points : tuple of tuple
        Their values at each point of the grid, the last parameter fastest.
    scores : dict of str to list of list of float
        Per score and point, one value per seed that ended well: external scores where classes were given; always
        "stability", the adjusted Rand index of each pair of seeds, and "structure", see ``Criteria``.
    seconds : list of float
        Mean wall time of a fit at each point; NaN where none ended well.
    reasons : list of str
        Why fits at a point did not end well; empty where they did.
    """

    parameters: tuple[str, ...]
    points: tuple[tuple[Any, ...], ...]
    scores: dict[str, list[list[float]]]
    seconds: list[float]
    reasons: list[str]

    @property
    def table(self) -> dict[str, list[Any]]:
        """The grid with mean and deviation of every score as columns, which ``pandas.DataFrame`` takes as they are."""
        columns: dict[str, list[Any]] = {
            name: [point[i] for point in self.points] for i, name in enumerate(self.parameters)
        }
        for score, values in self.scores.items():
            columns[score] = [fmean(own) if own else float("nan") for own in values]
            columns[f"{score}_deviation"] = [pstdev(own) if own else float("nan") for own in values]
        return columns | {"seconds": self.seconds, "reason": self.reasons}

    def figure(self, score: str | None = None) -> Any:
        """Draw a score over the grid: a line with deviations, or a heat map of two parameters; needs plotly.

        Parameters
        ----------
        score : str, default=None
            One of ``scores``; None takes "nmi" where classes were given, else "structure".

        Returns
        -------
        plotly.graph_objects.Figure
            With linear axes where the values are numbers.

        Raises
        ------
        ValueError
            If there is no such score.
        """
        from manyviews.recommend.sweep_figure import sweep_figure

        chosen = score or ("nmi" if "nmi" in self.scores else "structure")
        if chosen not in self.scores:
            raise ValueError(f"there is no score {chosen!r}; choose one of {', '.join(self.scores)}")
        return sweep_figure(self.parameters, self.points, self.table, chosen)


def sweep(
    estimator: Any,
    views: Any,
    grid: Mapping[str, Sequence[Any]],
    *,
    seeds: int = 3,
    truth: Any = None,
    random_state: int = 0,
    n_jobs: int = 1,
    time_limit: float | None = None,
    memory_limit: int | None = None,
    store: str | Path | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Sweep:
    """Fit a method over a grid of one or two parameters, with several seeds each.

    Fits are made in processes of their own, under limits of time and memory.

    Parameters
    ----------
    estimator : MultiViewClusterer
        A method of this library with the settings that stay as they are; it is not fitted.
    views : Views, sequence, mapping or table
        The data.
    grid : mapping of str to sequence
        One or two parameters of the estimator and the values that they take; ``n_clusters`` may be one.
    seeds : int, default=3
        Fits at each point. More of them tell chance from effect better, at their cost.
    truth : array-like of shape (n,), default=None
        Classes for external scores.
    random_state : int, default=0
        First seed; the others follow.
    n_jobs : int, default=1
        Fits at a time; -1 for one per core.
    time_limit : float, default=None
        Seconds that one fit may take; None for no limit.
    memory_limit : int, default=None
        Bytes that a process may hold; None for no limit.
    store : path-like, default=None
        File that keeps the finished fits, so that a call that was interrupted goes on where it was.
    progress : callable, default=None
        Called with the number of finished fits at the start and after each.

    Returns
    -------
    Sweep
        ``table``, ``scores`` and ``figure()``.

    Raises
    ------
    ValueError
        If the estimator is none of this library, or the grid names no, too many or unknown parameters.

    Notes
    -----
    Cost: one fit per point and seed, and O(n d) for the structure of each, on at most 4000 samples.

    Examples
    --------
    >>> import manyviews
    >>> data = manyviews.datasets.make_blobs_views(90, (6, 5), 3, view_noise=0.2, random_state=0)
    >>> model = manyviews.ConcatKMeans(3)
    >>> found = manyviews.sweep(model, data.views, {"n_clusters": [2, 3]}, seeds=2, truth=data.labels)
    >>> found.table["n_clusters"], found.table["acc"][1]
    ([2, 3], 1.0)
    """
    checked = check_views(views)
    fixed = _settings(estimator, grid)
    if not isinstance(seeds, int | np.integer) or seeds < 1:
        raise ValueError(f"seeds must be an integer of 1 or more; got {seeds!r}")
    classes = None if truth is None else np.asarray(truth)
    data = Dataset("data", checked, classes, (), "", "")
    method = find_method(type(estimator).__name__).name
    points = tuple(product(*grid.values()))
    runs = [
        _run(method, estimator.n_clusters, fixed | dict(zip(grid, point, strict=True)), random_state + i)
        for point in points
        for i in range(int(seeds))
    ]
    limits: dict[str, Any] = {"n_jobs": n_jobs, "time_limit": time_limit, "memory_limit": memory_limit}
    with tempfile.TemporaryDirectory(prefix="manyviews-sweep-") as folder:
        place = Path(folder) / "runs.jsonl" if store is None else Path(store)
        outcomes = run_all(runs, {"data": data}, place, keep_labels=True, progress=progress, **limits)
    at_points = [outcomes[i : i + int(seeds)] for i in range(0, len(outcomes), int(seeds))]
    graphs = view_graphs(checked)
    return _gathered(tuple(grid), points, at_points, graphs)


def _settings(estimator: Any, grid: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
    """Return the settings that stay as they are and are not the defaults; refuse a grid that cannot be made."""
    name = type(estimator).__name__
    try:
        own = find_method(name).load()
    except ValueError:
        own = None
    if own is not type(estimator):
        raise ValueError(f"sweep takes methods of manyviews, made as FastMICE(6) for instance; got {name}")
    given, usual = estimator.get_params(), own().get_params()
    if not 1 <= len(grid) <= MOST_PARAMETERS:
        raise ValueError(f"the grid must name one or two parameters; got {len(grid)}: {', '.join(grid) or 'none'}")
    unknown = [key for key in grid if key not in given or (key in OWN and key != "n_clusters")]
    if unknown:
        known = ", ".join(sorted({"n_clusters", *given} - set(OWN[1:])))
        raise ValueError(f"{name} has no parameter {unknown[0]!r} to vary; choose one of {known}")
    empty = [key for key, values in grid.items() if isinstance(values, str) or not list(values)]
    if empty:
        raise ValueError(f"the grid gives no values for {empty[0]!r}; write {{{empty[0]!r}: [first, second]}}")
    fixed = {key: value for key, value in given.items() if key not in OWN and value != usual[key]}
    try:
        json.dumps([fixed, {key: list(values) for key, values in grid.items()}])
    except TypeError as error:
        raise ValueError(
            f"parameters must be numbers, texts, lists or mappings, which can be stored: {error}"
        ) from None
    return fixed


def _run(method: str, n_clusters: int, parameters: Mapping[str, Any], seed: int) -> Run:
    settings = dict(parameters)
    k = int(settings.pop("n_clusters", n_clusters))
    return Run(method, "data", seed, settings, k)


def _gathered(
    names: tuple[str, ...], points: tuple[tuple[Any, ...], ...], outcomes: Sequence[Sequence[Outcome]], graphs: Any
) -> Sweep:
    scores: dict[str, list[list[float]]] = {}
    ended = [[outcome for outcome in own if outcome.status == "ok"] for own in outcomes]
    for score in sorted({score for own in ended for outcome in own for score in outcome.scores}):
        scores[score] = [[outcome.scores[score] for outcome in own] for own in ended]
    for criterion in ("stability", "structure"):
        scores[criterion] = []
    for own in ended:
        labels = [np.asarray(outcome.labels) for outcome in own]
        found = criteria_of({"point": Groupings(labels)}, graphs)["point"] if labels else None
        known = {} if found is None else {"stability": found.seeds, "structure": found.structure}
        for criterion in ("stability", "structure"):
            value = known.get(criterion, float("nan"))
            scores[criterion].append([value] if np.isfinite(value) else [])
    seconds = [fmean(outcome.seconds for outcome in own) if own else float("nan") for own in ended]
    reasons = [next((o.message or o.status for o in own if o.status != "ok"), "") for own in outcomes]
    return Sweep(names, points, scores, seconds, reasons)
