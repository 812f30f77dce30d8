"""The outside of a text table: encoding, line ends, separator, and whether the first row holds names."""

from __future__ import annotations

import codecs
import csv
import io
import itertools
import re
from pathlib import Path

from manyviews.io.files import readable
from manyviews.io.machine import read_bounded

__all__ = ["check_widths", "first_rows", "has_header", "is_number", "is_numeric", "read_text"]

MISSING = ("", "na", "n/a", "nan", "null", "none", "<na>", "#n/a", "?")
_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_BYTES_PER_BLOCK = 1 << 24
_SAMPLE_LINES = 10


def read_text(file: Path, where: str) -> tuple[bytes, tuple[str, ...]]:
    r"""Return the content of a text file as UTF-8 without byte order mark and with ``\n`` or ``\r\n`` as line ends.

    Parameters
    ----------
    file : Path
        An existing file, gzipped if its name says so.
    where : str
        The path as the user gave it, for messages.

    Returns
    -------
    content : bytes
        The text.
    notes : tuple of str
        The encoding, where it was another one.

    Raises
    ------
    ValueError
        If the file is damaged or its text is neither UTF-8 nor UTF-16 or UTF-32 with their marks.
    """
    zipped = file.suffix.lower() == ".gz"
    with readable(where, "a gzip file" if zipped else "a table"):
        # Python's gzip reports a file that was cut short; readers of streams may take it for the end.
        content = read_bounded(file, where)
    encoding = _encoding(content)
    notes: tuple[str, ...] = ()
    if encoding is None:
        _check_utf8(content, where)
    else:
        with readable(where, f"a table of {encoding[:6].upper()} text"):
            content = content.decode(encoding).encode("utf-8")
        if encoding != "utf-8-sig":
            notes = (f"{where} is read as {encoding[:6].upper()} text",)
    if b"\n" not in content:
        content = content.replace(b"\r", b"\n")
    return content, notes


def _encoding(content: bytes) -> str | None:
    """Return the encoding where it is not plain UTF-8; zeros at every other byte tell UTF-16 without a mark."""
    for mark, encoding in _BYTE_ORDER_MARKS:
        if content.startswith(mark):
            return encoding
    head = content[:2000]
    even, odd = head[::2].count(0), head[1::2].count(0)
    if max(even, odd) > len(head) / 4 and min(even, odd) < max(even, odd) / 4:
        return "utf-16-le" if odd > even else "utf-16-be"
    return None


def _check_utf8(content: bytes, where: str) -> None:
    decoder = codecs.getincrementaldecoder("utf-8")()
    for start in range(0, len(content), _BYTES_PER_BLOCK):
        last = start + _BYTES_PER_BLOCK >= len(content)
        try:
            decoder.decode(content[start : start + _BYTES_PER_BLOCK], final=last)
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, start + error.start) + 1
            raise ValueError(f"{where} holds text that is not UTF-8 (line {line}); save it as UTF-8") from error


def first_rows(content: bytes, separator: str) -> list[list[str]]:
    """Return the cells of the first lines; a row that the cut goes through is left out.

    Raises
    ------
    csv.Error
        If the text cannot be a table.
    """
    end = -1
    for _ in range(_SAMPLE_LINES):
        found = content.find(b"\n", end + 1)
        if found < 0:
            end = len(content)
            break
        end = found
    text = content[:end].decode("utf-8")
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator))
    return rows[:-1] if text.count('"') % 2 and len(rows) > 1 else rows


def is_number(cell: str) -> bool:
    """Tell whether a cell is a number or says that one is missing."""
    try:
        float(cell)
    except ValueError:
        return cell.strip().lower() in MISSING
    return True


def has_header(rows: list[list[str]]) -> tuple[bool, bool]:
    """Tell whether the first row holds names, and whether that is certain.

    A row of words holds names and a row of numbers holds none, except 0, 1, 2, ..., which data frames give to unnamed
    columns. In a mixed row a word above numbers is a name; else ascending numbers, such as wavelengths, are names.

    Parameters
    ----------
    rows : list of list of str
        The first rows.

    Returns
    -------
    header, certain : bool
        The verdict, and whether there is no doubt about it.
    """
    first, below = rows[0], [row for row in rows[1:] if len(row) == len(rows[0])]
    words = [j for j, cell in enumerate(first) if cell.strip() and not is_numeric(cell)]
    numbers = [cell for cell in first if cell.strip() and is_numeric(cell)]
    if len(first) > 2 and first == [str(i) for i in range(len(first))]:
        return True, True
    if not numbers:
        return True, True
    if not words:
        return not first[0].strip() and _ascending(numbers), False
    if not below or any(all(is_numeric(row[j]) for row in below) for j in words):
        return True, True
    return _ascending(numbers), False


def is_numeric(cell: str) -> bool:
    """Tell whether a cell is a number, with a decimal comma too, or says that one is missing."""
    return is_number(cell) or _DECIMAL_COMMA.fullmatch(cell.strip()) is not None


def _ascending(cells: list[str]) -> bool:
    """Tell whether numbers count up, or six and more of them ascend, which a row of data hardly does by chance."""
    try:
        steps = [b - a for a, b in itertools.pairwise(float(cell.replace(",", ".")) for cell in cells)]
    except ValueError:
        return False
    return bool(steps) and (all(step == 1 for step in steps) or (len(steps) > 4 and all(step > 0 for step in steps)))


def check_widths(content: bytes, separator: str, width: int, where: str) -> None:
    """Raise ValueError at the first line that is blank or has another number of cells."""
    with io.TextIOWrapper(io.BytesIO(content), encoding="utf-8", newline="") as text:
        reader = csv.reader(text, delimiter=separator)
        for row in reader:
            if len(row) != width and (row or width > 1):
                what = f"has {len(row)} cells where the first line has {width}" if row else "is blank"
                raise ValueError(f"{where}, line {reader.line_num}, {what}; mend or remove the line")
