"""Labels of samples from their base labels: those of training samples with the same ones, or a vote."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyviews.linalg.blocks import row_blocks
from manyviews.partitions.coassociation import indicator_matrix

__all__ = ["ConsensusVote", "ShareVote"]

Array = NDArray[Any]
Labels = NDArray[np.int64]
ROWS_PER_BLOCK = 1_024
POWER = 4


class ConsensusVote:
    """Gives a sample the cluster in which it has the largest sum of powered co-associations.

    Parameters
    ----------
    base_labels : ndarray of shape (u, M) of int
        Base labels of groups of training samples, -1 for none.
    sizes : ndarray of shape (u,)
        Sizes of the groups.
    labels : ndarray of shape (u,)
        Their clusters.
    n_clusters : int
        Number of clusters.
    """

    def __init__(self, base_labels: Labels, sizes: Array, labels: Labels, n_clusters: int) -> None:
        self.widths = base_labels.max(axis=0, initial=-1) + 1
        self.members = indicator_matrix(base_labels, n_columns=self.widths, dtype=np.float32)
        self.present = (base_labels >= 0).sum(axis=1)
        self.labels = labels
        self.votes = np.zeros((labels.size, n_clusters))
        self.votes[np.arange(labels.size), labels] = sizes

    def __call__(self, base_labels: Labels) -> Labels:
        """Return the clusters of samples with these base labels (n_new, M)."""
        out = np.empty(len(base_labels), dtype=np.int64)
        for rows in row_blocks(len(base_labels), ROWS_PER_BLOCK):
            known = _known(base_labels[rows], self.widths)
            shared = (indicator_matrix(known, n_columns=self.widths, dtype=np.float32) @ self.members.T).toarray()
            in_all = (known >= 0).sum(axis=1)
            same = (shared == in_all[:, None]) & (self.present == in_all[:, None])
            powered = (shared / max(1, len(self.widths))) ** POWER
            voted = (powered @ self.votes).argmax(axis=1)
            out[rows] = np.where(same.any(axis=1), self.labels[same.argmax(axis=1)], voted)
        return out


class ShareVote:
    """Gives a sample the cluster that holds the largest share of those it is together with, on average over partitions.

    It takes nothing but the base labels, so samples with equal ones get one cluster. Small clusters that share all of
    their base clusters with larger ones would be left without samples: those keep the samples that they have, and so do
    new samples with the base labels of one of these. Linear in the number of samples.

    Parameters
    ----------
    base_labels : ndarray of shape (n, M) of int
        Base labels of the training samples, -1 for none.
    labels : ndarray of shape (n,)
        Their clusters, equal where the base labels are.
    n_clusters : int
        Number of clusters.
    """

    def __init__(self, base_labels: Labels, labels: Labels, n_clusters: int) -> None:
        self.widths = base_labels.max(axis=0, initial=-1) + 1
        counts = np.zeros((int(self.widths.sum()), n_clusters))
        for rows in row_blocks(len(labels), ROWS_PER_BLOCK):
            members = indicator_matrix(base_labels[rows], n_columns=self.widths)
            counts += members.T @ np.eye(n_clusters)[labels[rows]]
        self.shares = counts / np.maximum(counts.sum(axis=1), 1)[:, None]
        kept = _without_samples(self._voted(base_labels), labels, n_clusters)
        self.kept, first = np.unique(base_labels[kept], axis=0, return_index=True)
        self.kept_labels = labels[kept][first]

    def __call__(self, base_labels: Labels) -> Labels:
        """Return the clusters of samples with these base labels (n_new, M)."""
        out = self._voted(base_labels)
        if self.kept_labels.size:
            rows = np.ascontiguousarray(base_labels, dtype=self.kept.dtype)
            out[:] = [self._by_row.get(row.tobytes(), label) for row, label in zip(rows, out.tolist(), strict=True)]
        return out

    @cached_property
    def _by_row(self) -> dict[bytes, int]:
        """Labels of the rows that are kept: made once, as new samples come block by block."""
        return {row.tobytes(): label for row, label in zip(self.kept, self.kept_labels.tolist(), strict=True)}

    def __getstate__(self) -> dict[str, Any]:
        """Return what is stored of it in a model folder: not the table, which the arrays say already."""
        return {name: value for name, value in self.__dict__.items() if name != "_by_row"}

    def _voted(self, base_labels: Labels) -> Labels:
        out = np.empty(len(base_labels), dtype=np.int64)
        for rows in row_blocks(len(base_labels), ROWS_PER_BLOCK):
            known = _known(base_labels[rows], self.widths)
            out[rows] = (indicator_matrix(known, n_columns=self.widths) @ self.shares).argmax(axis=1)
        return out


def _without_samples(voted: Labels, labels: Labels, n_clusters: int) -> NDArray[np.bool_]:
    """Tell the samples of clusters that have none after the vote, also once others got theirs back."""
    kept, n_before = np.zeros(labels.size, dtype=bool), -1
    while kept.sum() > n_before:
        n_before = int(kept.sum())
        left = np.bincount(np.where(kept, labels, voted), minlength=n_clusters)
        kept |= left[labels] == 0
    return kept


def _known(base_labels: Labels, widths: NDArray[np.int64]) -> Labels:
    """Return the base labels, -1 for clusters that no training sample is in."""
    return np.where(base_labels < widths, base_labels, -1)
