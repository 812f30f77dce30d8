"""Files to Views: picks a reader by suffix, matches rows, finds the classes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyviews.io.arrays import read_array
from manyviews.io.files import MULTIVIEW, TABLES, checksum, file_kind, stem
from manyviews.io.matching import check_same_counts, check_unique, row_orders
from manyviews.io.multiview import read_multiview_file
from manyviews.io.tables import read_table
from manyviews.io.truth import read_truth_file
from manyviews.validation import check_views
from manyviews.views import Views

__all__ = ["LoadedViews", "read_views"]

Path = str | os.PathLike[str]


@dataclass(frozen=True)
class LoadedViews:
    """Views read from files, and what belongs to them.

    Attributes
    ----------
    views : Views
        The views; ``sample_names`` holds the ids where there are some.
    labels : ndarray of shape (n,) or None
        Classes for scoring, int64 or text.
    name : str
        Short name of the data, from the file or the views.
    checksums : dict of str to str
        SHA-256 of every file, by its path as given.
    notes : tuple of str
        What was decided while reading, one sentence each.
    """

    views: Views
    labels: NDArray[Any] | None
    name: str
    checksums: dict[str, str]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class _Part:
    """What one file holds: arrays or frames by view name, and ids and classes where it has them."""

    path: str
    views: dict[str, Any]
    ids: list[str] | None = None
    truth: NDArray[Any] | None = None
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return int(next(iter(self.views.values())).shape[0])

    def take(self, rows: NDArray[np.intp]) -> _Part:
        return replace(
            self,
            views={name: view[rows] for name, view in self.views.items()},
            truth=None if self.truth is None else self.truth[rows],
        )


def read_views(
    sources: Path | Mapping[str, Path], *, id_column: str | None = None, truth: str | None = None
) -> LoadedViews:
    """Read the views of a data set from one file or from one file per view.

    Parameters
    ----------
    sources : path, or mapping of str to path
        One file (a table or array is a single view; .npz and .mat may hold all views), or view names and their
        files in order.
    id_column : str, default=None
        Column of row ids that every table has. Rows are then matched by id, in the order of the first view; every
        view must have the same ids. Without it rows are matched by position.
    truth : str, default=None
        Where the classes are: a column of one of the tables (it is then no feature), the name of a labelling in an
        .npz, or a file with one column. By default the ``labels`` of an .npz or .mat.

    Returns
    -------
    LoadedViews
        Checked views, classes, name, checksums and notes.

    Raises
    ------
    ValueError
        If a file cannot be read, rows do not match, or a cell is not a number. The text names the file and the remedy.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> from manyviews.io import read_views
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     paths = {name: os.path.join(folder, f"{name}.npy") for name in ("image", "text")}
    ...     np.save(paths["image"], np.eye(3))
    ...     np.save(paths["text"], np.ones((3, 2)))
    ...     read_views(paths).views
    Views(3 samples; image: 3, text: 2)
    """
    if isinstance(sources, Mapping):
        if not sources:
            raise ValueError("no file was given; give at least one")
        parts = [_one_view(name, path, id_column, truth) for name, path in sources.items()]
        name = "-".join(list(sources)[:3]) + (f"-and-{len(sources) - 3}-more" if len(sources) > 3 else "")
    else:
        parts = [_read_part(sources, id_column, truth)]
        name = stem(sources)
    parts, notes = _match(parts)
    data = {view: array for part in parts for view, array in part.views.items()}
    views = check_views(Views(data, sample_names=None if parts[0].ids is None else np.array(parts[0].ids)))
    labels, truth_file = _truth(parts, id_column, truth)
    paths = [part.path for part in parts] + ([] if truth_file is None else [truth_file])
    return LoadedViews(views, labels, name, {path: checksum(path) for path in paths}, notes)


def _one_view(name: str, path: Path, id_column: str | None, truth: str | None) -> _Part:
    part = _read_part(path, id_column, truth)
    if len(part.views) != 1:
        raise ValueError(
            f"{part.path} holds {len(part.views)} views, but was given as the one view {name!r}; give the file alone"
        )
    return replace(part, views={name: next(iter(part.views.values()))})


def _read_part(path: Path, id_column: str | None, truth: str | None) -> _Part:
    given, kind = os.fspath(path), file_kind(path)
    if kind in TABLES:
        table = read_table(path, id_column=id_column, truth=truth)
        if table.ids is not None:
            check_unique(table.ids, f"{given}, column {id_column!r}")
        return _Part(given, {stem(path): table.features}, table.ids, table.truth, table.notes)
    if id_column is not None:
        raise ValueError(
            f"{given} has no column {id_column!r}, because a {kind} file has no named columns; leave --id (id_column) "
            "out and give the same samples in the same order, or save the view as a table"
        )
    if kind not in MULTIVIEW:
        return _Part(given, {stem(path): read_array(path)})
    file = read_multiview_file(path)
    return _Part(given, file.views, truth=file.labels if truth in (None, "labels") else file.other_labels.get(truth))


def _match(parts: list[_Part]) -> tuple[list[_Part], tuple[str, ...]]:
    """Return the parts with their rows in one order, and the notes of all."""
    notes = [note for part in parts for note in part.notes]
    names = ["/".join(part.views) for part in parts]
    if any(part.ids is None for part in parts):
        check_same_counts({name: len(part) for name, part in zip(names, parts, strict=True)})
        return parts, tuple(notes)
    orders = row_orders({name: part.ids or [] for name, part in zip(names, parts, strict=True)})
    for i, (name, order) in enumerate(orders.items()):
        if not np.array_equal(order, np.arange(len(order))):
            notes.append(f"view {name!r} has its rows in another order than {names[0]!r}; they were matched by id")
            parts[i] = parts[i].take(order)
    return parts, tuple(notes)


def _truth(parts: list[_Part], id_column: str | None, truth: str | None) -> tuple[NDArray[Any] | None, str | None]:
    """Return the classes and, where they come from a file of their own, its path."""
    found = [(part.path, part.truth) for part in parts if part.truth is not None]
    for path, labels in found[1:]:
        if labels.tolist() != found[0][1].tolist():
            raise ValueError(f"{found[0][0]} and {path} disagree about the classes; keep them in one of the files")
    if found:
        return found[0][1], None
    if truth is None:
        return None, None
    if not os.path.exists(truth):
        raise ValueError(
            f"there is no column, labelling or file {truth!r} to take the classes from in "
            f"{', '.join(part.path for part in parts)}; check the name given to --truth (truth)"
        )
    return read_truth_file(truth, len(parts[0]), parts[0].ids, id_column), truth
