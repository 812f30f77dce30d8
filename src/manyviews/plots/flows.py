"""From the clusters of one view by itself to those of the result: who goes where."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from manyviews.pages.charts import MUTED, base_layout, escape, require_plotly
from manyviews.pages.palette import LIGHT, look_of

__all__ = ["draw_flows", "flow_trace"]


def draw_flows(flows: Sequence[Sequence[int]], names: Sequence[str], view: str) -> Any:
    """Return the Sankey diagram of one view.

    Parameters
    ----------
    flows : k sequences of k int
        Samples in each cluster of the view alone (row) and of the result (column).
    names : sequence of str
        Names of the clusters of the result.
    view : str
        Name of the view.

    Returns
    -------
    plotly.graph_objects.Figure
        Clusters of the view on the left, those of the result on the right, in their colours.
    """
    go = require_plotly()
    figure = go.Figure(flow_trace(go, flows, names, view), layout=base_layout())
    return figure.update_layout(height=max(260, 24 * len(names)), margin={"l": 4, "r": 4, "t": 6, "b": 6})


def flow_trace(go: Any, flows: Sequence[Sequence[int]], names: Sequence[str], view: str) -> Any:
    """Return the diagram as a trace, which may be placed among others."""
    k = len(names)
    sizes = [sum(row) for row in flows]
    own = [cluster for cluster in range(k) if sizes[cluster]]
    result = [cluster for cluster in range(k) if any(row[cluster] for row in flows)]
    place = {cluster: i for i, cluster in enumerate(own)}
    to = {cluster: len(own) + i for i, cluster in enumerate(result)}
    links = [(a, b, flows[a][b]) for a in own for b in result if flows[a][b]]
    hues = [look_of(b).hue for _, b, _ in links]
    label = escape(view)
    return go.Sankey(
        arrangement="fixed",
        node={
            "label": ["" for _ in own] + [escape(names[c]) for c in result],
            "color": [MUTED] * len(own) + [LIGHT[look_of(c).hue] for c in result],
            "customdata": [f"a cluster of {label} alone" for _ in own]
            + [f"cluster {escape(names[c])}" for c in result],
            "hovertemplate": "%{customdata}: %{value} samples<extra></extra>",
            "pad": 6,
            "thickness": 12,
            "line": {"width": 0},
            "x": [0.001] * len(own) + [0.999] * len(result),
            "y": [*_heights([sizes[c] for c in own]), *_heights([sum(row[c] for row in flows) for c in result])],
        },
        link={
            "source": [place[a] for a, _, _ in links],
            "target": [to[b] for _, b, _ in links],
            "value": [n for _, _, n in links],
            "color": [_faint(LIGHT[hue]) for hue in hues],
            "hovertemplate": "%{value} samples to %{target.label}<extra></extra>",
        },
        meta={"nodes": [-1] * len(own) + [look_of(c).hue for c in result], "links": hues},
    )


def _heights(sizes: Sequence[int]) -> list[float]:
    """Return the middle of each node from top to bottom, 0 to 1."""
    total, at, middles = sum(sizes), 0, []
    for size in sizes:
        middles.append(min(0.999, max(0.001, (at + size / 2) / total)))
        at += size
    return middles


def _faint(colour: str) -> str:
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.35)"
