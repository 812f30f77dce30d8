"""What can be said of groupings without knowing the classes: structure, agreement, stability, balance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyviews.cluster.view_graphs import ViewGraph, predictability, silhouette
from manyviews.metrics import adjusted_rand_index

__all__ = ["SUPPORTERS", "Criteria", "Groupings", "criteria_of"]

Array = NDArray[Any]

# Other methods that are to find a grouping too. Not the majority, which may share an assumption that is wrong here.
SUPPORTERS = 2


@dataclass(frozen=True)
class Groupings:
    """What one method gave: labels of all samples, one per seed; and (rows, labels) of parts of the samples."""

    seeds: Sequence[Array]
    parts: Sequence[tuple[Array, Array]] = ()


@dataclass(frozen=True)
class Criteria:
    """What is known of a method on a data set without the classes. Means over the seeds.

    Attributes
    ----------
    structure : float
        How well the cluster of a sample can be guessed from its nearest neighbours in one view alone: adjusted Rand
        index of these guesses with the grouping, mean over the views. 0 is chance.
    agreements : dict of str to float
        Mean adjusted Rand index with the groupings of each other method.
    seeds, parts : float
        Stability: mean adjusted Rand index between seeds, and between two parts of the samples where they overlap.
        NaN with less than two.
    silhouettes, structures : dict of str to float
        Mean silhouette (NaN where there is none) and structure in each view.
    view_balance : float
        How evenly the views speak for the grouping: entropy of their shares in the structure, 1 where all have the
        same, 0 where a single one has all.
    size_balance : float
        Entropy of the cluster sizes, 1 where all are equal, 0 for a single cluster.
    n_clusters : int
        Clusters found, the fewest of any seed.
    smallest, largest : int
        Sizes of clusters, over all seeds.
    """

    structure: float
    agreements: dict[str, float]
    seeds: float
    parts: float
    silhouettes: dict[str, float]
    structures: dict[str, float]
    view_balance: float
    size_balance: float
    n_clusters: int
    smallest: int
    largest: int

    @property
    def agreement(self) -> float:
        """Mean agreement with the other methods; NaN where there is no other."""
        return _mean(list(self.agreements.values()))

    @property
    def support(self) -> float:
        """Mean agreement with the two methods that agree most; NaN where there is no other."""
        return _mean(sorted(self.agreements.values())[-SUPPORTERS:])

    @property
    def silhouette(self) -> float:
        """Mean silhouette over the views that have one."""
        return _mean([value for value in self.silhouettes.values() if np.isfinite(value)])


def criteria_of(
    groupings: Mapping[str, Groupings], graphs: Sequence[ViewGraph], weights: Mapping[str, float] | None = None
) -> dict[str, Criteria]:
    """Compute all criteria of all methods.

    Parameters
    ----------
    groupings : mapping of str to Groupings
        What each method gave, at least for one seed.
    graphs : sequence of ViewGraph
        From ``view_graphs``, of the same samples.
    weights : mapping of str to float, default=None
        What each view counts in the mean of the structure; all alike by default.

    Returns
    -------
    dict of str to Criteria
        By method. Cost O(m² d) per view and grouping for the silhouettes, O(n) for each pair of groupings.
    """
    return {name: _criteria(name, groupings, graphs, weights or {}) for name in groupings}


def _criteria(
    name: str, groupings: Mapping[str, Groupings], graphs: Sequence[ViewGraph], weights: Mapping[str, float]
) -> Criteria:
    own = groupings[name]
    structures = {
        view.name: _mean([predictability(view, labels[view.rows]) for labels in own.seeds]) for view in graphs
    }
    silhouettes = {view.name: _mean(_silhouettes(view, own.seeds)) for view in graphs}
    sizes = [np.unique(labels, return_counts=True)[1] for labels in own.seeds]
    return Criteria(
        structure=_weighted(structures, weights),
        agreements={key: _agreement(own, other) for key, other in groupings.items() if key != name},
        seeds=_mean([_ari(a, b) for a, b in combinations(own.seeds, 2)]),
        parts=_mean([_overlap(a, b) for a, b in combinations(own.parts, 2)]),
        silhouettes=silhouettes,
        structures=structures,
        view_balance=_evenness(np.maximum(list(structures.values()), 0.0)),
        size_balance=_mean([_evenness(counts) if counts.size > 1 else 0.0 for counts in sizes]),
        n_clusters=min(counts.size for counts in sizes),
        smallest=min(int(counts.min()) for counts in sizes),
        largest=max(int(counts.max()) for counts in sizes),
    )


def _silhouettes(view: ViewGraph, seeds: Sequence[Array]) -> list[float]:
    # seeds often end in the same grouping
    different = {labels.tobytes(): labels for labels in seeds}
    found = {key: silhouette(view, labels[view.rows]) for key, labels in different.items()}
    values = (found[labels.tobytes()] for labels in seeds)
    return [value for value in values if value is not None]


def _agreement(own: Groupings, other: Groupings) -> float:
    return _mean([_ari(a, b) for a in own.seeds for b in other.seeds])


def _overlap(first: tuple[Array, Array], second: tuple[Array, Array]) -> float:
    _, a, b = np.intersect1d(first[0], second[0], assume_unique=True, return_indices=True)
    return _ari(first[1][a], second[1][b]) if a.size else float("nan")


def _ari(first: Array, second: Array) -> float:
    return float(adjusted_rand_index(first, second))


def _evenness(shares: Array) -> float:
    """Return the entropy of shares over the most that it can be; 1 for a single share, 0 where there is nothing."""
    total = float(np.sum(shares))
    if total <= 0:
        return 0.0
    p = np.asarray(shares, dtype=np.float64) / total
    p = p[p > 0]
    return float(-(p @ np.log(p)) / np.log(len(shares))) if len(shares) > 1 else 1.0


def _weighted(values: Mapping[str, float], weights: Mapping[str, float]) -> float:
    if not weights or not values:
        return _mean(list(values.values()))
    return float(np.average(list(values.values()), weights=[weights[name] for name in values]))


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if len(values) else float("nan")
