"""What a fitted method found, as a notebook shows it below scikit-learn's own picture of the estimator."""

from __future__ import annotations

from typing import Any

import numpy as np

from manyviews.views.markup import html_table

__all__ = ["fitted_table"]

MOST_SIZES = 20


def fitted_table(model: Any) -> str:
    """Return the sizes of the clusters and what each view counts as HTML; nothing before the fit.

    Parameters
    ----------
    model : MultiViewClusterer
        Any estimator of this package.

    Returns
    -------
    str
        A table of the views, escaped; "" where the model is not fitted.
    """
    labels = getattr(model, "labels_", None)
    if labels is None:
        return ""
    sizes = np.bincount(labels)
    shown = ", ".join(map(str, sizes[:MOST_SIZES])) + (", …" if sizes.size > MOST_SIZES else "")
    clusters = "1 cluster" if sizes.size == 1 else f"{sizes.size} clusters"
    weights = getattr(model, "view_weights_", None)
    header = ["view", "columns"]
    rows = [[name, width] for name, width in zip(model.view_names_in_, model.n_view_features_in_, strict=True)]
    if weights is not None and len(weights) == len(rows):
        header.append("weight")
        rows = [[*row, f"{weight:.3f}"] for row, weight in zip(rows, weights, strict=True)]
    return html_table(f"{len(labels)} samples in {clusters}: {shown}", header, rows)
