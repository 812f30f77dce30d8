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

__all__ = ["AnchorCut", "CutRecipe", "cut_bytes", "fit_anchor_cut"]

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
    if not links:
        return np.full(n, NO_LABEL, dtype=np.int32), None
    B = _graph(links, found, recipe.unit_weights)
    return _cut(B, tuple(links), recipe, rng, counts)


def _cut(
    B: sparse.csr_array,
    links: tuple[ViewLink, ...],
    recipe: CutRecipe,
    rng: np.random.Generator,
    counts: Array | None,
) -> tuple[NDArray[np.int32], AnchorCut]:
    labels = np.full(B.shape[0], NO_LABEL, dtype=np.int32)
    linked = np.flatnonzero(np.diff(B.indptr) > 0)
    k = min(recipe.n_clusters, linked.size)
    values, vectors = cut_vectors(B if counts is None else scaled_rows(B, counts), k, rng)
    E = np.empty((linked.size, k), dtype=B.dtype)
    complete = linked.size == B.shape[0]
    for rows in row_blocks(linked.size, ROWS_PER_BLOCK["approximate"]):
        block = B[rows] if complete else B[linked[rows]]
        E[rows] = cut_embedding(block, vectors, values, recipe.rule.embedding)
    result = discretize_embedding(E, k, rng, recipe.rule, None if counts is None else counts[linked])
    labels[linked] = result.labels
    return labels, AnchorCut(links, vectors, values, result.rule, recipe)


def _reader(arrays: tuple[Any, ...], observed: Array, view: int, treatment: ViewTreatment | ColumnSample) -> ViewRows:
    seen = observed[:, view]
    if isinstance(treatment, ColumnSample):
        treatment = treatment.treatment()
    return ViewRows(arrays[view], None if seen.all() else seen, treatment)


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
    p = min(recipe.n_anchors, available)
    drawn = np.sort(rng.choice(available, min(CANDIDATES_PER_ANCHOR * p, available), replace=False))
    drawn = drawn if usable is None else usable[drawn]
    candidates, own = reader.read(drawn).rows, None if counts is None else counts[drawn]
    anchors = hybrid_anchors(candidates, p, rng, treatment.metric, max_iter=recipe.anchor_iter, weights=own)
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
    return _search_all(reader, ViewLink(view, sample, index, K), n, counts)


def _search_all(reader: ViewRows, link: ViewLink, n: int, counts: Array | None) -> tuple[ViewLink, Linked]:
    """Find the neighbours of all samples."""
    K = link.n_neighbors
    index = np.empty((n, K), np.int32)
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
        sigma = float(counted.mean(dtype=np.float64)) + EPS
    else:
        sigma = float(np.average(counted.mean(axis=1, dtype=np.float64), weights=counts[speaking])) + EPS
    return replace(link, sigma=sigma), (neighbors, None if complete else speaking)


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
