r"""SMVSC: all views written by one set of anchors, seen through a projection per view that is learned as well.

minimise :math:`\sum_v \alpha_v^2 \|X_v - Z A^\top W_v^\top\|_F^2 + \lambda \|Z\|_F^2` over :math:`W_v^\top W_v = I`
(d_v, d), :math:`A^\top A = I` (d, m), Z (n, m) with rows in the simplex and α in the simplex. Samples are rows here.

The data are read once per iteration, in blocks: all steps but that for Z need no more of them than
:math:`X_v^\top Z` and :math:`Z^\top Z`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from manyviews.cluster.anchors.checks import anchor_count, block_bytes, choice_bytes
from manyviews.cluster.balanced import BalancedClusterer
from manyviews.cluster.base import PredictMixin
from manyviews.cluster.constraints import NON_NEGATIVE, POSITIVE_INT, one_of
from manyviews.cluster.parallel import over_blocks
from manyviews.cluster.result import FitResult
from manyviews.graphs.anchor_views import AnchorViews, Blocks
from manyviews.linalg.balance import fit_balanced
from manyviews.linalg.blocks import row_blocks, unit_rows
from manyviews.linalg.eigen import top_eigenpairs
from manyviews.linalg.polar import polar
from manyviews.linalg.simplex import project_rows
from manyviews.optim.stepping import run_until_settled
from manyviews.partitions.discretize import embedding_confidence
from manyviews.prototypes.block_kmeans import assign_rows
from manyviews.prototypes.sampled_kmeans import sampled_kmeans
from manyviews.views import Views

__all__ = [
    "SMVSC",
    "LinearTerm",
    "coordinate_rows",
    "inverse_shares",
    "smvsc_steps",
]

Array = NDArray[Any]
LinearTerm = Literal["released", "paper"]
# iterations made before the objective is looked at, as in the released code
MIN_ITER = 10
# squared singular values of Z below this share of the largest are none
SMALLEST_EIGENVALUE = 1e-10
# residuals below this share of the largest are those of a perfect fit
PERFECT = 1e-15


class Coder(NamedTuple):
    """What turns rows of the views into coordinates: anchors seen in each view, (d_v, m), their weights, and λ.

    ``linear`` (V,) weighs the views in the linear term of the programs, ``square`` (V,) in the quadratic one.
    """

    anchors: list[Array]
    linear: NDArray[np.float64]
    square: NDArray[np.float64]
    ridge: float


class Moments(NamedTuple):
    """What one pass over the rows leaves: X_vᵀZ (d_v, m) and ZᵀZ over the samples observed in each view, and ZᵀZ."""

    cross: list[NDArray[np.float64]]
    gram: list[NDArray[np.float64]]
    size: NDArray[np.float64]


class AnchorStep(NamedTuple):
    """State after an iteration: projections W, anchors A, coordinates Z, weights α and the objective."""

    W: list[NDArray[np.float64]]
    A: NDArray[np.float64]
    Z: Array
    alpha: NDArray[np.float64]
    objective: float
    coder: Coder
    moments: Moments


def coordinate_rows(views: AnchorViews, coder: Coder, rows: Any) -> Array:
    r"""Return the coordinates of a block of rows, (b, m).

    The Hessian of every program is a multiple of I, so that its solution is the projection onto the simplex of
    :math:`\sum_v w_v x_v W_v A / (\sum_v \alpha_v^2 + \lambda)`, with sums over the views where a sample was observed.
    """
    n = views.arrays[0][rows].shape[0]
    target, mass = np.zeros((n, coder.anchors[0].shape[1])), np.full(n, coder.ridge)
    for v, anchors in enumerate(coder.anchors):
        block, seen = views.block(v, rows), views.seen(v, rows)
        target += coder.linear[v] * (block @ anchors.astype(block.dtype))
        mass += coder.square[v] * (1.0 if seen is None else seen)
    return project_rows(target / np.maximum(mass, np.finfo(float).tiny)[:, None])


def smvsc_steps(
    views: AnchorViews,
    Z: Array,
    A: NDArray[np.float64] | None,
    *,
    d: int,
    ridge: float,
    linear: LinearTerm,
    over: Blocks = map,
    wanted: Any = 1.0,
) -> Iterable[AnchorStep]:
    """Yield the state after every iteration, without end.

    Parameters
    ----------
    views : AnchorViews
        The views.
    Z : ndarray of shape (n, m)
        Coordinates of the start; changed in place.
    A : ndarray of shape (d, m) or None
        Anchors of the start. None: the first projections are the first d columns of the views, as in the released
        code, where A starts as zeros.
    d : int
        Dimensions of the common space.
    ridge : float
        λ, weight of the ridge on Z.
    linear : {"paper", "released"}
        "paper": views count by α² in the linear term of the programs for Z, which minimises the objective. "released":
        all alike.
    over : callable, default=map
        Applies a function to all blocks of rows, in order of the blocks, perhaps several at a time.

    Yields
    ------
    AnchorStep
        The state.
    """
    n, V = len(views), len(views.arrays)
    squares = views.total_squares()
    # a view with gaps counts as if what holds for the observed samples held for all
    share = n / np.array([n if (seen := views.seen(v)) is None else seen.sum() for v in range(V)])
    wanted = np.broadcast_to(wanted, V)
    alpha = np.full(V, 1.0 / wanted.sum())
    moments = _pass(views, None, Z, over)
    while True:
        W = [np.eye(len(S), d) if A is None else polar(S @ A.T) for S in moments.cross]
        square = wanted * alpha**2 * share
        A = polar(sum(w * W_v.T @ S for w, W_v, S in zip(square, W, moments.cross, strict=True)))
        weights = square if linear == "paper" else np.where(alpha > 0, wanted * share, 0.0)
        coder = Coder([W_v @ A for W_v in W], weights, square, ridge)
        moments = _pass(views, coder, Z, over)
        residuals = share * _residuals(squares, coder.anchors, moments)
        alpha = inverse_shares(residuals, wanted)
        objective = float((wanted * alpha**2) @ residuals + ridge * np.trace(moments.size))
        yield AnchorStep(W, A, Z, alpha, objective, coder, moments)


def inverse_shares(residuals: NDArray[np.float64], wanted: Any = 1.0) -> NDArray[np.float64]:
    """Return α ∝ 1 / r of sum 1; views fitted perfectly share it evenly."""
    perfect = residuals <= PERFECT * residuals.max()
    if perfect.any():
        return np.asarray(perfect / (wanted * perfect).sum())
    shares = residuals.min() / residuals
    return np.asarray(shares / (wanted * shares).sum())


def _one_hot(labels: NDArray[np.int64], m: int, dtype: Any) -> Array:
    Z = np.zeros((labels.size, m), dtype)
    Z[np.arange(labels.size), labels] = 1.0
    return Z


def _pass(views: AnchorViews, coder: Coder | None, Z: Array, over: Blocks) -> Moments:
    """Renew Z, where there is a coder, and sum up its products with the views."""

    def one(rows: slice) -> Moments:
        if coder is not None:
            Z[rows] = coordinate_rows(views, coder, rows)
        part = Z[rows]
        wide = part.astype(np.float64)
        whole = wide.T @ wide
        cross, gram = [], []
        for v in range(len(views.arrays)):
            seen = views.seen(v, rows)
            cross.append(np.asarray(views.block(v, rows).T @ part, dtype=np.float64))
            gram.append(whole if seen is None else wide[seen].T @ wide[seen])
        return Moments(cross, gram, whole)

    total: Moments | None = None
    for found in over(one, row_blocks(len(views))):
        total = found if total is None else Moments(*map(_add, total, found))
    assert total is not None
    return total


def _add(a: Any, b: Any) -> Any:
    return [x + y for x, y in zip(a, b, strict=True)] if isinstance(a, list) else a + b


def _residuals(squares: Sequence[float], anchors: Sequence[Array], moments: Moments) -> NDArray[np.float64]:
    """Return ‖X - Z (W A)ᵀ‖² of every view without forming it."""
    found = [
        size - 2.0 * np.vdot(H, S) + np.vdot(H.T @ H, G)
        for size, H, S, G in zip(squares, anchors, moments.cross, moments.gram, strict=True)
    ]
    return np.maximum(found, 0.0)


def _rotation(gram: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what turns Z into its left singular vectors, (m, m), given ZᵀZ; columns beyond its rank are zeros."""
    values, vectors = top_eigenpairs(gram, len(gram))
    kept = values > SMALLEST_EIGENVALUE * values[0]
    return np.where(kept, vectors, 0.0) / np.sqrt(np.where(kept, values, 1.0))


class SMVSC(BalancedClusterer, PredictMixin):
    r"""Scalable multi-view subspace clustering with unified anchors (SMVSC).

    All views share the coordinates Z of the samples on m anchors A, which every view sees through a projection
    :math:`W_v` of its own; all three are learned, with a weight for every view:

    .. math:: \min_{W, A, Z, \alpha} \sum_v \alpha_v^2 \|X_v - Z A^\top W_v^\top\|_F^2 + \lambda \|Z\|_F^2

    over :math:`W_v^\top W_v = I`, :math:`A^\top A = I`, :math:`Z \ge 0`, :math:`Z \mathbf 1 = \mathbf 1` and α in the
    simplex. k-means of the left singular vectors of Z, brought to unit rows, gives the clusters.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters k.
    n_anchors : int, default=None
        Number of anchors m, at least k and at most n. None: k, with which the anchors are nearly the clusters.
    n_dimensions : int, default=None
        Dimensions of the common space in which the anchors lie, at least m, so that they can be orthogonal. None: m.
        Raising it leaves dimensions unused.
    alpha : float, default=1.0
        Weight λ of the ridge on the coordinates; raising it spreads a sample over more anchors.
    linear_term : {"paper", "released"}, default="paper"
        How views count in the linear term of the quadratic programs for Z. "paper": by :math:`\alpha_v^2`, which
        minimises the objective. "released": all alike, as in the released code, which makes nearly all rows of Z
        one-hot and the view weights all but idle. Over 19 real sets the mean NMI is the same, 0.53.
    init : {"k-means", "released"}, default="k-means"
        Start. "k-means": every sample on the nearest of m anchors that k-means finds in all views together.
        "released": the first m samples on anchors of their own and all others on none, which depends on the order of
        the samples.
    labels_from : {"embedding", "anchors"}, default="embedding"
        "anchors": the anchor on which a sample has the largest coordinate, for ``n_anchors`` = k.
    n_init : int, default=10
        Starts of every k-means, of which the best is kept; raising it makes results depend less on the seed.
    balance_views : bool, default=True
        Bring all views to total variance 1. False is the released code, with which a view of few columns has the
        largest weight and one of many decides the linear term: mean NMI over 19 real sets 0.49 against 0.53.
    tol : float, default=1e-3
        Relative change of the objective that ends the iterations, tested from the tenth on as in the released code.
    max_iter : int, default=51
        Most iterations.
    view_weights : mapping or sequence of float, default=None
        What each view counts, relative to the others: 2 counts its errors as if it were given twice; 0 leaves it out.
        Views that a mapping leaves out get 1. By default all alike.
    scaling : {"auto", "standard", "minmax", "unit", "tfidf"}, mapping or None, default="auto"
        What is done to each view before it is balanced. "auto": "standard" if dense, as in the paper, tf-idf and unit
        rows if sparse. Dense views are centred.
    views : list of int or mapping, default=None
        How one table is cut into views.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the start and of the last k-means.
    n_jobs : int, default=None
        Blocks of samples worked on at a time; -1 uses all cores. Results do not depend on it.
    verbose : int, default=0
        1 prints what is being done.

    Attributes
    ----------
    labels_ : ndarray of shape (n,), int64
        Cluster of each sample, 0 .. k-1, largest cluster first.
    view_weights_ : ndarray of shape (V,)
        Weights α, which sum to 1.
    anchors_ : dict of str to ndarray of shape (m, d_v)
        The anchors as each view sees them, :math:`A^\top W_v^\top`, in the scaled features.
    embedding_ : ndarray of shape (n, m)
        Left singular vectors of the coordinates, rows of unit length. Columns beyond their rank are zeros.
    confidence_ : ndarray of shape (n,)
        1 - nearest / second nearest distance to the centres in the embedding: 0 is a tie.
    history_ : History
        Objective after each iteration. It cannot rise with ``linear_term="paper"`` where every view has
        ``n_dimensions`` columns or more.
    n_iter_, converged_ : int, bool
        Iterations made, and whether ``tol`` was met.
    scalings_ : tuple of str or None
        What was done to each view first; None for nothing.
    n_views_in_, n_features_in_ : int
        Number of views and of columns in all.
    view_names_in_, n_view_features_in_ : ndarray of shape (V,)
        Names of the views and their numbers of columns.

    Raises
    ------
    ValueError
        If ``n_anchors`` is below ``n_clusters`` or above the number of samples or of dimensions.

    See Also
    --------
    FPMVSCAG : The same without a ridge and without parameters.
    LMVSC : Anchors of each view alone.

    Notes
    -----
    Cost: O(n m (Σ d_v + log m)) per iteration, with the data read once, and O(d_v m²) for every view; linear in n.
    O(n m) memory in the type of the data besides the views, which are scaled in blocks. As A has orthonormal columns,
    every program for Z is a projection onto the simplex; the released code calls a general solver for each sample.

    A view of fewer columns than ``n_dimensions`` cannot have :math:`W^\top W = I`; its projection has orthonormal rows
    then, as in the released code, and the objective may rise. Where a sample was not observed in a view, that term is
    left out, and the view's sum is scaled up to all samples. New samples are projected with the weights of the last
    iteration and go to the nearest centre, so that ``predict`` gives the training samples their labels.

    The released code runs k-means 50 times and reports the best of them by the true classes for every score; here the
    one with the smallest sum of squares is kept. Beyond 20 000 samples the starts are compared on so many.

    References
    ----------
    M. Sun, P. Zhang, S. Wang, S. Zhou, W. Tu, X. Liu, E. Zhu, C. Wang. Scalable Multi-view Subspace Clustering with
    Unified Anchors. ACM Multimedia 2021, 3528-3536. https://doi.org/10.1145/3474085.3475516

    Examples
    --------
    >>> from manyviews import SMVSC, datasets
    >>> data = datasets.make_blobs_views(n_samples=90, n_features=(5, 4), n_clusters=3, random_state=0)
    >>> SMVSC(n_clusters=3, random_state=0).fit(data.views).view_weights_.shape
    (2,)
    """

    _accepts_missing: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = BalancedClusterer._parameter_constraints | {
        "n_anchors": [POSITIVE_INT, None],
        "n_dimensions": [POSITIVE_INT, None],
        "alpha": [NON_NEGATIVE],
        "linear_term": [one_of("paper", "released")],
        "init": [one_of("k-means", "released")],
        "labels_from": [one_of("embedding", "anchors")],
        "n_init": [POSITIVE_INT],
        "tol": [NON_NEGATIVE],
        "max_iter": [POSITIVE_INT],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_anchors: int | None = None,
        n_dimensions: int | None = None,
        alpha: float = 1.0,
        linear_term: LinearTerm = "paper",
        init: str = "k-means",
        labels_from: str = "embedding",
        n_init: int = 10,
        balance_views: bool = True,
        tol: float = 1e-3,
        max_iter: int = 51,
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
        self.n_dimensions = n_dimensions
        self.alpha = alpha
        self.linear_term = linear_term
        self.init = init
        self.labels_from = labels_from
        self.n_init = n_init
        self.balance_views = balance_views
        self.tol = tol
        self.max_iter = max_iter

    def _sizes(self, n: int) -> tuple[int, int, float]:
        """Return the numbers of anchors and dimensions, and λ."""
        m = anchor_count(self.n_anchors, self.n_clusters, n)
        d = m if self.n_dimensions is None else self.n_dimensions
        if d < m:
            raise ValueError(
                f"n_dimensions={d} must be at least the number of anchors, {m}: no more than n_dimensions of them can "
                "be orthogonal"
            )
        if self.labels_from == "anchors" and m != self.n_clusters:
            raise ValueError(
                f"labels_from='anchors' needs as many anchors as clusters, got n_anchors={m} and "
                f"n_clusters={self.n_clusters}; use labels_from='embedding'"
            )
        return m, d, self.alpha

    def _memory_estimate(self, views: Views) -> int:
        n, k = len(views), self.n_clusters
        m, d, _ = self._sizes(n)
        coordinates = 8 * n * (2 * m + 2 * k) + block_bytes(views, 8 * m + d, self.n_jobs)
        return max(choice_bytes(views), coordinates)

    def _may_move_samples(self) -> bool:
        return self.init != "released"  # which takes the first samples as they come

    def _fit(self, views: Views, rng: np.random.Generator) -> NDArray[np.int64]:
        m, d, ridge = self._sizes(len(views))
        chosen = zip(views.arrays, self._choose_scalings(views), strict=True)
        self._balanced = [fit_balanced(X, kind, balance=self.balance_views) for X, kind in chosen]
        read, over = self._read(views), over_blocks(self.n_jobs)
        start_rng, label_rng = rng.spawn(2)
        self._say(f"choosing {m} anchors")
        if self.init == "released":
            Z, A = np.eye(len(views), m, dtype=read.dtype), None
        else:
            first = read.shared_anchors(
                m,
                start_rng,
                space="balanced",
                n_directions=2 * self.n_clusters,
                n_init=self.n_init,
                wanted=self._weights,
            )
            Z, A = _one_hot(read.nearest_anchors(first, over, self._weights), m, read.dtype), np.eye(d, m)
        self._say("learning projections and coordinates")
        linear: LinearTerm = self.linear_term
        steps = smvsc_steps(read, Z, A, d=d, ridge=ridge, linear=linear, over=over, wanted=self._weights)
        last, history = run_until_settled(steps, tol=self.tol, min_iter=MIN_ITER, max_iter=self.max_iter)
        self._coder, self._rotation = last.coder, _rotation(last.moments.size)
        embedding = np.vstack([self._embed(Z[rows]) for rows in row_blocks(len(Z))])
        labels, self._centers = self._cut(Z, embedding, label_rng)
        confidence = embedding_confidence(embedding, self._centers)
        return self._record(FitResult(labels, history, self._weights * last.alpha, embedding, confidence))

    def _read(self, views: Views) -> AnchorViews:
        return AnchorViews(views.arrays, tuple(self._balanced), None if views.observed.all() else views.observed)

    @property
    def anchors_(self) -> dict[str, Array]:
        """Anchors of each view, (m, d_v), in the scaled features."""
        return {str(name): H.T for name, H in zip(self._fitted_views.names, self._coder.anchors, strict=True)}

    def _embed(self, Z: Array) -> Array:
        return np.asarray(unit_rows(Z @ self._rotation.astype(Z.dtype)))

    def _cut(self, Z: Array, embedding: Array, rng: np.random.Generator) -> tuple[NDArray[np.int64], Array]:
        """Return labels and centres in the embedding."""
        if self.labels_from == "anchors":
            return np.asarray(Z.argmax(axis=1)), self._embed(np.eye(Z.shape[1], dtype=Z.dtype))
        groups = sampled_kmeans(embedding, self.n_clusters, rng, n_init=self.n_init)
        return groups.labels, groups.centers

    def _predict(self, views: Views) -> NDArray[np.int64]:
        read = self._read(views)

        def one(rows: slice) -> NDArray[np.int64]:
            Z = coordinate_rows(read, self._coder, rows).astype(self.embedding_.dtype)
            if self.labels_from == "anchors":
                return np.asarray(Z.argmax(axis=1))
            return assign_rows(self._embed(Z), self._centers, "euclidean")[0]

        return np.concatenate(list(over_blocks(self.n_jobs)(one, row_blocks(len(views)))))
