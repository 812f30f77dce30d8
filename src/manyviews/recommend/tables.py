"""A comparison as CSV: one row per method, and the labels that each gave."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from manyviews.recommend.result import Comparison

__all__ = ["columns_csv", "labels_csv", "methods_csv"]

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


def methods_csv(record: Mapping[str, Any]) -> str:
    """Return one row per method with all that is known of it.

    Parameters
    ----------
    record : dict
        From ``summary_of``, with the ``data`` that were compared.

    Returns
    -------
    str
        CSV with a header; empty where something is not known.
    """
    return _csv(_rows(record))


def labels_csv(found: Comparison, samples: Iterable[Any], id_name: str | None = None) -> str:
    """Return the cluster of each sample by each method, from its typical seed; the ids are called as they were."""
    labelled = {row.method.name: row.labels.tolist() for row in found.results if row.labels is not None}
    first = "sample" if not id_name or id_name in labelled else id_name
    return _csv([[first, *labelled], *map(list, zip(samples, *labelled.values(), strict=True))])


def columns_csv(table: Mapping[str, Sequence[Any]]) -> str:
    """Return columns of equal length as CSV with a header."""
    return _csv([list(table), *map(list, zip(*table.values(), strict=True))])


def _csv(rows: Sequence[Sequence[Any]]) -> str:
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows(rows)
    return stream.getvalue()


def _rows(record: Mapping[str, Any]) -> list[list[Any]]:
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
