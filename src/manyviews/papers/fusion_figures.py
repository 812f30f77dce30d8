"""Figures 1 to 3 of the OP-LFMVC paper: what the iterations do, how methods weigh the views, what they cost."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from statistics import median
from typing import Any

import numpy as np

from manyviews.cluster.registry import find_method
from manyviews.metrics import evaluate
from manyviews.pages.charts import escape
from manyviews.pages.palette import look_of
from manyviews.papers.figure_parts import FigureTask, PlannedFigure, chart_layout, line_trace, mark_trace, outcomes_of
from manyviews.papers.material import material_name
from manyviews.papers.plan import Planned
from manyviews.papers.setup import Setup
from manyviews.runs.outcomes import Outcome

__all__ = ["WEIGHED", "op_lfmvc_figures"]

Chart = dict[str, Any]
Found = Mapping[int, Outcome]
OWN = "OP-LFMVC"
METRICS = {"acc": "ACC", "nmi_max": "NMI", "purity": "Purity", "ari": "adjusted RI"}
# rows of the paper's Figure 2
WEIGHED = ("MKKM", "MKKM-MiR", "LKAM", "LF-MVC", "MKKM-MM", "SMKKM", "OP-LFMVC")
SEED = 0


def op_lfmvc_figures(task: FigureTask) -> Iterator[PlannedFigure]:
    """Yield what the iterations of OP-LFMVC do, and the weights by each method, on each data set; then the times."""
    own = task.setup(OWN)
    if own is None:
        return
    weighed = [setup for row in WEIGHED if (setup := task.setup(row)) is not None]
    for i, dataset in enumerate(task.material):
        yield PlannedFigure(
            f"figure-1-{i}",
            f"Figure 1, {dataset}",
            "OP-LFMVC, one run: the labels of each iteration against the classes, and the objective as a part of its "
            "last value. Diamonds are the means of Table 2. The paper: the objective rises, usually for less than ten "
            "iterations.",
            partial(_iterations, task, own, dataset),
        )
        yield PlannedFigure(
            f"figure-2-{i}",
            f"Figure 2, {dataset}",
            "Weights of the views, scaled to sum 1; with the parameters that the library has as defaults, since the "
            "best setting differs between scores.",
            partial(_weights, task, weighed, dataset),
        )
    yield PlannedFigure(
        "figure-3",
        "Figure 3, running time",
        "Median processor seconds of a fit with given kernels, on one thread, on a logarithmic axis; of a method with "
        "parameters to tune, one setting. Open marks are the seconds of the paper's Table 4, on its authors' machine.",
        partial(_times, task),
        tuple(run for planned in _timed(task) for run in planned.candidates[0].runs),
    )


def _kernels(task: FigureTask, dataset: str) -> Any:
    return task.material[material_name(dataset, "kernels", None)]


def _iterations(task: FigureTask, own: Setup, dataset: str, _: Found) -> Chart:
    data = _kernels(task, dataset)
    history = _fitted(own, data, {**own.parameters, "keep_labels": True}).history_
    scores = [evaluate(data.labels, labels) for labels in history.labels]
    lines = {title: [100 * each[metric] for each in scores] for metric, title in METRICS.items()}
    lines["objective"] = (100 * history.objective / history.objective[-1]).tolist()
    traces = []
    for i, (title, values) in enumerate(lines.items()):
        traces.append(line_trace(title, {step: [value] for step, value in enumerate(values, 1)}, i))
    for i, (metric, title) in enumerate(METRICS.items()):
        for mark in task.mark(OWN, dataset, metric, history.n_iter, f"{title}, Table 2"):
            traces.append(mark_trace(mark) | {"meta": {"hue": look_of(i).hue}, "showlegend": False})
    layout = chart_layout("iteration", "percent")
    layout["yaxis"] |= {"rangemode": "tozero"}
    return {"data": traces, "layout": layout}


def _weights(task: FigureTask, setups: Iterable[Setup], dataset: str, _: Found) -> Chart:
    data, traces = _kernels(task, dataset), []
    for i, setup in enumerate(setups):
        weights = _fitted(setup, data, {"base": "kernel"}).view_weights_
        of_views = {name: [float(weight)] for name, weight in zip(data.views.names, weights, strict=True)}
        traces.append(line_trace(setup.row, of_views, i) | {"mode": "lines+markers"})
    layout = chart_layout("view", "weight", ends=(0.0, 1.0))
    layout["yaxis"] |= {"rangemode": "tozero"}
    return {"data": traces, "layout": layout}


def _fitted(setup: Setup, data: Any, parameters: Mapping[str, Any]) -> Any:
    with warnings.catch_warnings():
        # that a view counts for nothing is what the figure shows
        warnings.simplefilter("ignore")
        method = find_method(setup.method).load()
        return method(len(np.unique(data.labels)), random_state=SEED, **parameters).fit(data.views)


def _timed(task: FigureTask) -> list[Planned]:
    return [planned for planned in task.tables if not planned.setup.variant]


def _times(task: FigureTask, found: Found) -> Chart:
    """Seconds of each row, one symbol per data set; the first row on top."""
    timed, printed = _timed(task), next((t for t in task.paper.tables if t.metric == "seconds"), None)
    rows = list(dict.fromkeys(planned.setup.row for planned in timed))
    traces = []
    for i, dataset in enumerate(dict.fromkeys(planned.dataset for planned in timed)):
        seconds = {
            planned.setup.row: median(outcome.cpu_seconds for outcome in outcomes)
            for planned in timed
            if planned.dataset == dataset and (outcomes := outcomes_of(planned.candidates[0].runs, found))
        }
        theirs = {row: figure.mean for row in rows if printed and (figure := printed.figure(row, dataset))}
        traces.append(_dots(dataset, seconds, "circle", i))
        if theirs:
            traces.append(_dots(f"{dataset}, Table 4", theirs, "diamond-open", i))
    layout = chart_layout("seconds", "")
    layout["xaxis"] |= {"type": "log"}
    layout["yaxis"] |= {"categoryorder": "array", "categoryarray": [escape(row) for row in reversed(rows)]}
    return {"data": traces, "layout": layout | {"height": 110 + 24 * len(rows)}}


def _dots(name: str, seconds: Mapping[str, float], symbol: str, position: int) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": escape(name),
        "x": list(seconds.values()),
        "y": [escape(row) for row in seconds],
        "marker": {"size": 10, "symbol": symbol},
        "hovertext": [f"{escape(row)}, {escape(name)}: {value:.3g} s" for row, value in seconds.items()],
        "hoverinfo": "text",
        "meta": {"hue": look_of(position).hue},
    }
