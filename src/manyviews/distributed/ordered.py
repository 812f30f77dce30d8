"""Small views over blocks: fitted in the order of samples that a fit in memory gives them, and put back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyviews.cluster.memory import copy_bytes
from manyviews.cluster.sample_weight import first_counted
from manyviews.distributed.door import BlockViews, FitBlocks
from manyviews.distributed.parts import Parts
from manyviews.distributed.row_blocks import is_dask
from manyviews.distributed.sample_weights import are_counted, with_rest
from manyviews.views import Views
from manyviews.views.cells import first_equals
from manyviews.views.order import put_back, sample_order

__all__ = ["fit_in_order"]

Driver = Callable[[Any, BlockViews, np.random.Generator], Parts]


def fit_in_order(model: Any, blocks: FitBlocks, rng: np.random.Generator, driver: Driver) -> Parts:
    """Fit as ``MultiViewClusterer`` does: views of up to 64 MiB in an order of their own, larger ones as they are.

    The client reads those small ones, and sends them to the workers again. Samples that count nothing are labelled by
    the rule for new ones.
    """
    whole, views = blocks
    small = model._moves_samples(len(views) / len(views.head) * sum(map(copy_bytes, views.head.arrays)))
    raw = _moved(model, views, rng, driver) if small else driver(model, views, rng)
    if views is whole:
        return raw
    raw = with_rest(model, whole.parts, whole.counts, raw)
    return _alike(whole, raw) if small else raw


def _moved(model: Any, views: BlockViews, rng: np.random.Generator, driver: Driver) -> Parts:
    """Fit samples in an order of their own, and put back what was found."""
    home, sizes = views.parts.home, views.parts.sizes
    assert sizes is not None
    arrays = _at_client(views)
    first = first_equals(arrays)
    order = sample_order(arrays, first)
    whole = Views(dict(zip(views.names, arrays, strict=True)))
    counts = views.counts
    if are_counted(counts):
        counts = _sent(counts, np.concatenate(home.fetch(counts.values))[order])
    moved = replace(views, parts=_sent(views.parts, whole[order]), counts=counts, head=whole[order[:1]])
    raw = driver(model, moved, rng)
    given = np.argsort(order)
    for name, axes in model._sample_axes.items():
        _restore(model, name, axes, given, sizes)
    return _sent(views.parts, np.concatenate(raw.gather(_as_given))[given][first])


def _at_client(views: BlockViews) -> list[Any]:
    """Return the arrays of all blocks, one of each view."""
    blocks = views.parts.home.fetch(views.parts.values)
    return [np.concatenate(column) for column in zip(*(block.arrays for block in blocks), strict=True)]


def _sent(parts: Parts, values: Any) -> Parts:
    """Cut something that has an entry for each row, and hold it where the blocks of these parts are."""
    assert parts.sizes is not None
    ends = np.cumsum(parts.sizes).tolist()
    pieces = [parts.home.share(values[start:end]) for start, end in zip([0, *ends], ends, strict=False)]
    return replace(parts, values=parts.home.hold(pieces)).map(_only)


def _alike(views: BlockViews, raw: Parts) -> Parts:
    """Give identical samples the label of the first of them that counts, in whatever blocks they are."""
    counts = np.concatenate(views.parts.home.fetch(views.counts.values))
    first = first_counted(first_equals(_at_client(views)), counts)
    return _sent(raw, np.concatenate(raw.gather(_as_given))[first])


def _restore(model: Any, name: str, axes: tuple[int, ...], given: NDArray[np.int64], sizes: Any) -> None:
    """Store what belongs to each sample as the samples were given."""
    import dask.array as da

    found = model.__dict__.get(name)
    if found is None or not is_dask(found):
        return
    value = put_back(found.compute(), axes, given)
    chunks: list[Any] = list(value.shape)
    for axis in axes:
        chunks[axis] = tuple(int(size) for size in sizes)
    model.__dict__[name] = da.from_array(value, chunks=tuple(chunks))


def _only(shared: tuple[Any]) -> Any:
    return shared[0]


def _as_given(labels: NDArray[np.int64]) -> NDArray[np.int64]:
    return labels
