"""Survival curves of the clusters."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from manyviews.findings.known import clinical_of
from manyviews.findings.result import read_result
from manyviews.findings.survival import compare_survival
from manyviews.pages.charts import base_layout, escape, require_plotly
from manyviews.pages.palette import LIGHT, look_of
from manyviews.pages.wording import amount

__all__ = ["draw_survival", "survival"]

# Clusters whose names stand at their curves, and the least distance of two names.
MAX_NAMED, APART = 10, 0.07
# More bands than these cover each other.
MAX_BANDS = 3
_DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")


def survival(model: Any, views: Any, outcome: Any) -> Any:
    r"""Draw a Kaplan-Meier curve of each cluster, with the p-value of the log-rank test of all.

    .. math:: \hat S(t) = \prod_{t_i \le t} (1 - d_i / n_i)

    with :math:`d_i` events among the :math:`n_i` samples of the cluster still seen at the time :math:`t_i`. Up to three
    curves have their interval of 95 % as a band (Greenwood, on the scale of :math:`\log(-\log \hat S)`); of more, the
    bands would cover each other. The test is exploratory: clusters and test come from the same samples.

    Parameters
    ----------
    model : estimator
        Fitted; only ``labels_`` is needed.
    views : Views, sequence, mapping or table
        What the model was fitted on.
    outcome : mapping, frame or pair
        Columns ``time``, of 0 or more, and ``event``, 1 where it was seen and 0 where the sample was censored; samples
        without either are left out. Frames with names of samples as index are matched by them.

    Returns
    -------
    plotly.graph_objects.Figure
        One curve per cluster, the largest cluster first, then the bands; a tick is where a sample was censored.

    Raises
    ------
    ImportError
        If plotly or lifelines is not installed.
    ValueError
        If the model is not fitted on these views, or the outcome is no time and event of these samples.

    References
    ----------
    E. L. Kaplan, P. Meier. Nonparametric estimation from incomplete observations. JASA 53(282), 1958, 457-481.
    https://doi.org/10.1080/01621459.1958.10501452

    Examples
    --------
    >>> import numpy as np
    >>> from manyviews import ConcatKMeans, datasets, plots
    >>> data = datasets.make_blobs_views(60, (4, 3), n_clusters=2, random_state=0)
    >>> model = ConcatKMeans(2, random_state=0).fit(data.views)
    >>> figure = plots.survival(model, data.views, (np.arange(60.0), np.ones(60)))
    >>> [trace.name for trace in figure.data if trace.mode == "lines" and not trace.fill]
    ['cluster C0', 'cluster C1']
    """
    require_plotly()
    grouped = read_result(model, views)
    known = clinical_of(outcome, None, None, grouped.views)
    if known is None or known.outcome is None:
        raise ValueError("survival needs an outcome; give times and events")
    found = compare_survival(known.outcome, grouped.positions, grouped.names)
    figure = draw_survival(found, grouped.names)
    result = "test: not testable" if found["p"] is None else f"p {found['p_text'].replace('<', '&lt;')}"
    figure.update_layout(title_text=f"log-rank {result}", margin_t=44)
    return figure


def draw_survival(found: Mapping[str, Any], names: Sequence[str]) -> Any:
    """Draw what ``compare_survival`` found: a curve per cluster, empty where no outcome is known, then the bands."""
    go = require_plotly()
    figure = go.Figure(layout=base_layout())
    for position, (curve, name) in enumerate(zip(found["clusters"], names, strict=True)):
        look = look_of(position)
        median = "median not reached" if curve["median"] is None else f"median {curve['median']}"
        text = (
            f"<b>cluster {escape(name)}</b><br>{amount(curve['n'], 'sample')}, "
            f"{amount(curve['events'], 'event')}<br>{median}"
        )
        figure.add_trace(
            go.Scatter(
                x=curve["x"],
                y=curve["y"],
                mode="lines",
                name=escape(f"cluster {name}"),
                hovertext=[text] * len(curve["x"]),
                hoverinfo="text",
                meta={"hue": look.hue},
                line={"color": LIGHT[look.hue], "width": 2, "dash": _DASHES[position // len(LIGHT) % len(_DASHES)]},
            )
        )
    if sum(bool(curve["y"]) for curve in found["clusters"]) <= MAX_BANDS:
        figure.add_traces([_band(curve["band"], i) for i, curve in enumerate(found["clusters"]) if curve["y"]])
    figure.update_layout(height=380, annotations=_names(found["clusters"], names))
    figure.update_xaxes(title_text=escape(found["time_name"]), rangemode="tozero", zeroline=False)
    figure.update_xaxes(tickvals=found["ticks"], ticktext=found["times"])
    figure.update_yaxes(
        title_text="share without the event",
        range=[-0.02, 1.03],
        zeroline=False,
        tickformat=".0%",
        automargin=True,
        title_standoff=8,
    )
    return figure


def _band(band: Mapping[str, Any], position: int) -> Any:
    """Draw the interval of one curve; the page's script gives it the colour of its curve, as ``of`` says."""
    hue = look_of(position).hue
    red, green, blue = (int(LIGHT[hue][at : at + 2], 16) for at in (1, 3, 5))
    return require_plotly().Scatter(
        x=band["x"],
        y=band["y"],
        mode="lines",
        fill="toself",
        fillcolor=f"rgba({red},{green},{blue},0.13)",
        line={"width": 0},
        hoverinfo="skip",
        showlegend=False,
        meta={"hue": hue, "of": position, "band": True},
    )


def _names(curves: Sequence[Mapping[str, Any]], names: Sequence[str]) -> list[dict[str, Any]]:
    """Write each cluster's name at its curve, at the time when the curves are farthest apart."""
    drawn = [i for i, curve in enumerate(curves) if curve["y"]]
    if not drawn or len(drawn) > MAX_NAMED:
        return []
    end = min(curves[i]["x"][-1] for i in drawn)
    heights = {time: [_height(curves[i], time) for i in drawn] for time in (end * j / 40 for j in range(4, 37))}
    time = max(heights, key=lambda at: min((b - a for a, b in pairwise(sorted(heights[at]))), default=0.0))
    notes, lowest = [], -1.0
    for height, i in sorted(zip(heights[time], drawn, strict=True)):
        lowest = max(height, lowest + APART)
        notes.append(
            {
                "x": time,
                "y": lowest,
                "text": f"<b>{escape(names[i])}</b>",
                "showarrow": False,
                "bgcolor": "rgba(255,255,255,0.8)",
                "borderpad": 1,
                "font": {"size": 13},
            }
        )
    return notes


def _height(curve: Mapping[str, Any], time: float) -> float:
    """Return the height of a curve at a time."""
    return float(curve["y"][max(bisect_right(curve["x"], time) - 1, 0)])
