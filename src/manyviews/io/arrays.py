"""Read single arrays: .npy (memory-mapped) and Matrix Market."""

from __future__ import annotations

import io
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import io as scipy_io
from scipy import sparse

from manyviews.io.files import file_kind, readable, require_file
from manyviews.io.machine import check_promise, read_bounded
from manyviews.io.text import is_number
from manyviews.views.mapped import read_from_disk

__all__ = ["check_dimensions", "check_matrix", "check_named", "read_array", "without_codes"]

# of what the lines of a Matrix Market file consist, "nan" and "inf" included
_OF_NUMBERS = b"0123456789+-.eEdDnNaAiIfFtTyY \t\r\n"


def read_array(path: str | os.PathLike[str]) -> Any:
    """Read one view from a .npy, .mtx or .mtx.gz file.

    Parameters
    ----------
    path : str or path-like
        The file. A .npy file is mapped into memory, not copied, and never unpickled.

    Returns
    -------
    ndarray or CSR of shape (n, d)
        The numbers in the dtype of the file.

    Raises
    ------
    ValueError
        If the file is missing, damaged, pickled, or does not hold one two-dimensional numeric array.
    """
    file = require_file(path)
    if file_kind(path) == ".npy":
        with readable(path, "a .npy file"):
            array = read_from_disk(np.load(file, mmap_mode="r", allow_pickle=False))
    else:
        with readable(path, "a Matrix Market file"):
            array = _read_market(file, os.fspath(path))
        array = array.tocsr() if sparse.issparse(array) else np.asarray(array)
    return check_matrix(array, os.fspath(path))


def _read_market(file: Path, where: str) -> Any:
    """Read a Matrix Market file whose header promises no more than the file can hold and memory can take."""
    content = read_bounded(file, where)
    n_rows, n_columns, stored, layout, *_ = scipy_io.mminfo(io.BytesIO(content))
    # an entry takes two bytes at least, with its end of line; that of a sparse matrix has a row and a column too
    if stored * (2 if layout == "array" else 4) > 2 * len(content):
        raise ValueError(
            f"{where} says that it has {n_rows} rows, {n_columns} columns and {stored} entries, more than its "
            f"{len(content)} bytes can hold; it is damaged or cut short"
        )
    check_promise(8.0 * (n_rows + n_columns) + 16.0 * stored, where, f"{n_rows} rows and {n_columns} columns")
    # SciPy's reader looks for the end of a number without end where it meets other signs
    numbers = b"".join(line for line in content.splitlines(keepends=True) if not line.startswith(b"%"))
    if numbers.translate(None, _OF_NUMBERS):
        raise ValueError(f"{where} has signs among its numbers that are none; it is damaged")
    return scipy_io.mmread(io.BytesIO(content))


def without_codes(array: Any, codes: Sequence[str]) -> tuple[Any, int]:
    """Return an array with NaN for the numbers that stand for missing ones, and how many these were."""
    numbers = [float(code) for code in codes if is_number(code) and code.strip()]
    if not numbers:
        return array, 0
    values = array.data if sparse.issparse(array) else array
    found = np.isin(values, numbers)
    if not found.any():
        return array, 0
    if sparse.issparse(array):
        raise ValueError(
            f"{int(found.sum())} entries of a sparse matrix are {codes}, missing numbers; a sparse view has no empty "
            "cells: save it as a dense array"
        )
    array = np.array(array, dtype=array.dtype if array.dtype.kind == "f" else np.float64)
    array[found] = np.nan
    return array, int(found.sum())


def check_dimensions(shape: tuple[int, ...], where: str) -> None:
    """Raise ValueError where an array that is to be a view has not two dimensions."""
    if len(shape) != 2:
        raise ValueError(
            f"{where} holds an array of shape {shape}; a view has two dimensions, samples × features "
            "(for a single feature save x.reshape(-1, 1))"
        )


def check_named(shapes: Mapping[str, tuple[int, ...]], wanted: Sequence[str] | None, where: str) -> None:
    """Raise ValueError where an array of a file that was asked for by its name has not two dimensions."""
    for name in wanted or ():
        if name in shapes:
            check_dimensions(shapes[name], f"{where}: {name}")


def check_matrix(array: Any, where: str) -> Any:
    """Return a 2-D numeric array or CSR matrix with at least one row, or say what is wrong.

    Parameters
    ----------
    array : ndarray or sparse matrix
        What a file held.
    where : str
        File, and where it helps the variable in it, for the message.

    Returns
    -------
    ndarray or CSR
        The same numbers.

    Raises
    ------
    ValueError
        If it is not 2-D, not numeric, or has no rows.
    """
    check_dimensions(array.shape, where)
    if array.dtype.kind not in "buif":
        raise ValueError(f"{where} holds values of type {array.dtype}; save real numbers instead")
    if 0 in array.shape:
        raise ValueError(f"{where} has {array.shape[0]} rows and {array.shape[1]} columns; there is nothing to cluster")
    return array.tocsr() if sparse.issparse(array) else array
