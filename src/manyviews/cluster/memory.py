"""Refuse a fit that the memory of the machine cannot hold, before it starts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scipy import sparse

from manyviews.io.machine import machine_memory, readable_size
from manyviews.linalg.coordinates import CELLS_PER_BLOCK, few_rows
from manyviews.views import Views
from manyviews.views.caller import warn_user

# Blocks of columns that are held while products of rows are summed.
BLOCKS = 2

__all__ = [
    "anchor_width",
    "center_bytes",
    "check_memory",
    "copy_bytes",
    "kmeans_bytes",
    "machine_memory",
    "readable_size",
    "stored_width",
]


def check_memory(estimator: Any, views: Views) -> None:
    """Compare what a fit needs, by the estimator's ``_needed_bytes``, with what there is.

    A method whose time grows out of hand before its memory does says so by ``_most_samples``.

    Parameters
    ----------
    estimator : MultiViewClusterer
        About to be fitted.
    views : Views
        Checked views.

    Raises
    ------
    ValueError
        If more is needed than the machine has, or there are more samples than the method takes; the text has both
        numbers and the methods that would fit.

    Warns
    -----
    UserWarning
        If more is needed than is free at the moment.
    """
    needed, most = estimator._needed_bytes(views), estimator._most_samples()
    total, free = machine_memory()
    name = type(estimator).__name__
    if most is not None and len(views) > most:
        raise ValueError(
            f"{name} would take hours for {len(views)} samples, which are more than max_samples={most}; raise that to "
            f"wait, or {estimator._alternatives().that_would_fit(estimator, views, total)}"
        )
    wanted = f"{name} needs about {readable_size(needed)} of memory"
    if total is not None and needed > total:
        raise ValueError(
            f"{wanted} for {len(views)} samples, more than the {readable_size(total)} of this machine"
            f"{_reach(estimator, views, needed, total)}; "
            f"{estimator._alternatives().that_would_fit(estimator, views, total)}"
        )
    if free is not None and needed > free:
        warn_user(
            f"{wanted} and {readable_size(free)} are free: it may become slow or be ended by the system; close other "
            "programs, or use fewer samples"
        )


def copy_bytes(X: Any) -> int:
    """Return the bytes of a copy of a view, dense or CSR, in its own type."""
    return int(X.data.nbytes + X.indices.nbytes + X.indptr.nbytes if sparse.issparse(X) else X.nbytes)


def stored_width(arrays: Sequence[Any]) -> tuple[int, float]:
    """Return the columns of all views, and the numbers stored for a row of them: fewer where views are sparse."""
    stored = sum(X.nnz if sparse.issparse(X) else X.size for X in arrays) / arrays[0].shape[0]
    return sum(X.shape[1] for X in arrays), stored


def anchor_width(width: tuple[int, float]) -> float:
    """Return the numbers kept of an anchor, given ``stored_width``: means of ten rows, fuller than sparse rows."""
    return min(width[0], 10 * width[1])


def center_bytes(views: Views, k: int) -> int:
    """Return the bytes of k dense centres in all views, in double precision: many, where sparse views are wide."""
    return 8 * k * int(views.shape[1])


def kmeans_bytes(n: int, d: int, itemsize: int = 8) -> int:
    """Return what k-means needs for n dense rows of d numbers: a copy, its variance, labels, weights.

    Few rows of many columns are not copied: the products of all pairs stand for them, and coordinates made of these.
    """
    if few_rows(n, d):
        return 8 * (4 * n * n + BLOCKS * CELLS_PER_BLOCK)
    return 2 * n * d * itemsize + 40 * n


def _reach(estimator: Any, views: Views, needed: int, total: int) -> str:
    """Say up to how many samples the method goes, to two digits, where it is known how its memory grows."""
    if estimator._memory_order is None:
        return ""
    most = len(views) * (total / needed) ** (1.0 / estimator._memory_order)
    return f", which is enough for up to about {int(float(f'{most:.1e}'))} samples of these views"
