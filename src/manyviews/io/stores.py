"""Read zarr stores: folders of compressed chunks, of one array or of a group of arrays."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from manyviews.io.arrays import check_named
from manyviews.io.choosing import Caution, choose
from manyviews.io.files import readable, stem
from manyviews.io.machine import check_promise, readable_size
from manyviews.views.mapped import MappedRows
from manyviews.views.stored import arrays_of_group, check_codecs, is_store, numbers_of_store

__all__ = ["open_store", "read_store"]

# what AnnData and MuData call themselves in a store, and what they are to be saved as
_ANNOTATED = {"anndata": ".h5ad", "MuData": ".h5mu"}

# counting those that are stored takes time with each of them
_FEW_CHUNKS = 100_000


def read_store(
    path: str | os.PathLike[str], wanted: Sequence[str] | None = None
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Read the arrays of a zarr store.

    Parameters
    ----------
    path : str or path-like
        The folder.
    wanted : sequence of str, default=None
        Names and patterns of the matrices that are needed, of a group; others are not read.

    Returns
    -------
    tuple of (dict of str to ndarray, tuple of str)
        Arrays by their path in the group, that of a store of one array by the name of the folder; large ones are maps
        of temporary files. And what was decided while reading.

    Raises
    ------
    ValueError
        If zarr is not installed, the folder is no store, it is damaged, or holds an AnnData.
    """
    where, arrays = os.fspath(path), open_store(path, wanted)
    notes: list[str] = []
    found = {}
    for name, array in arrays.items():
        if _plain(array):
            found[name] = _numbers(array, f"{where}: {name}", notes)
        elif len(array.shape) == 2 or len(arrays) == 1:
            raise ValueError(
                f"{where}: {name} holds values of type {array.dtype}; save real numbers instead, or name the arrays "
                f"that are views: --view NAME={where}:ARRAY"
            )
        else:
            notes.append(Caution(f"{where}: {name} is not used: it holds values of type {array.dtype}"))
    return found, tuple(notes)


def open_store(path: str | os.PathLike[str], wanted: Sequence[str] | None = None) -> dict[str, Any]:
    """Return the arrays of a store as ``read_store`` does, as zarr arrays of which nothing is read yet."""
    where = os.fspath(path)
    if not os.path.isdir(path):
        raise ValueError(f"{where}: there is no such folder; a zarr store is a folder")
    try:
        import zarr
    except ImportError as error:
        raise ValueError(f"{where}: zarr stores need zarr: pip install 'manyviews[zarr]'") from error
    with readable(path, "a zarr store"):
        opened: Any = zarr.open(where, mode="r")
        arrays = {stem(path): opened} if is_store(opened) else arrays_of_group(opened)
        kind = _ANNOTATED.get(str(opened.attrs.get("encoding-type", "")))
    if kind is not None and wanted is None:
        raise ValueError(
            f"{where} holds an annotated matrix; save it as {kind}, or name the dense arrays that are meant: "
            f"--view NAME={where}:X"
        )
    if wanted is not None and not is_store(opened):
        check_named({name: tuple(array.shape) for name, array in arrays.items()}, wanted, where)
        matrices = [name for name, array in arrays.items() if len(array.shape) == 2]
        chosen = choose(matrices, wanted, where, "view")
        arrays = {name: array for name, array in arrays.items() if name in chosen or name not in matrices}
    return arrays


def _plain(array: Any) -> bool:
    """Tell numbers and text of fixed or variable length from what cannot be read safely, or is neither."""
    kind = np.dtype(array.dtype).kind
    # zarr 2 has text of any length as objects, which its filter makes of bytes
    return kind in "buifUST" or (kind == "O" and any(_is_text(codec) for codec in array.filters or ()))


def _is_text(codec: Any) -> bool:
    return getattr(codec, "codec_id", None) == "vlen-utf8"


def _numbers(array: Any, where: str, notes: list[str]) -> Any:
    size = np.dtype(array.dtype).itemsize
    # of a matrix a block is held, and chunks are never smaller than that; of all else the whole
    check_promise(float(math.prod(array.chunks)) * size, where, f"chunks of {' × '.join(map(str, array.chunks))}")
    if len(array.shape) != 2:
        check_promise(float(math.prod(array.shape)) * size, where, f"{array.size} numbers")
    check_codecs(array, where)
    with readable(where, "a zarr array"):
        found = numbers_of_store(array, where)
        # chunks of nothing but the fill value need not be stored; those that were lost look the same
        lacking = array.nchunks - array.nchunks_initialized if array.nchunks < _FEW_CHUNKS else 0
    if lacking and found.ndim == 2:
        notes.append(f"{where}: {lacking} of {array.nchunks} chunks are not stored, and count as {array.fill_value}")
    if isinstance(found, MappedRows):
        notes.append(f"{where} is large: its numbers are in a temporary file of {readable_size(found.nbytes)}")
    # NumPy does not find the length itself where it may vary
    return np.array(found.tolist(), dtype=str).reshape(found.shape) if found.dtype.kind in ("O", "T") else found
