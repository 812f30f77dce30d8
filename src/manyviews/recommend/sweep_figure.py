"""The picture of a sweep: a line with deviations for one parameter, a heat map for two."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any

from manyviews.pages.charts import ACCENT, base_layout, require_plotly, within

__all__ = ["sweep_figure"]

# All scores reach to 1 at most, and from 0, but those that are corrected for chance. A difference below this is none.
CORRECTED, LEAST_ROOM = ("ari", "stability", "structure"), 0.02
MOST_TICKS = 12


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
    low, high = _reach(table, score)
    values = [_axis([point[i] for point in points]) for i in range(len(names))]
    if len(names) == 1:
        deviation = {"array": list(table[f"{score}_deviation"]), "color": ACCENT}
        trace = go.Scatter(
            x=values[0],
            y=list(table[score]),
            error_y=deviation,
            mode="lines+markers",
            line={"color": ACCENT},
            marker={"color": ACCENT, "size": 7},
            cliponaxis=False,
            meta={"role": "accent"},
        )
        second = score
    else:
        trace = go.Heatmap(
            x=[str(value) for value in values[1]],
            y=[str(value) for value in values[0]],
            z=list(table[score]),
            zmin=low,
            zmax=high,
            colorscale=[[0, "#ffffff"], [1, ACCENT]],
            colorbar={"title": {"text": score, "side": "right"}, "thickness": 10, "outlinewidth": 0},
            meta={"scale": "share"},
            hovertemplate=f"{names[0]} %{{y}}<br>{names[1]} %{{x}}<br>{score} %{{z:.3f}}<extra></extra>",
        )
        second = names[0]
    figure = go.Figure(trace, base_layout())
    # the values of a grid stand at equal distances, as its cells do
    kind = {"type": "category"} if len(names) > 1 else {}
    figure.update_xaxes(title={"text": names[-1]}, automargin=True, **kind)
    figure.update_yaxes(title={"text": second}, automargin=True, zeroline=False, **kind)
    if len(names) == 1:
        figure.update_yaxes(range=[low, high], **within(*_ends(score)))
        figure.update_xaxes(**_whole_ticks(values[0]))
    return figure


def _reach(table: Mapping[str, Sequence[Any]], score: str) -> tuple[float, float]:
    """Return the ends of the scale, on which a score that does not change looks so; none that it cannot have."""
    pairs = zip(table[score], table[f"{score}_deviation"], strict=True)
    known = [(mean - spread, mean + spread) for mean, spread in pairs if math.isfinite(mean)]
    if not known:
        return 0.0, 1.0
    low, high = min(pair[0] for pair in known), max(pair[1] for pair in known)
    room = max(LEAST_ROOM, 0.08 * (high - low))
    least, most = _ends(score)
    return max(least, low - room), min(most, high + room)


def _ends(score: str) -> tuple[float, float]:
    return -1.0 if score in CORRECTED else 0.0, 1.0


def _whole_ticks(values: Sequence[Any]) -> dict[str, Any]:
    """Return the ticks of few whole numbers, between which there is nothing, as between 2 and 3 clusters."""
    whole = all(isinstance(value, Integral) for value in values)
    return {"tickvals": sorted(set(values))} if whole and len(set(values)) <= MOST_TICKS else {}


def _axis(values: Sequence[Any]) -> list[Any]:
    numbers = all(isinstance(value, Real) and not isinstance(value, bool) for value in values)
    return list(values) if numbers else [str(value) for value in values]
