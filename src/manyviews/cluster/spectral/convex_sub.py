r"""ConvexSub: a common low-dimensional representation of all views, found by a convex problem.

minimise :math:`\tfrac12 \sum_v \|X_v - M_v\|_F^2 + \gamma \max_{\eta \in \Delta} \|[\sqrt{\eta_1} M_1, \dots,
\sqrt{\eta_V} M_V]\|_*` over M. The problem is convex in M and concave in the weights η of the views; it is solved by
turns: accelerated proximal gradient steps in :math:`N_v = \sqrt{\eta_v} M_v`, then a multiplicative step in η. The
distance to the optimum is bounded by the dual, max ⟨Λ, X⟩ - ½‖Λ‖² with :math:`\|[\Lambda_v / \sqrt{\eta_v}]\|_2 \le
\gamma` for some η.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manyviews.cluster.constraints import BETWEEN_ZERO_AND_ONE, POSITIVE, POSITIVE_INT
from manyviews.cluster.embedded import EmbeddingClusterer
from manyviews.cluster.memory import copy_bytes, kmeans_bytes
from manyviews.cluster.parallel import in_threads, jobs_at_a_time
from manyviews.linalg.eigen import all_eigenpairs, top_eigenpairs
from manyviews.linalg.scaling import apply_scaling, fit_scaling
from manyviews.linalg.shrinkage import LowRank
from manyviews.optim.history import History
from manyviews.views import Views

__all__ = ["ConvexSub", "JoinedViews", "Representation", "joined_views", "null_weight", "solve_convex_sub"]

Array = NDArray[np.float64]
# weights below this would make the steps in their view vanish
LEAST_WEIGHT = 1e-3
PROXIMAL_STEPS = 40
WEIGHT_STEPS = 200
# singular values below this share of the largest are left out of UΣ
RANK_CUTOFF = 1e-9


class Representation(NamedTuple):
    """Approximations M, views side by side, weights η (V,), U and Σ of [√η M] (n, q), objective and gap."""

    M: Array
    eta: Array
    U: Array
    values: Array
    gap: float
    history: History


class JoinedViews(NamedTuple):
    """Views next to each other: X (n, D), zero where not observed; view of each column; what is observed, or None."""

    X: Array
    column_view: NDArray[np.int64]
    observed: NDArray[np.bool_] | None

    def missed(self, M: Array) -> Array:
        """Return X - M where X is observed."""
        difference = self.X - M
        if self.observed is not None:
            difference *= self.observed[:, self.column_view]
        return difference


def joined_views(views: Sequence[Array], observed: NDArray[np.bool_] | None = None) -> JoinedViews:
    """Put views (n, d_v) next to each other; ``observed`` (n, V) says which samples each view has."""
    column_view = np.repeat(np.arange(len(views)), [X.shape[1] for X in views])
    X = np.hstack([np.asarray(X, dtype=np.float64) for X in views])
    if observed is not None:
        X = np.where(observed[:, column_view], X, 0.0)
    return JoinedViews(X, column_view, observed)


def solve_convex_sub(
    data: JoinedViews, gamma: float, *, tol: float = 1e-4, max_iter: int = 50, n_steps: int = PROXIMAL_STEPS
) -> Representation:
    """Run the turns until the duality gap falls below ``tol`` relative to the objective.

    Parameters
    ----------
    data : JoinedViews
        The views.
    gamma : float
        Weight γ of the norm; from ``null_weight(data)`` on M is 0.
    tol : float, default=1e-4
        Relative gap that ends the iterations.
    max_iter : int, default=50
        Most turns.
    n_steps : int, default=40
        Proximal steps of a turn.

    Returns
    -------
    Representation
        ``history`` has the best upper bound of the optimum after each turn.
    """
    V = int(data.column_view.max()) + 1
    eta = np.full(V, 1 / V)
    N = data.X * np.sqrt(eta)[data.column_view]
    upper, lower, objective = np.inf, -np.inf, []
    while True:
        N, factors = _proximal_steps(data, N, eta, gamma, n_steps)
        M = N / np.sqrt(eta)[data.column_view]
        gradient, best_norm = _weight_gradient(data, M, factors, eta)
        rest = data.missed(M)
        upper = min(upper, 0.5 * float(np.vdot(rest, rest)) + gamma * best_norm)
        lower = max(lower, _dual_value(data, rest, eta, gamma))
        objective.append(upper)
        gap = max(upper - lower, 0.0) / max(abs(upper), np.finfo(float).tiny)
        if gap <= tol or len(objective) >= max_iter or not gradient.any():
            break
        N *= np.sqrt((new := _stepped(eta, gradient)) / eta)[data.column_view]
        eta = new
    history = History(np.array(objective), len(objective), bool(gap <= tol))
    return Representation(M, eta, factors.U, factors.values, gap, history)


def null_weight(data: JoinedViews) -> float:
    r"""Return :math:`\|[X_1, \dots, X_V]\|_2`, below which no γ makes M vanish."""
    return _spectral_norm(data.X)


def _proximal_steps(data: JoinedViews, N: Array, eta: Array, gamma: float, n_steps: int) -> tuple[Array, LowRank]:
    """Make accelerated proximal gradient steps with fixed weights; starts again where momentum leads astray."""
    root, step = np.sqrt(eta)[data.column_view], float(eta.min())
    ahead, momentum = N, 1.0
    factors = LowRank(np.zeros((len(N), 0)), np.zeros(0), np.zeros((N.shape[1], 0)))
    for _ in range(n_steps):
        target = ahead + step * data.missed(ahead / root) / root
        factors = _threshold(target, gamma * step)
        new = (factors.U * factors.values) @ factors.V.T
        change = new - N
        if np.vdot(ahead - new, change) > 0:
            momentum = 1.0
        following = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead = new + ((momentum - 1) / following) * change
        small = np.vdot(change, change) <= 1e-20 * np.vdot(new, new)
        N, momentum = new, following
        if small:
            break
    return N, factors


def _threshold(M: Array, tau: float) -> LowRank:
    """Return the singular value threshold of M through the smaller of its two Gram matrices."""
    tall = M.shape[0] > M.shape[1]
    squares, vectors = all_eigenpairs(M.T @ M if tall else M @ M.T, overwrite=True)
    rank = int(np.count_nonzero(squares > tau**2))
    values, vectors = np.sqrt(squares[:rank]), vectors[:, :rank]
    others = (M if tall else M.T) @ (vectors / values)
    U, W = (others, vectors) if tall else (vectors, others)
    return LowRank(U, np.maximum(values - tau, 0.0), W)


def _weight_gradient(data: JoinedViews, M: Array, factors: LowRank, eta: Array) -> tuple[Array, float]:
    """Return the gradient of the norm in the weights, (V,), and its largest value over the simplex.

    M has the left singular vectors of N, so that all norms are those of the small matrices UᵀM_v.
    """
    small = factors.U.T @ M
    V = eta.size
    grams = np.array([small[:, data.column_view == v] @ small[:, data.column_view == v].T for v in range(V)])
    first, best = _norm_gradient(grams, eta)
    weights, value = eta, best
    for _ in range(WEIGHT_STEPS):
        gradient, value = _norm_gradient(grams, weights)
        best = max(best, value)
        # the norm is concave in the weights: it is below value + its gradient's largest gain
        if value == 0 or gradient.max() - gradient @ weights <= 1e-9 * value:
            break
        weights = weights * gradient / (gradient @ weights)
    gain = gradient.max() - gradient @ weights if value else 0.0
    return first, best + max(gain, 0.0) if value else best


def _norm_gradient(grams: Array, eta: Array) -> tuple[Array, float]:
    """Return the gradient of tr (Σ η_v G_v)^½ in η, and that trace."""
    squares, W = all_eigenpairs(np.einsum("v,vij->ij", eta, grams), overwrite=True)
    values = np.sqrt(np.maximum(squares, 0.0))
    kept = values > RANK_CUTOFF * values.max(initial=0.0)
    W = W[:, kept]
    shares = np.einsum("vik,ik->vk", grams @ W, W) / values[kept]
    return 0.5 * shares.sum(axis=1), float(values.sum())


def _stepped(eta: Array, gradient: Array) -> Array:
    new = np.maximum(eta * gradient / (gradient @ eta), LEAST_WEIGHT)
    return np.asarray(new / new.sum())


def _dual_value(data: JoinedViews, rest: Array, eta: Array, gamma: float) -> float:
    """Return the dual objective at the multiple of Λ = X - M that is best among the feasible ones."""
    inner, square = float(np.vdot(rest, data.X)), float(np.vdot(rest, rest))
    norm = _spectral_norm(rest / np.sqrt(eta)[data.column_view])
    if square == 0.0:
        return 0.0
    scale = min(inner / square, gamma / norm)
    return scale * inner - 0.5 * scale**2 * square


def _spectral_norm(A: Array) -> float:
    gram = A @ A.T if A.shape[0] <= A.shape[1] else A.T @ A
    return float(np.sqrt(max(top_eigenpairs(gram, 1)[0][0], 0.0)))


class ConvexSub(EmbeddingClusterer):
    r"""Convex subspace representation learning from multi-view data (ConvexSub).

    The views are approximated by matrices :math:`M_v` that share a small column space, the views' weights η being the
    worst ones, which makes the problem convex:

    .. math:: \min_M \tfrac12 \sum_v \|X_v - M_v\|_F^2
              + \gamma \max_{\eta \in \Delta} \bigl\|[\sqrt{\eta_1} M_1, \dots, \sqrt{\eta_V} M_V]\bigr\|_*

    With :math:`U \Sigma W^\top` the decomposition of the matrix inside the norm, k-means on the rows of
    :math:`U \Sigma` gives the clusters.

    **The form is a reconstruction.** Neither text nor code of the paper could be had. What is known of it, a common
    representation with a group-sparsity norm, turned by dual norms into a convex min-max problem with a trace norm and
    followed by k-means, leads to the problem above, which is also the known two-view model of White et al. (2012);
    how the paper scales the loss and what parameters it used is not known.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters k.
    shrinkage : float, default=0.1
        γ as a share of :math:`\|[X_1, \dots, X_V]\|_2 / \sqrt V`, below 1, where M could vanish. Raising it leaves
        fewer directions.
    n_init : int, default=10
        Starts of k-means; raising it makes the labels depend less on the seed.
    tol : float, default=1e-4
        Duality gap, relative to the objective, that ends the iterations; raising it ends them earlier.
    max_iter : int, default=100
        Most turns, of 40 proximal steps and one change of the weights each.
    view_weights : mapping or sequence of float, default=None
        0 leaves a view out; only 0 and equal ones, beside the weights that are learned. Views that a mapping leaves out
        get 1. By default all alike.
    scaling : {"auto", "standard", "minmax", "unit", "tfidf"}, mapping or None, default="auto"
        What is done to each view first. "auto": standardised if dense, tf-idf and unit rows if sparse. Then every view
        is centred and brought to the Frobenius norm √n.
    views : list of int or mapping, default=None
        How one table is cut into views.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the k-means starts.
    n_jobs : int, default=None
        Views whose coordinates are found at a time; -1 uses all cores.
    verbose : int, default=0
        1 prints what is being done.

    Attributes
    ----------
    labels_ : ndarray of shape (n,), int64
        Cluster of each sample, 0 .. k-1, largest cluster first.
    view_weights_ : ndarray of shape (V,)
        The weights η, of sum 1. They are the worst ones: a view that is harder to approximate gets more.
    embedding_ : ndarray of shape (n, q)
        The representation UΣ; q is the rank of M.
    gap_ : float
        Duality gap, relative to the objective: the optimum is no further away.
    inertia_ : float
        Sum of squared distances to the centres of k-means.
    confidence_ : ndarray of shape (n,)
        1 - nearest / second nearest distance to the centres: 0 is a tie.
    history_ : History
        Best value of the objective found up to each turn; it never rises.
    n_iter_, converged_ : int, bool
        Turns made, and whether ``tol`` was met.
    scalings_ : tuple of str or None
        What was done to each view first; None for nothing.
    n_views_in_, n_features_in_ : int
        Number of views and of columns in all.
    view_names_in_, n_view_features_in_ : ndarray of shape (V,)
        Names of the views and their numbers of columns.

    See Also
    --------
    CCAClustering : Directions that views share, without a weight to set.
    RMSC : Low rank and sparse errors between samples.

    Notes
    -----
    There is no rule for new samples. The loss has a term for each sample in each view; unobserved ones are left out,
    and approximated by what the other views tell.

    Only inner products of the rows of a view matter, so that a view is represented by its coordinates in its own
    principal axes, at most n of them; a sparse view is never filled. Where all samples are observed everywhere, the
    samples are represented in the same way. Cost: O(n² Σ d_v) once at most; then some hundred eigenproblems of the size
    r = min(n, Σ d_v), O(r³) each.

    References
    ----------
    Y. Guo. Convex Subspace Representation Learning from Multi-View Data. AAAI 2013, 387-393.
    https://doi.org/10.1609/aaai.v27i1.8565

    M. White, Y. Yu, X. Zhang, D. Schuurmans. Convex Multi-view Subspace Learning. NIPS 2012, 1673-1681.

    Examples
    --------
    >>> from manyviews import ConvexSub, datasets
    >>> data = datasets.make_blobs_views(n_samples=90, n_features=(5, 4), n_clusters=3, random_state=0)
    >>> ConvexSub(n_clusters=3, random_state=0).fit(data.views).labels_.shape
    (90,)
    """

    _accepts_missing: ClassVar[bool] = True
    _weightless: ClassVar[str] = "it learns what each view counts"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = EmbeddingClusterer._parameter_constraints | {
        "shrinkage": [BETWEEN_ZERO_AND_ONE],
        "tol": [POSITIVE],
        "max_iter": [POSITIVE_INT],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        shrinkage: float = 0.1,
        n_init: int = 10,
        tol: float = 1e-4,
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
        self.shrinkage = shrinkage
        self.n_init = n_init
        self.tol = tol
        self.max_iter = max_iter

    def _memory_estimate(self, views: Views) -> int:
        n = len(views)
        ranks = [min(n, int(X.shape[1])) for X in views.arrays]
        D = sum(ranks)
        rows = n if not views.observed.all() else min(n, D)
        # coordinates of the views; then what the steps hold, and the decompositions of a Gram matrix
        jobs = jobs_at_a_time(self.n_jobs, len(ranks))
        making = 8 * 4 * n * D + jobs * (8 * 3 * max(ranks) ** 2 + 2 * max(map(copy_bytes, views.arrays)))
        steps = 8 * (n * D + 8 * rows * D + 4 * min(rows, D) ** 2)
        return max(making, steps) + kmeans_bytes(n, min(rows, D))

    def _fit(self, views: Views, rng: np.random.Generator) -> NDArray[np.int64]:
        self._say("finding coordinates")
        chosen = list(zip(views.arrays, views.observed.T, self._choose_scalings(views), strict=True))
        told = self._telling(views)
        arrays = list(in_threads(_coordinates, map(chosen.__getitem__, told), self.n_jobs))
        observed = views.observed[:, told]
        data = joined_views(arrays, None if observed.all() else observed)
        basis = None
        if data.observed is None and data.X.shape[0] > data.X.shape[1]:
            basis, R = np.linalg.qr(data.X)
            data = data._replace(X=R)
        gamma = self.shrinkage * null_weight(data) / np.sqrt(len(arrays))
        self._say("approximating the views")
        found = solve_convex_sub(data, gamma, tol=self.tol, max_iter=self.max_iter)
        self.gap_ = found.gap
        embedding = found.U * found.values
        embedding = embedding if basis is None else basis @ embedding
        if embedding.shape[1] == 0:
            embedding = np.zeros((len(views), 1))
        weights = np.zeros(len(views.names))
        weights[told] = found.eta
        return self._group(embedding, found.history, rng, weights=weights)


def _coordinates(X: Any, seen: NDArray[np.bool_], kind: str | None) -> Array:
    """Return a scaled view, centred and of Frobenius norm √n, in its principal axes (n, r); 0 where not observed."""
    n = X.shape[0]
    scaled = apply_scaling(X if seen.all() else X[seen], fit_scaling(X, kind)).astype(np.float64)
    found = _principal_rows(scaled)
    length = np.linalg.norm(found)
    if length > 0:
        found *= np.sqrt(len(found)) / length
    if seen.all():
        return found
    full = np.zeros((n, found.shape[1]))
    full[seen] = found
    return full


def _principal_rows(X: Any) -> Array:
    """Return rows (n, r), r <= min(n, d), with the inner products of the centred rows of X (n, d), dense or CSR."""
    n, d = X.shape
    mean = np.asarray(X.mean(axis=0)).ravel()
    if not sparse.issparse(X):
        X = X - mean
        if d <= n:
            return np.asarray(X)
    gram = X @ X.T if d > n else X.T @ X
    gram = gram.toarray() if sparse.issparse(gram) else gram
    if sparse.issparse(X) and d <= n:
        gram = gram - n * np.outer(mean, mean)
    elif sparse.issparse(X):
        means = gram.mean(axis=0)
        gram = gram - means - means[:, None] + means.mean()
    squares, W = all_eigenpairs(gram, overwrite=True)
    kept = squares > RANK_CUTOFF * max(squares[0], np.finfo(float).tiny)
    if d > n:
        return np.asarray(W[:, kept] * np.sqrt(squares[kept]))
    return np.asarray(X @ W[:, kept] - mean @ W[:, kept])
