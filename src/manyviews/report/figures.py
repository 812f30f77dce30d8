"""The curve of the iterations from the summary dict. Also for notebooks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from manyviews.pages.charts import ACCENT, base_layout, require_plotly
from manyviews.pages.wording import decimal

__all__ = ["convergence_figure"]


def convergence_figure(summary: Mapping[str, Any]) -> Any:
    """Draw the value of the objective after each iteration, or of the residual where that is what was recorded."""
    go = require_plotly()
    curve = summary["convergence"]
    shows, values = curve["shows"], curve["values"]
    pairs = zip(curve["iteration"], values, strict=True)
    trace = go.Scatter(
        x=curve["iteration"],
        y=values,
        mode="lines+markers" if len(curve["iteration"]) <= 60 else "lines",
        hovertext=[f"iteration {iteration}<br>{shows} {decimal(value, 7)}" for iteration, value in pairs],
        hoverinfo="text",
        meta={"role": "accent"},
        marker={"color": ACCENT, "size": 6},
        line={"color": ACCENT, "width": 2},
    )
    figure = go.Figure(trace, layout=base_layout())
    figure.update_layout(height=300)
    whole = {"dtick": 1} if curve["n_iter"] <= 12 else {"nticks": 10}
    figure.update_xaxes(title_text="iteration", zeroline=False, tickformat=",d", **whole)
    # a residual falls by the same factor again and again, which only a scale of powers shows
    scale = "log" if shows == "residual" and min(values, default=0.0) > 0 else "linear"
    figure.update_yaxes(title_text=shows, type=scale, zeroline=False, exponentformat="power", automargin=True)
    return figure
