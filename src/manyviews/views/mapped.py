"""Views that lie in files: memory maps that give the memory of their pages back once a block of rows has been read."""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np

__all__ = ["MappedRows", "read_from_disk", "release_pages"]

# modes in which nothing is lost with the pages: they are those of the file
_MODES = ("r", "r+")
_FEW_ROWS = 512
_ROWS_PER_BLOCK = 16_384


class MappedRows(np.memmap):
    """A memory map, every part of which is a copy when it is taken, after which no page of the file is held any more.

    The pages of a map that was read from end to end count as memory of the process for as long as the system has room
    for them, so that a view larger than the memory fills all of it. Elsewhere this is an array like any other.
    """

    def __getitem__(self, key: Any) -> Any:
        """Return a part of the map as an array in memory; all of it is no part."""
        if isinstance(key, slice) and key.step not in (None, 1):
            key = np.arange(*key.indices(self.shape[0]))
        if isinstance(key, np.ndarray) and key.dtype.kind in "iu" and key.ndim == 1:
            return self._scattered(key)
        if (
            isinstance(key, tuple)
            and len(key) == self.ndim == 2
            and isinstance(key[0], slice)
            and key[0] == slice(None)
        ):
            return self._columns(key[1])
        part = super().__getitem__(key)
        if not isinstance(part, np.ndarray) or part.size >= self.size:
            return part
        copy = np.array(part, subok=False)
        release_pages(self)
        return copy

    def _columns(self, columns: Any) -> Any:
        """Return some columns of all rows."""
        blocks = []
        for start in range(0, self.shape[0], _ROWS_PER_BLOCK):
            blocks.append(np.array(super().__getitem__((slice(start, start + _ROWS_PER_BLOCK), columns)), subok=False))
            release_pages(self)
        return np.concatenate(blocks)

    def _scattered(self, rows: np.ndarray[Any, Any]) -> Any:
        """Return some rows, few at a time, as each brings the pages around it into memory."""
        copy = np.empty((rows.size, *self.shape[1:]), self.dtype)
        for start in range(0, rows.size, _FEW_ROWS):
            copy[start : start + _FEW_ROWS] = super().__getitem__(rows[start : start + _FEW_ROWS])
            release_pages(self)
        return copy

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        """Return what is computed from the map as a plain array."""
        plain = np.asarray(array)
        return plain[()] if return_scalar or plain.shape == () else plain


def read_from_disk(array: Any) -> Any:
    """Return an array; if it lies in a file that is only read, as one whose parts are read when they are asked for.

    Parameters
    ----------
    array : ndarray or sparse matrix
        A view.

    Returns
    -------
    ndarray or sparse matrix
        The same numbers; a read-only memory map, or an array that lies in one, as a ``MappedRows``.
    """
    if not isinstance(array, np.ndarray) or array.flags.writeable or isinstance(array, MappedRows):
        return array
    return array if _map_of(array) is None else array.view(MappedRows)


def _map_of(array: np.ndarray[Any, Any]) -> mmap.mmap | None:
    """Return the map that an array lies in, if its pages can be given back."""
    base: Any = array
    mode = None
    while isinstance(base, np.ndarray):
        mode, base = getattr(base, "mode", None), base.base
    return base if isinstance(base, mmap.mmap) and mode in _MODES and hasattr(base, "madvise") else None


def release_pages(array: np.ndarray[Any, Any]) -> None:
    """Give the memory of the pages of a map back; the file keeps their content."""
    pages = _map_of(array)
    if pages is not None:
        pages.madvise(mmap.MADV_DONTNEED)
