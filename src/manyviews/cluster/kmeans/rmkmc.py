r"""Robust multi-view k-means: distances that are not squared, and a weight for every view.

minimise :math:`\sum_v \alpha_v^\gamma \sum_i \|x_i^{(v)} - f_{g_i}^{(v)}\|` over one-hot labels g, centres f and
weights :math:`\alpha \ge 0`, :math:`\sum_v \alpha_v = 1`, by k-means steps with re-weighted samples.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from manyviews.cluster.constraints import ABOVE_ONE, NON_NEGATIVE, POSITIVE_INT, one_of
from manyviews.cluster.kmeans.base import CentroidClusterer
from manyviews.cluster.parallel import in_threads
from manyviews.cluster.result import FitResult
from manyviews.optim.alternating import alternate
from manyviews.optim.history import History
from manyviews.prototypes.lloyd import fill_empty
from manyviews.prototypes.starts import sampled_start
from manyviews.prototypes.weighted import Stack, assign, centroids
from manyviews.views import Views

__all__ = ["RMKMC", "RobustRun", "robust_sweep", "solve_rmkmc", "start_labels", "view_shares"]

Array = NDArray[Any]
# added to squared distances before the root, as in the released code
EPS = 2.2e-16
RANDOM_SWEEPS = 5


class RobustState(NamedTuple):
    """Labels (n,), centres per view, view weights α (V,) and sample weights d (V, n)."""

    labels: NDArray[np.int64]
    centers: list[Array]
    alpha: Array
    d: Array


class RobustRun(NamedTuple):
    """The last state of a start, and its history."""

    state: RobustState
    history: History


def robust_sweep(stack: Stack, state: RobustState, gamma: float, wanted: Array) -> tuple[RobustState, float]:
    """One iteration: centres, labels, view weights, sample weights; returns the objective too.

    Parameters
    ----------
    stack : Stack
        The views.
    state : RobustState
        Labels and weights so far.
    gamma : float
        Exponent of the view weights, above 1.
    wanted : ndarray of shape (V,)
        How often each view is there; its α is that of one copy.

    Returns
    -------
    state : RobustState
        New state.
    objective : float
        Weighted sum of distances.
    """
    centers = centroids(stack, state.labels, state.d, state.centers)
    current = assign(stack, centers, state.d)
    k = centers[0].shape[0]
    if fill_empty(current.labels, stack.counted((current.losses * state.d).sum(axis=0)), k):
        centers = centroids(stack, current.labels, state.d, centers)
        current = assign(stack, centers, state.d)
    # what is below EPS is rounding, by which samples at their centres would move the objective for ever
    losses = np.where(current.losses < EPS, 0.0, current.losses)
    distances = np.sqrt(losses + EPS) * stack.ones
    # a view with gaps counts as if its mean distance held for all samples
    share = view_shares(stack)
    sums = share * (np.sqrt(losses) * stack.mass).sum(axis=1)
    alpha = _view_weights(sums, gamma, state.alpha > 0, wanted)
    factor = wanted * share * alpha**gamma
    d = factor[:, None] / (2.0 * distances + (stack.ones == 0)) * stack.ones
    return RobustState(current.labels, centers, alpha, d), float((factor * stack.counted(distances).sum(axis=1)).sum())


def view_shares(stack: Stack) -> Array:
    """Return by how much the sum over the observed samples of each view is less than one over all samples, (V,)."""
    mass = stack.mass.sum(axis=1)
    total = float(len(stack) if stack.counts is None else stack.counts.sum())
    return np.asarray(np.divide(total, mass, out=np.full_like(mass, total), where=mass > 0))


def solve_rmkmc(
    stack: Stack, labels: NDArray[np.int64], k: int, gamma: float, used: Array, *, tol: float, max_iter: int
) -> RobustRun:
    """Iterate from given labels until the objective settles.

    Parameters
    ----------
    stack : Stack
        The views.
    labels : ndarray of shape (n,)
        Start.
    k : int
        Number of clusters.
    gamma : float
        Exponent of the view weights, above 1.
    used : ndarray of shape (V,)
        How often each view is there; 0 and False leave it out.
    tol : float
        Relative change of the objective that ends the iterations.
    max_iter : int
        Most iterations.

    Returns
    -------
    RobustRun
        Last state and history.
    """
    wanted = used.astype(np.float64)
    alpha = (wanted > 0) / max(wanted.sum(), np.finfo(float).tiny)
    start = RobustState(
        labels,
        [np.zeros((k, X.shape[1]), X.dtype) for X in stack.arrays],
        alpha,
        (wanted * alpha**gamma)[:, None] * stack.ones,
    )
    return RobustRun(*alternate(lambda s: robust_sweep(stack, s, gamma, wanted), start, tol=tol, max_iter=max_iter))


def start_labels(stack: Stack, k: int, init: str, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the labels of a start; see ``RMKMC`` for its kinds."""
    if init == "labels":
        return rng.integers(k, size=len(stack))
    if init == "k-means++":
        return assign(stack, sampled_start(stack, k, rng, fraction=0.1, spread=True)).labels
    centers = sampled_start(stack, k, rng, fraction=1.0, spread=False, max_iter=RANDOM_SWEEPS)
    return assign(stack, centers).labels


def _view_weights(sums: Array, gamma: float, used: Array, wanted: Array) -> Array:
    """Return α ∝ h^{1/(1-γ)} over the views used; views fitted perfectly share the weight between them."""
    perfect = used & (sums <= EPS * max(sums.max(initial=0.0), 1.0))
    if perfect.any():
        return np.asarray(perfect / (wanted @ perfect))
    # relative to the smallest, so that large exponents cannot overflow
    least = sums[used].min() if used.any() else 1.0
    alpha = np.where(used, (np.where(used, sums, 1.0) / least) ** (1.0 / (1.0 - gamma)), 0.0)
    return np.asarray(alpha / (wanted @ alpha))


class RMKMC(CentroidClusterer):
    r"""Multi-view k-means clustering on big data, robust (RMKMC).

    .. math:: \min_{G, F, \alpha} \sum_v \alpha_v^\gamma \sum_i \|x_i^{(v)} - f_{g_i}^{(v)}\|,
              \qquad \sum_v \alpha_v = 1, \ \alpha \ge 0

    Distances are not squared, so that outliers pull the centres less, and views in which the clusters are tight weigh
    more.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters k.
    weight_exponent : float, default=5.0
        Exponent of the view weights, above 1: towards 1 the best-fitted view takes all; raising it makes the weights
        equal. The paper takes the best of 10^0.1 .. 10² by the true classes.
    n_init : int, default=10
        Starts, of which the one with the smallest objective is kept.
    init : {"k-means++", "random", "labels"}, default="k-means++"
        How starts are made. "k-means++": clustering of a sample of the samples, see ``MSPL``. "random": five k-means
        sweeps from random rows. "labels": random labels, as in the paper.
    geometry : {"auto", "cosine", "euclidean"}, default="auto"
        "cosine" keeps centres as long as the samples in views with unit rows, "auto" in those scaled by "unit" or
        "tfidf". The paper is "euclidean".
    balance_views : bool, default=True
        Divide each view by the root of its total variance, without which views with few small features get large
        weights. The paper does not.
    tol : float, default=1e-6
        Relative change of the objective that ends the iterations.
    max_iter : int, default=100
        Most iterations of a start.
    view_weights : mapping or sequence of float, default=None
        What each view counts, relative to the others: 2 doubles its distances, as if it were given twice; 0 leaves it
        out. Views that a mapping leaves out get 1. By default all alike.
    scaling : {"auto", "standard", "minmax", "unit", "tfidf"}, mapping or None, default="auto"
        What is done to each view before it is balanced. "auto": "minmax" if dense, as in the paper, tf-idf and unit
        rows if sparse.
    views : list of int or mapping, default=None
        How one table is cut into views.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the starts.
    n_jobs : int, default=None
        Starts worked on at a time; -1 uses all cores.
    verbose : int, default=0
        1 prints what is being done.

    Attributes
    ----------
    labels_ : ndarray of shape (n,), int64
        Cluster of each sample, 0 .. k-1, largest cluster first.
    view_weights_ : ndarray of shape (V,)
        Weights α, which sum to 1; 0 for a constant view.
    cluster_centers_ : dict of str to ndarray of shape (k, d_v)
        Mean of each cluster in each view, in units of the data; NaN where no member was observed.
    confidence_ : ndarray of shape (n,)
        1 - nearest / second nearest distance to the centres: 0 is a tie.
    history_ : History
        Objective after each iteration of the best start.
    n_iter_, converged_ : int, bool
        Iterations of the best start, and whether it met ``tol``.
    scalings_ : tuple of str or None
        What was done to each view first; None for nothing.
    n_views_in_, n_features_in_ : int
        Number of views and of columns in all.
    view_names_in_, n_view_features_in_ : ndarray of shape (V,)
        Names of the views and their numbers of columns.

    See Also
    --------
    MSPL : Weights that follow a pace.

    Notes
    -----
    A sample not observed in a view has no weight there, and the view's sum of distances is scaled up to all samples.
    ``labels_`` are those of the last iteration: there a sample weighs more in views where it lies close to its centre,
    and so tends to stay. New samples have no such past and go where the weighted sum of distances, not squared, is
    least; on the training samples ``predict`` therefore differs for a few (3 % of mfeat), and is less accurate there.
    Cost: O(n k Σ d_v) per iteration, one scaled copy of the views and a few (V, n) arrays.

    References
    ----------
    X. Cai, F. Nie, H. Huang. Multi-View K-Means Clustering on Big Data. IJCAI 2013, 2598-2604.
    https://www.ijcai.org/Proceedings/13/Papers/383.pdf

    Examples
    --------
    >>> from manyviews import RMKMC, datasets
    >>> data = datasets.make_blobs_views(n_samples=90, n_features=(5, 4), n_clusters=3, random_state=0)
    >>> RMKMC(n_clusters=3, random_state=0).fit(data.views).view_weights_.shape
    (2,)
    """

    _weighs_columns: ClassVar[bool] = False  # the distances are not squared
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = CentroidClusterer._parameter_constraints | {
        "weight_exponent": [ABOVE_ONE],
        "n_init": [POSITIVE_INT],
        "init": [one_of("k-means++", "random", "labels")],
        "tol": [NON_NEGATIVE],
        "max_iter": [POSITIVE_INT],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        weight_exponent: float = 5.0,
        n_init: int = 10,
        init: str = "k-means++",
        geometry: str = "auto",
        balance_views: bool = True,
        tol: float = 1e-6,
        max_iter: int = 100,
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
        self.weight_exponent = weight_exponent
        self.n_init = n_init
        self.init = init
        self.geometry = geometry
        self.balance_views = balance_views
        self.tol = tol
        self.max_iter = max_iter

    def _fit(self, views: Views, rng: np.random.Generator, weights: Array | None = None) -> NDArray[np.int64]:
        stack = self._fit_stack(views, weights)
        used = self._used_views(views) * self._weights
        first = stack.times(self._weights)
        k, tol, max_iter = self.n_clusters, self.tol, self.max_iter
        self._say(f"{self.n_init} start(s) over {len(stack.arrays)} views")

        def run(child: np.random.Generator) -> RobustRun:
            start = start_labels(first, k, self.init, child)
            return solve_rmkmc(stack, start, k, self.weight_exponent, used, tol=tol, max_iter=max_iter)

        starts = ((child,) for child in rng.spawn(self.n_init))
        best = min(in_threads(run, starts, self.n_jobs), key=lambda r: r.history.objective[-1])
        self._factors = used * view_shares(stack) * best.state.alpha**self.weight_exponent
        self._keep_centers(views, stack, best.state.centers, best.state.labels)
        return self._record(FitResult(best.state.labels, best.history, weights=used * best.state.alpha))

    def _used_views(self, views: Views) -> Array:
        used = np.array([not balanced.constant for balanced in self._balanced])
        if used.all() or not used.any():
            return np.ones(used.size, dtype=bool)
        constant = [name for name, varies in zip(views.names, used, strict=True) if not varies]
        self._note_constant(views, constant, " once scaled")
        return used
