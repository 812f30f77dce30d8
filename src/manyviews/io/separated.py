"""Read csv and tsv text: the numbers in it."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from manyviews.io.files import readable
from manyviews.io.text import MISSING, check_widths, find_separator, first_rows, has_header, read_text

__all__ = ["polars_errors", "read_separated"]

# A number with a decimal comma, a whole number, and what may also be a whole number with thousands marks.
_COMMA, _WHOLE, _THOUSANDS = r"^[+-]?\d*,\d+([eE][+-]?\d+)?$", r"^[+-]?\d+$", r"^[+-]?[1-9]\d{0,2},\d{3}$"


@contextmanager
def polars_errors() -> Iterator[None]:
    """Turn the errors of polars, panics included, into the OSError that ``readable`` translates."""
    import polars as pl

    try:
        yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        lines = str(error).strip().splitlines()
        raise OSError(lines[0] if lines else type(error).__name__) from error


def read_separated(
    file: Path, where: str, *, as_text: Sequence[str] = (), header: bool | None = None
) -> tuple[Any, tuple[str, ...]]:
    """Read a csv or tsv file, gzipped or not.

    Parameters
    ----------
    file : Path
        An existing file.
    where : str
        The path as the user gave it, for messages.
    as_text : sequence of str, default=()
        Columns that stay text exactly as written.
    header : bool, default=None
        Whether the first row holds the names of the columns. By default it is told from the first rows.

    Returns
    -------
    frame : polars.DataFrame
        Numbers where every cell of a column is a number or missing, else text.
    notes : tuple of str
        How encoding, first row and decimal commas were understood, where that is not plain.

    Raises
    ------
    ValueError
        If the text is of another encoding, ragged, without data, two columns have the same name, or commas in numbers
        may mean two things.
    """
    content, notes = read_text(file, where)
    with readable(where, "a table"):
        separator = find_separator(content, is_tsv=".tsv" in file.name.lower())
        rows = first_rows(content, separator)
    if not rows or not rows[0]:
        raise ValueError(f"{where} begins with an empty line; the first line must name the columns")
    if header is None:
        header, certain = has_header(rows)
        notes += () if certain and header else (_header_note(where, header),)
    names = [name.strip() for name in rows[0]] if header else [f"column_{i}" for i in range(len(rows[0]))]
    _check_names(names, where)
    content = content.rstrip(b"\r\n") + b"\n"  # blank lines at the end are no samples
    frame = _parse(content, separator, names, rows[0] if header else None, as_text, where)
    if frame.height and frame[:, -1].null_count():
        # polars fills lines that are too short with missing numbers
        _check_widths(content, separator, len(names), where)
    return _numbers(frame, as_text, where, notes)


def _header_note(where: str, header: bool) -> str:
    if header:
        return f"{where}: the first row is taken for names of columns; if it is data, give --header no (header=False)"
    return (
        f"{where}: the first row holds numbers, so it is read as data and the columns have no names; if it holds "
        "names, give --header yes (header=True)"
    )


def _check_names(names: list[str], where: str) -> None:
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise ValueError(f"{where} has {len(repeated)} column name(s) more than once, as {repeated[0]!r}; rename them")


def _parse(
    content: bytes, separator: str, names: list[str], first: list[str] | None, as_text: Sequence[str], where: str
) -> Any:
    import polars as pl

    # polars calls unnamed columns by numbers from 0 or 1, by version: names of our own are put above
    raw = [str(i) for i in range(len(names))] if first is None else first
    body = content if first is not None else (separator.join(raw) + "\n").encode() + content
    texts = {raw[i]: pl.String for i, name in enumerate(names) if name in as_text}
    try:
        with readable(where, "a table"), polars_errors():
            frame = pl.read_csv(body, separator=separator, schema_overrides=texts, infer_schema_length=None)
    except ValueError:
        _check_widths(content, separator, len(names), where)  # names the line, where that is the matter
        raise
    frame.columns = names
    return frame


def _check_widths(content: bytes, separator: str, width: int, where: str) -> None:
    try:
        check_widths(content, separator, width, where)
    except csv.Error as error:
        raise ValueError(f"{where} cannot be read as a table ({error}); write it again") from error


def _numbers(frame: Any, as_text: Sequence[str], where: str, notes: tuple[str, ...]) -> tuple[Any, tuple[str, ...]]:
    """Return the frame with its text columns as numbers where that is what they hold."""
    import polars as pl

    text = [name for name in frame.columns if name not in as_text and frame[name].dtype == pl.String]
    changed = {name: _plain_number(frame[name]) for name in text}
    commas = {name: frame[name].str.strip_chars() for name in text if changed[name].dtype == pl.String}
    commas = {name: cells for name, cells in commas.items() if _has_decimal_commas(cells)}
    if commas:
        _check_commas(frame, commas, where)
        changed |= {name: _plain_number(cells.str.replace(",", ".", literal=True)) for name, cells in commas.items()}
        notes += (f"{where}: commas in numbers are read as decimal points, as in column {next(iter(commas))!r}",)
    return frame.with_columns(list(changed.values())), notes


def _is_missing(cells: Any) -> Any:
    return cells.is_null() | cells.str.to_lowercase().is_in(list(MISSING))


def _plain_number(series: Any) -> Any:
    """Return a text column as numbers where all of its cells are numbers or missing."""
    import polars as pl

    cells = series.str.strip_chars()
    missing = _is_missing(cells)
    numbers = cells.cast(pl.Float64, strict=False)
    return numbers.set(missing, None) if not (numbers.is_null() & ~missing).any() else series


def _has_decimal_commas(cells: Any) -> bool:
    comma = cells.str.contains(_COMMA).fill_null(False)
    return bool(comma.any()) and bool((comma | cells.str.contains(_WHOLE) | _is_missing(cells)).all())


def _check_commas(frame: Any, commas: dict[str, Any], where: str) -> None:
    import polars as pl

    written = {name: cells.filter(cells.str.contains(",", literal=True)) for name, cells in commas.items()}
    if all(cells.str.contains(_THOUSANDS).all() for cells in written.values()):
        name, cells = next(iter(written.items()))
        raise ValueError(
            f"{where}: commas in numbers, such as {cells[0]!r} in column {name!r}, may be decimal commas or thousands "
            "marks; write the numbers with decimal points and no thousands marks"
        )
    points = [name for name in frame.columns if frame[name].dtype == pl.Float64 and frame[name].is_finite().any()]
    if points:
        raise ValueError(
            f"{where} has decimal points in column {points[0]!r} and decimal commas in column {next(iter(commas))!r}; "
            "write all numbers with decimal points"
        )
