"""Parquet tables in parts, a folder of files, and those too large for memory: their numbers go to a file of their own.

A table of more than a gigabyte is never held whole. Its blocks of rows are read one after the other, each as a small
table would be, and their numbers written to a temporary file without a name, which is mapped into memory and gone with
the process.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from manyviews.io.files import readable, require_file
from manyviews.io.machine import readable_size
from manyviews.io.separated import polars_errors
from manyviews.views.stored import NumbersOnDisk

__all__ = ["ParquetTable", "Stored", "find_parts", "store_numbers"]

# bytes of numbers from which on a table is not held whole, and those of a block of its rows
LARGE_TABLE = 1 << 30
BLOCK_BYTES = 1 << 26


def find_parts(path: str | os.PathLike[str]) -> list[Path]:
    """Return the files that make up a table: those of a folder by number and name, or the one that is given."""
    if not os.path.isdir(path):
        return [Path(path)]
    inside = [
        place for place in Path(path).iterdir() if place.suffix.lower() == ".parquet" and place.name[0] not in "._"
    ]
    return sorted(inside, key=_by_number)


def _by_number(place: Path) -> list[tuple[int, str]]:
    """Return a key that sorts part.2 before part.10."""
    words = re.split(r"(\d+)", place.name)
    return [(int(word), "") if word.isdigit() else (-1, word) for word in words]


class ParquetTable(NamedTuple):
    """The files of a table, with the rows of each, and the names of the columns."""

    files: list[Path]
    heights: list[int]
    columns: list[str]

    @classmethod
    def open(cls, files: list[Path], where: str) -> ParquetTable:
        """Look at the files without reading numbers; raise ValueError where their columns differ."""
        import polars as pl

        heights, schemas = [], []
        for file in files:
            require_file(file)
            with readable(file, "a .parquet file"), polars_errors():
                table = pl.scan_parquet(file, glob=False)
                schemas.append(table.collect_schema())
                heights.append(int(table.select(pl.len()).collect().item()))
            if schemas[-1] != schemas[0]:
                raise ValueError(
                    f"{where}: the columns of {file.name} are not those of {files[0].name}; keep the parts of one "
                    "table in a folder, all with the same columns of the same types"
                )
        return cls(files, heights, list(schemas[0]))

    @property
    def is_large(self) -> bool:
        """Whether the table is not to be held whole."""
        return 8 * sum(self.heights) * len(self.columns) > LARGE_TABLE

    def blocks(self) -> Iterator[Any]:
        """Yield blocks of rows as frames: of a small table one for each file."""
        import polars as pl

        size = max(1, BLOCK_BYTES // (8 * max(1, len(self.columns)))) if self.is_large else max(self.heights)
        for file, height in zip(self.files, self.heights, strict=True):
            for start in range(0, height, size):
                with readable(file, "a .parquet file"), polars_errors():
                    yield pl.scan_parquet(file, glob=False).slice(start, size).collect()


class Stored(NamedTuple):
    """The numbers of a table on disk, (n, d); what its blocks were read as, without the numbers; and where it lies."""

    array: Any
    tables: list[Any]
    note: str


def store_numbers(table: ParquetTable, read: Callable[[Any], Any], where: str) -> Stored:
    """Write the numbers of a table to a temporary file, block by block.

    Parameters
    ----------
    table : ParquetTable
        The files.
    read : callable
        Takes a frame; returns a ``Table``, whose features are numbers of one type.
    where : str
        Path, for messages.

    Returns
    -------
    Stored
        Mapped numbers, and the tables without features.

    Raises
    ------
    ValueError
        If there is not enough room in the folder for temporary files.
    """
    tables: list[Any] = []
    stored: NumbersOnDisk | None = None
    start = 0
    for frame in table.blocks():
        found = read(frame)
        numbers = found.features.to_numpy()
        if stored is None:
            stored = NumbersOnDisk((sum(table.heights), numbers.shape[1]), numbers.dtype, where)
        stored[slice(start, start + len(numbers)), slice(None)] = numbers
        start += len(numbers)
        tables.append(replace(found, features=found.features[:0]))
    assert stored is not None
    size = readable_size(stored.n_bytes)
    note = f"{where} is larger than memory should hold: its numbers are in a temporary file of {size}"
    return Stored(stored.mapped(), tables, note)
