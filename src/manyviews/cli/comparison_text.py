"""What ``compare`` prints."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from typing import Any

from manyviews.cli.console import print_json, print_table
from manyviews.pages.wording import amount, duration, size

__all__ = ["print_comparison"]

# Columns of a terminal that show all of the table; else these come first, the others below.
WIDE = 140
FIRST_PART = ("method", "score", "structure", "seeds", "support", "nmi", "acc")


def print_comparison(record: Mapping[str, Any], out: str, *, as_json: bool = False, quiet: bool = False) -> None:
    """Say on stdout what came out and where it is.

    Parameters
    ----------
    record : dict
        From ``write_comparison``.
    out : str
        The output folder as the user gave it.
    as_json : bool, default=False
        Print the record as one JSON object instead.
    quiet : bool, default=False
        Print nothing, unless as JSON.
    """
    if as_json:
        print_json(dict(record) | {"out": out})
    if as_json or quiet:
        return
    data = record["data"]
    print(
        f"{data['name']}: {amount(data['n_samples'], 'sample')} in {amount(len(data['views']), 'view')}, "
        f"{amount(record['n_clusters'], 'cluster')}"
    )
    if record.get("choice"):
        print(f"number of clusters: {record['choice']['reason']}")
    if record["recommendation"]:
        for header, rows in _tables(record):
            print_table(header, rows)
    for row in record["methods"]:
        if row["status"] != "ok" or row["reason"]:
            print(f"{row['name']}: {': '.join(filter(None, (row['status_words'], row['reason'])))}")
    chosen = record["recommendation"]
    if chosen is not None:
        print("\n".join(["", chosen["headline"], *chosen["reasons"]]))
        print(f"{chosen['certainty'].capitalize()}. {chosen['certainty_reason']}")
        print(f"to cluster with it: {record['repeat_with']}")
        if text := _no_new_samples(record):
            print(text)
    print(f"report: {os.path.join(out, 'report.html')} (open it in a browser)")


def _no_new_samples(record: Mapping[str, Any]) -> str:
    """Say that the chosen method has no rule for new samples, and which of the others that did well have one."""
    from manyviews.cluster.registry import find_method

    chosen = record["recommendation"]["method"]
    if find_method(chosen).predicts:
        return ""
    others = [row["name"] for row in record["methods"] if row["criteria"] and find_method(row["name"]).predicts]
    instead = f"; of these methods {', '.join(others[:3])} do" if others else ""
    return f"{chosen} gives no labels to new samples (manyviews predict){instead}"


def _tables(record: Mapping[str, Any]) -> list[tuple[list[str], list[list[str]]]]:
    """Return header and rows; in two parts where a narrow terminal would cut the columns short."""
    header, rows = _table(record)
    if not sys.stdout.isatty() or shutil.get_terminal_size().columns >= WIDE:
        return [(header, rows)]
    kept = [position for position, name in enumerate(header) if name in FIRST_PART]
    rest = [0] + [position for position, name in enumerate(header) if name not in (*FIRST_PART, "ari")]
    return [([header[i] for i in part], [[row[i] for i in part] for row in rows]) for part in (kept, rest)]


def _table(record: Mapping[str, Any]) -> tuple[list[str], list[list[str]]]:
    with_result = [row for row in record["methods"] if row["criteria"]]
    scored = [name for name in ("nmi", "acc", "ari") if any(row["scores"] for row in with_result)]
    header = ["method", "score", "structure", "seeds", "support", "agree", "parts", "silh.", "views", "sizes"]
    header += ["time", "memory", *scored]
    rows = []
    for row in with_result:
        known = row["criteria"]
        cells = [row["name"], _number(row["score"])]
        cells += [
            _number(known[name]) for name in ("structure", "seeds", "support", "agreement", "parts", "silhouette")
        ]
        cells += [_number(known["view_balance"]), f"{known['smallest']}-{known['largest']}"]
        cells += [duration(row["seconds"]), size(row["peak_bytes"]) if row["peak_bytes"] else "-"]
        rows.append(cells + [_number(row["scores"][name]["mean"]) for name in scored])
    return header, rows


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
