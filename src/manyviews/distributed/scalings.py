"""How views are brought to a common scale, learned from sums over blocks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from manyviews.distributed.door import BlockViews
from manyviews.linalg.balance import (
    BalancedScaling,
    balanced_scaling,
    mean_of,
    moments_of,
    scaled_squares,
    scaled_sums,
)
from manyviews.linalg.row_sums import RowSum, no_rows
from manyviews.linalg.scaling import (
    SCALINGS,
    Scaling,
    idf_scaling,
    minmax_scaling,
    squared_deviations,
    standard_scaling,
)
from manyviews.prototypes.sampled_rows import ViewTreatment
from manyviews.prototypes.view_treatment import METRICS, SPARSE_DENSITY, centred_treatment
from manyviews.views import Views

__all__ = ["block_balanced", "block_scalings", "block_treatments", "refuse_texts"]

Array = NDArray[Any]


def block_scalings(views: BlockViews, kinds: Sequence[str | None]) -> list[Scaling]:
    """Learn a scaling of each view, as ``fit_scaling`` does, "auto" being decided already."""
    unknown = [kind for kind in kinds if kind is not None and kind not in SCALINGS]
    if unknown:
        raise ValueError(f"scaling must be one of {SCALINGS}, None or 'auto', got {unknown[0]!r}")
    means = [held.mean for held in views.summaries]
    standard = [kind == "standard" for kind in kinds]
    squares = [no_rows(mean.size) for mean in means]
    if any(standard):
        squares = views.parts.total(_deviations, views.counts, shared=(means, standard))
    return [
        _scaling(kind, held, mean, square.value / (held.n or 1.0))
        for kind, held, mean, square in zip(kinds, views.summaries, means, squares, strict=True)
    ]


def _scaling(kind: str | None, held: Any, mean: Array, variance: Array) -> Scaling:
    if kind == "standard":
        return standard_scaling(mean, variance, held.dtype)
    if kind == "minmax":
        return minmax_scaling(held.low, held.top, held.dtype)
    if kind in ("tfidf", "tfidf_plain"):
        return idf_scaling(kind, held.n, held.filled.value, negative=bool(held.low.min() < 0))
    return Scaling(kind)


def block_treatments(views: BlockViews, scalings: Sequence[str | None], metrics: Sequence[str]) -> list[ViewTreatment]:
    """Learn how each view is treated, as ``fit_treatment`` does for dense views."""
    unknown = [metric for metric in metrics if metric not in ("auto", *METRICS)]
    if unknown:
        raise ValueError(f"the 'metric' parameter must be 'auto' or one of {METRICS}, got {unknown[0]!r}")
    kinds = ["standard" if kind == "auto" else kind for kind in scalings]
    learned = block_scalings(views, kinds)
    return [
        centred_treatment(scaling, "cosine" if metric == "cosine" else "euclidean", held.plain_mean)
        for scaling, metric, held in zip(learned, metrics, views.summaries, strict=True)
    ]


def refuse_texts(views: BlockViews, scalings: Sequence[Any], metrics: Sequence[Any], hint: str = "") -> None:
    """Refuse views that a fit in memory would take for texts, where it is left to that what to do with them."""
    for name, held, scaling, metric in zip(views.head.names, views.summaries, scalings, metrics, strict=True):
        few = held.n_filled < SPARSE_DENSITY * held.observed * held.low.size
        sparse = few and held.low.min() >= 0
        if sparse and held.observed == len(views) and "auto" in (scaling, metric):
            stated = f"say what is to be done: scaling={{{name!r}: 'tfidf'}}, metric={{{name!r}: 'cosine'}}"
            raise ValueError(
                f"view {name!r} has fewer than 2 % of its numbers above 0, as counts of terms have, and blocks are "
                f"taken as dense: {hint or stated}"
            )


def block_balanced(
    views: BlockViews, kinds: Sequence[str | None], weights: Sequence[float], *, balance: bool = True
) -> list[BalancedScaling]:
    """Learn the common scale of each view, as ``fit_balanced`` does."""
    scalings = block_scalings(views, kinds)
    sums = views.parts.total(_scaled_sums, views.counts, shared=(scalings,))
    means = [mean_of(*found) for found in sums]
    squares = views.parts.total(_scaled_squares, views.counts, shared=(scalings, means))
    moments = [moments_of(*own, *found) for own, found in zip(sums, squares, strict=True)]
    return [
        balanced_scaling(scaling, moment, held.dtype, balance=balance, weight=weight)
        for scaling, moment, held, weight in zip(scalings, moments, views.summaries, weights, strict=True)
    ]


def _deviations(views: Views, counts: Array | None, means: list[Array], wanted: list[bool]) -> list[RowSum]:
    return [
        squared_deviations(X, mean, counts) if use else no_rows(mean.size)
        for X, mean, use in zip(views.arrays, means, wanted, strict=True)
    ]


def _scaled_sums(views: Views, counts: Array | None, scalings: list[Scaling]) -> list[tuple[RowSum, RowSum]]:
    return [scaled_sums(X, scaling, counts) for X, scaling in zip(views.arrays, scalings, strict=True)]


def _scaled_squares(
    views: Views, counts: Array | None, scalings: list[Scaling], means: list[Array]
) -> list[tuple[RowSum, RowSum]]:
    parts = zip(views.arrays, scalings, means, strict=True)
    return [scaled_squares(X, scaling, mean, counts) for X, scaling, mean in parts]
