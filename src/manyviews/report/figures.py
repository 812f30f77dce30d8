"""Plotly figures from the summary dict: maps, view weights, convergence. Also for notebooks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from manyviews.pages.charts import ACCENT, MUTED, base_layout, escape, require_plotly
from manyviews.pages.palette import LIGHT, look_of
from manyviews.pages.wording import decimal, percent

__all__ = [
    "convergence_figure",
    "hover_texts",
    "map_figure",
    "weights_figure",
]

MAX_NUMBERED_CLUSTERS = 20


def hover_texts(summary: Mapping[str, Any]) -> list[str]:
    """Return what to say about each point of the maps: the sample, its cluster, its class if known."""
    points, clusters = summary["points"], summary["clusters"]
    classes = points["class"] or [None] * len(points["sample"])
    texts = []
    for sample, cluster, known in zip(points["sample"], points["cluster"], classes, strict=True):
        lines = [f"<b>{escape(sample)}</b>", f"cluster {escape(clusters[cluster]['name'])}"]
        lines += [] if known is None else [f"class {escape(known)}"]
        texts.append("<br>".join(lines))
    return texts


def map_figure(summary: Mapping[str, Any], position: int, *, texts: Sequence[str] | None = None) -> Any:
    """Draw one map, coloured by cluster.

    Parameters
    ----------
    summary : dict
        From ``summarize``.
    position : int
        Which of ``summary["maps"]``.
    texts : sequence of str, default=None
        ``hover_texts(summary)``, if it is at hand.

    Returns
    -------
    plotly.graph_objects.Figure
        One trace per cluster, in the order of ``summary["clusters"]``; ``customdata`` holds positions in
        ``summary["points"]``.
    """
    go = require_plotly()
    flat, cluster_of = summary["maps"][position], summary["points"]["cluster"]
    texts = hover_texts(summary) if texts is None else texts
    members: list[list[int]] = [[] for _ in summary["clusters"]]
    for i, point in enumerate(flat["points"]):
        members[cluster_of[point]].append(i)
    figure = go.Figure(layout=base_layout())
    for cluster, inside in enumerate(members):
        figure.add_trace(_cluster_trace(go, summary, flat, cluster, inside, texts))
    figure.update_xaxes(title_text=_axis_title(flat, 0), **_MAP_AXIS)
    figure.update_yaxes(title_text=_axis_title(flat, 1), **_MAP_AXIS)
    if flat["n_axes"] == 2:
        figure.update_yaxes(scaleanchor="x")
    if flat["kind"] == "consensus" and len(members) <= MAX_NUMBERED_CLUSTERS:
        figure.update_layout(annotations=_numbers(summary, flat, members))
    return figure


_MAP_AXIS = {"showticklabels": False, "showgrid": False, "zeroline": False, "ticks": "", "title_standoff": 6}


def _cluster_trace(
    go: Any, summary: Mapping[str, Any], flat: Mapping[str, Any], cluster: int, inside: list[int], texts: Sequence[str]
) -> Any:
    look = look_of(cluster)
    size = 9 if len(flat["points"]) <= 300 else 6.5 if len(flat["points"]) <= 1500 else 5
    size += 2 if flat["kind"] == "consensus" else 0
    points = [flat["points"][i] for i in inside]
    return go.Scatter(
        x=[flat["x"][i] for i in inside],
        y=[flat["y"][i] for i in inside],
        customdata=points,
        hovertext=[texts[point] for point in points],
        hoverinfo="text",
        mode="markers",
        name=escape(f"cluster {summary['clusters'][cluster]['name']}"),
        meta={"hue": look.hue},
        marker={
            "color": LIGHT[look.hue],
            "symbol": look.marker,
            "size": size,
            "opacity": 0.75,
            "line": {"width": 1.7 if look.hollow else 0},
        },
    )


def _axis_title(flat: Mapping[str, Any], axis: int) -> str:
    if flat["n_axes"] == 1:
        return "value" if axis == 0 else "(scattered)"
    return f"component {axis + 1} · {percent(flat['shares'][axis])}"


def _numbers(summary: Mapping[str, Any], flat: Mapping[str, Any], members: list[list[int]]) -> list[dict[str, Any]]:
    """Write each cluster's number where its middle is: colours alone are not enough for everyone."""
    middles = {cluster: _middle(flat, inside) for cluster, inside in enumerate(members) if inside}
    room = 0.06 * (max(flat["y"]) - min(flat["y"]))
    return [
        {
            "x": x,
            "y": y,
            "text": f"<b>{escape(summary['clusters'][cluster]['name'])}</b>",
            "showarrow": False,
            "bgcolor": "rgba(255,255,255,0.8)",
            "borderpad": 2,
            "font": {"size": 13},
        }
        for cluster, (x, y) in _apart(middles, room).items()
    ]


def _middle(flat: Mapping[str, Any], inside: list[int]) -> tuple[float, float]:
    """Return the place of the sample nearest to the median: the median itself may lie where no sample is."""
    points = [(flat["x"][i], flat["y"][i]) for i in inside]
    middle = (median(x for x, _ in points), median(y for _, y in points))
    return min(points, key=lambda point: math.dist(point, middle))


def _apart(places: Mapping[int, tuple[float, float]], room: float) -> dict[int, tuple[float, float]]:
    """Move places up or down until no two are nearer than ``room``, each as little as possible."""
    settled: dict[int, tuple[float, float]] = {}
    for key, (x, y) in places.items():
        moves = (step * sign * room / 2 for step in range(2 * len(places) + 1) for sign in (1, -1))
        free = (
            (x, y + move)
            for move in moves
            if all(abs(x - u) >= room or abs(y + move - v) >= room * 0.999 for u, v in settled.values())
        )
        settled[key] = next(free, (x, y))
    return settled


def weights_figure(summary: Mapping[str, Any]) -> Any:
    """Draw the weight of each view as bars, the largest on top, with a line where all would be equal."""
    go = require_plotly()
    entries = sorted(summary["weights"], key=lambda entry: -entry["weight"])[::-1]
    values = [entry["weight"] for entry in entries]
    trace = go.Bar(
        x=values,
        y=list(range(len(entries))),
        orientation="h",
        text=[f"{value:.3f}" for value in values],
        textposition="outside",
        cliponaxis=False,
        hovertext=[f"<b>{escape(entry['view'])}</b><br>weight {decimal(entry['weight'])}" for entry in entries],
        hoverinfo="text",
        meta={"role": "accent"},
        marker={"color": ACCENT},
    )
    figure = go.Figure(trace, layout=base_layout())
    equal = 1 / len(entries)
    line = {"type": "line", "x0": equal, "x1": equal, "y0": 0, "y1": 1, "yref": "paper", "layer": "below"}
    figure.update_layout(
        height=80 + 26 * len(entries),
        bargap=0.4,
        margin_r=44,
        shapes=[line | {"line": {"color": MUTED, "width": 1.5, "dash": "dot"}}],
    )
    figure.update_xaxes(title_text="weight", rangemode="tozero", zeroline=False, nticks=6)
    names = [escape(_short(entry["view"])) for entry in entries]
    figure.update_yaxes(
        tickvals=list(range(len(entries))), ticktext=names, automargin=True, showgrid=False, zeroline=False
    )
    return figure


def _short(name: str, limit: int = 22) -> str:
    return name if len(name) <= limit else name[: limit - 1] + "…"


def convergence_figure(summary: Mapping[str, Any]) -> Any:
    """Draw the value of the objective after each iteration, or of the residual where that is what was recorded."""
    go = require_plotly()
    curve = summary["convergence"]
    shows, values = curve["shows"], curve["values"]
    pairs = zip(curve["iteration"], values, strict=True)
    trace = go.Scatter(
        x=curve["iteration"],
        y=values,
        mode="lines+markers" if len(curve["iteration"]) <= 60 else "lines",
        hovertext=[f"iteration {iteration}<br>{shows} {decimal(value, 7)}" for iteration, value in pairs],
        hoverinfo="text",
        meta={"role": "accent"},
        marker={"color": ACCENT, "size": 6},
        line={"color": ACCENT, "width": 2},
    )
    figure = go.Figure(trace, layout=base_layout())
    figure.update_layout(height=300)
    whole = {"dtick": 1} if curve["n_iter"] <= 12 else {"nticks": 10}
    figure.update_xaxes(title_text="iteration", zeroline=False, tickformat=",d", **whole)
    # a residual falls by the same factor again and again, which only a scale of powers shows
    scale = "log" if shows == "residual" and min(values, default=0.0) > 0 else "linear"
    figure.update_yaxes(title_text=shows, type=scale, zeroline=False, exponentformat="power", automargin=True)
    return figure
