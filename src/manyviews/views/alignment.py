"""Match the rows of several tables by their ids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manyviews.views import frames
from manyviews.views.caller import warn_user
from manyviews.views.structure import as_2d, as_ids, check_sample_names, id_keys, named_2d, observed_rows

__all__ = ["Aligned", "align_rows", "check_paired"]

Array = NDArray[Any]
# Samples in two views, of all: below this share it is said that hardly any view helps another.
FEW_PAIRED = 0.1


class Aligned(NamedTuple):
    """Tables whose rows belong to the same samples: arrays by name, ids, observed mask, column names."""

    arrays: dict[str, Any]
    ids: Array
    observed: Array
    feature_names: tuple[tuple[str, ...] | None, ...]


class _Table(NamedTuple):
    ids: list[Any]
    array: Any
    columns: tuple[str, ...] | None
    kind: Any


def align_rows(
    data: Mapping[str, Any],
    how: Literal["inner", "outer"],
    transpose: Sequence[str] = (),
    encode: Sequence[str] = (),
) -> Aligned:
    """Bring every table to one common list of ids.

    Parameters
    ----------
    data : mapping of str to (pair or frame)
        Name of each view and a pair ``(ids, 2-D)`` or a pandas frame with the ids as index.
    how : {"inner", "outer"}
        Keep the samples that all tables have, or all samples.
    transpose : sequence of str, default=()
        Views with the samples as columns.
    encode : sequence of str, default=()
        Columns of categories to become columns of 0 and 1.

    Returns
    -------
    Aligned
        Arrays, ids (n,), observed (n, V) and the column names.

    Raises
    ------
    ValueError
        If ``how`` is unknown, ids repeat within a table, no sample is left, or none is in two views.
    TypeError
        If a table has no ids.
    """
    if how not in ("inner", "outer"):
        raise ValueError(f"how must be 'inner' or 'outer', got {how!r}")
    if not isinstance(data, Mapping) or not data:
        raise TypeError("align takes a mapping of view names to (ids, array) pairs or pandas frames with an index")
    transpose = [transpose] if isinstance(transpose, str) else list(transpose)
    unknown = [name for name in transpose if name not in data]
    if unknown:
        raise ValueError(f"transpose names the views {unknown}; the views are {list(data)}")
    tables = {name: _table(name, item, name in transpose, encode) for name, item in data.items()}
    common = _common_ids([table.ids for table in tables.values()], how)
    if not common:
        raise ValueError(
            f"the views {list(data)} have no sample id in common; check that the ids are written alike{_turned(tables)}"
        )
    arrays, observed = {}, []
    for name, table in tables.items():
        position = {key: row for row, key in enumerate(table.ids)}
        rows = np.array([position.get(key, -1) for key in common], dtype=np.intp)
        arrays[name] = _take_rows(table.array, rows)
        observed.append((rows >= 0) & observed_rows(table.array)[rows])
    mask = np.column_stack(observed)
    check_paired(list(data), mask, _turned(tables))
    names = _as_array(common, [table.kind for table in tables.values()])
    return Aligned(arrays, names, mask, tuple(table.columns for table in tables.values()))


def check_paired(names: Sequence[str], observed: Array, hint: str = "") -> None:
    """Raise ValueError where no sample is observed in two of several views; warn where hardly one is.

    Parameters
    ----------
    names : sequence of str
        Names of the V views.
    observed : ndarray of shape (n, V) of bool
        Which sample is observed in which view.
    hint : str, default=""
        What else to look at.
    """
    if len(names) < 2:
        return
    check_pair_count(names, int((observed.sum(axis=1) > 1).sum()), len(observed), hint)


def check_pair_count(names: Sequence[str], paired: int, n: int, hint: str = "") -> None:
    """Do what ``check_paired`` does where so many of n samples are observed in two views or more."""
    if paired == 0:
        raise ValueError(
            f"no sample is in two of the views {list(names)}, so nothing ties the groups of one view to those of "
            f"another; check that the ids are written alike{hint}, or cluster each view by itself"
        )
    if paired < FEW_PAIRED * n:
        warn_user(
            f"only {paired} of {n} samples are in two views or more; for the others nothing ties the "
            "groups of one view to those of another",
        )


def _turned(tables: Mapping[str, _Table]) -> str:
    """Say that columns look like samples where the names of columns are ids of another view, or agree throughout."""
    columns = {name: set(table.columns) for name, table in tables.items() if table.columns}
    ids = {name: set(map(str, table.ids)) for name, table in tables.items()}
    turned = [name for name in columns if any(columns[name] & ids[other] for other in ids if other != name)]
    if not turned and len(columns) == len(tables) > 1 and set.intersection(*columns.values()):
        turned = list(columns)
    if not turned:
        return ""
    return f" (samples in columns? the column names of {turned} agree with them: give transpose={turned})"


def _table(name: str, item: Any, turn: bool, encode: Sequence[str]) -> _Table:
    if frames.is_frame(item):
        index = frames.frame_index(item)
        if index is None and not turn:
            raise TypeError(f"view {name!r} is a table without an index; give it as a pair (ids, table)")
        if turn:
            array, columns = named_2d(item, name)
            row_names = range(array.shape[0]) if index is None else index.tolist()
            return _checked(name, np.array(columns), _flipped(array), tuple(map(str, row_names)))
        ids = index
    elif isinstance(item, tuple) and len(item) == 2:
        ids, item = as_ids(item[0]), item[1]
    else:
        raise TypeError(f"view {name!r} must be a pair (ids, 2-D array) or a pandas frame with the ids as index")
    array, columns = named_2d(item, name, encode)
    return _checked(name, ids, _flipped(array), None) if turn else _checked(name, ids, array, columns)


def _flipped(array: Any) -> Any:
    return array.T.tocsr() if sparse.issparse(array) else np.ascontiguousarray(array.T)


def _checked(name: str, ids: Any, array: Any, columns: tuple[str, ...] | None) -> _Table:
    try:
        checked = check_sample_names(ids, array.shape[0])
    except ValueError as error:
        raise ValueError(f"view {name!r}: {error}") from error
    return _Table(id_keys(checked), as_2d(array, name), columns, checked.dtype)


def _common_ids(ids: list[list[Any]], how: str) -> list[Any]:
    if how == "outer":
        return list(dict.fromkeys(key for view in ids for key in view))
    shared = set(ids[0]).intersection(*ids[1:])
    return [key for key in ids[0] if key in shared]


def _as_array(keys: list[Any], kinds: list[Any]) -> Array:
    """Return ids as an array of the type that all views had, else of objects."""
    if len({kind.kind for kind in kinds}) > 1 or any(isinstance(key, tuple) for key in keys):
        array = np.empty(len(keys), dtype=object)
        array[:] = keys
        return array
    return np.array(keys)


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
