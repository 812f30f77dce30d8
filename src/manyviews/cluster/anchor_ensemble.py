"""Base clusterings side by side: every random draw of FastMICE and U-SENC, one child generator each."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from manyviews.cluster.anchor_cut import AnchorCut, CutRecipe, fit_anchor_cut
from manyviews.cluster.sampled_rows import ViewTreatment

__all__ = ["Ensemble", "GroupDraws", "draw_groups", "fit_ensemble", "predict_base_labels"]

Array = NDArray[Any]


class GroupDraws(NamedTuple):
    """What is drawn before any base clustering: its number of clusters, of views, and the part of columns per view.

    ``n_clusters`` and ``n_views`` (M,), ``fractions`` (M, V).
    """

    n_clusters: NDArray[np.int64]
    n_views: NDArray[np.int64]
    fractions: NDArray[np.float64]


class Ensemble(NamedTuple):
    """Base labels (n, M), -1 for none; numbers of base clusters (M,); the fitted base clusterings."""

    labels: NDArray[np.int32]
    sizes: NDArray[np.int64]
    cuts: tuple[AnchorCut | None, ...]


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


def sample_group(
    treatments: list[ViewTreatment], n_views: int, fractions: Array, rng: np.random.Generator
) -> list[tuple[int, ViewTreatment]]:
    """Draw columns for all views, then the views of a group."""
    sampled = []
    for treatment, fraction in zip(treatments, fractions, strict=True):
        count = int(np.ceil(fraction * treatment.width))
        sampled.append(treatment.sample_columns(np.sort(rng.choice(treatment.width, count, replace=False))))
    chosen = rng.choice(len(treatments), n_views, replace=False)
    return [(int(v), sampled[v]) for v in chosen]


def fit_ensemble(
    arrays: tuple[Any, ...],
    observed: Array,
    treatments: list[ViewTreatment],
    draws: GroupDraws,
    recipe: CutRecipe,
    rng: np.random.Generator,
    *,
    n_jobs: int | None,
) -> Ensemble:
    """Make the base clusterings, each from its own child generator, so that ``n_jobs`` does not change the result.

    Parameters
    ----------
    arrays : tuple of ndarray or CSR of shape (n, d_v)
        All views.
    observed : ndarray of shape (n, V) of bool
        Where samples were observed.
    treatments : list of ViewTreatment
        Treatment of each view.
    draws : GroupDraws
        Sizes of the groups.
    recipe : CutRecipe
        Settings; anchors (at most n) and neighbours are shared evenly by the views of a group.
    rng : Generator
        Parent of the child generators.
    n_jobs : int or None
        Base clusterings made at a time.

    Returns
    -------
    Ensemble
        Labels and rules.
    """

    # as released: cut to n before the views share them, or a group of many views of few samples gets n from each
    n_anchors = min(recipe.n_anchors, observed.shape[0])

    def one(m: int, child: np.random.Generator) -> tuple[NDArray[np.int32], AnchorCut | None]:
        n_views = int(draws.n_views[m])
        members = sample_group(treatments, n_views, draws.fractions[m], child)
        own = recipe._replace(
            n_clusters=int(draws.n_clusters[m]),
            n_anchors=-(-n_anchors // n_views),
            n_neighbors=-(-recipe.n_neighbors // n_views),
        )
        return fit_anchor_cut(arrays, observed, members, own, child)

    M = draws.n_clusters.size
    with threadpool_limits(1):
        jobs = [delayed(one)(m, child) for m, child in enumerate(rng.spawn(M))]
        results = Parallel(n_jobs=min(effective_n_jobs(n_jobs), len(jobs)), prefer="threads")(jobs)
    labels = np.empty((observed.shape[0], M), dtype=np.int32)
    for m in range(M):
        labels[:, m] = results[m][0]
    sizes = np.array([1 if cut is None else cut.centers.shape[0] for _, cut in results])
    return Ensemble(labels, sizes, tuple(cut for _, cut in results))


def predict_base_labels(
    cuts: tuple[AnchorCut | None, ...], arrays: tuple[Any, ...], observed: Array, *, n_jobs: int | None
) -> NDArray[np.int32]:
    """Return base labels (n, M) of any samples."""
    labels = np.full((observed.shape[0], len(cuts)), -1, dtype=np.int32)
    fitted = [(m, cut) for m, cut in enumerate(cuts) if cut is not None]
    with threadpool_limits(1):
        jobs = [delayed(cut.predict)(arrays, observed) for _, cut in fitted]
        columns = Parallel(n_jobs=min(effective_n_jobs(n_jobs), max(len(jobs), 1)), prefer="threads")(jobs)
        for (m, _), column in zip(fitted, columns, strict=True):
            labels[:, m] = column
    return labels
