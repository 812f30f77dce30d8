"""What one file holds, before its rows are matched with those of other files."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manyviews.io.annotated import Element, read_elements
from manyviews.io.arrays import read_array, without_codes
from manyviews.io.choosing import PartOptions, choose, matches
from manyviews.io.files import (
    ANNOTATED,
    MULTIVIEW,
    STORE,
    TABLES,
    TEXTS,
    file_kind,
    readable,
    require_file,
    stem,
    table_kind,
)
from manyviews.io.labels import check_labels
from manyviews.io.matching import check_unique
from manyviews.io.multiview import read_multiview_file
from manyviews.io.parquet_parts import find_parts
from manyviews.io.tables import Frames, read_columns, read_large_table, read_table
from manyviews.io.tenx import find_matrix, read_cells

__all__ = ["Part", "read_part", "read_parts", "with_ids"]


@dataclass(frozen=True)
class Part:
    """Arrays or frames by view name, and ids, classes and what describes the samples where the file has them.

    ``obs`` names all columns that could describe them.
    """

    path: str
    views: dict[str, Any]
    ids: list[str] | None = None
    truth: NDArray[Any] | None = None
    notes: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    columns: dict[str, tuple[str, ...]] = field(default_factory=dict)
    about: dict[str, NDArray[Any]] = field(default_factory=dict)
    obs: tuple[str, ...] = ()

    def __len__(self) -> int:
        return int(next(iter(self.views.values())).shape[0])

    def take(self, rows: NDArray[np.intp]) -> Part:
        """Return the part with these rows only."""
        return replace(
            self,
            views={name: view[rows] for name, view in self.views.items()},
            ids=None if self.ids is None else [self.ids[row] for row in rows.tolist()],
            truth=None if self.truth is None else self.truth[rows],
            about={name: column[rows] for name, column in self.about.items()},
        )

    def named(self, name: str) -> Part:
        """Return the only view of the file under a name; raise ValueError where there are several."""
        if len(self.views) != 1:
            raise ValueError(
                f"{self.path} holds {len(self.views)} views, but was given as the one view {name!r}; give the file "
                f"alone, or name the one that is meant: --view {name}={self.path}:{next(iter(self.views))}"
            )
        (own, view), *_ = self.views.items()
        return replace(self, views={name: view}, columns={name: self.columns[own]} if own in self.columns else {})

    def names_of(self, view: str) -> tuple[str, ...] | None:
        """Return the names of the columns of a view, where it has some."""
        columns = getattr(self.views[view], "columns", None)
        return self.columns.get(view) if columns is None else tuple(columns)


def read_parts(
    path: str | os.PathLike[str],
    options: PartOptions = PartOptions(),  # noqa: B008 (immutable)
) -> list[Part]:
    """Read one file that is given alone: one part, or one for each matrix of an .h5mu file, whose samples may differ.

    Parameters
    ----------
    path : str or path-like
        As for ``read_part``.
    options : PartOptions
        As for ``read_part``.

    Returns
    -------
    list of Part
        What it holds.
    """
    if os.path.isdir(path) or file_kind(path) not in ANNOTATED:
        return [read_part(path, options)]
    return _read_annotated(path, options)


def read_part(
    path: str | os.PathLike[str],
    options: PartOptions = PartOptions(),  # noqa: B008 (immutable)
    frames: Frames | None = None,
) -> Part:
    """Read one file.

    Parameters
    ----------
    path : str or path-like
        A table, an array, a file with several views, a folder of 10x Genomics, one of .parquet files, or a zarr store.
    options : PartOptions
        Columns of ids, of classes and of features, and so on; see ``read_views``.
    frames : dict, default=None
        Tables that were read before.

    Returns
    -------
    Part
        What it holds.

    Raises
    ------
    ValueError
        If it cannot be read, ids repeat, or an array was to have an id column.
    """
    given = os.fspath(path)
    places = find_matrix(path) if os.path.isdir(path) or ".mtx" in os.path.basename(given).lower() else None
    if places is not None and not options.transpose:
        cells = read_cells(places, stem(path), options.columns)
        check_unique(cells.ids, os.fspath(places[1]))
        return Part(given, cells.views, cells.ids, notes=cells.notes, files=cells.files, columns=cells.columns)
    kind = table_kind(path)
    if os.path.isdir(path) and kind != STORE and not find_parts(path):
        require_file(path)
    if kind in ANNOTATED:
        parts = _read_annotated(path, options)
        whole = replace(parts[0], views={name: view for part in parts for name, view in part.views.items()})
        return parts[0] if len(parts) == 1 else whole
    if kind == ".parquet" and (large := read_large_table(path, options)) is not None:
        table, numbers = large
        name = stem(path)
        columns = {name: tuple(table.features.columns)}
        return Part(given, {name: numbers}, table.ids, table.truth, table.notes, _files(path), columns, table.about)
    if kind in TABLES:
        table = read_table(path, options, frames)
        if table.ids is not None:
            what = "column names" if options.transpose else f"column {options.id_column!r}"
            check_unique(table.ids, f"{given}, {what}")
        views = {stem(path): table.features}
        return Part(given, views, table.ids, table.truth, table.notes, _files(path), about=table.about)
    if options.id_column is not None and not options.has_ids:
        raise ValueError(
            f"{given} has no column {options.id_column!r}, because a {kind} file has no named columns; leave --id "
            "(id_column) out and give the same samples in the same order, list its ids in a file (--ids, ids), or save "
            "the view as a table"
        )
    if kind not in (*MULTIVIEW, STORE):
        array, notes = _cut(read_array(path), options, given)
        return Part(given, {stem(path): array}, notes=notes, files=(given,))
    return _read_multiview(path, options)


def _files(path: str | os.PathLike[str]) -> tuple[str, ...]:
    return tuple(map(os.fspath, find_parts(path))) if os.path.isdir(path) else (os.fspath(path),)


def _read_multiview(path: str | os.PathLike[str], options: PartOptions) -> Part:
    given, file = os.fspath(path), read_multiview_file(path, options.columns)
    views, notes = dict(file.views), file.notes
    # what stands behind the colon are columns, where a store is one array
    single = table_kind(path) == STORE and list(views) == [stem(path)]
    if options.columns is not None and not single:
        views = {name: views[name] for name in choose(list(views), options.columns, given, "view")}
    kept = {name: view for name, view in views.items() if not matches(name, options.drop)}
    cutting = options if single else replace(options, columns=None)
    cut = {name: _cut(view, cutting, given) for name, view in kept.items()}
    if not cut:
        raise ValueError(f"{given} has no view left; its views are {', '.join(map(repr, views))}")
    truth = file.labels if options.truth in (None, "labels") else file.other_labels.get(str(options.truth))
    notes += tuple(dict.fromkeys(note for _, more in cut.values() for note in more))
    return Part(given, {name: view for name, (view, _) in cut.items()}, file.ids, truth, notes, (given,))


def _read_annotated(path: str | os.PathLike[str], options: PartOptions) -> list[Part]:
    given = os.fspath(path)
    if options.transpose:
        raise ValueError(
            f"{given}: the samples of a {file_kind(path)} file are its rows (obs), so leave --transpose (transpose) "
            "out; if they are its columns, save adata.T"
        )
    found, notes = read_elements(path, options.columns, options.id_column)
    kept = [element for element in found if not matches(element.view, options.drop)]
    if not kept:
        raise ValueError(f"{given} has no view left; its views are {', '.join(repr(each.view) for each in found)}")
    parts = [_annotated_part(element, options, given) for element in kept]
    return [replace(parts[0], notes=(*notes, *parts[0].notes)), *parts[1:]]


def _annotated_part(element: Element, options: PartOptions, given: str) -> Part:
    check_unique(element.ids, f"{given}, names of the samples (obs_names_make_unique mends them)")
    array, names = element.array, element.columns
    if names is not None and options.drop:
        left = [i for i, name in enumerate(names) if not matches(name, options.drop)]
        array, names = array[:, left], tuple(names[i] for i in left)
    array, notes = _cut(array, replace(options, columns=None), given)
    column = None if options.truth is None else options.truth.removeprefix("obs:")
    truth = None
    if column is not None and column in element.obs:
        truth = check_labels(element.obs[column], len(element.ids), f"{given}: column {column!r} of obs")
    about = {name: element.obs[name] for name in options.about if name in element.obs}
    columns = {} if names is None else {element.view: names}
    return Part(given, {element.view: array}, element.ids, truth, notes, (given,), columns, about, tuple(element.obs))


def _cut(array: Any, options: PartOptions, where: str) -> tuple[Any, tuple[str, ...]]:
    """Return an array turned, cut to its columns and without codes of missing values, as asked for."""
    notes: tuple[str, ...] = ()
    if options.transpose:
        array = array.T.tocsr() if sparse.issparse(array) else np.ascontiguousarray(array.T)
        notes += (f"{where} is read with its {array.shape[0]} columns as samples",)
    if options.columns is not None:
        names = [str(i) for i in range(array.shape[1])]
        array = array[:, [int(name) for name in choose(names, options.columns, where)]]
    array, number = without_codes(array, options.missing_values)
    if number:
        codes = ", ".join(map(repr, options.missing_values))
        notes += (f"{where}: {number} cell(s) with one of {codes} are missing numbers",)
    return array, notes


def with_ids(part: Part, path: str | os.PathLike[str]) -> Part:
    """Give the rows of a file that has no ids those of a list.

    Parameters
    ----------
    part : Part
        What the file holds.
    path : str or path-like
        One id per row: a .npy file, or a table whose only or first column they are, with or without a header.

    Returns
    -------
    Part
        The same with ids.

    Raises
    ------
    ValueError
        If the list cannot be read, is of another length, or an id is empty or repeats.
    """
    given, n = os.fspath(path), len(part)
    ids = _read_ids(path, None)
    if len(ids) == n - 1 and file_kind(path).startswith(TEXTS):
        ids = _read_ids(path, False)  # a word above words may be a name or an id
    if len(ids) != n:
        raise ValueError(f"{given} lists {len(ids)} ids, but {part.path} has {n} rows")
    if None in ids:
        raise ValueError(f"{given} has no id in row {ids.index(None)}")
    check_unique([str(key) for key in ids], given)
    return replace(part, ids=[str(key) for key in ids], files=(*part.files, given))


def _read_ids(path: str | os.PathLike[str], header: bool | None) -> list[str | None]:
    given = os.fspath(path)
    if file_kind(path) != ".npy":
        return next(iter(read_columns(path, all_text=True, header=header).values()))
    with readable(path, "a .npy file"):
        array = np.load(require_file(path), allow_pickle=False)
    if array.ndim != 1 or array.dtype.kind not in "iuU":
        raise ValueError(f"{given} holds {array.dtype} of shape {array.shape}; a list of ids has one id per sample")
    return list(map(str, array.tolist()))
