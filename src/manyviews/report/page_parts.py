"""What every page is put together from: templates, style, the drawing library, data that scripts read."""

from __future__ import annotations

import json
import re
from importlib import resources
from typing import Any

from manyviews.report import palette, wording

__all__ = ["asset", "chart_data", "environment", "plotly_source", "script_json", "script_text", "themes"]


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


def script_text(source: str) -> str:
    """Return JavaScript that cannot end its script element early and asks for no style sheet from elsewhere.

    The escaped strings mean the same. Some versions of plotly.js fetch the style of a kind of map that we do not draw.
    """
    source = re.sub(r"https://unpkg\.com/[^\"']*\.css", "data:text/css,", source)
    return source.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def script_json(data: Any) -> str:
    """Return JSON that may stand inside a script element, whatever names are in it; NaN is an error."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def chart_data(figure: Any) -> dict[str, Any]:
    """Return a figure as plain data, without the template, which the page has already."""
    chart: dict[str, Any] = figure.to_plotly_json()
    chart["layout"].pop("template", None)
    return chart
