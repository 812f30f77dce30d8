"""What speaks for each number of clusters: one ensemble per part of the samples, cut again for every number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manyviews.cluster.anchors.base import fit_ensemble
from manyviews.cluster.anchors.groups import draw_groups
from manyviews.cluster.consensus_members import treatments_of, view_treatments
from manyviews.cluster.parallel import one_blas_thread
from manyviews.cluster.view_graphs import ViewGraph, predictability, view_graphs
from manyviews.graphs.transfer_cut import gram_block
from manyviews.linalg.eigen import eigenvalues
from manyviews.metrics import adjusted_rand_index
from manyviews.partitions.agreement_cut import parted_share
from manyviews.partitions.coassociation import indicator_matrix
from manyviews.partitions.discretize import EmbeddingRule
from manyviews.partitions.tree_cut import tree_labels
from manyviews.partitions.utility_kmeans import cluster_shares, consensus_kmeans
from manyviews.partitions.view_links import CutRecipe
from manyviews.prototypes.view_treatment import as_sparse_if_so
from manyviews.views import Views

__all__ = ["KINDS", "MEASURES", "measure_numbers", "without_structure"]

Array = NDArray[Any]
Labels = NDArray[np.int64]

Kind = Literal["components", "columns"]
KINDS: tuple[Kind, ...] = ("components", "columns")
MEASURES = ("stability", "structure", "gap")
# a part of the samples: large enough to keep small clusters, small enough that two parts differ
PART = 0.8
BASE_CLUSTERINGS = 40
ANCHORS, NEIGHBORS = 300, 5
COLUMNS = (0.2, 0.8)
BASE_RULE = EmbeddingRule("cosine", 5, 1)


@dataclass(frozen=True)
class _Part:
    """Samples of a part (m,), the cut for each number of clusters (m, K), and the spectrum of their ensemble."""

    rows: Labels
    labels: Labels
    spectrum: Array


def measure_numbers(
    views: Views,
    numbers: Sequence[int],
    n_parts: int,
    rng: np.random.Generator,
    weights: Mapping[str, float] | None = None,
) -> tuple[dict[str, Array], Labels]:
    """Measure what speaks for each number of clusters.

    Parameters
    ----------
    views : Views
        Checked views.
    numbers : sequence of int
        Numbers of clusters, rising.
    n_parts : int
        Parts of the samples, each with an ensemble of its own.
    rng : Generator
        Parent of the generators of the parts.
    weights : mapping of str to float, default=None
        What each view counts; all alike by default.

    Returns
    -------
    measures : dict of str to ndarray of shape (K,)
        "stability": mean adjusted Rand index of two parts where they overlap; "structure": ``predictability`` in a view
        alone, mean over views and parts; "gap": by how much the next eigenvalue of the normalised ensemble graph is
        smaller. O(n²) for each part, on top of its base clusterings.
    cuts : ndarray of shape (m, K)
        Clusters of the first part for each number.
    """
    with one_blas_thread():
        parts = [_part(views, numbers, child, weights) for child in rng.spawn(n_parts)]
        graphs = view_graphs(views)
    pairs = list(combinations(parts, 2))
    stability = [np.mean([_overlap(a, b, i) for a, b in pairs]) for i in range(len(numbers))]
    structure = [np.mean([_structure(graphs, part, i, weights) for part in parts]) for i in range(len(numbers))]
    values = np.mean([part.spectrum for part in parts], axis=0)
    gap = [values[k - 1] - values[k] for k in numbers]
    measures = dict(zip(MEASURES, map(np.array, (stability, structure, gap)), strict=True))
    return measures, parts[0].labels


def _part(views: Views, numbers: Sequence[int], rng: np.random.Generator, weights: Mapping[str, float] | None) -> _Part:
    draw_rng, fit_rng = rng.spawn(2)
    rows = np.sort(draw_rng.choice(len(views), max(int(PART * len(views)), numbers[-1]), replace=False))
    base_labels, sizes = _base_clusterings(views[rows], numbers[-1], fit_rng, weights)
    linked = (base_labels >= 0).any(axis=1)
    rows, base_labels = rows[linked], base_labels[linked]
    return _Part(rows, _cuts(base_labels, sizes, numbers), _spectrum(base_labels, sizes, numbers[-1] + 1))


def _base_clusterings(
    views: Views, most: int, rng: np.random.Generator, weights: Mapping[str, float] | None
) -> tuple[Labels, Labels]:
    """Return base labels (m, M) and sizes (M,): finer than any number asked for, a like number of each treatment."""
    n, scalings = len(views), ["auto"] * len(views.names)
    arrays = tuple(map(as_sparse_if_so, views.arrays))
    treatments = treatments_of(arrays, scalings)
    fewest = max(2, min(most, n - 1))
    sizes, V = (fewest, max(fewest, min(2 * most, n // 4))), len(arrays)
    recipe = CutRecipe(sizes[0], max(ANCHORS, sizes[1]), NEIGHBORS, "auto", BASE_RULE)
    chances = np.array([weights[name] for name in views.names]) / sum(weights.values()) if weights else None
    found = []
    for treatment, child in zip(treatments, rng.spawn(len(treatments)), strict=True):
        draw_rng, fit_rng = child.spawn(2)
        draws = draw_groups(-(-BASE_CLUSTERINGS // len(treatments)), V, sizes, (1, V), COLUMNS, draw_rng)
        learned = view_treatments(arrays, scalings, treatment)
        found.append(fit_ensemble(arrays, views.observed, learned, draws, recipe, fit_rng, n_jobs=1, chances=chances))
    labels = np.hstack([ensemble.labels for ensemble in found]).astype(np.int64)
    return labels, np.concatenate([ensemble.sizes for ensemble in found]).astype(np.int64)


def _cuts(base_labels: Labels, sizes: Labels, numbers: Sequence[int]) -> Labels:
    """Cut one tree of the co-association for every number of clusters, and let each cut settle, (m, K)."""
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import squareform

    weights = np.ones(sizes.size)
    apart = squareform(parted_share(base_labels, sizes, weights), checks=False)
    tree = tree_labels(linkage(np.sqrt(2.0 * apart), "ward"), numbers)
    B = indicator_matrix(base_labels, n_columns=sizes, dtype=np.float32)
    for i, k in enumerate(numbers):
        means = cluster_shares(B, tree[:, i], sizes, np.zeros((k, B.shape[1])))
        tree[:, i] = consensus_kmeans(B, sizes, means, weights=weights, utility="categorical", power=2.0).labels
    return tree


def _spectrum(base_labels: Labels, sizes: Labels, count: int) -> Array:
    """Return the largest eigenvalues of the normalised graph of samples and base clusters, falling."""
    B = indicator_matrix(base_labels, n_columns=sizes)
    W = gram_block(B).toarray()
    degrees = W.sum(axis=1)
    scale = 1.0 / np.sqrt(np.where(degrees > 0, degrees, 1.0))
    values = eigenvalues(scale[:, None] * W * scale)
    return np.pad(values, (0, max(0, count - values.size)))[:count]


def _overlap(first: _Part, second: _Part, i: int) -> float:
    _, a, b = np.intersect1d(first.rows, second.rows, assume_unique=True, return_indices=True)
    return float(adjusted_rand_index(first.labels[a, i], second.labels[b, i]))


def _structure(graphs: Sequence[ViewGraph], part: _Part, i: int, weights: Mapping[str, float] | None) -> float:
    values = []
    for view in graphs:
        rows, inside, places = np.intersect1d(view.rows, part.rows, assume_unique=True, return_indices=True)
        own = replace(view, rows=rows, graph=view.graph[inside][:, inside])
        values.append(predictability(own, part.labels[places, i]))
    counts = [weights[view.name] for view in graphs] if weights else None
    return float(np.average(values, weights=counts)) if values else 0.0


def without_structure(views: Views, rng: np.random.Generator, kind: Kind) -> Views:
    """Return views of the same shape in which there is nothing to find, as a reference.

    Parameters
    ----------
    views : Views
        Checked views.
    rng : Generator
        Source of the permutations.
    kind : {"components", "columns"}
        What is permuted, each by itself: "columns" keep their values, but no two of them have to do with each other;
        principal "components" of a dense view keep its correlations, so that a long cloud stays as long. Of a sparse
        view columns are permuted either way.

    Returns
    -------
    Views
        Samples that are missing stay so.
    """
    observed = views.observed
    arrays = [_permuted(as_sparse_if_so(X), observed[:, v], rng, kind) for v, X in enumerate(views.arrays)]
    return views.replace_arrays(arrays, [None] * len(arrays))


def _permuted(X: Any, known: NDArray[np.bool_], rng: np.random.Generator, kind: str) -> Any:
    if sparse.issparse(X):
        columns = X.tocsc().copy()
        for held in map(slice, columns.indptr[:-1], columns.indptr[1:]):
            columns.indices[held] = rng.choice(X.shape[0], held.stop - held.start, replace=False)
        columns.has_sorted_indices = False
        return sparse.csr_array(columns)
    rows = np.asarray(X[known], dtype=np.float64)
    if kind == "columns":
        rows = rng.permuted(rows, axis=0)
    else:
        mean, spread = rows.mean(axis=0), rows.std(axis=0)
        spread[spread == 0] = 1.0
        scores, lengths, directions = np.linalg.svd((rows - mean) / spread, full_matrices=False)
        rows = rng.permuted(scores * lengths, axis=0) @ directions * spread + mean
    out = np.full(X.shape, np.nan, dtype=X.dtype)
    out[known] = rows
    return out
