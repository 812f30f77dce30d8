"""Draw the parts of synthetic multi-view data: partitions, views, missing rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["BlobPlan", "draw_missing", "draw_partition", "fill_view"]

# Rows are filled in blocks of about this many numbers, so that temporary arrays stay small.
_BLOCK = 1 << 20


class BlobPlan(NamedTuple):
    """What decides the distribution of one view: number of clusters, and noise of each in units of centre distance."""

    n_clusters: int
    noise: NDArray[np.float64]


def draw_partition(sizes: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Assign samples to clusters of these sizes in random order.

    Parameters
    ----------
    sizes : ndarray of shape (n_clusters,)
        Cluster sizes.
    rng : Generator
        Source of randomness.

    Returns
    -------
    ndarray of shape (n_samples,) of int64
        Labels.
    """
    labels = np.repeat(np.arange(sizes.size, dtype=np.int64), sizes)
    rng.shuffle(labels)
    return labels


def draw_missing(n: int, n_views: int, count: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Choose the (sample, view) pairs that are not observed.

    Parameters
    ----------
    n, n_views : int
        Numbers of samples and views.
    count : int
        Number of missing pairs, at most n (n_views - 1).
    rng : Generator
        Source of randomness.

    Returns
    -------
    ndarray of shape (n, n_views) of bool
        True where missing, never in all views of a sample.
    """
    # Each sample keeps one view at random; the missing pairs are drawn from all the others.
    kept = np.zeros((n, n_views), dtype=bool)
    kept[np.arange(n), rng.integers(n_views, size=n)] = True
    candidates = np.flatnonzero(~kept)
    missing = np.zeros(n * n_views, dtype=bool)
    missing[rng.choice(candidates, size=count, replace=False, shuffle=False)] = True
    return missing.reshape(n, n_views)


def fill_view(out: NDArray[Any], labels: NDArray[np.int64] | None, plan: BlobPlan, rng: np.random.Generator) -> None:
    """Fill one view in place, block by block.

    Parameters
    ----------
    out : ndarray of shape (n, d), float32 or float64, C-contiguous
        Array to fill.
    labels : ndarray of shape (n,) or None
        Partition the view follows; None for pure noise.
    plan : BlobPlan
        Number of clusters, and noise of each.
    rng : Generator
        Source of randomness of this view.
    """
    n, width = out.shape
    centres = _centres(plan.n_clusters, width, rng)
    # A noise view has the variance the clusters would give it, lest its scale give it away.
    alike = float(np.sqrt(np.square(plan.noise).mean() + (centres**2).mean()))
    levels = plan.noise.astype(out.dtype)
    centres = centres.astype(out.dtype)
    step = max(1, _BLOCK // width)
    for start in range(0, n, step):
        block = out[start : start + step]
        rng.standard_normal(dtype=out.dtype.type, out=block)
        if labels is None:
            block *= out.dtype.type(alike)
        else:
            own = labels[start : start + step]
            block *= levels[own, None]
            block += centres[own]


def _centres(n_clusters: int, width: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Centres around the origin whose root mean square distance is 1."""
    centres = rng.standard_normal((n_clusters, width))
    centres -= centres.mean(axis=0)
    spread = float((centres**2).sum())
    # Over all pairs the mean squared distance is 2 k / (k - 1) times the mean squared norm.
    return centres * np.sqrt((n_clusters - 1) / (2 * spread)) if spread else centres
