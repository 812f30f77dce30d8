"""The numbers of figures as a table, for those who draw them anew."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from typing import Any

from manyviews.papers.figure_parts import PaperFigure

__all__ = ["figures_csv"]


def figures_csv(figures: Iterable[PaperFigure]) -> str:
    """Return the numbers of all charts, one line per point; ``y`` is given for maps and clouds of points only."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(("figure", "line", "x", "y", "value", "deviation"))
    for figure in figures:
        for trace in figure.chart["data"]:
            writer.writerows([figure.title, trace["name"], *point] for point in _points(trace))
    return stream.getvalue()


def _points(trace: Mapping[str, Any]) -> Iterable[tuple[Any, ...]]:
    if "z" in trace:
        for y, line in zip(trace["y"], trace["z"], strict=True):
            yield from ((x, y, value, None) for x, value in zip(trace["x"], line, strict=True))
        return
    deviations = trace.get("error_y", {}).get("array") or [None] * len(trace["x"])
    colours = trace["marker"].get("color")
    for i, (x, y) in enumerate(zip(trace["x"], trace["y"], strict=True)):
        cloud = isinstance(colours, list)
        yield (x, y, colours[i], None) if cloud else (x, None, y, deviations[i])
