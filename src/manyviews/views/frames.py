"""The one place that knows how tables of pandas, polars, pyarrow, xarray and AnnData differ."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manyviews.views.encoding import dummy_columns, stack_cells
from manyviews.views.foreign import to_numpy

__all__ = [
    "Content",
    "check_numeric",
    "column_values",
    "frame_columns",
    "frame_content",
    "frame_height",
    "frame_index",
    "has_default_index",
    "has_nested_columns",
    "is_annotated",
    "is_frame",
    "is_plain",
    "plain_matrix",
    "take_columns",
    "telling_names",
]

Array = NDArray[Any]
_NESTED = ("List", "Array", "list<", "large_list<", "fixed_size_list<")


class Content(NamedTuple):
    """The numbers of a table (n, d), dense or CSR, and the names of the d columns."""

    array: Any
    columns: tuple[str, ...]


def _library(table: Any) -> str:
    if all(hasattr(table, name) for name in ("obs_names", "var_names", "X")):
        return "anndata"  # by its shape, so that the package need not be there
    library = type(table).__module__.partition(".")[0]
    return "" if library == "anndata" else library  # of that package, but a matrix


def is_frame(table: Any) -> bool:
    """Tell whether ``table`` is a table of pandas, polars, pyarrow or xarray (two-dimensional), or like an AnnData.

    Raises
    ------
    TypeError
        For a LazyFrame of polars, which has no numbers yet.
    """
    library = _library(table)
    if library == "anndata":
        return True
    if library == "xarray":
        return getattr(table, "ndim", 0) == 2
    if library == "polars" and type(table).__name__ == "LazyFrame":
        raise TypeError("a LazyFrame of polars has no numbers yet; give frame.collect()")
    return library in {"pandas", "polars", "pyarrow"} and (hasattr(table, "columns") or hasattr(table, "column_names"))


def is_annotated(table: Any) -> bool:
    """Tell whether ``table`` is like an AnnData, whose samples always have names."""
    return _library(table) == "anndata"


def frame_columns(table: Any) -> list[Any]:
    """Return the column labels in order."""
    library = _library(table)
    if library == "anndata":
        return list(table.var_names)
    if library == "xarray":
        names = _coordinate(table, 1)
        return list(range(table.shape[1])) if names is None else names.tolist()
    return list(table.column_names if library == "pyarrow" else table.columns)


def is_plain(table: Any, view: str) -> bool:
    """Tell whether the columns are numbers with names of one level; raise ValueError where one is text."""
    if _library(table) in ("anndata", "xarray") or has_nested_columns(table):
        return False
    return _is_sparse(table) or all(part.array.ndim == 1 for part in check_numeric(table, view))


def has_nested_columns(table: Any) -> bool:
    """Tell whether a pandas frame has two-level columns, whose first level names the views."""
    return _library(table) == "pandas" and getattr(table.columns, "nlevels", 1) == 2


def frame_index(table: Any) -> Array | None:
    """Return the row labels of a pandas frame, AnnData or DataArray; None for tables that have no index."""
    library = _library(table)
    if library == "anndata":
        return np.asarray(table.obs_names)
    if library == "xarray":
        return _coordinate(table, 0)
    return np.asarray(table.index) if library == "pandas" else None


def telling_names(table: Any) -> list[Any] | None:
    """Return the labels of the rows of a pandas frame or series where they say more than 0, 1, 2, ..."""
    if _library(table) not in ("pandas", "anndata") or not hasattr(table, "index"):
        return None
    return None if has_default_index(table) else list(table.index)


def frame_height(table: Any) -> int:
    """Return the number of rows."""
    return len(table.obs_names) if _library(table) == "anndata" else len(table)


def has_default_index(table: Any) -> bool:
    """Tell whether the row labels are just 0, 1, 2, ... and therefore say nothing."""
    if _library(table) == "anndata":
        return [str(key) for key in table.obs_names] == [str(row) for row in range(len(table.obs_names))]
    if _library(table) == "xarray":
        labels = _coordinate(table, 0)
        return labels is None or labels.tolist() == list(range(labels.size))
    index = getattr(table, "index", None)
    if index is None or _library(table) != "pandas":
        return True
    return type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1


def take_columns(table: Any, positions: list[int]) -> Any:
    """Return the table reduced to the columns at ``positions``."""
    library = _library(table)
    if library == "pandas":
        return table.iloc[:, positions]
    if library in ("anndata", "xarray"):
        return table[:, positions]
    columns = frame_columns(table)
    return table.select([columns[i] for i in positions])


def column_values(table: Any, position: int) -> Array:
    """Return one column as a vector of numbers, text or objects, as it is."""
    if _library(table) == "anndata":
        column = _matrix(table, "")[:, [position]]
        return np.asarray(column.toarray() if sparse.issparse(column) else column).ravel()
    if _library(table) == "xarray":
        return np.asarray(table[:, position])
    return _to_numpy(_column(table, position))


def frame_content(table: Any, view: str, encode: Sequence[str] = ()) -> Content:
    """Return the numbers of a table as one array, empty cells as NaN, and the names of its columns.

    Parameters
    ----------
    table : frame
        Table with d columns. A column of lists of equal length becomes as many columns.
    view : str
        Name for error messages.
    encode : sequence of str
        Names, also with ``*`` and ``?``, of columns to become one column of 0 and 1 per value.

    Returns
    -------
    Content
        float32 if every column is float32, else float64; CSR if every column of a pandas frame is sparse.

    Raises
    ------
    ValueError
        If a column holds anything but real numbers or booleans and is not to be encoded.
    """
    if _library(table) == "anndata":
        return Content(_matrix(table, view), tuple(map(str, table.var_names)))
    if _library(table) == "xarray":
        return Content(to_numpy(table, f"view {view!r}"), tuple(map(str, frame_columns(table))))
    if _is_sparse(table):
        return Content(table.sparse.to_coo().tocsr(), tuple(map(str, table.columns)))
    parts = check_numeric(table, view, encode)
    columns = [column for part in parts for column in part.columns]
    single = bool(parts) and all(part.array.dtype == np.float32 for part in parts)
    out = np.empty((len(table), len(columns)), dtype=np.float32 if single else np.float64)
    start = 0
    for array, names in parts:
        out[:, start : start + len(names)] = array if array.ndim == 2 else array[:, None]
        start += len(names)
    return Content(out, tuple(columns))


def _matrix(table: Any, view: str) -> Any:
    """Return X of an AnnData, in memory."""
    X = table.X
    if X is None:
        raise ValueError(
            f"view {view!r} is an AnnData without X; give what is meant, such as adata.layers[...] or adata.obsm[...]"
        )
    X = plain_matrix(X)
    return X if sparse.issparse(X) else np.asarray(X)


def plain_matrix(matrix: Any) -> Any:
    """Return a matrix of an AnnData as an array or sparse matrix of its own: not in a file, nor tied to a parent."""
    if not type(matrix).__module__.startswith("anndata"):
        return matrix
    if hasattr(matrix, "to_memory"):
        return matrix.to_memory()
    if not sparse.issparse(matrix):
        return np.asarray(matrix)
    return (sparse.csc_matrix if matrix.format == "csc" else sparse.csr_matrix)(matrix)


def check_numeric(table: Any, view: str, encode: Sequence[str] = ()) -> list[Content]:
    """Return the columns as arrays (n,), nested ones (n, m); raise ValueError naming those that are not numbers."""
    columns = list(map(str, frame_columns(table)))
    parts = [_part(table, i, name, view, encode) for i, name in enumerate(columns)]
    bad = [name for name, part in zip(columns, parts, strict=True) if part.array.dtype.kind not in "buif"]
    if bad:
        shown = ", ".join(map(repr, bad[:5])) + (", ..." if len(bad) > 5 else "")
        raise ValueError(
            f"view {view!r} has {len(bad)} column(s) that are not numeric: {shown}; drop them, make columns of 0 and "
            f"1 of them with Views(..., encode=[{bad[0]!r}]), or name them as sample ids or truth"
        )
    return parts


def _part(table: Any, position: int, name: str, view: str, encode: Sequence[str]) -> Content:
    if any(fnmatchcase(name, pattern) for pattern in encode):
        return Content(*dummy_columns(name, column_values(table, position).tolist(), f"view {view!r}"))
    array = _column_to_array(table, position, f"view {view!r}, column {name!r}")
    return Content(array, (name,) if array.ndim == 1 else tuple(f"{name}[{j}]" for j in range(array.shape[1])))


def _column(table: Any, position: int) -> Any:
    library = _library(table)
    if library == "pyarrow":
        return table.column(position)
    return table.to_series(position) if library == "polars" else table.iloc[:, position]


def _is_sparse(table: Any) -> bool:
    if _library(table) != "pandas" or not len(table.columns):
        return False
    kinds = list(table.dtypes)
    return all(type(kind).__name__ == "SparseDtype" and kind.kind in "buif" and kind.fill_value == 0 for kind in kinds)


def _column_to_array(table: Any, position: int, where: str) -> Array:
    """Return one column; missing entries of a numeric column become NaN, lists of numbers columns."""
    column, library = _column(table, position), _library(table)
    kind = str(column.type if library == "pyarrow" else column.dtype)
    if library == "pandas":
        return _pandas_column(column, where)
    if _n_empty(column, library) == len(column) > 0:
        return _empty_column(len(column))
    if kind.startswith(_NESTED):
        return stack_cells(column.to_pylist() if library == "pyarrow" else column.to_list(), where, kind)
    if kind in ("Boolean", "bool") and _n_empty(column, library):
        column = column.cast("double") if library == "pyarrow" else column.cast(float)
    return _to_numpy(column)


def _n_empty(column: Any, library: str) -> int:
    return int(column.null_count if library == "pyarrow" else column.null_count())


def _empty_column(n: int) -> Array:
    """Return a column without a value, whatever type it was declared with; the others say with which precision."""
    return np.full(n, np.nan, dtype=np.float32)


def _to_numpy(column: Any) -> Array:
    # a column of a record batch refuses what it cannot hand over without a copy, such as empty cells and booleans
    copies = {"zero_copy_only": False} if _library(column) == "pyarrow" else {}
    return np.asarray(column.to_numpy(**copies))


def _coordinate(table: Any, axis: int) -> Array | None:
    """Return the labels along an axis of a DataArray, None where it has none."""
    name = table.dims[axis]
    return np.asarray(table.coords[name]) if name in table.coords else None


def _pandas_column(column: Any, where: str) -> Array:
    if type(column.dtype).__name__ == "SparseDtype":
        return np.asarray(column.sparse.to_dense())
    if getattr(column.dtype, "na_value", None) is not None and column.dtype.kind in "buif":
        # pandas' nullable numbers would come out as an object array
        dtype = np.float32 if column.dtype.kind == "f" and column.dtype.itemsize == 4 else np.float64
        return np.asarray(column.to_numpy(dtype=dtype, na_value=np.nan))
    if column.dtype.kind not in "buif" and len(column) and column.isna().all():
        return _empty_column(len(column))
    array = np.asarray(column.to_numpy())
    if array.dtype == object and len(array) and isinstance(array[0], list | tuple | np.ndarray):
        return stack_cells(array.tolist(), where, "")
    return array
