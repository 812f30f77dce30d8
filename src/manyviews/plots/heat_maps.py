"""Heat maps of samples ordered by cluster: pairs put together, and the columns that tell clusters apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from manyviews.pages.charts import ACCENT, MUTED, base_layout, escape, require_plotly

__all__ = ["draw_co_association", "draw_features", "short_name"]

LOW = "#a7320c"
Z_SHOWN = 2.5
# the names of the clusters stand above
MARGIN = {"l": 36, "r": 12, "t": 28, "b": 10}
_SAMPLES = {"showgrid": False, "zeroline": False, "ticks": "", "showline": False}


def draw_co_association(found: Mapping[str, Any], names: Sequence[str]) -> Any:
    """Return the heat map of ``findings.together.co_association``.

    Parameters
    ----------
    found : dict
        Clusters and percents of the samples.
    names : sequence of str
        Names of the clusters.

    Returns
    -------
    plotly.graph_objects.Figure
        Square; clusters are blocks on the diagonal, lines between them.
    """
    go = require_plotly()
    m = len(found["clusters"])
    trace = go.Heatmap(
        z=found["percent"],
        zmin=0,
        zmax=100,
        colorscale=[[0, "#ffffff"], [1, ACCENT]],
        hovertemplate="together in %{z} % of the groupings<extra></extra>",
        meta={"scale": "share"},
        colorbar=_bar("% together"),
    )
    figure = go.Figure(trace, layout=base_layout() | {"height": 520, "margin": MARGIN})
    ticks, lines = _blocks(found["clusters"], names)
    shapes = [_line(at, along, m) for at in lines for along in "xy"]
    figure.update_layout(shapes=shapes)
    figure.update_xaxes(**_SAMPLES, **ticks, range=[-0.5, m - 0.5], constrain="domain", side="top")
    figure.update_yaxes(**_SAMPLES, **ticks, range=[m - 0.5, -0.5], constrain="domain", scaleanchor="x")
    return figure


def draw_features(found: Mapping[str, Any], names: Sequence[str]) -> Any:
    """Return the heat map of ``findings.heat.feature_scores``.

    Parameters
    ----------
    found : dict
        Features, clusters of the samples, z-scores.
    names : sequence of str
        Names of the clusters.

    Returns
    -------
    plotly.graph_objects.Figure
        One row per feature, by view; one column per sample, by cluster. Empty where a sample was not observed.
    """
    go = require_plotly()
    features, m = found["features"], len(found["clusters"])
    several = len({feature["view"] for feature in features}) > 1
    labels, narrow = (
        [
            escape((f"{short_name(each['view'], of)}: " if several else "") + short_name(each["name"], own))
            for each in features
        ]
        for of, own in ((10, 14), (6, 10))
    )
    trace = go.Heatmap(
        z=found["z"],
        zmin=-Z_SHOWN,
        zmax=Z_SHOWN,
        colorscale=[[0, LOW], [0.5, "#ffffff"], [1, ACCENT]],
        hovertemplate="%{y}<br>z-score %{z}<extra></extra>",
        meta={"scale": "sign", "ticks": narrow},
        colorbar=_bar("z-score"),
    )
    figure = go.Figure(trace, layout=base_layout() | {"height": 60 + 15 * len(features), "margin": MARGIN})
    ticks, lines = _blocks(found["clusters"], names)
    ends = _ends([feature["view"] for feature in features])
    shapes = [_line(at, "x", len(features)) for at in lines] + [_line(at, "y", m) for at in ends[:-1]]
    figure.update_layout(shapes=shapes)
    figure.update_xaxes(**_SAMPLES, **ticks, side="top")
    figure.update_yaxes(
        **_SAMPLES,
        tickvals=list(range(len(features))),
        ticktext=labels,
        range=[len(features) - 0.5, -0.5],
        automargin=True,
        tickfont={"size": 11},
    )
    return figure


def short_name(name: str, limit: int = 22) -> str:
    """Return a name that is not longer than the limit."""
    return name if len(name) <= limit else name[: limit - 1] + "…"


def _bar(title: str) -> dict[str, Any]:
    return {
        "title": {"text": title, "side": "top"},
        "thickness": 10,
        "len": 0.5,
        "y": 1,
        "yanchor": "top",
        "outlinewidth": 0,
    }


def _ends(runs: Sequence[Any]) -> list[float]:
    """Return where each run of equal things ends, half a step after its last."""
    ends, at = [], -0.5
    for _, run in groupby(runs):
        at += len(list(run))
        ends.append(at)
    return ends


def _blocks(clusters: Sequence[int], names: Sequence[str]) -> tuple[dict[str, Any], list[float]]:
    """Return ticks in the middle of each cluster, and the lines between them."""
    ends = _ends(clusters)
    starts = [-0.5, *ends[:-1]]
    shown = [cluster for cluster, _ in groupby(clusters)]
    middles = [(start + end) / 2 for start, end in zip(starts, ends, strict=True)]
    return {"tickvals": middles, "ticktext": [escape(short_name(names[c], 10)) for c in shown]}, ends[:-1]


def _line(at: float, axis: str, length: int) -> dict[str, Any]:
    """Return a line across the map at a place of one axis."""
    other = "y" if axis == "x" else "x"
    return {
        "type": "line",
        f"{axis}0": at,
        f"{axis}1": at,
        f"{other}0": -0.5,
        f"{other}1": length - 0.5,
        "line": {"color": MUTED, "width": 1},
    }
