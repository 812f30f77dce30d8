"""A reproduction as one page that needs nothing else, no network either."""

from __future__ import annotations

from manyviews.pages.environment import render
from manyviews.papers.figures import charts
from manyviews.papers.protocols import PROTOCOLS
from manyviews.papers.tables import counted, difference_text, our_text, published_text, why
from manyviews.papers.verdict import RULE, Reproduction

__all__ = ["render_page"]

ROOM = "manyviews.papers"


def render_page(reproduction: Reproduction) -> str:
    """Return the page of a reproduction.

    Parameters
    ----------
    reproduction : Reproduction
        What to show.

    Returns
    -------
    str
        HTML with style, script, plotly.js and data inline, light or dark as the reader's system is.

    Raises
    ------
    ImportError
        If plotly or jinja2 is not installed.
    """
    drawn = charts(reproduction)
    tables = []
    for i, table in enumerate(reproduction.paper.tables):
        cells = [cell for cell in reproduction.cells if cell.table is table]
        if cells:
            tables.append({"table": table, "cells": cells, "chart": f"table-{i}" if f"table-{i}" in drawn else None})
    shown = {cell.name for cell in reproduction.cells if cell.method}
    varied = any(cell.variant for cell in reproduction.cells)
    content = {
        "title": f"{reproduction.paper.title}: published and ours",
        "reproduction": reproduction,
        "protocol": PROTOCOLS[reproduction.paper.name],
        "tables": tables,
        "rule": RULE,
        "counts": counted(reproduction),
        "variant_counts": counted(reproduction, variants=True) if varied else None,
        "notes": [each for each in PROTOCOLS[reproduction.paper.name].setups if each.note and each.name in shown],
        "text": {"ours": our_text, "published": published_text, "difference": difference_text, "why": why},
    }
    return render(ROOM, "paper.html.j2", {"charts": drawn}, content, style="papers.css")
