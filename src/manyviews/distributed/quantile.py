"""Quantiles of numbers that are held by blocks: exact, by counting leading bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyviews.distributed.parts import Parts

__all__ = ["block_quantile"]

Array = NDArray[Any]
Values = tuple[Array, Array | None]
# bits that one pass decides; 16 KB of counts
BITS = 11
SIGN = 63


def block_quantile(
    parts: Parts, values: Callable[..., Values], shared: tuple[Any, ...], n: float, share: float
) -> float:
    """Return a quantile of numbers of 0 or more, as ``numpy.quantile`` does, or ``counted_quantile`` if they count.

    Parameters
    ----------
    parts : Parts
        Blocks.
    values : callable
        A function of the module level that takes a block and what is shared, and returns its numbers (m,), float64,
        and how often they count, (m,), or None for once.
    shared : tuple
        What it takes besides.
    n : float
        How many numbers there are in all, each as often as it counts, more than 0.
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
    place = max(n - 1, 0) * share
    rank = int(np.floor(place))
    low, below = _ranked(parts, values, shared, rank)
    if place == rank or below > rank + 1:
        return low
    return float(np.quantile([low, _ranked(parts, values, shared, rank + 1)[0]], place - rank))


def _ranked(parts: Parts, values: Callable[..., Values], shared: tuple[Any, ...], rank: int) -> tuple[float, float]:
    """Return the smallest number such that more than ``rank`` are at most so large, or the largest; and how many are.

    Numbers are counted as often as they count.
    """
    prefix, shift, before, upto = 0, SIGN, 0.0, 0.0
    while shift > 0:
        step = min(BITS, shift)
        shift -= step
        counts = parts.total(_counts, shared=(values, shared, prefix, shift, step))
        filled = np.flatnonzero(counts)
        ends = before + np.cumsum(counts[filled])
        place = min(int(np.searchsorted(ends, rank, side="right")), filled.size - 1)
        digit, upto = int(filled[place]), float(ends[place])
        before = float(ends[place - 1]) if place else before
        prefix = (prefix << step) | digit
    return float(np.array(prefix, dtype=np.int64).view(np.float64)), upto


def _counts(
    block: Any, values: Callable[..., Values], shared: tuple[Any, ...], prefix: int, shift: int, step: int
) -> Array:
    """Count which bits come next, of the numbers of a block that begin with a prefix."""
    numbers, weights = values(block, *shared)
    bits = _bits(numbers) >> shift
    chosen = bits >> step == prefix
    own = None if weights is None else weights[chosen]
    return np.bincount(bits[chosen] & ((1 << step) - 1), own, minlength=1 << step)


def _bits(numbers: Array) -> NDArray[np.int64]:
    return np.ascontiguousarray(numbers + 0.0).view(np.int64)  # -0.0 and 0.0 are equal
