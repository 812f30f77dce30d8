"""OP-LFMVC over blocks, by landmarks."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyviews.cluster.base_partitions import landmark_projections
from manyviews.cluster.late_fusion.fusion import START_ITER, turned_start
from manyviews.cluster.late_fusion.op_lfmvc import consensus_rows, fusion_update, rotated_labels
from manyviews.cluster.result import FitResult
from manyviews.cluster.view_kernels import MEAN_ROWS, ViewRecipe, check_silent
from manyviews.distributed.door import BlockViews
from manyviews.distributed.fitted import as_dask
from manyviews.distributed.grouping import RowSource
from manyviews.distributed.kmeans import kmeans_over_blocks
from manyviews.distributed.parts import Parts
from manyviews.distributed.scalings import block_scalings
from manyviews.kernels.kernel_set import LandmarkKernels, new_rows
from manyviews.kernels.kernels import Kernel, fit_kernel
from manyviews.kernels.nystrom import landmark_sums, landmarks_of
from manyviews.kernels.view_maps import LandmarkMap
from manyviews.linalg.blocks import row_blocks, unit_rows
from manyviews.linalg.scaling import Scaling, apply_scaling
from manyviews.optim.restarts import best_restart
from manyviews.partitions.discretize import direction_confidence
from manyviews.partitions.onehot import cluster_sums
from manyviews.views import Views

__all__ = ["fit_op_lfmvc"]

Array = NDArray[Any]
Labels = NDArray[np.int64]


def fit_op_lfmvc(model: Any, views: BlockViews, rng: np.random.Generator) -> Parts:
    """Fit an ``OPLFMVC`` and return its labels, before they are numbered."""
    n, k = len(views), model.n_clusters
    _check(model, n)
    model.approximation_, partition_rng, start_rng = "nystrom", *rng.spawn(2)
    kernels = _landmark_kernels(model, views, partition_rng)
    partitions, H = landmark_projections(kernels, k, model._weights)
    columns = len(kernels.maps) * k
    stacked = views.parts.map(_partition_rows, shared=(kernels.maps, H[:, :columns]))
    average = views.parts.map(_partition_rows, shared=(kernels.maps, H[:, columns:]))
    source = RowSource(_unit)
    centers = kmeans_over_blocks(average, source, k, start_rng, max_iter=START_ITER).centers
    products = stacked.total(_products, average)
    start = turned_start(centers, products, model._n_starts(n), start_rng)
    model._say(f"fusion from {start.C.shape[0]} start(s)")

    def step(runs: tuple[Array, ...]) -> tuple[tuple[Array, ...], Array]:
        _, W, beta = runs
        return fusion_update(stacked.total(_sums, shared=runs), W, beta, model.update_order)

    R, m = start.C.shape[0], start.W.shape[0]
    runs = (start.C, np.tile(start.W, (R, 1, 1, 1)), np.full((R, m), m**-0.5))
    best = best_restart(step, runs, tol=model.tol, max_iter=model.max_iter)
    model._partitions = partitions._replace(average=None, silent=())
    return _store(model, stacked, best)


def _check(model: Any, n: int) -> None:
    if model.base != "features" or model.init != "aligned" or model.keep_labels:
        raise ValueError(
            "OPLFMVC over blocks takes features, starts aligned and keeps no labels of iterations: leave "
            "base='features', init='aligned' and keep_labels=False, or fit in memory"
        )
    if model._chosen_approximation(n) == "exact":
        raise ValueError(
            f"OPLFMVC over blocks has no n × n kernels, which n_samples={n} would get: say approximation='nystrom', or "
            "fit in memory"
        )
    if model.n_landmarks < min(model.n_clusters, n):
        raise ValueError(
            f"n_landmarks={model.n_landmarks} cannot tell n_clusters={model.n_clusters} apart; give at least "
            f"{model.n_clusters}"
        )


def _landmark_kernels(model: Any, views: BlockViews, rng: np.random.Generator) -> LandmarkKernels:
    """Return the kernels of all views, as ``landmark_kernels`` does, without the arrays."""
    recipes: list[ViewRecipe] = model._recipes(views.head)
    n, names = len(views), views.head.names
    scalings = block_scalings(views, [recipe.scaling for recipe in recipes])
    chosen = []
    for v, (recipe, scaling, child) in enumerate(zip(recipes, scalings, rng.spawn(len(recipes)), strict=True)):
        pick = np.sort(child.choice(n, min(model.n_landmarks, n), replace=False))
        some = np.sort(child.choice(n, min(n, MEAN_ROWS), replace=False))
        sample = views.parts.read(some, _scaled_rows, (v, scaling))
        kernel = fit_kernel(sample, recipe.kernel, gamma=recipe.gamma)
        chosen.append((scaling, kernel, views.parts.read(pick, _scaled_rows, (v, scaling))))
    sums = views.parts.total(_landmark_sums, shared=(chosen,))
    maps = tuple(
        LandmarkMap(scaling, landmarks_of(kernel, points, total / n, unit=recipe.unit))
        for (scaling, kernel, points), total, recipe in zip(chosen, sums, recipes, strict=True)
    )
    gram = views.parts.total(_gram, shared=(maps,))
    kernels = LandmarkKernels(maps, (), gram, ())
    found = views.parts.gather(_silent, shared=(kernels,))
    assert views.parts.sizes is not None
    starts = np.cumsum(views.parts.sizes) - views.parts.sizes
    counts = [int(sum(block[v][0] for block in found)) for v in range(len(maps))]
    firsts = [
        int(min((start + block[v][1] for start, block in zip(starts, found, strict=True) if block[v][0]), default=0))
        for v in range(len(maps))
    ]
    model._note_constant(views.head, check_silent(names, counts, firsts, n, model.n_clusters), " to its kernel")
    return kernels


def _store(model: Any, stacked: Parts, best: Any) -> Parts:
    C, W, beta = best.variables
    model._C, model.rotations_, model._beta = C, W, beta
    k = len(C)
    embedding = stacked.map(consensus_rows, shared=(beta, W))
    confidence = embedding.map(direction_confidence, shared=(C,))
    found = FitResult(
        np.zeros(0, dtype=np.int64),
        best.history,
        np.sqrt(model._weights) * beta,
        as_dask(embedding, np.float64, k),
        as_dask(confidence, np.float64),
    )
    model._record(found)
    return stacked.map(_assigned, shared=(C, W, beta))


def _scaled_rows(views: Views, places: Labels, v: int, scaling: Scaling) -> Array:
    rows: Array = apply_scaling(views.arrays[v][places], scaling)
    return rows


def _landmark_sums(views: Views, chosen: list[tuple[Scaling, Kernel, Array]]) -> list[Array]:
    def one(X: Array, scaling: Scaling, kernel: Kernel, points: Array) -> Array:
        return landmark_sums(kernel, lambda rows: apply_scaling(X[rows], scaling), len(X), points)

    return [one(X, *parts) for X, parts in zip(views.arrays, chosen, strict=True)]


def _gram(views: Views, maps: tuple[LandmarkMap, ...]) -> Array:
    """Return the products of the features of all views, adding up few rows at a time."""
    return LandmarkKernels.of(maps, views.arrays).gram


def _silent(views: Views, kernels: LandmarkKernels) -> list[tuple[int, int]]:
    """Return of how many rows of a block each view says nothing, and the first of them."""
    none = np.zeros((len(views), len(kernels.maps)), dtype=bool)
    for rows in row_blocks(len(views)):
        B = kernels.rows([X[rows] for X in views.arrays])
        none[rows] = np.column_stack([~B[:, part].any(axis=1) for part in kernels.parts])
    return [(int(np.count_nonzero(column)), int(np.argmax(column))) for column in none.T]


def _partition_rows(views: Views, maps: tuple[LandmarkMap, ...], H: Array) -> Array:
    return np.ascontiguousarray(new_rows(maps, views.arrays, H))


def _unit(rows: Array) -> Array:
    return np.asarray(unit_rows(rows))


def _products(stacked: Array, average: Array) -> Array:
    return stacked.T @ average


def _sums(stacked: Array, C: Array, W: Array, beta: Array) -> Array:
    return cluster_sums(rotated_labels(stacked, C, W, beta), stacked, C.shape[1])


def _assigned(stacked: Array, C: Array, W: Array, beta: Array) -> Labels:
    labels: Labels = rotated_labels(stacked, C[None], W[None], beta[None])[0]
    return labels
