"""Read the variables of .mat files of version 7.3, which are HDF5 files."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

import numpy as np
from scipy import sparse

from manyviews.io.files import readable
from manyviews.io.hdf5 import own_item, own_values

__all__ = ["load_variables"]


def load_variables(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the variables of a version 7.3 .mat file as ``scipy.io.loadmat`` would.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    dict of str to (ndarray or CSC)
        Numeric matrices, text, sparse matrices, and cell arrays as arrays of objects; other kinds are left out.

    Raises
    ------
    ValueError
        If h5py is not installed, or the file is damaged.
    """
    try:
        h5py: Any = import_module("h5py")
    except ImportError as error:
        raise ValueError(
            f"{os.fspath(path)} is a MATLAB 7.3 file, which needs h5py: pip install h5py, or save it in MATLAB with "
            "save(..., '-v7')"
        ) from error
    with readable(path, "a MATLAB 7.3 file"), h5py.File(path, "r") as file:
        loaded = {name: _load(own_item(file, name), file) for name in file if not name.startswith("#")}
    return {name: value for name, value in loaded.items() if value is not None}


def _load(item: Any, file: Any) -> Any:
    kind = item.attrs.get("MATLAB_class", b"")
    kind = kind.decode() if isinstance(kind, bytes) else str(kind)
    if "MATLAB_sparse" in item.attrs:
        return _sparse(item)
    if not hasattr(item, "shape"):
        return None
    # MATLAB stores columns first, so HDF5 sees every array transposed.
    values = own_values(item).T
    if kind == "cell":
        cells = np.empty(values.shape, dtype=object)
        for index in np.ndindex(values.shape):
            cells[index] = _load(file[values[index]], file)
        return cells
    if kind == "char":
        return np.array(["".join(map(chr, row)) for row in np.atleast_2d(values)])
    return values if values.dtype.kind in "buif" else None


def _sparse(item: Any) -> Any:
    n_rows, indptr = int(item.attrs["MATLAB_sparse"]), own_values(own_item(item, "jc")).astype(np.int64)
    data = own_values(own_item(item, "data")) if "data" in item else np.zeros(0)
    indices = own_values(own_item(item, "ir")).astype(np.int64) if "ir" in item else np.zeros(0, dtype=np.int64)
    matrix = sparse.csc_matrix((data, indices, indptr), shape=(n_rows, len(indptr) - 1))
    matrix.check_format(full_check=True)
    return matrix
