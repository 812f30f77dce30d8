"""Read tables: text, parquet, arrow and Excel, through polars."""

from __future__ import annotations

import difflib
import io
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyviews.io.choosing import Caution, PartOptions, choose, matches
from manyviews.io.features import as_features, shown
from manyviews.io.files import TEXTS, readable, require_file, table_kind
from manyviews.io.labels import check_labels
from manyviews.io.parquet_parts import ParquetTable, find_parts, store_numbers
from manyviews.io.row_names import row_names
from manyviews.io.separated import as_numbers, polars_errors, read_separated
from manyviews.views.shuffled import LIKELY_ID

__all__ = ["Frames", "Table", "read_columns", "read_large_table", "read_table"]

# Names under which a class column usually hides among the features.
_LIKELY_CLASSES = {"class", "classes", "label", "labels", "target", "truth", "ground_truth"}
# What data frames of pandas and Dask call row numbers that are saved with them.
_ROW_NUMBERS = ("__index_level_0__", "__null_dask_index__")
# Frames read already, by what they were read from and how, so that several views of one table read it once.
Frames = dict[tuple[Any, ...], Any]


@dataclass(frozen=True)
class Table:
    """One view from a table.

    Attributes
    ----------
    features : polars.DataFrame
        The numeric columns, in the order of the file.
    ids : list of str or None
        Row ids, where an id column was asked for, or the rows have names.
    truth : ndarray of shape (n,) or None
        Classes, where the table has the column asked for.
    notes : tuple of str
        What a user may want to know.
    about : dict of str to ndarray of shape (n,)
        Columns that describe the samples, as objects, None where an entry is missing.
    """

    features: Any
    ids: list[str] | None
    truth: NDArray[Any] | None
    notes: tuple[str, ...]
    about: dict[str, NDArray[Any]] = field(default_factory=dict)


def read_table(
    path: str | os.PathLike[str],
    options: PartOptions = PartOptions(),  # noqa: B008 (immutable)
    frames: Frames | None = None,
) -> Table:
    """Read one view from a table.

    Parameters
    ----------
    path : str or path-like
        A file of text, also .gz, or a .parquet, .arrow, .feather, .ipc or .xlsx file; or a folder of .parquet files
        that are parts of one table.
    options : PartOptions
        Columns, ids, classes, missing values; whether the samples are columns.
    frames : dict, default=None
        What was read before, and is added to.

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
    as_text = () if options.id_column is None else (options.id_column,)
    frame, notes, index = _read_frame(path, as_text, options.header, options.missing_values, frames)
    if options.transpose or table_kind(path).startswith(".gct"):
        return _turned(frame, options, index, where, notes)
    return _table(frame, options, index, where, notes)


def _table(frame: Any, options: PartOptions, index: str | None, where: str, notes: tuple[str, ...]) -> Table:
    """Part the columns of a table into features, ids and classes."""
    ids, id_column, every = None, options.id_column, frame.columns
    if id_column is not None:
        ids = _ids(frame, id_column, where)
    names, frame, more = row_names(frame, index, where, keep=(id_column, options.truth, *options.about))
    ids = names if ids is None else ids
    has_truth = options.truth is not None and options.truth in frame.columns and options.truth != id_column
    labels = _truth(frame, str(options.truth), where) if has_truth else None
    about = {name: np.array(frame[name].to_list(), dtype=object) for name in options.about if name in frame.columns}
    rest = frame.drop([name for name in {id_column, options.truth, *about} if name in frame.columns])
    rest, left_out = _chosen(rest, options, where, every)
    features = as_features(rest, options.encode, where)
    suspicions = _suspicions(features.columns, ids, labels, where)
    return Table(features, ids, labels, (*notes, *more, *left_out, *suspicions), about)


def read_large_table(path: str | os.PathLike[str], options: PartOptions) -> tuple[Table, Any] | None:
    """Read a view from a .parquet file, or a folder of them, whose numbers are too many to be held.

    Parameters
    ----------
    path : str or path-like
        The file or folder.
    options : PartOptions
        As for ``read_table``; rows cannot be columns, and no column is encoded.

    Returns
    -------
    tuple of (Table, array) or None
        Ids, classes and notes, with the features of the last rows only, and the numbers of all rows, on disk. None
        where the table is small.

    Raises
    ------
    ValueError
        As ``read_table``, and if there is no room on disk.
    """
    where = os.fspath(path)
    table = ParquetTable.open(find_parts(path), where)
    if not table.is_large:
        return None
    if options.transpose or options.encode:
        raise ValueError(
            f"{where} is too large to be transposed or encoded (--transpose, --encode); do it before it is saved"
        )

    def read(frame: Any) -> Table:
        # row numbers that data frames were saved with; names of rows are asked for
        numbers = [name for name in _ROW_NUMBERS if name in frame.columns and frame[name].dtype.is_integer()]
        frame, notes = as_numbers(frame.drop(numbers), _texts(frame), where, (), options.missing_values)
        return _table(frame, options, None, where, notes)

    stored = store_numbers(table, read, where)
    ids = [key for part in stored.tables for key in part.ids] if stored.tables[0].ids is not None else None
    known = [part.truth for part in stored.tables if part.truth is not None]
    notes = dict.fromkeys(note for part in stored.tables for note in part.notes)
    truth = np.concatenate(known) if known else None
    about = {name: np.concatenate([part.about[name] for part in stored.tables]) for name in stored.tables[0].about}
    return Table(stored.tables[-1].features, ids, truth, (*notes, stored.note), about), stored.array


def read_columns(
    path: str | os.PathLike[str], *, as_text: Sequence[str] = (), all_text: bool = False, header: bool | None = None
) -> dict[str, list[Any]]:
    """Read a table whole, text columns too.

    Parameters
    ----------
    path : str or path-like
        A file that ``read_table`` takes.
    as_text : sequence of str, default=()
        Columns that stay text exactly as written.
    all_text : bool, default=False
        Whether all columns do.
    header : bool, default=None
        Whether the first row holds names.

    Returns
    -------
    dict of str to list
        The columns; None for empty cells.

    Raises
    ------
    ValueError
        If the file cannot be read or has no rows.
    """
    frame, _, _ = _read_frame(path, as_text, header)
    if all_text:
        import polars as pl

        frame, _, _ = _read_frame(path, frame.columns, header)
        frame = frame.select(pl.all().cast(pl.String))
    columns: dict[str, list[Any]] = frame.to_dict(as_series=False)
    return columns


def _read_frame(
    path: str | os.PathLike[str],
    as_text: Sequence[str],
    header: bool | None = None,
    missing_values: Sequence[str] = (),
    frames: Frames | None = None,
) -> tuple[Any, tuple[str, ...], str | None]:
    """Return the table, notes, and the name of the column that pandas keeps its index in."""
    where, kind = os.fspath(path), table_kind(path)
    key = (os.path.realpath(path), tuple(as_text), header, tuple(missing_values))
    if frames is not None and key in frames:
        return frames[key][0], (), frames[key][1]
    file = Path(path) if os.path.isdir(path) else require_file(path)
    notes: tuple[str, ...] = ()
    index = None
    if kind.startswith(TEXTS):
        frame, notes = read_separated(file, where, as_text=as_text, header=header, missing_values=missing_values)
    elif kind == ".xlsx":
        frame, notes = _read_excel(file, where, header is not False, (*as_text, ""), missing_values)
    else:
        frame, index = _read_columnar(path, kind)
        frame, notes = as_numbers(frame, frame.select(_texts(frame)).columns, where, (), missing_values)
    if frame.height == 0:
        raise ValueError(f"{where} has a header but no rows; there is nothing to read")
    if frames is not None:
        frames[key] = frame, index
    return frame, notes, index


def _texts(frame: Any) -> list[str]:
    """Return the columns of text: those of binary files are no numbers, whatever they look like."""
    import polars as pl

    return [name for name in frame.columns if frame[name].dtype == pl.String]


def _read_columnar(path: str | os.PathLike[str], kind: str) -> tuple[Any, str | None]:
    import json

    import polars as pl

    files = find_parts(path)
    with open(files[0], "rb") as stream:  # an open file, because polars expands * and [] in paths
        content = io.BytesIO(stream.read())
    with readable(path, f"a {kind[1:]} file"), polars_errors():
        if kind != ".parquet":
            return pl.read_ipc(content), None
        if len(files) == 1:
            frame = pl.read_parquet(content)
        else:
            frame = pl.concat(ParquetTable.open(files, os.fspath(path)).blocks())
    try:
        content.seek(0)
        columns = json.loads(pl.read_parquet_metadata(content).get("pandas", "{}")).get("index_columns", [])
    except (ValueError, AttributeError, pl.exceptions.PolarsError):
        return frame, None
    return frame, columns[0] if len(columns) == 1 and columns[0] in frame.columns else None


def _read_excel(
    file: Any, where: str, header: bool, as_text: Sequence[str], missing_values: Sequence[str]
) -> tuple[Any, tuple[str, ...]]:
    import polars as pl

    with readable(where, "an Excel file"):
        try:
            sheets = pl.read_excel(
                file.read_bytes(), sheet_id=0, has_header=header, engine="calamine", infer_schema_length=None
            )
        except ImportError as error:
            raise ValueError(f"{where}: Excel files need fastexcel: pip install 'manyviews[excel]'") from error
        except Exception as error:  # its reader has errors of its own
            raise OSError(str(error).strip().splitlines()[0]) from error
    name, frame = next(iter(sheets.items()))
    frame.columns = [
        "" if column.startswith("__UNNAMED__") and i == 0 else column for i, column in enumerate(frame.columns)
    ]
    notes: tuple[str, ...] = ()
    if len(sheets) > 1:
        notes += (Caution(f"{where}: only the first sheet, {name!r}, of {len(sheets)} is read; save others as files"),)
    text = [column for column in as_text if column in frame.columns and frame[column].dtype != pl.String]
    frame = frame.with_columns(pl.Series(column, list(map(_as_written, frame[column])), pl.String) for column in text)
    return as_numbers(frame, as_text, where, notes, missing_values)


def _as_written(value: Any) -> str | None:
    """Return an id of a sheet as text: Excel knows no whole numbers."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return None if value is None else str(value)


def _chosen(
    frame: Any, options: PartOptions, where: str, every: Sequence[str] | None = None
) -> tuple[Any, tuple[str, ...]]:
    """Return the columns that were asked for, without those to drop, and those of the model where it is known.

    Positions count from the first of ``every`` column of the file.
    """
    names = frame.columns if every is None else every
    for given, what in ((options.id_column, "--id"), (options.truth, "--truth")):
        if given is not None and given in (options.columns or ()) and given in names:
            raise ValueError(f"{where}: column {given!r} was given to {what}, so it is no feature")
    if options.columns is not None:
        chosen = choose(names, options.columns, where)
        frame = frame.select([name for name in chosen if name in frame.columns])
    frame = frame.drop([name for name in frame.columns if matches(name, options.drop)])
    for known in options.known if options.columns is None else ():
        # columns of lists and of categories have names of their own in the model
        wanted = {name.partition("=")[0].partition("[")[0] for name in known} | known
        have = set(frame.columns)
        others = [name for name in frame.columns if name not in wanted]
        if others and all({name, name.partition("=")[0].partition("[")[0]} & have for name in known):
            strange = [name for name in others if name not in options.elsewhere]
            left = f"{where}: {len(strange)} column(s) that the model does not know are left out: {shown(strange)}"
            return frame.drop(others), (Caution(left),) if strange else ()
    return frame, ()


def _turned(frame: Any, options: PartOptions, index: str | None, where: str, notes: tuple[str, ...]) -> Table:
    """Return the table with its columns as samples: the names of the features are in a column, or nowhere."""
    import polars as pl

    names = [column for column in (options.id_column, index, "", "__index_level_0__") if column in frame.columns]
    first = frame.columns[0]
    if not names and frame[first].dtype == pl.String:
        names = [first]
    features = None
    if names:
        features = frame[names[0]].cast(pl.String).to_list()
        frame = frame.drop(names[0])
    # what else describes the features, such as the column Description of .gct files
    described = [column for column in frame.columns if column.lower() == "description" or matches(column, options.drop)]
    described += [column for column in frame.columns if frame[column].dtype == pl.String and column not in described]
    if len(described) == frame.width:
        raise ValueError(
            f"{where}, to be transposed, has no columns of numbers; its columns are {shown(frame.columns)}"
        )
    if described:
        notes += (Caution(f"{where}: the columns {shown(described)} describe features and are left out"),)
        frame = frame.drop(described)
    numbers = as_features(frame, (), where)
    samples = (
        None if all(name == f"column_{i}" for i, name in enumerate(frame.columns, bool(names))) else numbers.columns
    )
    columns = _distinct(features, numbers.height)
    turned = pl.DataFrame(np.ascontiguousarray(numbers.to_numpy().T), schema=columns)
    turned, left_out = _chosen(turned, options, where)
    note = f"{where} is read with its {numbers.width} columns as samples and its {numbers.height} rows as features"
    return Table(turned, samples, None, (*notes, note, *left_out))


def _distinct(names: list[Any] | None, n: int) -> list[str]:
    """Return a name of its own for every feature: repeated ones get a number, as genes with one symbol."""
    seen: dict[str, int] = {}
    distinct = []
    for i, name in enumerate(names if names is not None else range(n)):
        text = f"column_{i}" if name is None or names is None else str(name)
        seen[text] = seen.get(text, 0) + 1
        distinct.append(text if seen[text] == 1 else f"{text}.{seen[text] - 1}")
    return distinct if len(set(distinct)) == n else [f"{i}: {name}" for i, name in enumerate(distinct)]


def _ids(frame: Any, id_column: str, where: str) -> list[str]:
    import polars as pl

    if id_column not in frame.columns:
        close = difflib.get_close_matches(id_column, frame.columns, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"its columns are {shown(frame.columns)}"
        if frame.width > frame.height and frame.dtypes[0] == pl.String:
            hint += "; if these are samples, give --transpose (transpose)"
        raise ValueError(f"{where} has no column {id_column!r} to match rows by; {hint}")
    with readable(where, "a table with ids"), polars_errors():
        ids: list[Any] = frame[id_column].cast(pl.String).to_list()
    if None in ids:
        raise ValueError(f"{where}: the id column {id_column!r} is empty in row {ids.index(None)}; fill it in")
    return ids


def _truth(frame: Any, column: str, where: str) -> NDArray[Any]:
    return check_labels(np.array(frame[column].to_list()), frame.height, f"{where}: the truth column {column!r}")


def _suspicions(columns: list[str], ids: Any, truth: Any, where: str) -> list[str]:
    notes: list[str] = []
    for column in columns:
        if ids is None and LIKELY_ID.fullmatch(column):
            what = f"{where}: column {column!r} is used as a feature; if it names the rows, give --id {column}"
            notes.append(Caution(what))
        if truth is None and column.lower() in _LIKELY_CLASSES:
            what = f"{where}: column {column!r} is used as a feature; if it holds classes, give --truth {column}"
            notes.append(Caution(what))
    return notes
