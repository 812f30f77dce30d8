"""What every fit over blocks ends with: numbered labels as Dask arrays, and warnings where it fell short."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyviews.distributed.door import BlockViews
from manyviews.distributed.parts import Parts
from manyviews.distributed.sample_weights import counted_equals
from manyviews.partitions.onehot import size_order
from manyviews.views import Views

__all__ = ["as_dask", "number_labels"]

Labels = NDArray[np.int64]


def as_dask(parts: Parts, dtype: Any, width: int | None = None) -> Any:
    """Return the values of blocks, of so many columns, as one Dask array."""
    import dask.array as da

    assert parts.sizes is not None
    shapes = [(int(size),) if width is None else (int(size), width) for size in parts.sizes]
    pieces = zip(parts.values, shapes, strict=True)
    return da.concatenate([da.from_delayed(value, shape, dtype) for value, shape in pieces])


def number_labels(model: Any, views: BlockViews, raw: Parts) -> None:
    """Store labels numbered by size, largest first, as ``labels_``, and warn as ``fit`` does.

    Identical samples of a block share a cluster.
    """
    k = model.n_clusters
    raw = raw.map(_alike, views.parts, views.counts)
    counted = raw.gather(_counted, shared=(k,))
    assert raw.sizes is not None
    starts = np.cumsum(raw.sizes) - raw.sizes
    sizes = np.sum([counts for counts, _ in counted], axis=0)
    n = len(views)
    first = np.min(
        [np.where(place < 0, n, start + place) for start, (_, place) in zip(starts, counted, strict=True)], 0
    )
    model._order = size_order(sizes, first)
    labels = raw.map(_numbered, shared=(model._order,))
    model.labels_ = as_dask(labels, np.int64)
    model._warn_of_shortfalls(int(np.count_nonzero(sizes)))


def _alike(labels: Labels, block: Views, counts: Any) -> Labels:
    return labels[counted_equals(block, counts)]


def _counted(labels: Labels, k: int) -> tuple[Labels, Labels]:
    """Return how many rows each cluster has, and the first of them, -1 for none."""
    first = np.full(k, -1, dtype=np.int64)
    found, places = np.unique(labels, return_index=True)
    first[found] = places
    return np.bincount(labels, minlength=k), first


def _numbered(labels: Labels, order: Labels) -> Labels:
    return order[labels]
