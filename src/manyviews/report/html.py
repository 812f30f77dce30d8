"""Summary dict -> one self-contained page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

from manyviews.pages.charts import chart_data
from manyviews.pages.choice_figure import choice_figure
from manyviews.pages.environment import render
from manyviews.pages.split_figure import split_figure
from manyviews.plots.flows import draw_flows
from manyviews.plots.heat_maps import draw_co_association, draw_features
from manyviews.plots.maps import hover_texts, map_figure
from manyviews.plots.silhouette_charts import draw_silhouettes
from manyviews.plots.survival import draw_survival
from manyviews.plots.weights import draw_weights
from manyviews.report.figures import convergence_figure
from manyviews.report.packing import pack_samples
from manyviews.report.summary import REFIT_SECONDS, summarize

__all__ = ["render_report", "render_summary", "write_report"]

# Larger pages are slow to open and cannot be sent by mail.
MAX_BYTES = 7_950_000
ROOM = "manyviews.report"
# Views whose own clusters are followed to the result.
MAX_FLOWS = 9


def render_report(
    model: Any,
    views: Any,
    *,
    title: str | None = None,
    run: Mapping[str, Any] | None = None,
    truth: Iterable[Any] | None = None,
    outcome: Any = None,
    covariates: Any = None,
    batch: Any = None,
    refit_seconds: float = REFIT_SECONDS,
    random_state: int = 0,
) -> str:
    """Return the report of a fitted model as one HTML page that needs nothing else, no network either.

    Parameters
    ----------
    model : estimator
        Fitted; ``labels_`` is needed, the other attributes are used where they are.
    views : Views, sequence, mapping or table
        What the model was fitted on.
    title : str, default=None
        Title of the page; by default made from the numbers of samples and clusters.
    run : mapping, default=None
        Record of the run: method, parameters, seed, versions, inputs, timings, scores, command; all optional.
    truth : iterable of length n, default=None
        Known class of each sample; None, NaN and "" where it is not known.
    outcome : mapping, frame or pair, default=None
        Time to an event and whether it was seen (1) or not (0), the columns ``time`` and ``event``, for a
        Kaplan-Meier curve per cluster and a log-rank test. Needs lifelines.
    covariates : mapping or frame, default=None
        Columns that describe the samples, each tested against the clusters.
    batch : array-like of shape (n,), default=None
        Where each sample comes from, such as a site or a plate; the page says whether the clusters follow it.
    refit_seconds : float, default=15.0
        Time for fitting copies of the model again, to see how stable the result is; 0 to leave it out.
    random_state : int, default=0
        Seed of the choice of points to draw, of the maps, and of the fits that are repeated.

    Returns
    -------
    str
        The page, the same for the same input, but for what was left out for time.

    Raises
    ------
    ImportError
        If plotly or jinja2 is not installed.
    ValueError
        If the model is not fitted, or labels, truth or what else is known do not have one entry per sample, or an
        outcome is no time of 0 or more and an event of 0 or 1.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> import numpy as np
    >>> from manyviews.report import render_report
    >>> model = SimpleNamespace(labels_=np.array([0, 0, 1]))
    >>> page = render_report(model, [np.eye(3), np.ones((3, 2))], title="Three things")
    >>> "<h1>Three things</h1>" in page
    True
    """
    return render_summary(
        summarize(
            model,
            views,
            title=title,
            run=run,
            truth=truth,
            outcome=outcome,
            covariates=covariates,
            batch=batch,
            refit_seconds=refit_seconds,
            random_state=random_state,
        )
    )


def write_report(
    path: str | PathLike[str],
    model: Any,
    views: Any,
    *,
    title: str | None = None,
    run: Mapping[str, Any] | None = None,
    truth: Iterable[Any] | None = None,
    outcome: Any = None,
    covariates: Any = None,
    batch: Any = None,
    refit_seconds: float = REFIT_SECONDS,
) -> None:
    """Write the report of a fitted model to a file; see ``render_report``.

    Parameters
    ----------
    path : path-like
        The file, overwritten if it exists.
    model : estimator
        Fitted.
    views : Views, sequence, mapping or table
        What the model was fitted on.
    title : str, default=None
        Title of the page.
    run : mapping, default=None
        Record of the run.
    truth : iterable of length n, default=None
        Known class of each sample.
    outcome : mapping, frame or pair, default=None
        Time to an event and whether it was seen (1) or not (0), the columns ``time`` and ``event``, for a
        Kaplan-Meier curve per cluster and a log-rank test. Needs lifelines.
    covariates : mapping or frame, default=None
        Columns that describe the samples, each tested against the clusters.
    batch : array-like of shape (n,), default=None
        Where each sample comes from, such as a site or a plate; the page says whether the clusters follow it.
    refit_seconds : float, default=15.0
        Time for fitting copies of the model again; 0 to leave it out.

    Raises
    ------
    ImportError
        If plotly or jinja2 is not installed.
    OSError
        If the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from types import SimpleNamespace
    >>> import numpy as np
    >>> from manyviews.report import write_report
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report(Path(folder) / "report.html", SimpleNamespace(labels_=np.array([0, 1])), [np.eye(2)])
    """
    page = render_report(
        model,
        views,
        title=title,
        run=run,
        truth=truth,
        outcome=outcome,
        covariates=covariates,
        batch=batch,
        refit_seconds=refit_seconds,
    )
    Path(path).write_text(page, encoding="utf-8", newline="\n")


def render_summary(summary: Mapping[str, Any]) -> str:
    """Return the page of a summary made by ``summarize``.

    Parameters
    ----------
    summary : dict
        From ``summarize``.

    Returns
    -------
    str
        The page.

    Raises
    ------
    ImportError
        If plotly or jinja2 is not installed.
    """
    fill = partial(render, ROOM, "report.html.j2", _payload(summary), style="report.css", script="samples.js")
    # The table of samples gets the room that the rest leaves.
    rest = len(fill(dict(summary) | {"packed": "", "n_listed": 0}).encode())
    packed, n_listed = pack_samples(summary["samples"], MAX_BYTES - rest)
    return fill(dict(summary) | {"packed": packed, "n_listed": n_listed})


def _payload(summary: Mapping[str, Any]) -> dict[str, Any]:
    """Return the charts for the script, by the id of their place on the page."""
    texts, flats = hover_texts(summary), enumerate(summary["maps"])
    charts = {f"map-{i}": map_figure(summary, i, hover=False) for i, flat in flats if flat["n_axes"] > 0}
    charts |= _pictures(summary)
    if len(summary["weights"] or []) > 1:
        charts["weights"] = draw_weights(summary["weights"])
    if len((summary["convergence"] or {"values": []})["values"]) > 1:
        charts["convergence"] = convergence_figure(summary)
    if choice := summary["record"]["choice"]:
        charts["choice"] = choice_figure(choice["scores"], choice["n_clusters"])
        if choice["splits"]:
            charts["splits"] = split_figure(choice["splits"], choice["n_clusters"])
    names = [cluster["name"] for cluster in summary["clusters"]]
    if (summary["clinical"] or {}).get("survival"):
        charts["survival"] = draw_survival(summary["clinical"]["survival"], names)
    return {"texts": texts, "clusters": names, "charts": {name: chart_data(figure) for name, figure in charts.items()}}


def _pictures(summary: Mapping[str, Any]) -> dict[str, Any]:
    """Return the charts of ``plots`` that are no maps."""
    pictures = summary["pictures"]
    names, charts = pictures["names"], {}
    if pictures["together"] is not None and len(names) > 1:
        charts["together"] = draw_co_association(pictures["together"], names)
    if pictures["features"] is not None:
        charts["features"] = draw_features(pictures["features"], names)
    for i, found in enumerate(pictures["silhouettes"]):
        charts[f"silhouette-{i}"] = draw_silhouettes(found, names)
    for i, view in enumerate(summary["data"]["views"][:MAX_FLOWS]):
        if view["flows"] is not None:
            charts[f"flows-{i}"] = draw_flows(view["flows"], names, view["name"])
    return charts
