"""The picture of how clusters split from one number of clusters to the next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from manyviews.pages.charts import ACCENT, MUTED, base_layout, require_plotly

__all__ = ["split_figure"]

# of the samples of a cluster, what is worth a line
LEAST_FLOW = 0.02
THICKEST, LARGEST, SMALLEST = 16.0, 34.0, 6.0


def split_figure(splits: Mapping[int, Sequence[Mapping[str, Any]]], n_clusters: int | None) -> Any:
    """Return a plotly figure with a row of clusters for each number, joined by what goes from one to the next.

    Parameters
    ----------
    splits : mapping of int to sequence of mapping
        For each number its clusters, with "size" and "parts" as ``ChosenK.splits`` has them.
    n_clusters : int or None
        The number whose row is marked.

    Returns
    -------
    plotly.graph_objects.Figure
        The fewest clusters on top; areas of circles and widths of lines are shares of the samples.
    """
    go = require_plotly()
    numbers = list(splits)
    figure = go.Figure(layout=base_layout() | {"height": 90 + 46 * len(numbers)})
    places = {k: _places([own["size"] for own in splits[k]]) for k in numbers}
    for upper, lower in pairwise(numbers):
        for place, own in zip(places[lower], splits[lower], strict=True):
            for start, share in zip(places[upper], own["parts"], strict=True):
                if share >= LEAST_FLOW * own["size"]:
                    line = {"width": max(1.0, THICKEST * share), "color": MUTED, "shape": "linear"}
                    flow = go.Scatter(x=[start, place], y=[upper, lower], mode="lines", line=line, hoverinfo="skip")
                    figure.add_trace(flow.update(opacity=0.35, marker={"size": 1}, meta={"role": "muted"}))
    for k in numbers:
        sizes = [own["size"] for own in splits[k]]
        chosen = k == n_clusters
        colour, role = (ACCENT, "accent") if chosen else (MUTED, "muted")
        marker = {"size": [max(SMALLEST, LARGEST * size**0.5) for size in sizes], "color": colour, "opacity": 1.0}
        texts = [f"{k} clusters: one with {100 * size:.0f} % of the samples" for size in sizes]
        row = go.Scatter(x=places[k], y=[k] * len(sizes), mode="markers", marker=marker, hoverinfo="text")
        figure.add_trace(row.update(hovertext=texts, meta={"role": role}))
    figure.update_xaxes(visible=False, range=[-0.03, 1.03])
    title = {"text": "number of clusters"}
    ends = [numbers[-1] + 0.6, numbers[0] - 0.6]
    figure.update_yaxes(title=title, range=ends, tickvals=numbers, showgrid=False, zeroline=False, automargin=True)
    return figure


def _places(sizes: Sequence[float]) -> list[float]:
    """Return the middle of each cluster in a row, where clusters take as much room as they have samples."""
    places, start = [], 0.0
    for size in sizes:
        places.append(start + size / 2)
        start += size
    return places
