"""Small views over blocks: fitted in the order of samples that a fit in memory gives them, and put back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyviews.cluster.memory import copy_bytes
from manyviews.distributed.door import BlockViews, is_dask
from manyviews.distributed.parts import Parts
from manyviews.views import Views
from manyviews.views.cells import first_equals
from manyviews.views.order import put_back, sample_order

__all__ = ["fit_in_order"]

Driver = Callable[[Any, BlockViews, np.random.Generator], Parts]


def fit_in_order(model: Any, views: BlockViews, rng: np.random.Generator, driver: Driver) -> Parts:
    """Fit as ``MultiViewClusterer`` does: views of up to 64 MiB in an order of their own, larger ones as they are.

    The client reads those small ones, and sends them to the workers again.
    """
    if not model._moves_samples(len(views) / len(views.head) * sum(map(copy_bytes, views.head.arrays))):
        return driver(model, views, rng)
    home, sizes = views.parts.home, views.parts.sizes
    assert sizes is not None
    ends = np.cumsum(sizes)[:-1]
    blocks = home.fetch(views.parts.values)
    arrays = [np.concatenate(column) for column in zip(*(block.arrays for block in blocks), strict=True)]
    first = first_equals(arrays)
    order = sample_order(arrays, first)
    whole = Views(dict(zip(views.names, arrays, strict=True)))
    moved = [home.share(whole[places]) for places in np.split(order, ends)]
    parts = replace(views.parts, values=home.hold(moved)).map(_only)
    raw = driver(model, replace(views, parts=parts, head=whole[order[:1]]), rng)
    given = np.argsort(order)
    for name, axes in model._sample_axes.items():
        _restore(model, name, axes, given, sizes)
    labels = np.concatenate(raw.gather(_as_given))[given][first]
    back = [home.share(piece) for piece in np.split(labels, ends)]
    return replace(views.parts, values=home.hold(back)).map(_only)


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
