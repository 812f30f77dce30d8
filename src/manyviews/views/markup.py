"""Small tables for notebooks; all names are escaped, since they come from users' files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

__all__ = ["html_table"]

MOST_ROWS = 60


def html_table(caption: str, header: Sequence[str], rows: Iterable[Sequence[Any]], note: str = "") -> str:
    """Return an HTML table that takes its colours from the notebook.

    Parameters
    ----------
    caption : str
        One line above the table.
    header : sequence of str
        Names of the columns; the first is to the left, the others are to the right.
    rows : iterable of sequence
        Cells, written by ``str``. Of more than 60 rows the rest are counted.
    note : str, default=""
        One line below.

    Returns
    -------
    str
        HTML in which every text is escaped.
    """
    listed = list(rows)
    lines = [f"<tr>{''.join(map(_cell, enumerate(row)))}</tr>" for row in listed[:MOST_ROWS]]
    if len(listed) > MOST_ROWS:
        lines.append(f'<tr><td colspan="{len(header)}">and {len(listed) - MOST_ROWS} more</td></tr>')
    head = "".join(f'<th style="text-align:{_side(i)}">{escape(str(name))}</th>' for i, name in enumerate(header))
    below = f"<div>{escape(note)}</div>" if note else ""
    return (
        f'<div><div><strong>{escape(caption)}</strong></div><table style="margin:0"><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table>{below}</div>"
    )


def _cell(numbered: tuple[int, Any]) -> str:
    position, value = numbered
    return f'<td style="text-align:{_side(position)}">{escape(str(value))}</td>'


def _side(position: int) -> str:
    return "left" if position == 0 else "right"
