"""How self-paced k-means sets its pace: where it starts, how it grows, and in which units losses are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from manyviews.optim.self_paced import PacingKind, counted_quantile
from manyviews.prototypes.weighted import Stack

__all__ = ["FIRST_SMOOTH_PACE", "Pacing", "first_pace", "loss_factor", "raise_pace"]

Array = NDArray[Any]
# with losses multiplied so that the first pace is 6, the smooth weights fall neither too flat nor as a step
FIRST_SMOOTH_PACE = 6.0
MAX_STAGES = 200


class Pacing(NamedTuple):
    """Kind of weights, share of pairs selected first, growth of the pace and sweeps per stage, factor of losses.

    ``times`` (V, 1) says how often each view is there; losses are those of one copy.
    """

    kind: PacingKind = "smooth"
    share: float = 0.55
    growth: float = 1.1
    n_sweeps: int = 1
    loss_scale: float | Literal["auto"] = "auto"
    times: Any = 1.0


def first_pace(stack: Stack, losses: Array, share: float) -> float:
    """Return the quantile of the losses of all observed pairs; constant views, always fitted, do not count."""
    varied = losses.max(axis=1, initial=0.0) > 1e-12 * losses.max(initial=0.0)
    seen = slice(None) if stack.observed is None else stack.observed[varied]
    counted = losses[varied][seen]
    if counted.size == 0:
        return 0.0
    counts = None if stack.counts is None else stack.mass[varied][seen].ravel()
    pace = float(np.quantile(counted, share)) if counts is None else counted_quantile(counted.ravel(), counts, share)
    if pace > 1e-12 * counted.max():
        return pace
    return float(counted.mean() if counts is None else np.average(counted.ravel(), weights=counts))


def raise_pace(pacing: Pacing, pace: float, sweep: Callable[[float, float], bool]) -> None:
    """Make the sweeps of all stages, at a pace that grows until all pairs are in.

    Parameters
    ----------
    pacing : Pacing
        Kind of the weights, and schedule.
    pace : float
        The first one, in units of the losses; of 0 or with kind "none" there are no stages.
    sweep : callable
        Takes a pace and the factor of the losses, makes one sweep, and says whether all pairs were in.
    """
    if pacing.kind == "none" or pace <= 0:
        return
    scale = loss_factor(pacing, pace)
    for _ in range(MAX_STAGES):
        all_in = False
        for _ in range(pacing.n_sweeps):
            all_in = sweep(pace, scale)
        if all_in:
            return
        pace *= pacing.growth


def loss_factor(pacing: Pacing, pace: float) -> float:
    """Return what losses are multiplied with before they are weighed."""
    if pacing.loss_scale != "auto":
        return float(pacing.loss_scale)
    return FIRST_SMOOTH_PACE / pace if pacing.kind == "smooth" else 1.0
