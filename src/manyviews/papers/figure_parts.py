"""What the figures of all papers are made of: the fits that they need, and lines, maps and boxes as plain data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, stdev
from typing import Any, NamedTuple

from manyviews.pages.charts import base_layout, escape, within
from manyviews.pages.palette import look_of
from manyviews.papers.material import Material, material_name
from manyviews.papers.paper import Paper
from manyviews.papers.plan import Planned
from manyviews.papers.setup import Given, Parameters, Setup
from manyviews.runs.outcomes import Outcome, Run

__all__ = [
    "FigureTask",
    "Line",
    "Mark",
    "PaperFigure",
    "PlannedFigure",
    "Score",
    "box_figure",
    "chart_layout",
    "heat_figure",
    "line_figure",
    "line_trace",
    "mark_trace",
    "outcomes_of",
    "values_of",
]

Chart = dict[str, Any]
Found = Mapping[int, Outcome]


class PaperFigure(NamedTuple):
    """A chart, the id of its place on the page, and what stands above it."""

    key: str
    title: str
    note: str
    chart: Chart


@dataclass(frozen=True)
class PlannedFigure:
    """A figure before its fits are made.

    Attributes
    ----------
    key, title, note : str
        As of ``PaperFigure``.
    draw : callable
        Takes outcomes by the ``id`` of their run and returns the chart.
    runs : tuple of Run
        The fits that it needs; none where it makes its own.
    """

    key: str
    title: str
    note: str
    draw: Callable[[Found], Chart]
    runs: tuple[Run, ...] = ()

    def drawn(self, found: Found) -> PaperFigure:
        """Return the figure with its chart."""
        return PaperFigure(self.key, self.title, self.note, self.draw(found))


class Score(NamedTuple):
    """Key of a score, what the paper calls it, and the factor that brings it to the unit of the paper."""

    metric: str
    shown_as: str
    factor: float = 1.0

    @property
    def ends(self) -> tuple[float, float]:
        """What no value lies below or above, in the unit of the paper."""
        return -self.factor if self.metric == "ari" else 0.0, self.factor


class Line(NamedTuple):
    """A line or a row of boxes: its name, and the fits at each place of the axis."""

    name: str
    fits: Mapping[Any, tuple[Run, ...]]


class Mark(NamedTuple):
    """A figure that the paper prints, where it belongs in the chart."""

    name: str
    x: Any
    mean: float
    deviation: float | None = None


@dataclass(frozen=True)
class FigureTask:
    """What the figures of a paper are made from.

    Attributes
    ----------
    paper : Paper
        The printed figures.
    setups : sequence of Setup
        Rows that are wanted.
    material : Material
        The data sets.
    seeds : sequence of int
        Seeds of the fits at each point of a figure.
    full : bool
        Whether to take the grids of the paper.
    tables : sequence of Planned
        The fits of the tables.
    """

    paper: Paper
    setups: Sequence[Setup]
    material: Material
    seeds: Sequence[int]
    full: bool = False
    tables: Sequence[Planned] = field(default=())

    def setup(self, row: str) -> Setup | None:
        """Return how a row that follows the paper is made, None where it is not wanted."""
        return next((setup for setup in self.setups if setup.row == row and not setup.variant), None)

    def mark(self, row: str, dataset: str, metric: str, x: Any, name: str) -> list[Mark]:
        """Return the printed figure of a table as a mark, nothing where there is none."""
        for table in self.paper.tables:
            found = table.figure(row, dataset) if table.metric == metric else None
            if found is not None:
                return [Mark(name, x, found.mean, found.deviation)]
        return []

    def fits(
        self,
        method: str,
        dataset: str,
        parameters: Parameters,
        *,
        given: Given = "features",
        seeds: Sequence[int] | None = None,
    ) -> tuple[Run, ...]:
        """Return one fit per seed."""
        data, k = material_name(dataset, given, None), self.material.n_clusters(dataset)
        return tuple(Run(method, data, seed, dict(parameters), k) for seed in (self.seeds if seeds is None else seeds))


def outcomes_of(runs: Iterable[Run], found: Found) -> list[Outcome]:
    """Return the outcomes of the fits that were done."""
    return [found[id(run)] for run in runs if found[id(run)].status == "ok"]


def values_of(runs: Iterable[Run], found: Found, score: Score) -> list[float]:
    """Return the scores of the fits that were done."""
    return [score.factor * outcome.scores[score.metric] for outcome in outcomes_of(runs, found)]


def line_figure(
    key: str,
    title: str,
    note: str,
    lines: Sequence[Line],
    axis: str,
    score: Score,
    *,
    marks: Sequence[Mark] = (),
    log: bool = False,
) -> PlannedFigure:
    """Return a figure of means and deviations over one parameter.

    Parameters
    ----------
    key, title, note : str
        As of ``PaperFigure``.
    lines : sequence of Line
        What is drawn; texts as places of the axis give points without a line.
    axis : str
        Title of the axis of the parameter.
    score : Score
        What is drawn.
    marks : sequence of Mark, default=()
        Printed figures.
    log : bool, default=False
        Whether the axis of the parameter is logarithmic.

    Returns
    -------
    PlannedFigure
        With all fits of the lines.
    """

    def draw(found: Found) -> Chart:
        traces = []
        for i, line in enumerate(lines):
            values = {x: values_of(runs, found, score) for x, runs in line.fits.items()}
            traces.append(line_trace(line.name, {x: held for x, held in values.items() if held}, i))
        traces += [mark_trace(mark) for mark in marks]
        return {"data": traces, "layout": chart_layout(axis, score.shown_as, log=log, ends=score.ends)}

    return PlannedFigure(key, title, note, draw, _all_runs(lines))


def box_figure(
    key: str, title: str, note: str, lines: Sequence[Line], axis: str, score: Score, *, marks: Sequence[Mark] = ()
) -> PlannedFigure:
    """Return a figure with a box over the fits at each place of the axis; parameters as of ``line_figure``."""

    def draw(found: Found) -> Chart:
        traces = []
        for i, line in enumerate(lines):
            pairs = [(str(x), value) for x, runs in line.fits.items() for value in values_of(runs, found, score)]
            traces.append(
                {
                    "type": "box",
                    "name": escape(line.name),
                    "x": [x for x, _ in pairs],
                    "y": [value for _, value in pairs],
                    "boxpoints": "all",
                    "pointpos": 0,
                    "fillcolor": "rgba(0,0,0,0)",
                    "line": {"width": 1.5},
                    "marker": {"size": 4},
                    "meta": {"hue": look_of(i).hue},
                }
            )
        traces += [mark_trace(mark._replace(x=str(mark.x))) for mark in marks]
        layout = chart_layout(axis, score.shown_as, ends=score.ends)
        layout["xaxis"] |= {"type": "category"}
        return {"data": traces, "layout": layout | {"boxmode": "group"}}

    return PlannedFigure(key, title, note, draw, _all_runs(lines))


def heat_figure(
    key: str,
    title: str,
    note: str,
    cells: Mapping[tuple[Any, Any], tuple[Run, ...]],
    axes: tuple[str, str],
    score: Score,
) -> PlannedFigure:
    """Return a map of means over two parameters.

    Parameters
    ----------
    key, title, note : str
        As of ``PaperFigure``.
    cells : mapping of (row, column) to tuple of Run
        The fits of each cell, rows from below.
    axes : tuple of str
        Titles of the axes of rows and of columns.
    score : Score
        What is drawn.

    Returns
    -------
    PlannedFigure
        With all fits of the cells.
    """
    rows, columns = (list(dict.fromkeys(place[i] for place in cells)) for i in (0, 1))

    def draw(found: Found) -> Chart:
        held = {place: values_of(runs, found, score) for place, runs in cells.items()}
        means = {place: fmean(values) if values else None for place, values in held.items()}
        z = [[means.get((row, column)) for column in columns] for row in rows]
        decimals = 1 if score.factor > 1 else 3
        down, across, shown = escape(axes[0]), escape(axes[1]), escape(score.shown_as)
        trace = {
            "type": "heatmap",
            "name": shown,
            "x": [f"{column:g}" for column in columns],
            "y": [f"{row:g}" for row in rows],
            "z": z,
            "text": [["" if value is None else f"{value:.{decimals}f}" for value in line] for line in z],
            "texttemplate": "%{text}",
            "colorscale": "Viridis",
            "colorbar": {"title": {"text": shown}, "outlinewidth": 0},
            "hovertemplate": "<br>".join([f"{down} %{{y}}", f"{across} %{{x}}", f"{shown} %{{text}}<extra></extra>"]),
            "marker": {},
            "meta": {"role": "accent"},
        }
        layout = chart_layout(axes[1], axes[0])
        for name in ("xaxis", "yaxis"):
            layout[name] |= {"type": "category", "showgrid": False}
        layout["yaxis"]["title"] |= {"standoff": 20}
        return {"data": [trace], "layout": layout | {"showlegend": False, "height": 360}}

    return PlannedFigure(key, title, note, draw, tuple(run for runs in cells.values() for run in runs))


def _all_runs(lines: Iterable[Line]) -> tuple[Run, ...]:
    return tuple(run for line in lines for runs in line.fits.values() for run in runs)


def line_trace(name: str, values: Mapping[Any, Sequence[float]], position: int) -> dict[str, Any]:
    """Return a line through means, with the deviations where there are several values."""
    look, places = look_of(position), list(values)
    means = [fmean(held) for held in values.values()]
    spread = [stdev(held) if len(held) > 1 else 0.0 for held in values.values()]
    words = any(isinstance(x, str) for x in places)
    trace: dict[str, Any] = {
        "type": "scatter",
        "mode": "markers" if words else "lines+markers",
        "name": escape(name),
        "x": [escape(x) if isinstance(x, str) else x for x in places],
        "y": means,
        "line": {"width": 1.5},
        "marker": {"size": 10 if words else 7, "symbol": look.marker},
        "hovertext": [
            f"{escape(name)}, {escape(str(x))}: {_told(mean, deviation, len(held))}"
            for x, mean, deviation, held in zip(places, means, spread, values.values(), strict=True)
        ],
        "hoverinfo": "text",
        "meta": {"hue": look.hue},
    }
    if any(spread):
        trace["error_y"] = {"type": "data", "array": spread, "thickness": 1.2, "width": 3}
    return trace


def _told(mean: float, deviation: float, n: int) -> str:
    return f"{mean:.4g}" if n < 2 else f"{mean:.4g} ± {deviation:.2g} over {n} runs"


def mark_trace(mark: Mark) -> dict[str, Any]:
    """Return a printed figure as an open diamond."""
    trace: dict[str, Any] = {
        "type": "scatter",
        "mode": "markers",
        "name": escape(mark.name),
        "x": [escape(mark.x) if isinstance(mark.x, str) else mark.x],
        "y": [mark.mean],
        "marker": {"size": 11, "symbol": "diamond-open", "line": {"width": 2}},
        "hovertext": [f"{escape(mark.name)}: {_told(mark.mean, mark.deviation or 0.0, 1)}"],
        "hoverinfo": "text",
        "meta": {"role": "muted"},
    }
    if mark.deviation:
        trace["error_y"] = {"type": "data", "array": [mark.deviation], "thickness": 1.2, "width": 3}
    return trace


def chart_layout(
    x: str, y: str, *, log: bool = False, ends: tuple[float | None, float | None] = (None, None)
) -> dict[str, Any]:
    """Return the layout of a chart with these titles of the axes; no value of y lies beyond the ``ends``."""
    layout = base_layout()
    del layout["template"]
    across = {"title": {"text": escape(x)}, "automargin": True} | (
        {"type": "log", "dtick": 1, "exponentformat": "power"} if log else {}
    )
    return layout | {
        "height": 320,
        "margin": {"l": 60, "r": 20, "t": 50, "b": 50},
        "showlegend": True,
        "legend": {"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0},
        "xaxis": layout["xaxis"] | across,
        "yaxis": layout["yaxis"] | {"title": {"text": escape(y)}, "automargin": True} | within(*ends),
    }
