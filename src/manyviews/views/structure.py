"""Structural checks of multi-view input: two dimensions, equal rows, unique ids, agreeing indexes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from manyviews.views import frames
from manyviews.views.foreign import to_numpy
from manyviews.views.shuffled import shuffled_column
from manyviews.views.stored import is_stored

__all__ = [
    "annotated_orders",
    "as_2d",
    "as_ids",
    "check_observed",
    "check_same_index",
    "check_sample_names",
    "check_sparse_parts",
    "common_length",
    "id_keys",
    "named_2d",
    "names_and_items",
    "observed_rows",
    "telling_index",
]

Array = NDArray[Any]
ROWS_PER_BLOCK = 16_384


def names_and_items(data: Any, names: Sequence[str] | None) -> tuple[tuple[str, ...], list[Any]]:
    """Return the names of the views and the views as given."""
    if isinstance(data, Mapping) and not sparse.issparse(data):
        if names is not None:
            raise ValueError("names= is for sequences; a mapping names its views itself")
        names, items = list(data), list(data.values())
    elif isinstance(data, list | tuple):
        if isinstance(names, str):
            raise TypeError(f"names must be a list of one name per view, got the string {names!r}")
        items = list(data)
        names = [f"view_{i}" for i in range(len(items))] if names is None else list(names)
    else:
        raise TypeError(
            f"Views takes a mapping of names to 2-D arrays or a list of 2-D arrays, got {type(data).__name__}; "
            "for a single table write Views([table])"
        )
    if not items:
        raise ValueError("no view was given (the list of views is empty); give at least one 2-D array")
    if len(names) != len(items):
        raise ValueError(f"{len(names)} names were given for {len(items)} views")
    if not all(isinstance(name, str) for name in names):
        raise TypeError(f"names of views must be strings, got {names!r}")
    if len(set(names)) < len(names):
        raise ValueError(f"names of views must differ, got {list(names)}")
    return tuple(names), items


def as_2d(item: Any, name: str) -> Any:
    """Return a 2-D array or CSR; frames are converted, arrays kept as they are."""
    if frames.is_frame(item):
        return frames.frame_content(item, name).array
    item = frames.plain_matrix(item)
    if sparse.issparse(item):
        if item.ndim != 2:
            raise ValueError(f"view {name!r} must be 2-D (samples × features), got a sparse {item.ndim}-D array")
        if item.format == "csr":
            return item
        check_sparse_parts(item, name)
        return item.tocsr()
    if isinstance(item, np.ma.MaskedArray):
        item = np.ma.filled(item.astype(np.float64), np.nan)
    elif isinstance(item, np.matrix):
        item = np.asarray(item)
    array = _read(item, name)
    _check_dimensions(array, name)
    return array


def _read(item: Any, name: str) -> Any:
    """Return an array; one in a store or file that is refused for its dimensions is not read."""
    if is_stored(item):
        if getattr(item, "shape", None) is None:
            raise TypeError(
                f"view {name!r} is a {type(item).__name__} of {type(item).__module__.partition('.')[0]} without "
                "numbers of its own; give one array of samples × features per view"
            )
        _check_dimensions(item, name)
    try:
        return to_numpy(item, f"view {name!r}")
    except ValueError as error:
        raise ValueError(f"view {name!r} has rows of differing lengths: {error}") from error


def _check_dimensions(array: Any, name: str) -> None:
    if array.ndim == 3:
        raise ValueError(
            f"view {name!r} must be 2-D (samples × features), got a 3-D array of shape {array.shape}; "
            "give one 2-D array per view: list(X) for views on the first axis; of samples × times × variables "
            "X.reshape(len(X), -1) for one view of all, or {f'time {t}': X[:, t] for t in range(X.shape[1])}"
        )
    if array.ndim == 0:
        raise ValueError(
            f"view {name!r} must be 2-D (samples × features), got a single number; give one array of as many rows as "
            "there are samples"
        )
    if array.ndim != 2:
        raise ValueError(
            f"view {name!r} must be 2-D (samples × features), got {array.ndim}-D of shape {array.shape}; "
            "for a view with a single feature write x.reshape(-1, 1)"
        )


def named_2d(item: Any, name: str, encode: Sequence[str] = ()) -> tuple[Any, tuple[str, ...] | None]:
    """Return a view as ``as_2d`` does, its structure checked, and the names of its columns; None for arrays."""
    if frames.is_frame(item):
        array, columns = frames.frame_content(item, name, encode)
    else:
        array, columns = as_2d(item, name), None
    if sparse.issparse(array):
        check_sparse_parts(array, name)
        array = array if array.format == "csr" else array.tocsr()
    return array, columns


def check_sparse_parts(matrix: Any, name: str) -> None:
    """Raise ValueError where the index arrays of a sparse matrix point outside of it.

    SciPy trusts them: compiled code would read foreign memory. It takes one pass over the indices.
    """
    if matrix.format == "coo":
        parts = list(zip((matrix.row, matrix.col), matrix.shape, strict=True))
    elif matrix.format in ("csr", "csc"):
        major, minor = matrix.shape if matrix.format == "csr" else matrix.shape[::-1]
        ends = np.asarray(matrix.indptr)
        stored = min(len(matrix.data), len(matrix.indices))
        if (
            ends.shape != (major + 1,)
            or ends[0] != 0
            or ends[-1] > stored
            or (ends[1:] < ends[:-1]).any()
            or len(matrix.data) != len(matrix.indices)
        ):
            raise ValueError(
                f"view {name!r} is a damaged sparse matrix: its indptr does not go up from 0 to its {stored} entries; "
                "make it again"
            )
        parts = [(matrix.indices, minor)]
    else:
        return
    for indices, size in parts:
        if len(indices) and not 0 <= int(indices.min()) <= int(indices.max()) < size:
            raise ValueError(
                f"view {name!r} is a damaged sparse matrix: its indices go from {int(indices.min())} to "
                f"{int(indices.max())} where they must lie between 0 and {size - 1}; make it again"
            )


def common_length(names: Sequence[str], arrays: Sequence[Any]) -> int:
    """Return the number of samples; raise ValueError with all counts where views differ."""
    lengths = [array.shape[0] for array in arrays]
    if len(set(lengths)) > 1:
        counts = ", ".join(f"{name!r} has {length}" for name, length in zip(names, lengths, strict=True))
        raise ValueError(
            f"all views must have the same samples as rows: {counts}; "
            "match them by id with Views.align({name: (ids, array), ...})"
        )
    return int(lengths[0])


def check_same_index(names: Sequence[str], items: Sequence[Any], *, stated: bool = False) -> None:
    """Raise ValueError where row labels, or columns of ids, differ, rather than match rows by position.

    With ``stated``, ids are given besides, and columns are not looked at.
    """
    tables = {name: item for name, item in zip(names, items, strict=True) if frames.is_frame(item)}
    # of several AnnData the first stands for all, whose rows are matched by name
    annotated = [name for name, item in tables.items() if frames.is_annotated(item)]
    indices = [(name, frames.frame_index(item)) for name, item in tables.items() if name not in annotated[1:]]
    indexed = [(name, index) for name, index in indices if index is not None]
    for name, index in indexed[1:]:
        first_name, first = indexed[0]
        if len(index) == len(first) and not np.array_equal(index, first):
            row = int(np.flatnonzero(index != first)[0])
            raise ValueError(
                f"the indexes of views {first_name!r} and {name!r} differ "
                f"(row {row}: {first[row]!r} and {index[row]!r}); "
                "match the rows with Views.align({name: frame, ...}) or drop the indexes with reset_index(drop=True)"
            )
    by_position = {name: table for name, table in tables.items() if telling_index(table) is None}
    if not stated and len({frames.frame_height(table) for table in by_position.values()}) == 1:
        found = shuffled_column(by_position)
        if found is not None:
            raise ValueError(
                f"column {found.column!r} has the same values in views {found.first!r} and {found.second!r}, in "
                "another order, so that the rows are not of the same samples; match them by it with "
                f"Views.align({{name: (frame[{found.column!r}], frame.drop(columns=[{found.column!r}])), ...}}), or "
                "rename it if it is a measurement"
            )


def annotated_orders(names: Sequence[str], items: Sequence[Any]) -> dict[str, Array]:
    """Return for each AnnData after the first the rows that follow the order of the first by ``obs_names``.

    Raises
    ------
    ValueError
        If names repeat within one, or two do not have the same.
    """
    annotated = {name: item for name, item in zip(names, items, strict=True) if frames.is_annotated(item)}
    orders: dict[str, Array] = {}
    first = ""
    for name, item in annotated.items():
        keys = [str(key) for key in item.obs_names]
        if not first:
            first, wanted = name, keys
        if keys == wanted:
            continue
        place = {key: row for row, key in enumerate(keys)}
        if len(place) < len(keys) or len(set(wanted)) < len(wanted):
            raise ValueError(
                f"obs_names of views {first!r} and {name!r} repeat, so that samples cannot be matched by them; mend "
                "them with adata.obs_names_make_unique()"
            )
        shared = sum(key in place for key in wanted)
        if shared < max(len(wanted), len(keys)):
            raise ValueError(
                f"views {first!r} and {name!r} do not have the same samples: {shared} obs_names are in both, of "
                f"{len(wanted)} and {len(keys)}; keep those with Views.align({{name: adata, ...}}), or all samples "
                "with how='outer'"
            )
        orders[name] = np.array([place[key] for key in wanted], dtype=np.intp)
    return orders


def telling_index(item: Any) -> Array | None:
    """Return the row labels of a frame where they say more than 0, 1, 2, ..."""
    if not frames.is_frame(item) or frames.has_default_index(item):
        return None
    return frames.frame_index(item)


def as_ids(sample_names: Any) -> Array:
    """Return ids as a vector; those of several levels are tuples, and whole objects in it."""
    if getattr(sample_names, "nlevels", 1) > 1 or (
        isinstance(sample_names, list | tuple) and sample_names and all(isinstance(key, tuple) for key in sample_names)
    ):
        keys = list(sample_names)
        ids = np.empty(len(keys), dtype=object)
        ids[:] = keys
        return ids
    return np.asarray(sample_names)


def id_keys(ids: Array) -> list[Any]:
    """Return ids as things to look up; dates stay dates, of which ``tolist`` would make whole numbers."""
    return list(ids) if ids.dtype.kind in "mM" else ids.tolist()


def check_sample_names(sample_names: ArrayLike, n: int) -> Array:
    """Return the ids as an array of shape (n,); raise ValueError where some repeat."""
    ids = as_ids(sample_names)
    if ids.shape != (n,):
        raise ValueError(f"sample_names must have one id per sample, shape ({n},), got shape {ids.shape}")
    keys = id_keys(ids)
    if any(key is None or key != key for key in keys):
        raise ValueError("sample ids must not be missing (None, NaN or NaT); name or drop these samples")
    repeated = [str(key) for key, count in Counter(keys).items() if count > 1]
    if repeated:
        raise ValueError(
            f"sample ids must be unique, {len(repeated)} occur more than once: {repeated[:3]}; "
            "drop or rename the repeated samples"
        )
    return ids


def check_observed(observed: ArrayLike, n: int, n_views: int) -> Array:
    """Return a read-only copy of an observed mask of shape (n, V)."""
    mask = np.array(observed)
    if mask.shape != (n, n_views) or mask.dtype != bool:
        raise ValueError(f"observed must be booleans of shape ({n}, {n_views}), got {mask.dtype} of shape {mask.shape}")
    mask.setflags(write=False)
    return mask


def observed_rows(array: Any) -> Array:
    """Return which rows hold at least one number; a row that is all NaN was not observed."""
    observed = np.ones(array.shape[0], dtype=bool)
    if sparse.issparse(array) or array.dtype.kind != "f" or array.shape[1] == 0:
        return observed
    for start in range(0, array.shape[0], ROWS_PER_BLOCK):
        rows = slice(start, start + ROWS_PER_BLOCK)
        first_column = np.isnan(array[rows, 0])
        if first_column.any():
            observed[rows] = ~(first_column & np.isnan(array[rows]).all(axis=1))
    return observed
