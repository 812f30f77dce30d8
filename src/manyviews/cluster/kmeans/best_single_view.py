"""k-means on the one view that looks best without labels."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manyviews.cluster.balanced import BalancedClusterer
from manyviews.cluster.base import PredictMixin
from manyviews.cluster.constraints import POSITIVE_INT, one_of
from manyviews.cluster.memory import copy_bytes, kmeans_bytes
from manyviews.cluster.parallel import in_threads, jobs_at_a_time
from manyviews.cluster.result import FitResult
from manyviews.metrics import adjusted_rand_index
from manyviews.prototypes.kmeans import KMeansResult, kmeans
from manyviews.prototypes.weighted import assign, make_stack
from manyviews.views import Views

__all__ = ["BestSingleView", "stability"]

SILHOUETTE_ROWS = 2_000
HALVES = 8


def stability(X: Any, k: int, rng: np.random.Generator) -> float:
    """Return how much clusterings of random halves of the samples agree, as the mean adjusted Rand index.

    Parameters
    ----------
    X : ndarray or CSR of shape (n, d)
        A scaled view.
    k : int
        Number of clusters.
    rng : Generator
        Draws the halves and the starts.

    Returns
    -------
    float
        1 where every half gives the same centres, about 0 where they have nothing in common.
    """
    n = X.shape[0]
    size = min(n, max(k, n // 2))
    stack = make_stack((X,))
    halves = [kmeans(X[rng.choice(n, size, replace=False)], k, rng, n_init=1) for _ in range(HALVES)]
    labels = [assign(stack, [half.centers]).labels for half in halves]
    return float(np.mean([adjusted_rand_index(labels[a], labels[b]) for a in range(HALVES) for b in range(a)]))


class BestSingleView(BalancedClusterer, PredictMixin):
    r"""k-means on the best single view (BSV), chosen without labels.

    Every view is clustered by itself; the labels are those of the view with the highest score. In the papers' tables
    the view is chosen by the true classes, which no user has; for that reference give ``view`` and try all.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters k.
    criterion : {"stability", "silhouette"}, default="stability"
        "stability": mean agreement (adjusted Rand index) between clusterings of eight random halves of the samples.
        "silhouette": mean silhouette, on at most 2000 samples; it favours views with few features.
    view : str, default=None
        Name of the view to take, whatever its score.
    n_init : int, default=10
        k-means++ starts in each view.
    view_weights : mapping or sequence of float, default=None
        0 leaves a view out; only 0 and equal ones: one view alone decides. Views that a mapping leaves out get 1. By
        default all alike.
    scaling : {"auto", "standard", "minmax", "unit", "tfidf"}, mapping or None, default="auto"
        What is done to each view. "auto": standardised if dense, tf-idf and unit rows if sparse.
    views : list of int or mapping, default=None
        How one table is cut into views.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the k-means starts.
    n_jobs : int, default=None
        Views worked on at a time; -1 uses all cores.
    verbose : int, default=0
        1 prints what is being done.

    Attributes
    ----------
    labels_ : ndarray of shape (n,), int64
        Cluster of each sample, 0 .. k-1, largest cluster first.
    view_ : str
        Name of the view taken.
    view_scores_ : ndarray of shape (V,)
        Score of each view, higher is better.
    view_weights_ : ndarray of shape (V,)
        1 for the view taken, else 0.
    base_labels_ : ndarray of shape (n, V)
        Clusters found in each view.
    inertia_ : float
        Sum of squared distances in the view taken.
    history_ : History
        That sum.
    n_iter_, converged_ : int, bool
        1 and True.
    scalings_ : tuple of str or None
        What was done to each view first; None for nothing.
    n_views_in_, n_features_in_ : int
        Number of views and of columns in all.
    view_names_in_, n_view_features_in_ : ndarray of shape (V,)
        Names of the views and their numbers of columns.

    See Also
    --------
    ConcatKMeans : All views together.

    Notes
    -----
    ``predict`` looks at the chosen view only. Cost: O(n k Σ d_v) per iteration of k-means; a view of at most 1000
    samples with twice as many columns or more takes O(n² d_v) once, then O(n² k) per iteration. A single view is seldom
    recognised for certain: on five sets tried, stability took the best view once and the second or third best else.

    References
    ----------
    T. Lange, V. Roth, M. L. Braun, J. M. Buhmann. Stability-Based Validation of Clustering Solutions. Neural
    Computation 16(6), 2004, 1299-1323. https://doi.org/10.1162/089976604773717621

    Examples
    --------
    >>> from manyviews import BestSingleView, datasets
    >>> data = datasets.make_blobs_views(90, (5, 4), 3, noise_views=["view_1"], view_noise=0.1, random_state=0)
    >>> BestSingleView(n_clusters=3, random_state=0).fit(data.views).view_
    'view_0'
    """

    _weightless: ClassVar[str] = "one view alone decides in it"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        name: rule for name, rule in BalancedClusterer._parameter_constraints.items() if name != "balance_views"
    } | {
        "criterion": [one_of("stability", "silhouette")],
        "view": [str, None],
        "n_init": [POSITIVE_INT],
    }
    # one view at a time: its size does not matter
    balance_views: ClassVar[bool] = True  # type: ignore[misc]

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        criterion: str = "stability",
        view: str | None = None,
        n_init: int = 10,
        view_weights: Any = None,
        scaling: Any = "auto",
        views: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            n_clusters, scaling=scaling, views=views, random_state=random_state, n_jobs=n_jobs, verbose=verbose
        )
        self.view_weights = view_weights
        self.criterion = criterion
        self.view = view
        self.n_init = n_init

    def _memory_estimate(self, views: Views) -> int:
        jobs = jobs_at_a_time(self.n_jobs, len(views.names))
        return super()._memory_estimate(views) + jobs * max(map(_of_kmeans, views.arrays))

    def _kept_numbers(self, views: Views) -> float:
        return HALVES + 5.0  # labels of the halves; no embedding

    def _fit(self, views: Views, rng: np.random.Generator) -> NDArray[np.int64]:
        if self.view is not None and self.view not in views.names:
            raise ValueError(f"there is no view {self.view!r}; the views are {list(views.names)}")
        arrays = self._fit_scaled(views)

        def run(v: int, child: np.random.Generator) -> tuple[KMeansResult, float]:
            result = kmeans(arrays[v], self.n_clusters, child, n_init=self.n_init)
            return result, self._score(arrays[v], result, child)

        results, scores = zip(*in_threads(run, enumerate(rng.spawn(len(arrays))), self.n_jobs), strict=True)
        self.view_scores_ = np.array(scores)
        # a constant view is perfectly stable and tells nothing
        usable = np.where([balanced.constant for balanced in self._balanced], -np.inf, self.view_scores_)
        best = int(usable.argmax()) if self.view is None else views.names.index(self.view)
        self.view_ = views.names[best]
        self._best, self._centers = best, results[best].centers
        self.base_labels_ = np.column_stack([result.labels for result in results])
        self.inertia_ = results[best].inertia
        return self._record(
            FitResult.of_one_step(results[best].labels, self.inertia_, weights=np.eye(len(arrays))[best])
        )

    def _score(self, X: Any, result: KMeansResult, rng: np.random.Generator) -> float:
        if self.criterion == "stability":
            return stability(X, self.n_clusters, rng)
        from sklearn.metrics import silhouette_score

        n = X.shape[0]
        rows = np.sort(rng.choice(n, min(n, SILHOUETTE_ROWS), replace=False))
        labels = result.labels[rows]
        found = np.unique(labels).size
        return float(silhouette_score(X[rows], labels)) if 1 < found < rows.size else 0.0

    def _predict(self, views: Views) -> NDArray[np.int64]:
        return assign(make_stack((self._scaled(views)[self._best],)), [self._centers]).labels


def _of_kmeans(X: Any) -> int:
    """Return what k-means takes beside a view: a copy and its deviations from the mean, or what stands for them."""
    n, d = X.shape
    return 2 * copy_bytes(X) if sparse.issparse(X) else kmeans_bytes(n, d, X.dtype.itemsize)
