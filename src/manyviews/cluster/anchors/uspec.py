r"""U-SPEC: spectral clustering of one feature set by the cut of a sparse graph between samples and anchors."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from manyviews.cluster.anchors.base import keeps_concatenation, treated_rows, wide_rows
from manyviews.cluster.anchors.checks import check_anchors
from manyviews.cluster.base import MultiViewClusterer, PredictMixin
from manyviews.cluster.constraints import POSITIVE_INT, one_of
from manyviews.cluster.memory import stored_width
from manyviews.cluster.parallel import one_blas_thread, over_blocks
from manyviews.cluster.result import FitResult
from manyviews.partitions.anchor_cut import cut_bytes, fit_anchor_cut
from manyviews.partitions.discretize import EmbeddingRule
from manyviews.partitions.fallback import fit_fallback
from manyviews.partitions.view_links import CutRecipe, SearchChoice
from manyviews.prototypes.concatenation import Concatenation
from manyviews.prototypes.row_means import kept_bytes
from manyviews.prototypes.sampled_rows import ColumnSample
from manyviews.views import Views

__all__ = ["USPEC"]


class USPEC(MultiViewClusterer, PredictMixin):
    r"""Ultra-scalable spectral clustering (U-SPEC) of one view, or of several side by side.

    Each sample is linked to its K nearest of p anchors by :math:`b_{ij} = \exp(-d_{ij}^2 / 2\sigma^2)`, σ the mean
    distance, and the graph B (n, p) is cut by

    .. math:: \min_F \operatorname{Tr}(F^\top L F) \quad \text{s.t. } F^\top D F = I

    with L the Laplacian and D the degrees of the bipartite graph; the problem is solved on the anchors.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters k, at most the number of anchors.
    n_anchors : int, default=1000
        Anchors p, at most n; more of them follow finer shapes.
    n_neighbors : int, default=5
        Links K of a sample; more of them blur.
    metric : {"auto", "euclidean", "cosine"}, default="auto"
        "auto": cosine where all views are sparse without negative entries, else Euclidean.
    search : {"auto", "exact", "approximate"}, default="auto"
        How nearest anchors are found. "approximate" is the published search through regions of anchors; "auto" takes
        what is cheaper, but the approximate one only where it finds 97 % of the true neighbours of a few samples.
    discretization : {"kmeans", "paper"}, default="kmeans"
        How the embedding becomes labels. "kmeans": unit rows, k-means from k-means++, as the released code. "paper":
        columns divided by :math:`\sqrt\mu`, rows of any length.
    n_init : int, default=3
        Starts of the k-means.
    view_weights : mapping or sequence of float, default=None
        What each view counts, relative to the others: 2 doubles its squared distances, as if it were given twice; 0
        leaves it out. Views that a mapping leaves out get 1. By default all alike.
    scaling : {"auto", "standard", "minmax", "unit", "tfidf"}, mapping or None, default="auto"
        What is done to each view first. "auto": as in FastMICE; several views are then brought to rows of the same mean
        length. The paper: None.
    views : list of int or mapping, default=None
        How one table is cut into views.
    random_state : int, RandomState, Generator or None, default=None
        Seed of anchors and starts.
    n_jobs : int, default=None
        Blocks of samples whose nearest anchors are sought at a time; -1 uses all cores.
    verbose : int, default=0
        1 prints what is being done.

    Attributes
    ----------
    labels_ : ndarray of shape (n,), int64
        Cluster of each sample, 0 .. k-1, largest cluster first.
    history_ : History
        The relaxed normalised cut; the method has no iterations to follow.
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
        If there are fewer anchors than clusters, next to the errors of every method.

    See Also
    --------
    USENC : An ensemble of such cuts: slower, steadier, better.
    FastMICE : The multi-view method.

    Notes
    -----
    Cost: O(n p d) time with the exact search for d columns, O(n √p d) with the approximate one; O(n (K + k)) memory
    beyond the views, which are read in blocks of rows. Several views are put side by side with equal weight. A sparse
    row without entries follows its nearest labelled neighbours.

    References
    ----------
    D. Huang, C.-D. Wang, J.-S. Wu, J.-H. Lai, C.-K. Kwoh. Ultra-Scalable Spectral Clustering and Ensemble Clustering.
    IEEE Transactions on Knowledge and Data Engineering 32(6), 2020, 1212-1226.
    https://doi.org/10.1109/TKDE.2019.2903410

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from manyviews import USPEC
    >>> X, _ = make_moons(400, noise=0.05, random_state=0)
    >>> USPEC(n_clusters=2, n_anchors=100, random_state=0).fit(X).labels_.shape
    (400,)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = MultiViewClusterer._parameter_constraints | {
        "n_anchors": [POSITIVE_INT],
        "n_neighbors": [POSITIVE_INT],
        "metric": [one_of("auto", "euclidean", "cosine")],
        "search": [one_of("auto", "exact", "approximate")],
        "discretization": [one_of("kmeans", "paper")],
        "n_init": [POSITIVE_INT],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_anchors: int = 1000,
        n_neighbors: int = 5,
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
        self.n_anchors = n_anchors
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.search = search
        self.discretization = discretization
        self.n_init = n_init

    def _memory_estimate(self, views: Views) -> int:
        n, (width, stored) = len(views), stored_width(views.arrays)
        if keeps_concatenation(views, self.n_anchors, self.search):
            cut = cut_bytes(n, min(self.n_anchors, n), self.n_neighbors, self.n_clusters, 0.0, 0.0, 0.0)
            return cut + kept_bytes(n, [width], 1.0, 1)
        return cut_bytes(n, min(self.n_anchors, n), self.n_neighbors, self.n_clusters, width, stored, stored)

    def _fit(self, views: Views, rng: np.random.Generator) -> NDArray[np.int64]:
        check_anchors(self.n_anchors, self.n_clusters)
        cut_rng, fallback_rng = rng.spawn(2)
        scalings, telling = self._scalings(views.names), self._telling(views)
        self._concatenation = Concatenation.fit(views.arrays, scalings, self.metric, telling, self._weights.tolist())
        self.scalings_ = self._concatenation.scalings
        arrays, treatment = (self._concatenation.of(views.arrays),), self._concatenation.treatment
        rule = EmbeddingRule(self.discretization, 100, self.n_init)  # type: ignore[arg-type]
        recipe = CutRecipe(
            self.n_clusters, self.n_anchors, self.n_neighbors, self.search, rule, False, anchor_iter=10, region_iter=20
        )
        everywhere = np.ones((len(views), 1), dtype=bool)
        with one_blas_thread():
            kept = treated_rows(wide_rows(arrays, everywhere, recipe), [treatment])
            own = treatment if kept == (None,) else ColumnSample.of(treatment, np.arange(treatment.width))
            over = over_blocks(self.n_jobs)
            labels, self._cut = fit_anchor_cut(arrays, everywhere, [(0, own)], recipe, cut_rng, kept, over=over)
            self._fallback = fit_fallback(
                arrays, everywhere, [treatment], labels.astype(np.int64), self.n_clusters, fallback_rng, kept
            )
        cut_values = np.zeros(1) if self._cut is None else self._cut.values
        found = self._complete(labels.astype(np.int64), arrays)
        return self._record(FitResult.of_one_step(found, (1.0 - cut_values).sum()))

    def _complete(self, labels: NDArray[np.int64], arrays: tuple[Any, ...]) -> NDArray[np.int64]:
        silent = np.flatnonzero(labels < 0)
        if silent.size:
            labels[silent] = self._fallback.place(arrays, np.ones((labels.size, 1), dtype=bool), silent)
        return labels

    def _predict(self, views: Views) -> NDArray[np.int64]:
        arrays = (self._concatenation.of(views.arrays),)
        with one_blas_thread():
            if self._cut is None:
                labels = np.full(len(views), -1, dtype=np.int64)
            else:
                everywhere = np.ones((len(views), 1), dtype=bool)
                labels = self._cut.predict(arrays, everywhere, over_blocks(self.n_jobs)).astype(np.int64)
            return self._complete(labels, arrays)
