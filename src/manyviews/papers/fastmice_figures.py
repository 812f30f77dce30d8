"""Figures 3 to 6 of the FastMICE paper: size of the ensemble, anchors, neighbours, and groups of views."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from manyviews.papers.figure_parts import FigureTask, Line, Mark, PlannedFigure, Score, line_figure
from manyviews.papers.setup import Setup

__all__ = ["fastmice_figures"]

OWN, RIVAL = "FastMICE", "MVEC"
NMI = Score("nmi_max", "NMI (max)")
# parameter, its values at first and in the paper's range, and the value in all tables
SIZES = ("n_base_clusterings", (5, 10, 20, 30, 50), (5, 10, 15, 20, 25, 30, 35, 40, 45, 50), 20)
ANCHORS = ("n_anchors", (100, 300, 600, 1000, 1400), tuple(range(100, 1401, 100)), 1000)
NEIGHBORS = ("n_neighbors", (1, 2, 3, 5, 7, 10), tuple(range(1, 11)), 5)
# an ensemble with a co-association matrix takes minutes on more samples than this
FEW_SAMPLES = 1_000


def fastmice_figures(task: FigureTask) -> Iterator[PlannedFigure]:
    """Yield the figures of each data set."""
    own = task.setup(OWN)
    if own is None:
        return
    swept = (
        ("3", SIZES, "size of the ensemble", "NMI over the number of base clusterings M."),
        ("4", ANCHORS, "anchors", "NMI over the number of anchors p; there are never more than samples."),
        ("5", NEIGHBORS, "neighbours", "NMI over the number of neighbours K. The paper suggests 4 to 8."),
    )
    for i, dataset in enumerate(task.material):
        for number, (name, quick, whole, usual), axis, note in swept:
            values = whole if task.full else quick
            lines = [Line(OWN, {value: _fits(task, own, dataset, {name: value}) for value in values})]
            lines += _rival(task, dataset, values) if number == "3" else []
            yield line_figure(
                f"figure-{number}-{i}",
                f"Figure {number}, {axis}, {dataset}",
                note + " The text gives no values of the figure.",
                lines,
                axis,
                NMI,
                marks=_mark(task, dataset, usual),
            )
        yield _groups(task, own, i, dataset)


def _fits(task: FigureTask, own: Setup, dataset: str, changed: dict[str, Any]) -> Any:
    return task.fits(own.method, dataset, {**own.parameters, **changed}, given=own.given)


def _mark(task: FigureTask, dataset: str, x: Any) -> list[Mark]:
    return task.mark(OWN, dataset, NMI.metric, x, "authors' code")


def _rival(task: FigureTask, dataset: str, values: tuple[int, ...]) -> list[Line]:
    """Return MVEC with as many partitions a view, as far as it can be made in a minute or so."""
    rival = task.setup(RIVAL)
    if rival is None or task.material.n_samples(dataset) > FEW_SAMPLES:
        return []
    fits = {M: task.fits(rival.method, dataset, {**rival.parameters, "n_base_clusterings": M}) for M in values}
    return [Line(RIVAL, fits)]


def _groups(task: FigureTask, own: Setup, i: int, dataset: str) -> PlannedFigure:
    n_views = len(task.material.view_names(dataset))
    ranges = {
        "random groups": None,
        "one view per group": [1, 1],
        "all views in one group": [n_views, n_views],
    }
    fits = {
        name: _fits(task, own, dataset, {} if group is None else {"view_range": group})
        for name, group in ranges.items()
    }
    return line_figure(
        f"figure-6-{i}",
        f"Figure 6, groups of views, {dataset}",
        "The ablation: base clusterings on random groups of views, on one view each (late fusion), and on all views "
        "(early fusion), equally many of them. The text gives no values of the figure.",
        [Line(OWN, fits)],
        "views of a base clustering",
        NMI,
        marks=_mark(task, dataset, "random groups"),
    )
