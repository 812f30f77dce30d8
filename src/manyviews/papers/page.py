"""A reproduction as one page that needs nothing else, no network either."""

from __future__ import annotations

from collections.abc import Sequence

from manyviews.pages.environment import render
from manyviews.papers.figure_parts import PaperFigure
from manyviews.papers.figures import charts, ranks_note
from manyviews.papers.overall import stars
from manyviews.papers.paper import Paper
from manyviews.papers.protocols import PROTOCOLS
from manyviews.papers.significance import LEADING_RULE, leading
from manyviews.papers.summaries import summaries
from manyviews.papers.tables import counted, difference_text, our_text, published_text, star, why
from manyviews.papers.verdict import RULE, Reproduction

__all__ = ["render_figures", "render_page"]

ROOM = "manyviews.papers"


def render_page(reproduction: Reproduction, figures: Sequence[PaperFigure] = ()) -> str:
    """Return the page of a reproduction.

    Parameters
    ----------
    reproduction : Reproduction
        What to show.
    figures : sequence of PaperFigure, default=()
        Figures of the paper, as of :func:`manyviews.papers.drawn.plan_figures`.

    Returns
    -------
    str
        HTML with style, script, plotly.js and data inline, light or dark as the reader's system is.

    Raises
    ------
    ImportError
        If plotly or jinja2 is not installed.
    """
    drawn = charts(reproduction) | {figure.key: figure.chart for figure in figures}
    tables = []
    for i, table in enumerate(reproduction.paper.tables):
        cells = [cell for cell in reproduction.cells if cell.table is table]
        if cells:
            chart = f"table-{i}" if f"table-{i}" in drawn else None
            told = any(map(why, cells))
            below = summaries(reproduction.paper, table, cells)
            tables.append({"table": table, "cells": cells, "chart": chart, "told": told, "summaries": below})
    shown = {cell.name for cell in reproduction.cells if cell.method}
    varied = any(cell.variant for cell in reproduction.cells)
    content = {
        "title": f"{reproduction.paper.title}: published and ours",
        "reproduction": reproduction,
        "protocol": PROTOCOLS[reproduction.paper.name],
        "tables": tables,
        "figures": figures,
        "rule": f"{RULE} {LEADING_RULE}",
        "leaders": leading(reproduction.cells),
        "stars": stars(reproduction.cells, reproduction.paper.name),
        "ranks_note": ranks_note(reproduction),
        "counts": counted(reproduction),
        "variant_counts": counted(reproduction, variants=True) if varied else None,
        "notes": [each for each in PROTOCOLS[reproduction.paper.name].setups if each.note and each.name in shown],
        "text": {
            "ours": our_text,
            "published": published_text,
            "difference": difference_text,
            "star": star,
            "why": why,
            "id": id,
        },
    }
    return render(ROOM, "paper.html.j2", {"charts": drawn}, content, style="papers.css")


def render_figures(paper: Paper, figures: Sequence[PaperFigure]) -> str:
    """Return a page with nothing but the figures of a paper.

    Parameters
    ----------
    paper : Paper
        The paper.
    figures : sequence of PaperFigure
        Its figures.

    Returns
    -------
    str
        HTML as of ``render_page``.

    Raises
    ------
    ImportError
        If plotly or jinja2 is not installed.
    """
    content = {"title": f"{paper.title}: figures, made anew", "paper": paper, "figures": figures}
    charts_of_figures = {figure.key: figure.chart for figure in figures}
    return render(ROOM, "figures.html.j2", {"charts": charts_of_figures}, content, style="papers.css")
