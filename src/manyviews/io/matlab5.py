"""Check how a MATLAB 5 file is built before SciPy reads it, whose reader trusts that: damage would end the process.

A file is a header of 128 bytes and elements: a tag of kind and size, then the content; matrices hold elements again.
"""

from __future__ import annotations

import math
import mmap
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

__all__ = ["check_elements"]

HEADER = 128
MATRIX, COMPRESSED = 14, 15
NUMBERS = frozenset((1, 2, 3, 4, 5, 6, 7, 9, 12, 13))
TEXTS = frozenset((16, 17, 18))
CELL, STRUCT, OBJECT, CHAR, SPARSE, LAST_CLASS = 1, 2, 3, 4, 5, 18
NUMERIC = range(6, 16)
# functions and objects of MATLAB, whose content is not looked at
FUNCTION, OPAQUE = 16, 17
COMPLEX = 0x0800
DEEPEST, MOST_DIMENSIONS = 64, 32
DAMAGED = "its structure is damaged"


class MatElement(NamedTuple):
    """Kind of an element, and where its content begins and ends."""

    kind: int
    start: int
    end: int


def check_elements(path: Path) -> None:
    """Raise ValueError where a file is not built as MATLAB 5 files are.

    Parameters
    ----------
    path : Path
        A file that is no MATLAB 7.3 file; one of MATLAB 4, which has no such structure, passes.

    Raises
    ------
    ValueError
        If an element reaches beyond its place, is of no known kind, or is not where its matrix needs it.
    """
    with path.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
        if len(data) < HEADER or 0 in data[:4]:
            return
        order = {b"IM": "<", b"MI": ">"}.get(data[HEADER - 2 : HEADER])
        if order is None:
            raise ValueError(DAMAGED)
        place = HEADER
        while place + 8 <= len(data):
            kind, size = struct.unpack_from(f"{order}II", data, place)
            end = place + 8 + size
            if end > len(data) or kind not in (MATRIX, COMPRESSED):
                raise ValueError(DAMAGED)
            if kind == COMPRESSED:
                content: Any = zlib.decompress(data[place + 8 : end])
                _check_whole(content, order)
            else:
                _check_matrix(data, order, MatElement(kind, place + 8, end), 0)
            place = end


def _check_whole(content: bytes, order: str) -> None:
    """Check what was compressed: one matrix."""
    elements = list(_elements(content, order, MatElement(MATRIX, 0, len(content))))
    if len(elements) != 1 or elements[0].kind != MATRIX:
        raise ValueError(DAMAGED)
    _check_matrix(content, order, elements[0], 0)


def _elements(data: Any, order: str, within: MatElement) -> Iterator[MatElement]:
    """Yield the elements within another one; contents of up to four bytes stand in the tag itself."""
    place = within.start
    while place < within.end:
        if place + 8 > within.end:
            raise ValueError(DAMAGED)
        kind, size = struct.unpack_from(f"{order}II", data, place)
        if kind >> 16:
            kind, size, start, following = kind & 0xFFFF, kind >> 16, place + 4, place + 8
            if size > 4:
                raise ValueError(DAMAGED)
        else:
            start = place + 8
            following = start + size + (-size % 8 if kind != MATRIX else 0)
        if kind not in NUMBERS | TEXTS | {MATRIX} or start + size > within.end:
            raise ValueError(DAMAGED)
        yield MatElement(kind, start, start + size)
        place = following


def _check_matrix(data: Any, order: str, matrix: MatElement, depth: int) -> None:
    if matrix.start == matrix.end:
        return  # an empty matrix
    parts = list(_elements(data, order, matrix))
    if depth > DEEPEST or parts[0].end - parts[0].start != 8 or parts[0].kind not in NUMBERS:
        raise ValueError(DAMAGED)
    flags = struct.unpack_from(f"{order}I", data, parts[0].start)[0]
    kind = flags & 0xFF
    inner = [part for part in parts if part.kind == MATRIX]
    if not 1 <= kind <= LAST_CLASS:
        raise ValueError(DAMAGED)
    if kind not in (FUNCTION, OPAQUE, LAST_CLASS):
        _check_content(data, order, kind, parts, imaginary=bool(flags & COMPLEX))
    for part in inner:
        _check_matrix(data, order, part, depth + 1)


def _check_content(data: Any, order: str, kind: int, parts: list[MatElement], *, imaginary: bool) -> None:
    """Check that a matrix holds what its class and its dimensions need: flags, dimensions, name, then the content."""
    if len(parts) < 3 or any(part.kind not in NUMBERS | TEXTS for part in parts[:3]):
        raise ValueError(DAMAGED)
    sizes = parts[1]
    count = (sizes.end - sizes.start) // 4
    dimensions = struct.unpack_from(f"{order}{count}i", data, sizes.start)
    if not 1 <= count <= MOST_DIMENSIONS or min(dimensions) < 0:
        raise ValueError(DAMAGED)
    cells, content = math.prod(dimensions), parts[3:]
    if kind in (CHAR, SPARSE, *NUMERIC):
        allowed = NUMBERS | TEXTS if kind == CHAR else NUMBERS
        needed = (0 if kind == CHAR else 3 if kind == SPARSE else 1) + (imaginary and kind != CHAR)
        if any(part.kind not in allowed for part in content) or len(content) < needed:
            raise ValueError(DAMAGED)
        return
    wanted, first = cells, 0
    if kind in (STRUCT, OBJECT):
        first = 2 if kind == STRUCT else 3  # the class of an object comes before the fields
        wanted = cells * _field_count(data, order, content[first - 2 : first])
    if len(content) - first != wanted or any(part.kind != MATRIX for part in content[first:]):
        raise ValueError(DAMAGED)


def _field_count(data: Any, order: str, parts: list[MatElement]) -> int:
    """Return the number of fields, given the length of a name and the names."""
    if len(parts) != 2 or parts[0].end - parts[0].start != 4 or any(part.kind == MATRIX for part in parts):
        raise ValueError(DAMAGED)
    length = struct.unpack_from(f"{order}i", data, parts[0].start)[0]
    if length < 1:
        raise ValueError(DAMAGED)
    return int((parts[1].end - parts[1].start) // length)
