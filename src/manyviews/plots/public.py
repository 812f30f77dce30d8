"""Fitted model and views -> figure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from manyviews.findings.heat import feature_scores
from manyviews.findings.maps import consensus_map, neighbor_map, view_map
from manyviews.findings.members import sample_name
from manyviews.findings.result import GroupedResult, read_result
from manyviews.findings.silhouettes import silhouettes_by_view
from manyviews.findings.single_views import MOST_FLOWING, count_flows, view_clusterings
from manyviews.findings.spaces import embedding_of
from manyviews.findings.together import pairs_together, usable_groupings
from manyviews.pages.charts import base_layout, escape, require_plotly, within
from manyviews.pages.wording import plain
from manyviews.plots.flows import flow_trace
from manyviews.plots.heat_maps import draw_co_association, draw_features
from manyviews.plots.maps import map_figure
from manyviews.plots.silhouette_charts import silhouette_traces
from manyviews.plots.weights import draw_weights

__all__ = ["co_association", "contingency", "features", "sample_map", "silhouettes", "view_weights"]

Array = NDArray[Any]


def co_association(model: Any, views: Any, *, max_samples: int = 200, random_state: int = 0) -> Any:
    r"""Draw how often each pair of samples is put together, the samples ordered by cluster.

    .. math:: C_{ij} = \frac{1}{M} \sum_{m=1}^{M} [\pi_m(i) = \pi_m(j)]

    over the M base clusterings of an ensemble (``base_labels_``). For a method without them these are the views, each
    clustered by itself with k-means. Clear clusters are dark squares on the diagonal.

    Parameters
    ----------
    model : estimator
        Fitted; not changed.
    views : Views, sequence, mapping or table
        What the model was fitted on.
    max_samples : int, default=200
        Samples m drawn, at random where there are more; cost O(m² M).
    random_state : int, default=0
        Seed of that choice.

    Returns
    -------
    plotly.graph_objects.Figure
        A heat map, the largest cluster first.

    Raises
    ------
    ImportError
        If plotly is not installed.
    ValueError
        If the model is not fitted on these views, or there are not two clusterings of its samples.

    Examples
    --------
    >>> from manyviews import Consensus, datasets, plots
    >>> data = datasets.make_blobs_views(60, (4, 3), n_clusters=3, random_state=0)
    >>> figure = plots.co_association(Consensus(3, random_state=0).fit(data.views), data.views)
    >>> len(figure.data[0].z)
    60
    """
    grouped, order = _read(model, views, random_state)
    base_labels = usable_groupings(getattr(model, "base_labels_", None), len(grouped.views))
    if base_labels is None:
        base_labels = np.full((len(grouped.views), len(grouped.views.names)), -1)
        for view, (rows, labels) in view_clusterings(grouped, order, random_state).items():
            base_labels[rows, view] = labels
    found = pairs_together(base_labels, grouped.positions, order, max_samples=max_samples)
    if found is None:
        raise ValueError(
            "co-association needs two clusterings of the same samples or more; give a model of several views, or one "
            "with base_labels_"
        )
    return draw_co_association(found, grouped.names)


def silhouettes(model: Any, views: Any, *, max_samples: int = 300, random_state: int = 0) -> Any:
    r"""Draw the silhouettes of the samples: in all views together, and in each.

    For a sample with mean distance a to its own cluster and b to the nearest other one it is
    :math:`(b - a) / \max(a, b)`: 1 deep inside, 0 on the border, negative nearer to another cluster. A view in which
    the shapes are small does not show the clusters by itself.

    Parameters
    ----------
    model : estimator
        Fitted; not changed.
    views : Views, sequence, mapping or table
        What the model was fitted on.
    max_samples : int, default=300
        Samples m drawn, at random where there are more; cost O(m²) per view.
    random_state : int, default=0
        Seed of that choice.

    Returns
    -------
    plotly.graph_objects.Figure
        One chart per space, three in a row.

    Raises
    ------
    ImportError
        If plotly is not installed.
    ValueError
        If the model is not fitted on these views, or has a single cluster.

    References
    ----------
    Rousseeuw, Silhouettes: a graphical aid to the interpretation and validation of cluster analysis, Journal of
    Computational and Applied Mathematics 20, 1987, doi:10.1016/0377-0427(87)90125-7.

    Examples
    --------
    >>> from manyviews import ConcatKMeans, datasets, plots
    >>> data = datasets.make_blobs_views(60, (4, 3), n_clusters=3, random_state=0)
    >>> figure = plots.silhouettes(ConcatKMeans(3, random_state=0).fit(data.views), data.views)
    >>> [note.text[:8] for note in figure.layout.annotations]
    ['All view', 'view_0 (', 'view_1 (']
    """
    go = require_plotly()
    grouped, order = _read(model, views, random_state)
    found = silhouettes_by_view(grouped, order, max_samples=max_samples, random_state=random_state)
    if not found:
        raise ValueError("silhouettes need two clusters or more, and fewer clusters than samples")
    titles = [f"{each['name']} (mean {each['mean']:.2f})" for each in found]
    figure, places = _grid(titles, height=300)
    for each, (row, column) in zip(found, places, strict=True):
        traces, ticks = silhouette_traces(go, each, grouped.names)
        figure.add_traces(traces, rows=[row] * len(traces), cols=[column] * len(traces))
        figure.update_xaxes(**within(-1, 1), row=row, col=column)
        figure.update_yaxes(**ticks, autorange="reversed", showgrid=False, zeroline=False, row=row, col=column)
    return figure


def features(model: Any, views: Any, *, max_features: int = 48, max_samples: int = 200, random_state: int = 0) -> Any:
    r"""Draw the columns that tell clusters apart as z-scores, by view, the samples ordered by cluster.

    Columns are taken by the effect size of each cluster against all others, of each cluster in turn, the same number of
    every view. :math:`z = (x - \bar x) / s` over all samples that were observed.

    Parameters
    ----------
    model : estimator
        Fitted; not changed.
    views : Views, sequence, mapping or table
        What the model was fitted on.
    max_features : int, default=48
        Columns drawn, at least one of each view.
    max_samples : int, default=200
        Samples drawn, at random where there are more.
    random_state : int, default=0
        Seed of that choice.

    Returns
    -------
    plotly.graph_objects.Figure
        A heat map of features (rows) and samples (columns).

    Raises
    ------
    ImportError
        If plotly is not installed.
    ValueError
        If the model is not fitted on these views, or no column tells its clusters apart.

    Examples
    --------
    >>> from manyviews import ConcatKMeans, datasets, plots
    >>> data = datasets.make_blobs_views(60, (4, 3), n_clusters=3, random_state=0)
    >>> figure = plots.features(ConcatKMeans(3, random_state=0).fit(data.views), data.views)
    >>> len(figure.data[0].z)
    7
    """
    grouped, order = _read(model, views, random_state)
    found = feature_scores(grouped, order, max_features=max_features, max_samples=max_samples)
    if found is None:
        raise ValueError("no column tells the clusters apart; a heat map needs two clusters that differ somewhere")
    return draw_features(found, grouped.names)


def contingency(model: Any, views: Any, *, view: str | None = None, random_state: int = 0) -> Any:
    """Draw where the clusters of each view by itself go in the result, as Sankey diagrams.

    Each view is clustered by k-means into as many clusters, as in the report. Straight bands are samples that the view
    alone puts where the result does.

    Parameters
    ----------
    model : estimator
        Fitted; not changed.
    views : Views, sequence, mapping or table
        What the model was fitted on.
    view : str, default=None
        Only this view; all by default.
    random_state : int, default=0
        Seed of k-means, and of the choice of 2000 samples where there are more.

    Returns
    -------
    plotly.graph_objects.Figure
        One diagram per view, three in a row.

    Raises
    ------
    ImportError
        If plotly is not installed.
    ValueError
        If the model is not fitted on these views, has one cluster or more than 30, or there is no such view.

    Examples
    --------
    >>> from manyviews import ConcatKMeans, datasets, plots
    >>> data = datasets.make_blobs_views(60, (4, 3), n_clusters=3, random_state=0)
    >>> figure = plots.contingency(ConcatKMeans(3, random_state=0).fit(data.views), data.views)
    >>> [trace.type for trace in figure.data]
    ['sankey', 'sankey']
    """
    go = require_plotly()
    grouped, order = _read(model, views, random_state)
    if not 2 <= grouped.n_clusters <= MOST_FLOWING:
        raise ValueError(f"contingency is drawn of 2 to {MOST_FLOWING} clusters, got {grouped.n_clusters}")
    if view is not None:
        grouped.views.view(view)  # says which views there are
    chosen = {
        position: flows
        for position, flows in _flows(grouped, order, random_state).items()
        if view in (None, grouped.views.names[position])
    }
    if not chosen:
        raise ValueError("contingency needs a view with twice as many samples as there are clusters")
    titles = [plain(grouped.views.names[position], 60) for position in chosen]
    figure, places = _grid(titles, height=340, kind="domain")
    for flows, title, (row, column) in zip(chosen.values(), titles, places, strict=True):
        figure.add_trace(flow_trace(go, flows, grouped.names, title), row=row, col=column)
    return figure


def sample_map(
    model: Any,
    views: Any,
    *,
    view: str | None = None,
    method: Literal["pca", "tsne", "umap"] = "pca",
    max_samples: int = 2000,
    random_state: int = 0,
) -> Any:
    """Draw the samples in two dimensions, coloured by cluster.

    Parameters
    ----------
    model : estimator
        Fitted; not changed. Its embedding is drawn where it has one, else all views side by side.
    views : Views, sequence, mapping or table
        What the model was fitted on.
    view : str, default=None
        Draw this view by itself; all views together by default.
    method : {"pca", "tsne", "umap"}, default="pca"
        "pca": principal components; distances can be read. "tsne" and "umap" keep nearest neighbours together and show
        groups that two components cannot; how far they lie apart says little. "umap" needs umap-learn.
    max_samples : int, default=2000
        Samples drawn, at random where there are more. t-SNE takes about 10 s for 1000 on one core.
    random_state : int, default=0
        Seed of that choice and of the solvers.

    Returns
    -------
    plotly.graph_objects.Figure
        One trace per cluster; each cluster's name stands on one of its points.

    Raises
    ------
    ImportError
        If plotly, or for "umap" umap-learn, is not installed.
    ValueError
        If the model is not fitted on these views, or there is no such view or method.

    Examples
    --------
    >>> from manyviews import ConcatKMeans, datasets, plots
    >>> data = datasets.make_blobs_views(60, (4, 3), n_clusters=3, random_state=0)
    >>> figure = plots.sample_map(ConcatKMeans(3, random_state=0).fit(data.views), data.views)
    >>> [trace.name for trace in figure.data]
    ['cluster C0', 'cluster C1', 'cluster C2']
    """
    if method not in ("pca", "tsne", "umap"):
        raise ValueError(f"method must be 'pca', 'tsne' or 'umap', got {method!r}")
    grouped, order = _read(model, views, random_state)
    embedding = embedding_of(model, len(grouped.views))
    if view is not None:
        position = grouped.views.names.index(view) if view in grouped.views.names else -1
        part = grouped.views.select([view])
        grouped = grouped._replace(views=part, scalings=[grouped.scalings[position]])
        order, embedding = order[part.observed[order, 0]], None
    flat: dict[str, Any] | None
    if method != "pca":
        flat = neighbor_map(grouped, embedding, order, kind=method, limit=max_samples, random_state=random_state)
        if flat is None:
            raise ValueError(f"method={method!r} needs 8 samples or more that are not all the same; take 'pca'")
    elif view is not None:
        flat = view_map(grouped.views, 0, grouped.scalings[0], order, max_samples, random_state)
    else:
        flat = consensus_map(grouped.views, embedding, grouped.scalings, order, max_samples, random_state)
    rows = flat["rows"]
    drawn = flat | {"points": list(range(len(rows))), "kind": "consensus" if method == "pca" else "neighbors"}
    summary = {
        "maps": [drawn],
        "clusters": [{"name": name} for name in grouped.names],
        "points": {
            "sample": [sample_name(grouped.views, row) for row in rows],
            "cluster": grouped.positions[rows].tolist(),
            "class": None,
        },
    }
    return map_figure(summary, 0).update_layout(height=520)


def view_weights(model: Any) -> Any:
    """Draw what each view counts in a result, with a line where all would count the same.

    Parameters
    ----------
    model : estimator
        Fitted, with ``view_weights_``.

    Returns
    -------
    plotly.graph_objects.Figure
        Bars, the largest on top.

    Raises
    ------
    ImportError
        If plotly is not installed.
    ValueError
        If the model has no weights of the views.

    Examples
    --------
    >>> from manyviews import RMKMC, datasets, plots
    >>> data = datasets.make_blobs_views(60, (4, 3), n_clusters=3, random_state=0)
    >>> figure = plots.view_weights(RMKMC(3, random_state=0).fit(data.views))
    >>> len(figure.data[0].x)
    2
    """
    weights = getattr(model, "view_weights_", None)
    if weights is None:
        raise ValueError(
            f"{type(model).__name__} has no view_weights_: it is not fitted, or weights no view as a whole"
        )
    names = getattr(model, "view_names_in_", [f"view_{i}" for i in range(len(weights))])
    return draw_weights(
        [{"view": plain(name, 120), "weight": float(weight)} for name, weight in zip(names, weights, strict=True)]
    )


COLUMNS = 3


def _read(model: Any, views: Any, random_state: int) -> tuple[GroupedResult, Array]:
    grouped = read_result(model, views)
    return grouped, np.random.default_rng(random_state).permutation(len(grouped.views))


def _flows(grouped: GroupedResult, order: Array, random_state: int) -> dict[int, list[list[int]]]:
    k = grouped.n_clusters
    found = view_clusterings(grouped, order, random_state).items()
    return {view: count_flows(labels, grouped.positions[rows], k) for view, (rows, labels) in found}


def _grid(titles: Sequence[str], *, height: int, kind: str = "xy") -> tuple[Any, list[tuple[int, int]]]:
    """Return an empty figure of charts, three in a row, and their places."""
    from plotly.subplots import make_subplots

    columns = min(COLUMNS, len(titles))
    rows = -(-len(titles) // columns)
    figure = make_subplots(
        rows,
        columns,
        subplot_titles=[escape(plain(title, 60)) for title in titles],
        specs=[[{"type": kind}] * columns] * rows,
        vertical_spacing=0.3 / rows if rows > 1 else 0.0,
    )
    figure.update_layout(base_layout() | {"height": height * rows, "margin": {"l": 36, "r": 12, "t": 40, "b": 36}})
    return figure, [(n // columns + 1, n % columns + 1) for n in range(len(titles))]
