"""Cut one table into views by its columns."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from numbers import Integral
from typing import Any

import numpy as np

from manyviews.views import frames

__all__ = ["column_groups", "cut_columns"]


def column_groups(table: Any, views: Any) -> dict[str, list[int]]:
    """Return which columns of a table make up which view.

    Parameters
    ----------
    table : array, CSR or frame of shape (n, d)
        The table as given.
    views : None, sequence of int, or mapping
        None: one view, or the first level of two-level pandas columns. Integers: widths of consecutive views.
        A mapping: view name to columns, which are names, positions, a slice or a callable that gets the frame.

    Returns
    -------
    dict of str to list of int
        Positions of the columns of each view.

    Raises
    ------
    ValueError
        If widths do not add up to d, a column is unknown, or a view has no column.
    TypeError
        If ``views`` is of another kind.
    """
    width = len(frames.frame_columns(table)) if frames.is_frame(table) else table.shape[1]
    if views is None:
        return _nested_groups(table) if frames.has_nested_columns(table) else {"view_0": list(range(width))}
    if isinstance(views, Mapping):
        groups = {str(name): _positions(table, columns, str(name), width) for name, columns in views.items()}
    elif isinstance(views, Sequence | np.ndarray) and all(isinstance(item, Integral) for item in views):
        groups = _consecutive(views, width)
    else:
        raise TypeError(
            f"the 'views' parameter must be None, a list of widths such as [64, 128], or a mapping of view names "
            f"to columns, got {views!r}"
        )
    empty = [name for name, positions in groups.items() if not positions]
    if empty or not groups:
        raise ValueError(f"the 'views' parameter leaves no column for the views {empty}")
    return groups


def cut_columns(table: Any, groups: dict[str, list[int]]) -> dict[str, Any]:
    """Return the part of an array or CSR that belongs to each view, without a copy where columns are adjacent."""
    return {name: table[:, _as_slice(positions)] for name, positions in groups.items()}


def _as_slice(positions: list[int]) -> slice | list[int]:
    first, last = positions[0], positions[-1]
    return slice(first, last + 1) if positions == list(range(first, last + 1)) else positions


def _nested_groups(table: Any) -> dict[str, list[int]]:
    groups: dict[str, list[int]] = {}
    for position, (view, _) in enumerate(table.columns):
        groups.setdefault(str(view), []).append(position)
    return groups


def _consecutive(widths: Any, width: int) -> dict[str, list[int]]:
    if sum(widths) != width or min(widths, default=0) < 1:
        raise ValueError(
            f"the 'views' parameter gives widths {[int(w) for w in widths]} with sum {int(sum(widths))}, but the table "
            f"has {width} columns; the widths must be positive and add up to the number of columns"
        )
    ends = np.cumsum(widths).tolist()
    return {f"view_{i}": list(range(end - int(w), end)) for i, (end, w) in enumerate(zip(ends, widths, strict=True))}


def _positions(table: Any, columns: Any, view: str, width: int) -> list[int]:
    if callable(columns):
        if not frames.is_frame(table):
            raise TypeError(f"view {view!r} is given by a column selector, which needs a data frame")
        columns = columns(table)
    if isinstance(columns, slice):
        return list(range(width))[columns]
    if isinstance(columns, str | Integral):
        columns = [columns]
    if not isinstance(columns, Sequence | np.ndarray):
        raise TypeError(
            f"view {view!r} must be given as column names, positions, a slice or a callable, got {columns!r}"
        )
    if len(columns) and all(isinstance(column, bool | np.bool_) for column in columns):
        if len(columns) != width:
            raise ValueError(f"view {view!r} is given by a mask of {len(columns)} entries for {width} columns")
        return np.flatnonzero(columns).tolist()
    labels = frames.frame_columns(table) if frames.is_frame(table) else []
    # the first of columns with the same name
    places = {label: i for i, label in reversed(list(enumerate(labels)))}
    return [_position(column, places, view, width) for column in columns]


def _position(column: Any, places: dict[Any, int], view: str, width: int) -> int:
    if not isinstance(column, Hashable):
        raise TypeError(f"view {view!r} asks for column {column!r}, which is neither a name nor a position")
    if isinstance(column, Integral) and column not in places:
        if not -width <= int(column) < width:
            raise ValueError(f"view {view!r} asks for column {column}, but the table has {width} columns")
        return int(column) % width
    if column not in places:
        hint = f"its columns are {list(places)[:6]}" if places else "an array has no column names; give positions"
        raise ValueError(f"view {view!r} asks for column {column!r}, which the table does not have; {hint}")
    return places[column]
