"""What every page is put together from: templates, style, the drawing library."""

from __future__ import annotations

from importlib import resources
from typing import Any

from manyviews.pages.inline import script_text
from manyviews.report import palette, wording

__all__ = ["asset", "chart_data", "environment", "plotly_source", "themes"]


def environment() -> Any:
    """Return the Jinja environment: everything is escaped, an unknown name is an error.

    Raises
    ------
    ImportError
        If jinja2 is not installed.
    """
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError as error:
        raise ImportError('reports need jinja2; install it by: pip install "manyviews[cli]"') from error
    made = Environment(
        loader=PackageLoader("manyviews.report", "templates"),
        autoescape=True,  # for every template: the default goes by the file's ending
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    for name in ("amount", "count", "decimal", "duration", "enumerated", "fixed", "percent", "size"):
        made.filters[name] = getattr(wording, name)
    made.globals["look_of"] = palette.look_of
    return made


def themes() -> dict[str, str]:
    """Return the hues of both themes as CSS."""
    return {"light": palette.theme_css(palette.LIGHT), "dark": palette.theme_css(palette.DARK)}


def asset(name: str) -> str:
    """Return the text of a file beside the templates."""
    return (resources.files("manyviews.report") / "templates" / name).read_text(encoding="utf-8")


def plotly_source() -> str:
    """Return plotly.js as it may stand in a page."""
    from plotly.offline import get_plotlyjs

    return script_text(get_plotlyjs())


def chart_data(figure: Any) -> dict[str, Any]:
    """Return a figure as plain data, without the template, which the page has already."""
    chart: dict[str, Any] = figure.to_plotly_json()
    chart["layout"].pop("template", None)
    return chart
