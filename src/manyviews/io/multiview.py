"""Read files that hold all views of a data set: .npz in the uniform layout, .mat, and sparse .npz."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manyviews.io.arrays import check_matrix
from manyviews.io.files import file_kind, readable, require_file, stem
from manyviews.io.labels import check_labels

__all__ = ["MultiviewFile", "read_multiview_file"]

_VIEW_KEY = re.compile(r"view_(\d+)(?:_data)?")
_CSR_PARTS = ("data", "indices", "indptr", "shape")


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
    """

    views: dict[str, Any]
    labels: NDArray[Any] | None = None
    meta: dict[str, Any] = field(default_factory=dict)
    other_labels: dict[str, NDArray[Any]] = field(default_factory=dict)


def read_multiview_file(path: str | os.PathLike[str]) -> MultiviewFile:
    """Read all views of a data set from one file.

    Parameters
    ----------
    path : str or path-like
        A .mat file in one of the field's usual shapes, or an .npz file: the uniform layout (``view_0``,
        ``view_1``, ... or their CSR parts ``view_0_data``, ``_indices``, ``_indptr``, ``_shape``; optionally
        ``labels``, ``view_names`` and ``meta``), one 2-D array, or what ``scipy.sparse.save_npz`` wrote.

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
    file = require_file(path)
    kind = file_kind(path)
    if kind == ".mat":
        from manyviews.io.matlab import read_matlab

        return MultiviewFile(*read_matlab(path))
    if kind != ".npz":
        raise ValueError(f"{os.fspath(path)} holds one view at most; a multi-view file is an .npz or a .mat")
    # The file is opened here, because numpy leaves it open where the archive is damaged.
    with readable(path, "an .npz file"), file.open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
        arrays = {key: archive[key] for key in archive.files}
    return _from_arrays(arrays, os.fspath(path))


def _from_arrays(arrays: Mapping[str, Any], where: str) -> MultiviewFile:
    numbers = {int(match[1]) for match in map(_VIEW_KEY.fullmatch, arrays) if match}
    if numbers:
        return _uniform(arrays, max(numbers) + 1, where)
    if {"format", "shape", "data"} <= arrays.keys():
        with readable(where, "a sparse matrix saved by scipy"):
            matrix = sparse.load_npz(where).tocsr()
        return MultiviewFile({stem(where): check_matrix(matrix, where)})
    tables = [key for key, array in arrays.items() if array.ndim == 2]
    if len(tables) != 1:
        raise ValueError(
            f"{where} holds {len(tables)} two-dimensional arrays ({', '.join(sorted(arrays)[:6]) or 'nothing'}) and "
            "does not follow the multi-view layout; name its arrays view_0, view_1, ... and, for scoring, labels"
        )
    name = stem(where) if tables[0] == "arr_0" else tables[0]
    return _with_extras({name: check_matrix(arrays[tables[0]], where)}, arrays, where)


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
    data, indices, indptr, shape = (arrays[f"{key}_{part}"] for part in _CSR_PARTS)
    with readable(where, f"a multi-view file, because the CSR parts of {key} do not fit together"):
        matrix = sparse.csr_matrix((data, indices, indptr), shape=tuple(int(size) for size in shape.ravel()))
        # The constructor trusts the indices; one out of bounds would read foreign memory later.
        matrix.check_format(full_check=True)
    return check_matrix(matrix, f"{where}: {key}")


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
