"""The figures of each paper by its name: what fits they need, and what they are drawn as."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from manyviews.papers.fastmice_figures import fastmice_figures
from manyviews.papers.figure_parts import FigureTask, PlannedFigure
from manyviews.papers.fusion_figures import op_lfmvc_figures
from manyviews.papers.mspl_figures import mspl_figures
from manyviews.papers.mvec_figures import mvec_figures
from manyviews.papers.udbgl_figures import udbgl_figures

__all__ = ["FIGURES", "QUICK_SEEDS", "plan_figures"]

# seeds at each point of a figure unless told otherwise: many points, each of which costs a fit per seed
QUICK_SEEDS = 3

FIGURES: dict[str, Callable[[FigureTask], Iterable[PlannedFigure]]] = {
    "fastmice": fastmice_figures,
    "op-lfmvc": op_lfmvc_figures,
    "mvec": mvec_figures,
    "mspl": mspl_figures,
    "udbgl": udbgl_figures,
}


def plan_figures(task: FigureTask) -> list[PlannedFigure]:
    """Return the figures of a paper on the data that are there.

    Parameters
    ----------
    task : FigureTask
        Paper, rows, data and seeds.

    Returns
    -------
    list of PlannedFigure
        None without the row of the paper's own method.
    """
    return list(FIGURES[task.paper.name](task))
