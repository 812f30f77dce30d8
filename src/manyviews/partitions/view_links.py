"""How the samples of some views are linked to anchors: which anchors, how they are searched, the graph of the links."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manyviews.graphs.anchor_graph import (
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
from manyviews.graphs.anchor_views import Blocks
from manyviews.graphs.transfer_cut import scaled_rows
from manyviews.linalg.blocks import row_blocks
from manyviews.partitions.discretize import EmbeddingRule
from manyviews.prototypes.anchors import CANDIDATES_PER_ANCHOR, anchor_regions, hybrid_anchors
from manyviews.prototypes.row_means import KeptRows, mean_anchors, row_products
from manyviews.prototypes.sampled_rows import ColumnSample, ViewRows, ViewTreatment, speaking_rows

__all__ = [
    "ROWS_PER_BLOCK",
    "CutRecipe",
    "LinkGraph",
    "Linked",
    "SearchChoice",
    "ViewLink",
    "choose_link",
    "drawn_candidates",
    "find_links",
    "find_rows",
    "joined_links",
    "link_views",
    "own_treatment",
    "view_reader",
    "with_sigma",
]

Array = NDArray[Any]
# neighbours of rows, and which rows speak; None where all do
Linked = tuple[Neighbors, Array | None]
SearchChoice = Literal["auto", "exact", "approximate"]
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
        B = joined_links(self.links, part, self.unit)
        return B if self.counts is None else scaled_rows(B, self.counts[rows])

    def linked(self) -> NDArray[np.int64] | None:
        """Return the samples that have links; None if all have."""
        if any(speaking is None for _, speaking in self.found):
            return None
        return np.flatnonzero(np.any([mask for _, mask in self.found if mask is not None], axis=0))


def link_views(
    arrays: tuple[Any, ...],
    observed: Array,
    members: Sequence[tuple[int, ViewTreatment | ColumnSample]],
    recipe: CutRecipe,
    rng: np.random.Generator,
    kept: Sequence[KeptRows | None],
    counts: Array | None = None,
    over: Blocks = map,
) -> tuple[tuple[ViewLink, ...], list[Linked]]:
    """Link all samples, that count so often (n,), to anchors in the views of a group that say something.

    ``over`` applies a function to all blocks of rows, perhaps several at a time.
    """
    links, found = [], []
    for view, treatment in members:
        rows = kept[view] if kept else None
        if rows is not None and isinstance(treatment, ColumnSample):
            linked = _link_to_means(rows, observed[:, view], view, treatment, recipe, rng, counts)
        else:
            reader = view_reader(arrays, observed, view, treatment)
            linked = _link_to_points(reader, view, treatment, recipe, rng, counts, over)
        if linked is not None:
            links.append(linked[0])
            found.append(linked[1])
    return tuple(links), found


def view_reader(
    arrays: tuple[Any, ...], observed: Array, view: int, treatment: ViewTreatment | ColumnSample
) -> ViewRows:
    """Return what reads the rows of a view as a base clustering sees them."""
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
    over: Blocks,
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
    return _search_all(reader, choose_link(candidates, n, view, treatment, sample, recipe, rng, own), n, counts, over)


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


def _search_all(
    reader: ViewRows, link: ViewLink, n: int, counts: Array | None, over: Blocks
) -> tuple[ViewLink, Linked]:
    """Find the neighbours of all samples."""
    K = link.n_neighbors
    index = np.empty((n, K), np.int16 if link.index.points.shape[0] <= np.iinfo(np.int16).max else np.int32)
    distance = np.empty((n, K), reader.read(slice(0, 1)).rows.dtype)
    speaking = np.ones(n, dtype=bool)

    def one(rows: slice) -> None:
        (index[rows], distance[rows]), mask = find_rows(reader, link, rows)
        if mask is not None:
            speaking[rows] = mask

    for _ in over(one, row_blocks(n, ROWS_PER_BLOCK[link.search])):
        pass  # each block fills its own rows
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
    reader, n = view_reader(arrays, observed, link.view, link.treatment), observed.shape[0]
    parts = [find_rows(reader, link, rows) for rows in row_blocks(n, ROWS_PER_BLOCK[link.search])]
    index, distance = (np.concatenate(column) for column in zip(*(neighbors for neighbors, _ in parts), strict=True))
    if all(mask is None for _, mask in parts):
        return Neighbors(index, distance), None
    masks = [np.ones(len(near.index), bool) if mask is None else mask for near, mask in parts]
    return Neighbors(index, distance), np.concatenate(masks)


def find_rows(reader: ViewRows, link: ViewLink, rows: slice) -> Linked:
    """Return the nearest anchors of a block of rows."""
    block = reader.read(rows)
    return find_anchors(link.index, block.rows, link.n_neighbors), block.speaking


def joined_links(links: Any, found: list[Linked], unit: bool) -> sparse.csr_array:
    """Return the graph (b, q) of rows whose neighbours in each view are known."""
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
