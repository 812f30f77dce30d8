r"""Multi-view self-paced learning: k-means that learns easy samples and views first."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manyviews.cluster.constraints import (
    ABOVE_ONE,
    NON_NEGATIVE,
    POSITIVE,
    POSITIVE_INT,
    SHARE,
    SHARE_ABOVE_ZERO,
    one_of,
)
from manyviews.cluster.kmeans.base import CentroidClusterer
from manyviews.cluster.parallel import in_threads
from manyviews.cluster.published import PublishedRecipes
from manyviews.cluster.result import FitResult
from manyviews.optim.history import History
from manyviews.optim.self_paced import PacingKind, paced_losses, paced_weights
from manyviews.partitions.spectral_start import MOST_ROWS, NEIGHBORS, spectral_start
from manyviews.prototypes.pacing import FIRST_SMOOTH_PACE, Pacing, first_pace, raise_pace
from manyviews.prototypes.starts import leading_directions, relaxed_start, sampled_start
from manyviews.prototypes.weighted import Assignment, Stack, assign, centroids, stack_kmeans
from manyviews.views import Views

__all__ = [
    "MSPL",
    "PacedHistory",
    "SelfPaced",
    "paced_sweep",
    "self_paced_kmeans",
]

Array = NDArray[Any]
ALL_IN = 0.999
# a smooth weight is about this much at a loss that equals the pace, where a hard one falls to 0
ENTRY_WEIGHT = 0.5
TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True)
class PacedHistory(History):
    """History of a self-paced run; the objective is comparable within a pace.

    Attributes
    ----------
    pace : ndarray of shape (n_iter,)
        1/λ of each sweep, in units of the losses; infinite once all weights are 1.
    mean_weight : ndarray of shape (n_iter,)
        Mean weight of the observed (sample, view) pairs in each sweep.
    """

    pace: Array
    mean_weight: Array


class SelfPaced(NamedTuple):
    """Centres (k, d_v) per view, labels and losses, history, and the sweep in which each pair (V, n) came in."""

    centers: list[Array]
    assignment: Assignment
    history: PacedHistory
    entries: NDArray[np.int64]


class _Trace:
    """What the sweeps of one start leave: objective, pace, mean weight, and when each pair first weighed ½."""

    def __init__(self, stack: Stack, *, keep_labels: bool) -> None:
        self.sweeps: list[tuple[float, float, float]] = []
        self.labels: list[NDArray[np.int64]] = []
        self.entries = np.zeros(stack.squares.shape, dtype=np.int64)
        self._keep_labels = keep_labels

    def add(self, objective: float, pace: float, mean: float, weights: Array) -> None:
        self.sweeps.append((objective, pace, mean))
        self.entries[(weights >= ENTRY_WEIGHT) & (self.entries == 0)] = len(self.sweeps)

    def watch(self, labels: NDArray[np.int64]) -> None:
        if self._keep_labels:
            self.labels.append(labels.copy())

    def history(self, *, converged: bool) -> PacedHistory:
        values, paces, means = map(np.array, zip(*self.sweeps, strict=True))
        found = PacedHistory(values, len(values), converged, paces, means)
        return replace(found, labels=np.array(self.labels)) if self._keep_labels else found


def paced_sweep(
    stack: Stack, centers: list[Array], current: Assignment, pace: float, kind: PacingKind
) -> tuple[Array, list[Array], Assignment]:
    """One sweep at a fixed pace: weights, centres, labels, losses.

    Parameters
    ----------
    stack : Stack
        The views.
    centers : list of ndarray of shape (k, d_v)
        Centres, kept by clusters without any weight.
    current : Assignment
        Labels and losses.
    pace : float
        1/λ.
    kind : {"smooth", "hard", "none"}
        Regulariser.

    Returns
    -------
    weights : ndarray of shape (V, n)
        Weights of the sweep, 0 for unobserved pairs.
    centers : list of ndarray of shape (k, d_v)
        New centres.
    assignment : Assignment
        New labels and losses.
    """
    weights = paced_weights(current.losses, pace, kind)  # eqs. 5, 8
    if stack.observed is not None:
        weights *= stack.observed
    centers = centroids(stack, current.labels, weights, centers)  # eq. 12
    return weights, centers, assign(stack, centers, weights)  # eq. 15


def self_paced_kmeans(
    stack: Stack,
    centers: list[Array],
    pacing: Pacing,
    *,
    tol: float = 0.0,
    max_iter: int = 50,
    keep_labels: bool = False,
) -> SelfPaced:
    """Raise the pace until every weight is 1, then finish with k-means.

    Parameters
    ----------
    stack : Stack
        The views.
    centers : list of ndarray of shape (k, d_v)
        Start.
    pacing : Pacing
        Kind of the weights, and schedule.
    tol : float, default=0.0
        Relative decrease of the sum of losses that ends the final k-means; 0 waits until the labels rest.
    max_iter : int, default=50
        Most sweeps of the final k-means.
    keep_labels : bool, default=False
        Whether the history holds the labels of each sweep.

    Returns
    -------
    SelfPaced
        Centres, labels, losses, history, and when each pair came in.
    """
    current, trace = assign(stack, centers), _Trace(stack, keep_labels=keep_labels)
    pairs = stack.mass.sum()

    def sweep(pace: float, scale: float) -> bool:
        nonlocal centers, current
        scaled = Assignment(current.labels, current.losses * (scale / pacing.times))
        weights, centers, current = paced_sweep(stack, centers, scaled, pace * scale, pacing.kind)
        paced = pacing.times * paced_losses(current.losses * (scale / pacing.times), pace * scale, pacing.kind)
        mean = float(stack.counted(weights).sum() / pairs)
        trace.add(float(stack.counted(paced).sum() / scale), pace, mean, weights)
        trace.watch(current.labels)
        return float(weights.min() if stack.observed is None else weights[stack.observed].min()) > ALL_IN

    raise_pace(pacing, first_pace(stack, current.losses / pacing.times, pacing.share), sweep)
    n_paced = len(trace.labels)
    run = stack_kmeans(stack, centers, tol=tol, max_iter=max_iter, watch=trace.watch)
    del trace.labels[n_paced : n_paced + 1]  # of the start, which is no sweep
    ones = stack.ones
    for value in run.objective[1:]:
        trace.add(float(value), np.inf, 1.0, ones)
    return SelfPaced(
        run.centers, Assignment(run.labels, run.losses), trace.history(converged=run.converged), trace.entries
    )


class MSPL(CentroidClusterer, PublishedRecipes):
    r"""Multi-view self-paced learning for clustering (MSPL).

    k-means over all views with shared labels, in which a sample counts in a view only once it is easy enough there:

    .. math:: \min_{C, b, W} \sum_v \sum_i w_i^{(v)} \|x_i^{(v)} - c_{b_i}^{(v)}\|^2 + f_a(W),
              \qquad w^* = \frac{1 + e^{-a}}{1 + e^{\ell - a}}

    with the loss :math:`\ell` of a sample in a view. The pace a, 1/λ in the paper, starts such that little more than
    half of the (sample, view) pairs weigh ½ or more, and grows until all weigh 1; then k-means finishes. Self-pacing
    helps poor starts most: with the ten starts of the default it changes little and costs little.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters k.
    pacing : {"smooth", "hard", "none"}, default="smooth"
        "smooth" as above; "hard": 1 where ℓ < a, else 0; "none": k-means on the views side by side.
    initial_share : float, default=0.55
        Share of the pairs that weigh ½ or more (smooth) or count (hard) at first; raising it makes the method more
        like k-means.
    growth : float, default=1.1
        Factor of the pace from stage to stage; raising it takes fewer stages. 1.05 is slightly better from a single
        start, at twice the time.
    n_sweeps : int, default=1
        Sweeps of weights, centres and labels per stage.
    loss_scale : "auto" or float, default="auto"
        Factor of the losses, which decides how steeply smooth weights fall: small values make them flat, large ones
        like "hard". "auto" brings the first pace to 6. The paper has 1.
    n_init : int, default=10
        Starts, of which the one with the smallest sum of squared distances is kept; the paper has one.
    init : {"auto", "k-means++", "random", "relaxed", "spectral"}, default="auto"
        How starts are made. "random": k-means from random rows on a random sample, as in the paper. "k-means++": the
        best of three from rows far apart. "relaxed": k-means on the leading singular directions of all views.
        "spectral": spectral clustering of a graph of neighbours between at most 2000 samples. "auto": "k-means++";
        where a view has unit rows, as text has, the last three in turn, which finds far better clusters there.
    init_fraction : float, default=0.1
        Share of the samples in the sample of a start; raising it makes better and dearer starts. At least 2k samples
        are taken, 50k with "k-means++", and at most 20 000 unless that is more.
    geometry : {"auto", "cosine", "euclidean"}, default="auto"
        "cosine" keeps centres as long as the samples, so that :math:`\ell` is 1 - cosine up to a factor, in views with
        unit rows. "auto": in those scaled by "unit" or "tfidf". "euclidean": centres are means, as in the paper.
    balance_views : bool, default=True
        Divide each view by the root of its total variance, so that one pace suits all views.
    tol : float, default=1e-6
        Relative decrease of the sum of squared distances that ends the final k-means; 0 waits until labels rest.
    max_iter : int, default=300
        Most sweeps of the final k-means.
    keep_labels : bool, default=False
        Whether ``history_.labels`` holds the labels of each sweep, at the memory of n numbers for each sweep of each
        start; it changes nothing else.
    view_weights : mapping or sequence of float, default=None
        What each view counts, relative to the others: 2 doubles its squared distances, as if it were given twice; 0
        leaves it out. Views that a mapping leaves out get 1. By default all alike.
    scaling : {"auto", "standard", "minmax", "unit", "tfidf"}, mapping or None, default="auto"
        What is done to each view before it is balanced. "auto": "minmax" if dense, tf-idf and unit rows if sparse.
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
    sample_weights_ : ndarray of shape (V, n)
        How easy each pair is in the end: its weight at a first pace set for the final clusters; 0 if unobserved.
    selection_order_ : ndarray of shape (V, n), int64
        When each pair came in: the first sweep of the best start, counted from 1, in which it weighed ½ or more, which
        is where its loss was at most the pace; 0 if unobserved or without weight. Low numbers are easy samples.
    view_weights_ : ndarray of shape (V,)
        Mean of the ``sample_weights_`` over the observed samples, scaled to sum 1: easy views weigh more.
    cluster_centers_ : dict of str to ndarray of shape (k, d_v)
        Mean of each cluster in each view, in units of the data; NaN where no member was observed.
    inertia_ : float
        Sum of squared distances in the scaled views.
    confidence_ : ndarray of shape (n,)
        1 - nearest / second nearest distance to the centres: 0 is a tie.
    history_ : PacedHistory
        Objective, pace and mean weight of each sweep of the best start, those of the final k-means included; with
        ``keep_labels`` also the labels at the end of each, of the samples that count.
    n_iter_, converged_ : int, bool
        Sweeps of the best start, and whether its labels came to rest.
    scalings_ : tuple of str or None
        What was done to each view first; None for nothing.
    n_views_in_, n_features_in_ : int
        Number of views and of columns in all.
    view_names_in_, n_view_features_in_ : ndarray of shape (V,)
        Names of the views and their numbers of columns.

    See Also
    --------
    RMKMC : Robust distances and a weight per view.
    ConcatKMeans : The same without weights, over scikit-learn.

    Notes
    -----
    A sample not observed in a view (a row of NaN) has weight 0 there and is assigned by the views it has; ``predict``
    takes new samples with some of the views only. Cost: O(n k Σ d_v) per sweep, with about 30 sweeps per start, as
    k-means; memory for one scaled copy of the views and a few (V, n) arrays. A start that ends with an empty cluster
    moves the sample of largest loss there.

    No code was released. ``MSPL.as_published(k)`` is one start from a random sample of scaled columns, which gives the
    printed figures; ``MSPL.as_printed(k)`` leaves the losses and the geometry as the text has them besides. With losses
    of scaled views, which lie far below 1, nearly all weights then are above ½ from the start.

    References
    ----------
    C. Xu, D. Tao, C. Xu. Multi-view Self-Paced Learning for Clustering. IJCAI 2015, 3974-3980.
    https://www.ijcai.org/Proceedings/15/Papers/558.pdf

    Examples
    --------
    >>> from manyviews import MSPL, datasets
    >>> data = datasets.make_blobs_views(n_samples=90, n_features=(5, 4), n_clusters=3, random_state=0)
    >>> model = MSPL(n_clusters=3, random_state=0).fit(data.views)
    >>> model.sample_weights_.shape
    (2, 90)
    """

    _reads_blocks: ClassVar[bool] = True
    _published: ClassVar[dict[str, Any]] = {"n_init": 1, "init": "random", "scaling": "minmax"}
    _printed: ClassVar[dict[str, Any]] = _published | {"loss_scale": 1.0, "geometry": "euclidean"}
    _sample_axes = CentroidClusterer._sample_axes | {"sample_weights_": (1,), "selection_order_": (1,)}
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = CentroidClusterer._parameter_constraints | {
        "pacing": [one_of("smooth", "hard", "none")],
        "initial_share": [SHARE],
        "growth": [ABOVE_ONE],
        "n_sweeps": [POSITIVE_INT],
        "loss_scale": [POSITIVE, one_of("auto")],
        "n_init": [POSITIVE_INT],
        "init": [one_of("auto", "k-means++", "random", "relaxed", "spectral")],
        "init_fraction": [SHARE_ABOVE_ZERO],
        "tol": [NON_NEGATIVE],
        "max_iter": [POSITIVE_INT],
        "keep_labels": ["boolean"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        pacing: PacingKind = "smooth",
        initial_share: float = 0.55,
        growth: float = 1.1,
        n_sweeps: int = 1,
        loss_scale: float | Literal["auto"] = "auto",
        n_init: int = 10,
        init: str = "auto",
        init_fraction: float = 0.1,
        geometry: str = "auto",
        balance_views: bool = True,
        tol: float = 1e-6,
        max_iter: int = 300,
        keep_labels: bool = False,
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
        self.pacing = pacing
        self.initial_share = initial_share
        self.growth = growth
        self.n_sweeps = n_sweeps
        self.loss_scale = loss_scale
        self.n_init = n_init
        self.init = init
        self.init_fraction = init_fraction
        self.geometry = geometry
        self.balance_views = balance_views
        self.tol = tol
        self.max_iter = max_iter
        self.keep_labels = keep_labels

    def _memory_estimate(self, views: Views) -> int:
        # distances between the samples of a spectral start, which sparse rows fill up
        text = any(map(sparse.issparse, views.arrays)) and self.init in ("auto", "spectral")
        rows = min(len(views), max(MOST_ROWS, 2 * self.n_clusters)) if text else 0
        return super()._memory_estimate(views) + 20 * self._jobs() * rows**2

    def _fit(self, views: Views, rng: np.random.Generator, weights: Array | None = None) -> NDArray[np.int64]:
        direction_rng, start_rng = rng.spawn(2)
        stack = self._fit_stack(views, weights)
        pacing = Pacing(
            self.pacing, self.initial_share, self.growth, self.n_sweeps, self.loss_scale, self._weights[:, None]
        )
        kinds = self._start_kinds(stack)
        directions = leading_directions(stack, self.n_clusters, direction_rng) if "relaxed" in kinds else None
        self._say(f"{self.n_init} start(s) over {len(stack.arrays)} views")

        def run(i: int, child: np.random.Generator) -> SelfPaced:
            start = self._start(stack, kinds, i, directions, child)
            return self_paced_kmeans(
                stack, start, pacing, tol=self.tol, max_iter=self.max_iter, keep_labels=self.keep_labels
            )

        starts = enumerate(start_rng.spawn(self.n_init))
        best = min(in_threads(run, starts, self.n_jobs), key=lambda r: stack.counted(r.assignment.losses).sum())
        return self._store(views, stack, best)

    def _start(
        self, stack: Stack, kinds: list[str], i: int, directions: Array | None, rng: np.random.Generator
    ) -> list[Array]:
        """Return the centres of start number i."""
        if kinds[i] == "relaxed":
            assert directions is not None
            return relaxed_start(stack, directions, self.n_clusters, rng)
        if kinds[i] == "spectral":
            turn = kinds[:i].count("spectral") % len(NEIGHBORS)
            return spectral_start(stack, self.n_clusters, rng, n_neighbors=NEIGHBORS[turn])
        spread = kinds[i] == "k-means++"
        return sampled_start(stack, self.n_clusters, rng, fraction=self.init_fraction, spread=spread)

    def _start_kinds(self, stack: Stack) -> list[str]:
        if self.init != "auto":
            return [self.init] * self.n_init
        turns = (
            ("spectral", "relaxed", "k-means++")
            if any(radius is not None for radius in stack.radii)
            else ("k-means++",)
        )
        return [turns[i % len(turns)] for i in range(self.n_init)]

    def _store(self, views: Views, stack: Stack, best: SelfPaced) -> NDArray[np.int64]:
        losses = best.assignment.losses
        self.inertia_, self.selection_order_ = float(stack.counted(losses).sum()), best.entries
        losses = losses / self._weights[:, None]
        self._last_pace = first_pace(stack, losses, self.initial_share)
        self.sample_weights_ = self._ease(stack, losses)
        means = stack.counted(self.sample_weights_).sum(axis=1) / np.maximum(stack.mass.sum(axis=1), TINY)
        self._keep_centers(views, stack, best.centers, best.assignment.labels)
        return self._record(FitResult(best.assignment.labels, best.history, weights=self._weights * means))

    def _ease(self, stack: Stack, losses: Array) -> Array:
        """Return how easy each pair is (V, n)."""
        scale = FIRST_SMOOTH_PACE / self._last_pace if self._last_pace > 0 else 1.0
        return np.asarray(paced_weights(losses * scale, self._last_pace * scale, self.pacing) * stack.ones)

    def _found_for(self, views: Views) -> dict[str, Array]:
        stack = self._stack(views)
        ease = self._ease(stack, assign(stack, self._centers).losses / self._weights[:, None])
        return super()._found_for(views) | {"sample_weights_": ease, "selection_order_": np.zeros(ease.shape)}
