"""Maps of the samples, coloured by cluster, its name on one of its points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from manyviews.pages.charts import base_layout, escape, require_plotly
from manyviews.pages.palette import LIGHT, look_of
from manyviews.pages.wording import percent
from manyviews.plots.labels import label_places

__all__ = ["hover_texts", "map_figure"]

MAX_NUMBERED_CLUSTERS = 20
TOGETHER = ("consensus", "neighbors")


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


def map_figure(summary: Mapping[str, Any], position: int, *, hover: bool = True) -> Any:
    """Draw one map, coloured by cluster.

    Parameters
    ----------
    summary : dict
        From ``summarize``.
    position : int
        Which of ``summary["maps"]``.
    hover : bool, default=True
        Put the ``hover_texts`` in. A page has them once for all its maps, by ``customdata``.

    Returns
    -------
    plotly.graph_objects.Figure
        One trace per cluster, in the order of ``summary["clusters"]``; ``customdata`` holds positions in
        ``summary["points"]``.
    """
    go = require_plotly()
    flat, cluster_of = summary["maps"][position], summary["points"]["cluster"]
    texts = hover_texts(summary) if hover else None
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
    if flat["kind"] in TOGETHER and len(members) <= MAX_NUMBERED_CLUSTERS:
        figure.update_layout(annotations=_numbers(summary, flat, members))
    return figure


_MAP_AXIS = {"showticklabels": False, "showgrid": False, "zeroline": False, "ticks": "", "title_standoff": 6}


def _cluster_trace(
    go: Any,
    summary: Mapping[str, Any],
    flat: Mapping[str, Any],
    cluster: int,
    inside: list[int],
    texts: Sequence[str] | None,
) -> Any:
    look = look_of(cluster)
    size = 9 if len(flat["points"]) <= 300 else 6.5 if len(flat["points"]) <= 1500 else 5
    size += 2 if flat["kind"] in TOGETHER else 0
    points = [flat["points"][i] for i in inside]
    return go.Scatter(
        x=[flat["x"][i] for i in inside],
        y=[flat["y"][i] for i in inside],
        customdata=points,
        hovertext=None if texts is None else [texts[point] for point in points],
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
    share = flat["shares"][axis]
    return "" if share is None else f"component {axis + 1} · {percent(share)}"


def _numbers(summary: Mapping[str, Any], flat: Mapping[str, Any], members: list[list[int]]) -> list[dict[str, Any]]:
    """Write each cluster's name on one of its points: colours alone are not enough for everyone."""
    names = [cluster["name"] for cluster in summary["clusters"]]
    return [
        {
            "x": label.x,
            "y": label.y,
            "text": f"<b>{escape(names[cluster])}</b>",
            # a name beside its point is tied to it by a line
            **({"ax": label.right, "ay": -label.up, "arrowhead": 0, "arrowwidth": 1} if label.aside else {}),
            "showarrow": label.aside,
            "bgcolor": "rgba(255,255,255,0.8)",
            "borderpad": 2,
            "font": {"size": 13},
        }
        for cluster, label in label_places(flat, members, names).items()
    ]
