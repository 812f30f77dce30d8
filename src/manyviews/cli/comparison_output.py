"""Make a comparison and write it: table, page, labels and record; what ``compare`` prints."""

from __future__ import annotations

import csv
import os
import platform
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from manyviews import __version__
from manyviews.cli.console import ARGUMENTS, Progress, count, print_json, print_table, user_input
from manyviews.cli.fit_progress import shown_fits

if TYPE_CHECKING:
    from manyviews.cluster.registry import MethodInfo
    from manyviews.io import LoadedViews
    from manyviews.recommend.comparison import Comparison, Options

__all__ = ["print_comparison", "write_comparison"]

_LIBRARIES = ("numpy", "scipy", "scikit-learn")
# Columns of a terminal that show all of the table; else these come first, the others below.
WIDE = 140
FIRST_PART = ("method", "score", "structure", "seeds", "support", "nmi", "acc")
_COLUMNS = (
    "score",
    "structure",
    "seeds",
    "support",
    "agreement",
    "parts",
    "silhouette",
    "view_balance",
    "size_balance",
)


def write_comparison(
    data: LoadedViews,
    methods: Sequence[MethodInfo],
    n_clusters: int,
    options: Options,
    out: str,
    *,
    given: Sequence[str],
    force: bool,
    progress: Progress,
) -> dict[str, Any]:
    """Fit all methods and write the output folder.

    Parameters
    ----------
    data : LoadedViews
        What to cluster; its classes give external scores only.
    methods : sequence of MethodInfo
        What to compare.
    n_clusters : int
        Number of clusters.
    options : Options
        How much is done.
    out : str
        The folder.
    given : sequence of str
        Arguments that give ``cluster`` the same data.
    force : bool
        Replace an earlier output folder.
    progress : Progress
        Says what is going on.

    Returns
    -------
    dict
        The record, as in ``run.json``.

    Raises
    ------
    UsageError
        If the folder may not be written.
    """
    from manyviews.io.write import RUNS, OutputError, atomic_folder
    from manyviews.recommend.comparison import compare

    with user_input(OutputError), atomic_folder(out, force=force) as folder:
        with shown_fits(quiet=progress.quiet) as tell, user_input():
            found = compare(
                data.views, methods, n_clusters, folder / RUNS, truth=data.labels, options=options, progress=tell
            )
        record = _record(data, found, n_clusters, options)
        record["repeat_with"] = _repeat_with(record, given)
        with progress.stage("write", f"writing {out}"):
            _write(record, found, data, folder)
    return record


def _record(data: LoadedViews, found: Comparison, n_clusters: int, options: Options) -> dict[str, Any]:
    from manyviews.recommend.summary import summary_of

    views = data.views
    return {
        "manyviews": __version__,
        "command": "compare",
        "repeat": shlex.join(["manyviews", *ARGUMENTS.get()]),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "data": {
            "name": data.name,
            "n_samples": len(views),
            "views": {name: array.shape[1] for name, array in views.items()},
            "notes": list(data.notes),
        },
        "inputs": data.checksums,
        "n_clusters": n_clusters,
        "options": vars(options),
        **summary_of(found),
        "versions": {"python": platform.python_version()} | {name: version(name) for name in _LIBRARIES},
    }


def _write(record: dict[str, Any], found: Comparison, data: LoadedViews, folder: Path) -> None:
    from manyviews.io.write import LABELS, RECORD, REPORT, TABLE, write_json
    from manyviews.recommend.page import render_comparison

    with open(folder / TABLE, "w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerows(_csv_rows(record))
    labelled = {row.method.name: row.labels.tolist() for row in found.results if row.labels is not None}
    samples = data.views.sample_names
    with open(folder / LABELS, "w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["sample", *labelled])
        names = range(len(data.views)) if samples is None else samples
        writer.writerows(zip(names, *labelled.values(), strict=True))
    (folder / REPORT).write_text(render_comparison(record), encoding="utf-8", newline="\n")
    write_json(folder / RECORD, record)


def _csv_rows(record: Mapping[str, Any]) -> list[list[Any]]:
    views = list(record["data"]["views"])
    scored = next((list(row["scores"]) for row in record["methods"] if row["scores"]), [])
    header = ["place", "method", "status", "reason", *_COLUMNS, "n_clusters", "smallest", "largest"]
    header += [f"structure {name}" for name in views] + [f"silhouette {name}" for name in views]
    header += ["seconds", "cpu_seconds", "peak_bytes", "n_ok", "n_fits", "seed"]
    header += [f"{name} {part}" for name in scored for part in ("mean", "deviation")]
    rows: list[list[Any]] = [header]
    for row in record["methods"]:
        known = {"score": row["score"]} | (row["criteria"] or {})
        cells = [row[name] for name in ("place", "name", "status", "reason")]
        cells += [known.get(name) for name in (*_COLUMNS, "n_clusters", "smallest", "largest")]
        cells += [known.get(kind, {}).get(name) for kind in ("structures", "silhouettes") for name in views]
        cells += [row[name] for name in ("seconds", "cpu_seconds", "peak_bytes", "n_ok", "n_fits", "seed")]
        cells += [row["scores"].get(name, {}).get(part) for name in scored for part in ("mean", "deviation")]
        rows.append(["" if cell is None else cell for cell in cells])
    return rows


def _repeat_with(record: Mapping[str, Any], given: Sequence[str]) -> str | None:
    """Return the command that clusters with the recommended method and seed."""
    chosen = record["recommendation"]
    if chosen is None:
        return None
    settings = ["-k", record["n_clusters"], "--method", chosen["method"], "--seed", chosen["seed"]]
    return shlex.join(["manyviews", "cluster", *given, *map(str, settings)])


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
        f"{data['name']}: {data['n_samples']} samples in {count(len(data['views']), 'view')}, "
        f"{record['n_clusters']} clusters"
    )
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
    print(f"report: {os.path.join(out, 'report.html')} (open it in a browser)")


def _tables(record: Mapping[str, Any]) -> list[tuple[list[str], list[list[str]]]]:
    """Return header and rows; in two parts where a narrow terminal would cut the columns short."""
    header, rows = _table(record)
    if not sys.stdout.isatty() or shutil.get_terminal_size().columns >= WIDE:
        return [(header, rows)]
    kept = [position for position, name in enumerate(header) if name in FIRST_PART]
    rest = [0] + [position for position, name in enumerate(header) if name not in (*FIRST_PART, "ari")]
    return [([header[i] for i in part], [[row[i] for i in part] for row in rows]) for part in (kept, rest)]


def _table(record: Mapping[str, Any]) -> tuple[list[str], list[list[str]]]:
    from manyviews.pages.wording import duration, size

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
