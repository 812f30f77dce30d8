"""The survival curves of the clusters, from the summary dict."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from manyviews.pages.charts import base_layout, escape, require_plotly
from manyviews.pages.palette import LIGHT, look_of
from manyviews.pages.wording import amount

__all__ = ["survival_figure"]

# Clusters whose names stand at the end of their curves, and the least distance of two names.
MAX_NAMED, APART = 10, 0.07
_DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")


def survival_figure(summary: Mapping[str, Any]) -> Any:
    """Draw the share of each cluster without the event over time, with a tick where samples were censored.

    Parameters
    ----------
    summary : dict
        From ``summarize``, with an outcome.

    Returns
    -------
    plotly.graph_objects.Figure
        One trace per cluster, in the order of ``summary["clusters"]``; empty where no outcome is known.
    """
    go = require_plotly()
    found, clusters = summary["clinical"]["survival"], summary["clusters"]
    figure = go.Figure(layout=base_layout())
    for position, (curve, cluster) in enumerate(zip(found["clusters"], clusters, strict=True)):
        look = look_of(position)
        median = "median not reached" if curve["median"] is None else f"median {curve['median']}"
        text = (
            f"<b>cluster {escape(cluster['name'])}</b><br>{amount(curve['n'], 'sample')}, "
            f"{amount(curve['events'], 'event')}<br>{median}"
        )
        figure.add_trace(
            go.Scatter(
                x=curve["x"],
                y=curve["y"],
                mode="lines",
                name=escape(f"cluster {cluster['name']}"),
                hovertext=[text] * len(curve["x"]),
                hoverinfo="text",
                meta={"hue": look.hue},
                marker={"color": LIGHT[look.hue], "size": 6},
                line={"color": LIGHT[look.hue], "width": 2, "dash": _DASHES[position // len(LIGHT) % len(_DASHES)]},
            )
        )
    figure.update_layout(height=380, margin_r=44, annotations=_names(found["clusters"], clusters))
    figure.update_xaxes(title_text=escape(found["time_name"]), rangemode="tozero", zeroline=False)
    figure.update_xaxes(tickvals=found["ticks"], ticktext=found["times"])
    figure.update_yaxes(title_text="share without the event", range=[-0.02, 1.03], zeroline=False, tickformat=".0%")
    return figure


def _names(curves: list[dict[str, Any]], clusters: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Write each cluster's name where its curve ends, no two over each other."""
    ends = sorted((curve["y"][-1], i) for i, curve in enumerate(curves) if curve["y"])
    if len(ends) > MAX_NAMED:
        return []
    notes, lowest = [], -1.0
    for height, i in ends:
        lowest = max(height, lowest + APART)
        notes.append(
            {
                "x": curves[i]["x"][-1],
                "y": lowest,
                "text": f"<b>{escape(clusters[i]['name'])}</b>",
                "showarrow": False,
                "xanchor": "left",
                "xshift": 4,
                "bgcolor": "rgba(255,255,255,0.8)",
                "font": {"size": 13},
            }
        )
    return notes
