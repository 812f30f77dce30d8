r"""LMVSC: every view written by a few anchors of its own, all these coordinates side by side, and their singular vectors.

minimise :math:`\|X_v - Z_v H_v\|_F^2 + \alpha \|Z_v\|_F^2` over :math:`Z_v` with rows in the simplex, in each view alone;
the anchors :math:`H_v` are fixed. Samples are rows here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from manyviews.graphs.anchor_views import AnchorViews, view_products
from manyviews.linalg.eigen import top_eigenpairs
from manyviews.linalg.scaling import Scaling, row_blocks
from manyviews.linalg.simplex_qp import solve_simplex_qp

__all__ = ["AnchorSubspace", "solve_lmvsc", "subspace_coordinates"]

Array = NDArray[Any]
UNSCALED = Scaling(None)
# singular values of Z below this share of the largest, squared, are none
SMALLEST_EIGENVALUE = 1e-10


class AnchorSubspace(NamedTuple):
    """Coordinates of all samples, Z (n, V m), their singular values (k,) and vectors, and the objective of every view.

    ``rotation`` (V m, k) turns coordinates of any sample into rows of the left singular vectors; columns beyond the
    rank of Z are zeros.
    """

    Z: Array
    singular_values: NDArray[np.float64]
    rotation: NDArray[np.float64]
    objective: NDArray[np.float64]


def subspace_coordinates(
    views: AnchorViews, anchors: Sequence[Array], alpha: float, rows: Any
) -> tuple[Array, NDArray[np.float64]]:
    r"""Solve the quadratic programs of a block of rows.

    Parameters
    ----------
    views : AnchorViews
        The views.
    anchors : sequence of ndarray of shape (m_v, d_v)
        Anchors of each view.
    alpha : float
        Weight of the ridge.
    rows : slice
        The block.

    Returns
    -------
    Z : ndarray of shape (b, Σ m_v), float64
        :math:`V^{-1/2} [Z_1 \dots Z_V]`. A view in which a sample was not observed has zeros there, for which the
        other views of the sample count more.
    objective : ndarray of shape (V,)
        What the block adds to the objective of each view.
    """
    V, n = len(anchors), views.arrays[0][rows].shape[0]
    Z, objective, having = [], np.zeros(V), np.zeros(n)
    for v, H in enumerate(anchors):
        part, seen = np.zeros((n, len(H))), views.seen(v, rows)
        kept = slice(None) if seen is None else seen
        products = view_products(views.block(v, rows)[kept], UNSCALED, H)
        ridge = products.gram + alpha * np.eye(len(H))
        solved = solve_simplex_qp(2.0 * ridge, -2.0 * products.cross)
        fit = np.vdot(ridge, solved.T @ solved) - 2.0 * np.vdot(products.cross, solved)
        objective[v] = products.squares.sum() + fit
        part[kept] = solved
        having[kept] += 1.0
        Z.append(part)
    return np.hstack(Z) * (np.sqrt(V) / having)[:, None], objective


def solve_lmvsc(
    views: AnchorViews,
    anchors: Sequence[Array],
    k: int,
    *,
    alpha: float,
    over: Callable[[Callable[[slice], Any], Iterable[slice]], Iterable[Any]] = map,
) -> AnchorSubspace:
    """Write all samples by the anchors and take the leading singular vectors of the result.

    Parameters
    ----------
    views : AnchorViews
        The views.
    anchors : sequence of ndarray of shape (m_v, d_v)
        Anchors of each view.
    k : int
        Number of singular vectors.
    alpha : float
        Weight of the ridge.
    over : callable, default=map
        Applies a function to all blocks of rows, in order of the blocks, perhaps several at a time.

    Returns
    -------
    AnchorSubspace
        Coordinates, singular values and the rotation onto the vectors.
    """
    n, width = len(views), sum(map(len, anchors))
    Z = np.empty((n, width), np.result_type(*(X.dtype for X in views.arrays)))
    gram, objective = np.zeros((width, width)), np.zeros(len(anchors))
    blocks = list(row_blocks(n))
    solved = over(lambda rows: subspace_coordinates(views, anchors, alpha, rows), blocks)
    for rows, (part, added) in zip(blocks, solved, strict=True):
        Z[rows] = part
        gram += part.T @ part
        objective += added
    values, vectors = top_eigenpairs(gram, min(k, width))
    kept = values > SMALLEST_EIGENVALUE * values[0]
    singular, rotation = np.zeros(k), np.zeros((width, k))
    singular[: kept.sum()] = np.sqrt(values[kept])
    rotation[:, : kept.sum()] = vectors[:, kept] / singular[: kept.sum()]
    return AnchorSubspace(Z, singular, rotation, objective)
