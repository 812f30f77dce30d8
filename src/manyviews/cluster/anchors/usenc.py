r"""U-SENC: the consensus of an ensemble of U-SPEC cuts of one feature set."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from manyviews.cluster.anchors.base import AnchorEnsembleClusterer, EnsembleSettings, keeps_concatenation
from manyviews.cluster.anchors.checks import check_anchors, checked_range
from manyviews.cluster.anchors.groups import draw_groups
from manyviews.cluster.constraints import POSITIVE_INT, one_of
from manyviews.cluster.memory import anchor_width, stored_width
from manyviews.cluster.parallel import jobs_at_a_time
from manyviews.partitions.discretize import EmbeddingRule
from manyviews.partitions.view_links import CutRecipe, SearchChoice
from manyviews.prototypes.concatenation import Concatenation
from manyviews.prototypes.row_means import kept_bytes
from manyviews.views import Views

__all__ = ["USENC"]


class USENC(AnchorEnsembleClusterer):
    r"""Ultra-scalable ensemble clustering (U-SENC) of one view, or of several side by side.

    M independent cuts as in U-SPEC, each with its own anchors and number of clusters; the graph between samples and
    base clusters is cut again:

    .. math:: \min_F \operatorname{Tr}(F^\top L F) \quad \text{s.t. } F^\top D F = I

    with L the Laplacian and D the degrees of that bipartite graph.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters k.
    n_base_clusterings : int, default=20
        Size M of the ensemble; more of them make the result steadier, at proportional cost.
    n_anchors : int, default=1000
        Anchors p of a base clustering, at most n; more of them follow finer shapes.
    n_neighbors : int, default=5
        Links K of a sample; more of them blur.
    base_cluster_range : (int, int), default=None
        Range of the number of clusters of a base clustering, both ends included, cut to what n and p allow. None: the
        published (20, 60), with less than 600 samples so few that a base cluster has ten samples on average.
    metric : {"auto", "euclidean", "cosine"}, default="auto"
        "auto": cosine where all views are sparse without negative entries, else Euclidean.
    search : {"auto", "exact", "approximate"}, default="auto"
        How nearest anchors are found. "approximate" is the published search through regions of anchors; "auto" takes
        what is cheaper, but the approximate one only where it finds 97 % of the true neighbours of a few samples.
    discretization : {"kmeans", "paper"}, default="kmeans"
        How an embedding becomes labels. "kmeans": unit rows, k-means from k-means++, as the released code. "paper":
        columns divided by :math:`\sqrt\mu`, rows of any length.
    n_init : int, default=3
        Starts of the last k-means.
    view_weights : mapping or sequence of float, default=None
        What each view counts, relative to the others: 2 doubles its squared distances, as if it were given twice; 0
        leaves it out. Views that a mapping leaves out get 1. By default all alike.
    scaling : {"auto", "standard", "minmax", "unit", "tfidf"}, mapping or None, default="auto"
        What is done to each view first. "auto": as in FastMICE; several views are then brought to rows of the same mean
        length. The paper: None.
    views : list of int or mapping, default=None
        How one table is cut into views.
    random_state : int, RandomState, Generator or None, default=None
        Seed of every draw; one child generator per base clustering.
    n_jobs : int, default=None
        Base clusterings made at a time, in threads; -1 uses all cores. The labels do not depend on it.
    verbose : int, default=0
        1 prints what is being done.

    Attributes
    ----------
    labels_ : ndarray of shape (n,), int64
        Cluster of each sample, 0 .. k-1, largest cluster first.
    confidence_ : ndarray of shape (n,)
        Which part of a sample's base clusters shares its label, on average over the base clusterings.
    base_labels_ : ndarray of shape (n, M), int32
        Base clusterings; -1 where a sample has no direction under the cosine metric.
    n_base_clusters_ : ndarray of shape (M,)
        Numbers of clusters of the base clusterings.
    history_ : History
        The relaxed normalised cut of the consensus; the method has no iterations to follow.
    n_iter_, converged_ : int, bool
        1 and True.
    scalings_ : tuple of str or None
        What was done to each view first; None for nothing.
    n_views_in_, n_features_in_ : int
        Number of views and of columns in all.
    view_names_in_, n_view_features_in_ : ndarray of shape (V,)
        Names of the views and their numbers of columns.

    Raises
    ------
    ValueError
        For a range that is none, or fewer anchors than clusters, next to the errors of every method.

    See Also
    --------
    USPEC : One cut.
    FastMICE : The multi-view method that grew from this one.

    Notes
    -----
    Cost: M times that of U-SPEC, and O(n M²) for the consensus.

    References
    ----------
    D. Huang, C.-D. Wang, J.-S. Wu, J.-H. Lai, C.-K. Kwoh. Ultra-Scalable Spectral Clustering and Ensemble Clustering.
    IEEE Transactions on Knowledge and Data Engineering 32(6), 2020, 1212-1226.
    https://doi.org/10.1109/TKDE.2019.2903410

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from manyviews import USENC
    >>> X, _ = make_moons(400, noise=0.05, random_state=0)
    >>> USENC(n_clusters=2, n_anchors=100, random_state=0).fit(X).base_labels_.shape
    (400, 20)
    """

    _accepts_missing: ClassVar[bool] = False
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = AnchorEnsembleClusterer._parameter_constraints | {
        "n_base_clusterings": [POSITIVE_INT],
        "n_anchors": [POSITIVE_INT],
        "n_neighbors": [POSITIVE_INT],
        "base_cluster_range": [tuple, list, None],
        "metric": [one_of("auto", "euclidean", "cosine")],
        "search": [one_of("auto", "exact", "approximate")],
        "discretization": [one_of("kmeans", "paper")],
        "n_init": [POSITIVE_INT],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_base_clusterings: int = 20,
        n_anchors: int = 1000,
        n_neighbors: int = 5,
        base_cluster_range: tuple[int, int] | None = None,
        metric: str = "auto",
        search: SearchChoice = "auto",
        discretization: str = "kmeans",
        n_init: int = 3,
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
        self.n_base_clusterings = n_base_clusterings
        self.n_anchors = n_anchors
        self.n_neighbors = n_neighbors
        self.base_cluster_range = base_cluster_range
        self.metric = metric
        self.search = search
        self.discretization = discretization
        self.n_init = n_init

    def _memory_estimate(self, views: Views) -> int:
        n, both = len(views), stored_width(views.arrays)
        widths = (*both, both[1])
        largest, M = self._cluster_range(n)[1], self.n_base_clusterings
        if keeps_concatenation(views, self.n_anchors, self.search):
            ensemble = self._ensemble_bytes(n, M, largest, 0.0, (0.0, 0.0, 0.0))
            return ensemble + kept_bytes(n, [both[0]], 1.0, jobs_at_a_time(self.n_jobs, M))
        return self._ensemble_bytes(n, self.n_base_clusterings, largest, anchor_width(both), widths)

    def _cluster_range(self, n: int) -> tuple[int, int]:
        k = self.n_clusters
        check_anchors(self.n_anchors, k)
        limits = (1, min(max(k, n - 1), self.n_anchors))
        usual = (min(20, max(k, n // 20)), min(60, max(2 * k, n // 10)))
        return checked_range(self.base_cluster_range, (min(usual), max(usual)), limits, "base_cluster_range")

    def _fit(self, views: Views, rng: np.random.Generator) -> NDArray[np.int64]:
        draw_rng, fit_rng = rng.spawn(2)
        scalings, telling = self._scalings(views.names), self._telling(views)
        self._concatenation = Concatenation.fit(views.arrays, scalings, self.metric, telling, self._weights.tolist())
        self.scalings_ = self._concatenation.scalings
        clusters = self._cluster_range(len(views))
        draws = draw_groups(self.n_base_clusterings, 1, clusters, (1, 1), (1.0, 1.0), draw_rng)
        base, last = (EmbeddingRule(self.discretization, *steps) for steps in ((5, 1), (100, self.n_init)))  # type: ignore[arg-type]
        recipe = CutRecipe(
            1, self.n_anchors, self.n_neighbors, self.search, base, False, anchor_iter=10, region_iter=20
        )
        arrays, observed = self._sources(views)
        settings = EnsembleSettings(recipe, draws, last, "equal")
        return self._fit_ensemble(arrays, observed, [self._concatenation.treatment], settings, fit_rng)

    def _sources(self, views: Views) -> tuple[tuple[Any, ...], NDArray[np.bool_]]:
        return (self._concatenation.of(views.arrays),), np.ones((len(views), 1), dtype=bool)
