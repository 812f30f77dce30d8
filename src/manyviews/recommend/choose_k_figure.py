"""The picture of a choice: what speaks for each number of clusters, and what chance gives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from manyviews.pages.charts import base_layout, require_plotly
from manyviews.pages.palette import LIGHT
from manyviews.recommend.cluster_numbers import MEASURES

__all__ = ["choose_k_figure"]


def choose_k_figure(scores: Mapping[int, Mapping[str, float]], n_clusters: int | None) -> Any:
    """Return a plotly figure of the score and its measures over the numbers of clusters.

    Parameters
    ----------
    scores : mapping of int to mapping of str to float
        As of ``ChosenK.scores``.
    n_clusters : int or None
        The number that is marked.

    Returns
    -------
    plotly.graph_objects.Figure
        What views without structure give is dotted.
    """
    go = require_plotly()
    numbers = list(scores)
    figure = go.Figure(layout=base_layout() | {"showlegend": True})
    for name, colour in zip(("score", *MEASURES), LIGHT, strict=False):
        for key, dash in ((name, "solid"), (f"{name}_by_chance", "dot")):
            if key not in scores[numbers[0]]:
                continue
            line = {"color": colour, "dash": dash, "width": 3 if name == "score" else 1.5}
            values = [scores[k][key] for k in numbers]
            figure.add_scatter(x=numbers, y=values, name=key.replace("_", " "), mode="lines+markers", line=line)
    if n_clusters is not None:
        figure.add_vline(x=n_clusters, line={"dash": "dash", "width": 1})
    figure.update_xaxes(title={"text": "number of clusters"}, dtick=1 if len(numbers) <= 20 else None, automargin=True)
    figure.update_yaxes(title={"text": "0 by chance, 1 at most"}, automargin=True)
    return figure
