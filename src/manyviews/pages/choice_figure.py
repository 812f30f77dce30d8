"""The picture of a choice: what speaks for each number of clusters, and what chance gives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from manyviews.pages.charts import base_layout, require_plotly, within
from manyviews.pages.palette import LIGHT

__all__ = ["choice_figure"]

BY_CHANCE = "_by_chance"


def choice_figure(scores: Mapping[int, Mapping[str, float]], n_clusters: int | None) -> Any:
    """Return a plotly figure of the score and its measures over the numbers of clusters.

    Parameters
    ----------
    scores : mapping of int to mapping of str to float
        For each number the "score", the measures, and what these are by chance ("..._by_chance").
    n_clusters : int or None
        The number that is marked.

    Returns
    -------
    plotly.graph_objects.Figure
        The score is thick, what chance gives dotted.
    """
    go = require_plotly()
    numbers = list(scores)
    keys = list(scores[numbers[0]])
    measures = ["score", *(key for key in keys if key != "score" and not key.endswith(BY_CHANCE))]
    figure = go.Figure(layout=base_layout() | {"showlegend": True, "height": 360})
    # below the curves, which need the width of a phone
    figure.update_layout(legend={"orientation": "h", "x": 0, "y": -0.28, "yanchor": "top"})
    for i, (name, colour) in enumerate(zip(measures, LIGHT, strict=False)):
        for key in (name, name + BY_CHANCE):
            if key not in keys:
                continue
            line = {"color": colour, "dash": "dot" if key != name else "solid", "width": 3 if name == "score" else 1.5}
            values = [scores[k][key] for k in numbers]
            trace = go.Scatter(x=numbers, y=values, name=key.replace("_", " "), mode="lines+markers", line=line)
            # what the script of a page needs to colour it
            figure.add_trace(trace.update(marker={"size": 5, "color": colour}, meta={"role": f"hue-{i}"}))
    if n_clusters is not None:
        figure.add_vline(x=n_clusters, line={"dash": "dash", "width": 1})
    figure.update_xaxes(title={"text": "number of clusters"}, dtick=1 if len(numbers) <= 20 else None, automargin=True)
    figure.update_yaxes(**within(-1, 1))
    return figure
