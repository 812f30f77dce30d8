"""Match the rows of several tables by their ids."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manyviews.views import frames
from manyviews.views.structure import as_2d, check_sample_names, feature_names, observed_rows

__all__ = ["Aligned", "align_rows"]

Array = NDArray[Any]


class Aligned(NamedTuple):
    """Tables whose rows belong to the same samples: arrays by name, ids, observed mask, column names."""

    arrays: dict[str, Any]
    ids: Array
    observed: Array
    feature_names: tuple[tuple[str, ...] | None, ...]


def align_rows(data: Mapping[str, Any], how: Literal["inner", "outer"]) -> Aligned:
    """Bring every table to one common list of ids.

    Parameters
    ----------
    data : mapping of str to (pair or frame)
        Name of each view and a pair ``(ids, 2-D)`` or a pandas frame with the ids as index.
    how : {"inner", "outer"}
        Keep the samples that all tables have, or all samples.

    Returns
    -------
    Aligned
        Arrays, ids (n,), observed (n, V) and the column names.

    Raises
    ------
    ValueError
        If ``how`` is unknown, ids repeat within a table, or no sample is left.
    TypeError
        If a table has no ids.
    """
    if how not in ("inner", "outer"):
        raise ValueError(f"how must be 'inner' or 'outer', got {how!r}")
    if not isinstance(data, Mapping) or not data:
        raise TypeError("align takes a mapping of view names to (ids, array) pairs or pandas frames with an index")
    ids, tables = {}, {}
    for name, item in data.items():
        ids[name], tables[name] = _ids_and_table(name, item)
    common = _common_ids(list(ids.values()), how)
    if not common:
        raise ValueError(f"the views {list(data)} have no sample id in common; check that the ids are written alike")
    columns, observed = {}, []
    for name, table in tables.items():
        position = {key: row for row, key in enumerate(ids[name].tolist())}
        rows = np.array([position.get(key, -1) for key in common], dtype=np.intp)
        array = as_2d(table, name)
        columns[name] = _take_rows(array, rows)
        observed.append((rows >= 0) & observed_rows(array)[rows])
    kinds = {array.dtype.kind for array in ids.values()}
    sample_names = np.array(common, dtype=object if len(kinds) > 1 else None)
    return Aligned(columns, sample_names, np.column_stack(observed), tuple(map(feature_names, tables.values())))


def _ids_and_table(name: str, item: Any) -> tuple[Array, Any]:
    if frames.is_frame(item):
        index = frames.frame_index(item)
        if index is None:
            raise TypeError(f"view {name!r} is a table without an index; give it as a pair (ids, table)")
        ids, table = index, item
    elif isinstance(item, tuple) and len(item) == 2:
        ids, table = np.asarray(item[0]), item[1]
    else:
        raise TypeError(f"view {name!r} must be a pair (ids, 2-D array) or a pandas frame with the ids as index")
    n = len(table) if frames.is_frame(table) else as_2d(table, name).shape[0]
    try:
        return check_sample_names(ids, n), table
    except ValueError as error:
        raise ValueError(f"view {name!r}: {error}") from error


def _common_ids(ids: list[Array], how: str) -> list[Any]:
    keys = [array.tolist() for array in ids]
    if how == "outer":
        return list(dict.fromkeys(key for view in keys for key in view))
    shared = set(keys[0]).intersection(*keys[1:])
    return [key for key in keys[0] if key in shared]


def _take_rows(array: Any, rows: Array) -> Any:
    """Take rows; -1 makes an unobserved row: all NaN if dense, empty if sparse."""
    missing = rows < 0
    if not missing.any():
        return array[rows]
    if sparse.issparse(array):
        keep = sparse.csr_array(
            (np.ones(int((~missing).sum()), dtype=array.dtype), (np.flatnonzero(~missing), rows[~missing])),
            shape=(len(rows), array.shape[0]),
        )
        return (keep @ array).tocsr()
    taken = array[rows].astype(array.dtype if array.dtype.kind == "f" else np.float64, copy=False)
    taken[missing] = np.nan
    return taken
