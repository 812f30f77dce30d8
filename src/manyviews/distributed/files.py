"""Files as Dask collections: parquet, .npy, zarr and separated text, read by blocks where the work is done."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from manyviews.io.choosing import choose
from manyviews.io.files import STORE, file_kind, require_file, table_kind
from manyviews.io.parquet_parts import find_parts
from manyviews.io.stores import open_store
from manyviews.views.stored import check_codecs

__all__ = ["FileBlocks", "open_blocks"]

Array = NDArray[Any]
# bytes of numbers of all views in a block of rows
BLOCK_BYTES = 1 << 26
SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t", ".txt": None}


class FileBlocks(NamedTuple):
    """Views as Dask collections, with delayed ids of the rows of each block where they have some."""

    views: dict[str, Any]
    ids: list[Any] | None

    def id_blocks(self, client: Any) -> Iterator[list[Any]] | None:
        """Return the ids, block by block, or None."""
        return None if self.ids is None else (client.compute(block).result() for block in self.ids)


class _Parquet(NamedTuple):
    """A parquet table: its pieces (file, row group), the rows of each, and the columns that are read."""

    pieces: list[tuple[str, int]]
    heights: list[int]
    columns: list[str]


def open_blocks(
    files: Mapping[str, tuple[str, Sequence[str] | None]],
    *,
    id_column: str | None = None,
    known: Mapping[str, Sequence[str] | None] | None = None,
) -> FileBlocks:
    """Open one file per view without reading its numbers.

    Parameters
    ----------
    files : mapping of str to (path, columns or None)
        Views: a ``.parquet`` file or a folder of such, a ``.npy`` file, a zarr store, or separated text with a header.
        Columns are chosen by name and pattern; of a store of several arrays it is one of them. Workers must find the
        files under the same paths.
    id_column : str, default=None
        Column of ids, of parquet tables, whose rows must come in one order.
    known : mapping of str to (sequence of str or None), default=None
        Columns that a model asks for, which are read of tables in place of all.

    Returns
    -------
    FileBlocks
        Frames, whose blocks are the row groups, where all views are parquet tables with the same; else arrays.

    Raises
    ------
    ValueError
        If a file cannot be read by blocks, or lacks columns.
    """
    tables: dict[str, Any] = {}
    for name, (path, columns) in files.items():
        wanted = (known or {}).get(name) if columns is None else columns
        tables[name] = _open(path, wanted, id_column)
    heights = {tuple(table.heights) for table in tables.values() if isinstance(table, _Parquet)}
    if len(heights) == 1 and all(isinstance(table, _Parquet) for table in tables.values()):
        views = {name: _frame(table, id_column) for name, table in tables.items()}
        ids = None if id_column is None else _ids(next(iter(tables.values())), id_column)
        return FileBlocks(views, ids)
    if id_column is not None:
        raise ValueError(
            f"ids ({id_column!r}) are read by blocks where all views are parquet tables with the same row groups: "
            "leave the ids out, or write the tables alike"
        )
    width = sum(_width(table) for table in tables.values())
    rows = max(1, BLOCK_BYTES // (8 * width))
    return FileBlocks({name: _array(table, rows) for name, table in tables.items()}, None)


def _open(path: str, columns: Sequence[str] | None, id_column: str | None) -> Any:
    place = Path(path)
    if place.suffix.lower() == STORE or (place.is_dir() and table_kind(path) == STORE):
        return _open_store(path, columns)
    if place.is_dir() or place.suffix.lower() == ".parquet":
        return _open_parquet(path, columns, id_column)
    require_file(path)
    kind = file_kind(path)
    if kind == ".npy":
        array = np.load(path, mmap_mode="r", allow_pickle=False)
        if array.ndim != 2:
            raise ValueError(f"{path}: a view must be 2-D (samples × features), got shape {array.shape}")
        if columns is not None:
            raise ValueError(f"{path}: columns of a .npy file have no names; give the file alone")
        return _Rows(path, array.shape, array.dtype)
    if kind in SEPARATORS:
        import dask.dataframe as dd

        frame = dd.read_csv(path, sep=SEPARATORS[kind] or ",", blocksize=BLOCK_BYTES)
        names = list(map(str, frame.columns))
        return frame if columns is None else frame[choose(names, columns, path)]
    raise ValueError(
        f"{path}: files of this kind are not read by blocks; give .parquet, a folder of such, .npy, .zarr or .csv"
    )


class _Rows(NamedTuple):
    """An array of a .npy file, or one of a zarr store, by its name there."""

    path: str
    shape: tuple[int, ...]
    dtype: Any
    array: str = ""

    def read(self, start: int, stop: int) -> Array:
        """Return rows, in the process that needs them."""
        if self.array:
            return np.asarray(open_store(self.path, [self.array])[self.array][start:stop])
        return np.array(np.load(self.path, mmap_mode="r", allow_pickle=False)[start:stop])


def _open_store(path: str, columns: Sequence[str] | None) -> _Rows:
    arrays = {name: array for name, array in open_store(path, columns).items() if len(array.shape) == 2}
    if len(arrays) != 1:
        raise ValueError(
            f"{path} holds {len(arrays)} arrays of two dimensions ({', '.join(arrays)}); name one: {path}:ARRAY"
        )
    (name, array), *_ = arrays.items()
    if columns is not None and name not in columns and not array.path:  # one of a group was chosen, by a pattern too
        raise ValueError(f"{path}: columns of a zarr array have no names; give the store alone")
    check_codecs(array, path)
    return _Rows(path, tuple(array.shape), np.dtype(array.dtype), name)


def _open_parquet(path: str, columns: Sequence[str] | None, id_column: str | None) -> _Parquet:
    from pyarrow import parquet

    files = find_parts(path)
    if not files:
        raise ValueError(f"{path} holds no .parquet files; give a folder of such, a .npy, .zarr or .csv file")
    pieces, heights, names = [], [], None
    for place in files:
        require_file(place)
        try:
            about = parquet.ParquetFile(place)
        except (OSError, ValueError) as error:
            raise ValueError(f"{place} cannot be read as a parquet file: {error}") from error
        own = about.schema_arrow.names
        if names is not None and own != names:
            raise ValueError(f"{place} has other columns than {files[0]}; write all parts of a table alike")
        names = own
        groups = range(about.metadata.num_row_groups)
        pieces += [(str(place), group) for group in groups]
        heights += [about.metadata.row_group(group).num_rows for group in groups]
    assert names is not None
    if id_column is not None and id_column not in names:
        raise ValueError(f"{path} has no column {id_column!r}; --id names the column of ids in every table")
    chosen = [name for name in names if name != id_column] if columns is None else choose(names, columns, path)
    return _Parquet(pieces, heights, chosen)


def _width(table: Any) -> int:
    return len(table.columns) if not isinstance(table, _Rows) else table.shape[1]


def _frame(table: _Parquet, id_column: str | None) -> Any:
    import dask.dataframe as dd

    return dd.from_map(_read_group, table.pieces, columns_=table.columns, id_column=id_column)


def _read_group(piece: tuple[str, int], columns_: list[str], id_column: str | None) -> Any:
    from pyarrow import parquet

    wanted = columns_ if id_column is None else [*columns_, id_column]
    frame = parquet.ParquetFile(piece[0]).read_row_group(piece[1], columns=wanted).to_pandas()
    return frame[columns_] if id_column is None else frame.set_index(id_column)[columns_]


def _ids(table: _Parquet, id_column: str) -> list[Any]:
    from dask import delayed

    return [delayed(_read_ids)(piece, id_column) for piece in table.pieces]


def _read_ids(piece: tuple[str, int], id_column: str) -> list[Any]:
    from pyarrow import parquet

    found: list[Any] = parquet.ParquetFile(piece[0]).read_row_group(piece[1], columns=[id_column])[0].to_pylist()
    return found


def _array(table: Any, rows: int) -> Any:
    if isinstance(table, _Parquet):
        return _frame(table, None).to_dask_array(lengths=table.heights)
    if not isinstance(table, _Rows):
        return table.to_dask_array(lengths=True)
    import dask.array as da
    from dask import delayed

    n, width = table.shape
    starts = range(0, n, rows)
    pieces = [delayed(table.read)(start, start + rows) for start in starts]
    shapes = [(min(rows, n - start), width) for start in starts]
    return da.concatenate(
        [da.from_delayed(piece, shape, table.dtype) for piece, shape in zip(pieces, shapes, strict=True)]
    )
