"""The column without a name that data frames write their index to: names of rows, or mere row numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from manyviews.io.choosing import Caution

__all__ = ["row_names"]

# What pandas, R and readers of their files call it.
_UNNAMED = ("", "Unnamed: 0", "...1", "__index_level_0__")


def row_names(
    frame: Any, index: str | None, where: str, *, keep: Sequence[str | None]
) -> tuple[list[str] | None, Any, tuple[str, ...]]:
    """Take the names of the rows out of a table.

    Parameters
    ----------
    frame : polars.DataFrame
        The table.
    index : str or None
        The column that the file itself calls the index of a data frame.
    where : str
        File, for messages.
    keep : sequence of (str or None)
        Columns that were asked for by name.

    Returns
    -------
    names : list of str or None
        Names of the rows, where there is such a column and it holds more than row numbers.
    frame : polars.DataFrame
        The table without it.
    notes : tuple of str
        What became of it.

    Raises
    ------
    ValueError
        If its values are empty or repeat, so that it may be anything.
    """
    import polars as pl

    column = index if index in frame.columns and index not in keep else None
    if column is None:
        first = frame.columns[0]
        column = first if first in _UNNAMED else next((c for c in _UNNAMED[-1:] if c in frame.columns), None)
    if column is None or column in keep or frame.width == 1:
        if "" in frame.columns and "" not in keep:
            place = frame.columns.index("") + 1
            raise ValueError(f"{where}: column {place} has no name; remove it, or name it (--id, if it has the ids)")
        return None, frame, ()
    values: list[str | None] = frame[column].cast(pl.String).to_list()
    rest = frame.drop(column)
    for start in (0, 1):
        if values == [str(row) for row in range(start, start + len(values))]:
            return None, rest, (f"{where}: the column of row numbers {column!r} is left out",)
    if None in values or len(set(values)) < len(values):
        raise ValueError(
            f"{where}: column {frame.columns.index(column) + 1} has no name and its values are empty or repeat, so "
            "that they are no names of rows; remove it, or name it"
        )
    note = f"{where}: column {column!r} is taken for the names of the rows"
    return [str(value) for value in values], rest, (note if column == index else Caution(note),)
