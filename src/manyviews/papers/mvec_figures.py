"""Figures 1 and 2 of the MVEC paper: the residual, both weights, the number of partitions, and missing ones."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyviews.cluster.registry import find_method
from manyviews.datasets import Dataset
from manyviews.metrics import nmi_score
from manyviews.papers.figure_parts import (
    FigureTask,
    Line,
    PlannedFigure,
    Score,
    box_figure,
    chart_layout,
    heat_figure,
    line_trace,
    mark_trace,
)
from manyviews.papers.material import Material, material_name
from manyviews.papers.setup import Setup
from manyviews.runs.outcomes import Run

__all__ = ["CorruptedMaterial", "mvec_figures"]

Chart = dict[str, Any]
OWN, DEFAULT = "MVEC", "default"
NMI = Score("nmi", "NMI", 100.0)
WEIGHTS, ALL_WEIGHTS = (1e-4, 1e-3, 0.01, 0.1, 1.0), (1e-4, 5e-4, 1e-3, 5e-3, 0.01, 0.05, 0.1, 0.5, 1.0)
SIZES, ALL_SIZES = (10, 30, 50, 70, 90), tuple(range(10, 91, 10))
RATIOS, ALL_RATIOS = (0.1, 0.3, 0.5), (0.1, 0.2, 0.3, 0.4, 0.5)
DRAWS, ALL_DRAWS = 5, 100
# of larger sets a fit takes minutes, and a map needs dozens of them
FEW_SAMPLES = 1_000
N_PARTITIONS = 100
MARK = "~"


class CorruptedMaterial(Mapping[str, Dataset]):
    """Data sets of a paper, and the same with a part of two views missing, made when asked for.

    Parameters
    ----------
    material : Material
        The data sets.

    Notes
    -----
    ``NAME~features~A~B~SEED`` is the set NAME without the shares A and B of the columns of its first two views;
    ``NAME~labels~A~B~SEED`` holds 100 partitions of each view, of which the same shares of the labels are missing.
    """

    def __init__(self, material: Material) -> None:
        self._material = material
        self._labels = cache(self._partitions)

    def __getitem__(self, name: str) -> Dataset:
        base, *how = name.split(MARK)
        data = self._material[base]
        if not how:
            return data
        kind, *shares, seed = how
        rng = np.random.default_rng([int(seed), *(round(100 * float(share)) for share in shares)])
        views = {}
        for v, (view, X) in enumerate(data.views.items()):
            share = float(shares[v]) if v < len(shares) else 0.0
            if kind == "features":
                kept = np.sort(rng.choice(X.shape[1], max(1, round((1 - share) * X.shape[1])), replace=False))
                views[view] = X[:, kept]
            else:
                labels = self._labels(base, int(seed))[:, v * N_PARTITIONS : (v + 1) * N_PARTITIONS].astype(float)
                labels[rng.random(labels.shape) < share] = -1
                views[view] = labels
        return replace(data, name=name, views=type(data.views)(views))

    def _partitions(self, base: str, seed: int) -> NDArray[np.int64]:
        data = self._material[base]
        maker = find_method("sec").load()(len(data.class_names), metric="cosine", scaling=None, random_state=seed)
        labels: NDArray[np.int64] = _quietly(maker.set_params(n_base_clusterings=N_PARTITIONS), data).base_labels_
        return labels

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name.split(MARK)[0] in self._material

    def __iter__(self) -> Iterator[str]:
        return iter(self._material)

    def __len__(self) -> int:
        return len(self._material)


def mvec_figures(task: FigureTask) -> Iterator[PlannedFigure]:
    """Yield the figures of each data set; of larger ones the residual alone, unless all is asked for."""
    own = task.setup(OWN)
    if own is None:
        return
    usual = next((setup for setup in task.setups if setup.row == OWN and setup.variant == DEFAULT), own)
    for i, dataset in enumerate(task.material):
        yield from _residuals(task, {"as printed": own, DEFAULT: usual}, i, dataset)
        if task.full or task.material.n_samples(dataset) <= FEW_SAMPLES:
            yield _weights(task, usual, i, dataset)
            yield _sizes(task, usual, i, dataset)
            if len(task.material.view_names(dataset)) > 1:
                yield from _missing(task, usual, i, dataset)


def _residuals(task: FigureTask, setups: Mapping[str, Setup], i: int, dataset: str) -> Iterator[PlannedFigure]:
    data = material_name(dataset, setups[DEFAULT].given, None)

    @cache
    def fitted(name: str) -> tuple[Any, Any]:
        found, setup = task.material[data], setups[name]
        # the printed stop waits for other residuals than the one that the figure shows
        parameters = {**setup.parameters, "stop": "views", "keep_labels": True}
        model = find_method(setup.method).load()(len(found.class_names), random_state=task.seeds[0], **parameters)
        return _quietly(model, found).history_, found.labels

    def residual(_: Any) -> Chart:
        lines = {name: fitted(name)[0].residual for name in setups}
        traces = [line_trace(name, _steps(values), j) for j, (name, values) in enumerate(lines.items())]
        layout = chart_layout("iteration", "residual")
        layout["yaxis"] |= {"type": "log", "dtick": 1, "exponentformat": "power"}
        return {"data": traces, "layout": layout}

    def scores(_: Any) -> Chart:
        traces = []
        for j, name in enumerate(setups):
            history, classes = fitted(name)
            values = [NMI.factor * nmi_score(classes, labels) for labels in history.labels]
            traces.append(line_trace(name, _steps(values), j))
        last = max(len(trace["x"]) for trace in traces)
        traces += [mark_trace(mark) for mark in task.mark(OWN, dataset, "nmi", last, "Table 2")]
        return {"data": traces, "layout": chart_layout("iteration", NMI.shown_as, ends=NMI.ends)}

    for key, what, draw in (("residual", "residual", residual), ("nmi", "NMI", scores)):
        yield PlannedFigure(
            f"figure-1a-{key}-{i}",
            f"Figure 1 (a), {what} over the iterations, {dataset}",
            "One run with the settings that are printed, and one with the default ones. The paper: converged within 60 "
            "iterations.",
            draw,
        )


def _steps(values: Any) -> dict[int, list[float]]:
    return {step: [float(value)] for step, value in enumerate(values, 1)}


def _weights(task: FigureTask, setup: Setup, i: int, dataset: str) -> PlannedFigure:
    values = ALL_WEIGHTS if task.full else WEIGHTS
    cells = {
        (noise, nuclear): _fits(task, setup, dataset, {"nuclear_weight": nuclear, "noise_weight": noise})
        for noise in values
        for nuclear in values
    }
    return heat_figure(
        f"figure-1b-{i}",
        f"Figure 1 (b), both weights, {dataset}",
        "Mean NMI over λ₁, of the nuclear norm, and λ₂, of the errors, with the default settings otherwise. The paper: "
        "quite insensitive; 1 and 0.01 in all tables.",
        cells,
        ("λ₂", "λ₁"),
        NMI,
    )


def _sizes(task: FigureTask, setup: Setup, i: int, dataset: str) -> PlannedFigure:
    seeds = range(ALL_DRAWS if task.full else max(DRAWS, len(task.seeds)))
    sizes = ALL_SIZES if task.full else SIZES
    fits = {r: _fits(task, setup, dataset, {"n_base_clusterings": r}, seeds) for r in sizes}
    return box_figure(
        f"figure-1c-{i}",
        f"Figure 1 (c), number of partitions, {dataset}",
        f"NMI over the number r of partitions of each view, {len(seeds)} draws each; the paper has 100, and a printed "
        "table for r = 100.",
        [Line("NMI", fits)],
        "r",
        NMI,
        marks=task.mark(OWN, dataset, "nmi", 100, "Table 2, r = 100"),
    )


def _missing(task: FigureTask, setup: Setup, i: int, dataset: str) -> Iterator[PlannedFigure]:
    ratios = ALL_RATIOS if task.full else RATIOS
    first, second = task.material.view_names(dataset)[:2]
    data, k = material_name(dataset, setup.given, None), task.material.n_clusters(dataset)
    kinds = (
        ("a", "labels", "missing labels in the partitions", {"base": "labels"}),
        ("b", "features", "missing features", setup.parameters),
    )
    for letter, kind, what, parameters in kinds:
        cells = {
            (a, b): tuple(
                Run(setup.method, MARK.join((data, kind, f"{a:g}", f"{b:g}", str(seed))), seed, dict(parameters), k)
                for seed in task.seeds
            )
            for a in ratios
            for b in ratios
        }
        yield heat_figure(
            f"figure-2{letter}-{i}",
            f"Figure 2 ({letter}), {what}, {dataset}",
            f"Mean NMI over the share of {kind} that is missing in the views {first} and {second}.",
            cells,
            (f"missing in {first}", f"missing in {second}"),
            NMI,
        )


def _fits(task: FigureTask, setup: Setup, dataset: str, changed: dict[str, Any], seeds: Any = None) -> tuple[Run, ...]:
    return task.fits(setup.method, dataset, {**setup.parameters, **changed}, given=setup.given, seeds=seeds)


def _quietly(model: Any, data: Dataset) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(data.views)
