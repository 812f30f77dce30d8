"""One base clustering: the graph between samples and anchors of some views, its cut, a rule for new rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manyviews.graphs.anchor_graph import CELLS_PER_BLOCK
from manyviews.graphs.anchor_views import Blocks
from manyviews.graphs.transfer_cut import cut_embedding, cut_vectors
from manyviews.linalg.blocks import row_blocks
from manyviews.partitions.discretize import discretize_embedding, embedding_labels
from manyviews.partitions.view_links import (
    ROWS_PER_BLOCK,
    CutRecipe,
    Linked,
    LinkGraph,
    ViewLink,
    find_rows,
    joined_links,
    link_views,
    view_reader,
)
from manyviews.prototypes.anchors import CANDIDATES_PER_ANCHOR
from manyviews.prototypes.row_means import KeptRows
from manyviews.prototypes.sampled_rows import ColumnSample, ViewTreatment

__all__ = ["NO_LABEL", "AnchorCut", "cut_bytes", "fit_anchor_cut"]

Array = NDArray[Any]
NO_LABEL = -1


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
class AnchorCut:
    """A fitted base clustering: what labels any rows of the views, block by block."""

    links: tuple[ViewLink, ...]
    vectors: Array
    values: Array
    centers: Array
    recipe: CutRecipe

    def graph(self, found: list[Linked]) -> sparse.csr_array:
        """Return the graph (b, q) of a block of rows whose neighbours in each view are known."""
        return joined_links(self.links, found, self.recipe.unit_weights)

    def predict(self, arrays: tuple[Any, ...], observed: Array, over: Blocks = map) -> NDArray[np.int32]:
        """Return base labels (n,) of samples; -1 where no view of this clustering says anything.

        ``over`` applies a function to all blocks of rows, perhaps several at a time.
        """
        n = observed.shape[0]
        labels = np.full(n, NO_LABEL, dtype=np.int32)
        size = min(ROWS_PER_BLOCK[link.search] for link in self.links)
        readers = [view_reader(arrays, observed, link.view, link.treatment) for link in self.links]

        def one(rows: slice) -> None:
            found = [find_rows(reader, link, rows) for reader, link in zip(readers, self.links, strict=True)]
            B = self.graph(found)
            E = cut_embedding(B, self.vectors, self.values, self.recipe.rule.embedding)
            linked = np.diff(B.indptr) > 0
            labels[rows][linked] = embedding_labels(E[linked], self.centers, self.recipe.rule)

        for _ in over(one, row_blocks(n, size)):
            pass  # each block fills its own rows
        return labels


def fit_anchor_cut(
    arrays: tuple[Any, ...],
    observed: Array,
    members: Sequence[tuple[int, ViewTreatment | ColumnSample]],
    recipe: CutRecipe,
    rng: np.random.Generator,
    kept: Sequence[KeptRows | None] = (),
    counts: Array | None = None,
    over: Blocks = map,
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
    over : callable, default=map
        Applies a function to all blocks of rows of which neighbours are sought, in order, perhaps several at a time.

    Returns
    -------
    labels : ndarray of shape (n,), int32
        Base labels; -1 where no view of the group says anything about a sample.
    cut : AnchorCut or None
        The rule; None if no sample is labelled.
    """
    n = observed.shape[0]
    links, found = link_views(arrays, observed, members, recipe, rng, kept, counts, over)
    if not links:
        return np.full(n, NO_LABEL, dtype=np.int32), None
    return _cut(LinkGraph(links, found, recipe.unit_weights, n, counts), recipe, rng)


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
