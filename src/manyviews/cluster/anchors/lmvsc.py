r"""LMVSC: each view written by a few anchors of its own, the coordinates side by side, and their singular vectors.

minimise :math:`\|X_v - Z_v H_v\|_F^2 + \alpha \|Z_v\|_F^2` over :math:`Z_v` with rows in the simplex, in each view
alone; the anchors :math:`H_v` are fixed. Samples are rows here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from manyviews.cluster.anchors.checks import anchor_count, block_bytes
from manyviews.cluster.base import MultiViewClusterer, PredictMixin
from manyviews.cluster.constraints import POSITIVE, POSITIVE_INT
from manyviews.cluster.memory import copy_bytes
from manyviews.cluster.parallel import over_blocks
from manyviews.cluster.result import FitResult
from manyviews.graphs.anchor_views import ANCHOR_ROWS, UNSCALED, AnchorViews, Blocks, view_products
from manyviews.linalg.blocks import row_blocks
from manyviews.linalg.eigen import top_eigenpairs
from manyviews.linalg.scaling import fit_scaling
from manyviews.linalg.simplex_qp import solve_simplex_qp
from manyviews.partitions.discretize import embedding_confidence
from manyviews.prototypes.block_kmeans import assign_rows
from manyviews.prototypes.sampled_kmeans import sampled_kmeans
from manyviews.views import Views

__all__ = ["LMVSC", "AnchorSubspace", "solve_lmvsc", "subspace_coordinates"]

Array = NDArray[Any]
# singular values of Z below this share of the largest, squared, are none
SMALLEST_EIGENVALUE = 1e-10


class AnchorSubspace(NamedTuple):
    """Left singular vectors (n, k) of the coordinates of all samples and their values (k,), and the objective (V,).

    ``rotation`` (V m, k) turns coordinates of any sample into a row of the vectors; columns beyond the rank are zeros.
    """

    embedding: Array
    singular_values: NDArray[np.float64]
    rotation: NDArray[np.float64]
    objective: NDArray[np.float64]


def subspace_coordinates(
    views: AnchorViews, anchors: Sequence[Array], alpha: float, rows: Any, wanted: Array | None = None
) -> tuple[Array, NDArray[np.float64]]:
    r"""Solve the quadratic programs of a block of rows.

    Parameters
    ----------
    views : AnchorViews
        The views.
    anchors : sequence of ndarray of shape (m_v, d_v)
        Anchors of each view.
    alpha : float
        Weight of the ridge.
    rows : slice
        The block.
    wanted : ndarray of shape (V,), default=None
        How often each view is there; once by default.

    Returns
    -------
    Z : ndarray of shape (b, Σ m_v), float64
        :math:`V^{-1/2} [Z_1 \dots Z_V]`. A view in which a sample was not observed has zeros there, for which the
        other views of the sample count more.
    objective : ndarray of shape (V,)
        What the block adds to the objective of each view.
    """
    wanted = np.ones(len(anchors)) if wanted is None else wanted
    V, n = len(anchors), views.arrays[0][rows].shape[0]
    Z, objective, having = [], np.zeros(V), np.zeros(n)
    for v, H in enumerate(anchors):
        part, seen = np.zeros((n, len(H))), views.seen(v, rows)
        kept = slice(None) if seen is None else seen
        products = view_products(views.block(v, rows)[kept], UNSCALED, H)
        ridge = products.gram + alpha * np.eye(len(H))
        solved = solve_simplex_qp(2.0 * ridge, -2.0 * products.cross)
        fit = np.vdot(ridge, solved.T @ solved) - 2.0 * np.vdot(products.cross, solved)
        objective[v] = products.squares.sum() + fit
        part[kept] = solved
        having[kept] += wanted[v]
        Z.append(np.sqrt(wanted[v]) * part)
    return np.hstack(Z) * (np.sqrt(wanted.sum()) / having)[:, None], objective


def solve_lmvsc(
    views: AnchorViews,
    anchors: Sequence[Array],
    k: int,
    *,
    alpha: float,
    over: Blocks = map,
    wanted: Array | None = None,
) -> AnchorSubspace:
    """Write all samples by the anchors and take the leading singular vectors of the result.

    Parameters
    ----------
    views : AnchorViews
        The views.
    anchors : sequence of ndarray of shape (m_v, d_v)
        Anchors of each view.
    k : int
        Number of singular vectors.
    alpha : float
        Weight of the ridge.
    over : callable, default=map
        Applies a function to all blocks of rows, in order of the blocks, perhaps several at a time.

    Returns
    -------
    AnchorSubspace
        Coordinates, singular values and the rotation onto the vectors.
    """
    n, width = len(views), sum(map(len, anchors))
    Z = np.empty((n, width), views.dtype)
    gram, objective = np.zeros((width, width)), np.zeros(len(anchors))
    blocks = list(row_blocks(n))
    solved = over(lambda rows: subspace_coordinates(views, anchors, alpha, rows, wanted), blocks)
    for rows, (part, added) in zip(blocks, solved, strict=True):
        Z[rows] = part
        gram += part.T @ part
        objective += added
    values, vectors = top_eigenpairs(gram, min(k, width))
    kept = values > SMALLEST_EIGENVALUE * values[0]
    singular, rotation = np.zeros(k), np.zeros((width, k))
    singular[: kept.sum()] = np.sqrt(values[kept])
    rotation[:, : kept.sum()] = vectors[:, kept] / singular[: kept.sum()]
    embedding = np.vstack([Z[rows] @ rotation.astype(Z.dtype) for rows in blocks])
    return AnchorSubspace(embedding, singular, rotation, objective)


class LMVSC(MultiViewClusterer, PredictMixin):
    r"""Large-scale multi-view subspace clustering in linear time (LMVSC).

    In every view alone the samples are written as means of a few anchors, which k-means has chosen there:

    .. math:: \min_{Z_v} \|X_v - Z_v H_v\|_F^2 + \alpha \|Z_v\|_F^2, \qquad Z_v \ge 0, \ Z_v \mathbf 1 = \mathbf 1

    The coordinates of all views side by side, :math:`\bar Z = V^{-1/2} [Z_1 \dots Z_V]`, have the left singular vectors
    that are the eigenvectors of the mean similarity :math:`V^{-1} \sum_v Z_v Z_v^\top`; k-means of their rows gives the
    clusters.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters k.
    n_anchors : int, default=None
        Anchors m of each view, at least k and at most n. None: k. More of them describe the samples more finely, at
        cubic cost, and group no better as a rule: on UCI digits NMI 0.86 with 10 and with 20, 0.85 with 50.
    alpha : float, default=0.01
        Weight of the ridge; raising it spreads a sample over more anchors. It counts in units of the squared scaled
        features: with features in 0..1, 100 gives every sample nearly the same coordinates.
    n_init : int, default=10
        Starts of every k-means, of which the best is kept; raising it makes results depend less on the seed.
    view_weights : mapping or sequence of float, default=None
        What each view counts, relative to the others: 2 counts its coordinates as if it were given twice; 0 leaves it
        out. Views that a mapping leaves out get 1. By default all alike.
    scaling : {"auto", "standard", "minmax", "unit", "tfidf"}, mapping or None, default="auto"
        What is done to each view first. "auto": dense views to 0..1 in every column, tf-idf or unit rows for sparse
        ones. None is the released code, with which a view of large numbers has singular programs and one of small
        numbers is lost.
    views : list of int or mapping, default=None
        How one table is cut into views.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the anchors and of the last k-means.
    n_jobs : int, default=None
        Blocks of samples worked on at a time; -1 uses all cores. Results do not depend on it.
    verbose : int, default=0
        1 prints what is being done.

    Attributes
    ----------
    labels_ : ndarray of shape (n,), int64
        Cluster of each sample, 0 .. k-1, largest cluster first.
    anchors_ : dict of str to ndarray of shape (m, d_v)
        Anchors of each view, in the scaled features.
    embedding_ : ndarray of shape (n, k)
        Left singular vectors of the coordinates. Columns beyond their rank are zeros.
    singular_values_ : ndarray of shape (k,)
        The singular values, between 0 and :math:`\sqrt n`.
    confidence_ : ndarray of shape (n,)
        1 - nearest / second nearest distance to the centres in the embedding: 0 is a tie.
    history_ : History
        The objective, summed over the views: one number, since there is one pass.
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
        If ``n_anchors`` is below ``n_clusters`` or above the number of samples.

    See Also
    --------
    SMVSC : One set of anchors for all views.
    FastMICE : Many such groupings, and their consensus.

    Notes
    -----
    Cost: O(n m (Σ d_v + V m²)), linear in n, in one pass; O(n m V) memory in the type of the data besides the views,
    which are scaled in blocks. Anchors are chosen from at most 10 000 rows, and beyond 20 000 rows the starts of the
    last k-means are compared on so many: the released code runs both on all, with random rows as starts.

    The quadratic programs of all samples share one matrix and are solved exactly, many at once; the released code calls
    a general solver for each. A sample not observed in a view has no coordinates there, and those of its other views
    count more. New samples get coordinates of the stored anchors, are turned into rows of the embedding, and go to the
    nearest centre, so that ``predict`` gives the training samples their labels.

    References
    ----------
    Z. Kang, W. Zhou, Z. Zhao, J. Shao, M. Han, Z. Xu. Large-Scale Multi-View Subspace Clustering in Linear Time. AAAI
    2020, 34(04), 4412-4419. https://doi.org/10.1609/aaai.v34i04.5867

    Examples
    --------
    >>> from manyviews import LMVSC, datasets
    >>> data = datasets.make_blobs_views(n_samples=90, n_features=(5, 4), n_clusters=3, random_state=0)
    >>> LMVSC(n_clusters=3, random_state=0).fit(data.views).embedding_.shape
    (90, 3)
    """

    _accepts_missing: ClassVar[bool] = True
    _dense_scaling: ClassVar[str] = "minmax"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = MultiViewClusterer._parameter_constraints | {
        "n_anchors": [POSITIVE_INT, None],
        "alpha": [POSITIVE],
        "n_init": [POSITIVE_INT],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_anchors: int | None = None,
        alpha: float = 0.01,
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
        self.n_anchors = n_anchors
        self.alpha = alpha
        self.n_init = n_init

    def _memory_estimate(self, views: Views) -> int:
        n, k = len(views), self.n_clusters
        width = anchor_count(self.n_anchors, k, n) * len(views.names)
        # one view at a time for its anchors; then the coordinates of all, of which the widest programs are in work
        choice = int(3 * min(1.0, ANCHOR_ROWS / n) * max(map(copy_bytes, views.arrays)))
        coordinates = 8 * n * (width + 3 * k) + block_bytes(views, 14 * width // len(views.names), self.n_jobs)
        return max(choice, coordinates)

    def _fit(self, views: Views, rng: np.random.Generator) -> NDArray[np.int64]:
        m = anchor_count(self.n_anchors, self.n_clusters, len(views))
        self._scaling = tuple(map(fit_scaling, views.arrays, self._choose_scalings(views)))
        read = self._read(views)
        anchor_rng, label_rng = rng.spawn(2)
        self._say(f"choosing {m} anchors in each of {len(views.names)} views")
        children = enumerate(anchor_rng.spawn(len(views.names)))
        anchors = [read.own_anchors(v, m, child, n_init=self.n_init) for v, child in children]
        self.anchors_ = dict(zip(views.names, anchors, strict=True))
        self._say("solving the quadratic programs")
        over = over_blocks(self.n_jobs)
        result = solve_lmvsc(read, anchors, self.n_clusters, alpha=self.alpha, over=over, wanted=self._weights)
        self.singular_values_, self._rotation = result.singular_values, result.rotation
        groups = sampled_kmeans(result.embedding, self.n_clusters, label_rng, n_init=self.n_init)
        self._centers = groups.centers
        found = {
            "embedding": result.embedding,
            "confidence": embedding_confidence(result.embedding, groups.centers),
        }
        return self._record(FitResult.of_one_step(groups.labels, float(result.objective.sum()), **found))

    def _read(self, views: Views) -> AnchorViews:
        return AnchorViews(views.arrays, self._scaling, None if views.observed.all() else views.observed)

    def _predict(self, views: Views) -> NDArray[np.int64]:
        read, anchors = self._read(views), list(self.anchors_.values())

        def one(rows: slice) -> NDArray[np.int64]:
            Z = subspace_coordinates(read, anchors, self.alpha, rows, self._weights)[0].astype(self.embedding_.dtype)
            return assign_rows(Z @ self._rotation.astype(Z.dtype), self._centers, "euclidean")[0]

        return np.concatenate(list(over_blocks(self.n_jobs)(one, row_blocks(len(views)))))
