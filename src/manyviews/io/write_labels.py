"""Labels as csv, whole or as they come, without text that a spreadsheet would take for formulas where that is asked."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from typing import Any, TextIO

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["no_formula", "write_labels"]

# with these a spreadsheet begins a formula, or cuts off what stands before one
FORMULA_MARKS = ("=", "+", "-", "@", "\t", "\r", "\n")
# entries that are Python objects at a time while labels are written
_ITEMS = 65_536


def write_labels(
    stream: TextIO,
    labels: ArrayLike,
    *,
    samples: Iterable[Any] | None = None,
    confidence: ArrayLike | None = None,
    id_name: str | None = None,
    start: int = 0,
    safe: bool = False,
) -> None:
    """Write ``sample,cluster[,confidence]`` as csv.

    Parameters
    ----------
    stream : text stream
        Where to write; a file is opened with ``newline=""``.
    labels : array-like of shape (n,)
        Cluster of each sample.
    samples : iterable of length n, default=None
        Ids; row numbers from 0 where there are none.
    confidence : array-like of shape (n,), default=None
        Confidence of each assignment, 0 to 1.
    id_name : str, default=None
        What the column of ids is called instead of ``sample``.
    start : int, default=0
        Row number of the first label; the names of the columns come before row 0 only, so that labels may be written
        part by part.
    safe : bool, default=False
        Put an apostrophe before ids that a spreadsheet would take for formulas: those that begin with =, +, -, @, a
        tab or a line break. By default ids stay as they are given.
    """
    clusters = np.asarray(labels)
    first = "sample" if id_name in (None, "", "cluster", "confidence") else str(id_name)
    ids: Iterable[Any] = range(start, start + len(clusters)) if samples is None else samples
    if safe:
        first, ids = no_formula(first), map(no_formula, ids)
    columns: dict[str, Any] = {first: ids, "cluster": _items(clusters)}
    if confidence is not None:
        columns["confidence"] = (f"{value:.6g}" for value in _items(np.asarray(confidence)))
    writer = csv.writer(stream, lineterminator="\n")
    if start == 0:
        writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))


def _items(column: NDArray[Any]) -> Iterator[Any]:
    """Yield the entries of an array as Python's own, few of which are there at a time."""
    for begin in range(0, len(column), _ITEMS):
        yield from column[begin : begin + _ITEMS].tolist()


def no_formula(cell: Any) -> str:
    """Return the text of a cell, with an apostrophe before it where a spreadsheet would take it for a formula."""
    text = str(cell)
    return f"'{text}" if text.startswith(FORMULA_MARKS) else text
