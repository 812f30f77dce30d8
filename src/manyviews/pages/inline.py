"""Scripts and data as they may stand inside the script elements of a page that is complete in itself."""

from __future__ import annotations

import json
import re
from typing import Any

__all__ = ["json_text", "script_text"]


def json_text(data: Any) -> str:
    r"""Return JSON that may stand inside a script element, whatever names are in it; NaN is an error.

    Parameters
    ----------
    data : JSON-able
        What the script reads.

    Returns
    -------
    str
        JSON without ``&``, ``<`` and ``>``.

    Raises
    ------
    ValueError
        If there is a NaN or an infinity in it.

    Examples
    --------
    >>> from manyviews.pages.inline import json_text
    >>> json_text({"name": "</script>"})
    '{"name":"\\u003c/script\\u003e"}'
    """
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def script_text(source: str) -> str:
    r"""Return JavaScript that cannot end its script element early and asks for no style sheet from elsewhere.

    The escaped strings mean the same. Some versions of plotly.js fetch the style of a kind of map that we do not draw.

    Parameters
    ----------
    source : str
        JavaScript.

    Returns
    -------
    str
        The same for a browser, but for the style sheets.

    Examples
    --------
    >>> from manyviews.pages.inline import script_text
    >>> script_text("write('</script>')")
    "write('<\\/script>')"
    """
    source = re.sub(r"https://unpkg\.com/[^\"']*\.css", "data:text/css,", source)
    return source.replace("</script", "<\\/script").replace("<!--", "<\\!--")
