"""Read tables: csv, tsv, parquet and arrow, through polars."""

from __future__ import annotations

import difflib
import io
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyviews.io.files import file_kind, readable, require_file
from manyviews.io.labels import check_labels
from manyviews.io.separated import is_number, polars_errors, read_separated

__all__ = ["Table", "read_columns", "read_table"]

# Names under which an id or a class column usually hides among the features.
_LIKELY_IDS = {"id", "ids", "sample", "sample_id", "sampleid", "index", "key", "name"}
_LIKELY_CLASSES = {"class", "classes", "label", "labels", "target", "truth", "ground_truth"}
_PANDAS_INDEX = "__index_level_0__"


@dataclass(frozen=True)
class Table:
    """One view from a table.

    Attributes
    ----------
    features : polars.DataFrame
        The numeric columns, in the order of the file.
    ids : list of str or None
        Row ids, where an id column was asked for.
    truth : ndarray of shape (n,) or None
        Classes, where the table has the column asked for.
    notes : tuple of str
        What a user may want to know.
    """

    features: Any
    ids: list[str] | None
    truth: NDArray[Any] | None
    notes: tuple[str, ...]


def read_table(path: str | os.PathLike[str], *, id_column: str | None = None, truth: str | None = None) -> Table:
    """Read one view from a table.

    Parameters
    ----------
    path : str or path-like
        A .csv, .tsv (also .gz), .parquet, .arrow, .feather or .ipc file.
    id_column : str, default=None
        Column with the row ids, kept as text exactly as written.
    truth : str, default=None
        Column with the classes; left out of the features where the table has it.

    Returns
    -------
    Table
        Features, ids, classes and notes. Empty cells are missing numbers.

    Raises
    ------
    ValueError
        If the file cannot be read, has no rows or no numbers, the id column is missing, or a feature is text.
    """
    where = os.fspath(path)
    frame, notes = _read_frame(path, () if id_column is None else (id_column,))
    ids = None if id_column is None else _ids(frame, id_column, where)
    has_truth = truth is not None and truth in frame.columns and truth != id_column
    labels = _truth(frame, str(truth), where) if has_truth else None
    features = frame.drop([name for name in (id_column, truth) if name in frame.columns])
    _check_features(features, where)
    return Table(_as_floats(features), ids, labels, (*notes, *_suspicions(features.columns, ids, labels, where)))


def read_columns(path: str | os.PathLike[str], *, as_text: Sequence[str] = ()) -> dict[str, list[Any]]:
    """Read a table whole, text columns too.

    Parameters
    ----------
    path : str or path-like
        A file that ``read_table`` takes.
    as_text : sequence of str, default=()
        Columns that stay text exactly as written.

    Returns
    -------
    dict of str to list
        The columns; None for empty cells.

    Raises
    ------
    ValueError
        If the file cannot be read or has no rows.
    """
    frame, _ = _read_frame(path, as_text)
    columns: dict[str, list[Any]] = frame.to_dict(as_series=False)
    return columns


def _read_frame(path: str | os.PathLike[str], as_text: Sequence[str]) -> tuple[Any, tuple[str, ...]]:
    where, kind = os.fspath(path), file_kind(path)
    file = require_file(path)
    notes: tuple[str, ...] = ()
    if kind.startswith((".csv", ".tsv")):
        frame, notes = read_separated(file, where, as_text=as_text)
    else:
        frame = _read_columnar(path, kind)
    if frame.height == 0:
        raise ValueError(f"{where} has a header but no rows; there is nothing to read")
    return frame, notes


def _read_columnar(path: str | os.PathLike[str], kind: str) -> Any:
    import polars as pl

    with open(path, "rb") as stream:  # an open file, because polars expands * and [] in paths
        content = io.BytesIO(stream.read())
    with readable(path, f"a {kind[1:]} file"), polars_errors():
        return pl.read_parquet(content) if kind == ".parquet" else pl.read_ipc(content)


def _ids(frame: Any, id_column: str, where: str) -> list[str]:
    import polars as pl

    if id_column not in frame.columns:
        close = difflib.get_close_matches(id_column, frame.columns, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"its columns are {_shown(frame.columns)}"
        raise ValueError(f"{where} has no column {id_column!r} to match rows by; {hint}")
    with readable(where, "a table with ids"), polars_errors():
        ids: list[Any] = frame[id_column].cast(pl.String).to_list()
    if None in ids:
        raise ValueError(f"{where}: the id column {id_column!r} is empty in row {ids.index(None)}; fill it in")
    return ids


def _truth(frame: Any, column: str, where: str) -> NDArray[Any]:
    series = frame[column]
    if series.null_count():
        row = series.is_null().to_list().index(True)
        raise ValueError(f"{where}: the truth column {column!r} is empty in row {row}; every row needs a class")
    return check_labels(np.array(series.to_list()), frame.height, f"{where}: the truth column {column!r}")


def _check_features(features: Any, where: str) -> None:
    if features.width == 0:
        raise ValueError(f"{where} has no column left for features; a view needs at least one column of numbers")
    if "" in features.columns or _PANDAS_INDEX in features.columns:
        name = _PANDAS_INDEX if _PANDAS_INDEX in features.columns else ""
        raise ValueError(
            f"{where}: column {features.columns.index(name) + 1} has no name (row numbers written along with a data "
            "frame?); remove it, or name it and give that name to --id (id_column)"
        )
    text = [name for name in features.columns if not (features[name].dtype.is_numeric() or _is_boolean(features[name]))]
    if text:
        row, value = _first_text(features[text[0]].to_list())
        raise ValueError(
            f"{where}: {'column' if len(text) == 1 else f'{len(text)} columns'} {_shown(text)} cannot be used as "
            f"numbers ({text[0]!r} holds {str(value)[:40]!r} in row {row}); name it with --id or --truth if it holds "
            "ids or classes, else drop it or encode it"
        )


def _first_text(values: list[Any]) -> tuple[int, Any]:
    """Return the first entry that is no number, and its row; the first entry where every one is."""
    return next(((row, value) for row, value in enumerate(values) if not is_number(str(value))), (0, values[0]))


def _is_boolean(series: Any) -> bool:
    import polars as pl

    return bool(series.dtype == pl.Boolean)


def _as_floats(features: Any) -> Any:
    """Cast to one floating type; float32 is kept where every column has it."""
    import polars as pl

    single = all(dtype == pl.Float32 for dtype in features.dtypes)
    return features if single else features.cast(pl.Float64)


def _suspicions(columns: list[str], ids: Any, truth: Any, where: str) -> list[str]:
    notes = []
    for column in columns:
        if ids is None and column.lower() in _LIKELY_IDS:
            notes.append(f"{where}: column {column!r} is used as a feature; if it names the rows, give --id {column}")
        if truth is None and column.lower() in _LIKELY_CLASSES:
            notes.append(f"{where}: column {column!r} is used as a feature; if it holds classes, give --truth {column}")
    return notes


def _shown(names: list[str]) -> str:
    return ", ".join(map(repr, names[:6])) + (", ..." if len(names) > 6 else "")
