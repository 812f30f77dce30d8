"""Read .mat files of the shapes that multi-view data sets usually have."""

from __future__ import annotations

import os
import re
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import io as scipy_io
from scipy import sparse

from manyviews.io.arrays import check_matrix
from manyviews.io.choosing import Caution
from manyviews.io.files import readable, require_file, stem
from manyviews.io.labels import LABEL_KEYS, check_labels
from manyviews.io.matlab5 import check_elements

__all__ = ["MatlabViews", "read_matlab"]

# Compared in lower case, in this order.
_VIEWS = ("x", "views", "view", "data", "dataset", "fea", "feas", "feature", "features", "xs", "mv")
_NAMES = ("view_names", "viewnames", "view_name", "names")
_NUMBERED = re.compile(r"(x|view|v|fea|feature|data)_?(\d+)")


class MatlabViews(NamedTuple):
    """Views by name, each of shape (n, d_v), the classes (n,) if the file has some, and what was turned."""

    views: dict[str, Any]
    labels: NDArray[Any] | None
    notes: tuple[str, ...] = ()


def read_matlab(path: str | os.PathLike[str]) -> MatlabViews:
    """Read the views and labels of a .mat file.

    Parameters
    ----------
    path : str or path-like
        A file with a cell array of views (``X``, ``data``, ``fea``, ``views``, ...), or numbered variables
        (``X1``, ``X2``, ...), or one matrix; labels under ``gt``, ``Y``, ``truth``, ``labels`` or ``gnd``. Views may
        be stored as samples × features or transposed: the number of labels decides; without labels, the size that
        all views share.

    Returns
    -------
    MatlabViews
        Views with samples as rows, and labels or None.

    Raises
    ------
    ValueError
        If the file is damaged, no views are found, or their orientation cannot be told.
    """
    variables = _load(path)
    where = os.fspath(path)
    by_lower: dict[str, str] = {}
    for key in variables:
        by_lower.setdefault(key.lower(), key)
    label_key = next((by_lower[key] for key in LABEL_KEYS if key in by_lower), None)
    views = _find_views(variables, by_lower, label_key, where)
    labels = None if label_key is None else _flat_labels(variables[label_key])
    oriented = _orient(views, None if labels is None else len(labels), where)
    n = next(iter(oriented.values())).shape[0]
    turned = [name for name, view in views.items() if view.shape[0] != n]
    notes = (
        (Caution(f"{where}: {', '.join(turned)} are stored with samples as columns and were turned"),) if turned else ()
    )
    return MatlabViews(oriented, None if labels is None else check_labels(labels, n, f"{where}: {label_key}"), notes)


def _load(path: str | os.PathLike[str]) -> dict[str, Any]:
    file = require_file(path)
    with file.open("rb") as stream:
        head = stream.read(520)
    if head.startswith(b"MATLAB 7.3") or b"\x89HDF\r\n" in (head[:6], head[512:518]):
        from manyviews.io.matlab73 import load_variables

        return load_variables(path)
    with readable(path, "a .mat file"):
        check_elements(file)
        try:
            variables = scipy_io.loadmat(str(file))
        except scipy_io.matlab.MatReadError as error:
            raise ValueError(str(error)) from error
    return {key: value for key, value in variables.items() if not key.startswith("__")}


def _find_views(
    variables: dict[str, Any], by_lower: dict[str, str], label_key: str | None, where: str
) -> dict[str, Any]:
    candidates = [by_lower[key] for key in _VIEWS if key in by_lower and by_lower[key] != label_key]
    cells = [key for key in variables if _is_cell_of_views(variables[key]) and key != label_key]
    cell = next((key for key in candidates if key in cells), cells[0] if len(cells) == 1 else None)
    if cell is not None:
        items = variables[cell].ravel()
        return dict(zip(_names(variables, by_lower, len(items)), items, strict=True))
    numbered = sorted((int(m[2]), key) for key in variables if (m := _NUMBERED.fullmatch(key.lower())))
    if len(numbered) > 1:
        return {key: variables[key] for _, key in numbered}
    matrices = [key for key in variables if _is_matrix(variables[key]) and key != label_key]
    if len(matrices) == 1:
        key = matrices[0]
        return {stem(where) if key.lower() in _VIEWS else key: variables[key]}
    raise ValueError(
        f"{where}: no views found among its variables ({', '.join(sorted(variables)[:8]) or 'none'}); store them as "
        "one cell array X, or as X1, X2, ..., and the classes as gt"
    )


def _is_matrix(value: Any) -> bool:
    return sparse.issparse(value) or (
        isinstance(value, np.ndarray) and value.ndim == 2 and value.dtype.kind in "buif" and min(value.shape) > 0
    )


def _is_cell_of_views(value: Any) -> bool:
    is_cell = isinstance(value, np.ndarray) and value.dtype == object and value.size > 0
    return is_cell and all(_is_matrix(item) and min(item.shape) > 0 for item in value.ravel())


def _names(variables: dict[str, Any], by_lower: dict[str, str], n_views: int) -> list[str]:
    for key in _NAMES:
        if key in by_lower:
            entries = np.asarray(variables[by_lower[key]]).ravel().tolist()
            names = ["".join(np.asarray(entry).ravel().astype(str)).strip() for entry in entries]
            if len(names) == n_views == len(set(names)) and all(names):
                return names
    return [f"view_{i}" for i in range(n_views)]


def _flat_labels(value: Any) -> Any:
    """Return the labels as an array; a cell array is taken apart into one text or number per cell."""
    if sparse.issparse(value):
        value = value.toarray()
    value = np.asarray(value)
    if value.dtype == object:
        cells = [np.asarray(cell).ravel() for cell in value.ravel()]
        if all(cell.size == 1 for cell in cells):
            return np.array([cell[0] for cell in cells])
        if cells and all(np.array_equal(cell, cells[0]) for cell in cells):
            return cells[0]  # the same classes stored once per view
    return value.ravel() if 1 in value.shape else value


def _orient(views: dict[str, Any], n_labels: int | None, where: str) -> dict[str, Any]:
    """Return the views with samples as rows: all as they are, all turned, or each so that its side of n is the rows."""
    sides = [set(view.shape) for view in views.values()]
    n = n_labels
    if n is None and len(common := set.intersection(*sides)) > 0:
        tall = [size for size in common if all(view.shape[0] == size for view in views.values())]
        n = tall[0] if tall else max(common)
    if n is None or not all(n in side for side in sides):
        shapes = ", ".join(f"{name} {view.shape[0]}×{view.shape[1]}" for name, view in views.items())
        expected = (
            "one size that all views share" if n_labels is None else f"one side of {n_labels}, as there are labels"
        )
        raise ValueError(
            f"{where}: the views do not fit together ({shapes}; expected {expected}); store samples as rows"
        )
    rows = {name: view if view.shape[0] == n else view.T for name, view in views.items()}
    return {
        name: check_matrix(view if sparse.issparse(view) else np.ascontiguousarray(view), f"{where}: {name}")
        for name, view in rows.items()
    }
