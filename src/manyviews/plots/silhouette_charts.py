"""Silhouettes: one shape per cluster, its samples from high to low."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from manyviews.pages.charts import MUTED, base_layout, escape, require_plotly, within
from manyviews.pages.palette import LIGHT, look_of

__all__ = ["draw_silhouettes", "silhouette_traces"]

MAX_NAMED = 24


def draw_silhouettes(found: Mapping[str, Any], names: Sequence[str]) -> Any:
    """Return the chart of one entry of ``findings.silhouettes.silhouettes_by_view``.

    Parameters
    ----------
    found : dict
        Values by cluster and their mean.
    names : sequence of str
        Names of the clusters.

    Returns
    -------
    plotly.graph_objects.Figure
        One trace per cluster; the dotted line is the mean of all.
    """
    go = require_plotly()
    figure = go.Figure(layout=base_layout() | {"height": 290})
    traces, ticks = silhouette_traces(go, found, names)
    figure.add_traces(traces)
    mean = found["mean"]
    line = {"type": "line", "x0": mean, "x1": mean, "y0": 0, "y1": 1, "yref": "paper"}
    figure.update_layout(shapes=[line | {"line": {"color": MUTED, "width": 1.5, "dash": "dot"}}])
    figure.update_xaxes(title_text=f"silhouette, mean {mean:.2f}".replace("-", "\u2212"), nticks=6, zeroline=True)
    figure.update_xaxes(**within(-1, 1))
    figure.update_yaxes(**ticks, showgrid=False, zeroline=False, autorange="reversed", automargin=True)
    return figure


def silhouette_traces(go: Any, found: Mapping[str, Any], names: Sequence[str]) -> tuple[list[Any], dict[str, Any]]:
    """Return one filled shape per cluster, the first on top, and where their names stand on the axis."""
    traces, middles, at = [], [], 0
    total = sum(map(len, found["values"]))
    gap = max(1, total // 60)
    for cluster, values in enumerate(found["values"]):
        colour = LIGHT[look_of(cluster).hue]
        heights = list(range(at, at + len(values)))
        traces.append(
            go.Scatter(
                # a sample is a step of its own, so that a cluster of one is seen too
                x=[0.0, *(value for value in values for _ in (0, 1)), 0.0] if values else [],
                y=[at, *(height + step for height in heights for step in (0, 1)), at + len(values)] if values else [],
                mode="lines",
                fill="toself",
                fillcolor=colour,
                line={"width": 0.5, "color": colour},
                name=escape(f"cluster {names[cluster]}"),
                hoverinfo="name",
                hoveron="fills",
                meta={"hue": look_of(cluster).hue},
            )
        )
        middles.append(at + len(values) / 2)
        at += len(values) + (gap if values else 0)
    named = [c for c, values in enumerate(found["values"]) if values][:MAX_NAMED]
    return traces, {"tickvals": [middles[c] for c in named], "ticktext": [escape(names[c]) for c in named], "ticks": ""}
