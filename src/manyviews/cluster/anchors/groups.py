"""What is drawn for an ensemble of base clusterings: groups of views, columns of each, and their share of anchors."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from manyviews.partitions.view_links import CutRecipe
from manyviews.prototypes.sampled_rows import ColumnSample, ViewTreatment

__all__ = ["GroupDraws", "draw_groups", "group_recipe", "sample_group"]

Array = NDArray[Any]


class GroupDraws(NamedTuple):
    """What is drawn before any base clustering: its number of clusters, of views, and the part of columns per view.

    ``n_clusters`` and ``n_views`` (M,), ``fractions`` (M, V).
    """

    n_clusters: NDArray[np.int64]
    n_views: NDArray[np.int64]
    fractions: NDArray[np.float64]


def draw_groups(
    M: int,
    V: int,
    clusters: tuple[int, int],
    views: tuple[int, int],
    fractions: tuple[float, float],
    rng: np.random.Generator,
) -> GroupDraws:
    """Draw M groups: uniform numbers of clusters and views with both ends included, uniform fractions for all views."""
    return GroupDraws(
        rng.integers(clusters[0], clusters[1], size=M, endpoint=True),
        rng.integers(views[0], views[1], size=M, endpoint=True),
        rng.uniform(*fractions, size=(M, V)),
    )


def group_recipe(recipe: CutRecipe, draws: GroupDraws, m: int, n: int) -> CutRecipe:
    """Return the recipe of group m, whose views share anchors and neighbours of n samples evenly."""
    n_views = int(draws.n_views[m])
    # as released: cut to n before the views share them, or a group of many views of few samples gets n from each
    return recipe._replace(
        n_clusters=int(draws.n_clusters[m]),
        n_anchors=-(-min(recipe.n_anchors, n) // n_views),
        n_neighbors=-(-recipe.n_neighbors // n_views),
    )


def sample_group(
    treatments: list[ViewTreatment],
    n_views: int,
    fractions: Array,
    rng: np.random.Generator,
    chances: Array | None = None,
) -> list[tuple[int, ColumnSample]]:
    """Draw columns for all views, then the views of a group, ``chances`` (V,) being how often a view is drawn first."""
    sampled = []
    for treatment, fraction in zip(treatments, fractions, strict=True):
        count = int(np.ceil(fraction * treatment.width))
        sampled.append(ColumnSample.of(treatment, rng.choice(treatment.width, count, replace=False)))
    chosen = rng.choice(len(treatments), n_views, replace=False, p=chances)
    return [(int(v), sampled[v]) for v in chosen]
