"""Base clusterings on anchors over blocks: what ``fit_ensemble`` does, with rows, links and embedding at workers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manyviews.cluster.anchors.groups import GroupDraws, group_recipe, sample_group
from manyviews.cluster.parallel import in_threads
from manyviews.distributed.door import BlockViews
from manyviews.distributed.grouping import discretize_parts
from manyviews.distributed.parts import Parts
from manyviews.distributed.sample_weights import are_counted, read_counts
from manyviews.graphs.transfer_cut import cut_embedding, reduced_eigenvectors, reduced_graph
from manyviews.partitions.anchor_cut import NO_LABEL, AnchorCut
from manyviews.partitions.discretize import EmbeddingRule, embedding_labels
from manyviews.partitions.view_links import (
    CutRecipe,
    Linked,
    LinkGraph,
    ViewLink,
    choose_link,
    drawn_candidates,
    find_links,
    own_treatment,
    with_sigma,
)
from manyviews.prototypes.block_kmeans import distinct_points
from manyviews.prototypes.sampled_rows import ColumnSample, ViewRows, ViewTreatment
from manyviews.views import Views

__all__ = ["BlockEnsemble", "ensemble_over_blocks", "read_treated", "speaking_places"]

Array = NDArray[Any]
Labels = NDArray[np.int64]
# base clusterings at a time: while the client chooses anchors for one, workers are busy with others
SIDE_BY_SIDE = 4


class BlockEnsemble(NamedTuple):
    """Base labels (b, M) of every block, numbers of base clusters (M,) and the base clusterings."""

    labels: Parts
    sizes: Labels
    cuts: tuple[AnchorCut | None, ...]

    def uses(self, n_views: int) -> NDArray[np.bool_]:
        """Return which views (M, V) each base clustering was made from."""
        used = np.zeros((len(self.cuts), n_views), dtype=bool)
        for m, cut in enumerate(self.cuts):
            used[m, [] if cut is None else [link.view for link in cut.links]] = True
        return used


def ensemble_over_blocks(
    views: BlockViews,
    treatments: list[ViewTreatment],
    draws: GroupDraws,
    recipe: CutRecipe,
    rng: np.random.Generator,
    *,
    chances: Array | None = None,
) -> BlockEnsemble:
    """Make the base clusterings of ``fit_ensemble``, each from its own child generator.

    Parameters
    ----------
    views : BlockViews
        Views that take part.
    treatments : list of ViewTreatment
        Treatment of each view.
    draws : GroupDraws
        Sizes of the groups.
    recipe : CutRecipe
        Settings.
    rng : Generator
        Parent of the child generators.
    chances : ndarray of shape (V,), default=None
        How often a view is drawn, relative to the others; alike by default.

    Returns
    -------
    BlockEnsemble
        Labels, held by blocks, and rules.
    """

    def one(m: int, child: np.random.Generator) -> tuple[Parts, AnchorCut | None]:
        members = sample_group(treatments, int(draws.n_views[m]), draws.fractions[m], child, chances)
        return _one_cut(views, members, group_recipe(recipe, draws, m, len(views)), child)

    M = draws.n_clusters.size
    made = list(in_threads(one, enumerate(rng.spawn(M)), min(M, SIDE_BY_SIDE)))
    columns, cuts = [labels for labels, _ in made], tuple(cut for _, cut in made)
    labels = columns[0].map(_side_by_side, *columns[1:])
    return BlockEnsemble(labels, np.array([1 if cut is None else cut.centers.shape[0] for cut in cuts]), cuts)


def _one_cut(
    views: BlockViews, members: Sequence[tuple[int, Any]], recipe: CutRecipe, rng: np.random.Generator
) -> tuple[Parts, AnchorCut | None]:
    """Cluster the samples by a group of views, as ``fit_anchor_cut`` does."""
    links = [link for view, sample in members if (link := _link(views, view, sample, recipe, rng)) is not None]
    parts, counts = views.parts, views.counts
    if not links:
        return parts.map(_unlabelled), None
    found, sums = parts.mapped(_neighbors, shared=(tuple(links),), sums=_distances, beside=(counts,))
    fitted = tuple(with_sigma(link, total / (mass or 1.0)) for link, (total, mass) in zip(links, sums, strict=True))
    graph = (fitted, recipe.unit_weights)
    half, n_linked = found.total(_half_gram, counts, shared=graph)
    k = min(recipe.n_clusters, n_linked)
    values, vectors = reduced_eigenvectors(sparse.csr_array(half + sparse.triu(half, 1).T), k, rng)
    cut = AnchorCut(fitted, vectors, values, np.zeros((k, k)), recipe)
    # a block says at once how many rows it has, and which of them differ
    told = partial(_rows_told, k=k)
    E, told_rows = found.mapped(_embedding, counts, shared=(cut,), sums=told, combine=_all_told)
    sizes, distinct = zip(*told_rows, strict=True)
    E = replace(E, sizes=np.array(sizes, dtype=np.int64))
    linked = counts if not are_counted(counts) else found.map(_linked_counts, counts, shared=graph)
    cut = replace(cut, centers=discretize_parts(E, linked, np.vstack(distinct), k, rng, recipe.rule))
    return found.map(_labels, E, shared=(cut.centers, recipe.rule)), cut


def _speaking_rows(views: BlockViews, view: int, treatment: ViewTreatment) -> Parts:
    """Return the blocks, their sizes being how many rows say something in a view."""
    if treatment.metric == "euclidean" and views.summaries[view].observed == len(views):
        return views.parts
    counts = views.parts.gather(_speaking_count, shared=(view, treatment))
    return replace(views.parts, sizes=np.array(counts, dtype=np.int64))


def read_treated(block: Views, places: Labels, view: int, treatment: ViewTreatment) -> Array:
    """Return rows of a block, treated, by place."""
    rows: Array = _reader(block, view, treatment).read(places).rows
    return rows


def speaking_places(block: Views, view: int, treatment: ViewTreatment) -> Labels:
    """Return the places of the rows of a block that say something in a view."""
    speaking = _reader(block, view, treatment).read(slice(0, len(block))).speaking
    return np.arange(len(block)) if speaking is None else np.flatnonzero(speaking)


def _link(
    views: BlockViews,
    view: int,
    sample: ViewTreatment | ColumnSample,
    recipe: CutRecipe,
    rng: np.random.Generator,
) -> ViewLink | None:
    """Select anchors from random rows; None where the view says nothing about anybody."""
    treatment = own_treatment(sample)
    source = _speaking_rows(views, view, treatment)
    if source.n_rows == 0:
        return None
    drawn = drawn_candidates(source.n_rows, recipe, rng)
    everywhere = source.n_rows == len(views)
    candidates = source.read(drawn, read_treated if everywhere else _read_speaking, (view, treatment))
    own = None
    if are_counted(views.counts):
        told = views.counts if everywhere else views.parts.map(_told_counts, views.counts, shared=(view, treatment))
        own = read_counts(replace(told, sizes=source.sizes), drawn)
    return choose_link(candidates, len(views), view, treatment, sample, recipe, rng, own)


def _reader(block: Views, view: int, treatment: ViewTreatment) -> ViewRows:
    seen = block.observed[:, view]
    return ViewRows(block.arrays[view], None if seen.all() else seen, treatment)


def _read_speaking(block: Views, places: Labels, view: int, treatment: ViewTreatment) -> Array:
    return read_treated(block, speaking_places(block, view, treatment)[places], view, treatment)


def _speaking_count(block: Views, view: int, treatment: ViewTreatment) -> int:
    return int(speaking_places(block, view, treatment).size)


def _unlabelled(block: Views) -> NDArray[np.int32]:
    return np.full(len(block), NO_LABEL, dtype=np.int32)


def _neighbors(block: Views, links: tuple[ViewLink, ...]) -> list[Linked]:
    return [find_links(block.arrays, block.observed, link) for link in links]


def _told_counts(block: Views, counts: Array, view: int, treatment: ViewTreatment) -> Array:
    return np.asarray(counts[speaking_places(block, view, treatment)])


def _distances(block: Views, found: list[Linked], counts: Array | None) -> list[tuple[float, float]]:
    """Return sums and numbers of the distances of rows that say something, as often as they count, per view."""
    sums = []
    for near, speaking in found:
        distance = near.distance if speaking is None else near.distance[speaking]
        if counts is None:
            sums.append((float(distance.sum(dtype=np.float64)), float(distance.size)))
            continue
        own = counts if speaking is None else counts[speaking]
        sums.append((float(distance.mean(axis=1, dtype=np.float64) @ own), float(own.sum())))
    return sums


def _graph(found: list[Linked], counts: Array | None, links: tuple[ViewLink, ...], unit: bool) -> LinkGraph:
    return LinkGraph(links, list(found), unit, found[0][0].index.shape[0], counts)


def _half_gram(found: list[Linked], counts: Array | None, links: tuple[ViewLink, ...], unit: bool) -> tuple[Any, int]:
    """Return the upper half of the reduced graph, which is most of what goes between workers, and the linked rows."""
    B = _graph(found, counts, links, unit)
    half = sparse.csr_array(sparse.triu(reduced_graph(B)))
    linked = B.linked()
    return half, B.shape[0] if linked is None else int(linked.size)


def _linked_rows(B: LinkGraph) -> Any:
    linked = B.linked()
    return slice(0, B.shape[0]) if linked is None else linked


def _linked_counts(found: list[Linked], counts: Array, links: tuple[ViewLink, ...], unit: bool) -> Array:
    return np.asarray(counts[_linked_rows(_graph(found, counts, links, unit))])


def _embedding(found: list[Linked], counts: Array | None, cut: AnchorCut) -> Array:
    B = _graph(found, counts, cut.links, cut.recipe.unit_weights)
    return cut_embedding(B[_linked_rows(B)], cut.vectors, cut.values, cut.recipe.rule.embedding)


def _rows_told(found: list[Linked], E: Array, *, k: int) -> list[tuple[int, Array]]:
    return [(len(E), distinct_points(E, k))]


def _all_told(found: list[list[tuple[int, Array]]]) -> list[tuple[int, Array]]:
    return [told for block in found for told in block]


def _labels(found: list[Linked], E: Array, centers: Array, rule: EmbeddingRule) -> NDArray[np.int32]:
    labels = np.full(found[0][0].index.shape[0], NO_LABEL, dtype=np.int32)
    masks = [speaking for _, speaking in found if speaking is not None]
    linked: Any = slice(None) if len(masks) < len(found) else np.any(masks, axis=0)
    labels[linked] = embedding_labels(E, centers, rule)
    return labels


def _side_by_side(*columns: Array) -> Array:
    return np.column_stack(columns)
