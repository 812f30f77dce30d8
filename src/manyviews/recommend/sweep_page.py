"""A sweep -> one self-contained page: every score over the grid, and the table."""

from __future__ import annotations

import math
from typing import Any

from manyviews.pages.charts import chart_data
from manyviews.pages.environment import render
from manyviews.pages.wording import SCORES, plain
from manyviews.recommend.sweep import Sweep

__all__ = ["render_sweep"]

ROOM = "manyviews.recommend"
# The scores that are drawn, where they were measured, and what they say.
DRAWN = {
    "nmi": SCORES["nmi"],
    "ari": SCORES["ari"],
    "structure": (
        "Structure",
        "How well the nearest neighbours in one view alone tell the cluster of a sample, mean of the views; no classes "
        "are needed for it.",
    ),
    "stability": ("Stability", "How well fits with different seeds agree: 1 is the same grouping, 0 is chance."),
}


def render_sweep(found: Sweep, *, title: str, method: str) -> str:
    """Return the page of a sweep, complete in itself.

    Parameters
    ----------
    found : Sweep
        From ``manyviews.sweep``.
    title : str
        Name of the data.
    method : str
        Name of the method.

    Returns
    -------
    str
        HTML; names are escaped.

    Raises
    ------
    ImportError
        If plotly or jinja2 is not installed.
    """
    drawn = [score for score in DRAWN if any(found.scores.get(score, ()))]
    charts = {score: chart_data(found.figure(score).update_layout(height=360)) for score in drawn}
    table = {name: column for name, column in found.table.items() if any(map(_says, column))}
    content = {
        "title": f"{plain(title, 120)}: {plain(method, 60)} over {' and '.join(map(plain, found.parameters))}",
        "parts": [(score, *DRAWN[score], _reading(found, score)) for score in drawn],
        "n_seeds": max((len(own) for values in found.scores.values() for own in values), default=0),
        "columns": [
            (plain(name.replace("_", " ")), isinstance(column[0], int | float)) for name, column in table.items()
        ],
        "rows": [[_cell(column[i]) for column in table.values()] for i in range(len(found.points))],
    }
    return render(ROOM, "sweep.html.j2", {"charts": charts}, content)


def _reading(found: Sweep, score: str) -> str:
    """Say how the picture of a score is read, beyond its points."""
    if len(found.parameters) > 1:
        return "The stronger the colour, the higher."
    several = any(len(own) > 1 for own in found.scores[score])
    return "Bars are the standard deviation over seeds." if several else ""


def _says(value: Any) -> bool:
    return value != "" and not (isinstance(value, float) and math.isnan(value))


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return "–" if math.isnan(value) else f"{value:.4g}"
    return plain(value, 200)
