r"""Clustering in the directions in which views correlate: canonical correlation analysis, then k-means.

Two views: singular vectors of :math:`C_{xx}^{-1/2} C_{xy} C_{yy}^{-1/2}`. Any other number: leading eigenvectors of the
sum of the views' (ridge) projectors, the MAXVAR generalisation, which for two views spans the same directions.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manyviews.cluster.base import MultiViewClusterer, PredictMixin
from manyviews.cluster.constraints import NON_NEGATIVE, POSITIVE_INT, one_of
from manyviews.cluster.memory import copy_bytes, kmeans_bytes
from manyviews.cluster.parallel import in_threads, jobs_at_a_time
from manyviews.cluster.result import FitResult
from manyviews.linalg.eigen import column_signs, leading_singular, top_eigenpairs
from manyviews.linalg.scaling import apply_scaling, fit_scaling
from manyviews.partitions.discretize import center_confidence
from manyviews.prototypes.kmeans import kmeans, nearest_center_distances
from manyviews.views import Views

__all__ = ["CCAClustering", "Directions", "canonical_directions", "maxvar_directions"]

Array = NDArray[Any]
# directions with less than this share of a view's largest variance are rounding
RANK_CUTOFF = 1e-12
# sparse views with more columns are reduced to so many singular directions
MOST_DIRECTIONS = 500


class Directions(NamedTuple):
    """Correlations (d,), and for each view its mean (p,) and projection (p, d)."""

    correlations: Array
    means: list[Array]
    projections: list[Array]


class Whitened(NamedTuple):
    """A view's mean (p,), what turns centred rows into uncorrelated ones of variance at most 1 (p, r), these rows."""

    mean: Array
    transform: Array
    rows: Array


def canonical_directions(
    arrays: tuple[Any, ...], d: int, ridge: tuple[float, ...], rng: np.random.Generator, n_jobs: int | None = None
) -> Directions:
    """Return the d leading pairs of canonical directions of two views.

    Parameters
    ----------
    arrays : pair of ndarray or CSR of shape (n, p_v)
        Views.
    d : int
        Number of pairs; fewer where a view has a smaller rank.
    ridge : pair of float
        Added to the diagonal of each view's covariance.
    rng : Generator
        Start of the sparse singular value decomposition.
    n_jobs : int, default=None
        Views whitened at the same time.

    Returns
    -------
    Directions
        Correlations, descending; the entry of largest modulus in each column of the first projection is positive.
    """
    x, y = _whitened(arrays, ridge, rng, n_jobs)
    U, s, Vt = np.linalg.svd(x.rows.T @ y.rows / x.rows.shape[0], full_matrices=False)
    A, B = x.transform @ U[:, :d], y.transform @ Vt[:d].T
    signs = column_signs(A)
    return Directions(s[:d], [x.mean, y.mean], [A * signs, B * signs])


def maxvar_directions(
    arrays: tuple[Any, ...], d: int, ridge: tuple[float, ...], rng: np.random.Generator, n_jobs: int | None = None
) -> Directions:
    """Return for any number of views the directions whose sum has the largest variance, view by view whitened.

    Parameters
    ----------
    arrays : tuple of ndarray or CSR of shape (n, p_v)
        Views.
    d : int
        Number of directions.
    ridge : tuple of float
        Added to the diagonal of each view's covariance.
    rng : Generator
        Start of the sparse singular value decomposition.
    n_jobs : int, default=None
        Views whitened at the same time.

    Returns
    -------
    Directions
        Eigenvalues of the mean projector, descending, and projections.
    """
    white = _whitened(arrays, ridge, rng, n_jobs)
    stacked = np.hstack([w.rows for w in white])
    values, vectors = top_eigenpairs(stacked.T @ stacked / len(stacked), min(d, stacked.shape[1]))
    blocks = np.split(vectors, np.cumsum([w.rows.shape[1] for w in white])[:-1])
    projections = [w.transform @ block for w, block in zip(white, blocks, strict=True)]
    return Directions(values / len(white), [w.mean for w in white], projections)


def _whitened(
    arrays: tuple[Any, ...], ridge: tuple[float, ...], rng: np.random.Generator, n_jobs: int | None
) -> list[Whitened]:
    items = zip(arrays, ridge, rng.spawn(len(arrays)), strict=True)
    return list(in_threads(_whiten, items, n_jobs))


def _whiten(X: Any, ridge: float, rng: np.random.Generator) -> Whitened:
    n, p = X.shape
    basis: Array | None
    if sparse.issparse(X) and p <= MOST_DIRECTIONS:
        X = X.toarray()  # no larger than the rows in singular directions, of which one would be lost
    if sparse.issparse(X):
        basis = _sparse_basis(X, rng)
        Z = X @ basis
        mean = np.asarray(X.mean(axis=0)).ravel()
    else:
        mean = X.mean(axis=0, dtype=np.float64)
        basis = np.linalg.svd(X - mean, full_matrices=False)[2].T if p > n else None
        Z = np.asarray(X - mean, dtype=np.float64) if basis is None else (X - mean) @ basis
    Z = Z - Z.mean(axis=0)
    variances, V = top_eigenpairs(Z.T @ Z / n, Z.shape[1])
    kept = variances > RANK_CUTOFF * max(variances[0], np.finfo(float).tiny)
    if not kept.any():
        kept, ridge = np.arange(variances.size) < 1, 1.0
    transform = V[:, kept] / np.sqrt(np.maximum(variances[kept], 0.0) + ridge)
    return Whitened(mean, transform if basis is None else basis @ transform, Z @ transform)


class CCAClustering(MultiViewClusterer, PredictMixin):
    r"""Multi-view clustering via canonical correlation analysis.

    .. math:: \max_{A, B} \operatorname{Tr}(A^\top C_{xy} B), \qquad A^\top (C_{xx} + r_x I) A
              = B^\top (C_{yy} + r_y I) B = I_d

    then k-means on the projected views. If two views are uncorrelated given the cluster, the k - 1 leading directions
    span the means of the clusters. With more views, the leading eigenvectors of the sum of the projectors
    :math:`X_v (X_v^\top X_v + n r_v I)^{-1} X_v^\top` are found instead (MAXVAR).

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters k.
    n_components : int, default=None
        Number d of directions; by default k - 1. More of them add noise: each has the same variance.
    regularization : float, default=0.1
        Ridge, in units of the mean variance of a view's columns; raising it turns towards principal components. The
        paper has 0, which with more columns than samples correlates anything with anything.
    side : {"concat", "sum", "view"}, default="concat"
        What is clustered: projections of all views side by side, their sum, or that of one ``view``, as in the paper.
    view : str, default=None
        Name of the view whose projection ``side="view"`` clusters; by default the first one.
    n_init : int, default=10
        k-means++ starts.
    view_weights : mapping or sequence of float, default=None
        0 leaves a view out; only 0 and equal ones: directions of views that go together know no weights. Views that a
        mapping leaves out get 1. By default all alike.
    scaling : {"auto", "standard", "minmax", "unit", "tfidf"}, mapping or None, default="auto"
        What is done to each view first. "auto": standardised if dense, tf-idf and unit rows if sparse.
    views : list of int or mapping, default=None
        How one table is cut into views.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the k-means starts.
    n_jobs : int, default=None
        Views whitened at the same time.
    verbose : int, default=0
        1 prints what is being done.

    Attributes
    ----------
    labels_ : ndarray of shape (n,), int64
        Cluster of each sample, 0 .. k-1, largest cluster first.
    correlations_ : ndarray of shape (d,)
        Canonical correlations; with other than two views, eigenvalues of the mean projector.
    projections_ : list of ndarray of shape (p_v, d)
        Directions in each scaled view, constant views left out.
    embedding_ : ndarray of shape (n, q)
        What was clustered.
    inertia_ : float
        Sum of squared distances to the centres of k-means.
    confidence_ : ndarray of shape (n,)
        1 - nearest / second nearest distance to the centres: 0 is a tie.
    history_ : History
        The sum of the correlations; there is nothing to iterate.
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
    ConcatKMeans : Also uses what views do not share.

    Notes
    -----
    The paper finds directions on one half of the samples and clusters the other by single linkage; as in later
    comparisons, all samples are used for both, with k-means. Cost: O(n (Σ p)² + (Σ p)³), where a view with more columns
    than samples counts with n of them, a sparse one with at most 500 singular directions.

    References
    ----------
    K. Chaudhuri, S. M. Kakade, K. Livescu, K. Sridharan. Multi-View Clustering via Canonical Correlation Analysis.
    ICML 2009, 129-136. https://doi.org/10.1145/1553374.1553391

    Examples
    --------
    >>> from manyviews import CCAClustering, datasets
    >>> data = datasets.make_blobs_views(n_samples=90, n_features=(5, 4), n_clusters=3, random_state=0)
    >>> CCAClustering(n_clusters=3, random_state=0).fit(data.views).correlations_.shape
    (2,)
    """

    _weightless: ClassVar[str] = "it looks for what views have in common"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = MultiViewClusterer._parameter_constraints | {
        "n_components": [POSITIVE_INT, None],
        "regularization": [NON_NEGATIVE],
        "side": [one_of("concat", "sum", "view")],
        "view": [str, None],
        "n_init": [POSITIVE_INT],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_components: int | None = None,
        regularization: float = 0.1,
        side: str = "concat",
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
        self.n_components = n_components
        self.regularization = regularization
        self.side = side
        self.view = view
        self.n_init = n_init

    def _memory_estimate(self, views: Views) -> int:
        n = len(views)
        # whitened rows of every view, for other than two views side by side too; two more of each that is being made
        ranks = [int(min(X.shape[1], n, MOST_DIRECTIONS if sparse.issparse(X) else n)) for X in views.arrays]
        made = sorted(ranks)[-jobs_at_a_time(self.n_jobs, len(ranks)) :]
        white = (1 if len(ranks) == 2 else 2) * sum(ranks) + 2 * sum(made)
        bases = sum(2 * r * int(X.shape[1]) for r, X in zip(ranks, views.arrays, strict=True))
        return sum(map(copy_bytes, views.arrays)) + 8 * (n * white + bases) + kmeans_bytes(n, self.n_clusters)

    def _fit(self, views: Views, rng: np.random.Generator) -> NDArray[np.int64]:
        if self.view is not None and self.side != "view":
            raise ValueError(f"view={self.view!r} has no meaning with side={self.side!r}; give side='view'")
        if self.view not in (None, *views.names):
            raise ValueError(f"there is no view {self.view!r}; the views are {list(views.names)}")
        direction_rng, start_rng = rng.spawn(2)
        self._scaling = list(map(fit_scaling, views.arrays, self._choose_scalings(views)))
        self._told = self._telling(views)
        if self.view is not None and views.names.index(self.view) not in self._told:
            raise ValueError(f"view {self.view!r} is constant: there is nothing to cluster; name another view")
        arrays = self._scaled(views)
        d = self.n_components or max(1, self.n_clusters - 1)
        ridge = tuple(self.regularization * _mean_variance(X) for X in arrays)
        directions = canonical_directions if len(arrays) == 2 else maxvar_directions
        found = directions(arrays, d, ridge, direction_rng, self.n_jobs)
        self.correlations_, self._means, self.projections_ = found
        embedding = self._project(arrays)
        result = kmeans(embedding, self.n_clusters, start_rng, n_init=self.n_init)
        self._centers, self.inertia_ = result.centers, result.inertia
        confidence = center_confidence(nearest_center_distances(embedding, result.centers))
        total = self.correlations_.sum()
        return self._record(FitResult.of_one_step(result.labels, total, embedding=embedding, confidence=confidence))

    def _scaled(self, views: Views) -> tuple[Any, ...]:
        return tuple(apply_scaling(views.arrays[v], self._scaling[v]) for v in self._told)

    def _project(self, arrays: tuple[Any, ...]) -> Array:
        variates = [X @ A - mean @ A for X, A, mean in zip(arrays, self.projections_, self._means, strict=True)]
        if self.side == "concat":
            return np.hstack(variates)
        if self.side == "sum":
            return np.asarray(np.sum(variates, axis=0))
        place = 0 if self.view is None else self._told.index(self._fitted_views.names.index(self.view))
        return np.asarray(variates[place])

    def _predict(self, views: Views) -> NDArray[np.int64]:
        distances = nearest_center_distances(self._project(self._scaled(views)), self._centers)
        return np.asarray(distances.argmin(axis=1), dtype=np.int64)


def _sparse_basis(X: Any, rng: np.random.Generator) -> Array:
    """Return the leading right singular vectors of a sparse view, (p, r)."""
    n, p = X.shape
    rank = min(MOST_DIRECTIONS, n - 1, p - 1)
    if rank < 1 or X.count_nonzero() == 0:
        return np.eye(p, 1)
    return leading_singular(X.astype(np.float64), rank, rng)[2]


def _mean_variance(X: Any) -> float:
    """Return the mean variance of the columns."""
    if sparse.issparse(X):
        mean = np.asarray(X.mean(axis=0)).ravel()
        return float((X.multiply(X).sum() / X.shape[0] - mean @ mean) / X.shape[1])
    return float(X.var(axis=0, dtype=np.float64).mean())
