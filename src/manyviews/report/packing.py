"""The table of all samples, small enough for a page of any number of samples."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping
from typing import Any

__all__ = ["pack_samples"]

# Even where the rest of the page leaves less.
MIN_ROOM = 200_000
COLUMNS = ("names", "cluster", "confidence", "class")


def pack_samples(samples: Mapping[str, Any], room: int) -> tuple[str, int]:
    """Return the table as base64 of zlib-compressed JSON, and how many samples are in it.

    Parameters
    ----------
    samples : dict
        From the summary: ``n`` and one list per column, or None.
    room : int
        Characters that it may take; at least 200 000 are taken to be there.

    Returns
    -------
    tuple of (str, int)
        Letters, digits, "+", "/" and "=" only; all samples, or as many of the first as there is room for.
    """
    n, room = samples["n"], max(room, MIN_ROOM)
    packed = _packed(samples, n)
    while len(packed) > room:
        n = int(n * 0.95 * room / len(packed))
        packed = _packed(samples, n)
    return packed, n


def _packed(samples: Mapping[str, Any], n: int) -> str:
    table: dict[str, Any] = {name: None if samples[name] is None else samples[name][:n] for name in COLUMNS}
    if table["names"] is not None:
        table["names"] = "\n".join(table["names"])  # names have no line ends, and this is shorter than a list
    text = json.dumps(table | {"n": n, "classes": samples["classes"]}, separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode("utf-8", "replace"), 9)).decode("ascii")
