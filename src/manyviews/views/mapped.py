"""Views that lie in files: memory maps that give the memory of their pages back once a block of rows has been read."""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np

__all__ = ["MappedRows", "read_from_disk"]

# modes in which nothing is lost with the pages: they are those of the file
_MODES = ("r", "r+")


class MappedRows(np.memmap):
    """A memory map, every part of which is a copy when it is taken, after which no page of the file is held any more.

    The pages of a map that was read from end to end count as memory of the process for as long as the system has room
    for them, so that a view larger than the memory fills all of it. Elsewhere this is an array like any other.
    """

    def __getitem__(self, key: Any) -> Any:
        """Return a part of the map as an array in memory; all of it is no part."""
        part = super().__getitem__(key)
        if not isinstance(part, np.ndarray) or part.size >= self.size:
            return part
        copy = np.array(part, subok=False)
        _release(self)
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


def _release(array: np.ndarray[Any, Any]) -> None:
    pages = _map_of(array)
    if pages is not None:
        pages.madvise(mmap.MADV_DONTNEED)
