"""Views in stores of compressed chunks (zarr): their numbers come into memory, or by blocks into a file that is mapped.

A method reads its rows many times and some of them scattered, for which chunks would be decompressed again and again.
So every chunk is decompressed once: a small view is then an array, the numbers of a large one are in a temporary file
without a name, which is gone with the process.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyviews.views.mapped import read_from_disk, release_pages

__all__ = [
    "NumbersOnDisk",
    "arrays_of_group",
    "check_codecs",
    "is_group",
    "is_store",
    "is_stored",
    "numbers_of_store",
    "rows_on_disk",
]

# bytes from which on the numbers of a view are not held, and those of a block of them
LARGE_STORE = 1 << 28
BLOCK_BYTES = 1 << 25


class NumbersOnDisk:
    """A matrix in a temporary file without a name, written block by block and then mapped.

    Parameters
    ----------
    shape : tuple of int
        (n, d).
    dtype : dtype
        Type of the numbers.
    where : str
        What they are, for the message.

    Raises
    ------
    ValueError
        If there is not enough room in the folder for temporary files.
    """

    def __init__(self, shape: tuple[int, int], dtype: Any, where: str) -> None:
        self.shape, self.dtype, self.n_bytes = shape, np.dtype(dtype), shape[0] * shape[1] * np.dtype(dtype).itemsize
        place = tempfile.gettempdir()
        free = shutil.disk_usage(place).free
        if self.n_bytes > free:
            raise _no_room(where, self.n_bytes, place, f"{free / 1e9:.1f} GB left")
        self._stream = tempfile.TemporaryFile(prefix="manyviews-")  # noqa: SIM115 (closed when all is written)
        try:
            # a map into a file without blocks of its own would end the process where the disk is full
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(self._stream.fileno(), 0, self.n_bytes)
        except OSError as error:
            self._stream.close()
            raise _no_room(where, self.n_bytes, place, str(error.strerror)) from error
        self._map: Any = np.memmap(self._stream, dtype=self.dtype, mode="r+", shape=shape)

    def __setitem__(self, place: tuple[slice, slice], block: Any) -> None:
        self._map[place] = block
        release_pages(self._map)

    def mapped(self) -> Any:
        """Return the matrix to read from, which keeps the file that is closed here."""
        self._map.flush()
        with self._stream as stream:
            return read_from_disk(np.memmap(stream, dtype=self.dtype, mode="r", shape=self.shape))


def rows_on_disk(X: Any, rows: NDArray[np.int64], where: str) -> Any:
    """Return some rows of a view that lies in a file, ascending, as a map of a temporary file; ``where`` names them."""
    width = X.shape[1]
    found = NumbersOnDisk((rows.size, width), X.dtype, where)
    size = max(1, BLOCK_BYTES // max(1, width * X.dtype.itemsize))
    for start in range(0, rows.size, size):
        block = slice(start, start + size)
        found[block, slice(0, width)] = X[rows[block]]
    return found.mapped()


def _no_room(where: str, needed: int, place: str, why: str) -> ValueError:
    return ValueError(
        f"{where} needs {needed / 1e9:.1f} GB for its numbers in a temporary file, and {place} has no such room "
        f"({why}); let the environment variable TMPDIR name a folder on a larger disk"
    )


def is_store(item: Any) -> bool:
    """Tell an array of zarr."""
    # of the type: to a group of zarr 2 the arrays in it are attributes, and one may be called chunks
    return _of_zarr(item) and hasattr(type(item), "chunks")


def is_group(item: Any) -> bool:
    """Tell a group of zarr arrays."""
    return _of_zarr(item) and not hasattr(type(item), "chunks") and callable(getattr(type(item), "groups", None))


def is_stored(item: Any) -> bool:
    """Tell an array or group in a store or file, of zarr or h5py, which is a view or none, but no row of a table."""
    return _of_zarr(item) or type(item).__module__.partition(".")[0] == "h5py"


def _of_zarr(item: Any) -> bool:
    return type(item).__module__.partition(".")[0] == "zarr"


def arrays_of_group(group: Any, prefix: str = "") -> dict[str, Any]:
    """Return the zarr arrays of a group and of those in it, by path, in the order of their names."""
    found = {f"{prefix}{name}": array for name, array in sorted(group.arrays(), key=_name)}
    for name, inner in sorted(group.groups(), key=_name):
        found |= arrays_of_group(inner, f"{prefix}{name}/")
    return found


def _name(item: tuple[str, Any]) -> str:
    return item[0]


def numbers_of_store(array: Any, where: str) -> Any:
    """Return the numbers of a zarr array, each chunk of which is read once.

    Parameters
    ----------
    array : zarr.Array
        Any number of dimensions; blocks are made of two.
    where : str
        What it is, for messages.

    Returns
    -------
    ndarray
        The numbers; of a matrix of more than 256 MB a map of a temporary file, whose rows are read when they are asked
        for.

    Raises
    ------
    ValueError
        If there is not enough room for the temporary file, or chunks are pickled, which is never read.
    """
    check_codecs(array, where)
    dtype = np.dtype(array.dtype)
    if len(array.shape) != 2 or dtype.kind not in "buif" or array.size * dtype.itemsize <= LARGE_STORE:
        return np.asarray(array[...])
    # float16 and integers are taken as float64 by every method
    stored = NumbersOnDisk(array.shape, dtype if dtype in (np.float32, np.float64) else np.float64, where)
    for place in _blocks(array.shape, array.chunks, dtype.itemsize):
        stored[place] = array[place]
    return stored.mapped()


def _blocks(shape: tuple[int, int], chunks: tuple[int, int], itemsize: int) -> Iterator[tuple[slice, slice]]:
    """Yield blocks of whole chunks, of few bytes where a chunk is small: of all columns, else of some."""
    (n, d), (rows, columns) = shape, chunks
    if rows * d * itemsize <= BLOCK_BYTES:
        rows, columns = rows * (BLOCK_BYTES // (rows * d * itemsize)), d
    else:
        columns *= max(1, BLOCK_BYTES // (rows * columns * itemsize))
    for start in range(0, n, rows):
        for first in range(0, d, columns):
            yield slice(start, min(start + rows, n)), slice(first, min(first + columns, d))


def check_codecs(array: Any, where: str) -> None:
    """Raise ValueError where chunks of a zarr array are pickled Python objects, which run code when they are read."""
    about: Any = getattr(array, "metadata", None)
    held = about.to_dict() if hasattr(about, "to_dict") else {"filters": (array.filters, array.compressor)}
    # what users wrote about the array is no codec
    if "pickle" in repr({**held, "attributes": {}}).lower():
        raise ValueError(
            f"{where} holds pickled Python objects, which are never loaded because they can run code; save it again as "
            "a numeric array"
        )
