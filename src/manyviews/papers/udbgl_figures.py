"""How UDBGL depends on its fusion weight β and on the number of anchors m."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from manyviews.papers.figure_parts import FigureTask, Line, Mark, PlannedFigure, Score, line_figure

__all__ = ["udbgl_figures"]

OWN = "UDBGL paper's rule"
NMI = Score("nmi", "NMI (geometric)")
BETAS = tuple(10.0**power for power in range(-7, 3))
TIMES, ALL_TIMES = (1, 2, 3, 4, 6), tuple(range(1, 11))


def udbgl_figures(task: FigureTask) -> Iterator[PlannedFigure]:
    """Yield both figures of each data set; the text at hand gives neither grids nor values of the paper's."""
    wanted = {"as printed": task.setup(OWN)} | {
        "default": next((setup for setup in task.setups if setup.method == "udbgl" and not setup.parameters), None)
    }
    setups = {name: setup for name, setup in wanted.items() if setup is not None}
    if wanted["as printed"] is None:
        return

    def lines(dataset: str, name: str, values: tuple[Any, ...], shown: tuple[Any, ...]) -> list[Line]:
        found = []
        for title, setup in setups.items():
            fits = (task.fits(setup.method, dataset, {**setup.parameters, name: value}) for value in values)
            found.append(Line(title, dict(zip(shown, fits, strict=True))))
        return found

    for i, dataset in enumerate(task.material):
        k = task.material.n_clusters(dataset)
        times = ALL_TIMES if task.full else TIMES
        yield line_figure(
            f"beta-{i}",
            f"Fusion weight β, {dataset}",
            "NMI over β, which pulls the view graphs towards the common graph; 1e-5 in all tables.",
            lines(dataset, "beta", BETAS, BETAS),
            "β",
            NMI,
            marks=_mark(task, dataset, 1e-5),
            log=True,
        )
        yield line_figure(
            f"anchors-{i}",
            f"Number of anchors m, {dataset}",
            f"NMI over m as a multiple of the {k} clusters; 1 in all tables.",
            lines(dataset, "n_anchors", tuple(k * t for t in times), times),
            "m / k",
            NMI,
            marks=_mark(task, dataset, 1),
        )


def _mark(task: FigureTask, dataset: str, x: Any) -> list[Mark]:
    return task.mark(OWN, dataset, NMI.metric, x, "authors' code, paper's rule")
