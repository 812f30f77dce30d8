"""Gaussian similarities of samples to anchors as features of the samples, made in blocks of rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manyviews.graphs.anchor_views import AnchorViews, Blocks
from manyviews.linalg.blocks import row_blocks, squared_lengths
from manyviews.linalg.eigen import top_eigenpairs

__all__ = ["ROWS_PER_BLOCK", "AnchorFeatures", "Features", "fit_features", "principal_maps"]

Array = NDArray[Any]
ROWS_PER_BLOCK = 4_096
# rows on which widths are measured
WIDTH_ROWS = 10_000
# features are kept, instead of made again for every reading, where they take no more than so many bytes
KEPT_BYTES = 2**28
# squared distances below this share of the squared length are those of equal rows; eigenvalues below are none
SAME = 1e-10


class AnchorFeatures(NamedTuple):
    """Gaussian similarities of a view to anchors (m, d), dense or CSR, of width σ, less their means (m,)."""

    anchors: Any
    width: float
    mean: NDArray[np.float32]

    def of(self, X: Any, seen: NDArray[np.bool_] | None) -> NDArray[np.float32]:
        """Return the features of scaled rows, (b, m); zeros for unobserved ones."""
        phi = _squared_distances(X, self.anchors).astype(np.float32)
        phi *= np.float32(-0.5 / self.width**2)
        np.exp(phi, out=phi)
        phi -= self.mean
        if seen is not None:
            phi[~seen] = 0.0
        return phi


class Features(NamedTuple):
    """Similarities to anchors.

    ``block`` returns K of every view, (b, m_v), for a slice of rows, with zeros where a sample was not observed;
    ``grams`` are KᵀK (m_v, m_v), ``observed`` the numbers of samples observed in each view, ``n`` that of all.
    """

    block: Callable[[slice], list[Array]]
    grams: list[NDArray[np.float64]]
    observed: NDArray[np.int64]
    n: int


def fit_features(
    views: AnchorViews, m: int, rng: np.random.Generator, over: Blocks = map
) -> tuple[list[AnchorFeatures], Features]:
    """Choose m random anchors of every view and learn the features that they make.

    Parameters
    ----------
    views : AnchorViews
        The views.
    m : int
        Number of anchors, the same samples in all views but for gaps.
    rng : Generator
        Draws them.
    over : callable, default=map
        Applies a function to all blocks of rows, in order of the blocks, perhaps several at a time.

    Returns
    -------
    fitted : list of AnchorFeatures
        What makes the features of new rows, one per view.
    features : Features
        Those of the views given.
    """
    n, V = len(views), len(views.arrays)
    order = rng.permutation(n)
    fitted, grams, observed = [], [], []
    for v in range(V):
        seen = views.seen(v)
        having = order if seen is None else order[seen[order]]
        anchors = views.block(v, np.sort(having[:m]))
        width = _width(views.block(v, np.sort(having[:WIDTH_ROWS])), anchors)
        raw = AnchorFeatures(anchors, width, np.zeros(anchors.shape[0], np.float32))
        total, gram = _moments(views, v, raw, over)
        mean = total / having.size
        fitted.append(raw._replace(mean=mean.astype(np.float32)))
        grams.append(gram - having.size * np.outer(mean, mean))
        observed.append(having.size)

    def block(rows: slice) -> list[Array]:
        return [f.of(views.block(v, rows), views.seen(v, rows)) for v, f in enumerate(fitted)]

    if 4 * n * sum(map(len, grams)) <= KEPT_BYTES:
        kept = {rows.start: K for rows in row_blocks(n, ROWS_PER_BLOCK) for K in [block(rows)]}
        return fitted, Features(lambda rows: kept[rows.start], grams, np.array(observed), n)
    return fitted, Features(block, grams, np.array(observed), n)


def _squared_distances(X: Any, A: Any) -> Array:
    cross = X @ A.T
    D = -2.0 * (cross.toarray() if sparse.issparse(cross) else np.asarray(cross))
    D += squared_lengths(X).astype(D.dtype)[:, None]
    D += squared_lengths(A).astype(D.dtype)
    return np.asarray(np.maximum(D, 0.0, out=D))


def _width(X: Any, anchors: Any) -> float:
    """Return σ, twice the mean distance to the nearest anchor that differs."""
    nearest = []
    for rows in row_blocks(X.shape[0], ROWS_PER_BLOCK):
        D = _squared_distances(X[rows], anchors)
        D[SAME * squared_lengths(X[rows])[:, None] >= D] = np.inf
        nearest.append(D.min(axis=1))
    squares = np.concatenate(nearest).astype(np.float64)
    squares = squares[np.isfinite(squares)]
    return 2.0 * float(np.sqrt(squares).mean()) if squares.size else 1.0


def _moments(views: AnchorViews, v: int, raw: AnchorFeatures, over: Blocks) -> tuple[Array, Array]:
    """Return the sums (m,) and the products (m, m) of features that are not centred, in double precision."""

    def one(rows: slice) -> tuple[Array, Array]:
        phi = raw.of(views.block(v, rows), views.seen(v, rows)).astype(np.float64)
        return phi.sum(axis=0), phi.T @ phi

    m = raw.mean.size
    total, gram = np.zeros(m), np.zeros((m, m))
    for added, product in over(one, row_blocks(len(views), ROWS_PER_BLOCK)):
        total += added
        gram += product
    return total, gram


def principal_maps(sample: list[Array], L: int, rng: np.random.Generator, *, mixed: bool) -> list[Array]:
    """Return maps (L, m_v) of which the codes of the start are the signs, given K of some rows.

    They lead onto the L leading principal directions of the views side by side, one each as in the released code, or
    with ``mixed`` onto random mixtures of them. Directions that are lacking are such mixtures in any case.
    """
    F = np.sum([K.astype(np.float64) @ K.T.astype(np.float64) for K in sample], axis=0)
    values, vectors = top_eigenpairs(F, min(L, len(F)))
    kept = values > SAME * max(values[0], np.finfo(float).tiny)
    P = vectors[:, kept] / np.sqrt(values[kept])
    single = P[:, :0] if mixed else P
    P = np.hstack([single, P @ rng.standard_normal((P.shape[1], L - single.shape[1]))])
    return [P.T @ K for K in sample]
