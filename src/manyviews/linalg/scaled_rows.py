"""A view that is scaled whenever rows of it are read, where a scaled copy would not fit in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["RowsSideBySide", "ScaledRows", "is_on_disk"]


def is_on_disk(X: Any) -> bool:
    """Tell whether the rows of a view are read from a file when they are asked for."""
    return isinstance(X, np.memmap)


class ScaledRows:
    """Rows of a dense view under a function of blocks of rows; taking rows is all that it can do.

    Parameters
    ----------
    source : ndarray of shape (n, d)
        The view as given, on disk.
    function : callable
        Takes rows (b, d) and returns them scaled, (b, d').

    Attributes
    ----------
    shape : tuple of int
        (n, d').
    dtype : dtype
        Type of the scaled rows.
    """

    def __init__(self, source: Any, function: Callable[[Any], NDArray[Any]]) -> None:
        self.source = source
        self.function = function
        first = function(source[:1])
        self.shape = (int(source.shape[0]), int(first.shape[1]))
        self.dtype = first.dtype

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Any) -> NDArray[Any]:
        return np.asarray(self.function(np.asarray(self.source[rows])))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.asarray(self[:], dtype=dtype)


class RowsSideBySide:
    """Rows of several dense views next to each other, put together when they are read.

    Parameters
    ----------
    arrays : tuple of array-like of shape (n, d_v)
        Views that are scaled when they are read, or arrays.

    Attributes
    ----------
    shape : tuple of int
        (n, Σ d_v).
    dtype : dtype
        Common type.
    """

    def __init__(self, arrays: tuple[Any, ...]) -> None:
        self.arrays = arrays
        self.shape = (int(arrays[0].shape[0]), sum(int(X.shape[1]) for X in arrays))
        self.dtype = np.result_type(*(X.dtype for X in arrays))

    def __getitem__(self, rows: Any) -> NDArray[Any]:
        return np.hstack([X[rows] for X in self.arrays])
