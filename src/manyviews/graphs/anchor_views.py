"""Views as methods with anchors read them: scaled block by block, multiplied, never copied whole."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manyviews.linalg.balance import BalancedScaling, apply_balanced
from manyviews.linalg.blocks import row_blocks, squared_lengths
from manyviews.linalg.scaling import Scaling, apply_scaling
from manyviews.prototypes.concatenated_anchors import AnchorSpace, concatenated_anchors
from manyviews.prototypes.kmeans import kmeans

__all__ = ["ANCHOR_ROWS", "UNSCALED", "AnchorViews", "Blocks", "ViewProducts", "initial_graph", "view_products"]

Array = NDArray[Any]
Treatment = Scaling | BalancedScaling
Blocks = Callable[[Callable[[slice], Any], Iterable[slice]], Iterable[Any]]
UNSCALED = Scaling(None)
# rows from which anchors are chosen, as in the UDBGL paper
ANCHOR_ROWS = 10_000
MAX_ITER = 100


class ViewProducts(NamedTuple):
    """Products of the rows of a view with its anchors: squared row lengths (n,), X Aᵀ (n, m), A Aᵀ (m, m)."""

    squares: NDArray[np.float64]
    cross: NDArray[np.float64]
    gram: NDArray[np.float64]

    @property
    def distances(self) -> NDArray[np.float64]:
        """Squared distances of samples to anchors, (n, m)."""
        D = self.squares[:, None] - 2.0 * self.cross
        D += np.diag(self.gram)
        return np.maximum(D, 0.0, out=D)

    def error(self, Z: Array) -> float:
        """Return ‖X - Z A‖², the squared error of samples written by anchors with coordinates Z (n, m)."""
        fitted = float(np.vdot(self.gram, Z.T @ Z)) - 2.0 * float(np.vdot(self.cross, Z))
        return float(self.squares.sum()) + fitted


def view_products(X: Any, scaling: Treatment, A: Array) -> ViewProducts:
    """Return the products of a view (n, d), dense or CSR, with anchors (m, d), in float64; X is scaled in blocks."""
    A = np.asarray(A, dtype=np.float64)
    squares, cross = np.empty(X.shape[0]), np.empty((X.shape[0], A.shape[0]))
    for rows in row_blocks(X.shape[0]):
        block = _scaled(X[rows], scaling).astype(np.float64)
        squares[rows] = squared_lengths(block)
        cross[rows] = block @ A.T
    return ViewProducts(squares, cross, A @ A.T)


@dataclass(frozen=True)
class AnchorViews:
    """Several views of the same samples, with what is done to each before it is read.

    Attributes
    ----------
    arrays : tuple of ndarray or CSR of shape (n, d_v)
        The views as given; rows of NaN where a sample was not observed.
    scalings : tuple of Scaling or BalancedScaling
        What is done to each, from ``fit_scaling`` or ``fit_balanced``.
    observed : ndarray of shape (n, V) of bool, default=None
        Which samples were observed in which view; None stands for all.
    """

    arrays: tuple[Any, ...]
    scalings: tuple[Treatment, ...]
    observed: NDArray[np.bool_] | None = None

    def __len__(self) -> int:
        return int(self.arrays[0].shape[0])

    def seen(self, v: int, rows: Any = slice(None)) -> NDArray[np.bool_] | None:
        """Return which of some rows were observed in a view, (b,); None where all were."""
        if self.observed is None or self.observed[rows, v].all():
            return None
        found: NDArray[np.bool_] = self.observed[rows, v]
        return found

    def block(self, v: int, rows: Any) -> Any:
        """Return some rows of a view, by slice or index, scaled; zeros where they were not observed."""
        block, seen = self.arrays[v][rows], self.seen(v, rows)
        if seen is not None and not sparse.issparse(block):
            block = np.where(seen[:, None], block, block.dtype.type(0))
        scaled = _scaled(block, self.scalings[v])
        if seen is not None and not sparse.issparse(scaled):
            scaled[~seen] = 0.0
        return scaled

    def products(self, anchors: Sequence[Array]) -> list[ViewProducts]:
        """Return the products of every view with its anchors (m, d_v)."""
        return [view_products(*parts) for parts in zip(self.arrays, self.scalings, anchors, strict=True)]

    @property
    def dtype(self) -> Any:
        """The common type of the views."""
        return np.result_type(*(X.dtype for X in self.arrays))

    def total_squares(self) -> list[float]:
        """Return the sum of the squares of all scaled numbers of every view."""
        blocks = list(row_blocks(len(self)))
        return [
            float(sum(squared_lengths(self.block(v, rows), np.float64).sum() for rows in blocks))
            for v in range(len(self.arrays))
        ]

    def nearest_anchors(
        self, anchors: Sequence[Array], over: Blocks = map, wanted: Array | None = None
    ) -> NDArray[np.int64]:
        """Return the anchor nearest to each sample in all views together, (n,), each view divided by its size.

        ``over`` applies a function to all blocks of rows, in order of the blocks, perhaps several at a time;
        ``wanted`` (V,) is what the squared distances of each view count.
        """
        weights = [1.0 / max(total, np.finfo(float).tiny) for total in self.total_squares()]
        weights = weights if wanted is None else [w * weight for w, weight in zip(wanted, weights, strict=True)]

        def one(rows: slice) -> NDArray[np.int64]:
            D: Any = 0.0
            for v, (A, weight) in enumerate(zip(anchors, weights, strict=True)):
                distances = view_products(self.block(v, rows), UNSCALED, A).distances
                seen = self.seen(v, rows)
                D = D + weight * (distances if seen is None else distances * seen[:, None])
            return np.asarray(D.argmin(axis=1))

        return np.concatenate(list(over(one, row_blocks(len(self)))))

    def shared_anchors(
        self,
        m: int,
        rng: np.random.Generator,
        *,
        space: AnchorSpace,
        n_directions: int,
        n_init: int,
        wanted: Array | None = None,
    ) -> list[Array]:
        """Return m anchors that stand for the same groups of samples in all views; see ``concatenated_anchors``.

        They are chosen from at most 10 000 random rows.
        """
        rows = _some_rows(len(self), rng)
        scaled = [self.block(v, rows) for v in range(len(self.arrays))]
        return concatenated_anchors(
            scaled, m, rng, space=space, n_directions=n_directions, n_init=n_init, wanted=wanted
        )

    def own_anchors(self, v: int, m: int, rng: np.random.Generator, *, n_init: int) -> Array:
        """Return the m centres of k-means in one view alone, (m, d_v), float64, from at most 10 000 observed rows."""
        seen = self.seen(v)
        if seen is None:
            rows = _some_rows(len(self), rng)
        else:
            observed = np.flatnonzero(seen)
            rows = observed[_some_rows(observed.size, rng)]
        X = self.block(v, rows)
        m = min(m, X.shape[0])
        return np.asarray(kmeans(X, m, rng, n_init=n_init, max_iter=MAX_ITER).centers, dtype=np.float64)


def _scaled(X: Any, treatment: Treatment) -> Any:
    return apply_balanced(X, treatment) if isinstance(treatment, BalancedScaling) else apply_scaling(X, treatment)


def _some_rows(n: int, rng: np.random.Generator) -> Any:
    return slice(None) if n <= ANCHOR_ROWS else np.sort(rng.choice(n, ANCHOR_ROWS, replace=False))


def initial_graph(distances: Array, n_neighbors: int, mean: float | None = None) -> Array:
    r"""Link each sample to its nearest anchors with weights :math:`\exp(-D_{ij} / 2s^2)`, s the mean of all D.

    ``mean`` is given where D is a block of the distances.
    """
    m = distances.shape[1]
    r = min(n_neighbors, m)
    s = (float(distances.mean()) if mean is None else mean) or 1.0
    nearest = np.argpartition(distances, r - 1, axis=1)[:, :r] if r < m else np.tile(np.arange(m), (len(distances), 1))
    kept = np.take_along_axis(distances, nearest, axis=1)
    # a common factor of a row does not change its shares, and keeps them from underflowing
    weights = np.exp(-(kept - kept.min(axis=1, keepdims=True)) / s / (2.0 * s))
    Z = np.zeros_like(distances)
    np.put_along_axis(Z, nearest, weights / weights.sum(axis=1, keepdims=True), axis=1)
    return Z
