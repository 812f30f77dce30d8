"""Read files that hold all views of a data set: .npz in the uniform layout, .mat, sparse .npz, and zarr stores."""

from __future__ import annotations

import json
import math
import os
import re
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manyviews.io.arrays import check_matrix, check_named
from manyviews.io.choosing import Caution
from manyviews.io.files import STORE, file_kind, readable, require_file, stem, table_kind
from manyviews.io.labels import LABEL_KEYS, check_labels
from manyviews.io.machine import check_promise
from manyviews.io.stores import read_store

__all__ = ["MultiviewFile", "read_multiview_file"]

_VIEW_KEY = re.compile(r"view_(\d+)(?:_data)?")
_CSR_PARTS = ("data", "indices", "indptr", "shape")
_ID_KEYS = ("ids", "id", "sample_names", "samples", "sample_ids", "obs_names", "names", "index")


@dataclass(frozen=True)
class MultiviewFile:
    """What a multi-view file holds.

    Attributes
    ----------
    views : dict of str to (ndarray or CSR)
        Name and array of shape (n, d_v) of each view, in the order of the file.
    labels : ndarray of shape (n,) or None
        Classes, for scoring only.
    meta : dict
        The description stored in the file, empty if there is none.
    other_labels : dict of str to ndarray
        Further labellings (``labels_time`` and the like) by their name in the file.
    ids : list of str or None
        Names of the samples.
    notes : tuple of str
        What was decided while reading.
    """

    views: dict[str, Any]
    labels: NDArray[Any] | None = None
    meta: dict[str, Any] = field(default_factory=dict)
    other_labels: dict[str, NDArray[Any]] = field(default_factory=dict)
    ids: list[str] | None = None
    notes: tuple[str, ...] = ()


def read_multiview_file(path: str | os.PathLike[str], wanted: Sequence[str] | None = None) -> MultiviewFile:
    """Read all views of a data set from one file.

    Parameters
    ----------
    path : str or path-like
        A .mat file in one of the field's usual shapes, or an .npz file: the uniform layout (``view_0``,
        ``view_1``, ... or their CSR parts ``view_0_data``, ``_indices``, ``_indptr``, ``_shape``; optionally
        ``labels``, ``view_names`` and ``meta``), what ``scipy.sparse.save_npz`` wrote, or 2-D arrays of any names,
        with classes (``labels``, ``y``, ...) and ids (``ids``, ``sample_names``, ...) of the samples. Or a folder, a
        zarr store: one array, or a group of arrays by path (``rna/counts``), which then counts as an .npz does.
    wanted : sequence of str, default=None
        Views that are needed, by name or pattern; of a store no others are read.

    Returns
    -------
    MultiviewFile
        Views, labels and description; float32 stays float32.

    Raises
    ------
    ValueError
        If the file is missing, damaged, pickled, or of another layout.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> from manyviews.io import read_multiview_file
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "two.npz")
    ...     np.savez(path, view_0=np.eye(3), view_1=np.ones((3, 2)), view_names=["image", "text"])
    ...     list(read_multiview_file(path).views)
    ['image', 'text']
    """
    if table_kind(path) == STORE:
        where, (arrays, notes) = os.fspath(path), read_store(path, wanted)
        if list(arrays) == [stem(path)]:
            return MultiviewFile({stem(path): check_matrix(arrays[stem(path)], where)}, notes=notes)
        found = _from_arrays(arrays, where, wanted)
        return replace(found, notes=(*notes, *found.notes))
    file = require_file(path)
    kind = file_kind(path)
    if kind == ".mat":
        from manyviews.io.matlab import read_matlab

        matlab = read_matlab(path)
        return MultiviewFile(matlab.views, matlab.labels, notes=matlab.notes)
    if kind != ".npz":
        raise ValueError(f"{os.fspath(path)} holds one view at most; a multi-view file is an .npz or a .mat")
    # The file is opened here, because numpy leaves it open where the archive is damaged.
    with readable(path, "an .npz file"), file.open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
        check_archive(archive.zip, os.fspath(path))
        # Members that are no arrays come as bytes.
        arrays = {key: array for key in archive.files if isinstance(array := archive[key], np.ndarray)}
    return _from_arrays(arrays, os.fspath(path), wanted)


def _from_arrays(held: Mapping[str, Any], where: str, wanted: Sequence[str] | None) -> MultiviewFile:
    arrays = {key: _decoded(array) for key, array in held.items()}
    numbers = {int(match[1]) for match in map(_VIEW_KEY.fullmatch, arrays) if match}
    if numbers:
        lacking = min(set(range(len(numbers) + 1)) - numbers)
        if lacking < len(numbers):
            raise ValueError(
                f"{where} has view_{max(numbers)}, but no view_{lacking}; number the views from 0 without gaps"
            )
        return _uniform(arrays, len(numbers), where)
    if {"format", "shape", "data"} <= arrays.keys():
        _check_rows(arrays["shape"], where)
        with readable(where, "a sparse matrix saved by scipy"):
            matrix = sparse.load_npz(where)
            if matrix.format in ("csr", "csc"):
                matrix.check_format(full_check=True)
        return MultiviewFile({stem(where): check_matrix(matrix.tocsr(), where)})
    check_named({key: array.shape for key, array in arrays.items()}, wanted, where)
    return _any_names(arrays, where)


def _decoded(array: NDArray[Any]) -> NDArray[Any]:
    """Return text that is stored as bytes as text."""
    return np.char.decode(array, "utf-8", "replace") if array.dtype.kind == "S" else array


def _any_names(arrays: Mapping[str, Any], where: str) -> MultiviewFile:
    """Take every 2-D array for a view, besides classes and ids by their usual names."""
    arrays = dict(arrays)
    label_key = next((key for key in arrays if key.lower() in LABEL_KEYS), None)
    id_key = next((key for key in arrays if key.lower() in _ID_KEYS and arrays[key].ndim == 1), None)
    extras = {label_key, id_key}
    views: dict[str, Any] = {}
    prefixes = [key.removesuffix("_indptr") for key in arrays if key.endswith("_indptr")]
    for prefix in prefixes:
        if all(f"{prefix}_{part}" in arrays for part in _CSR_PARTS):
            views[prefix] = _from_csr_parts(arrays, prefix, where)
            extras |= {f"{prefix}_{part}" for part in _CSR_PARTS}
    rest = {key: array for key, array in arrays.items() if key not in extras}
    views |= {key: check_matrix(array, f"{where}: {key}") for key, array in rest.items() if array.ndim == 2}
    if not views:
        raise ValueError(
            f"{where} holds no two-dimensional array ({', '.join(sorted(arrays)[:6]) or 'nothing'}); save each view as "
            "an array of samples × features and, for scoring, labels"
        )
    counts = {view.shape[0] for view in views.values()}
    if len(counts) > 1:
        shapes = ", ".join(f"{name!r} {view.shape[0]} × {view.shape[1]}" for name, view in views.items())
        raise ValueError(
            f"{where} holds {len(views)} two-dimensional arrays with different numbers of rows ({shapes}); save the "
            "same samples as rows of each, or name the arrays that are views: --view NAME=FILE:ARRAY"
        )
    n, left_out = counts.pop(), [key for key in rest if key not in views and key not in ("meta", "view_names")]
    ids = None if id_key is None or arrays[id_key].shape != (n,) else list(map(str, arrays[id_key].tolist()))
    left_out = [key for key in left_out if not key.startswith("labels_")]
    notes: tuple[str, ...] = ()
    if len(views) > 1:
        notes += (f"{where}: the arrays {', '.join(map(repr, views))} are taken for views",)
    if left_out:
        notes += (Caution(f"{where}: {', '.join(map(repr, left_out[:6]))} are not used: views have two dimensions"),)
    if list(views) == ["arr_0"]:
        views = {stem(where): views["arr_0"]}
    if label_key is not None:
        arrays["labels"] = arrays[label_key]
    return replace(_with_extras(views, arrays, where), ids=ids, notes=notes)


def _check_rows(shape: Any, where: str) -> None:
    """Refuse a sparse matrix whose shape alone would fill the memory, before anything is made of it."""
    sizes = [int(size) for size in np.ravel(shape)]
    check_promise(8.0 * sum(sizes), where, " × ".join(map(str, sizes)) + " cells")


def _uniform(arrays: Mapping[str, Any], n_views: int, where: str) -> MultiviewFile:
    names = _view_names(arrays, n_views, where)
    views = {name: _uniform_view(arrays, i, where) for i, name in enumerate(names)}
    counts = {view.shape[0] for view in views.values()}
    if len(counts) > 1:
        shapes = ", ".join(f"{name!r} {view.shape[0]}" for name, view in views.items())
        raise ValueError(f"{where}: the views have different numbers of rows ({shapes}); save the same samples in each")
    return _with_extras(views, arrays, where)


def _view_names(arrays: Mapping[str, Any], n_views: int, where: str) -> list[str]:
    if "view_names" not in arrays:
        return [f"view_{i}" for i in range(n_views)]
    names = [str(name) for name in arrays["view_names"].ravel()]
    if len(names) != n_views or len(set(names)) != n_views or "" in names:
        raise ValueError(f"{where}: view_names must be {n_views} different names, one per view, got {names}")
    return names


def _uniform_view(arrays: Mapping[str, Any], i: int, where: str) -> Any:
    key = f"view_{i}"
    if key in arrays:
        return check_matrix(arrays[key], f"{where}: {key}")
    lacking = [f"{key}_{part}" for part in _CSR_PARTS if f"{key}_{part}" not in arrays]
    if lacking:
        raise ValueError(
            f"{where} lacks {', '.join(lacking)}; save each view as {key} or as its CSR parts "
            f"{', '.join(f'{key}_{part}' for part in _CSR_PARTS)}"
        )
    return _from_csr_parts(arrays, key, where)


def _from_csr_parts(arrays: Mapping[str, Any], key: str, where: str) -> Any:
    data, indices, indptr, shape = (arrays[f"{key}_{part}"] for part in _CSR_PARTS)
    _check_rows(shape, where)
    with readable(where, f"a multi-view file, because the CSR parts of {key} do not fit together"):
        matrix = sparse.csr_matrix((data, indices, indptr), shape=tuple(int(size) for size in shape.ravel()))
        # The constructor trusts the indices; one out of bounds would read foreign memory later.
        matrix.check_format(full_check=True)
    return check_matrix(matrix, f"{where}: {key}")


def check_archive(archive: zipfile.ZipFile, where: str) -> None:
    """Raise ValueError where the members of an .npz file promise more than they hold or memory can take."""
    infos = [info for info in archive.infolist() if info.filename.endswith(".npy")]
    check_promise(float(sum(info.file_size for info in infos)), where, f"{len(infos)} arrays")
    for info in infos:
        with archive.open(info) as stream:
            if stream.read(len(np.lib.format.MAGIC_PREFIX)) != np.lib.format.MAGIC_PREFIX:
                continue  # no array, whatever it is called
            version = tuple(stream.read(2))
            read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            shape, _, dtype = read(stream)
        if not dtype.hasobject and math.prod(shape) * dtype.itemsize > info.file_size:
            raise ValueError(
                f"{where}: {info.filename} says that it has the shape {shape}, more than its {info.file_size} bytes "
                "can hold; it is damaged"
            )


def _with_extras(views: dict[str, Any], arrays: Mapping[str, Any], where: str) -> MultiviewFile:
    n = next(iter(views.values())).shape[0]
    labels = arrays.get("labels")
    others = {key: value for key, value in arrays.items() if key.startswith("labels_") and value.shape == (n,)}
    return MultiviewFile(
        views,
        None if labels is None else check_labels(labels, n, f"{where}: labels"),
        _meta(arrays, where),
        {key: check_labels(value, n, f"{where}: {key}") for key, value in others.items()},
    )


def _meta(arrays: Mapping[str, Any], where: str) -> dict[str, Any]:
    if "meta" not in arrays:
        return {}
    try:
        meta = json.loads(str(arrays["meta"]))
    except ValueError as error:
        raise ValueError(f"{where}: meta is not JSON ({error}); store json.dumps(...) of a mapping") from error
    return meta if isinstance(meta, dict) else {"meta": meta}
