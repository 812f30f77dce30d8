"""What FastMICE and U-SENC share: base clusterings, their consensus, and both again for new samples."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manyviews.cluster.base import MultiViewClusterer, PredictMixin
from manyviews.cluster.memory import copy_bytes
from manyviews.cluster.parallel import in_threads, jobs_at_a_time, one_blas_thread
from manyviews.cluster.result import FitResult
from manyviews.graphs.anchor_views import ANCHOR_ROWS
from manyviews.linalg.blocks import ROWS_PER_BLOCK
from manyviews.partitions.agreement_cut import AgreementCut, fit_agreement_cut
from manyviews.partitions.anchor_cut import AnchorCut, cut_bytes, fit_anchor_cut
from manyviews.partitions.anchor_links import CutRecipe
from manyviews.partitions.discretize import EmbeddingRule
from manyviews.partitions.ensemble_cut import ROWS_PER_BLOCK as CONSENSUS_ROWS
from manyviews.partitions.ensemble_cut import EnsembleCut, Weighting, clustering_reliability, fit_ensemble_cut
from manyviews.partitions.fallback import fit_fallback
from manyviews.prototypes.row_means import KeptRows, keep_rows, keeps_rows
from manyviews.prototypes.sampled_rows import ColumnSample, ViewTreatment
from manyviews.views import Views

__all__ = [
    "AnchorEnsembleClusterer",
    "Ensemble",
    "EnsembleSettings",
    "FinalCut",
    "GroupDraws",
    "anchor_count",
    "as_fitted",
    "block_bytes",
    "check_anchors",
    "checked_range",
    "choice_bytes",
    "draw_groups",
    "fit_ensemble",
    "group_recipe",
    "predict_base_labels",
    "sample_group",
]

Array = NDArray[Any]
FinalCut = Literal["agreement", "released"]


class GroupDraws(NamedTuple):
    """What is drawn before any base clustering: its number of clusters, of views, and the part of columns per view.

    ``n_clusters`` and ``n_views`` (M,), ``fractions`` (M, V).
    """

    n_clusters: NDArray[np.int64]
    n_views: NDArray[np.int64]
    fractions: NDArray[np.float64]


class Ensemble(NamedTuple):
    """Base labels (n, M), -1 for none; numbers of base clusters (M,); base clusterings; rows kept of each wide view."""

    labels: NDArray[np.int32]
    sizes: NDArray[np.int64]
    cuts: tuple[AnchorCut | None, ...]
    kept: tuple[KeptRows | None, ...]

    def uses(self, n_views: int) -> NDArray[np.bool_]:
        """Return which views (M, V) each base clustering was made from."""
        used = np.zeros((len(self.cuts), n_views), dtype=bool)
        for m, cut in enumerate(self.cuts):
            used[m, [] if cut is None else [link.view for link in cut.links]] = True
        return used


def draw_groups(
    M: int,
    V: int,
    clusters: tuple[int, int],
    views: tuple[int, int],
    fractions: tuple[float, float],
    rng: np.random.Generator,
) -> GroupDraws:
    """Draw M groups: uniform numbers of clusters and views with both ends included, uniform fractions for all views."""
    return GroupDraws(
        rng.integers(clusters[0], clusters[1], size=M, endpoint=True),
        rng.integers(views[0], views[1], size=M, endpoint=True),
        rng.uniform(*fractions, size=(M, V)),
    )


def group_recipe(recipe: CutRecipe, draws: GroupDraws, m: int, n: int) -> CutRecipe:
    """Return the recipe of group m, whose views share anchors and neighbours of n samples evenly."""
    n_views = int(draws.n_views[m])
    # as released: cut to n before the views share them, or a group of many views of few samples gets n from each
    return recipe._replace(
        n_clusters=int(draws.n_clusters[m]),
        n_anchors=-(-min(recipe.n_anchors, n) // n_views),
        n_neighbors=-(-recipe.n_neighbors // n_views),
    )


def sample_group(
    treatments: list[ViewTreatment],
    n_views: int,
    fractions: Array,
    rng: np.random.Generator,
    chances: Array | None = None,
) -> list[tuple[int, ColumnSample]]:
    """Draw columns for all views, then the views of a group, ``chances`` (V,) being how often a view is drawn first."""
    sampled = []
    for treatment, fraction in zip(treatments, fractions, strict=True):
        count = int(np.ceil(fraction * treatment.width))
        sampled.append(ColumnSample.of(treatment, rng.choice(treatment.width, count, replace=False)))
    chosen = rng.choice(len(treatments), n_views, replace=False, p=chances)
    return [(int(v), sampled[v]) for v in chosen]


def fit_ensemble(
    arrays: tuple[Any, ...],
    observed: Array,
    treatments: list[ViewTreatment],
    draws: GroupDraws,
    recipe: CutRecipe,
    rng: np.random.Generator,
    *,
    n_jobs: int | None,
    chances: Array | None = None,
    counts: Array | None = None,
) -> Ensemble:
    """Make the base clusterings, each from its own child generator, so that ``n_jobs`` does not change the result.

    Parameters
    ----------
    arrays : tuple of ndarray or CSR of shape (n, d_v)
        All views.
    observed : ndarray of shape (n, V) of bool
        Where samples were observed.
    treatments : list of ViewTreatment
        Treatment of each view.
    draws : GroupDraws
        Sizes of the groups.
    recipe : CutRecipe
        Settings; anchors (at most n) and neighbours are shared evenly by the views of a group.
    rng : Generator
        Parent of the child generators.
    n_jobs : int or None
        Base clusterings made at a time.
    chances : ndarray of shape (V,), default=None
        How often a view is drawn, relative to the others; alike by default.
    counts : ndarray of shape (n,), default=None
        How often each sample counts, above 0; once by default.

    Returns
    -------
    Ensemble
        Labels and rules.
    """
    wide = recipe.search != "approximate"
    kept = tuple(
        keep_rows(X, observed[:, v], treatments[v]) if wide and keeps_rows(X, recipe.n_anchors) else None
        for v, X in enumerate(arrays)
    )

    def one(m: int, child: np.random.Generator) -> tuple[NDArray[np.int32], AnchorCut | None]:
        members = sample_group(treatments, int(draws.n_views[m]), draws.fractions[m], child, chances)
        own = group_recipe(recipe, draws, m, observed.shape[0])
        return fit_anchor_cut(arrays, observed, members, own, child, kept, counts)

    M = draws.n_clusters.size
    labels, cuts = np.empty((observed.shape[0], M), dtype=np.int32), []
    for m, (column, cut) in enumerate(in_threads(one, enumerate(rng.spawn(M)), n_jobs)):
        labels[:, m] = column
        cuts.append(cut)
    return Ensemble(labels, np.array([1 if cut is None else cut.centers.shape[0] for cut in cuts]), tuple(cuts), kept)


def predict_base_labels(
    cuts: tuple[AnchorCut | None, ...], arrays: tuple[Any, ...], observed: Array, *, n_jobs: int | None
) -> NDArray[np.int32]:
    """Return base labels (n, M) of any samples."""
    labels = np.full((observed.shape[0], len(cuts)), -1, dtype=np.int32)
    fitted = [(m, cut) for m, cut in enumerate(cuts) if cut is not None]
    columns = in_threads(lambda cut: cut.predict(arrays, observed), ((cut,) for _, cut in fitted), n_jobs)
    for (m, _), column in zip(fitted, columns, strict=True):
        labels[:, m] = column
    return labels


class EnsembleSettings(NamedTuple):
    """Recipe of the base clusterings, what is drawn for them, and how their consensus is cut."""

    recipe: CutRecipe
    draws: GroupDraws
    consensus: EmbeddingRule
    weighting: Weighting
    final: FinalCut = "released"


class AnchorEnsembleClusterer(MultiViewClusterer, PredictMixin):
    """Base of the methods that cut an ensemble of anchor graphs; a subclass says which rows they are made of."""

    _accepts_missing: ClassVar[bool] = True

    base_labels_: NDArray[np.int32]

    n_anchors: int
    n_neighbors: int

    def _ensemble_bytes(self, n: int, M: int, clusters: int, anchor: float, widths: tuple[float, float, float]) -> int:
        """Return the bytes of M base clusterings of up to so many clusters, and their consensus.

        ``anchor`` numbers are kept of one, on average; ``widths`` are those of ``cut_bytes``.
        """
        p, jobs = min(self.n_anchors, n), jobs_at_a_time(self.n_jobs, M)
        labels = 8 * n * M  # of each, and side by side
        rules = int(8 * M * p * (anchor + clusters))
        one = cut_bytes(n, p, self.n_neighbors, clusters, *widths)
        consensus = 3 * 12 * min(n, CONSENSUS_ROWS) * M + 3 * 8 * n * self.n_clusters + 16 * (M * clusters) ** 2
        return labels + rules + max(jobs * one, consensus)

    def _sources(self, views: Views) -> tuple[tuple[Any, ...], NDArray[np.bool_]]:
        """Return what the base clusterings read, and where it was observed."""
        raise TypeError(f"{type(self).__name__} defines no sources")

    def _fit_ensemble(
        self,
        arrays: tuple[Any, ...],
        observed: NDArray[np.bool_],
        treatments: list[ViewTreatment],
        settings: EnsembleSettings,
        rng: np.random.Generator,
        counts: Array | None = None,
    ) -> NDArray[np.int64]:
        ensemble_rng, consensus_rng, fallback_rng = rng.spawn(3)
        recipe, draws = settings.recipe, settings.draws
        self._say(f"{draws.n_clusters.size} base clusterings of {observed.shape[0]} samples")
        ensemble = fit_ensemble(
            arrays, observed, treatments, draws, recipe, ensemble_rng, n_jobs=self.n_jobs, counts=counts
        )
        self._say(f"consensus over {int(ensemble.sizes.sum())} base clusters")
        dtype = np.result_type(*(array.dtype for array in arrays))
        with one_blas_thread():
            labels, self._consensus = self._last_cut(ensemble, settings, dtype, consensus_rng, counts)
            self._fallback = fit_fallback(
                arrays, observed, treatments, labels, self.n_clusters, fallback_rng, ensemble.kept
            )
            confidence = self._consensus.confidence(ensemble.labels, labels)
            labels = self._complete(labels, arrays, observed)
        self._cuts = ensemble.cuts
        self.base_labels_ = ensemble.labels
        self.n_base_clusters_ = ensemble.sizes
        return self._record(FitResult.of_one_step(labels, self._consensus.objective, confidence=confidence))

    def _last_cut(
        self,
        ensemble: Ensemble,
        settings: EnsembleSettings,
        dtype: Any,
        rng: np.random.Generator,
        counts: Array | None,
    ) -> tuple[NDArray[np.int64], EnsembleCut | AgreementCut]:
        labels, sizes, k = ensemble.labels, ensemble.sizes, self.n_clusters
        if settings.final == "released":
            rule, weighting = settings.consensus, settings.weighting
            return fit_ensemble_cut(labels, sizes, k, rng, rule=rule, weighting=weighting, dtype=dtype, counts=counts)
        weights = clustering_reliability(labels, sizes, counts) if settings.weighting == "reliability" else None
        return fit_agreement_cut(labels, sizes, k, rng, weights=weights, counts=counts)

    def _complete(
        self, labels: NDArray[np.int64], arrays: tuple[Any, ...], observed: NDArray[np.bool_]
    ) -> NDArray[np.int64]:
        """Label the samples that no base clustering could label."""
        silent = np.flatnonzero(labels < 0)
        if silent.size:
            labels[silent] = self._fallback.place(arrays, observed, silent)
        return labels

    def _predict(self, views: Views) -> NDArray[np.int64]:
        return self._placed(views)[0]

    def _placed(self, views: Views) -> tuple[NDArray[np.int64], NDArray[np.int32], Array]:
        """Return labels (n,), base labels (n, M) and confidence (n,) of any samples."""
        arrays, observed = self._sources(views)
        base_labels = predict_base_labels(self._cuts, arrays, observed, n_jobs=self.n_jobs)
        with one_blas_thread():
            labels = self._consensus.predict(base_labels)
            confidence = self._consensus.confidence(base_labels, labels)
            return self._complete(labels, arrays, observed), base_labels, confidence

    def _found_for(self, views: Views) -> dict[str, Array]:
        _, base_labels, confidence = self._placed(views)
        known = np.full((len(views), self.base_labels_.shape[1]), -1, dtype=np.int32)
        known[:, : base_labels.shape[1]] = base_labels
        return {"base_labels_": known, "confidence_": confidence}


def check_anchors(n_anchors: int, n_clusters: int) -> None:
    """Refuse fewer anchors than clusters."""
    if n_anchors < n_clusters:
        raise ValueError(
            f"n_anchors={n_anchors} is less than n_clusters={n_clusters}; a cut needs an anchor per cluster: raise "
            "n_anchors (1000 is usual)"
        )


def anchor_count(n_anchors: int | None, n_clusters: int, n: int) -> int:
    """Return the number of anchors, by default that of clusters; raise ValueError where it cannot be."""
    m = n_clusters if n_anchors is None else n_anchors
    if not n_clusters <= m <= n:
        raise ValueError(
            f"n_anchors={m} must lie between n_clusters={n_clusters} and the number of samples, "
            f"got n_samples={n}: every cluster needs an anchor of its own"
        )
    return m


def choice_bytes(views: Views) -> int:
    """Return the memory that the choice of anchors from some of the rows takes: scaled copies of them, and k-means."""
    return int(4 * min(1.0, ANCHOR_ROWS / len(views)) * sum(map(copy_bytes, views.arrays)))


def block_bytes(views: Views, numbers: int, n_jobs: int | None) -> int:
    """Return the memory of the blocks of rows worked on at a time: scaled twice over, and so many numbers per row."""
    blocks = -(-len(views) // ROWS_PER_BLOCK)
    rows = min(len(views), ROWS_PER_BLOCK) * jobs_at_a_time(n_jobs, blocks)
    return int(rows * (8 * numbers + 2 * max(map(copy_bytes, views.arrays)) / len(views)))


def as_fitted(arrays: tuple[Any, ...], sparse_views: tuple[bool, ...]) -> tuple[Any, ...]:
    """Return the views as CSR where the training views were taken as such."""
    return tuple(
        sparse.csr_array(np.nan_to_num(X)) if wanted and not sparse.issparse(X) else X
        for X, wanted in zip(arrays, sparse_views, strict=True)
    )


def checked_range(
    given: tuple[int, int] | None, default: tuple[int, int], limits: tuple[int, int], parameter: str
) -> tuple[int, int]:
    """Return a range of integers, both ends included, cut to what the data allow."""
    ends = default if given is None else given
    if not (len(ends) == 2 and all(isinstance(end, Integral) for end in ends) and 1 <= ends[0] <= ends[1]):
        raise ValueError(f"the {parameter!r} parameter must be two integers with 1 <= low <= high, got {given!r}")
    low, high = ends
    return int(np.clip(low, *limits)), int(np.clip(high, *limits))
