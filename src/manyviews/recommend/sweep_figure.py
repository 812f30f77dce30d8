"""The picture of a sweep: a line with deviations for one parameter, a heat map for two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

from manyviews.pages.charts import ACCENT, base_layout, require_plotly

__all__ = ["sweep_figure"]


def sweep_figure(
    names: Sequence[str], points: Sequence[Sequence[Any]], table: Mapping[str, Sequence[Any]], score: str
) -> Any:
    """Return a plotly figure of one score over the grid.

    Parameters
    ----------
    names : sequence of str
        One or two parameters.
    points : sequence of sequence
        Their values at each point.
    table : mapping of str to sequence
        As of ``Sweep.table``.
    score : str
        A column of the table.

    Returns
    -------
    plotly.graph_objects.Figure
        Values that are no numbers stand at equal distances.
    """
    go = require_plotly()
    values = [_axis([point[i] for point in points]) for i in range(len(names))]
    if len(names) == 1:
        deviation = {"array": list(table[f"{score}_deviation"]), "color": ACCENT}
        trace = go.Scatter(
            x=values[0], y=list(table[score]), error_y=deviation, mode="lines+markers", line={"color": ACCENT}
        )
        second = score
    else:
        trace = go.Heatmap(
            x=[str(value) for value in values[1]],
            y=[str(value) for value in values[0]],
            z=list(table[score]),
            colorscale="Viridis",
            colorbar={"title": {"text": score}},
            hovertemplate=f"{names[0]} %{{y}}<br>{names[1]} %{{x}}<br>{score} %{{z:.3f}}<extra></extra>",
        )
        second = names[0]
    figure = go.Figure(trace, base_layout())
    figure.update_xaxes(title={"text": names[-1]}, automargin=True)
    figure.update_yaxes(title={"text": second}, automargin=True)
    return figure


def _axis(values: Sequence[Any]) -> list[Any]:
    numbers = all(isinstance(value, Real) and not isinstance(value, bool) for value in values)
    return list(values) if numbers else [str(value) for value in values]
