"""Read csv and tsv text: separator, header, numbers."""

from __future__ import annotations

import csv
import gzip
import io
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from manyviews.io.files import readable

__all__ = ["is_number", "polars_errors", "read_separated"]

_MISSING = ("", "na", "n/a", "nan", "null", "none")


@contextmanager
def polars_errors() -> Iterator[None]:
    """Turn the errors of polars, panics included, into the OSError that ``readable`` translates."""
    import polars as pl

    try:
        yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        lines = str(error).strip().splitlines()
        raise OSError(lines[0] if lines else type(error).__name__) from error


def read_separated(file: Path, where: str, *, as_text: Sequence[str] = ()) -> tuple[Any, tuple[str, ...]]:
    """Read a csv or tsv file, gzipped or not.

    Parameters
    ----------
    file : Path
        An existing file.
    where : str
        The path as the user gave it, for messages.
    as_text : sequence of str, default=()
        Columns that stay text exactly as written.

    Returns
    -------
    frame : polars.DataFrame
        Numbers where every cell of a column is a number or missing, else text.
    notes : tuple of str
        How the first row was understood, where that is not plain.

    Raises
    ------
    ValueError
        If the text is not UTF-8, ragged, without data, or two columns have the same name.
    """
    import polars as pl

    content = _content(file, where)
    with readable(where, "a table of UTF-8 text"):
        separator = _separator(content, ".tsv" in file.name.lower())
        with io.TextIOWrapper(io.BytesIO(content), encoding="utf-8-sig", newline="") as text:
            first = next(csv.reader(text, delimiter=separator), [])
    if not first:
        raise ValueError(f"{where} begins with an empty line; the first line must name the columns")
    header = _is_header(first)
    if header:
        _check_header(first, where)
    with readable(where, "a table"), polars_errors():
        frame = pl.read_csv(
            content.rstrip(b"\r\n") + b"\n",  # blank lines at the end are no samples
            separator=separator,
            has_header=header,
            schema_overrides={name: pl.String for name in as_text if header and name in first},
            infer_schema_length=None,
        )
        if not header:
            frame.columns = [f"column_{i}" for i in range(frame.width)]  # polars counts from 0 or 1, by version
        frame = frame.with_columns(_number(frame[name]) for name in frame.columns if name not in as_text)
    note = f"{where}: the first row holds numbers, so it is read as data and the columns have no names"
    return frame, () if header else (note,)


def _content(file: Path, where: str) -> bytes:
    with readable(where, "a gzip file" if file.suffix.lower() == ".gz" else "a table"):
        if file.suffix.lower() == ".gz":
            # Python's gzip reports a file that was cut short; readers of streams may take it for the end.
            with gzip.open(file, "rb") as stream:
                return stream.read()
        return file.read_bytes()


def _separator(content: bytes, is_tsv: bool) -> str:
    if is_tsv:
        return "\t"
    first_line = content[: content.find(b"\n") if b"\n" in content else None]
    return next((mark for mark in (",", ";", "\t") if mark.encode() in first_line), ",")


def _is_header(first: list[str]) -> bool:
    """Tell names from numbers; 0, 1, 2, ... are the names that data frames give to unnamed columns."""
    if len(first) > 2 and first == [str(i) for i in range(len(first))]:
        return True
    return not all(cell.strip() and is_number(cell) for cell in first)


def is_number(cell: str) -> bool:
    """Tell whether a cell is a number or says that one is missing."""
    try:
        float(cell)
    except ValueError:
        return cell.strip().lower() in _MISSING
    return True


def _check_header(names: list[str], where: str) -> None:
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise ValueError(f"{where} has {len(repeated)} column name(s) more than once, as {repeated[0]!r}; rename them")


def _number(series: Any) -> Any:
    """Return a text column as numbers where all of its cells are numbers or missing."""
    import polars as pl

    if series.dtype != pl.String:
        return series
    cells = series.str.strip_chars()
    missing = series.is_null() | cells.str.to_lowercase().is_in(list(_MISSING))
    numbers = cells.cast(pl.Float64, strict=False)
    return numbers.set(missing, None) if not (numbers.is_null() & ~missing).any() else series
