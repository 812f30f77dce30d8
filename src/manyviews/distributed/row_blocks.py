"""Dask collections as blocks of rows of all views, which must agree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

__all__ = ["RowBlocks", "given_form", "is_dask", "named_block", "row_blocks_of"]


def is_dask(value: Any) -> bool:
    """Tell whether a value is an array or a frame of Dask."""
    return hasattr(value, "__dask_graph__") and hasattr(value, "to_delayed")


class RowBlocks(NamedTuple):
    """Blocks of rows of all views, each a tuple of delayed parts, and how many rows they have where that is known.

    ``names`` are those of the views: an empty tuple for a sequence, None for one table.
    """

    names: tuple[str, ...] | None
    blocks: list[tuple[Any, ...]]
    lengths: tuple[float, ...]


def given_form(names: tuple[str, ...] | None, parts: tuple[Any, ...]) -> Any:
    """Return the parts of a block as the views came: a table, a list or a mapping."""
    if names is None:
        return parts[0]
    return dict(zip(names, parts, strict=True)) if names else list(parts)


def row_blocks_of(views: Any) -> RowBlocks:
    """Return the blocks of rows of Dask collections; raise ValueError or TypeError where they do not agree."""
    names, collections = _named(views)
    aligned = _aligned(collections)
    columns = [_blocks_of(collection) for collection in aligned]
    counts = {name: len(blocks) for name, blocks in zip(names or range(len(columns)), columns, strict=True)}
    if len(set(counts.values())) > 1:
        raise ValueError(f"the views have different numbers of blocks, {counts}: repartition them alike")
    lengths = next((item.chunks[0] for item in aligned if hasattr(item, "chunks")), (np.nan,) * len(columns[0]))
    return RowBlocks(names, list(zip(*columns, strict=True)), lengths)


@contextmanager
def named_block(i: int) -> Iterator[None]:
    """Say in an error which block of the rows it is about."""
    try:
        yield
    except (ValueError, TypeError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"block {i} of the rows: {error}") from error


def _named(views: Any) -> tuple[tuple[str, ...] | None, list[Any]]:
    """Return names, an empty tuple for a sequence and None for one table, and the collections."""
    if is_dask(views):
        return None, [views]
    names, items = (tuple(views), list(views.values())) if isinstance(views, Mapping) else ((), list(views))
    for i, item in enumerate(items):
        if not is_dask(item):
            raise TypeError(
                f"view {names[i] if names else i!r} is a {type(item).__name__}, but others are Dask collections; turn "
                "it into one with dask.array.from_array, in the blocks of rows that the others have"
            )
    return names, items


def _aligned(collections: list[Any]) -> list[Any]:
    """Give arrays the blocks of rows that the first one has, where their lengths are known."""
    arrays = [item for item in collections if hasattr(item, "rechunk")]
    for item in arrays:
        if item.ndim != 2:
            raise ValueError(f"a view must be 2-D (samples × features), got a Dask array of shape {item.shape}")
    lengths = {item.shape[0] for item in arrays if not np.isnan(item.shape[0])}
    if len(lengths) > 1:
        raise ValueError(f"the views have different numbers of samples: {sorted(lengths)}")
    rows = next((item.chunks[0] for item in arrays if not np.isnan(item.shape[0])), None)

    def alike(item: Any) -> Any:
        if not hasattr(item, "rechunk"):
            return item
        known = rows is not None and not np.isnan(item.shape[0])
        return item.rechunk({0: rows, 1: -1} if known else {1: -1})

    return [alike(item) for item in collections]


def _blocks_of(collection: Any) -> list[Any]:
    blocks = collection.to_delayed()
    return list(np.asarray(blocks, dtype=object).ravel())
