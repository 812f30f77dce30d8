"""What the ensemble methods share: basic partitions of every view, made from features or brought by the user."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manyviews.cluster.base import MultiViewClusterer, PredictMixin
from manyviews.cluster.constraints import POSITIVE_INT, one_of
from manyviews.cluster.ensemble.base_labels import (
    GivenPartitions,
    LearnedPartitions,
    given_partitions,
    prepared_rows,
    refuse_other_labels,
)
from manyviews.cluster.memory import copy_bytes
from manyviews.cluster.parallel import in_threads
from manyviews.linalg.blocks import row_blocks
from manyviews.linalg.coordinates import has_few_rows
from manyviews.linalg.scaled_rows import ScaledRows, is_on_disk
from manyviews.linalg.scaling import Scaling, apply_scaling, fit_scaling
from manyviews.partitions.basic import METRICS, cluster_numbers, distinct_rows, random_partition
from manyviews.partitions.summed import compared_rows, sum_centers, summed_partition
from manyviews.views import Views

__all__ = ["EnsembleClusterer"]

Array = NDArray[Any]
Labels = NDArray[np.int64]
PARTITIONS_PER_JOB = 10
# rows from which k-means starts
START_ROWS = 20_000
# per base label: it and its copy, and its place in the one-hot matrix while that is made
CONSENSUS_BYTES = 46
# sparse views that are fuller than this hold something else than counts of terms
COUNTS_DENSITY = 0.5


class EnsembleClusterer(MultiViewClusterer, PredictMixin):
    """Base of the methods that seek a consensus of many partitions."""

    _accepts_missing: ClassVar[bool] = True
    _sample_axes = MultiViewClusterer._sample_axes | {"groups_": (0,)}
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = MultiViewClusterer._parameter_constraints | {
        "base": [one_of("features", "labels")],
        "n_base_clusterings": [POSITIVE_INT],
        "base_cluster_range": [tuple, list, None],
        "metric": [one_of("auto", *METRICS)],
    }

    # whether weights say how many base clusterings are made of each view
    _draws_by_weight: ClassVar[bool] = True

    base: str
    n_base_clusterings: int
    base_cluster_range: Any
    metric: Any

    def _memory_estimate(self, views: Views) -> int:
        n, r = len(views), self.n_base_clusterings
        if self.base == "labels":
            return self._label_bytes() * n * int(views.shape[1])
        M, largest = r * len(views.names), max(views.arrays, key=copy_bytes)
        low, high = self._range(n)
        # rows of a view as given, scaled, and in single precision; labels of its runs, of these side by side, and all
        rows = 2 * copy_bytes(largest) + copy_bytes(largest) * 4 // int(largest.dtype.itemsize)
        rows = 0 if all(map(is_on_disk, views.arrays)) else rows
        centers = sum(self._center_bytes(X, (low + max(low, high)) * r // 2) for X in views.arrays)
        learning = rows + 8 * n * (M + 2 * r)
        return centers + max(learning, self._label_bytes() * n * M)

    def _center_bytes(self, X: Any, count: int) -> int:
        """Return the bytes of so many centres of a view, or of the rows that they are sums of, and their products."""
        n, d = map(int, X.shape)
        dense = 4 * count * d
        if sparse.issparse(X) or is_on_disk(X) or not has_few_rows(X) or count <= n:
            return dense
        return min(dense, 4 * n * d + 24 * n * n)

    def _label_bytes(self) -> int:
        """Return the bytes that the consensus takes for each base label."""
        return CONSENSUS_BYTES

    def _make_partitions(self, views: Views, rng: np.random.Generator, counts: Array | None = None) -> list[Labels]:
        """Return the labels (n, r_v) of each view that tells samples apart, and remember how to label new samples.

        ``counts`` (n,) says how often each sample counts.
        """
        sizes = self._base_numbers()
        self._sources: list[tuple[int, LearnedPartitions | GivenPartitions]] = []
        partitions, silent = [], []
        learn = self.base == "features"
        scalings = self._fitted_scalings(views, counts) if learn else ()
        if not learn:
            self.scalings_ = (None,) * len(views.names)
        metrics = [self._metric_of(X) for X in views.arrays]
        seen = telling_rows(views, _directed(zip(range(len(scalings)), scalings, metrics, strict=False)))
        for v, (name, child) in enumerate(zip(views.names, rng.spawn(len(views.names)), strict=True)):
            made = (
                self._learned(views.arrays[v], scalings[v], metrics[v], seen[:, v], (sizes[v], child), counts)
                if learn
                else given_partitions(views, v)
            )
            if made is None:
                silent.append(name)
                continue
            self._sources.append((v, made[0]))
            partitions.append(made[1])
        self._made = [v for v, _ in self._sources] or [0]
        self._check_silent(views, silent, partitions)
        if not partitions:
            partitions = [np.zeros((len(views), 1), dtype=np.int64)]
        self.base_labels_ = np.hstack(partitions)
        _check_inside(self.base_labels_)
        return partitions

    def _base_numbers(self) -> list[int]:
        """Return how many base clusterings are made of each view."""
        r, weights = self.n_base_clusterings, self._weights
        if not self._draws_by_weight:
            return [r] * weights.size
        if self.base == "labels" and np.ptp(weights) > 0:
            raise ValueError(
                "with base='labels' no base clusterings are drawn, so view_weights other than 0 and equal ones cannot "
                "say how often; repeat the columns of a view that is to count more, or use MVEC, which weighs views"
            )
        return [max(1, round(r * weight)) for weight in weights.tolist()]

    def _fitted_scalings(self, views: Views, counts: Array | None) -> tuple[Scaling, ...]:
        chosen = zip(views.arrays, self._choose_scalings(views), strict=True)
        return tuple(fit_scaling(X, kind, counts) for X, kind in chosen)

    def _metric_of(self, X: Any) -> str:
        """Return the metric of a view: "auto" is the cosine for sparse views, whose rows are directions."""
        if self.metric == "auto":
            return "cosine" if sparse.issparse(X) else "euclidean"
        return str(self.metric)

    def _learned(
        self,
        X: Any,
        scaling: Scaling,
        metric: Any,
        seen: NDArray[np.bool_],
        draws: tuple[int, np.random.Generator],
        counts: Array | None,
    ) -> Any:
        """Run k-means many times, so often with this generator, on the rows of a view that are seen."""
        count, rng = draws
        rows = _rows_seen(X, scaling, metric, seen)
        candidates = _starting_rows(rows, rng)
        if candidates.size < 2:
            return None
        low, high = self._range(seen.size)
        children = rng.spawn(count + 1)
        numbers = np.clip(cluster_numbers(count, low, high, children[-1]), 2, candidates.size)
        self._say(f"{count} partitions of a view, {numbers.min()} to {numbers.max()} clusters")
        own = None if counts is None else counts[seen]
        compared = compared_rows(rows, metric) if numbers.sum() > candidates.size else None
        make = random_partition if compared is None else summed_partition
        source = rows if compared is None else compared
        del rows  # of a wide view, what is compared is kept, and nothing else

        def some(start: int) -> list[Any]:
            chosen = range(start, min(start + PARTITIONS_PER_JOB, count))
            return [
                make(source, int(numbers[i]), children[i], candidates=candidates, metric=metric, counts=own)
                for i in chosen
            ]

        starts = ((start,) for start in range(0, count, PARTITIONS_PER_JOB))
        runs = [run for part in in_threads(some, starts, self.n_jobs) for run in part]
        labels = np.full((seen.size, count), -1, dtype=np.int64)
        labels[seen] = np.stack([run.labels for run in runs], axis=1)
        centers = [run.centers for run in runs]
        if compared is not None:
            stacked: Any = sum_centers(compared, centers, metric)
        else:
            stacked = sparse.vstack(centers, format="csr") if sparse.issparse(centers[0]) else np.vstack(centers)
        return LearnedPartitions(scaling, metric, stacked, tuple(map(int, numbers))), labels

    def _range(self, n: int) -> tuple[int, int]:
        """Return the smallest and the largest number of clusters of a partition."""
        given = self.base_cluster_range
        if given is None:
            return self.n_clusters, int(np.ceil(np.sqrt(n)))
        if len(given) != 2 or not all(isinstance(k, int | np.integer) for k in given) or not 2 <= given[0] <= given[1]:
            raise ValueError(f"base_cluster_range must be two integers 2 <= low <= high, got {given!r}")
        return int(given[0]), int(given[1])

    def _auto_scaling(self, X: Any) -> str | None:
        if not sparse.issparse(X):
            return "standard"
        counts = X.data.min(initial=0.0) >= 0 and X.nnz < COUNTS_DENSITY * X.shape[0] * X.shape[1]
        return "tfidf_plain" if counts else "unit"

    def _check_silent(self, views: Views, silent: list[str], partitions: list[Labels]) -> None:
        if not partitions and self.n_clusters > 1:
            n = len(views)
            raise ValueError(
                f"all {n} samples are alike in every view (n_samples={n}), so there are no {self.n_clusters} clusters "
                "to find; check that the right columns were given"
            )
        self._note_constant(views, silent, " once scaled" if self.base == "features" else "")

    def _new_base_labels(self, views: Views) -> Labels:
        """Return the base labels (n_new, M) of new samples."""
        if not self._sources:
            return np.zeros((len(views), 1), dtype=np.int64)
        if self.base == "labels":
            refuse_other_labels(views)
        learned = ((v, source) for v, source in self._sources if isinstance(source, LearnedPartitions))
        seen = telling_rows(views, _directed((v, source.scaling, source.metric) for v, source in learned))
        labels = np.hstack([source.labels(views.arrays[v], seen[:, v]) for v, source in self._sources])
        _check_inside(labels)
        return labels


def _directed(views: Iterable[tuple[int, Scaling, str]]) -> dict[int, Scaling]:
    """Return the scalings of the views whose metric is the cosine."""
    return {v: scaling for v, scaling, metric in views if metric == "cosine"}


def telling_rows(views: Views, directed: dict[int, Scaling]) -> NDArray[np.bool_]:
    """Return where a sample is observed (n, V) and, in the views with these scalings, has a direction: a row not 0.

    A sample without a direction in any view keeps its place in all views in which it is observed.
    """
    seen = np.array(views.observed)
    for v, scaling in directed.items():
        for rows in row_blocks(len(views)):
            scaled = apply_scaling(views.arrays[v][rows], scaling)
            size = abs(scaled).max(axis=1)
            seen[rows, v] &= np.asarray(size.toarray() if sparse.issparse(size) else size).ravel() != 0
    lost = ~seen.any(axis=1)
    seen[lost] = views.observed[lost]
    return seen


def _rows_seen(X: Any, scaling: Scaling, metric: str, seen: NDArray[np.bool_]) -> Any:
    """Return the prepared rows of a view that are seen; those of a view on disk are prepared when they are read."""
    if is_on_disk(X) and seen.all():
        return ScaledRows(X, lambda rows: prepared_rows(rows, scaling, metric))
    return prepared_rows(X[np.flatnonzero(seen)], scaling, metric)


def _starting_rows(rows: Any, rng: np.random.Generator) -> Labels:
    """Return rows no two of which are equal, of at most 20 000 random ones."""
    n = rows.shape[0]
    some = np.arange(n) if n <= START_ROWS else np.sort(rng.choice(n, START_ROWS, replace=False))
    return some[distinct_rows(rows[some] if n > START_ROWS or isinstance(rows, ScaledRows) else rows)]


def _check_inside(base_labels: Labels) -> None:
    outside = np.flatnonzero((base_labels < 0).all(axis=1))
    if outside.size:
        raise ValueError(
            f"{outside.size} sample(s) are in no partition of the fit, first row {int(outside[0])}: labels of -1, or "
            "unknown ones, in all columns, or observed in views without clusters only; drop them"
        )
