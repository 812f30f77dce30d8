r"""k-means over several views that learns easy samples and views first, for MSPL.

minimise :math:`\sum_v \sum_i w_i^{(v)} \|x_i^{(v)} - c_{b_i}^{(v)}\|^2 + f(W)` (eq. 3) over weights W, centres C and
labels b, while the pace 1/λ of f grows until every weight is 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from manyviews.optim.history import History
from manyviews.optim.self_paced import Weighting, paced_losses, paced_weights
from manyviews.prototypes.weighted import Assignment, Stack, assign, centroids, lloyd

__all__ = ["PacedHistory", "Pacing", "SelfPaced", "first_pace", "paced_sweep", "self_paced_kmeans"]

Array = NDArray[Any]
MAX_STAGES = 200
ALL_IN = 0.999
# with losses multiplied so that the first pace is 6, the smooth weights fall neither too flat nor as a step
FIRST_SMOOTH_PACE = 6.0


class Pacing(NamedTuple):
    """Weighting, share of pairs selected first, growth of the pace per stage, sweeps per stage, factor of losses."""

    weighting: Weighting = "smooth"
    share: float = 0.55
    growth: float = 1.1
    n_sweeps: int = 1
    loss_scale: float | Literal["auto"] = "auto"


@dataclass(frozen=True)
class PacedHistory(History):
    """History of a self-paced run; the objective is comparable within a pace.

    Attributes
    ----------
    pace : ndarray of shape (n_iter,)
        1/λ of each sweep, in units of the losses; infinite once all weights are 1.
    mean_weight : ndarray of shape (n_iter,)
        Mean weight of the observed (sample, view) pairs in each sweep.
    """

    pace: Array
    mean_weight: Array


class SelfPaced(NamedTuple):
    """Centres (k, d_v) per view, labels and losses, and the history of one start."""

    centers: list[Array]
    assignment: Assignment
    history: PacedHistory


def first_pace(stack: Stack, losses: Array, share: float) -> float:
    """Return the quantile of the losses of all observed pairs; constant views, always fitted, do not count."""
    varied = losses.max(axis=1, initial=0.0) > 1e-12 * losses.max(initial=0.0)
    counted = losses[varied] if stack.observed is None else losses[varied][stack.observed[varied]]
    if counted.size == 0:
        return 0.0
    pace = float(np.quantile(counted, share))
    return pace if pace > 1e-12 * counted.max() else float(counted.mean())


def paced_sweep(
    stack: Stack, centers: list[Array], current: Assignment, pace: float, weighting: Weighting
) -> tuple[Array, list[Array], Assignment]:
    """One sweep at a fixed pace: weights, centres, labels, losses.

    Parameters
    ----------
    stack : Stack
        The views.
    centers : list of ndarray of shape (k, d_v)
        Centres, kept by clusters without any weight.
    current : Assignment
        Labels and losses.
    pace : float
        1/λ.
    weighting : {"smooth", "hard", "none"}
        Regulariser.

    Returns
    -------
    weights : ndarray of shape (V, n)
        Weights of the sweep, 0 for unobserved pairs.
    centers : list of ndarray of shape (k, d_v)
        New centres.
    assignment : Assignment
        New labels and losses.
    """
    weights = paced_weights(current.losses, pace, weighting)  # eqs. 5, 8
    if stack.observed is not None:
        weights *= stack.observed
    centers = centroids(stack, current.labels, weights, centers)  # eq. 12
    return weights, centers, assign(stack, centers, weights)  # eq. 15


def self_paced_kmeans(
    stack: Stack, centers: list[Array], pacing: Pacing, *, tol: float = 0.0, max_iter: int = 50
) -> SelfPaced:
    """Raise the pace until every weight is 1, then finish with k-means.

    Parameters
    ----------
    stack : Stack
        The views.
    centers : list of ndarray of shape (k, d_v)
        Start.
    pacing : Pacing
        Weighting and schedule.
    tol : float, default=0.0
        Relative decrease of the sum of losses that ends the final k-means; 0 waits until the labels rest.
    max_iter : int, default=50
        Most sweeps of the final k-means.

    Returns
    -------
    SelfPaced
        Centres, labels, losses and history.
    """
    current = assign(stack, centers)
    pace = first_pace(stack, current.losses, pacing.share)
    trace: list[tuple[float, float, float]] = []
    if pacing.weighting != "none" and pace > 0:
        scale = _loss_scale(pacing, pace)
        for _ in range(MAX_STAGES):
            centers, current, least = _stage(stack, centers, current, pace, scale, pacing, trace)
            pace *= pacing.growth
            if least > ALL_IN:
                break
    centers, current, objective, converged = lloyd(stack, centers, tol=tol, max_iter=max_iter)
    trace += [(value, np.inf, 1.0) for value in objective[1:]]
    values, paces, means = map(np.array, zip(*trace, strict=True))
    return SelfPaced(centers, current, PacedHistory(values, len(trace), converged, paces, means))


def _stage(
    stack: Stack,
    centers: list[Array],
    current: Assignment,
    pace: float,
    scale: float,
    pacing: Pacing,
    trace: list[tuple[float, float, float]],
) -> tuple[list[Array], Assignment, float]:
    """Make the sweeps of one pace, record them, and return the least weight too."""
    pairs = current.losses.size if stack.observed is None else np.count_nonzero(stack.observed)
    scaled = Assignment(current.labels, current.losses * scale)
    least = 1.0
    for _ in range(pacing.n_sweeps):
        weights, centers, current = paced_sweep(stack, centers, scaled, pace * scale, pacing.weighting)
        scaled = Assignment(current.labels, current.losses * scale)
        objective = paced_losses(scaled.losses, pace * scale, pacing.weighting).sum() / scale
        trace.append((float(objective), pace, float(weights.sum() / pairs)))
        least = float(weights.min() if stack.observed is None else weights[stack.observed].min())
    return centers, current, least


def _loss_scale(pacing: Pacing, pace: float) -> float:
    if pacing.loss_scale != "auto":
        return float(pacing.loss_scale)
    return FIRST_SMOOTH_PACE / pace if pacing.weighting == "smooth" else 1.0
