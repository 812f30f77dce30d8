"""One base clustering: anchors of some views, the graph between samples and anchors, its cut, a rule for new rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manyviews.graphs.anchor_graph import (
    CELLS_PER_BLOCK,
    AnchorIndex,
    Neighbors,
    affinities,
    bipartite_block,
    build_index,
    cheaper_search,
    find_anchors,
    nearest_means,
    recall,
)
from manyviews.graphs.transfer_cut import cut_embedding, cut_vectors, scaled_rows
from manyviews.linalg.blocks import row_blocks
from manyviews.partitions.discretize import EmbeddingRule, discretize_embedding, embedding_labels
from manyviews.prototypes.anchors import CANDIDATES_PER_ANCHOR, anchor_regions, hybrid_anchors
from manyviews.prototypes.row_means import KeptRows, mean_anchors, row_products
from manyviews.prototypes.sampled_rows import ColumnSample, ViewRows, ViewTreatment, speaking_rows

__all__ = [
    "NO_LABEL",
    "AnchorCut",
    "CutRecipe",
    "LinkGraph",
    "Linked",
    "ViewLink",
    "choose_link",
    "cut_bytes",
    "drawn_candidates",
    "find_links",
    "fit_anchor_cut",
    "own_treatment",
    "with_sigma",
]

Array = NDArray[Any]
# neighbours of rows, and which rows speak; None where all do
Linked = tuple[Neighbors, Array | None]
SearchChoice = Literal["auto", "exact", "approximate"]
NO_LABEL = -1
EPS = float(np.finfo(np.float64).eps)
# "auto" takes the approximate search where it is cheaper and finds this part of the true neighbours of a few rows
LEAST_RECALL, PROBE_ROWS = 0.97, 256
ROWS_PER_BLOCK = {"exact": 8_192, "approximate": 65_536}


class CutRecipe(NamedTuple):
    """How a base clustering is made.

    ``n_anchors`` and ``n_neighbors`` are shared by its views; ``unit_weights`` scales the links of a sample in a view
    to length 1; ``rule`` says how the embedding is cut into ``n_clusters``.
    """

    n_clusters: int
    n_anchors: int
    n_neighbors: int
    search: SearchChoice
    rule: EmbeddingRule
    unit_weights: bool = True
    anchor_iter: int = 5
    region_iter: int = 5


def cut_bytes(n: int, p: int, n_neighbors: int, n_clusters: int, width: float, stored: float, read: float) -> int:
    """Return about how many bytes one base clustering needs.

    Parameters
    ----------
    n, p : int
        Samples and anchors.
    n_neighbors, n_clusters : int
        Links of a sample, and columns of the embedding.
    width, stored, read : float
        Columns that are taken of a view, numbers stored for them in a row (fewer in a sparse view), and numbers that
        are read of a row before columns are taken.

    Returns
    -------
    int
        Candidates for anchors, a block of rows, links, graph and embedding, with the copies made of each.
    """
    candidates = 8 * min(n, CANDIDATES_PER_ANCHOR * p) * (read + 3 * stored) + 3 * 8 * p * width
    block = 3 * 8 * min(n, ROWS_PER_BLOCK["exact"]) * stored + 2 * 8 * p * width + 8 * CELLS_PER_BLOCK
    links = 44 * n * n_neighbors
    reduced = 12 * p**2
    return int(max(candidates, block + links, links + reduced + 4 * 8 * n * n_clusters))


@dataclass(frozen=True)
class ViewLink:
    """How samples are linked to anchors in one view."""

    view: int
    treatment: ViewTreatment | ColumnSample
    index: AnchorIndex
    n_neighbors: int
    sigma: float = 1.0

    @property
    def search(self) -> str:
        """Name of the search."""
        return "exact" if self.index.candidates is None else "approximate"


@dataclass(frozen=True)
class AnchorCut:
    """A fitted base clustering: what labels any rows of the views, block by block."""

    links: tuple[ViewLink, ...]
    vectors: Array
    values: Array
    centers: Array
    recipe: CutRecipe

    def graph(self, found: list[Linked]) -> sparse.csr_array:
        """Return the graph (b, q) of a block of rows whose neighbours in each view are known."""
        return _graph(self.links, found, self.recipe.unit_weights)

    def predict(self, arrays: tuple[Any, ...], observed: Array) -> NDArray[np.int32]:
        """Return base labels (n,) of samples; -1 where no view of this clustering says anything."""
        n = observed.shape[0]
        labels = np.full(n, NO_LABEL, dtype=np.int32)
        size = min(ROWS_PER_BLOCK[link.search] for link in self.links)
        readers = [_reader(arrays, observed, link.view, link.treatment) for link in self.links]
        for rows in row_blocks(n, size):
            found = [_find(reader, link, rows) for reader, link in zip(readers, self.links, strict=True)]
            B = self.graph(found)
            E = cut_embedding(B, self.vectors, self.values, self.recipe.rule.embedding)
            linked = np.diff(B.indptr) > 0
            labels[rows][linked] = embedding_labels(E[linked], self.centers, self.recipe.rule)
        return labels


def fit_anchor_cut(
    arrays: tuple[Any, ...],
    observed: Array,
    members: Sequence[tuple[int, ViewTreatment | ColumnSample]],
    recipe: CutRecipe,
    rng: np.random.Generator,
    kept: Sequence[KeptRows | None] = (),
    counts: Array | None = None,
) -> tuple[NDArray[np.int32], AnchorCut | None]:
    """Cluster the samples by a group of views.

    Parameters
    ----------
    arrays : tuple of ndarray or CSR of shape (n, d_v)
        All views.
    observed : ndarray of shape (n, V) of bool
        Where samples were observed.
    members : sequence of (int, ViewTreatment or ColumnSample)
        Views of the group, and how each is treated.
    recipe : CutRecipe
        Settings.
    rng : Generator
        Source of candidates and starts.
    kept : sequence of (KeptRows or None)
        Rows of each view that anchors are means of; by default anchors are kept as such. Those views are treated as a
        ``ColumnSample`` says.
    counts : ndarray of shape (n,), default=None
        How often each sample counts, in the anchors, in the graph and in its cut, above 0; once by default.

    Returns
    -------
    labels : ndarray of shape (n,), int32
        Base labels; -1 where no view of the group says anything about a sample.
    cut : AnchorCut or None
        The rule; None if no sample is labelled.
    """
    n = observed.shape[0]
    links, found = _link_views(arrays, observed, members, recipe, rng, kept, counts)
    if not links:
        return np.full(n, NO_LABEL, dtype=np.int32), None
    return _cut(LinkGraph(links, found, recipe.unit_weights, n, counts), recipe, rng)


def _link_views(
    arrays: tuple[Any, ...],
    observed: Array,
    members: Sequence[tuple[int, ViewTreatment | ColumnSample]],
    recipe: CutRecipe,
    rng: np.random.Generator,
    kept: Sequence[KeptRows | None],
    counts: Array | None,
) -> tuple[tuple[ViewLink, ...], list[Linked]]:
    """Link all samples to anchors in the views of a group that say something."""
    links, found = [], []
    for view, treatment in members:
        rows = kept[view] if kept else None
        if rows is not None and isinstance(treatment, ColumnSample):
            linked = _link_to_means(rows, observed[:, view], view, treatment, recipe, rng, counts)
        else:
            linked = _link_to_points(_reader(arrays, observed, view, treatment), view, treatment, recipe, rng, counts)
        if linked is not None:
            links.append(linked[0])
            found.append(linked[1])
    return tuple(links), found


class LinkGraph:
    """The graph between samples and anchors, (n, q), of which blocks of rows are made when they are asked for.

    Rows are multiplied with how often the samples count, which their cut takes into account.
    """

    def __init__(
        self, links: tuple[ViewLink, ...], found: list[Linked], unit: bool, n: int, counts: Array | None = None
    ) -> None:
        self.links, self.found, self.unit, self.counts = links, found, unit, counts
        self.shape = n, sum(link.index.points.shape[0] for link in links)
        self.dtype = np.result_type(*(neighbors.distance for neighbors, _ in found))

    def __getitem__(self, rows: Any) -> sparse.csr_array:
        part = [
            (Neighbors(near.index[rows], near.distance[rows]), None if speaking is None else speaking[rows])
            for near, speaking in self.found
        ]
        B = _graph(self.links, part, self.unit)
        return B if self.counts is None else scaled_rows(B, self.counts[rows])

    def linked(self) -> NDArray[np.int64] | None:
        """Return the samples that have links; None if all have."""
        if any(speaking is None for _, speaking in self.found):
            return None
        return np.flatnonzero(np.any([mask for _, mask in self.found if mask is not None], axis=0))


def _cut(B: LinkGraph, recipe: CutRecipe, rng: np.random.Generator) -> tuple[NDArray[np.int32], AnchorCut]:
    n = B.shape[0]
    linked = B.linked()
    size = n if linked is None else linked.size
    k = min(recipe.n_clusters, size)
    values, vectors = cut_vectors(B, k, rng)
    E = np.empty((size, k), dtype=B.dtype)
    for rows in row_blocks(size, ROWS_PER_BLOCK["approximate"]):
        E[rows] = cut_embedding(B[rows if linked is None else linked[rows]], vectors, values, recipe.rule.embedding)
    B.found.clear()  # as large as the embedding, and used up
    counts = B.counts if B.counts is None or linked is None else B.counts[linked]
    result = discretize_embedding(E, k, rng, recipe.rule, counts)
    if linked is None:
        labels = result.labels.astype(np.int32)
    else:
        labels = np.full(n, NO_LABEL, dtype=np.int32)
        labels[linked] = result.labels
    return labels, AnchorCut(B.links, vectors, values, result.rule, recipe)


def _reader(arrays: tuple[Any, ...], observed: Array, view: int, treatment: ViewTreatment | ColumnSample) -> ViewRows:
    seen = observed[:, view]
    return ViewRows(arrays[view], None if seen.all() else seen, own_treatment(treatment))


def own_treatment(treatment: ViewTreatment | ColumnSample) -> ViewTreatment:
    """Return the treatment of a view with the columns that a base clustering takes."""
    return treatment.treatment() if isinstance(treatment, ColumnSample) else treatment


def _link_to_means(
    rows: KeptRows,
    observed: Array,
    view: int,
    columns: ColumnSample,
    recipe: CutRecipe,
    rng: np.random.Generator,
    counts: Array | None,
) -> tuple[ViewLink, Linked] | None:
    """Do what ``_link_to_points`` does by the products of the rows of a wide view."""
    products = row_products(rows, columns)
    speaking = observed & (products.factor > 0)
    usable = np.flatnonzero(speaking)
    if usable.size == 0:
        return None
    p = min(recipe.n_anchors, usable.size)
    candidates = usable[np.sort(rng.choice(usable.size, min(CANDIDATES_PER_ANCHOR * p, usable.size), replace=False))]
    max_iter = recipe.anchor_iter
    points = mean_anchors(rows, columns, products, candidates, p, rng, max_iter=max_iter, weights=counts)
    index, K = build_index(points, columns.metric, 1), min(recipe.n_neighbors, points.shape[0])
    # the anchors weigh rows as they are kept, without the length that the cosine brings them to
    neighbors = nearest_means(index, products.G / _or_one(products.factor), np.diagonal(products.G), K)
    return _fitted(ViewLink(view, columns, index, K), neighbors, speaking, counts)


def _or_one(factor: Array) -> Array:
    return np.where(factor > 0, factor, 1.0).astype(factor.dtype)


def _link_to_points(
    reader: ViewRows,
    view: int,
    sample: ViewTreatment | ColumnSample,
    recipe: CutRecipe,
    rng: np.random.Generator,
    counts: Array | None,
) -> tuple[ViewLink, Linked] | None:
    """Select anchors from random rows and find those of all samples; None where the view says nothing about anybody."""
    n, treatment = reader.array.shape[0], reader.treatment
    usable = speaking_rows(reader)
    available = n if usable is None else usable.size
    if available == 0:
        return None
    drawn = drawn_candidates(available, recipe, rng)
    drawn = drawn if usable is None else usable[drawn]
    candidates, own = reader.read(drawn).rows, None if counts is None else counts[drawn]
    return _search_all(reader, choose_link(candidates, n, view, treatment, sample, recipe, rng, own), n, counts)


def drawn_candidates(available: int, recipe: CutRecipe, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw the rows from which anchors are selected: their places, ascending, among those that say something."""
    count = CANDIDATES_PER_ANCHOR * min(recipe.n_anchors, available)
    return np.sort(rng.choice(available, min(count, available), replace=False))


def choose_link(
    candidates: Any,
    n: int,
    view: int,
    treatment: ViewTreatment,
    sample: ViewTreatment | ColumnSample,
    recipe: CutRecipe,
    rng: np.random.Generator,
    counts: Array | None = None,
) -> ViewLink:
    """Select anchors from ``drawn_candidates`` of a view, treated, and how those nearest to n samples are found.

    ``counts`` says how often each candidate counts; once by default.
    """
    p, max_iter = min(recipe.n_anchors, candidates.shape[0]), recipe.anchor_iter
    anchors = hybrid_anchors(candidates, p, rng, treatment.metric, max_iter=max_iter, weights=counts)
    p = anchors.shape[0]
    K = min(recipe.n_neighbors, p)
    width = candidates.nnz / candidates.shape[0] if sparse.issparse(candidates) else treatment.width
    search = cheaper_search(p, width, K, n) if recipe.search == "auto" else recipe.search
    index = build_index(anchors, treatment.metric, K)
    if search == "approximate":
        regions = anchor_regions(anchors, rng, treatment.metric, max_iter=recipe.region_iter)
        quick = build_index(anchors, treatment.metric, K, regions)
        # where columns are mostly noise, the neighbours of the nearest anchor are not those of the sample
        probe = candidates[:: max(1, candidates.shape[0] // PROBE_ROWS)]
        if recipe.search == "approximate" or recall(quick, probe, K) >= LEAST_RECALL:
            index = quick
    return ViewLink(view, sample, index, K)


def _search_all(reader: ViewRows, link: ViewLink, n: int, counts: Array | None) -> tuple[ViewLink, Linked]:
    """Find the neighbours of all samples."""
    K = link.n_neighbors
    index = np.empty((n, K), np.int16 if link.index.points.shape[0] <= np.iinfo(np.int16).max else np.int32)
    distance = np.empty((n, K), reader.read(slice(0, 1)).rows.dtype)
    speaking = np.ones(n, dtype=bool)
    for rows in row_blocks(n, ROWS_PER_BLOCK[link.search]):
        (index[rows], distance[rows]), mask = _find(reader, link, rows)
        if mask is not None:
            speaking[rows] = mask
    return _fitted(link, Neighbors(index, distance), speaking, counts)


def _fitted(link: ViewLink, neighbors: Neighbors, speaking: Array, counts: Array | None) -> tuple[ViewLink, Linked]:
    """Set the width of the Gaussian to the mean distance of the neighbours found."""
    complete = bool(speaking.all())
    counted = neighbors.distance if complete else neighbors.distance[speaking]
    if counts is None:
        mean = float(counted.mean(dtype=np.float64))
    else:
        mean = float(np.average(counted.mean(axis=1, dtype=np.float64), weights=counts[speaking]))
    found = with_sigma(link, mean)
    return found, (neighbors, None if complete else speaking)


def with_sigma(link: ViewLink, mean: float) -> ViewLink:
    """Return a link whose Gaussian has the mean distance of all neighbours for its width."""
    return replace(link, sigma=mean + EPS)


def find_links(arrays: tuple[Any, ...], observed: Array, link: ViewLink) -> Linked:
    """Return the neighbours of all rows of a block, and which rows speak; None where all do."""
    reader, n = _reader(arrays, observed, link.view, link.treatment), observed.shape[0]
    parts = [_find(reader, link, rows) for rows in row_blocks(n, ROWS_PER_BLOCK[link.search])]
    index, distance = (np.concatenate(column) for column in zip(*(neighbors for neighbors, _ in parts), strict=True))
    if all(mask is None for _, mask in parts):
        return Neighbors(index, distance), None
    masks = [np.ones(len(near.index), bool) if mask is None else mask for near, mask in parts]
    return Neighbors(index, distance), np.concatenate(masks)


def _find(reader: ViewRows, link: ViewLink, rows: slice) -> Linked:
    block = reader.read(rows)
    return find_anchors(link.index, block.rows, link.n_neighbors), block.speaking


def _graph(links: Any, found: list[Linked], unit: bool) -> sparse.csr_array:
    weights = [
        affinities(neighbors.distance, link.index.metric, link.sigma, unit=unit)
        for link, (neighbors, _) in zip(links, found, strict=True)
    ]
    return bipartite_block(
        [neighbors.index for neighbors, _ in found],
        weights,
        [link.index.points.shape[0] for link in links],
        [speaking for _, speaking in found],
    )
