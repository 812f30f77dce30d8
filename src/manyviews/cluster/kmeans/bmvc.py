r"""BMVC: short binary codes of the samples, common to all views, learned together with their k-means.

minimise :math:`\sum_v \alpha_v^r \bigl(\|B - K_v U_v^\top\|_F^2 + \beta\|U_v\|_F^2 - \gamma\|K_v U_v^\top\|_F^2\bigr)
+ \lambda\|B - GC\|_F^2` over codes B (n, L) and binary centres C (k, L) of ±1, one-hot G, maps :math:`U_v` (L, m) and
α in the simplex. :math:`K_v` (n, m) are similarities to m anchors, centred. Samples are rows here.

K is made in blocks of rows and B is kept in packed bits: of a block only :math:`B^\top K_v` (L, m) is kept.
"""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from manyviews.cluster.base import MultiViewClusterer, PredictMixin
from manyviews.cluster.constraints import ABOVE_ONE, NON_NEGATIVE, POSITIVE, POSITIVE_INT, SHARE_BELOW_ONE, one_of
from manyviews.cluster.memory import copy_bytes
from manyviews.cluster.parallel import jobs_at_a_time, over_blocks
from manyviews.cluster.result import FitResult
from manyviews.graphs.anchor_features import (
    KEPT_BYTES,
    ROWS_PER_BLOCK,
    WIDTH_ROWS,
    Features,
    fit_features,
    principal_maps,
)
from manyviews.graphs.anchor_views import AnchorViews, Blocks
from manyviews.linalg.blocks import row_blocks
from manyviews.linalg.scaling import fit_scaling
from manyviews.optim.stepping import run_until_settled
from manyviews.partitions.discretize import center_confidence
from manyviews.prototypes.binary_codes import (
    Bits,
    CodeClusters,
    CodeRule,
    cluster_codes,
    nearest_codes,
    signs,
    start_clusters,
)
from manyviews.views import Views

__all__ = ["BMVC", "CodeSettings", "code_steps"]

Array = NDArray[Any]
# rows in which the principal directions of the start are sought
DIRECTION_ROWS = 1_000
SMALLEST_LOSS = 1e-12


class CodeSettings(NamedTuple):
    """Exponent r of the view weights, the weights β, γ and λ, and how codes are grouped."""

    r: float = 5.0
    beta: float = 0.003
    gamma: float = 0.01
    lam: float = 1e-5
    rule: CodeRule = CodeRule()


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


def code_steps(
    features: Features,
    bits: Bits,
    clusters: CodeClusters,
    settings: CodeSettings,
    over: Blocks = map,
    wanted: Any = 1.0,
) -> Iterable[CodeStep]:
    """Yield the state after every iteration, without end.

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
    over : callable, default=map
        Applies a function to all blocks of rows, in order of the blocks, perhaps several at a time.

    Yields
    ------
    CodeStep
        The state.
    """
    V, L = len(features.grams), clusters.centers.shape[1]
    inverses = [np.linalg.inv((1.0 - settings.gamma) * G + settings.beta * np.eye(len(G))) for G in features.grams]
    share = features.n / np.maximum(features.observed, 1)
    wanted = np.broadcast_to(wanted, V)
    alpha = np.full(V, 1.0 / wanted.sum())
    cross = _renew_bits(features, bits, None, clusters, settings, over)[1]
    while True:
        maps = [S @ inverse for S, inverse in zip(cross, inverses, strict=True)]
        pulls = [w * U for w, U in zip(wanted * share * alpha**settings.r, maps, strict=True)]
        bits, cross = _renew_bits(features, bits, pulls, clusters, settings, over)
        clusters = cluster_codes(bits, clusters, settings.rule)
        losses = share * _losses(features, cross, maps, settings, L)
        alpha = _view_weights(losses, settings.r, wanted)
        objective = float(
            (wanted * alpha**settings.r) @ losses + 4.0 * settings.lam * clusters.distances.sum(dtype=np.float64)
        )
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


def _view_weights(losses: NDArray[np.float64], r: float, wanted: Array) -> NDArray[np.float64]:
    """Return α ∝ h^{1/(1-r)}, of sum 1."""
    powers = (losses / losses.min()) ** (1.0 / (1.0 - r))
    return np.asarray(powers / (wanted @ powers))


class BMVC(MultiViewClusterer, PredictMixin):
    r"""Binary multi-view clustering (BMVC).

    Every sample gets a short code of bits, common to all views, and the codes are grouped around binary centres in
    Hamming distance; both are learned together, with a weight for every view:

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
        Random samples m that serve as anchors, at most n. None: a tenth of the samples, at least 20 and 2k, at most
        300; 1000 are usual, and cost four times as much. Raising it describes samples more finely; but the nearer it
        comes to n, the better any codes can be reproduced, and the more those of the start remain.
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
        First centres. "k-means++": codes drawn far apart, the best of ``n_init`` clusterings. "released": distinct
        codes drawn anyhow, once.
    code_start : {"mixed", "released"}, default="mixed"
        First codes. "mixed": signs of random mixtures of the leading principal directions, so that a direction counts
        by its variance. "released": signs of the directions, so that all count alike; these codes hardly tell the
        clusters apart (UCI digits: NMI 0.1 against 0.8), and where there are many anchors the final ones do not either.
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
    view_weights : mapping or sequence of float, default=None
        What each view counts, relative to the others: 2 doubles its say in the codes, as if it were given twice; 0
        leaves it out. Views that a mapping leaves out get 1. By default all alike.
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
    Cost: O(n m (m V + Σ d_v)) once and O(n m (L V + Σ d_v)) per iteration, linear in n. Similarities are made in blocks
    of rows, and kept only where all of them take less than 256 MB; besides the views there are the packed codes, n L /
    8 bytes, and V matrices of m × m. The similarities are in single precision, since only signs are taken of what they
    are multiplied to; the products of m × m are in double.

    The objective cannot rise but by the balance of the centres, which is not part of it.

    A sample not observed in a view has no term there, and the view's sum is scaled up to all samples. New samples get
    bits by the maps of the last iteration and go to the nearest centre. The training samples get their labels back,
    but for bits that the centres decided.

    The text of the paper was not at hand; everything follows the released demo, but the width of the similarities:
    there a sample that is an anchor is its own nearest one, at distance 0, here the nearest that differs counts.

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
    _sample_axes = MultiViewClusterer._sample_axes | {"codes_": (0,)}
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = MultiViewClusterer._parameter_constraints | {
        "n_bits": [POSITIVE_INT],
        "n_anchors": [POSITIVE_INT, None],
        "exponent": [ABOVE_ONE],
        "ridge": [POSITIVE],
        "variance_weight": [SHARE_BELOW_ONE],
        "cluster_weight": [NON_NEGATIVE],
        "bit_balance": [NON_NEGATIVE],
        "init": [one_of("k-means++", "released")],
        "code_start": [one_of("mixed", "released")],
        "code_view": [str, Integral, None],
        "empty_clusters": [one_of("refill", "released")],
        "n_init": [POSITIVE_INT],
        "tol": [NON_NEGATIVE],
        "max_iter": [POSITIVE_INT],
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
        code_start: str = "mixed",
        code_view: str | int | None = None,
        empty_clusters: str = "refill",
        n_init: int = 10,
        tol: float = 0.003,
        max_iter: int = 50,
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
        self.n_bits, self.n_anchors = n_bits, n_anchors
        self.exponent = exponent
        self.ridge = ridge
        self.variance_weight = variance_weight
        self.cluster_weight = cluster_weight
        self.bit_balance = bit_balance
        self.init = init
        self.code_start = code_start
        self.code_view = code_view
        self.empty_clusters = empty_clusters
        self.n_init = n_init
        self.tol = tol
        self.max_iter = max_iter

    def _memory_estimate(self, views: Views) -> int:
        n, m, V = len(views), self._anchor_count(len(views)), len(views.names)
        kept = 4 * n * m * V if 4 * n * m * V <= KEPT_BYTES else 0
        rows = min(n, ROWS_PER_BLOCK) * jobs_at_a_time(self.n_jobs, -(-n // ROWS_PER_BLOCK))
        block = rows * (4 * V * m + 16 * m + 8 * self.n_bits) + 2 * sum(map(copy_bytes, views.arrays)) * rows // n
        # the rows on which the widths are measured, before and after they are scaled
        starts = 3 * min(1.0, WIDTH_ROWS / n) * max(map(copy_bytes, views.arrays))
        return int(max(starts, kept + block + 32 * V * m**2) + n * (self.n_bits // 4 + 40))

    def _anchor_count(self, n: int) -> int:
        usual = max(20, 2 * self.n_clusters, min(n // 10, 300))
        return int(min(n, usual if self.n_anchors is None else self.n_anchors))

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
        k, L = self.n_clusters, self.n_bits
        first = start_clusters(bits, k, L, settings.rule, label_rng, n_init=starts, spread=spread)
        self._say("learning codes")
        steps = code_steps(features, bits, first, settings, over, self._weights)
        last, history = run_until_settled(steps, tol=self.tol, min_iter=2, max_iter=self.max_iter)
        self.codes_, self._pulls, self._centers = last.bits, last.pulls, last.clusters.centers
        blocks = (nearest_codes(last.bits[rows], self._centers)[1] for rows in row_blocks(len(last.bits)))
        confidence = np.concatenate([center_confidence(distances) for distances in blocks])
        return self._record(FitResult(last.clusters.labels, history, self._weights * last.alpha, confidence=confidence))

    def _settings(self) -> CodeSettings:
        return CodeSettings(
            self.exponent,
            self.ridge,
            self.variance_weight,
            self.cluster_weight,
            CodeRule(self.bit_balance, refill=self.empty_clusters == "refill"),
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
        roots = np.sqrt(self._weights).astype(np.float32)[list(used)]
        sample = [self._features[v].of(read.block(v, rows), read.seen(v, rows)) for v in used]
        sample = [K * root for K, root in zip(sample, roots, strict=True)]
        maps = principal_maps(sample, self.n_bits, rng, mixed=self.code_start == "mixed")
        maps = [U * root for U, root in zip(maps, roots, strict=True)]
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
