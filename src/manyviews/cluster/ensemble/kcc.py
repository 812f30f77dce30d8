r"""K-means-based consensus clustering: a utility maximised by k-means on the one-hot rows of all partitions."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from manyviews.cluster.constraints import ABOVE_ONE, NON_NEGATIVE, POSITIVE_INT, one_of
from manyviews.cluster.ensemble.base import EnsembleClusterer
from manyviews.cluster.result import FitResult
from manyviews.cluster.sample_weight import SampleWeightMixin
from manyviews.linalg.blocks import row_blocks
from manyviews.partitions.coassociation import OneHotRows
from manyviews.partitions.discretize import center_confidence
from manyviews.partitions.utility_kmeans import (
    TINY,
    UTILITIES,
    ConsensusRun,
    assign_one_hot,
    block_costs,
    consensus_kmeans,
    partition_scales,
)
from manyviews.views import Views

__all__ = ["KCC"]

Array = NDArray[Any]
Labels = NDArray[np.int64]
# per base label: it and its copy, as one-hot rows are made by blocks
ONE_HOT_IN_BLOCKS_BYTES = 18


class KCC(SampleWeightMixin, EnsembleClusterer):
    r"""K-means-based consensus clustering (KCC).

    Each view is clustered many times. The consensus π is the one that shares most with all base partitions,

    .. math:: \max_\pi \sum_i w_i\, U(\pi, \pi_i), \qquad U = \sum_k p_k\, \phi(c_{k,i}) - \phi(q_i)

    with :math:`c_{k,i}` the shares of the base clusters of partition i within consensus cluster k, :math:`q_i` those
    among all samples, and φ convex. For such utilities it is found by k-means on the one-hot rows of all partitions.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters k.
    base : {"features", "labels"}, default="features"
        What each view holds: features (n, d_v), or labels (n, r_v) of partitions made elsewhere, -1 where a partition
        lacks a sample.
    n_base_clusterings : int, default=100
        k-means runs r per view; more make the result steadier.
    base_cluster_range : tuple of int, default=None
        Smallest and largest number of clusters of a run; raising them makes the partitions finer. By default
        ``n_clusters`` and :math:`\lceil\sqrt n\rceil`.
    metric : {"auto", "cosine", "euclidean"}, default="auto"
        Similarity in the k-means runs. "auto": the cosine for sparse views, else the Euclidean distance.
    utility : {"categorical", "entropy", "cosine", "lp"}, default="categorical"
        φ: squared norm (:math:`U_c`), negative entropy (:math:`U_H`), norm (:math:`U_{\cos}`) or p-norm
        (:math:`U_{L_p}`).
    utility_power : float, default=5.0
        p of "lp"; raising it looks at the largest base cluster only.
    normalize_utility : bool, default=False
        Divide the weight of a partition by :math:`|\phi(q_i)|`, so that fine and coarse ones weigh alike.
    base_weights : array-like of shape (M,), default=None
        Weights :math:`w_i` of the partitions of all views in order; 1 by default.
    n_init : int, default=10
        Starts of which the one with the smallest sum of distances is kept.
    tol : float, default=1e-5
        Change of the sum of distances that ends a start.
    max_iter : int, default=40
        Most iterations of a start.
    view_weights : mapping or sequence of float, default=None
        What each view counts, relative to the others: how many of the base clusterings are made of it; with
        base="labels" only 0 and equal ones; 0 leaves it out. Views that a mapping leaves out get 1. By default all
        alike.
    scaling : {"auto", "standard", "minmax", "unit", "tfidf", "tfidf_plain"}, mapping or None, default="auto"
        What is done to each view first; see ``MVEC``.
    views : list of int or mapping, default=None
        How one table is cut into views.
    random_state : int, RandomState, Generator or None, default=None
        Seed of partitions and starts.
    n_jobs : int, default=None
        Jobs for the partitions; -1 uses all cores.
    verbose : int, default=0
        1 prints what is being done.

    Attributes
    ----------
    labels_ : ndarray of shape (n,), int64
        Cluster of each sample, 0 .. k-1, largest cluster first.
    base_labels_ : ndarray of shape (n, M), int64
        Base labels in the partitions of all views, -1 for none.
    confidence_ : ndarray of shape (n,)
        1 - nearest / second nearest distance to the centroids: 0 is a tie.
    history_ : History
        Sum of distances after each iteration of the best start.
    n_iter_, converged_ : int, bool
        Iterations of the best start, and whether it met ``tol``.
    scalings_ : tuple of str or None
        What was done to each view first; None for nothing.
    n_views_in_, n_features_in_ : int
        Number of views and of columns in all.
    view_names_in_, n_view_features_in_ : ndarray of shape (m,)
        Names of the views and their numbers of columns.

    See Also
    --------
    SEC : k-means that solves a spectral clustering of the co-association matrix.

    Notes
    -----
    Cost: O(n M k) time per iteration and O(n M) memory for M partitions in all. New samples get base labels from the
    nearest stored centres, then the nearest centroid; the training samples get ``labels_`` again.

    References
    ----------
    J. Wu, H. Liu, H. Xiong, J. Cao, J. Chen. K-means-based Consensus Clustering: A Unified View. IEEE Transactions on
    Knowledge and Data Engineering 27(1), 2015, 155-169. https://doi.org/10.1109/TKDE.2014.2316512

    Examples
    --------
    >>> from manyviews import KCC, datasets
    >>> data = datasets.make_blobs_views(n_samples=90, n_features=(5, 4), n_clusters=3, random_state=0)
    >>> KCC(n_clusters=3, random_state=0).fit(data.views).labels_.shape
    (90,)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = EnsembleClusterer._parameter_constraints | {
        "utility": [one_of(*UTILITIES)],
        "utility_power": [ABOVE_ONE],
        "normalize_utility": ["boolean"],
        "base_weights": ["array-like", None],
        "n_init": [POSITIVE_INT],
        "tol": [NON_NEGATIVE],
        "max_iter": [POSITIVE_INT],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        base: str = "features",
        n_base_clusterings: int = 100,
        base_cluster_range: Any = None,
        metric: str = "auto",
        utility: str = "categorical",
        utility_power: float = 5.0,
        normalize_utility: bool = False,
        base_weights: Any = None,
        n_init: int = 10,
        tol: float = 1e-5,
        max_iter: int = 40,
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
        self.base = base
        self.n_base_clusterings = n_base_clusterings
        self.base_cluster_range = base_cluster_range
        self.metric = metric
        self.utility = utility
        self.utility_power = utility_power
        self.normalize_utility = normalize_utility
        self.base_weights = base_weights
        self.n_init = n_init
        self.tol = tol
        self.max_iter = max_iter

    def _label_bytes(self) -> int:
        return ONE_HOT_IN_BLOCKS_BYTES

    def _fit(self, views: Views, rng: np.random.Generator, counts: Array | None = None) -> NDArray[np.int64]:
        partition_rng, start_rng = rng.spawn(2)
        self._make_partitions(views, partition_rng, counts)
        labels = self.base_labels_
        self._widths = labels.max(axis=0) + 1
        B = OneHotRows(labels, self._widths)
        weights = self._partition_weights(labels.shape[1])
        if self.normalize_utility:
            scales = partition_scales(B, self._widths, self.utility, self.utility_power, counts)
            weights = weights / np.maximum(scales, TINY)
        best = min(
            (self._run(B, weights, child, counts) for child in start_rng.spawn(self.n_init)),
            key=lambda run: run.history.objective[-1],
        )
        self._costs = block_costs(best.centers, self._widths, weights, self.utility, self.utility_power)
        found, confidence = self._placed(B)
        return self._record(FitResult(found, best.history, confidence=confidence))

    def _placed(self, B: OneHotRows) -> tuple[Labels, Array]:
        """Return labels and confidence of one-hot rows."""
        n = B.shape[0]
        confidence, found = np.empty(n), np.empty(n, dtype=np.int64)
        for rows in row_blocks(n):
            distances = B[rows] @ self._costs
            confidence[rows] = center_confidence(np.maximum(distances, 0.0))
            found[rows] = distances.argmin(axis=1)
        return found, confidence

    def _run(self, B: Any, weights: Array, rng: np.random.Generator, counts: Array | None) -> ConsensusRun:
        seeds = B[np.sort(rng.choice(B.shape[0], self.n_clusters, replace=False))]
        return consensus_kmeans(
            B,
            self._widths,
            seeds.toarray().astype(np.float64),
            weights=weights,
            utility=self.utility,
            power=self.utility_power,
            tol=self.tol,
            max_iter=self.max_iter,
            counts=counts,
        )

    def _partition_weights(self, n_base_clusterings: int) -> Array:
        if self.base_weights is None:
            return np.ones(n_base_clusterings)
        weights = np.asarray(self.base_weights, dtype=np.float64)
        if weights.shape != (n_base_clusterings,) or (weights < 0).any() or not weights.any():
            raise ValueError(
                f"base_weights must be {n_base_clusterings} non-negative numbers, one per partition in use, "
                f"got shape {weights.shape}"
            )
        return weights

    def _predict(self, views: Views) -> NDArray[np.int64]:
        B = OneHotRows(self._new_base_labels(views), self._widths)
        return assign_one_hot(B, self._costs)[0]

    def _found_for(self, views: Views) -> dict[str, Array]:
        base_labels = self._new_base_labels(views)
        return {"base_labels_": base_labels, "confidence_": self._placed(OneHotRows(base_labels, self._widths))[1]}
