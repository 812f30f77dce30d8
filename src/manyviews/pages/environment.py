"""What every page is put together from: templates, style, script, the drawing library."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

from manyviews import __version__
from manyviews.pages import palette, wording
from manyviews.pages.charts import require_plotly
from manyviews.pages.inline import json_text, script_text

__all__ = ["render"]

_HERE = "manyviews.pages"


def render(
    room: str,
    template: str,
    payload: Mapping[str, Any],
    content: Mapping[str, Any],
    *,
    style: str = "",
    script: str = "",
) -> str:
    """Fill a template that extends ``page.html.j2``.

    Parameters
    ----------
    room : str
        Package of the page: its ``templates`` come first, those that all pages share behind them.
    template : str
        Name of the template.
    payload : mapping
        What the script reads: ``charts`` by the id of their place, as of ``chart_data``; further what the room needs.
    content : mapping
        What the template shows, ``title`` among it; texts are escaped.
    style, script : str, default=""
        Names of files among the room's templates that follow the shared ones.

    Returns
    -------
    str
        HTML with style, script, plotly.js and data inline, light or dark as the reader's system is.

    Raises
    ------
    ImportError
        If plotly or jinja2 is not installed.
    """
    made = _environment(room)
    require_plotly()
    from markupsafe import Markup

    plotly = _plotly_source()
    data = json_text({"texts": [], "clusters": []} | dict(payload))
    page: str = made.get_template(template).render(
        content,
        version=__version__,
        light=palette.theme_css(palette.LIGHT),
        dark=palette.theme_css(palette.DARK),
        style=Markup(_asset(_HERE, "style.css") + (_asset(room, style) if style else "")),
        script=Markup(_asset(_HERE, "script.js") + (_asset(room, script) if script else "")),
        plotly=Markup(plotly),
        plotly_bytes=len(plotly.encode()),
        payload=Markup(data),
        payload_bytes=len(data.encode()),
        charts=set(payload["charts"]),
    )
    return page


@cache
def _environment(room: str) -> Any:
    """Return the Jinja environment of a room: everything is escaped, an unknown name is an error.

    One for all pages: a template is compiled when it is first used.
    """
    try:
        from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
    except ImportError as error:
        raise ImportError('pages need jinja2; install it by: pip install "manyviews[cli]"') from error
    made = Environment(
        loader=ChoiceLoader([PackageLoader(package, "templates") for package in (room, _HERE)]),
        autoescape=True,  # for every template: the default goes by the file's ending
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    for name in ("amount", "count", "decimal", "duration", "enumerated", "fixed", "rounded_part", "percent", "size"):
        made.filters[name] = getattr(wording, name)
    made.globals["look_of"] = palette.look_of
    return made


def _asset(room: str, name: str) -> str:
    return (resources.files(room) / "templates" / name).read_text(encoding="utf-8")


@cache
def _plotly_source() -> str:
    """Return plotly.js as it may stand in a page."""
    from plotly.offline import get_plotlyjs

    return script_text(get_plotlyjs())
