"""Figures 1 and 2 of the OP-LFMVC paper, made anew: what the iterations do, and how methods weigh the views."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from manyviews.cluster.base_partitions import exact_partitions
from manyviews.cluster.late_fusion.fusion import released_start
from manyviews.cluster.late_fusion.op_lfmvc import solve_op_lfmvc
from manyviews.cluster.view_kernels import given_kernels
from manyviews.metrics import evaluate
from manyviews.pages.charts import base_layout, escape
from manyviews.pages.palette import look_of
from manyviews.papers.material import material_name
from manyviews.papers.setup import Setup

__all__ = ["PaperFigure", "paper_figures"]

METRICS = {"acc": "ACC", "nmi_max": "NMI", "purity": "Purity", "ari": "adjusted RI"}
# rows of the paper's Figure 2
WEIGHED = ("MKKM", "MKKM-MiR", "LKAM", "LF-MVC", "MKKM-MM", "SMKKM", "OP-LFMVC")
SEED, MAX_ITER = 0, 100


class PaperFigure(NamedTuple):
    """A chart, the id of its place on the page, and what stands above it."""

    key: str
    title: str
    note: str
    chart: dict[str, Any]


def paper_figures(paper: str, setups: Iterable[Setup], material: Mapping[str, Any]) -> list[PaperFigure]:
    """Return the figures of a paper on the data that are there.

    Parameters
    ----------
    paper : str
        Name of the paper; only "op-lfmvc" has figures beside its tables here.
    setups : iterable of Setup
        Rows that are wanted; without that of OP-LFMVC there are no figures.
    material : Material
        The data sets of the paper.

    Returns
    -------
    list of PaperFigure
        For each data set what the iterations of OP-LFMVC do, and the weights of the views by each method. The fits are
        made here, one per row, with the first seed.
    """
    made = {setup.row: setup for setup in setups if not setup.variant}
    if paper != "op-lfmvc" or "OP-LFMVC" not in made:
        return []
    rows = [made[row] for row in WEIGHED if row in made]
    found = []
    for i, name in enumerate(material):
        data = material[material_name(name, "kernels", None)]
        found += [
            PaperFigure(
                f"figure-1-{i}",
                f"Figure 1, {name}",
                "OP-LFMVC, one run: the labels of each iteration against the classes, and the objective as a part of "
                "its last value.",
                _iterations(data),
            ),
            PaperFigure(
                f"figure-2-{i}",
                f"Figure 2, {name}",
                "Weights of the views, scaled to sum 1; with the parameters that the library has as defaults, since "
                "the best setting differs between scores.",
                _weights(data, rows),
            ),
        ]
    return found


def _iterations(data: Any) -> dict[str, Any]:
    names, k = data.views.names, len(np.unique(data.labels))
    base = exact_partitions(given_kernels(data.views.arrays, names), k)
    assert base.average is not None
    start = released_start(len(names), base.average, np.random.default_rng(SEED), draw_signs=True)
    scores: list[dict[str, float]] = []
    # stopped after one iteration, after two, ...: the same run, since all that is random is in the start
    for steps in range(1, MAX_ITER + 1):
        found = solve_op_lfmvc(base.stacked, *start, order="released", tol=1e-4, max_iter=steps)
        scores.append(evaluate(data.labels, found.labels))
        if found.history.converged:
            break
    objective = found.history.objective
    x = list(range(1, len(scores) + 1))
    lines = {title: [100 * each[metric] for each in scores] for metric, title in METRICS.items()}
    lines["objective"] = (100 * objective / objective[-1]).tolist()
    traces = [_line(title, x, values, i, "%{y:.1f} % after %{x}") for i, (title, values) in enumerate(lines.items())]
    return {"data": traces, "layout": _layout("iteration", "percent")}


def _weights(data: Any, setups: Iterable[Setup]) -> dict[str, Any]:
    traces = []
    names = [escape(name) for name in data.views.names]
    for i, setup in enumerate(setups):
        model = _fitted(setup, data)
        traces.append(_line(setup.row, names, model.view_weights_.tolist(), i, "%{y:.3f} for %{x}"))
    return {"data": traces, "layout": _layout("view", "weight")}


def _fitted(setup: Setup, data: Any) -> Any:
    import warnings

    from manyviews.cluster.registry import find_method

    with warnings.catch_warnings():
        # that a view counts for nothing is what the figure shows
        warnings.simplefilter("ignore")
        method = find_method(setup.method).load()
        return method(len(np.unique(data.labels)), base="kernel", random_state=SEED).fit(data.views)


def _line(title: str, x: list[Any], y: list[float], position: int, hover: str) -> dict[str, Any]:
    look = look_of(position)
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": escape(title),
        "x": x,
        "y": y,
        "line": {"width": 1.5},
        "marker": {"size": 7, "symbol": look.marker},
        "hovertemplate": f"{escape(title)}: {hover}<extra></extra>",
        "meta": {"hue": look.hue},
    }


def _layout(x: str, y: str) -> dict[str, Any]:
    layout = base_layout()
    del layout["template"]
    return layout | {
        "height": 320,
        "margin": {"l": 60, "r": 20, "t": 50, "b": 50},
        "showlegend": True,
        "legend": {"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0},
        "xaxis": layout["xaxis"] | {"title": {"text": x}, "automargin": True},
        "yaxis": layout["yaxis"] | {"title": {"text": y}, "rangemode": "tozero"},
    }
