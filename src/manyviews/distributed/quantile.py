"""Quantiles of numbers that are held by blocks: exact, by counting leading bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyviews.distributed.parts import Parts

__all__ = ["block_quantile"]

Array = NDArray[Any]
# bits that one pass decides; 16 KB of counts
BITS = 11
SIGN = 63


def block_quantile(parts: Parts, values: Callable[..., Array], shared: tuple[Any, ...], n: int, share: float) -> float:
    """Return a quantile of numbers of 0 or more, as ``numpy.quantile`` does.

    Parameters
    ----------
    parts : Parts
        Blocks.
    values : callable
        A function of the module level that takes a block and what is shared, and returns its numbers (m,), float64.
    shared : tuple
        What it takes besides.
    n : int
        How many numbers there are in all, 1 or more.
    share : float
        Which quantile, between 0 and 1.

    Returns
    -------
    float
        Between two numbers it is interpolated.

    Notes
    -----
    Numbers of 0 or more are in the order of their bits, taken as integers: seven passes find the one of a given rank.
    """
    place = (n - 1) * share
    rank = int(np.floor(place))
    prefix, shift, left = 0, SIGN, rank
    while shift > 0:
        step = min(BITS, shift)
        shift -= step
        counts = parts.total(_counts, shared=(values, shared, prefix, shift, step))
        ends = np.cumsum(counts)
        digit = int(np.searchsorted(ends, left, side="right"))
        left -= int(ends[digit] - counts[digit])
        prefix = (prefix << step) | digit
    low = float(np.array(prefix, dtype=np.int64).view(np.float64))
    if place == rank:
        return low
    below, above = parts.total(_beyond, shared=(values, shared, low), combine=_nearest)
    high = low if below > rank + 1 else above
    return float(np.quantile([low, high], place - rank))


def _counts(
    block: Any, values: Callable[..., Array], shared: tuple[Any, ...], prefix: int, shift: int, step: int
) -> Array:
    """Count which bits come next, of the numbers of a block that begin with a prefix."""
    bits = _bits(values(block, *shared)) >> shift
    return np.bincount(bits[bits >> step == prefix] & ((1 << step) - 1), minlength=1 << step)


def _beyond(block: Any, values: Callable[..., Array], shared: tuple[Any, ...], low: float) -> tuple[int, float]:
    """Return how many numbers are at most so large, and the smallest that is larger."""
    numbers = values(block, *shared)
    return int(np.count_nonzero(numbers <= low)), float(numbers[numbers > low].min(initial=np.inf))


def _nearest(found: list[tuple[int, float]]) -> tuple[int, float]:
    return sum(count for count, _ in found), min(above for _, above in found)


def _bits(numbers: Array) -> NDArray[np.int64]:
    return np.ascontiguousarray(numbers + 0.0).view(np.int64)  # -0.0 and 0.0 are equal
