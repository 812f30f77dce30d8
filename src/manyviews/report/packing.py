"""The table of all samples, small enough for a page of any number of samples."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping
from typing import Any

__all__ = ["MAX_PACKED", "pack_samples"]

# Characters of the page that the table may take; with plotly.js and the maps the page stays below 8 MB.
MAX_PACKED = 2_300_000
COLUMNS = ("names", "cluster", "confidence", "class")


def pack_samples(samples: Mapping[str, Any]) -> tuple[str, int]:
    """Return the table as base64 of zlib-compressed JSON, and how many samples are in it.

    Parameters
    ----------
    samples : dict
        From the summary: ``n`` and one list per column, or None.

    Returns
    -------
    tuple of (str, int)
        Letters, digits, "+", "/" and "=" only; all samples, or as many of the first as ``MAX_PACKED`` has room for.
    """
    n = samples["n"]
    packed = _packed(samples, n)
    while len(packed) > MAX_PACKED:
        n = int(n * 0.95 * MAX_PACKED / len(packed))
        packed = _packed(samples, n)
    return packed, n


def _packed(samples: Mapping[str, Any], n: int) -> str:
    table = {name: None if samples[name] is None else samples[name][:n] for name in COLUMNS}
    text = json.dumps(table | {"n": n, "classes": samples["classes"]}, separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode("utf-8", "replace"), 9)).decode("ascii")
