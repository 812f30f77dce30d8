"""Anchors shared by all views: groups of samples found on the views side by side, their means split by view."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manyviews.linalg.balance import joined
from manyviews.linalg.blocks import smallest_scale
from manyviews.prototypes.kmeans import kmeans

__all__ = ["AnchorSpace", "balanced_directions", "concatenated_anchors"]

Array = NDArray[Any]
AnchorSpace = Literal["balanced", "concatenated"]
MAX_ITER = 100


def concatenated_anchors(
    views: Sequence[Any],
    m: int,
    rng: np.random.Generator,
    *,
    space: AnchorSpace = "balanced",
    n_directions: int = 20,
    n_init: int = 10,
    wanted: Array | None = None,
) -> list[Array]:
    """Group the samples by all views together and return the means of the groups in every view.

    Parameters
    ----------
    views : sequence of ndarray or CSR of shape (n, d_v)
        Scaled views.
    m : int
        Number of anchors, at most n.
    rng : Generator
        Source of the k-means starts.
    space : {"balanced", "concatenated"}, default="balanced"
        Where the groups are sought: in ``balanced_directions``, or in all columns as they are, as in the UDBGL paper,
        where views with many columns decide.
    n_directions : int, default=20
        Dimensions of the balanced space.
    n_init : int, default=10
        Starts of k-means.
    wanted : ndarray of shape (V,), default=None
        What the squared distances of each view are multiplied with there; 1 by default.

    Returns
    -------
    list of ndarray of shape (m, d_v), float64
        Anchors of every view. Where there are fewer distinct samples than anchors, some anchors repeat.
    """
    if space == "balanced":
        X = balanced_directions(views, n_directions, rng, wanted)
    else:
        X = _side_by_side((_times(X, w) for X, w in zip(views, _each(wanted, views), strict=True)), views)
    groups = kmeans(X, m, rng, n_init=n_init, max_iter=MAX_ITER)
    labels, n = groups.labels, groups.labels.size
    sizes = np.bincount(labels, minlength=m)
    empty = np.flatnonzero(sizes == 0)
    rows = np.concatenate([np.arange(n), rng.permutation(n)[: empty.size]])
    weights = np.concatenate([1.0 / sizes[labels], np.ones(empty.size)])
    means = sparse.csr_array((weights, (np.concatenate([labels, empty]), rows)), shape=(m, n))
    return [_dense(means @ X_v) for X_v in views]


def balanced_directions(views: Sequence[Any], r: int, rng: np.random.Generator, wanted: Array | None = None) -> Any:
    """Return coordinates of the samples in which all views have equal say and faint directions are left out.

    Parameters
    ----------
    views : sequence of ndarray or CSR of shape (n, d_v)
        Scaled views; each is divided by the root of its total variance, constant ones are left out.
    r : int
        Leading singular directions of the views side by side that are kept. Dense views are centred first.
    rng : Generator
        Source of the randomised singular value decomposition.
    wanted : ndarray of shape (V,), default=None
        What the squared distances of each view are multiplied with; 1 by default.

    Returns
    -------
    ndarray of shape (n, r') or CSR
        r' is r, or all columns where there are no more than r.
    """
    from sklearn.utils.extmath import randomized_svd

    parts = ((_unit_variance(view), w) for view, w in zip(views, _each(wanted, views), strict=True))
    X = _side_by_side((_times(part, w) for part, w in parts if part is not None), views)
    X = X if X.shape[1] else _side_by_side(views, views)
    if r >= min(X.shape):
        return X
    U, s, _ = randomized_svd(X, r, n_iter=4, random_state=int(rng.integers(2**31 - 1)))
    return U * s


def _each(wanted: Array | None, views: Sequence[Any]) -> list[float]:
    return [1.0] * len(views) if wanted is None else [float(w) for w in wanted]


def _times(X: Any, weight: float) -> Any:
    return X if weight == 1.0 else X * X.dtype.type(weight**0.5)


def _unit_variance(X: Any) -> Any:
    mean = np.asarray(X.mean(axis=0), dtype=np.float64).ravel()
    squares = (
        X.multiply(X).sum(dtype=np.float64) if sparse.issparse(X) else np.einsum("ij,ij->", X, X, dtype=np.float64)
    )
    second_moment = float(squares) / X.shape[0]
    variance = second_moment - float(mean @ mean)
    # below this a view varies only by the rounding of its own mean, or cannot be divided by its spread
    if variance <= max(1e3 * np.finfo(X.dtype).eps * second_moment, smallest_scale(X.dtype) ** 2):
        return None
    scale = X.dtype.type(1.0 / np.sqrt(variance))
    return X * scale if sparse.issparse(X) else (X - mean.astype(X.dtype)) * scale


def _side_by_side(parts: Iterable[Any], views: Sequence[Any]) -> Any:
    """Return what was made of the views, or of some, as one table; dense parts are made as they are put there."""
    n, width = views[0].shape[0], sum(X.shape[1] for X in views)
    if any(map(sparse.issparse, views)):
        made = [sparse.csr_array(X) for X in parts]
        return sparse.hstack(made, format="csr") if made else sparse.csr_array((n, 0))
    return joined(parts, (n, width), np.result_type(*(X.dtype for X in views)))


def _dense(X: Any) -> Array:
    return np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)
