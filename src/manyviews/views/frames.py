"""The one place that knows how pandas, polars and pyarrow tables differ."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "frame_columns",
    "frame_index",
    "frame_to_array",
    "has_default_index",
    "has_nested_columns",
    "is_frame",
    "take_columns",
]

Array = NDArray[Any]


def _library(table: Any) -> str:
    return type(table).__module__.partition(".")[0]


def is_frame(table: Any) -> bool:
    """Tell whether ``table`` is a pandas, polars or pyarrow table (two-dimensional)."""
    return _library(table) in {"pandas", "polars", "pyarrow"} and (
        hasattr(table, "columns") or hasattr(table, "column_names")
    )


def frame_columns(table: Any) -> list[Any]:
    """Return the column labels in order."""
    return list(table.column_names if _library(table) == "pyarrow" else table.columns)


def has_nested_columns(table: Any) -> bool:
    """Tell whether a pandas frame has two-level columns, whose first level names the views."""
    return _library(table) == "pandas" and getattr(table.columns, "nlevels", 1) == 2


def frame_index(table: Any) -> Array | None:
    """Return the row labels of a pandas frame; None for tables that have no index."""
    return np.asarray(table.index) if _library(table) == "pandas" else None


def has_default_index(table: Any) -> bool:
    """Tell whether the row labels are just 0, 1, 2, ... and therefore say nothing."""
    index = getattr(table, "index", None)
    if index is None or _library(table) != "pandas":
        return True
    return type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1


def take_columns(table: Any, positions: list[int]) -> Any:
    """Return the table reduced to the columns at ``positions``."""
    if _library(table) == "pandas":
        return table.iloc[:, positions]
    columns = frame_columns(table)
    return table.select([columns[i] for i in positions])


def frame_to_array(table: Any, view: str) -> Array:
    """Return the numbers of a table as one 2-D array, empty cells as NaN.

    Parameters
    ----------
    table : pandas.DataFrame, polars.DataFrame or pyarrow.Table
        Table of shape (n, d).
    view : str
        Name of the view, for error messages.

    Returns
    -------
    ndarray of shape (n, d)
        float32 if every column is float32, else float64.

    Raises
    ------
    ValueError
        If a column holds anything but real numbers or booleans.
    """
    arrays = check_numeric(table, view)
    single = bool(arrays) and all(array.dtype == np.float32 for array in arrays)
    out = np.empty((len(table), len(arrays)), dtype=np.float32 if single else np.float64)
    for i, array in enumerate(arrays):
        out[:, i] = array
    return out


def check_numeric(table: Any, view: str) -> list[Array]:
    """Return the columns as arrays; raise ValueError naming those that are not numbers."""
    columns = frame_columns(table)
    arrays = [_column_to_array(table, i) for i in range(len(columns))]
    bad = [str(columns[i]) for i, array in enumerate(arrays) if array.dtype.kind not in "buif"]
    if bad:
        shown = ", ".join(map(repr, bad[:5])) + (", ..." if len(bad) > 5 else "")
        raise ValueError(
            f"view {view!r} has {len(bad)} column(s) that are not numeric: {shown}; "
            "drop them, encode them as numbers, or name them as sample ids or truth"
        )
    return arrays


def _column_to_array(table: Any, position: int) -> Array:
    """Return one column; missing entries of a numeric column become NaN."""
    library = _library(table)
    if library == "pyarrow":
        return np.asarray(table.column(position).to_numpy())
    if library == "polars":
        return np.asarray(table.to_series(position).to_numpy())
    column = table.iloc[:, position]
    if getattr(column.dtype, "na_value", None) is not None and column.dtype.kind in "buif":
        # pandas' nullable numbers would come out as an object array
        dtype = np.float32 if column.dtype.kind == "f" and column.dtype.itemsize == 4 else np.float64
        return np.asarray(column.to_numpy(dtype=dtype, na_value=np.nan))
    return np.asarray(column.to_numpy())
