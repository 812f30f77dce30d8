"""Figures 1 to 3 of the MSPL paper: weights over losses, the order of selection, and scores over the sweeps."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyviews.cluster.registry import find_method
from manyviews.datasets import Dataset, make_blobs_views
from manyviews.metrics import evaluate
from manyviews.optim.self_paced import paced_weights
from manyviews.papers.figure_parts import FigureTask, PlannedFigure, chart_layout, line_trace, mark_trace
from manyviews.papers.material import material_name
from manyviews.papers.setup import Setup
from manyviews.views import Views

__all__ = ["mspl_figures", "noisy_toy", "toy"]

Chart = dict[str, Any]
Fitted = Callable[[], tuple[Dataset, NDArray[np.int64]]]
OWN = "MSPL"
METRICS = {"nmi": "NMI", "acc": "ACC", "purity": "Purity"}
KINDS = {"hard": "MSPL-hard", "smooth": "MSPL-smooth", "none": "MSPL-naive"}
# λ of the curves in Figure 1
LAMBDAS = (1.0, 0.5, 0.2, 0.125)
# each of the first three clusters is easy in one view, the last alike in all; the paper gives no numbers
EASY, HARD, EVEN = 0.08, 0.3, 0.15
TOY_SEED = 0
# starts behind each curve of Figure 3, which are cheap
STARTS = 5


def toy() -> Dataset:
    """Return the data of Figure 2: 400 samples, 3 views, 4 clusters, each of the first three easy in one view."""
    noise = [[EASY if v == cluster else HARD for cluster in range(3)] + [EVEN] for v in range(3)]
    return make_blobs_views(400, (2, 2, 2), 4, view_noise=noise, random_state=TOY_SEED)


def noisy_toy() -> Dataset:
    """Return the data of Figure 3: the toy with Gaussian noise on 80 % of the entries, uniform noise on the rest."""
    data, rng = toy(), np.random.default_rng(TOY_SEED)
    arrays = {}
    for name, X in data.views.items():
        gaussian = rng.random(X.shape) < 0.8
        arrays[name] = X + np.where(gaussian, rng.normal(0, 0.1, X.shape), rng.uniform(-1, 1, X.shape))
    return Dataset("toy", Views(arrays), data.labels, data.class_names, data.source, data.licence)


def mspl_figures(task: FigureTask) -> Iterator[PlannedFigure]:
    """Yield the figures on the toy data of the paper, and scores over the sweeps on each data set."""
    own = task.setup(OWN)
    if own is None:
        return
    yield PlannedFigure(
        "figure-1",
        "Figure 1, weights",
        "Weight of a sample over its loss, smooth (eq. 8) and hard (eq. 5, broken lines), as printed.",
        _regularisers,
    )
    yield from _orders(own)
    yield from _sweeps(task, own, "figure-3-toy", "noisy toy data", noisy_toy, None)
    for i, name in enumerate(task.material):
        data = material_name(name, own.given, None)
        yield from _sweeps(task, own, f"figure-3-{i}", name, partial(task.material.__getitem__, data), name)


def _regularisers(_: Any) -> Chart:
    losses, traces = np.linspace(0, 14, 141), []
    for kind in ("smooth", "hard"):
        for i, rate in enumerate(LAMBDAS):
            weights = paced_weights(losses, 1 / rate, kind)
            held = {float(loss): [float(weight)] for loss, weight in zip(losses, weights, strict=True)}
            trace = line_trace(f"{kind}, λ = {rate:g}", held, i) | {"mode": "lines"}
            traces.append(trace | {"line": {"width": 1.5, "dash": "dash" if kind == "hard" else "solid"}})
    return {"data": traces, "layout": chart_layout("loss", "weight", ends=(0.0, 1.0))}


def _orders(own: Setup) -> Iterator[PlannedFigure]:
    """Yield the three views of the toy data, coloured by when each sample came in, and which view came first."""

    @cache
    def fitted() -> tuple[Dataset, NDArray[np.int64]]:
        data = toy()
        model = _model(own, data, "smooth", 0, n_init=10)
        return data, model.selection_order_

    for v in range(3):
        yield PlannedFigure(
            f"figure-2-{v}",
            f"Figure 2 ({'abc'[v]}), view {v + 1} of the toy data",
            "Each sample by the sweep in which it came in, dark first; the samples next to the centres come first, and "
            "those of the cluster that is easy in this view before the others.",
            partial(_cloud, fitted, v),
        )
    yield PlannedFigure(
        "figure-2-views",
        "Figure 2 (d), order of the views",
        "Mean sweep in which the samples of a cluster came in, by view. Clusters 1 to 3 are easy in views 1 to 3, "
        "cluster 4 alike in all.",
        partial(_order_of_views, fitted),
    )


def _cloud(fitted: Fitted, v: int, _: Any) -> Chart:
    data, order = fitted()
    X = data.views.arrays[v]
    assert data.labels is not None
    trace = {
        "type": "scatter",
        "mode": "markers",
        "name": f"view {v + 1}",
        "x": X[:, 0].tolist(),
        "y": X[:, 1].tolist(),
        "marker": {
            "size": 7,
            "color": order[v].tolist(),
            "colorscale": "Viridis",
            "colorbar": {"title": {"text": "sweep"}, "outlinewidth": 0},
        },
        "hovertext": [f"cluster {c + 1}, sweep {s}" for c, s in zip(data.labels, order[v], strict=True)],
        "hoverinfo": "text",
        "meta": {"role": "accent"},
    }
    layout = chart_layout("", "") | {"showlegend": False, "height": 380}
    layout["yaxis"] |= {"scaleanchor": "x"}
    layout["xaxis"] |= {"constrain": "domain"}
    return {"data": [trace], "layout": layout}


def _order_of_views(fitted: Fitted, _: Any) -> Chart:
    (data, order), traces = fitted(), []
    for v in range(len(order)):
        means = {f"cluster {c + 1}": order[v, data.labels == c].tolist() for c in range(len(data.class_names))}
        trace = line_trace(f"view {v + 1}", means, v)
        del trace["error_y"]
        traces.append(trace)
    return {"data": traces, "layout": chart_layout("", "mean sweep")}


def _sweeps(
    task: FigureTask, own: Setup, key: str, title: str, load: Callable[[], Dataset], dataset: str | None
) -> Iterator[PlannedFigure]:
    """Yield one figure per score."""

    @cache
    def scores(kind: str) -> list[list[dict[str, float]]]:
        data = load()
        return [_scores(data, _model(own, data, kind, seed)) for seed in range(max(STARTS, len(task.seeds)))]

    def draw(metric: str, _: Any) -> Chart:
        lines = {name: [[each[metric] for each in run] for run in scores(kind)] for kind, name in KINDS.items()}
        longest = max(len(run) for runs in lines.values() for run in runs)
        traces = []
        for i, (name, runs) in enumerate(lines.items()):
            means = dict(enumerate(([value] for value in _means(runs, longest)), 1))
            traces.append(line_trace(name, means, i) | {"mode": "lines", "line": {"width": 2}})
        if dataset is not None:
            traces += [mark_trace(mark) for mark in task.mark(OWN, dataset, metric, longest, "Table 1")]
        return {"data": traces, "layout": chart_layout("sweep", METRICS[metric], ends=(0.0, 1.0))}

    for metric, shown in METRICS.items():
        yield PlannedFigure(
            f"{key}-{metric}",
            f"Figure 3, {shown} over the sweeps, {title}",
            "Hard, smooth and no self-pacing from the same random starts: mean over them, each held at its end. The "
            "text gives no values of the figure" + ("." if dataset is None else "; the diamond is the printed table."),
            partial(draw, metric),
        )


def _model(own: Setup, data: Dataset, kind: str, seed: int, **changed: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        method, parameters = find_method(own.method).load(), {**own.parameters, "pacing": kind, **changed}
        return method(len(data.class_names), keep_labels=True, random_state=seed, **parameters).fit(data.views)


def _scores(data: Dataset, model: Any) -> list[dict[str, float]]:
    return [evaluate(data.labels, labels) for labels in model.history_.labels]


def _means(runs: Sequence[Sequence[float]], longest: int) -> list[float]:
    held = [[*run, *[run[-1]] * (longest - len(run))] for run in runs]
    return [float(value) for value in np.mean(held, axis=0)]
