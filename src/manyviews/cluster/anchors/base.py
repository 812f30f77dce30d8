"""What FastMICE and U-SENC share: base clusterings, their consensus, and both again for new samples."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manyviews.cluster.anchors.groups import GroupDraws, group_recipe, sample_group
from manyviews.cluster.base import MultiViewClusterer, PredictMixin
from manyviews.cluster.memory import anchor_width, stored_width
from manyviews.cluster.parallel import in_threads, jobs_at_a_time, one_blas_thread
from manyviews.cluster.result import FitResult
from manyviews.partitions.agreement_cut import AgreementCut, fit_agreement_cut
from manyviews.partitions.anchor_cut import AnchorCut, cut_bytes, fit_anchor_cut
from manyviews.partitions.discretize import EmbeddingRule
from manyviews.partitions.ensemble_cut import ROWS_PER_BLOCK as CONSENSUS_ROWS
from manyviews.partitions.ensemble_cut import EnsembleCut, Weighting, clustering_reliability, fit_ensemble_cut
from manyviews.partitions.fallback import fit_fallback
from manyviews.partitions.view_links import (
    CutRecipe,
)
from manyviews.prototypes.row_means import KeptRows, StoredRows, is_wide, keep_rows, keeps_rows, kept_bytes, store_rows
from manyviews.prototypes.sampled_rows import ViewTreatment
from manyviews.views import Views

__all__ = [
    "AnchorEnsembleClusterer",
    "Ensemble",
    "EnsembleSettings",
    "FinalCut",
    "fit_ensemble",
    "keeps_concatenation",
    "predict_base_labels",
    "treated_rows",
    "wide_rows",
]

Array = NDArray[Any]
FinalCut = Literal["agreement", "released"]


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


def wide_rows(arrays: tuple[Any, ...], observed: Array, recipe: CutRecipe) -> tuple[StoredRows | None, ...]:
    """Return the rows of those views that are so wide for their few samples that anchors are kept as row numbers."""
    wide = [recipe.search != "approximate" and keeps_rows(X, recipe.n_anchors) for X in arrays]
    return tuple(store_rows(X, observed[:, v]) if wide[v] else None for v, X in enumerate(arrays))


def keeps_concatenation(views: Views, n_anchors: int, search: str) -> bool:
    """Say whether anchors of all views side by side are kept as row numbers."""
    dense = not any(map(sparse.issparse, views.arrays))
    return dense and search != "approximate" and is_wide(*views.shape, n_anchors)


def treated_rows(
    stored: Sequence[StoredRows | None], treatments: Sequence[ViewTreatment]
) -> tuple[KeptRows | None, ...]:
    """Return what ``wide_rows`` found under the treatments of the views."""
    pairs = zip(stored, treatments, strict=True)
    return tuple(None if rows is None else keep_rows(rows, treatment) for rows, treatment in pairs)


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
    stored: Sequence[StoredRows | None] | None = None,
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
    stored : sequence of (StoredRows or None), default=None
        What ``wide_rows`` returns for the views, where several ensembles share it.

    Returns
    -------
    Ensemble
        Labels and rules.
    """
    stored = wide_rows(arrays, observed, recipe) if stored is None else stored
    kept = treated_rows(stored, treatments)

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
    # places of the views that the base clusterings are made of
    _told: list[int]

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

    def _chances(self) -> Array | None:
        """Return how often each view in use is drawn, None where all are alike: the draws are then others."""
        weights = self._weights[self._told]
        return None if np.ptp(weights) == 0 else weights / weights.sum()

    def _anchored_bytes(self, views: Views, M: int, clusters: int, fractions: tuple[float, float], search: str) -> int:
        """Return the bytes of M base clusterings of groups of views, of which such fractions of columns are drawn."""
        n, (low, high) = len(views), fractions
        kept = [X for X in views.arrays if keeps_rows(X, self.n_anchors) and search != "approximate"]
        widths = [stored_width((X,)) for X in views.arrays if not any(X is wide for wide in kept)] or [(0, 0.0)]
        # on average over base clusterings, and in one that takes the most of the widest view
        anchor = (low + high) / 2 * sum(map(anchor_width, widths)) / len(views.names)
        (width, _), (_, read) = max(widths), max(widths, key=itemgetter(1))
        ensemble = self._ensemble_bytes(n, M, clusters, anchor, (high * width, high * read, read))
        return ensemble + kept_bytes(n, [X.shape[1] for X in kept], high, jobs_at_a_time(self.n_jobs, M))

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
        chances: Array | None = None,
        counts: Array | None = None,
    ) -> NDArray[np.int64]:
        ensemble_rng, consensus_rng, fallback_rng = rng.spawn(3)
        recipe, draws = settings.recipe, settings.draws
        self._say(f"{draws.n_clusters.size} base clusterings of {observed.shape[0]} samples")
        ensemble = fit_ensemble(
            arrays,
            observed,
            treatments,
            draws,
            recipe,
            ensemble_rng,
            n_jobs=self.n_jobs,
            chances=chances,
            counts=counts,
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
