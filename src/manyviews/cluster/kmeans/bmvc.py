r"""BMVC: short binary codes of the samples, common to all views, learned together with their k-means.

minimise :math:`\sum_v \alpha_v^r \bigl(\|B - K_v U_v^\top\|_F^2 + \beta\|U_v\|_F^2 - \gamma\|K_v U_v^\top\|_F^2\bigr)
+ \lambda\|B - GC\|_F^2` over codes B (n, L) and binary centres C (k, L) of ±1, one-hot G, maps :math:`U_v` (L, m) and
α in the simplex. :math:`K_v` (n, m) are similarities to m anchors, centred. Samples are rows here.

K is made in blocks of rows and B is kept in packed bits: of a block only :math:`B^\top K_v` (L, m) is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import eigh
from sklearn.utils._param_validation import Interval, StrOptions

from manyviews.cluster.base import MultiViewClusterer, PredictMixin
from manyviews.cluster.memory import copy_bytes
from manyviews.cluster.result import FitResult
from manyviews.cluster.row_blocks import over_blocks
from manyviews.graphs.anchor_views import AnchorViews, squared_lengths
from manyviews.linalg.eigen import fix_signs
from manyviews.linalg.scaling import fit_scaling, row_blocks
from manyviews.optim.history import History
from manyviews.partitions.discretize import center_confidence
from manyviews.views import Views

__all__ = [
    "BMVC",
    "AnchorFeatures",
    "BinaryCodes",
    "CodeSettings",
    "Features",
    "assign_codes",
    "cluster_codes",
    "fit_features",
    "iterate",
    "signs",
    "solve_bmvc",
]

Array = NDArray[Any]
Bits = NDArray[np.uint8]
Blocks = Callable[[Callable[[slice], Any], Iterable[slice]], Iterable[Any]]
ROWS_PER_BLOCK = 4_096
# rows on which widths are measured, directions sought and starts compared
WIDTH_ROWS, DIRECTION_ROWS, START_ROWS = 10_000, 1_000, 20_000
# similarities are kept, instead of made again in every iteration, where they take no more than so many bytes
KEPT_BYTES = 2**28
# squared distances below this share of the squared length are those of equal rows; eigenvalues below are none
SAME = 1e-10
# discrete proximal steps of one update of the centres, as in the released code
PROXIMAL_STEPS = 3
SMALLEST_LOSS = 1e-12


class Features(NamedTuple):
    """Similarities to anchors.

    ``block`` returns K of every view, (b, m_v), for a slice of rows, with zeros where a sample was not observed;
    ``grams`` are KᵀK (m_v, m_v), ``observed`` the numbers of samples observed in each view, ``n`` that of all.
    """

    block: Callable[[slice], list[Array]]
    grams: list[NDArray[np.float64]]
    observed: NDArray[np.int64]
    n: int


class AnchorFeatures(NamedTuple):
    """Gaussian similarities of a view to anchors (m, d), dense or CSR, of width σ, less their means (m,)."""

    anchors: Any
    width: float
    mean: NDArray[np.float32]

    def of(self, X: Any, seen: NDArray[np.bool_] | None) -> NDArray[np.float32]:
        """Return the features of scaled rows, (b, m); zeros for unobserved ones."""
        phi = _squared_distances(X, self.anchors).astype(np.float32)
        phi *= np.float32(-0.5 / self.width**2)
        np.exp(phi, out=phi)
        phi -= self.mean
        if seen is not None:
            phi[~seen] = 0.0
        return phi


class CodeSettings(NamedTuple):
    """Exponent r, weights β, γ and λ, balance ρ of the bits and its step 1 / μ, passes, whether to fill clusters."""

    r: float = 5.0
    beta: float = 0.003
    gamma: float = 0.01
    lam: float = 1e-5
    rho: float = 1e-3
    mu: float = 0.01
    n_inner: int = 10
    refill: bool = True


class CodeClusters(NamedTuple):
    """Centres (k, L) of ±1, labels (n,) and Hamming distances (n,) to the own centre."""

    centers: NDArray[np.float32]
    labels: NDArray[np.int64]
    distances: NDArray[np.float32]


class CodeStep(NamedTuple):
    """State after an iteration: packed bits (n, L / 8), clusters, maps U (L, m_v), weights α, losses h, objective.

    ``pulls`` (L, m_v) are the maps times their weights, of which the codes are the signs.
    """

    bits: Bits
    clusters: CodeClusters
    maps: list[NDArray[np.float64]]
    alpha: NDArray[np.float64]
    losses: NDArray[np.float64]
    objective: float
    pulls: list[NDArray[np.float64]]


class BinaryCodes(NamedTuple):
    """The last state and the history."""

    last: CodeStep
    history: History


def fit_features(
    views: AnchorViews, m: int, rng: np.random.Generator, over: Blocks = map
) -> tuple[list[AnchorFeatures], Features]:
    """Choose m random anchors of every view and learn the features that they make.

    Parameters
    ----------
    views : AnchorViews
        The views.
    m : int
        Number of anchors, the same samples in all views but for gaps.
    rng : Generator
        Draws them.
    over : callable, default=map
        Applies a function to all blocks of rows, in order of the blocks, perhaps several at a time.

    Returns
    -------
    fitted : list of AnchorFeatures
        What makes the features of new rows, one per view.
    features : Features
        Those of the views given.
    """
    n, V = len(views), len(views.arrays)
    order = rng.permutation(n)
    fitted, grams, observed = [], [], []
    for v in range(V):
        seen = views.seen(v)
        having = order if seen is None else order[seen[order]]
        anchors = views.block(v, np.sort(having[:m]))
        width = _width(views.block(v, np.sort(having[:WIDTH_ROWS])), anchors)
        raw = AnchorFeatures(anchors, width, np.zeros(anchors.shape[0], np.float32))
        total, gram = _moments(views, v, raw, over)
        mean = total / having.size
        fitted.append(raw._replace(mean=mean.astype(np.float32)))
        grams.append(gram - having.size * np.outer(mean, mean))
        observed.append(having.size)

    def block(rows: slice) -> list[Array]:
        return [f.of(views.block(v, rows), views.seen(v, rows)) for v, f in enumerate(fitted)]

    if 4 * n * sum(map(len, grams)) <= KEPT_BYTES:
        kept = {rows.start: K for rows in row_blocks(n, ROWS_PER_BLOCK) for K in [block(rows)]}
        return fitted, Features(lambda rows: kept[rows.start], grams, np.array(observed), n)
    return fitted, Features(block, grams, np.array(observed), n)


def _squared_distances(X: Any, A: Any) -> Array:
    cross = X @ A.T
    D = -2.0 * (cross.toarray() if sparse.issparse(cross) else np.asarray(cross))
    D += squared_lengths(X).astype(D.dtype)[:, None]
    D += squared_lengths(A).astype(D.dtype)
    return np.maximum(D, 0.0, out=D)


def _width(X: Any, anchors: Any) -> float:
    """Return σ, twice the mean distance to the nearest anchor that differs."""
    nearest = []
    for rows in row_blocks(X.shape[0], ROWS_PER_BLOCK):
        D = _squared_distances(X[rows], anchors)
        D[SAME * squared_lengths(X[rows])[:, None] >= D] = np.inf
        nearest.append(D.min(axis=1))
    squares = np.concatenate(nearest).astype(np.float64)
    squares = squares[np.isfinite(squares)]
    return 2.0 * float(np.sqrt(squares).mean()) if squares.size else 1.0


def _moments(views: AnchorViews, v: int, raw: AnchorFeatures, over: Blocks) -> tuple[Array, Array]:
    """Return the sums (m,) and the products (m, m) of features that are not centred, in double precision."""

    def one(rows: slice) -> tuple[Array, Array]:
        phi = raw.of(views.block(v, rows), views.seen(v, rows)).astype(np.float64)
        return phi.sum(axis=0), phi.T @ phi

    m = raw.mean.size
    total, gram = np.zeros(m), np.zeros((m, m))
    for added, product in over(one, row_blocks(len(views), ROWS_PER_BLOCK)):
        total += added
        gram += product
    return total, gram


def principal_maps(sample: list[Array], L: int, rng: np.random.Generator) -> list[Array]:
    """Return maps (L, m_v) onto the leading principal directions of the views side by side, given K of some rows.

    Where there are fewer than L directions, the further bits are signs of random mixtures of them.
    """
    F = sum(K.astype(np.float64) @ K.T.astype(np.float64) for K in sample)
    s = len(F)
    values, vectors = eigh(F, subset_by_index=[max(s - L, 0), s - 1])
    kept = values > SAME * max(values[-1], np.finfo(float).tiny)
    P = fix_signs(vectors[:, kept][:, ::-1]) / np.sqrt(values[kept][::-1])
    if P.shape[1] < L:
        P = np.hstack([P, P @ rng.standard_normal((P.shape[1], L - P.shape[1]))])
    return [P.T @ K for K in sample]


def start_clusters(
    bits: Bits, k: int, L: int, settings: CodeSettings, rng: np.random.Generator, *, n_init: int, spread: bool
) -> CodeClusters:
    """Return the best of ``n_init`` clusterings of some of the codes, with all codes assigned.

    With ``spread`` the first centres are drawn far apart, as in k-means++, else anyhow among distinct codes.
    """
    some = bits if len(bits) <= START_ROWS else bits[rng.choice(len(bits), START_ROWS, replace=False)]
    distinct = np.unique(some, axis=0)
    best: CodeClusters | None = None
    for _ in range(n_init):
        if spread or len(distinct) < k:
            centers = _spread_codes(some, k, L, rng)
        else:
            centers = signs(distinct[rng.choice(len(distinct), k, replace=False)], L)
        run = cluster_codes(some, assign_codes(some, centers), settings)
        if best is None or run.distances.sum() < best.distances.sum():
            best = run
    assert best is not None
    return best if some is bits else assign_codes(bits, best.centers)


def _spread_codes(bits: Bits, k: int, L: int, rng: np.random.Generator) -> NDArray[np.float32]:
    chosen = [int(rng.integers(len(bits)))]
    nearest = nearest_codes(bits, signs(bits[chosen], L))[1][:, 0]
    for _ in range(k - 1):
        chances = np.square(nearest, dtype=np.float64)
        total = chances.sum()
        chosen.append(int(rng.choice(len(bits), p=chances / total if total > 0 else None)))
        np.minimum(nearest, nearest_codes(bits, signs(bits[chosen[-1:]], L))[1][:, 0], out=nearest)
    return signs(bits[chosen], L)


def nearest_codes(bits: Bits, centers: NDArray[np.float32]) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Return the nearest centre of every code, the lowest index on ties, and the Hamming distances to all, (b, k)."""
    L = centers.shape[1]
    distances = (L - signs(bits, L) @ centers.T) / 2
    return distances.argmin(axis=1), distances


def signs(bits: Bits, L: int) -> NDArray[np.float32]:
    """Return packed bits (b, L / 8) as ±1, (b, L)."""
    return 2.0 * np.unpackbits(bits, axis=1, count=L).astype(np.float32) - 1.0


def assign_codes(bits: Bits, centers: NDArray[np.float32]) -> CodeClusters:
    """Give every code to its nearest centre."""
    labels, own = np.empty(len(bits), np.int64), np.empty(len(bits), np.float32)
    for rows in row_blocks(len(bits), ROWS_PER_BLOCK):
        labels[rows], distances = nearest_codes(bits[rows], centers)
        own[rows] = distances.min(axis=1)
    return CodeClusters(centers, labels, own)


def cluster_codes(bits: Bits, current: CodeClusters, settings: CodeSettings) -> CodeClusters:
    """Renew centres and labels ``n_inner`` times, or until the labels rest."""
    k, L = current.centers.shape
    for _ in range(settings.n_inner):
        last = current.labels
        if settings.refill:
            last = _refill(current, k)
        sums = _bit_sums(bits, last, k, L)
        C = np.where(sums >= 0, 1.0, -1.0)
        for _ in range(PROXIMAL_STEPS):
            step = -sums + settings.rho * C.sum(axis=1, keepdims=True)
            C = np.where(C - step / settings.mu >= 0, 1.0, -1.0)
        current = assign_codes(bits, C.astype(np.float32))
        if np.array_equal(current.labels, last):
            break
    return current


def solve_bmvc(
    features: Features,
    bits: Bits,
    clusters: CodeClusters,
    settings: CodeSettings,
    *,
    tol: float = 0.0,
    max_iter: int = 10,
    over: Blocks = map,
) -> BinaryCodes:
    """Run the alternating updates.

    Parameters
    ----------
    features : Features
        Similarities to anchors.
    bits : ndarray of shape (n, L / 8), uint8
        Packed codes of the start.
    clusters : CodeClusters
        Clusters of the start; their centres have L columns.
    settings : CodeSettings
        Weights.
    tol : float, default=0.0
        Relative change of the objective that ends the iterations.
    max_iter : int, default=10
        Most iterations.
    over : callable, default=map
        Applies a function to all blocks of rows, in order of the blocks, perhaps several at a time.

    Returns
    -------
    BinaryCodes
        Last state and history.
    """
    objective: list[float] = []
    converged = False
    for step in iterate(features, bits, clusters, settings, over):
        objective.append(step.objective)
        if len(objective) > 1:
            converged = abs(objective[-2] - step.objective) <= tol * abs(step.objective)
        if converged or len(objective) >= max_iter:
            break
    return BinaryCodes(step, History(np.array(objective), len(objective), converged))


def iterate(
    features: Features, bits: Bits, clusters: CodeClusters, settings: CodeSettings, over: Blocks = map
) -> Iterable[CodeStep]:
    """Yield the state after every iteration, without end."""
    V, L = len(features.grams), clusters.centers.shape[1]
    inverses = [np.linalg.inv((1.0 - settings.gamma) * G + settings.beta * np.eye(len(G))) for G in features.grams]
    share = features.n / np.maximum(features.observed, 1)
    alpha = np.full(V, 1.0 / V)
    cross = _renew_bits(features, bits, None, clusters, settings, over)[1]
    while True:
        maps = [S @ inverse for S, inverse in zip(cross, inverses, strict=True)]
        pulls = [w * U for w, U in zip(share * alpha**settings.r, maps, strict=True)]
        bits, cross = _renew_bits(features, bits, pulls, clusters, settings, over)
        clusters = cluster_codes(bits, clusters, settings)
        losses = share * _losses(features, cross, maps, settings, L)
        alpha = _view_weights(losses, settings.r)
        objective = float(alpha**settings.r @ losses + 4.0 * settings.lam * clusters.distances.sum(dtype=np.float64))
        yield CodeStep(bits, clusters, maps, alpha, losses, objective, pulls)


def code_block(K: list[Array], maps: list[Array], pull: Array | float = 0.0) -> Bits:
    """Return the packed bits of a block of rows; 0 becomes -1, as in the released code."""
    S = sum(K_v @ U.T.astype(K_v.dtype) for K_v, U in zip(K, maps, strict=True)) + pull
    return np.packbits(S > 0, axis=1)


def _renew_bits(
    features: Features,
    bits: Bits,
    maps: list[Array] | None,
    clusters: CodeClusters,
    settings: CodeSettings,
    over: Blocks,
) -> tuple[Bits, list[NDArray[np.float64]]]:
    """Return new bits, where there are maps, and their products BᵀK (L, m_v) with the similarities."""
    L = clusters.centers.shape[1]

    def one(rows: slice) -> tuple[Bits, list[Array]]:
        K, part = features.block(rows), bits[rows]
        if maps is not None:
            part = code_block(K, maps, settings.lam * clusters.centers[clusters.labels[rows]])
        B = signs(part, L)
        return part, [B.T @ K_v for K_v in K]

    blocks = list(row_blocks(features.n, ROWS_PER_BLOCK))
    cross = [np.zeros((L, len(G))) for G in features.grams]
    renewed = np.empty_like(bits)
    for rows, (part, products) in zip(blocks, over(one, blocks), strict=True):
        renewed[rows] = part
        cross = [total + product for total, product in zip(cross, products, strict=True)]
    return renewed, cross


def _losses(
    features: Features, cross: list[Array], maps: list[Array], settings: CodeSettings, L: int
) -> NDArray[np.float64]:
    """Return ‖B - KUᵀ‖² - γ‖KUᵀ‖² + β‖U‖² of every view."""
    found = [
        n_v * L - 2.0 * np.vdot(S, U) + (1.0 - settings.gamma) * np.vdot(U @ G, U) + settings.beta * np.vdot(U, U)
        for n_v, S, U, G in zip(features.observed, cross, maps, features.grams, strict=True)
    ]
    return np.maximum(found, SMALLEST_LOSS)


def _view_weights(losses: NDArray[np.float64], r: float) -> NDArray[np.float64]:
    """Return α ∝ h^{1/(1-r)}, of sum 1."""
    powers = (losses / losses.min()) ** (1.0 / (1.0 - r))
    return np.asarray(powers / powers.sum())


def _bit_sums(bits: Bits, labels: NDArray[np.int64], k: int, L: int) -> NDArray[np.float64]:
    """Return the sums of the codes of every cluster, (k, L)."""
    sums = np.zeros((k, L))
    for rows in row_blocks(len(bits), ROWS_PER_BLOCK):
        members = (labels[rows] == np.arange(k)[:, None]).astype(np.float32)
        sums += members @ signs(bits[rows], L)
    return sums


def _refill(current: CodeClusters, k: int) -> NDArray[np.int64]:
    """Return labels with the farthest code of a cluster that can spare it in each empty cluster."""
    labels, sizes = current.labels.copy(), np.bincount(current.labels, minlength=k)
    empty = list(np.flatnonzero(sizes == 0))
    if not empty:
        return current.labels
    for i in np.argsort(-current.distances, kind="stable"):
        if not empty or current.distances[i] <= 0:
            break
        if sizes[labels[i]] > 1:
            sizes[labels[i]] -= 1
            labels[i] = empty.pop(0)
    return labels


class BMVC(MultiViewClusterer, PredictMixin):
    r"""Binary multi-view clustering (BMVC).

    Every sample gets a short code of bits, common to all views, and the codes are grouped around binary centres in Hamming
    distance; both are learned together, with a weight for every view:

    .. math:: \min \sum_v \alpha_v^r \bigl(\|B - K_v U_v^\top\|_F^2 + \beta \|U_v\|_F^2
              - \gamma \|K_v U_v^\top\|_F^2\bigr) + \lambda \|B - G C\|_F^2

    over codes B (n, L) and centres C (k, L) of ±1, one-hot G, maps :math:`U_v` and α in the simplex. :math:`K_v` holds
    Gaussian similarities of the samples to m anchors, less their means.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters k.
    n_bits : int, default=128
        Bits L of a code. More of them are finer and cost in proportion.
    n_anchors : int, default=None
        Random samples m that serve as anchors, at most n. None: a twentieth of the samples, at least 20 and 2k, at most
        1000. Raising it describes samples more finely; but the nearer it comes to n, the better any codes can be
        reproduced, and those of the start, which are poor, remain.
    exponent : float, default=5.0
        Exponent r of the view weights, above 1; raising it makes the weights equal.
    ridge : float, default=0.003
        Weight β of the size of the maps; raising it smooths them.
    variance_weight : float, default=0.01
        Weight γ, below 1, of the variance of the bits before they are rounded, which is rewarded.
    cluster_weight : float, default=1e-5
        Weight λ of the distance of the codes to their centres; raising it draws codes towards them. As published it
        decides only bits that are nearly ties.
    bit_balance : float, default=1e-3
        Weight ρ of the balance of -1 and 1 in a centre.
    init : {"k-means++", "released"}, default="k-means++"
        First centres. "k-means++": codes drawn far apart, the best of ``n_init`` clusterings. "released": distinct codes
        drawn anyhow, once.
    code_view : str or int, default=None
        View whose principal directions make the codes of the start, by name or position, as in the released code, where
        it is the fourth. None: those of all views side by side.
    empty_clusters : {"refill", "released"}, default="refill"
        "refill": an empty cluster takes the code that is farthest from its centre. "released": its centre becomes a row
        of ones, and it may remain empty.
    n_init : int, default=10
        Starts of the clustering of the codes.
    tol : float, default=0.003
        Relative change of the objective that ends the iterations.
    max_iter : int, default=50
        Most iterations. The released code makes 7.
    scaling : {"auto", "standard", "minmax", "unit", "tfidf"}, mapping or None, default="auto"
        What is done to each view first. "auto": "standard" if dense, tf-idf and unit rows if sparse. None is the
        released code.
    views : list of int or mapping, default=None
        How one table is cut into views.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the anchors, the directions and the starts.
    n_jobs : int, default=None
        Blocks of samples worked on at a time; -1 uses all cores. Results do not depend on it.
    verbose : int, default=0
        1 prints what is being done.

    Attributes
    ----------
    labels_ : ndarray of shape (n,), int64
        Cluster of each sample, 0 .. k-1, largest cluster first.
    codes_ : ndarray of shape (n, ceil(L / 8)), uint8
        Bits of the samples, packed as by ``numpy.packbits``.
    center_codes_ : ndarray of shape (k, ceil(L / 8)), uint8
        Bits of the centres, in the order of the labels.
    view_weights_ : ndarray of shape (V,)
        Weights α, which sum to 1.
    confidence_ : ndarray of shape (n,)
        1 - nearest / second nearest Hamming distance to the centres: 0 is a tie.
    history_ : History
        Objective after each iteration.
    n_iter_, converged_ : int, bool
        Iterations made, and whether ``tol`` was met.
    scalings_ : tuple of str or None
        What was done to each view first; None for nothing.
    n_views_in_, n_features_in_ : int
        Number of views and of columns in all.
    view_names_in_, n_view_features_in_ : ndarray of shape (V,)
        Names of the views and their numbers of columns.

    Notes
    -----
    Cost: O(n m (m + Σ d_v)) once and O(n m (L V + Σ d_v)) per iteration, linear in n. Similarities are made in blocks of
    rows, and kept only where all of them take less than 256 MB; besides the views there are the packed codes, n L / 8
    bytes, and V matrices of m × m. They are single precision, since only signs are taken of what they are multiplied to;
    their products are double.

    The objective cannot rise but by the balance of the centres, which is not part of it. Every bit of the start counts
    alike, however little its direction varies, which makes the first codes poor, and some ten iterations are needed.

    A sample not observed in a view has no term there, and the view's sum is scaled up to all samples. New samples get bits
    by the maps of the last iteration and go to the nearest centre. The training samples get their labels back, but for a
    bit that the centres decided.

    The text of the paper was not at hand; everything follows the released demo, but the width of the similarities: there
    anchors among the samples are their own nearest anchors, at distance 0, here the nearest one that differs counts.

    References
    ----------
    Z. Zhang, L. Liu, F. Shen, H. T. Shen, L. Shao. Binary Multi-View Clustering. IEEE Transactions on Pattern Analysis
    and Machine Intelligence 41(7), 2019, 1774-1782. https://doi.org/10.1109/TPAMI.2018.2847335

    Examples
    --------
    >>> from manyviews import BMVC, datasets
    >>> data = datasets.make_blobs_views(n_samples=90, n_features=(5, 4), n_clusters=3, random_state=0)
    >>> BMVC(n_clusters=3, random_state=0).fit(data.views).codes_.shape
    (90, 16)
    """

    _accepts_missing: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = MultiViewClusterer._parameter_constraints | {
        "n_bits": [Interval(Integral, 1, None, closed="left")],
        "n_anchors": [Interval(Integral, 1, None, closed="left"), None],
        "exponent": [Interval(Real, 1, None, closed="neither")],
        "ridge": [Interval(Real, 0, None, closed="neither")],
        "variance_weight": [Interval(Real, 0, 1, closed="left")],
        "cluster_weight": [Interval(Real, 0, None, closed="left")],
        "bit_balance": [Interval(Real, 0, None, closed="left")],
        "init": [StrOptions({"k-means++", "released"})],
        "code_view": [str, Integral, None],
        "empty_clusters": [StrOptions({"refill", "released"})],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_bits: int = 128,
        n_anchors: int | None = None,
        exponent: float = 5.0,
        ridge: float = 0.003,
        variance_weight: float = 0.01,
        cluster_weight: float = 1e-5,
        bit_balance: float = 1e-3,
        init: str = "k-means++",
        code_view: str | int | None = None,
        empty_clusters: str = "refill",
        n_init: int = 10,
        tol: float = 0.003,
        max_iter: int = 50,
        scaling: Any = "auto",
        views: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            n_clusters, scaling=scaling, views=views, random_state=random_state, n_jobs=n_jobs, verbose=verbose
        )
        self.n_bits = n_bits
        self.n_anchors = n_anchors
        self.exponent = exponent
        self.ridge = ridge
        self.variance_weight = variance_weight
        self.cluster_weight = cluster_weight
        self.bit_balance = bit_balance
        self.init = init
        self.code_view = code_view
        self.empty_clusters = empty_clusters
        self.n_init = n_init
        self.tol = tol
        self.max_iter = max_iter

    def _memory_estimate(self, views: Views) -> int:
        n, m, V = len(views), self._anchor_count(len(views)), len(views.names)
        wide = sum(X.shape[1] for X in views.arrays)
        kept = 4 * n * m * V if 4 * n * m * V <= KEPT_BYTES else 0
        rows = min(n, ROWS_PER_BLOCK) * int(effective_n_jobs(self.n_jobs))
        block = rows * (4 * V * m + 16 * m + 8 * self.n_bits) + 2 * sum(map(copy_bytes, views.arrays)) * rows // n
        starts = min(n, WIDTH_ROWS) * max(X.shape[1] for X in views.arrays) * 16
        return kept + block + max(starts, 8 * V * m * (4 * m + wide // V)) + n * (self.n_bits // 4 + 40)

    def _anchor_count(self, n: int) -> int:
        if self.n_anchors is not None:
            return min(n, int(self.n_anchors))
        return min(n, max(20, 2 * self.n_clusters, min(n // 20, 1000)))

    def _fit(self, views: Views, rng: np.random.Generator) -> NDArray[np.int64]:
        self._scaling = tuple(map(fit_scaling, views.arrays, self._choose_scalings(views)))
        read, over = self._read(views), over_blocks(self.n_jobs)
        anchor_rng, code_rng, label_rng = rng.spawn(3)
        m = self._anchor_count(len(views))
        self._say(f"similarities to {m} anchors")
        self._features, features = fit_features(read, m, anchor_rng, over)
        settings = self._settings()
        bits = self._first_bits(read, features, views.names, code_rng, over)
        spread = self.init == "k-means++"
        starts = self.n_init if spread else 1
        first = start_clusters(bits, self.n_clusters, self.n_bits, settings, label_rng, n_init=starts, spread=spread)
        self._say("learning codes")
        result = solve_bmvc(features, bits, first, settings, tol=self.tol, max_iter=self.max_iter, over=over)
        last = result.last
        self.codes_, self._pulls, self._centers = last.bits, last.pulls, last.clusters.centers
        blocks = (nearest_codes(last.bits[rows], self._centers)[1] for rows in row_blocks(len(last.bits)))
        confidence = np.concatenate([center_confidence(distances) for distances in blocks])
        return self._record(FitResult(last.clusters.labels, result.history, last.alpha, confidence=confidence))

    def _settings(self) -> CodeSettings:
        return CodeSettings(
            self.exponent,
            self.ridge,
            self.variance_weight,
            self.cluster_weight,
            self.bit_balance,
            refill=self.empty_clusters == "refill",
        )

    def _read(self, views: Views) -> AnchorViews:
        return AnchorViews(views.arrays, self._scaling, None if views.observed.all() else views.observed)

    def _first_bits(
        self, read: AnchorViews, features: Features, names: tuple[str, ...], rng: np.random.Generator, over: Blocks
    ) -> Bits:
        """Return the signs of the principal directions of one view or of all."""
        n, V = len(read), len(names)
        used = range(V) if self.code_view is None else [_position(self.code_view, names)]
        rows = np.sort(rng.choice(n, min(n, DIRECTION_ROWS), replace=False))
        sample = [self._features[v].of(read.block(v, rows), read.seen(v, rows)) for v in used]
        maps = principal_maps(sample, self.n_bits, rng)
        blocks = list(row_blocks(n, ROWS_PER_BLOCK))

        def one(block: slice) -> Bits:
            K = features.block(block)
            return code_block([K[v] for v in used], maps)

        return np.vstack(list(over(one, blocks)))

    @property
    def center_codes_(self) -> Bits:
        """Bits of the centres, packed, (k, ceil(L / 8)), in the order of the labels."""
        return np.packbits(self._centers[np.argsort(self._order)] > 0, axis=1)

    def _predict(self, views: Views) -> NDArray[np.int64]:
        read = self._read(views)

        def one(rows: slice) -> NDArray[np.int64]:
            K = [f.of(read.block(v, rows), read.seen(v, rows)) for v, f in enumerate(self._features)]
            return nearest_codes(code_block(K, self._pulls), self._centers)[0]

        return np.concatenate(list(over_blocks(self.n_jobs)(one, row_blocks(len(views), ROWS_PER_BLOCK))))


def _position(view: str | int, names: tuple[str, ...]) -> int:
    if isinstance(view, str) and view in names:
        return names.index(view)
    if not isinstance(view, str) and -len(names) <= view < len(names):
        return int(view) % len(names)
    raise ValueError(f"code_view={view!r} is none of the views {list(names)}; give a name, a position or None")
