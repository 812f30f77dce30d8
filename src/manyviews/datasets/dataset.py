"""What every loader and maker returns: views, and what is known about them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from manyviews.views import Views
from manyviews.views.markup import html_table

__all__ = ["Dataset"]

MOST_CLASSES = 20


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Hold a multi-view data set.

    Parameters
    ----------
    name : str
        Short name.
    views : Views
        The samples as seen through each feature set.
    labels : ndarray of shape (n,) of int64 or None
        Classes 0 .. k-1, for scoring only; None where they are not known.
    class_names : tuple of str
        Names of the classes 0 .. k-1; empty without labels.
    source : str
        Who publishes the data, or the file they were read from.
    licence : str
        Licence of the data.
    """

    name: str
    views: Views
    labels: NDArray[np.int64] | None
    class_names: tuple[str, ...]
    source: str
    licence: str

    def __repr__(self) -> str:
        classes = "no labels" if self.labels is None else f"{len(self.class_names)} classes"
        return f"Dataset({self.name!r}: {len(self.views)} samples, {len(self.views.names)} views, {classes})"

    def _repr_html_(self) -> str:
        sizes = [] if self.labels is None else np.bincount(self.labels, minlength=len(self.class_names)).tolist()
        named = [f"{name} ({size})" for name, size in zip(self.class_names, sizes, strict=False)]
        more = ", …" if len(named) > MOST_CLASSES else ""
        rows = [
            ("samples", len(self.views)),
            ("views", ", ".join(f"{name} ({array.shape[1]})" for name, array in self.views.items())),
            ("classes", ", ".join(named[:MOST_CLASSES]) + more or "no labels"),
            ("source", self.source),
            ("licence", self.licence),
        ]
        return html_table(f"Data set {self.name}", ("", ""), rows)
