"""Columns that name the samples among the features of tables whose rows are matched by position."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from manyviews.views import frames

__all__ = ["LIKELY_ID", "SharedColumn", "shuffled_column"]

Array = NDArray[Any]
# Names under which the ids of the samples usually hide.
LIKELY_ID = re.compile(r"(.*[_\W])?(id|ids|uid|guid|sample|sampleid|barcode|key)", re.IGNORECASE)


class SharedColumn(NamedTuple):
    """A column that two tables have with the same values in another order: its name and theirs."""

    column: str
    first: str
    second: str


def shuffled_column(tables: Mapping[str, Any]) -> SharedColumn | None:
    """Find a column that shows that the rows of two tables are not those of the same samples.

    Parameters
    ----------
    tables : mapping of str to frame
        Tables with as many rows, by name of view.

    Returns
    -------
    SharedColumn or None
        A column that both have with values that do not repeat, the same ones in another order; for one that is named
        like ids it is enough that most values are the same. Columns of ranks, which share their values within a
        table, are none.
    """
    columns = {view: _positions(table) for view, table in tables.items()}
    views = list(tables)
    for i, first in enumerate(views):
        for second in views[i + 1 :]:
            for name in columns[first].keys() & columns[second].keys():
                pair = [frames.column_values(tables[view], columns[view][name]) for view in (first, second)]
                if _names_rows(*pair, loose=bool(LIKELY_ID.fullmatch(name))) and not _has_ranks(tables[first], pair[0]):
                    return SharedColumn(name, first, second)
    return None


def _positions(table: Any) -> dict[str, int]:
    names = [str(name) for name in frames.frame_columns(table)]
    counts = Counter(names)
    return {name: place for place, name in enumerate(names) if counts[name] == 1}


def _names_rows(one: Array, other: Array, *, loose: bool) -> bool:
    if one.dtype.kind not in "buifOUSM" or one.dtype.kind != other.dtype.kind or one.shape != other.shape:
        return False
    if one.ndim != 1 or one.size < 3 or np.array_equal(one, other):
        return False
    if one.dtype.kind in "buifM" and not loose and (one.min() != other.min() or one.max() != other.max()):
        return False
    try:
        first, second = set(one.tolist()), set(other.tolist())
    except TypeError:  # lists and the like are no ids
        return False
    if len(first) < one.size or len(second) < one.size:
        return False
    whole = one.dtype.kind not in "f" or bool((one == np.floor(one)).all())
    return first == second or (loose and whole and 2 * len(first & second) > one.size)


def _has_ranks(table: Any, values: Array) -> bool:
    """Tell whether another column of the table holds the same values, as ranks and permutations do."""
    own = np.sort(values) if values.dtype.kind in "buif" else None
    if own is None:
        return False
    found = 0
    for position in range(len(frames.frame_columns(table))):
        other = frames.column_values(table, position)
        found += other.dtype.kind == values.dtype.kind and np.array_equal(np.sort(other), own)
        if found > 1:
            return True
    return False
