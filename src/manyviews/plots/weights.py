"""What each view counts, as bars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from manyviews.pages.charts import ACCENT, MUTED, base_layout, escape, require_plotly, within
from manyviews.pages.wording import decimal
from manyviews.plots.heat_maps import short_name

__all__ = ["draw_weights"]


def draw_weights(weights: Sequence[dict[str, Any]]) -> Any:
    """Draw the weight of each view as bars, the largest on top, with a line where all would be equal."""
    go = require_plotly()
    entries = sorted(weights, key=lambda entry: -entry["weight"])[::-1]
    values = [entry["weight"] for entry in entries]
    trace = go.Bar(
        x=values,
        y=list(range(len(entries))),
        orientation="h",
        text=[f"{value:.3f}" for value in values],
        textposition="outside",
        cliponaxis=False,
        hovertext=[f"<b>{escape(entry['view'])}</b><br>weight {decimal(entry['weight'])}" for entry in entries],
        hoverinfo="text",
        meta={"role": "accent"},
        marker={"color": ACCENT},
    )
    figure = go.Figure(trace, layout=base_layout())
    equal = 1 / len(entries)
    line = {"type": "line", "x0": equal, "x1": equal, "y0": 0, "y1": 1, "yref": "paper", "layer": "below"}
    figure.update_layout(
        height=80 + 26 * len(entries),
        bargap=0.4,
        margin_r=44,
        shapes=[line | {"line": {"color": MUTED, "width": 1.5, "dash": "dot"}}],
    )
    figure.update_xaxes(title_text="weight", rangemode="tozero", zeroline=False, nticks=6, **within(0, 1))
    names = [escape(short_name(entry["view"])) for entry in entries]
    figure.update_yaxes(
        tickvals=list(range(len(entries))), ticktext=names, automargin=True, showgrid=False, zeroline=False
    )
    return figure
