"""Fits over the blocks of Dask collections: the methods that have one, and what to take in place of the others."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeVar

from sklearn.base import BaseEstimator

from manyviews.cluster.parameters import child_rng, plain_integers
from manyviews.cluster.sample_weight import SampleWeightMixin, why_refused
from manyviews.distributed.door import read_blocks
from manyviews.distributed.fitted import number_labels
from manyviews.distributed.ordered import fit_in_order
from manyviews.distributed.parts import Home

__all__ = ["fit"]

Model = TypeVar("Model", bound=BaseEstimator)
# the modules and functions that fit each method, and what stands in for the methods of each folder that have none
DRIVERS = {
    "ConcatKMeans": "kmeans.fit_concat_kmeans",
    "Consensus": "consensus.fit_consensus",
    "FastMICE": "fastmice.fit_fastmice",
    "KCC": "kcc.fit_kcc",
    "MSPL": "mspl.fit_mspl",
    "OPLFMVC": "op_lfmvc.fit_op_lfmvc",
    "UDBGL": "udbgl.fit_udbgl",
}
INSTEAD = {
    "anchors": "FastMICE",
    "ensemble": "KCC",
    "factorization": "FastMICE",
    "kmeans": "ConcatKMeans",
    "late_fusion": "OPLFMVC",
    "multiple_kernel": "OPLFMVC",
    "spectral": "FastMICE",
}


def fit(estimator: Model, views: Any, client: Any = None, *, sample_weight: Any = None) -> Model:
    """Fit a clustering of samples that are held in blocks, by Dask.

    Parameters
    ----------
    estimator : estimator
        One of the methods below, with the parameters that it has in memory; ``n_jobs`` is not looked at.
    views : Dask array or frame, or sequence or mapping of such
        The views, as ``fit`` of the estimator takes arrays and frames: blocks of rows of all views must agree, or be
        known, so that those of the others can be cut as those of the first. One array or frame is cut by the ``views``
        parameter of the estimator. Blocks hold whole rows; tens of thousands of samples each are a good size.
    client : distributed.Client, default=None
        Whose workers are used. None: the client that was made last, or Dask's own threads where there is none.
    sample_weight : array-like of shape (n,), or Dask array or series, default=None
        How often each sample counts, as ``fit`` in memory takes it: 0 or more, by default once. They are matched by
        position, and cut as the views are.

    Returns
    -------
    estimator
        The same, fitted; what it holds of each sample (``labels_``, ``confidence_``, ``base_labels_``) are Dask arrays,
        held by the workers. All else is as after ``fit`` in memory, and ``predict`` takes samples in memory too.

    Raises
    ------
    TypeError
        If the method has no fit over blocks, or takes no ``sample_weight``, with what to take; or views are not all
        Dask collections.
    ValueError
        As ``fit`` in memory, the block of the rows being named.

    Warns
    -----
    ConvergenceWarning
        As ``fit`` in memory.

    See Also
    --------
    predict : Clusters of new samples over blocks, by any fitted method that has a rule for them.

    Notes
    -----
    Labels are those of a fit in memory with the same seed, but for samples where two clusters are alike within
    rounding: sums are taken block by block, in an order that depends on the blocks alone. So they depend neither on the
    number of workers nor on the loss of any while they work. Views of up to 64 MiB go through the client, which puts
    the samples in the order that a fit in memory works on. Identical samples share a cluster within a block.

    A worker holds its blocks, once more as much as the method's numbers of each sample, and what all share: anchors,
    centres, and the sums. Dask spills to disk what memory cannot hold.

    References
    ----------
    M. Rocklin. Dask: Parallel Computation with Blocked algorithms and Task Scheduling. Proceedings of the 14th Python
    in Science Conference, 2015, 126-132. https://doi.org/10.25080/Majora-7b98e3ed-013

    Examples
    --------
    >>> import dask.array as da
    >>> from manyviews import FastMICE, datasets, distributed
    >>> data = datasets.make_blobs_views(n_samples=400, n_features=(5, 4), n_clusters=3, random_state=0)
    >>> views = [da.from_array(X, chunks=(100, -1)) for X in data.views.arrays]
    >>> model = distributed.fit(FastMICE(n_clusters=3, n_base_clusterings=20, random_state=0), views)
    >>> model.labels_.numblocks, model.labels_.compute().shape
    ((4,), (400,))
    """
    driver = _driver(estimator, weighted=sample_weight is not None)
    estimator._validate_params()
    home = Home(client)
    with plain_integers(estimator):
        blocks = read_blocks(estimator, views, home, sample_weight)
        whole, counted = blocks
        estimator._check_weights()
        estimator._constant = ()
        estimator._note_constant(counted.head, counted.constant)
        raw = fit_in_order(estimator, blocks, child_rng(estimator.random_state), driver)
        estimator._spread()
        number_labels(estimator, whole, raw)
    return estimator


def _driver(estimator: Any, *, weighted: bool) -> Callable[..., Any]:
    from manyviews.cluster.base import MultiViewClusterer

    name = type(estimator).__name__
    if weighted and isinstance(estimator, MultiViewClusterer) and not isinstance(estimator, SampleWeightMixin):
        raise TypeError(why_refused(name, "sample_weight", lambda: ", ".join(filter(_takes_weights, DRIVERS))))
    if name in DRIVERS:
        module, function = DRIVERS[name].split(".")
        found: Callable[..., Any] = getattr(import_module(f"manyviews.distributed.{module}"), function)
        return found
    if not isinstance(estimator, MultiViewClusterer):
        raise TypeError(f"{name} is no method of manyviews; give one of {', '.join(DRIVERS)}")
    family = type(estimator).__module__.split(".")[-2]
    instead = INSTEAD.get(family, "FastMICE")
    raise TypeError(
        f"{name} has no fit over Dask collections: take {instead}, or fit {name} on a sample of the rows and give all "
        f"of them to manyviews.distributed.predict; fits over blocks have {', '.join(DRIVERS)}"
    )


def _takes_weights(name: str) -> bool:
    import manyviews

    return issubclass(getattr(manyviews, name), SampleWeightMixin)
