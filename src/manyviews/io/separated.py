"""Read csv and tsv text: the numbers in it."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from manyviews.io.beginning import find_beginning
from manyviews.io.choosing import Caution
from manyviews.io.files import readable
from manyviews.io.text import MISSING, check_widths, has_header, is_numeric, read_text

__all__ = ["as_numbers", "polars_errors", "read_separated"]

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
    file: Path,
    where: str,
    *,
    as_text: Sequence[str] = (),
    header: bool | None = None,
    missing_values: Sequence[str] = (),
) -> tuple[Any, tuple[str, ...]]:
    """Read a table of text, gzipped or not.

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
    missing_values : sequence of str, default=()
        What stands for a missing number, besides the usual marks.

    Returns
    -------
    frame : polars.DataFrame
        Numbers where every cell of a column is a number or missing, else text. A column without a name is called "".
    notes : tuple of str
        How encoding, first row and decimal commas were understood, where that is not plain.

    Raises
    ------
    ValueError
        If the text is of another encoding, ragged, without data, two columns have the same name, or commas in numbers
        may mean two things.
    """
    content, notes = read_text(file, where)
    kind = "".join(suffix.lower() for suffix in file.suffixes[-2:])
    with readable(where, "a table"):
        content, separator, rows, row_names, more = find_beginning(content, where, kind=kind, header=header)
    notes += more
    if not rows or not rows[0]:
        raise ValueError(f"{where} holds no table; the first line must name the columns")
    if header is None:
        named = [name.strip() for name in rows[0]]
        header, certain = (True, True) if row_names or any(name in named for name in as_text) else has_header(rows)
        notes += () if certain and header else (_header_note(where, header),)
    names = [name.strip() for name in rows[0]] if header else [f"column_{i}" for i in range(len(rows[0]))]
    _check_names(names, where)
    content = content.rstrip(b"\r\n") + b"\n"  # blank lines at the end are no samples
    texts = ("", *as_text)
    frame = _parse(content, separator, names, rows[0] if header else None, texts, where)
    if frame.height and frame[:, -1].null_count():
        # polars fills lines that are too short with missing numbers
        _check_widths(content, separator, len(names), where)
    return as_numbers(frame, texts, where, notes, missing_values)


def _header_note(where: str, header: bool) -> Caution:
    if header:
        return Caution(
            f"{where}: the first row is taken for names of columns; if it is data, give --header no (header=False)"
        )
    return Caution(
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


def as_numbers(
    frame: Any, as_text: Sequence[str], where: str, notes: tuple[str, ...], missing_values: Sequence[str] = ()
) -> tuple[Any, tuple[str, ...]]:
    """Return the frame with its text columns as numbers where that is what they hold, and missing values as none."""
    import polars as pl

    codes = [code.strip() for code in missing_values]
    frame, notes = _without_codes(frame, as_text, where, notes, codes)
    text = [name for name in frame.columns if name not in as_text and frame[name].dtype == pl.String]
    changed = {name: _plain_number(frame[name]) for name in text}
    commas = {name: frame[name].str.strip_chars() for name in text if changed[name].dtype == pl.String}
    commas = {name: cells for name, cells in commas.items() if _has_decimal_commas(cells)}
    if commas:
        _check_commas(frame, commas, where)
        changed |= {name: _plain_number(cells.str.replace(",", ".", literal=True)) for name, cells in commas.items()}
        notes += (f"{where}: commas in numbers are read as decimal points, as in column {next(iter(commas))!r}",)
    return frame.with_columns(list(changed.values())), notes


def _without_codes(
    frame: Any, as_text: Sequence[str], where: str, notes: tuple[str, ...], codes: Sequence[str]
) -> tuple[Any, tuple[str, ...]]:
    """Return the frame without the codes that stand for missing numbers."""
    import polars as pl

    numbers = [float(code.replace(",", ".")) for code in codes if is_numeric(code) and code.lower() not in MISSING]
    changed, total = [], 0
    for name in frame.columns if codes else ():
        cells = frame[name]
        if name in as_text or not (cells.dtype == pl.String or cells.dtype.is_numeric()):
            continue
        if cells.dtype == pl.String:
            written = cells.str.strip_chars()
            is_code = written.is_in(codes) | written.cast(pl.Float64, strict=False).is_in(numbers).fill_null(False)
        else:
            is_code = cells.cast(pl.Float64).is_in(numbers)
        number = int(is_code.sum() or 0)
        if number:
            total += number
            changed.append(pl.when(is_code.fill_null(False)).then(None).otherwise(pl.col(name)).alias(name))
    if total:
        notes += (f"{where}: {total} cell(s) with one of {', '.join(map(repr, codes))} are missing numbers",)
    return frame.with_columns(changed), notes


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
