"""Samples that no base clustering could label: they follow their nearest labelled neighbours in their own views."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from manyviews.graphs.anchor_graph import AnchorIndex, build_index, find_anchors
from manyviews.linalg.blocks import row_blocks
from manyviews.prototypes.row_means import KeptRows, own_anchors
from manyviews.prototypes.sampled_rows import ViewRows, ViewTreatment, speaking_rows

__all__ = ["Fallback", "fit_fallback"]

Array = NDArray[Any]
REFERENCES = 1_000
VOTERS = 5


class Fallback(NamedTuple):
    """Labelled samples of each view, None where a view has none, and the label of samples without any neighbour."""

    treatments: tuple[ViewTreatment, ...]
    references: tuple[tuple[AnchorIndex, NDArray[np.int64]] | None, ...]
    n_clusters: int
    default: int

    def place(self, arrays: tuple[Any, ...], observed: Array, samples: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return labels of some samples: each view that speaks of a sample lets its neighbours vote, nearer ones more.

        Parameters
        ----------
        arrays : tuple of ndarray or CSR of shape (n, d_v)
            All views.
        observed : ndarray of shape (n, V) of bool
            Where samples were observed.
        samples : ndarray of shape (s,)
            Rows to label, ascending.

        Returns
        -------
        ndarray of shape (s,), int64
            Labels.
        """
        votes = np.zeros((samples.size, self.n_clusters))
        for view, reference in enumerate(self.references):
            if reference is None:
                continue
            reader = ViewRows(arrays[view], observed[:, view], self.treatments[view])
            for part in row_blocks(samples.size):
                self._vote(votes[part], reference, reader, samples[part])
        labels: NDArray[np.int64] = votes.argmax(axis=1)
        labels[votes.sum(axis=1) == 0] = self.default
        return labels

    def _vote(self, votes: Array, reference: tuple[AnchorIndex, Array], reader: ViewRows, samples: Array) -> None:
        index, labels = reference
        block = reader.read(samples)
        chosen = labels[find_anchors(index, block.rows, min(VOTERS, labels.size)).index]
        speaking = np.arange(samples.size) if block.speaking is None else np.flatnonzero(block.speaking)
        for rank in range(chosen.shape[1]):
            np.add.at(votes, (speaking, chosen[speaking, rank]), 1.0 / (1.0 + rank))


def fit_fallback(
    arrays: tuple[Any, ...],
    observed: Array,
    treatments: list[ViewTreatment],
    labels: NDArray[np.int64],
    k: int,
    rng: np.random.Generator,
    kept_rows: Sequence[KeptRows | None] = (),
) -> Fallback:
    """Keep up to 1000 labelled samples of each view; ``labels`` (n,) is -1 for samples without a label.

    Views of which rows are kept already refer to those.
    """
    references: list[tuple[AnchorIndex, Array] | None] = []
    for view, treatment in enumerate(treatments):
        reader = ViewRows(arrays[view], observed[:, view], treatment)
        usable = speaking_rows(reader)
        usable = np.arange(labels.size) if usable is None else usable
        usable = usable[labels[usable] >= 0]
        if usable.size == 0:
            references.append(None)
            continue
        kept = np.sort(rng.choice(usable, min(REFERENCES, usable.size), replace=False))
        rows = kept_rows[view] if kept_rows else None
        points = reader.read(kept).rows if rows is None else own_anchors(rows, kept)
        index = build_index(points, treatment.metric, VOTERS)
        references.append((index, labels[kept]))
    counts = np.bincount(labels[labels >= 0], minlength=k)
    return Fallback(tuple(treatments), tuple(references), k, int(counts.argmax()))
