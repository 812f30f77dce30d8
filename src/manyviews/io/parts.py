"""What one file holds, before its rows are matched with those of other files."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyviews.io.arrays import read_array
from manyviews.io.files import MULTIVIEW, TABLES, file_kind, stem
from manyviews.io.matching import check_unique
from manyviews.io.multiview import read_multiview_file
from manyviews.io.tables import read_table

__all__ = ["Part", "read_part"]


@dataclass(frozen=True)
class Part:
    """Arrays or frames by view name, and ids and classes where the file has them."""

    path: str
    views: dict[str, Any]
    ids: list[str] | None = None
    truth: NDArray[Any] | None = None
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return int(next(iter(self.views.values())).shape[0])

    def take(self, rows: NDArray[np.intp]) -> Part:
        """Return the part with these rows only."""
        return replace(
            self,
            views={name: view[rows] for name, view in self.views.items()},
            ids=None if self.ids is None else [self.ids[row] for row in rows.tolist()],
            truth=None if self.truth is None else self.truth[rows],
        )

    def named(self, name: str) -> Part:
        """Return the only view of the file under a name; raise ValueError where there are several."""
        if len(self.views) != 1:
            raise ValueError(
                f"{self.path} holds {len(self.views)} views, but was given as the one view {name!r}; "
                "give the file alone"
            )
        return replace(self, views={name: next(iter(self.views.values()))})


def read_part(
    path: str | os.PathLike[str], id_column: str | None, truth: str | None, header: bool | None = None
) -> Part:
    """Read one file.

    Parameters
    ----------
    path : str or path-like
        A table, an array, or a file with several views.
    id_column, truth : str or None
        Columns of ids and of classes; see ``read_views``.
    header : bool, default=None
        Whether the first row of a text table holds names.

    Returns
    -------
    Part
        What it holds.

    Raises
    ------
    ValueError
        If it cannot be read, ids repeat, or an array was to have an id column.
    """
    given, kind = os.fspath(path), file_kind(path)
    if kind in TABLES:
        table = read_table(path, id_column=id_column, truth=truth, header=header)
        if table.ids is not None:
            check_unique(table.ids, f"{given}, column {id_column!r}")
        return Part(given, {stem(path): table.features}, table.ids, table.truth, table.notes)
    if id_column is not None:
        raise ValueError(
            f"{given} has no column {id_column!r}, because a {kind} file has no named columns; leave --id (id_column) "
            "out and give the same samples in the same order, or save the view as a table"
        )
    if kind not in MULTIVIEW:
        return Part(given, {stem(path): read_array(path)})
    file = read_multiview_file(path)
    return Part(given, file.views, truth=file.labels if truth in (None, "labels") else file.other_labels.get(truth))
