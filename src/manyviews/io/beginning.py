"""Where in a text the table begins, what separates its cells, and whether row names stand before the columns."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from manyviews.io.choosing import Caution
from manyviews.io.text import first_rows, has_header, is_numeric

__all__ = ["Beginning", "find_beginning"]

SEPARATORS = (";", "\t", ",", "|")
BLANKS = " "
_COMMENT = re.compile(rb"(#|%|//|!)")
_TWO_NUMBERS = re.compile(r"[\d.]+(\s+[+-]?[\d.]+)+")
_MOST_COMMENTS = 10_000
_SAMPLE_LINES = 60


class Beginning(NamedTuple):
    """The table as text, its separator, its first rows, whether the first names all but the first column, and notes."""

    content: bytes
    separator: str
    rows: list[list[str]]
    row_names: bool
    notes: tuple[str, ...]


def find_beginning(content: bytes, where: str, *, kind: str, header: bool | None = None) -> Beginning:
    """Find the table in a text.

    Parameters
    ----------
    content : bytes
        UTF-8 text.
    where : str
        Path, for notes.
    kind : str
        Suffix of the file: tabs come first in ``.tsv`` and ``.tab``, two lines are skipped in ``.gct``.
    header : bool, default=None
        Whether the first row holds names, where that is known.

    Returns
    -------
    Beginning
        Text from the header on; runs of blanks that separate cells are tabs in it.
    """
    content, comments, skipped = _without_comments(content, gct=kind.startswith(".gct"))
    notes: list[str] = []
    lines = _sample(content)
    separator = _stated_separator(lines)
    if separator:
        content, lines = _from_line(content, 1), lines[1:]
    else:
        separator = _find_separator(lines, tabs=kind.startswith((".tsv", ".tab", ".gct")))
    if separator == BLANKS:
        content, separator = _tabs_for_blanks(content), "\t"
        lines, comments = _sample(content), [_tabs_for_blanks(line) for line in comments]
    unmarked = _description(lines, separator)
    if unmarked:
        content = _from_line(content, unmarked)
        notes.append(
            Caution(
                f"{where}: the first {unmarked} line(s) have fewer cells than the table and are left out as its title"
            )
        )
    elif comments and _is_header(comments[-1], lines, separator):
        content = comments[-1].rstrip(b"\r\n") + b"\n" + content
        skipped -= 1
    if skipped:
        notes.append(f"{where}: {skipped} line(s) of comments or blanks before the table are left out")
    rows = first_rows(content, separator)
    row_names = header is not False and _has_row_names(rows, sure=header is True)
    if row_names:
        content = separator.encode() + content
        rows[0] = ["", *rows[0]]
    return Beginning(content, separator, rows, row_names, tuple(notes))


def _from_line(content: bytes, number: int) -> bytes:
    for _ in range(number):
        content = content[content.find(b"\n") + 1 :]
    return content


def _without_comments(content: bytes, *, gct: bool) -> tuple[bytes, list[bytes], int]:
    """Return the text without leading comments and blank lines, the comments, and how many lines were left out."""
    comments: list[bytes] = []
    start, count = 0, 0
    while count < _MOST_COMMENTS:
        end = content.find(b"\n", start) + 1
        line = content[start : end or len(content)]
        if not end or not (_COMMENT.match(line) or not line.strip()):
            break
        if line.strip():
            comments.append(line.lstrip(b"#%! "))
        start, count = end, count + 1
    if gct:  # the version, which is a comment, then the numbers of rows and columns
        start = content.find(b"\n", start) + 1
    if content.startswith(b"!") and (end := content.find(b"\n!", start)) >= 0:
        content = content[: end + 1]  # series of GEO have marked lines at the end too
    return content[start:], comments, 0 if gct else count


def _sample(content: bytes) -> list[str]:
    end = -1
    for _ in range(_SAMPLE_LINES):
        found = content.find(b"\n", end + 1)
        if found < 0:
            end = len(content)
            break
        end = found
    return content[:end].decode("utf-8").splitlines()


def _stated_separator(lines: Sequence[str]) -> str:
    """Return what the first line of Excel's files says: ``sep=;``."""
    found = re.fullmatch(r'"?sep=(.|\\t)"?', lines[0].strip(), re.IGNORECASE) if lines else None
    return found[1].replace("\\t", "\t") if found else ""


def _cells(line: str, separator: str) -> list[str]:
    if separator == BLANKS:
        return next(csv.reader([line.replace("\t", " ").strip()], delimiter=" ", skipinitialspace=True), [])
    return next(csv.reader([line], delimiter=separator), [])


def _rows(lines: Sequence[str], mark: str) -> list[list[str]]:
    """Return the cells of lines; a row that the cut goes through is left out."""
    rows = [row for row in csv.reader([f"{line}\n" for line in lines], delimiter=mark) if row]
    return rows[:-1] if sum(line.count('"') for line in lines) % 2 and len(rows) > 1 else rows


def _find_separator(lines: Sequence[str], *, tabs: bool) -> str:
    """Return the mark that cuts the lines into equal numbers of cells; a semicolon before a comma, blanks last."""
    lines = [line for line in lines if line.strip()]
    if not lines:
        return ","
    if tabs and "\t" in lines[-1]:
        return "\t"
    # a title above the table, or a header with one cell less, must not decide
    for some in (lines, lines[1:], lines[-max(2, len(lines) // 2) :]):
        for mark in SEPARATORS:
            rows = _rows(some, mark)
            if {len(row) for row in rows} - {1} and len({len(row) for row in rows}) == 1 and not _cuts_numbers(rows):
                return mark
    in_use = [mark for mark in (",", ";", "\t", "|") if mark in lines[0]]
    if _are_blanks(lines) or (
        not in_use and len({len(_cells(line, BLANKS)) for line in lines[1:] or lines} - {1}) == 1
    ):
        return BLANKS
    return in_use[0] if in_use else ","


def _cuts_numbers(rows: list[list[str]]) -> bool:
    """Tell whether cells hold several numbers between blanks, as decimal commas leave them."""
    return any(_TWO_NUMBERS.fullmatch(cell.strip()) for row in rows for cell in row[1:])


def _are_blanks(lines: Sequence[str]) -> bool:
    """Tell whether all cells between blanks are numbers, but for the first row and the first column."""
    rows = [_cells(line, BLANKS) for line in lines]
    below = rows[1:] or rows
    if len({len(row) for row in below}) != 1 or len(below[0]) < 2:
        return False
    return all(is_numeric(cell) for row in below for cell in row[1:])


def _tabs_for_blanks(content: bytes) -> bytes:
    if b'"' not in content:
        return re.sub(rb"[ \t]+", b"\t", re.sub(rb"(?m)^[ \t]+|[ \t]+(?=\r?$)", b"", content))
    rows = csv.reader(io.StringIO(content.decode("utf-8").replace("\t", " ")), delimiter=" ", skipinitialspace=True)
    out = io.StringIO()
    csv.writer(out, delimiter="\t", lineterminator="\n").writerows(
        row[:-1] if row[-1:] == [""] else row for row in rows
    )
    return out.getvalue().encode("utf-8")


def _description(lines: Sequence[str], separator: str) -> int:
    """Return how many lines above the table are text with fewer cells, below which a header stands; else 0."""
    rows = [_cells(line, separator) for line in lines]
    if len(rows) < 3 or any(line.count('"') % 2 for line in lines):
        return 0
    width = Counter(map(len, rows)).most_common(1)[0][0]
    start = next(i for i, row in enumerate(rows) if len(row) == width)
    blank = next((i for i, row in enumerate(rows) if not any(row)), len(rows))
    if start < blank < len(rows) - 2 and has_header(rows[blank + 1 :]) == (True, True):
        start, width = blank + 1, len(rows[blank + 1])
    table = rows[start:]
    if not start or width < 2 or len(table) < 2 or any(len(row) != width for row in table if row):
        return 0
    above = [[cell for cell in row if cell.strip()] for row in rows[:start]]
    fewer = start == blank + 1 or all(len(row) < width for row in above)
    return start if fewer and has_header(table)[0] else 0


def _is_header(comment: bytes, lines: Sequence[str], separator: str) -> bool:
    """Tell whether the last comment names the columns: as many words as there are cells below, which are no header."""
    names = [name.strip() for name in _cells(comment.decode("utf-8").strip("\r\n"), separator)]
    rows = [_cells(line, separator) for line in lines[:10]]
    if not rows or len(names) != len(rows[0]) or len(names) < 2 or len(set(names)) < len(names):
        return False
    # samples may be called by numbers, but hardly all columns, the first one too
    return any(map(is_numeric, rows[0])) and not (names[0] and all(map(is_numeric, names)))


def _has_row_names(rows: list[list[str]], *, sure: bool) -> bool:
    """Tell whether every row has one cell more than the first, the first being its name, as R writes tables."""
    if len(rows) < 2 or not rows[0]:
        return False
    below = rows[1:]
    names = [row[0] for row in below if row]
    numbers = any(map(is_numeric, rows[0])) and any(map(is_numeric, names))
    if any(len(row) != len(rows[0]) + 1 for row in below) or (numbers and not sure):
        return False
    return len(set(names)) == len(names) and any(row[-1].strip() for row in below)
