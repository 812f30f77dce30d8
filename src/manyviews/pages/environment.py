"""What every page is put together from: templates, style, script, the drawing library."""

from __future__ import annotations

from importlib import resources
from typing import Any

from manyviews.pages import palette, wording
from manyviews.pages.inline import script_text

__all__ = ["asset", "environment", "plotly_source", "themes"]

_HERE = "manyviews.pages"


def environment(room: str) -> Any:
    """Return the Jinja environment of a room's pages: everything is escaped, an unknown name is an error.

    Parameters
    ----------
    room : str
        Package whose ``templates`` come first; those that all pages share stand behind them.

    Raises
    ------
    ImportError
        If jinja2 is not installed.
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
    for name in ("amount", "count", "decimal", "duration", "enumerated", "fixed", "percent", "size"):
        made.filters[name] = getattr(wording, name)
    made.globals["look_of"] = palette.look_of
    return made


def themes() -> dict[str, str]:
    """Return the hues of both themes as CSS."""
    return {"light": palette.theme_css(palette.LIGHT), "dark": palette.theme_css(palette.DARK)}


def asset(name: str, room: str = _HERE) -> str:
    """Return the text of a file beside a room's templates; by default of those that all pages share."""
    return (resources.files(room) / "templates" / name).read_text(encoding="utf-8")


def plotly_source() -> str:
    """Return plotly.js as it may stand in a page."""
    from plotly.offline import get_plotlyjs

    return script_text(get_plotlyjs())
