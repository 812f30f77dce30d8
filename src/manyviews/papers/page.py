"""A comparison as one page that needs nothing else, no network either."""

from __future__ import annotations

from importlib import resources
from typing import Any

from manyviews import __version__
from manyviews.pages.inline import json_text, script_text
from manyviews.papers.figures import charts
from manyviews.papers.protocols import PROTOCOLS
from manyviews.papers.tables import counted, difference_text, our_text, published_text, why
from manyviews.papers.verdict import RULE, Comparison

__all__ = ["render", "render_page"]


def render_page(comparison: Comparison) -> str:
    """Return the page of a comparison.

    Parameters
    ----------
    comparison : Comparison
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
    drawn = charts(comparison)
    tables = []
    for i, table in enumerate(comparison.paper.tables):
        cells = [cell for cell in comparison.cells if cell.table is table]
        if cells:
            tables.append({"table": table, "cells": cells, "chart": f"table-{i}" if f"table-{i}" in drawn else None})
    shown = {cell.name for cell in comparison.cells if cell.method}
    return render(
        "bench.html.j2",
        drawn,
        comparison=comparison,
        protocol=PROTOCOLS[comparison.paper.name],
        tables=tables,
        rule=RULE,
        counts=counted(comparison),
        variant_counts=counted(comparison, variants=True) if any(cell.variant for cell in comparison.cells) else None,
        notes=[each for each in PROTOCOLS[comparison.paper.name].setups if each.note and each.name in shown],
    )


def render(template: str, drawn: dict[str, Any], **content: Any) -> str:
    """Fill a template of this package that extends ``page.html.j2``.

    Parameters
    ----------
    template : str
        Name of the template.
    drawn : dict of str to dict
        Charts by the id of their place, as of :func:`manyviews.papers.figures.charts`.
    **content
        What the template shows; texts are escaped.

    Returns
    -------
    str
        The page.

    Raises
    ------
    ImportError
        If plotly or jinja2 is not installed.
    """
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
        from markupsafe import Markup
        from plotly.offline import get_plotlyjs
    except ImportError as error:
        raise ImportError('pages need plotly and jinja2; install them by: pip install "manyviews[cli]"') from error
    environment = Environment(
        loader=PackageLoader("manyviews.papers", "templates"),
        autoescape=True,  # for every template: the default goes by the file's ending
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    functions = {"ours": our_text, "published": published_text, "difference": difference_text, "why": why}
    environment.filters.update(functions)
    page: str = environment.get_template(template).render(
        content,
        version=__version__,
        charts=set(drawn),
        style=Markup(_asset("style.css")),
        script=Markup(_asset("script.js")),
        plotly=Markup(script_text(get_plotlyjs())),
        payload=Markup(json_text(drawn)),
    )
    return page


def _asset(name: str) -> str:
    return (resources.files("manyviews.papers") / "templates" / name).read_text(encoding="utf-8")
