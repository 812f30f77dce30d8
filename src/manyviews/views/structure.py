"""Structural checks of multi-view input: two dimensions, equal rows, unique ids, agreeing indexes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from manyviews.views import frames

__all__ = [
    "as_2d",
    "check_observed",
    "check_same_index",
    "check_sample_names",
    "common_length",
    "feature_names",
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
        raise ValueError("no view was given; give at least one 2-D array")
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
        return frames.frame_to_array(item, name)
    if sparse.issparse(item):
        if item.ndim != 2:
            raise ValueError(f"view {name!r} must be 2-D (samples × features), got a sparse {item.ndim}-D array")
        return item if item.format == "csr" else item.tocsr()
    if isinstance(item, np.ma.MaskedArray):
        item = np.ma.filled(item.astype(np.float64), np.nan)
    elif isinstance(item, np.matrix):
        item = np.asarray(item)
    try:
        array = item if isinstance(item, np.ndarray) else np.asarray(item)
    except ValueError as error:
        raise ValueError(f"view {name!r} has rows of differing lengths: {error}") from error
    if array.ndim == 3:
        raise ValueError(
            f"view {name!r} must be 2-D (samples × features), got a 3-D array of shape {array.shape}; "
            "give one 2-D array per view, for instance list(X) for views on the first axis"
        )
    if array.ndim != 2:
        raise ValueError(
            f"view {name!r} must be 2-D (samples × features), got {array.ndim}-D of shape {array.shape}; "
            "for a view with a single feature write x.reshape(-1, 1)"
        )
    return array


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


def check_same_index(names: Sequence[str], items: Sequence[Any]) -> None:
    """Raise ValueError where pandas frames have different row labels, rather than match them by position."""
    pairs = zip(names, items, strict=True)
    indices = [(name, frames.frame_index(item)) for name, item in pairs if frames.is_frame(item)]
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


def telling_index(item: Any) -> Array | None:
    """Return the row labels of a frame where they say more than 0, 1, 2, ..."""
    if not frames.is_frame(item) or frames.has_default_index(item):
        return None
    return frames.frame_index(item)


def feature_names(item: Any) -> tuple[str, ...] | None:
    """Return the column names of a frame; None for arrays."""
    return tuple(map(str, frames.frame_columns(item))) if frames.is_frame(item) else None


def check_sample_names(sample_names: ArrayLike, n: int) -> Array:
    """Return the ids as an array of shape (n,); raise ValueError where some repeat."""
    ids = np.asarray(sample_names)
    if ids.shape != (n,):
        raise ValueError(f"sample_names must have one id per sample, shape ({n},), got shape {ids.shape}")
    if any(key is None or key != key for key in ids.tolist()):
        raise ValueError("sample ids must not be missing (None, NaN or NaT); name or drop these samples")
    repeated = [str(key) for key, count in Counter(ids.tolist()).items() if count > 1]
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
