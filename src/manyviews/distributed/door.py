"""The door for Dask collections: views aligned by blocks come out as checked ``Views``, one of each block of rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from manyviews.cluster.view_weights import relative_weights, wanted_weights
from manyviews.distributed.parts import Home, Parts
from manyviews.linalg.scaling import is_constant, observed_only
from manyviews.views import Views
from manyviews.views.alignment import check_pair_count
from manyviews.views.cells import check_largest, distinct_keys
from manyviews.views.check import Accepts, check_numbers, cut_views

__all__ = [
    "BlockViews",
    "RowBlocks",
    "ViewSummary",
    "given_form",
    "is_dask",
    "named_block",
    "read_blocks",
    "row_blocks_of",
]

Array = NDArray[Any]


class ViewSummary(NamedTuple):
    """What one view holds: observed rows, sums, extremes and numbers other than 0 of its columns, and first row.

    ``constant`` says that all observed rows are equal; ``dtype`` is that of its numbers.
    """

    observed: int
    total: Array
    low: Array
    top: Array
    filled: Array
    first: Array
    constant: bool
    dtype: Any


class BlockSummary(NamedTuple):
    """Rows of some blocks, how many of them are in two views, their views, and keys of enough distinct samples."""

    rows: int
    paired: int
    views: tuple[ViewSummary, ...]
    keys: frozenset[Any]


@dataclass(frozen=True)
class BlockViews:
    """Checked views of all blocks; ``head`` are the first rows, ``summaries`` say what each view holds."""

    parts: Parts
    head: Views
    summaries: tuple[ViewSummary, ...]

    def __len__(self) -> int:
        return self.parts.n_rows

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the views."""
        return self.head.names

    @property
    def constant(self) -> list[str]:
        """Names of the constant views."""
        return [name for name, held in zip(self.head.names, self.summaries, strict=True) if held.constant]

    @property
    def dtype(self) -> Any:
        """Common type of the views."""
        return np.result_type(*(held.dtype for held in self.summaries))

    def select(self, places: list[int]) -> BlockViews:
        """Return some of the views."""
        if places == list(range(len(self.head.names))):
            return self
        names = [self.head.names[v] for v in places]
        chosen = tuple(self.summaries[v] for v in places)
        return BlockViews(self.parts.map(_selected, shared=(names,)), self.head.select(names), chosen)


def read_blocks(model: Any, views: Any, home: Home) -> BlockViews:
    """Check the views of a fit, and let the model remember their names and widths.

    Parameters
    ----------
    model : estimator
        To be fitted.
    views : Dask array or frame, or sequence or mapping of such
        Views whose blocks of rows agree.
    home : Home
        Where blocks are held.

    Returns
    -------
    BlockViews
        The views.

    Raises
    ------
    ValueError, TypeError
        As ``fit`` of the model does, and where blocks do not agree.
    """
    k, table = model.n_clusters, is_dask(views)
    whole, parts = _checked(model, views, home)
    names = [whole.names[v] for v in model._counted]
    found = parts.total(_summary, shared=(k,), combine=_merged)
    head = home.fetch([_delayed(_head)(parts.values[0])])[0]
    by_name = table and model._is_cut_by_name(getattr(views, "_meta", None))
    if table and not by_name:
        model.n_features_in_ = int(whole.shape[1])
    model._remember_views(whole, head, table=table, by_name=by_name)
    for name, held in zip(names, found.views, strict=True):
        check_largest(name, held.observed, max(-float(held.low.min()), float(held.top.max())), held.dtype)
    if len(names) > 1:
        check_pair_count(names, found.paired, found.rows)
    _check_distinct(k, found)
    return BlockViews(parts, head, found.views)


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


def _checked(model: Any, views: Any, home: Home) -> tuple[Views, Parts]:
    """Return the first row of all views as given, and the blocks that have rows, with the checked views that count."""
    found, check = row_blocks_of(views), _delayed(_block)
    settings = (found.names, model.views, model.view_weights, model._accepts()._replace(sparse=False))
    pairs = Parts(home.hold([check(i, *settings, *parts) for i, parts in enumerate(found.blocks)]), home)
    sizes = np.array(pairs.gather(_row_count), dtype=np.int64)
    if not sizes.any():
        raise ValueError("Found 0 sample(s) (the views have no rows) while a minimum of 1 is required.")
    used = np.flatnonzero(sizes)
    pairs = Parts(tuple(pairs.values[b] for b in used), home, sizes[used])
    whole = home.fetch([_delayed(_given_row)(pairs.values[0])])[0]
    wanted = wanted_weights(model.view_weights, whole.names)
    model._weights, model._counted = relative_weights(wanted), np.flatnonzero(wanted)
    return whole, pairs.map(_counted_views)


def _delayed(function: Any) -> Any:
    from dask import delayed

    return delayed(function, pure=False)


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


def _block(
    i: int, names: tuple[str, ...] | None, cut: Any, weights: Any, accepts: Accepts, *parts: Any
) -> tuple[Views, Views]:
    """Return the first row of a block as given, and the checked views that count; those left out may hold anything."""
    with named_block(i):
        whole = cut_views(given_form(names, parts), cut)
    wanted = wanted_weights(weights, whole.names)
    views = whole if wanted.all() else whole.select([whole.names[v] for v in np.flatnonzero(wanted)])
    with named_block(i):
        return whole[:1], check_numbers(views, accepts) if len(views) else views


@contextmanager
def named_block(i: int) -> Iterator[None]:
    """Say in an error which block of the rows it is about."""
    try:
        yield
    except (ValueError, TypeError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"block {i} of the rows: {error}") from error


def _row_count(pair: tuple[Views, Views]) -> int:
    return len(pair[1])


def _given_row(pair: tuple[Views, Views]) -> Views:
    return pair[0]


def _counted_views(pair: tuple[Views, Views]) -> Views:
    return pair[1]


def _head(views: Views) -> Views:
    return views[:1]


def _selected(views: Views, names: list[str]) -> Views:
    return views.select(names)


def _summary(views: Views, k: int) -> BlockSummary:
    paired = int((views.observed.sum(axis=1) > 1).sum())
    held = tuple(map(_view_summary, views.arrays))
    return BlockSummary(len(views), paired, held, frozenset(distinct_keys(views.arrays, k)))


def _view_summary(X: Array) -> ViewSummary:
    X = observed_only(X)
    d = X.shape[1]
    if X.shape[0] == 0:
        none = np.zeros(d)
        return ViewSummary(0, none, np.full(d, np.inf), np.full(d, -np.inf), none, none, True, X.dtype)
    low, top = X.min(axis=0).astype(np.float64), X.max(axis=0).astype(np.float64)
    filled = np.count_nonzero(X, axis=0).astype(np.float64)
    return ViewSummary(
        X.shape[0], X.sum(axis=0, dtype=np.float64), low, top, filled, X[0].copy(), is_constant(X), X.dtype
    )


def _merged(found: list[BlockSummary]) -> BlockSummary:
    columns = zip(*(summary.views for summary in found), strict=True)
    keys: frozenset[Any] = frozenset().union(*(summary.keys for summary in found))
    rows, paired = (sum(counts) for counts in zip(*(summary[:2] for summary in found), strict=True))
    return BlockSummary(rows, paired, tuple(map(_merged_view, columns)), keys)


def _merged_view(found: tuple[ViewSummary, ...]) -> ViewSummary:
    told = [held for held in found if held.observed] or [found[0]]
    firsts = np.stack([held.first for held in told])
    return ViewSummary(
        sum(held.observed for held in found),
        np.sum([held.total for held in found], axis=0),
        np.min([held.low for held in found], axis=0),
        np.max([held.top for held in found], axis=0),
        np.sum([held.filled for held in found], axis=0),
        firsts[0],
        all(held.constant for held in told) and is_constant(firsts),
        found[0].dtype,
    )


def _check_distinct(k: int, found: BlockSummary) -> None:
    """Refuse fewer distinct samples than clusters, in the words of ``fit``."""
    if k > found.rows:
        raise ValueError(f"n_clusters={k} must lie between 1 and the number of samples, got n_samples={found.rows}")
    if k > len(found.keys):
        raise ValueError(
            f"n_clusters={k} is more than there are distinct samples: {len(found.keys)} of n_samples={found.rows}, and "
            f"identical ones share a cluster; give n_clusters={len(found.keys)} at most, or check that the right "
            "columns were given"
        )
