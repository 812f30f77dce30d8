"""A view that is scaled whenever rows of it are read, where a scaled copy would not fit in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["ScaledRows", "is_on_disk"]


def is_on_disk(X: Any) -> bool:
    """Tell whether the rows of a view are read from a file when they are asked for."""
    return isinstance(X, np.memmap)


class ScaledRows:
    """Rows of a dense view under a function of blocks of rows; indexing by rows is all that it can do.

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
