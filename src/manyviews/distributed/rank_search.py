"""The graph with a given number of components, over blocks, as ``rank_constrained_graph`` finds it in memory."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from manyviews.distributed.parts import Parts
from manyviews.graphs.rank_graph import (
    FIRST_SCALES,
    Embedding,
    FirstScales,
    Links,
    Projection,
    RankGraph,
    RankRule,
    Support,
    allowed_links,
    graph_gram,
    inverse_roots,
    leading_directions_of,
    normalised_graph,
    penalised,
    search_graph,
    too_few,
)

__all__ = [
    "BlockComponents",
    "SearchSettings",
    "components_over_blocks",
    "first_components",
    "graph_over_blocks",
]

Array = NDArray[Any]
Labels = NDArray[np.int64]


class SearchSettings(NamedTuple):
    """The parameters of ``rank_constrained_graph``."""

    projection: Projection = "both"
    rank_rule: RankRule = "paper"
    support: Support = "linked"
    first_scales: FirstScales = "constant"
    max_passes: int = 50


@dataclass(frozen=True)
class BlockEmbedding:
    """Pairs (U, scales) of the samples of every block; of the anchors V (m, c) and scales (m,); eigenvalues (m,)."""

    samples: Parts
    V: Array
    anchor_scale: Array
    eigenvalues: Array

    def with_scales(self, sample: float, anchor: float) -> BlockEmbedding:
        """Return the embedding with constant scalings."""
        samples = self.samples.map(_rescaled, shared=(sample,))
        return replace(self, samples=samples, anchor_scale=np.full(len(self.V), anchor))


class BlockComponents(NamedTuple):
    """Components that hold a sample: how many; of the anchors (m,), -1 for none; and their samples and first samples.

    Samples without any edge are components by themselves, which are counted and have no number.
    """

    n_found: int
    anchors: Labels
    sizes: Labels
    first: Labels


def graph_over_blocks(B: Parts, c: int, settings: SearchSettings) -> RankGraph:
    """Find a graph near B with c connected components.

    Parameters
    ----------
    B : Parts
        Blocks (b, m) of nonnegative weights, at least one in each row.
    c : int
        Number of components, at most m.
    settings : SearchSettings
        The rest.

    Returns
    -------
    RankGraph
        Its ``P`` and ``U`` are held by blocks: CSR (b, m), and pairs of rows (b, c) and scales (b,).
    """
    links = B.map(allowed_links, shared=(settings.support,))

    def make(state: BlockEmbedding, gamma: float) -> tuple[RankGraph, BlockEmbedding, float]:
        shared = (state.V, state.anchor_scale, state.eigenvalues, gamma)
        weights = links.map(_penalised, state.samples, shared=shared)
        if settings.projection == "both":
            weights = links.map(_both, weights, shared=_column_levels(links, weights))
        P = links.map(_graph, weights)
        found = _embed(P, c)
        few = too_few(found.eigenvalues, c)
        count = components_over_blocks(P).n_found if few is None else few
        none = np.zeros(0)
        graph = RankGraph(P, found.samples, found.V, count, none, none)
        return graph, found, float(np.sqrt(links.total(_squared_gap, weights)))

    start = _embed(links.map(_given), c)
    start = start.with_scales(*FIRST_SCALES) if settings.first_scales == "constant" else start
    return search_graph(make, start, c, rank_rule=settings.rank_rule, max_passes=settings.max_passes)


def components_over_blocks(P: Parts) -> BlockComponents:
    """Split a graph whose samples are held by blocks into its components, as ``bipartite_components`` does."""
    together, alone = P.total(_pattern)
    used = np.flatnonzero(together.diagonal())
    count, own = connected_components(together[used][:, used], directed=False)
    anchors = np.full(together.shape[0], -1, dtype=np.int64)
    anchors[used] = own
    found = P.gather(_component_sizes, shared=(anchors, count))
    assert P.sizes is not None
    starts, n = np.cumsum(P.sizes) - P.sizes, P.n_rows
    sizes = np.sum([counts for counts, _ in found], axis=0)
    first = np.min([np.where(place < 0, n, start + place) for start, (_, place) in zip(starts, found, strict=True)], 0)
    return BlockComponents(count + int(alone), anchors, sizes, first)


def first_components(P: sparse.csr_array, anchors: Labels) -> Labels:
    """Return the component of each sample of a block, (b,), -1 for one without edges."""
    kept = _edges(P)
    linked = np.diff(kept.indptr) > 0
    own = np.full(kept.shape[0], -1, dtype=np.int64)
    own[linked] = anchors[kept.indices[kept.indptr[:-1][linked]]]
    return own


def _embed(P: Parts, c: int) -> BlockEmbedding:
    anchor_scale = inverse_roots(P.total(_anchor_degrees))
    eigenvalues, V, lift = leading_directions_of(P.total(_gram, shared=(anchor_scale,)), c)
    return BlockEmbedding(P.map(_lifted, shared=(anchor_scale, lift)), V, anchor_scale, eigenvalues)


def _column_levels(links: Parts, weights: Parts) -> tuple[Array, Array]:
    """Return for each anchor the largest weight, and what is taken off beyond it by the projection onto the simplex.

    The steps are those of ``project_segments``: from the left the level rises until no weight falls below it.
    """
    top, length = links.total(_extremes, weights, combine=_merged_extremes)
    used = length > 0
    top = np.where(used, top, 0.0)
    _, sums = links.total(_above, weights, shared=(top, np.full(top.size, -np.inf)))
    level = np.where(used, np.maximum((sums - 1.0) / np.maximum(length, 1), -1.0), 0.0)
    while True:
        count, sums = links.total(_above, weights, shared=(top, level))
        level = np.where(used, (sums - 1.0) / np.maximum(count, 1), 0.0)
        if np.array_equal(count, length):
            return top, level
        length = count


def _rescaled(samples: tuple[Array, Array], scale: float) -> tuple[Array, Array]:
    return samples[0], np.full(len(samples[0]), scale)


def _given(linked: tuple[Links, Array]) -> sparse.csr_array:
    return linked[0].graph(linked[1])


def _penalised(
    linked: tuple[Links, Array],
    samples: tuple[Array, Array],
    V: Array,
    anchor_scale: Array,
    eigenvalues: Array,
    gamma: float,
) -> tuple[Array, Array]:
    state = Embedding(samples[0], V, samples[1], anchor_scale, eigenvalues)
    return penalised(linked[1], linked[0], state, gamma)


def _extremes(linked: tuple[Links, Array], weights: tuple[Array, Array]) -> tuple[Array, Labels]:
    links, top = linked[0], np.full(linked[0].shape[1], -np.inf)
    np.maximum.at(top, links.columns, weights[0])
    return top, links.column_sizes


def _merged_extremes(found: list[tuple[Array, Labels]]) -> tuple[Array, Labels]:
    tops, sizes = zip(*found, strict=True)
    return np.max(tops, axis=0), np.sum(sizes, axis=0)


def _above(linked: tuple[Links, Array], weights: tuple[Array, Array], top: Array, level: Array) -> tuple[Labels, Array]:
    """Return how many weights lie above the level of their anchor, and their sums, counted from the largest."""
    columns, m = linked[0].columns, linked[0].shape[1]
    shifted = weights[0] - top[columns]
    above = shifted > level[columns]
    kept = columns[above]
    return np.bincount(kept, minlength=m), np.bincount(kept, weights=shifted[above], minlength=m)


def _both(linked: tuple[Links, Array], weights: tuple[Array, Array], top: Array, level: Array) -> tuple[Array, Array]:
    """Return the weights as given, and the mean of their projections by samples and by anchors."""
    columns = linked[0].columns
    return weights[0], (weights[1] + np.maximum(weights[0] - top[columns] - level[columns], 0.0)) / 2


def _graph(linked: tuple[Links, Array], weights: tuple[Array, Array]) -> sparse.csr_array:
    return linked[0].graph(weights[1])


def _squared_gap(linked: tuple[Links, Array], weights: tuple[Array, Array]) -> float:
    return float(np.square(weights[1] - linked[1]).sum())


def _anchor_degrees(P: sparse.csr_array) -> Array:
    return np.asarray(P.sum(axis=0))


def _gram(P: sparse.csr_array, anchor_scale: Array) -> Array:
    return graph_gram(normalised_graph(P, inverse_roots(P.sum(axis=1)), anchor_scale))


def _lifted(P: sparse.csr_array, anchor_scale: Array, lift: Array) -> tuple[Array, Array]:
    sample_scale = inverse_roots(P.sum(axis=1))
    return normalised_graph(P, sample_scale, anchor_scale) @ lift, sample_scale


def _pattern(P: sparse.csr_array) -> tuple[sparse.csr_array, int]:
    """Return of how many samples two anchors are both linked to, (m, m), and how many samples are linked to none."""
    edges = _edges(P)
    return sparse.csr_array(edges.T @ edges), int(np.count_nonzero(np.diff(edges.indptr) == 0))


def _edges(P: sparse.csr_array) -> sparse.csr_array:
    # indices are copied, as zeros are taken out in place
    weights = np.asarray(P.data > 0, dtype=np.float64)
    edges = sparse.csr_array((weights, P.indices.copy(), P.indptr.copy()), shape=P.shape)
    edges.eliminate_zeros()
    return edges


def _component_sizes(P: sparse.csr_array, anchors: Labels, count: int) -> tuple[Labels, Labels]:
    own = first_components(P, anchors)
    first = np.full(count, -1, dtype=np.int64)
    found, places = np.unique(own, return_index=True)
    first[found[found >= 0]] = places[found >= 0]
    return np.bincount(own[own >= 0], minlength=count), first
