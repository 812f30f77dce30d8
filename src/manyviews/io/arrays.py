"""Read single arrays: .npy (memory-mapped) and Matrix Market."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from scipy import io as scipy_io
from scipy import sparse

from manyviews.io.files import file_kind, readable, require_file

__all__ = ["check_matrix", "read_array"]


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
            array = np.load(file, mmap_mode="r", allow_pickle=False)
    else:
        with readable(path, "a Matrix Market file"):
            array = scipy_io.mmread(str(file))
        array = array.tocsr() if sparse.issparse(array) else np.asarray(array)
    return check_matrix(array, os.fspath(path))


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
    if array.ndim != 2:
        raise ValueError(
            f"{where} holds an array of shape {array.shape}; a view has two dimensions, samples × features "
            "(for a single feature save x.reshape(-1, 1))"
        )
    if array.dtype.kind not in "buif":
        raise ValueError(f"{where} holds values of type {array.dtype}; save real numbers instead")
    if 0 in array.shape:
        raise ValueError(f"{where} has {array.shape[0]} rows and {array.shape[1]} columns; there is nothing to cluster")
    return array.tocsr() if sparse.issparse(array) else array
