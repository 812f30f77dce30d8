"""The charts of a reproduction, as plotly knows them: plain data, coloured by the page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.stats import rankdata

from manyviews.pages.charts import base_layout, escape
from manyviews.pages.palette import look_of
from manyviews.papers.paper import PublishedTable
from manyviews.papers.significance import critical_difference
from manyviews.papers.tables import our_text, published_text
from manyviews.papers.verdict import Cell, Reproduction

__all__ = ["charts", "ranks_note"]

_ROW_HEIGHT, _FRAME = 22, 110
Chart = dict[str, Any]


def charts(reproduction: Reproduction) -> dict[str, Chart]:
    """Return the charts by the id of their place on the page.

    Parameters
    ----------
    reproduction : Reproduction
        What to draw.

    Returns
    -------
    dict of str to dict
        "ranks" where several rows were run, "times" where scores were, and "table-0", "table-1", ... for the tables of
        scores. A trace says in ``meta`` which colour of the page it takes.
    """
    drawn: dict[str, Chart] = {}
    tables = [table for table in reproduction.paper.tables if table.metric != "seconds"]
    scored = [cell for cell in reproduction.cells if cell.table in tables and cell.mean is not None]
    ranks = _ranks(_ranked(reproduction))
    if len(ranks) > 1:
        drawn["ranks"] = _rank_chart(ranks, _critical(reproduction))
    first = next((table for table in tables if any(cell.table is table for cell in scored)), None)
    if first is not None:
        drawn["times"] = _time_chart([cell for cell in scored if cell.table.metric == first.metric], first)
    for i, table in enumerate(reproduction.paper.tables):
        cells = [cell for cell in scored if cell.table is table]
        if cells:
            drawn[f"table-{i}"] = _table_chart(cells)
    return drawn


def ranks_note(reproduction: Reproduction) -> str:
    """Return what the bars in the chart of ranks mean, or why there are none."""
    critical = _critical(reproduction)
    if critical is None:
        return "On one data set alone there is no telling which differences are chance."
    n_datasets = len({cell.dataset for cell in _ranked(reproduction)})
    return (
        f"Rows whose bars do not overlap differ by Nemenyi's test at 5 %: their mean ranks are more than "
        f"{critical:.2f} apart. Each of the {n_datasets} data sets counts once: the scores of one set go together."
    )


def _ranked(reproduction: Reproduction) -> list[Cell]:
    """Return the cells of scores that are ranked: rows that follow the paper and have a printed figure."""
    return [
        cell
        for cell in reproduction.cells
        if cell.mean is not None and cell.published is not None and not cell.variant and cell.table.metric != "seconds"
    ]


def _critical(reproduction: Reproduction) -> float | None:
    cells = _ranked(reproduction)
    n_rows, n_datasets = len({cell.row for cell in cells}), len({cell.dataset for cell in cells})
    return critical_difference(n_rows, n_datasets) if min(n_rows, n_datasets) > 1 else None


def _table_chart(cells: Sequence[Cell]) -> Chart:
    """Means and deviations, published and ours, one line per cell, the first on top."""
    names = [escape(f"{cell.name}, {cell.dataset}") for cell in cells]
    kinds = (
        ("published", "muted", "diamond-open", [cell.published for cell in cells], published_text),
        ("ours", "accent", "circle", [cell if cell.mean is not None else None for cell in cells], our_text),
    )
    traces = []
    for title, colour, symbol, figures, text in kinds:
        kept = [i for i, figure in enumerate(figures) if figure is not None]
        points: list[Any] = [figures[i] for i in kept]
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": title,
                "x": [figure.mean for figure in points],
                "y": [names[i] for i in kept],
                "error_x": {"type": "data", "array": [figure.deviation or 0.0 for figure in points], "thickness": 1.5},
                "marker": {"symbol": symbol, "size": 9},
                "hovertext": [f"{names[i]}: {title} {text(cells[i])}" for i in kept],
                "hoverinfo": "text",
                "meta": {"role": colour},
            }
        )
    axis = {"categoryorder": "array", "categoryarray": list(dict.fromkeys(names))[::-1], "automargin": True}
    table = cells[0].table
    return {"data": traces, "layout": _layout(len(set(names)), x={"title": {"text": escape(table.shown_as)}}, y=axis)}


def _ranks(cells: Sequence[Cell]) -> dict[str, tuple[float, float, int]]:
    """Return published and our mean rank of each row, over the columns in which two rows or more were run."""
    found: dict[str, list[tuple[float, float]]] = {}
    columns = dict.fromkeys((id(cell.table), cell.dataset) for cell in cells)
    for table, dataset in columns:
        column = [cell for cell in cells if (id(cell.table), cell.dataset) == (table, dataset)]
        if len(column) < 2:
            continue
        theirs = rankdata([-cell.published.mean for cell in column if cell.published is not None])
        ours = rankdata([-cell.mean for cell in column if cell.mean is not None])
        for cell, *pair in zip(column, theirs.tolist(), ours.tolist(), strict=True):
            found.setdefault(cell.row, []).append((pair[0], pair[1]))
    return {row: (*np.mean(pairs, axis=0).tolist(), len(pairs)) for row, pairs in found.items()}


def _rank_chart(ranks: dict[str, tuple[float, float, int]], critical: float | None) -> Chart:
    rows = sorted(ranks, key=lambda row: ranks[row][1], reverse=True)
    names = [escape(row) for row in rows]
    traces = [
        {
            "type": "scatter",
            "mode": "markers",
            "name": title,
            "x": [ranks[row][place] for row in rows],
            "y": names,
            "marker": {"symbol": symbol, "size": 11},
            "hovertext": [f"{escape(row)}: {ranks[row][place]:.2f} over {ranks[row][2]} columns" for row in rows],
            "hoverinfo": "text",
            "meta": {"role": colour},
        }
        for place, title, colour, symbol in ((0, "published", "muted", "diamond-open"), (1, "ours", "accent", "circle"))
    ]
    if critical is not None:
        traces[1]["error_x"] = {"type": "constant", "value": critical / 2.0, "thickness": 1.5}
    axis = {"categoryorder": "array", "categoryarray": names, "automargin": True}
    return {"data": traces, "layout": _layout(len(rows), x={"title": {"text": "mean rank, 1 is best"}}, y=axis)}


def _time_chart(cells: Sequence[Cell], table: PublishedTable) -> Chart:
    """Quality against processor time, one colour per data set, names on the points; each row once per data set."""
    once = {(cell.name, cell.dataset): cell for cell in reversed(cells) if cell.cpu_seconds}
    traces = []
    for position, dataset in enumerate(dict.fromkeys(cell.dataset for cell in cells)):
        look = look_of(position)
        shown = [cell for (_, name), cell in once.items() if name == dataset]
        places: dict[tuple[Any, Any], list[Cell]] = {}
        for cell in shown:  # rows that share their fits share a point
            places.setdefault((cell.cpu_seconds, cell.mean), []).append(cell)
        names = [escape(", ".join(cell.name for cell in cells)) for cells in places.values()]
        traces.append(
            {
                "type": "scatter",
                "mode": "markers+text",
                "name": escape(dataset),
                "x": [seconds for seconds, _ in places],
                "y": [mean for _, mean in places],
                "text": names,
                "textposition": "top center",
                "cliponaxis": False,
                "marker": {"size": 9, "symbol": look.marker},
                "hovertext": [
                    f"{name}, {escape(dataset)}: {our_text(cells[0])}, {seconds:.3g} CPU s"
                    for name, ((seconds, _), cells) in zip(names, places.items(), strict=True)
                ],
                "hoverinfo": "text",
                "meta": {"hue": look.hue},
            }
        )
    x = {"title": {"text": "processor seconds of a fit"}, "type": "log"}
    layout = _layout(20, x=x, y={"title": {"text": escape(table.shown_as)}, "automargin": True})
    return {"data": traces, "layout": layout}


def _layout(n_rows: int, *, x: dict[str, Any], y: dict[str, Any]) -> dict[str, Any]:
    layout = base_layout()
    del layout["template"]
    return layout | {
        "height": _FRAME + _ROW_HEIGHT * n_rows,
        "margin": {"l": 60, "r": 60, "t": 40, "b": 50},
        "showlegend": True,
        "legend": {"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0},
        "xaxis": layout["xaxis"] | x,
        "yaxis": layout["yaxis"] | y,
    }
