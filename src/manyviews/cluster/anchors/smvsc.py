r"""SMVSC: all views written by one set of anchors, seen through a projection per view that is learned as well.

minimise :math:`\sum_v \alpha_v^2 \|X_v - Z A^\top W_v^\top\|_F^2 + \lambda \|Z\|_F^2` over :math:`W_v^\top W_v = I`
(d_v, d), :math:`A^\top A = I` (d, m), Z (n, m) with rows in the simplex and α in the simplex. Samples are rows here.

The data are read once per iteration, in blocks: all steps but that for Z need no more of them than
:math:`X_v^\top Z` and :math:`Z^\top Z`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from manyviews.graphs.anchor_views import AnchorViews, squared_lengths
from manyviews.linalg.polar import polar
from manyviews.linalg.scaling import row_blocks
from manyviews.linalg.simplex import project_rows
from manyviews.optim.history import History

__all__ = ["LinearTerm", "UnifiedAnchors", "coordinate_rows", "inverse_shares", "iterate", "solve_smvsc"]

Array = NDArray[Any]
LinearTerm = Literal["released", "paper"]
Blocks = Callable[[Callable[[slice], Any], Iterable[slice]], Iterable[Any]]
# residuals below this share of the largest are those of a perfect fit
PERFECT = 1e-15


class Coder(NamedTuple):
    """What turns rows of the views into coordinates: anchors seen in each view, (d_v, m), their weights, and λ.

    ``linear`` (V,) weighs the views in the linear term of the programs, ``square`` (V,) in the quadratic one.
    """

    anchors: list[Array]
    linear: NDArray[np.float64]
    square: NDArray[np.float64]
    ridge: float


class Moments(NamedTuple):
    """What one pass over the rows leaves: X_vᵀZ (d_v, m) and ZᵀZ over the samples observed in each view, and ZᵀZ."""

    cross: list[NDArray[np.float64]]
    gram: list[NDArray[np.float64]]
    size: NDArray[np.float64]


class AnchorStep(NamedTuple):
    """State after an iteration: projections W, anchors A, coordinates Z, weights α and the objective."""

    W: list[NDArray[np.float64]]
    A: NDArray[np.float64]
    Z: Array
    alpha: NDArray[np.float64]
    objective: float
    coder: Coder
    moments: Moments


class UnifiedAnchors(NamedTuple):
    """The last state and the history."""

    last: AnchorStep
    history: History


def coordinate_rows(views: AnchorViews, coder: Coder, rows: Any) -> Array:
    r"""Return the coordinates of a block of rows, (b, m).

    The Hessian of every program is a multiple of I, so that its solution is the projection onto the simplex of
    :math:`\sum_v w_v x_v W_v A / (\sum_v \alpha_v^2 + \lambda)`, with sums over the views where a sample was observed.
    """
    n = views.arrays[0][rows].shape[0]
    target, mass = np.zeros((n, coder.anchors[0].shape[1])), np.full(n, coder.ridge)
    for v, anchors in enumerate(coder.anchors):
        block, seen = views.block(v, rows), views.seen(v, rows)
        target += coder.linear[v] * (block @ anchors.astype(block.dtype))
        mass += coder.square[v] * (1.0 if seen is None else seen)
    return project_rows(target / np.maximum(mass, np.finfo(float).tiny)[:, None])


def solve_smvsc(
    views: AnchorViews,
    Z: Array,
    A: NDArray[np.float64] | None,
    *,
    d: int,
    ridge: float,
    linear: LinearTerm = "released",
    tol: float = 1e-3,
    min_iter: int = 10,
    max_iter: int = 51,
    over: Blocks = map,
) -> UnifiedAnchors:
    """Run the alternating updates.

    Parameters
    ----------
    views : AnchorViews
        The views.
    Z : ndarray of shape (n, m)
        Coordinates of the start; changed in place.
    A : ndarray of shape (d, m) or None
        Anchors of the start. None: the first projections are the first d columns of the views, as in the released
        code, where A starts as zeros.
    d : int
        Dimensions of the common space.
    ridge : float
        λ, weight of the ridge on Z.
    linear : {"released", "paper"}, default="released"
        "paper": views count by α² in the linear term of the programs for Z, which minimises the objective. "released":
        all by 1.
    tol : float, default=1e-3
        Relative change of the objective that ends the iterations.
    min_iter, max_iter : int
        Fewest and most iterations.
    over : callable, default=map
        Applies a function to all blocks of rows, in order of the blocks, perhaps several at a time.

    Returns
    -------
    UnifiedAnchors
        Last state and history.
    """
    objective: list[float] = []
    converged = False
    for step in iterate(views, Z, A, d=d, ridge=ridge, linear=linear, over=over):
        objective.append(step.objective)
        if len(objective) >= max(min_iter, 2):
            converged = abs(objective[-2] - step.objective) < tol * objective[-2] or step.objective < 1e-10
        if converged or len(objective) >= max_iter:
            break
    return UnifiedAnchors(step, History(np.array(objective), len(objective), converged))


def iterate(
    views: AnchorViews,
    Z: Array,
    A: NDArray[np.float64] | None,
    *,
    d: int,
    ridge: float,
    linear: LinearTerm,
    over: Blocks = map,
) -> Iterable[AnchorStep]:
    """Yield the state after every iteration, without end; Z is changed in place."""
    n, V = len(views), len(views.arrays)
    squares = _total_squares(views)
    # a view with gaps counts as if what holds for the observed samples held for all
    share = n / np.array([n if (seen := views.seen(v)) is None else seen.sum() for v in range(V)])
    alpha = np.full(V, 1.0 / V)
    moments = _pass(views, None, Z, over)
    while True:
        W = [np.eye(len(S), d) if A is None else polar(S @ A.T) for S in moments.cross]
        square = alpha**2 * share
        A = polar(sum(w * W_v.T @ S for w, W_v, S in zip(square, W, moments.cross, strict=True)))
        weights = square if linear == "paper" else np.where(alpha > 0, share, 0.0)
        coder = Coder([W_v @ A for W_v in W], weights, square, ridge)
        moments = _pass(views, coder, Z, over)
        residuals = share * _residuals(squares, coder.anchors, moments)
        alpha = inverse_shares(residuals)
        objective = float(alpha**2 @ residuals + ridge * np.trace(moments.size))
        yield AnchorStep(W, A, Z, alpha, objective, coder, moments)


def inverse_shares(residuals: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return α ∝ 1 / r of sum 1; views fitted perfectly share it evenly."""
    perfect = residuals <= PERFECT * residuals.max()
    if perfect.any():
        return np.asarray(perfect / np.count_nonzero(perfect))
    shares = residuals.min() / residuals
    return np.asarray(shares / shares.sum())


def _pass(views: AnchorViews, coder: Coder | None, Z: Array, over: Blocks) -> Moments:
    """Renew Z, where there is a coder, and sum up its products with the views."""

    def one(rows: slice) -> Moments:
        if coder is not None:
            Z[rows] = coordinate_rows(views, coder, rows)
        part = Z[rows]
        wide = part.astype(np.float64)
        whole = wide.T @ wide
        cross, gram = [], []
        for v in range(len(views.arrays)):
            seen = views.seen(v, rows)
            cross.append(np.asarray(views.block(v, rows).T @ part, dtype=np.float64))
            gram.append(whole if seen is None else wide[seen].T @ wide[seen])
        return Moments(cross, gram, whole)

    total: Moments | None = None
    for found in over(one, row_blocks(len(views))):
        total = found if total is None else Moments(*map(_add, total, found))
    assert total is not None
    return total


def _add(a: Any, b: Any) -> Any:
    return [x + y for x, y in zip(a, b, strict=True)] if isinstance(a, list) else a + b


def _residuals(squares: Sequence[float], anchors: Sequence[Array], moments: Moments) -> NDArray[np.float64]:
    """Return ‖X - Z (W A)ᵀ‖² of every view without forming it."""
    found = [
        size - 2.0 * np.vdot(H, S) + np.vdot(H.T @ H, G)
        for size, H, S, G in zip(squares, anchors, moments.cross, moments.gram, strict=True)
    ]
    return np.maximum(found, 0.0)


def _total_squares(views: AnchorViews) -> list[float]:
    return [
        float(sum(squared_lengths(views.block(v, rows)).sum() for rows in row_blocks(len(views))))
        for v in range(len(views.arrays))
    ]
