"""The door for Dask collections: views aligned by blocks come out as checked ``Views``, one of each block of rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from manyviews.cluster.view_weights import relative_weights, wanted_weights
from manyviews.distributed.parts import Home, Parts, added
from manyviews.distributed.row_blocks import given_form, is_dask, named_block, row_blocks_of
from manyviews.distributed.sample_weights import read_weights, without_weight
from manyviews.linalg.row_sums import RowSum, row_mass, row_sum
from manyviews.linalg.scaling import is_constant
from manyviews.views import Views
from manyviews.views.alignment import check_pair_count
from manyviews.views.cells import check_largest, distinct_keys
from manyviews.views.check import Accepts, check_numbers, cut_views

__all__ = [
    "BlockViews",
    "FitBlocks",
    "ViewSummary",
    "read_blocks",
]

Array = NDArray[Any]


class ViewSummary(NamedTuple):
    """What one view holds, of the rows in which it was observed.

    ``observed`` is their number, ``mass`` (1,) how often they count; ``total`` (d,) are sums of the columns and
    ``filled`` (d,) how often they are not 0, both as often as rows count; ``plain`` (d,) sums with each row once, and
    ``n_filled`` how many numbers are not 0; ``low`` and ``top`` extremes, ``first`` the first row. ``constant`` says
    that all rows are equal; ``dtype`` is that of the numbers.
    """

    observed: int
    mass: RowSum
    total: RowSum
    plain: RowSum
    filled: RowSum
    n_filled: int
    low: Array
    top: Array
    first: Array
    constant: bool
    dtype: Any

    @property
    def n(self) -> float:
        """How many rows there are, each as often as it counts."""
        return float(self.mass.value[0])

    @property
    def mean(self) -> Array:
        """Means of the columns, (d,)."""
        return np.asarray(self.total.value / (self.n or 1.0))

    @property
    def plain_mean(self) -> Array:
        """Means of the columns with each row once, (d,)."""
        return np.asarray(self.plain.value / max(self.observed, 1))


class BlockSummary(NamedTuple):
    """Rows of some blocks, how many of them are in two views, their views, and keys of enough distinct samples."""

    rows: int
    paired: int
    views: tuple[ViewSummary, ...]
    keys: frozenset[Any]


@dataclass(frozen=True)
class BlockViews:
    """Checked views of all blocks; ``head`` are the first rows, ``summaries`` say what each view holds.

    ``counts`` hold how often each sample counts, (b,) a block, 0 or more; None where all count once.
    """

    parts: Parts
    counts: Parts
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
        parts = self.parts.map(_selected, shared=(names,))
        return replace(self, parts=parts, head=self.head.select(names), summaries=chosen)


class FitBlocks(NamedTuple):
    """Views of a fit: of all samples, and of those that count, which are the same where all do."""

    whole: BlockViews
    counted: BlockViews


def read_blocks(model: Any, views: Any, home: Home, sample_weight: Any = None) -> FitBlocks:
    """Check the views of a fit, and let the model remember their names and widths.

    Parameters
    ----------
    model : estimator
        To be fitted.
    views : Dask array or frame, or sequence or mapping of such
        Views whose blocks of rows agree.
    home : Home
        Where blocks are held.
    sample_weight : array-like of shape (n,), or Dask array or series, default=None
        How often each sample counts.

    Returns
    -------
    FitBlocks
        The views.

    Raises
    ------
    ValueError, TypeError
        As ``fit`` of the model does, and where blocks do not agree.
    """
    table = is_dask(views)
    whole, parts, counts = _checked(model, views, home, sample_weight)
    names = [whole.names[v] for v in model._counted]
    head = home.fetch([_delayed(_head)(parts.values[0])])[0]
    by_name = table and model._is_cut_by_name(getattr(views, "_meta", None))
    if table and not by_name:
        model.n_features_in_ = int(whole.shape[1])
    model._remember_views(whole, head, table=table, by_name=by_name)
    found = _summed(parts, counts, model.n_clusters)
    for name, held in zip(names, found.views, strict=True):
        check_largest(name, held.observed, max(-float(held.low.min()), float(held.top.max())), held.dtype)
    if len(names) > 1:
        check_pair_count(names, found.paired, found.rows)
    every = BlockViews(parts, counts, head, found.views)
    used, own = without_weight(parts, counts)
    if used is parts:
        _check_distinct(model.n_clusters, found, found.rows)
        return FitBlocks(every, every)
    told = _summed(used, own, model.n_clusters)
    _check_distinct(model.n_clusters, told, found.rows)
    return FitBlocks(every, BlockViews(used, own, head, told.views))


def _summed(parts: Parts, counts: Parts, k: int) -> BlockSummary:
    found: BlockSummary = parts.total(_summary, counts, shared=(k,), combine=_merged)
    return found


def _checked(model: Any, views: Any, home: Home, sample_weight: Any) -> tuple[Views, Parts, Parts]:
    """Return the first row of all views as given, the blocks that have rows, and how often these count.

    Blocks hold the checked views that count.
    """
    found, check = row_blocks_of(views), _delayed(_block)
    settings = (found.names, model.views, model.view_weights, model._accepts()._replace(sparse=False))
    pairs = Parts(home.hold([check(i, *settings, *parts) for i, parts in enumerate(found.blocks)]), home)
    sizes = np.array(pairs.gather(_row_count), dtype=np.int64)
    if not sizes.any():
        raise ValueError("Found 0 sample(s) (the views have no rows) while a minimum of 1 is required.")
    used = np.flatnonzero(sizes)
    counts = read_weights(sample_weight, sizes, home)
    pairs = Parts(tuple(pairs.values[b] for b in used), home, sizes[used])
    whole = home.fetch([_delayed(_given_row)(pairs.values[0])])[0]
    wanted = wanted_weights(model.view_weights, whole.names)
    model._weights, model._counted = relative_weights(wanted), np.flatnonzero(wanted)
    return whole, pairs.map(_counted_views), counts


def _delayed(function: Any) -> Any:
    from dask import delayed

    return delayed(function, pure=False)


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


def _summary(views: Views, counts: Array | None, k: int) -> BlockSummary:
    paired = int((views.observed.sum(axis=1) > 1).sum())
    held = tuple(_view_summary(X, counts) for X in views.arrays)
    return BlockSummary(len(views), paired, held, frozenset(distinct_keys(views.arrays, k)))


def _view_summary(X: Array, counts: Array | None) -> ViewSummary:
    missing = np.isnan(X[:, 0])
    if missing.any():
        X, counts = X[~missing], None if counts is None else counts[~missing]
    n, d = X.shape
    with np.errstate(over="ignore", invalid="ignore"):  # numbers that large are refused once all are seen
        total, filled = row_sum(X, counts), row_sum(X != 0, counts)
        plain = total if counts is None else row_sum(X)
    numbers = row_mass(n, counts), total, plain, filled, int(np.count_nonzero(X))
    if n == 0:
        return ViewSummary(0, *numbers, np.full(d, np.inf), np.full(d, -np.inf), np.zeros(d), True, X.dtype)
    low, top = X.min(axis=0).astype(np.float64), X.max(axis=0).astype(np.float64)
    return ViewSummary(n, *numbers, low, top, X[0].copy(), is_constant(X), X.dtype)


def _merged(found: list[BlockSummary]) -> BlockSummary:
    columns = zip(*(summary.views for summary in found), strict=True)
    keys: frozenset[Any] = frozenset().union(*(summary.keys for summary in found))
    rows, paired = (sum(counts) for counts in zip(*(summary[:2] for summary in found), strict=True))
    return BlockSummary(rows, paired, tuple(map(_merged_view, columns)), keys)


def _merged_view(found: tuple[ViewSummary, ...]) -> ViewSummary:
    told = [held for held in found if held.observed] or [found[0]]
    firsts = np.stack([held.first for held in told])
    observed, mass, total, plain, filled, n_filled = (added(list(sums)) for sums in list(zip(*found, strict=True))[:6])
    return ViewSummary(
        observed,
        mass,
        total,
        plain,
        filled,
        n_filled,
        np.min([held.low for held in found], axis=0),
        np.max([held.top for held in found], axis=0),
        firsts[0],
        all(held.constant for held in told) and is_constant(firsts),
        found[0].dtype,
    )


def _check_distinct(k: int, found: BlockSummary, n: int) -> None:
    """Refuse fewer distinct samples than clusters, of n that were given, in the words of ``fit``."""
    if k > n:
        raise ValueError(f"n_clusters={k} must lie between 1 and the number of samples, got n_samples={n}")
    if k > len(found.keys):
        raise ValueError(
            f"n_clusters={k} is more than there are distinct samples: {len(found.keys)} of n_samples={n}, and "
            f"identical ones share a cluster; give n_clusters={len(found.keys)} at most, or check that the right "
            "columns were given"
        )
