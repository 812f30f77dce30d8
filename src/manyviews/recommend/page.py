"""Summary of a comparison of methods -> one figure and one self-contained page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from manyviews.pages.charts import ACCENT, base_layout, chart_data, escape, require_plotly, within
from manyviews.pages.choice_figure import choice_figure
from manyviews.pages.environment import render
from manyviews.pages.palette import LIGHT, look_of
from manyviews.pages.split_figure import split_figure
from manyviews.pages.wording import amount, duration, fixed, flatten, plain, size

__all__ = ["comparison_figure", "render_comparison"]

ROOM = "manyviews.recommend"
# What the columns of the table mean.
TERMS = (
    ("Score", "what the recommendation goes by: structure × √stability over seeds × ⁴√support"),
    (
        "Structure",
        "how well the nearest neighbours in one view alone tell the cluster of a sample, mean of the views; here and "
        "below (adjusted Rand index) 1 is always or the same, 0 is chance",
    ),
    ("Stable over seeds", "agreement of fits with different seeds"),
    ("Support", "agreement with the two other methods that are nearest"),
    ("Agreement", "agreement with all other methods, mean"),
    ("Stable over samples", "agreement of fits on random parts of the samples, where these overlap"),
    ("Silhouette", "how much nearer samples are to their own cluster than to the next, mean of the views; -1 to 1"),
    ("View balance", "how evenly the views speak for the grouping; 1 all alike, 0 a single one"),
    ("Cluster sizes", "smallest and largest cluster of any seed"),
)


def comparison_figure(summary: Mapping[str, Any]) -> Any:
    """Draw how well each view alone confirms the groups of each method: one mark per view, and their mean; best on top.

    Parameters
    ----------
    summary : dict
        From ``manyviews.recommend.summary.summary_of``.

    Returns
    -------
    plotly.graph_objects.Figure
        One trace per view and one for the means.
    """
    go = require_plotly()
    rows = [row for row in summary["methods"] if row["criteria"]][::-1]
    names = list(rows[0]["criteria"]["structures"]) if rows else []
    figure = go.Figure(layout=base_layout())
    means = [row["criteria"]["structure"] for row in rows]
    bars = go.Bar(orientation="h", opacity=0.35, **_points(rows, means, "mean of the views"))
    figure.add_trace(bars.update(meta={"role": "accent"}, marker={"color": ACCENT}))
    for position, name in enumerate(names):
        look = look_of(position)
        values = [row["criteria"]["structures"][name] for row in rows]
        line = {"width": 1.7 if look.hollow else 0}
        marker = {"color": LIGHT[look.hue], "symbol": look.marker, "size": 9, "line": line}
        points = go.Scatter(mode="markers", **_points(rows, values, f"view {name}"))
        figure.add_trace(points.update(meta={"hue": look.hue}, marker=marker))
    figure.update_layout(height=90 + 34 * len(rows), bargap=0.35)
    figure.update_xaxes(title_text="adjusted Rand index", zeroline=True, nticks=7, **within(-1, 1))
    figure.update_yaxes(
        tickvals=list(range(len(rows))),
        ticktext=[escape(row["name"]) for row in rows],
        range=[-0.6, len(rows) - 0.4],
        automargin=True,
        zeroline=False,
    )
    return figure


def _points(rows: list[Any], values: list[float], what: str) -> dict[str, Any]:
    return {
        "x": values,
        "y": list(range(len(rows))),
        "name": escape(what),
        "hoverinfo": "text",
        "hovertext": [
            f"<b>{escape(row['name'])}</b><br>{escape(what)}: {fixed(value)}"
            for row, value in zip(rows, values, strict=True)
        ],
    }


def render_comparison(record: Mapping[str, Any]) -> str:
    """Return the page of a comparison, complete in itself.

    Parameters
    ----------
    record : dict
        From ``manyviews.recommend.summary.summary_of``, and what was compared: ``data`` (``name``,
        ``n_samples``, ``views``, ``notes``), ``n_clusters``, ``options``, ``inputs``, ``versions``, ``created``,
        ``repeat`` and ``repeat_with`` (commands, or None); ``choice`` (``n_clusters``, ``reason``, ``scores``
        and ``splits``) where a number of clusters was chosen.

    Returns
    -------
    str
        HTML; names from files are escaped.

    Raises
    ------
    ImportError
        If plotly or jinja2 is not installed.
    """
    drawn = any(row["criteria"] for row in record["methods"])
    charts = {"structure": chart_data(comparison_figure(record))} if drawn else {}
    if choice := record.get("choice"):
        scores, splits = ({int(k): own for k, own in choice[key].items()} for key in ("scores", "splits"))
        charts["choice"] = chart_data(choice_figure(scores, choice["n_clusters"]))
        charts["splits"] = chart_data(split_figure(splits, choice["n_clusters"]))
    return render(ROOM, "comparison.html.j2", {"charts": charts}, _shown(record), style="comparison.css")


def _matrix(rows: Sequence[Mapping[str, Any]]) -> list[tuple[str, list[float | None]]]:
    """Return how well the groupings of the methods agree with each other; None on the diagonal."""
    tried = [row for row in rows if row["criteria"]]
    return [(row["name"], [row["criteria"]["agreements"].get(other["name"]) for other in tried]) for row in tried]


def _made(options: Mapping[str, Any]) -> str:
    limits = f", all fits together in at most {duration(options['time_limit'])}" if options["time_limit"] else ""
    limits += f", each in at most {size(options['memory_limit'])}" if options["memory_limit"] else ""
    parts = amount(options["n_parts"], "fit") if options["n_parts"] else "none"
    return (
        f"Every method was fitted with its defaults: {amount(options['n_seeds'], 'seed')} on all samples and {parts} "
        f"on random parts of them (80\u00a0%){limits}. Quick methods came first; a slow one may have had "
        "fewer fits, or none. Times and memory are those of the fits on all samples. Known classes, where there are "
        "any, had no part in the recommendation."
    )


def _shown(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the template sees: the record with every name as one printable line."""
    data, options = record["data"], record["options"]
    return dict(record) | {
        "title": f"{plain(data['name'], 120)}: which method suits it?",
        "data": data | {"views": {plain(name, 60): width for name, width in data["views"].items()}},
        "methods": [row | {"reason": plain(row["reason"], 400)} for row in record["methods"]],
        "choice": record.get("choice"),
        "terms": TERMS,
        "matrix": _matrix(record["methods"]),
        "made": _made(options),
        "facts": [(name, plain(value)) for name, value in flatten({"made": record["created"]} | record["versions"])],
        "inputs": [(plain(name), plain(value)) for name, value in record["inputs"].items()],
        "notes": [plain(note, 400) for note in data["notes"]],
    }
