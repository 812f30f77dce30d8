"""Clusters of new samples in blocks, by any fitted method."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from manyviews.distributed.parts import Home
from manyviews.distributed.row_blocks import given_form, is_dask, named_block, row_blocks_of
from manyviews.views import Views

__all__ = ["described", "predict", "without_samples"]

# what a fitted model holds of the training samples alone, which no rule for new ones reads
OF_SAMPLES = ("labels_", "confidence_", "base_labels_", "embedding_", "sample_weights_", "graph_", "indicator_")


def predict(estimator: Any, views: Any, client: Any = None) -> Any:
    """Return the clusters of new samples that are held in blocks, by Dask.

    Parameters
    ----------
    estimator : estimator
        A fitted method of this package with a rule for new samples, fitted in memory or over blocks.
    views : Dask array or frame, or sequence or mapping of such
        The same views of new samples, as ``fit`` takes them.
    client : distributed.Client, default=None
        Whose workers are used. None: the client that was made last, or Dask's own threads where there is none.

    Returns
    -------
    dask.array.Array of shape (n_new,), int64
        Labels, numbered as ``labels_``; a block is labelled when it is asked for, and its length is known then.

    Raises
    ------
    TypeError
        If the method has no rule for new samples.
    ValueError
        If views are missing, unknown or of another width, once the labels are computed.

    See Also
    --------
    fit : Fits over blocks.

    Notes
    -----
    The model is sent to each worker once, without what it holds of the training samples. Labels are those that
    ``predict`` of the model gives to the same samples in memory.

    Examples
    --------
    >>> import dask.array as da
    >>> from manyviews import ConcatKMeans, datasets, distributed
    >>> data = datasets.make_blobs_views(n_samples=400, n_features=(5, 4), n_clusters=3, random_state=0)
    >>> model = ConcatKMeans(n_clusters=3, random_state=0).fit(data.views)
    >>> views = [da.from_array(X, chunks=(100, -1)) for X in data.views.arrays]
    >>> labels = distributed.predict(model, views).compute()
    >>> bool((labels == model.labels_).all())
    True
    """
    import dask.array as da
    from dask import delayed

    check_is_fitted(estimator)
    if not hasattr(estimator, "predict"):
        raise TypeError(
            f"{type(estimator).__name__} gives no labels to new samples; manyviews methods lists the methods that do"
        )
    home = Home(client)
    found = row_blocks_of(views)
    rule, label = home.share(without_samples(estimator)), delayed(_labels, pure=False)
    pieces = [
        da.from_delayed(label(rule, i, found.names, *parts), (length,), np.int64)
        for i, (parts, length) in enumerate(zip(found.blocks, found.lengths, strict=True))
    ]
    return da.concatenate(pieces, allow_unknown_chunksizes=True)


def described(estimator: Any) -> Views:
    """Return one row of zeros with the names that the views of a fitted model have, and their columns."""
    import pandas as pd

    fitted = estimator._fitted_views
    rows = (np.zeros((1, width)) for width in fitted.widths)
    columns = zip(fitted.names, rows, fitted.columns, strict=True)
    return Views({name: row if own is None else pd.DataFrame(row, columns=list(own)) for name, row, own in columns})


def without_samples(estimator: Any) -> Any:
    """Return a model without what it holds of the training samples alone."""
    rule = copy.copy(estimator)
    for name in OF_SAMPLES:
        held = rule.__dict__.pop(name, None)
        if held is not None:  # some rules look at its type and width
            setattr(rule, name, np.empty((0, *held.shape[1:]), held.dtype) if is_dask(held) else held[:0])
    return rule


def _labels(rule: tuple[Any], i: int, names: tuple[str, ...] | None, *parts: Any) -> NDArray[np.int64]:
    if len(parts[0]) == 0:
        return np.zeros(0, dtype=np.int64)
    with named_block(i):
        labels: NDArray[np.int64] = rule[0].predict(given_form(names, parts))
    return labels
