"""What methods with anchors check and estimate: numbers of anchors, ranges, the memory of blocks of rows."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse

from manyviews.cluster.memory import copy_bytes
from manyviews.cluster.parallel import jobs_at_a_time
from manyviews.graphs.anchor_views import ANCHOR_ROWS
from manyviews.linalg.blocks import ROWS_PER_BLOCK
from manyviews.views import Views

__all__ = [
    "anchor_count",
    "as_fitted",
    "block_bytes",
    "check_anchors",
    "checked_range",
    "choice_bytes",
]


def check_anchors(n_anchors: int, n_clusters: int) -> None:
    """Refuse fewer anchors than clusters."""
    if n_anchors < n_clusters:
        raise ValueError(
            f"n_anchors={n_anchors} is less than n_clusters={n_clusters}; a cut needs an anchor per cluster: raise "
            "n_anchors (1000 is usual)"
        )


def anchor_count(n_anchors: int | None, n_clusters: int, n: int) -> int:
    """Return the number of anchors, by default that of clusters; raise ValueError where it cannot be."""
    m = n_clusters if n_anchors is None else n_anchors
    if not n_clusters <= m <= n:
        raise ValueError(
            f"n_anchors={m} must lie between n_clusters={n_clusters} and the number of samples, "
            f"got n_samples={n}: every cluster needs an anchor of its own"
        )
    return m


def choice_bytes(views: Views) -> int:
    """Return the memory that the choice of anchors from some of the rows takes: scaled copies of them, and k-means."""
    return int(4 * min(1.0, ANCHOR_ROWS / len(views)) * sum(map(copy_bytes, views.arrays)))


def block_bytes(views: Views, numbers: int, n_jobs: int | None) -> int:
    """Return the memory of the blocks of rows worked on at a time: scaled twice over, and so many numbers per row."""
    blocks = -(-len(views) // ROWS_PER_BLOCK)
    rows = min(len(views), ROWS_PER_BLOCK) * jobs_at_a_time(n_jobs, blocks)
    return int(rows * (8 * numbers + 2 * max(map(copy_bytes, views.arrays)) / len(views)))


def as_fitted(arrays: tuple[Any, ...], sparse_views: tuple[bool, ...]) -> tuple[Any, ...]:
    """Return the views as CSR where the training views were taken as such."""
    return tuple(
        sparse.csr_array(np.nan_to_num(X)) if wanted and not sparse.issparse(X) else X
        for X, wanted in zip(arrays, sparse_views, strict=True)
    )


def checked_range(
    given: tuple[int, int] | None, default: tuple[int, int], limits: tuple[int, int], parameter: str
) -> tuple[int, int]:
    """Return a range of integers, both ends included, cut to what the data allow."""
    ends = default if given is None else given
    if not (len(ends) == 2 and all(isinstance(end, Integral) for end in ends) and 1 <= ends[0] <= ends[1]):
        raise ValueError(f"the {parameter!r} parameter must be two integers with 1 <= low <= high, got {given!r}")
    low, high = ends
    return int(np.clip(low, *limits)), int(np.clip(high, *limits))
