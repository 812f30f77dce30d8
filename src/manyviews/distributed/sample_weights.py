"""How often samples count, by blocks of rows, and the samples that count nothing: which they are, and their labels."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyviews.cluster.sample_weight import first_counted, usable_weights, weight_numbers
from manyviews.distributed.labelling import without_samples
from manyviews.distributed.parts import Home, Parts
from manyviews.distributed.row_blocks import is_dask, named_block
from manyviews.views import Views
from manyviews.views.cells import first_equals

__all__ = [
    "are_counted",
    "counted_equals",
    "read_counts",
    "read_weights",
    "uncounted",
    "with_rest",
    "without_weight",
]

Array = NDArray[Any]
Labels = NDArray[np.int64]


def read_weights(sample_weight: Any, sizes: Labels, home: Home) -> Parts:
    """Check the weights of samples in blocks of these sizes.

    Parameters
    ----------
    sample_weight : array-like of shape (n,), or Dask array or series, or None
        What the user gave.
    sizes : ndarray of shape (B,)
        Rows of each block; weights in other blocks are cut anew.
    home : Home
        Where blocks are held.

    Returns
    -------
    Parts
        Weights (b,) of the blocks that have rows, as float64, none below 0; None in each where none were given.

    Raises
    ------
    ValueError
        As ``fit`` in memory, the block of the rows being named.
    """
    used = np.flatnonzero(sizes)
    if sample_weight is None:
        return Parts((None,) * used.size, home, sizes[used])
    pieces = _pieces(sample_weight, sizes, home)
    from dask import delayed

    check = delayed(_checked, pure=False)
    numbered = zip(used, pieces, strict=True)
    found = Parts(home.hold([check(int(b), int(sizes[b]), piece) for b, piece in numbered]), home, sizes[used])
    largest = float(found.total(_largest, combine=max))
    if largest == 0:
        usable_weights(np.zeros(1), largest)  # says so
    return found.map(usable_weights, shared=(largest,))


def _pieces(sample_weight: Any, sizes: Labels, home: Home) -> list[Any]:
    """Return the weights of the blocks that have rows, delayed."""
    used = sizes[sizes > 0]
    n = int(used.sum())
    if not is_dask(sample_weight):
        weights = weight_numbers(sample_weight, n)
        return [home.share(piece) for piece in np.split(weights, np.cumsum(used)[:-1])]
    if sample_weight.ndim != 1:
        raise ValueError(
            "sample_weight must have one number per sample: a Dask array of one dimension, or a series (a column of a "
            f"frame), got {sample_weight.ndim} dimensions"
        )
    weights = sample_weight.copy() if hasattr(sample_weight, "rechunk") else sample_weight.to_dask_array()
    if np.isnan(weights.shape[0]):
        weights.compute_chunk_sizes()
    if weights.shape[0] != n:
        raise ValueError(f"sample_weight must have one number per sample, shape ({n},), got shape {weights.shape}")
    return list(weights.rechunk((tuple(map(int, used)),)).to_delayed())


def _checked(i: int, n: int, piece: Any) -> Array:
    with named_block(i):
        return weight_numbers(piece[0] if isinstance(piece, tuple) else piece, n)


def _largest(weights: Array) -> float:
    return float(weights.max())


def uncounted(parts: Parts) -> Parts:
    """Return that all rows of these blocks count once."""
    return replace(parts, values=(None,) * len(parts.values))


def are_counted(counts: Parts) -> bool:
    """Tell whether samples count differently."""
    return counts.values[0] is not None


def read_counts(counts: Parts, rows: Labels) -> Array | None:
    """Return how often some rows count, by number; None for once each."""
    return np.asarray(counts.read(rows)) if are_counted(counts) else None


def without_weight(parts: Parts, counts: Parts) -> tuple[Parts, Parts]:
    """Return the rows that count, of the blocks that have any, and how often; the same where all do."""
    if not are_counted(counts):
        return parts, counts
    found = np.array(counts.gather(_counted_rows), dtype=np.int64)
    if (found == counts.sizes).all():
        return parts, counts
    used = np.flatnonzero(found)
    sizes = found[used]

    def chosen(values: Parts) -> Parts:
        return replace(values, values=tuple(values.values[b] for b in used), sizes=sizes)

    return chosen(parts).map(_chosen, chosen(counts)), chosen(counts.map(_chosen, counts))


def with_rest(model: Any, views: Parts, counts: Parts, raw: Parts) -> Parts:
    """Label the samples that count nothing as ``predict`` does, and store what belongs to each with that of the others.

    Parameters
    ----------
    model : estimator
        As the driver has left it.
    views, counts : Parts
        Views of all samples, and how often they count.
    raw : Parts
        Labels of those that count, by the blocks that have any.

    Returns
    -------
    Parts
        Labels of all samples.
    """
    import dask.array as da
    from dask import delayed

    found = np.array(counts.gather(_counted_rows), dtype=np.int64)
    rule = without_samples(model)
    placed = views.map(_placed, counts, shared=(rule,))
    used, merge = np.flatnonzero(found), delayed(_merged, pure=False)

    def joined(name: str | None, axis: int, own: list[Any]) -> Parts:
        pieces = dict(zip(used.tolist(), own, strict=True))
        trios = enumerate(zip(counts.values, placed.values, strict=True))
        values = [merge(name, axis, marks, pieces.get(b), rest) for b, (marks, rest) in trios]
        return replace(views, values=views.home.hold(values))

    for name, axis in _stored(model, placed):
        held = getattr(model, name)
        own = joined(name, axis, list(np.asarray(held.to_delayed(), dtype=object).ravel()))
        shapes = [(*held.shape[:axis], int(size), *held.shape[axis + 1 :]) for size in views.sizes]  # type: ignore[union-attr]
        pieces = zip(own.values, shapes, strict=True)
        setattr(
            model, name, da.concatenate([da.from_delayed(value, shape, held.dtype) for value, shape in pieces], axis)
        )
    return joined(None, 0, list(raw.values))


def counted_equals(block: Views, counts: Array | None) -> Labels:
    """Return the first sample of a block that equals each, (b,), of those that count where one does."""
    first = first_equals(block.arrays)
    return first if counts is None else first_counted(first, counts)


def _stored(model: Any, placed: Parts) -> list[tuple[str, int]]:
    """Return which attributes hold something of each sample, and along which axis."""
    names = placed.home.fetch([placed.values[0]])[0][1]
    return [(name, model._sample_axes.get(name, (0,))[0]) for name in names]


def _counted_rows(weights: Array) -> int:
    return int(np.count_nonzero(weights))


def _chosen(value: Any, weights: Array) -> Any:
    return value[weights > 0]


def _placed(block: Views, weights: Array, rule: Any) -> tuple[Labels, dict[str, Any]]:
    """Return labels and the attributes of the samples of a block that count nothing."""
    rest = block[weights == 0]
    if len(rest) == 0:
        return np.zeros(0, dtype=np.int64), dict.fromkeys(rule._found_for(block[:1]))
    return rule._predict(rest), rule._found_for(rest)


def _merged(name: str | None, axis: int, weights: Array, own: Any, rest: tuple[Labels, dict[str, Any]]) -> Array:
    """Return what was found of a block's samples that count, if any, and of the others, in the order of the rows."""
    found = rest[0] if name is None else rest[1][name]
    counts = weights > 0
    if own is None:
        return np.asarray(found)
    if found is None or counts.all():
        return np.asarray(own)
    own = np.moveaxis(np.asarray(own), axis, 0)
    whole = np.empty((weights.size, *own.shape[1:]), own.dtype)
    whole[counts], whole[~counts] = own, np.moveaxis(found, axis, 0)
    return np.ascontiguousarray(np.moveaxis(whole, 0, axis))
