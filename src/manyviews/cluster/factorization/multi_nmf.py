r"""MultiNMF: non-negative factors of every view, their coefficients pulled towards common ones.

minimise :math:`\sum_v \|X_v - V_v U_v^\top\|_F^2 + \alpha \sum_v \|V_v Q_v - V_*\|_F^2` over non-negative factors,
:math:`Q_v` the column sums of :math:`U_v` (eq. 3.3 of the paper). The columns of U are kept at sum 1, so that Q = I.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manyviews.cluster.constraints import NON_NEGATIVE, POSITIVE, POSITIVE_INT
from manyviews.cluster.embedded import EmbeddingClusterer
from manyviews.cluster.memory import copy_bytes, kmeans_bytes
from manyviews.cluster.parallel import in_threads, jobs_at_a_time
from manyviews.linalg.scaling import apply_scaling, fit_scaling
from manyviews.optim.alternating import alternate
from manyviews.optim.history import History
from manyviews.views import Views

__all__ = [
    "Factors",
    "JointFactors",
    "MultiNMF",
    "coupled_sweep",
    "initial_factors",
    "plain_nmf",
    "solve_multi_nmf",
]

Array = NDArray[Any]
FLOOR = 1e-10


class Factors(NamedTuple):
    """Basis U (d, k), columns of sum 1, and coefficients V (n, k) of one view."""

    U: Array
    V: Array


class JointFactors(NamedTuple):
    """Factors of each view, the common coefficients V* (n, k), and the history."""

    views: list[Factors]
    consensus: Array
    history: History


def normalized(factors: Factors) -> Factors:
    """Bring the columns of U to sum 1, the product unchanged."""
    sums = np.maximum(factors.U.sum(axis=0), FLOOR)
    return Factors(factors.U / sums, factors.V * sums)


def plain_sweep(X: Any, turned: Any, factors: Factors) -> Factors:
    """Make the multiplicative updates of one view by itself; ``turned`` is its transpose, made once for all sweeps."""
    U, V = factors
    V = V * (X @ U) / np.maximum(V @ (U.T @ U), FLOOR)
    U = U * (turned @ V) / np.maximum(U @ (V.T @ V), FLOOR)
    return Factors(U, V)


def coupled_sweep(X: Any, turned: Any, factors: Factors, consensus: Array, alpha: float) -> Factors:
    """Make the multiplicative updates of one view, its coefficients pulled towards the common ones (eqs. 3.6, 3.8)."""
    U, V = factors
    V = V * (X @ U + alpha * consensus) / np.maximum(V @ (U.T @ U) + alpha * V, FLOOR)
    gain = alpha * np.einsum("ik,ik->k", V, consensus)
    loss = alpha * U.sum(axis=0) * np.einsum("ik,ik->k", V, V)
    U = U * (turned @ V + gain) / np.maximum(U @ (V.T @ V) + loss, FLOOR)
    return normalized(Factors(U, V))


def plain_nmf(X: Any, factors: Factors, n_sweeps: int) -> Factors:
    """Factorise one view by itself, the columns of U brought to sum 1 before and after."""
    factors, turned = normalized(factors), X.T
    for _ in range(n_sweeps):
        factors = plain_sweep(X, turned, factors)
    return normalized(factors)


def squared_error(X: Any, factors: Factors) -> float:
    """Return the squared Frobenius norm of X - V Uᵀ, which is not formed."""
    U, V = factors
    values = X.data if sparse.issparse(X) else X
    cross = np.vdot(X @ U, V)
    return float(np.vdot(values, values) - 2.0 * cross + np.vdot(V.T @ V, U.T @ U))


def initial_factors(
    views: Sequence[Any], observed: Sequence[Array], k: int, rng: np.random.Generator, *, n_sweeps: int, passes: int = 3
) -> list[Factors]:
    """Factorise one view after the other, each from the coefficients of the one before and a basis drawn once.

    Parameters
    ----------
    views : sequence of ndarray or CSR of shape (n_v, d_v)
        Observed rows of the views, non-negative.
    observed : sequence of ndarray of int, shape (n_v,)
        Numbers of the samples that these rows are.
    k : int
        Number of clusters.
    rng : Generator
        Draws the bases and the first coefficients.
    n_sweeps : int
        Sweeps of each factorisation.
    passes : int, default=3
        How often the views are gone through; a later pass starts with the coefficients of the last view.

    Returns
    -------
    list of Factors
        One per view.
    """
    n = 1 + max(int(rows.max()) for rows in observed)
    dtype = views[0].dtype
    bases = [rng.uniform(size=(X.shape[1], k)).astype(X.dtype) for X in views]
    coefficients = rng.uniform(size=(n, k)).astype(dtype)
    found: list[Factors] = []
    for _ in range(passes):
        found = []
        for X, rows, U in zip(views, observed, bases, strict=True):
            factors = plain_nmf(X, Factors(U, coefficients[rows]), n_sweeps)
            coefficients[rows] = factors.V  # samples that this view lacks keep those of another one
            found.append(factors)
    return found


def consensus_of(
    views: Sequence[Factors], observed: Sequence[Array], n: int, wanted: Sequence[float] | None = None
) -> Array:
    """Return the mean coefficients (n, k) over the views in which each sample is observed, each so often."""
    total, count = np.zeros((n, views[0].V.shape[1])), np.zeros((n, 1))
    for (_, V), rows, times in zip(views, observed, wanted or [1.0] * len(views), strict=True):
        total[rows] += times * V
        count[rows] += times
    return (total / np.where(count > 0, count, 1.0)).astype(views[0].V.dtype)


def solve_multi_nmf(
    views: Sequence[Any],
    observed: Sequence[Array],
    start: Sequence[Factors],
    n: int,
    *,
    alpha: float = 0.01,
    n_sweeps: int = 100,
    wanted: Sequence[float] | None = None,
    tol: float = 1e-4,
    max_iter: int = 30,
) -> JointFactors:
    """Run the rounds: sweeps of every view towards the common coefficients, then their mean.

    Parameters
    ----------
    views : sequence of ndarray or CSR of shape (n_v, d_v)
        Observed rows of the views, non-negative.
    observed : sequence of ndarray of int, shape (n_v,)
        Numbers of the samples that these rows are.
    start : sequence of Factors
        One per view.
    n : int
        Number of samples.
    alpha : float, default=0.01
        Weight of the agreement.
    n_sweeps : int, default=100
        Sweeps of a view in a round.
    wanted : sequence of float, default=None
        How often each view is there; once by default.
    tol : float, default=1e-4
        Relative change of the objective that ends the rounds.
    max_iter : int, default=30
        Most rounds.

    Returns
    -------
    JointFactors
        The objective, with the latest common coefficients, never rises. In the first round these are the coefficients
        of the first view, where it has the sample.
    """
    times = [1.0] * len(views) if wanted is None else wanted

    def step(state: tuple[list[Factors], Array]) -> tuple[tuple[list[Factors], Array], float]:
        found, consensus = state
        updated = [
            _coupled_sweeps(X, factors, consensus[rows], alpha, n_sweeps)
            for X, rows, factors in zip(views, observed, found, strict=True)
        ]
        consensus = consensus_of(updated, observed, n, times)
        return (updated, consensus), joint_objective(views, observed, updated, consensus, alpha, times)

    first = consensus_of(start, observed, n, times)
    first[observed[0]] = start[0].V
    (found, consensus), history = alternate(step, (list(start), first), tol=tol, max_iter=max_iter)
    return JointFactors(found, consensus, history)


def _coupled_sweeps(X: Any, factors: Factors, consensus: Array, alpha: float, n_sweeps: int) -> Factors:
    turned = X.T
    for _ in range(n_sweeps):
        factors = coupled_sweep(X, turned, factors, consensus, alpha)
    return factors


def joint_objective(
    views: Sequence[Any],
    observed: Sequence[Array],
    found: Sequence[Factors],
    consensus: Array,
    alpha: float,
    wanted: Sequence[float] | None = None,
) -> float:
    """Return the objective."""
    wanted = [1.0] * len(views) if wanted is None else wanted
    return sum(
        times * (squared_error(X, factors) + alpha * float(np.square(factors.V - consensus[rows]).sum()))
        for X, rows, factors, times in zip(views, observed, found, wanted, strict=True)
    )


class MultiNMF(EmbeddingClusterer):
    r"""Multi-view clustering via joint non-negative matrix factorisation (MultiNMF).

    Every view is a product of non-negative coefficients of the samples and a non-negative basis; the coefficients are
    pulled towards common ones, whose rows are grouped by k-means:

    .. math:: \min_{U_v, V_v, V_* \ge 0} \sum_v \|X_v - V_v U_v^\top\|_F^2 + \alpha \sum_v \|V_v Q_v - V_*\|_F^2

    with :math:`Q_v` the column sums of :math:`U_v`, which frees the agreement from the scale of the factors.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters k, and of columns of the factors.
    consensus_weight : float, default=0.01
        Weight α of the agreement. Raising it makes the views more alike; at 0.1 results were worse.
    n_starts : int, default=5
        Random starts of the factorisation, short ones, of which the best is continued; raising it makes the result
        depend less on the seed.
    n_sweeps : int, default=100
        Multiplicative updates of a view in each round, and in the start.
    n_init : int, default=20
        Starts of k-means.
    tol : float, default=1e-3
        Relative change of the objective that ends the rounds; raising it ends them earlier.
    max_iter : int, default=100
        Most rounds; the released code makes 30. Raising it lets slow cases converge.
    view_weights : mapping or sequence of float, default=None
        What each view counts, relative to the others: 2 counts its factors twice in the consensus; 0 leaves it out.
        Views that a mapping leaves out get 1. By default all alike.
    scaling : {"auto", "standard", "minmax", "unit", "tfidf"}, mapping or None, default="auto"
        What is done to each view first. "auto": dense views to 0..1 in every column, tf-idf and unit rows if sparse.
        Then views are brought to the same total.
    views : list of int or mapping, default=None
        How one table is cut into views.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the starts and of k-means.
    n_jobs : int, default=None
        Starts made at the same time; the result is the same for any number.
    verbose : int, default=0
        1 prints what is being done.

    Attributes
    ----------
    labels_ : ndarray of shape (n,), int64
        Cluster of each sample, 0 .. k-1, largest cluster first.
    embedding_ : ndarray of shape (n, k)
        Common coefficients V*; float32 where the first view is.
    components_ : dict of str to ndarray of shape (d_v, k)
        Basis U of each view, columns of sum 1: what each of the k parts consists of. Columns of the view that the
        scaling drops are left out, and columns with negative entries come once more, at the end.
    inertia_ : float
        Sum of squared distances to the centres of k-means.
    confidence_ : ndarray of shape (n,)
        1 - nearest / second nearest distance to the centres: 0 is a tie.
    history_ : History
        Objective after each round; it never rises.
    n_iter_, converged_ : int, bool
        Rounds made, and whether ``tol`` was met.
    scalings_ : tuple of str or None
        What was done to each view first; None for nothing.
    n_views_in_, n_features_in_ : int
        Number of views and of columns in all.
    view_names_in_, n_view_features_in_ : ndarray of shape (V,)
        Names of the views and their numbers of columns.

    See Also
    --------
    CCAClustering : Directions that views share, of any sign.
    RMKMC : Factors that are hard assignments.

    Notes
    -----
    There is no rule for new samples. Cost: O(k) passes over the entries of a view per sweep, of sparse views only over
    those stored; about a thousand sweeps. No view is filled or copied in full but for its scaling.

    Negative entries, which "standard" and centred data have, are kept apart from positive ones: a column with both
    becomes two, one of either sign, which keeps distances of samples and zeros of sparse views. The paper assumes that
    there are none. The loss has a term for each sample in each view; unobserved ones are left out, and the common
    coefficients are the mean over the views in which the sample was observed.

    References
    ----------
    J. Liu, C. Wang, J. Gao, J. Han. Multi-View Clustering via Joint Nonnegative Matrix Factorization. SDM 2013,
    252-260. https://doi.org/10.1137/1.9781611972832.28

    Examples
    --------
    >>> from manyviews import MultiNMF, datasets
    >>> data = datasets.make_blobs_views(n_samples=90, n_features=(5, 4), n_clusters=3, random_state=0)
    >>> MultiNMF(n_clusters=3, random_state=0).fit(data.views).embedding_.shape
    (90, 3)
    """

    _accepts_missing: ClassVar[bool] = True
    _dense_scaling: ClassVar[str] = "minmax"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = EmbeddingClusterer._parameter_constraints | {
        "consensus_weight": [POSITIVE],
        "n_starts": [POSITIVE_INT],
        "n_sweeps": [POSITIVE_INT],
        "tol": [NON_NEGATIVE],
        "max_iter": [POSITIVE_INT],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        consensus_weight: float = 0.01,
        n_starts: int = 5,
        n_sweeps: int = 100,
        n_init: int = 20,
        tol: float = 1e-3,
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
        self.consensus_weight = consensus_weight
        self.n_starts = n_starts
        self.n_sweeps = n_sweeps
        self.n_init = n_init
        self.tol = tol
        self.max_iter = max_iter

    def _memory_estimate(self, views: Views) -> int:
        n, k = len(views), self.n_clusters
        copies = [copy_bytes(X) for X in views.arrays]
        width = sum(int(X.shape[1]) for X in views.arrays)
        jobs = jobs_at_a_time(self.n_jobs, self.n_starts)
        factors = 8 * (len(copies) * n + width) * k
        steps = 8 * 6 * (n + max(int(X.shape[1]) for X in views.arrays)) * k
        return sum(copies) + max(copies) + factors * (self.n_starts + 2) + steps * jobs + kmeans_bytes(n, k)

    def _fit(self, views: Views, rng: np.random.Generator) -> NDArray[np.int64]:
        start_rng, label_rng = rng.spawn(2)
        scalings, told = self._choose_scalings(views), self._telling(views)
        observed = [np.flatnonzero(views.observed[:, v]) for v in told]
        chosen = [(views.arrays[v], rows, scalings[v]) for v, rows in zip(told, observed, strict=True)]
        arrays = [_non_negative(X if rows.size == len(views) else X[rows], kind) for X, rows, kind in chosen]
        self._say(f"factorising from {self.n_starts} starts")
        start = self._best_start(arrays, observed, start_rng)
        self._say("bringing the factors together")
        found = solve_multi_nmf(
            arrays,
            observed,
            start,
            len(views),
            alpha=self.consensus_weight,
            n_sweeps=self.n_sweeps,
            wanted=self._weights[told].tolist(),
            tol=self.tol,
            max_iter=self.max_iter,
        )
        self.components_ = {views.names[v]: factors.U for v, factors in zip(told, found.views, strict=True)}
        return self._group(found.consensus, found.history, label_rng)

    def _best_start(
        self, arrays: list[Any], observed: list[NDArray[np.int64]], rng: np.random.Generator
    ) -> list[Factors]:
        """Return the start whose short run left the smallest error, factorised once more."""

        def short(child: np.random.Generator) -> tuple[float, list[Factors]]:
            found = initial_factors(arrays, observed, self.n_clusters, child, n_sweeps=self.n_sweeps // 2 or 1)
            return sum(map(squared_error, arrays, found)), found

        runs = in_threads(short, [(child,) for child in rng.spawn(self.n_starts)], self.n_jobs)
        best = min(runs, key=lambda run: run[0])[1]
        return [plain_nmf(X, factors, self.n_sweeps) for X, factors in zip(arrays, best, strict=True)]


def _non_negative(X: Any, kind: str | None) -> Any:
    """Return a scaled view with negative entries in columns of their own, brought to a mean row sum of 1.

    The paper brings the sum of all entries to 1, which differs by a common factor and is too small for single numbers.
    """
    X = apply_scaling(X, fit_scaling(X, kind))
    least = X.min(axis=0).toarray().ravel() if sparse.issparse(X) else X.min(axis=0)
    if (least < 0).any():
        negative = np.flatnonzero(least < 0)
        if sparse.issparse(X):
            X = sparse.csr_array(sparse.hstack([X.maximum(0), (-X[:, negative]).maximum(0)], format="csr"))
        else:
            X = np.hstack([np.maximum(X, 0), np.maximum(-X[:, negative], 0)])
    total = float(X.sum(dtype=np.float64))
    return X * X.dtype.type(X.shape[0] / total) if total > 0 else X
