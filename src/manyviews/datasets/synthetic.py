"""Make multi-view data whose clusters are known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from manyviews.datasets.blob_parameters import as_generator, cluster_sizes, missing_count, view_roles, widths_and_noise
from manyviews.datasets.blobs import BlobPlan, draw_missing, draw_partition, fill_view
from manyviews.datasets.dataset import Dataset
from manyviews.views import Views

__all__ = ["make_blobs_views"]

RandomState = int | np.integer[Any] | np.random.Generator | np.random.RandomState | None


def make_blobs_views(
    n_samples: int = 1000,
    n_features: Sequence[int] = (64, 32, 16),
    n_clusters: int = 10,
    *,
    view_noise: float | Sequence[float] | Sequence[Sequence[float]] = 0.25,
    noise_views: int | Sequence[int | str] = 0,
    conflicting_views: int | Sequence[int | str] = 0,
    missing_fraction: float = 0.0,
    weights: ArrayLike | None = None,
    dtype: Literal["float32", "float64"] = "float64",
    random_state: RandomState = None,
) -> Dataset:
    r"""Make samples that form the same Gaussian clusters in several views.

    In every view each cluster has a centre of its own; the root mean square distance between two centres is 1.
    A sample is its cluster's centre plus noise of standard deviation ``view_noise`` in every direction. Two
    clusters at that distance are therefore confused, by the best rule that sees this view alone, with
    probability :math:`\Phi(-1 / (2 \cdot \mathrm{view\_noise}))`, whatever the number of features:
    about 0.00 at 0.1, 0.02 at 0.25, 0.16 at 0.5 and 0.31 at 1. Noise is independent between views, so views
    together tell more than any of them.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of samples, at least ``n_clusters``.
    n_features : sequence of int, default=(64, 32, 16)
        Number of features of each view; its length is the number of views, called ``view_0``, ``view_1``, ...
    n_clusters : int, default=10
        Number of clusters.
    view_noise : float, sequence of float or of sequences of float, default=0.25
        Overlap of the clusters, for all views, for each, or for each view and cluster, such as
        ``[[0.1, 0.5, 0.5], [0.5, 0.1, 0.5]]`` for three clusters in two views: standard deviation of the noise in units
        of the distance between centres. Larger is harder; 0 puts every sample on its centre.
    noise_views : int or sequence of int or str, default=0
        Views that know nothing of the clusters: how many (the last ones), or which, by position or name. They
        are pure noise of the same variance as the other views.
    conflicting_views : int or sequence of int or str, default=0
        Views that follow a second partition, independent of the first and of the same cluster sizes: how many
        (the last ones that are not noise), or which.
    missing_fraction : float, default=0.0
        Share of the (sample, view) pairs that are not observed: their rows are all NaN. Every sample keeps at
        least one view, so the share is at most (V - 1) / V.
    weights : array-like of shape (n_clusters,), default=None
        Relative cluster sizes, all positive. By default the sizes are equal up to one.
    dtype : {"float32", "float64"}, default="float64"
        Type of the arrays. They are made in it directly, without a larger copy.
    random_state : int, Generator, RandomState or None, default=None
        Seed or source of randomness; an int gives the same data every time. Numbers differ between dtypes.

    Returns
    -------
    Dataset
        Views, labels 0 .. k-1 (in random order of samples) and class names "0", "1", ...

    Raises
    ------
    TypeError
        If a parameter has the wrong type.
    ValueError
        If a parameter is out of range, or no view is left that follows the clusters.

    Examples
    --------
    >>> from manyviews.datasets import make_blobs_views
    >>> data = make_blobs_views(200, (8, 4), n_clusters=3, random_state=0)
    >>> data
    Dataset('blobs': 200 samples, 2 views, 3 classes)
    >>> data.views.view("view_1").shape
    (200, 4)
    """
    sizes = cluster_sizes(n_samples, n_clusters, weights)
    widths, noise = widths_and_noise(n_features, view_noise, sizes.size)
    roles = view_roles(len(widths), noise_views, conflicting_views)
    if dtype not in ("float32", "float64"):
        raise ValueError(f"dtype must be 'float32' or 'float64'; got {dtype!r}.")
    n_missing = missing_count(missing_fraction, n_samples, len(widths))
    shared, *streams = as_generator(random_state).spawn(1 + len(widths))
    labels, conflict = draw_partition(sizes, shared), draw_partition(sizes, shared)
    missing = draw_missing(labels.size, len(widths), n_missing, shared) if n_missing else None
    arrays: dict[str, NDArray[Any]] = {}
    for v, (width, levels, role, stream) in enumerate(zip(widths, noise, roles, streams, strict=True)):
        partition = {"clusters": labels, "conflict": conflict, "noise": None}[role]
        array = np.empty((labels.size, width), dtype=dtype)
        fill_view(array, partition, BlobPlan(sizes.size, levels), stream)
        if missing is not None:
            array[missing[:, v]] = np.nan
        arrays[f"view_{v}"] = array
    return Dataset(
        name="blobs",
        views=Views(arrays),
        labels=labels,
        class_names=tuple(map(str, range(sizes.size))),
        source="synthetic: make_blobs_views",
        licence="none needed: generated data",
    )
