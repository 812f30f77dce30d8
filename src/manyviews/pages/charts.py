"""What the charts of all pages share: layout, names as they are written, and figures for the script."""

from __future__ import annotations

from typing import Any

from manyviews.pages.palette import LIGHT

__all__ = ["ACCENT", "MUTED", "base_layout", "chart_data", "escape", "require_plotly", "within"]

INK, MUTED, GRID, ACCENT = "#1c2127", "#5c6670", "#e4e7eb", LIGHT[0]


def require_plotly() -> Any:
    """Return plotly's graph objects, or say what to install."""
    try:
        import plotly.graph_objects as go
    except ImportError as error:
        raise ImportError('pages need plotly; install it by: pip install "manyviews[cli]"') from error
    return go


def escape(text: str) -> str:
    """Return a text that plotly shows as it is: plotly reads some HTML in hover, axis and legend texts."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def chart_data(figure: Any) -> dict[str, Any]:
    """Return a figure as plain data, without the template, which the page has already."""
    chart: dict[str, Any] = figure.to_plotly_json()
    chart["layout"].pop("template", None)
    return chart


def within(low: float | None, high: float | None) -> dict[str, float]:
    """Return of an axis that no value lies below or above these, so that neither the axis nor a reader goes beyond."""
    ends = {"minallowed": low, "maxallowed": high}
    return {name: end for name, end in ends.items() if end is not None}


def base_layout() -> dict[str, Any]:
    """Return what all figures share; the page's script puts its own colours in."""
    axis = {"gridcolor": GRID, "linecolor": GRID, "zerolinecolor": GRID}
    return {
        "template": "none",
        "showlegend": False,
        "hovermode": "closest",
        "hoverlabel": {"align": "left", "bgcolor": "#ffffff", "bordercolor": GRID, "font": {"color": INK, "size": 13}},
        "font": {"color": MUTED, "size": 12, "family": "system-ui, sans-serif"},
        "margin": {"l": 36, "r": 12, "t": 10, "b": 36},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "xaxis": axis,
        "yaxis": axis,
    }
